"""Information about the best and Thompson duels, against integrals, frequencies and special cases."""

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import question_reference
from acquisition.searched_pools import score_all, scored_by
from prefero import Learner, Pool
from prefero._support.arrays import Array
from prefero.acquisition import BestInformation, ExpectedUtility, KnowledgeGradient, ThompsonDuel
from prefero.acquisition.functions.best_information import pairs_of_best
from prefero.acquisition.plausible_best import draw_best
from prefero.acquisition.searches.best_question import best_question
from prefero.kernels import RBF, Anchored, Linear
from prefero.models.posterior.mixture import MixturePosterior
from prefero.models.preference_gp import PreferenceGP
from question_reference import NODES, WEIGHTS

POINTS = np.random.default_rng(3).uniform(-1.5, 1.5, (7, 2))
WINS = np.array([[0, 1], [2, 3], [2, 5]])


def mixture(lapse: float = 0.0) -> MixturePosterior:
    def component(theta: float, noise: float, lapse: float = 0.0) -> Any:
        kernel = Anchored(RBF(theta), (0.0, 0.0))
        return PreferenceGP(kernel, noise=noise, lapse=lapse, learn=False).fit(POINTS, WINS).posterior_

    return MixturePosterior(
        ((0.4, component(0.1, 0.1)), (0.6, component(1.5, 0.4, lapse))), {"rbf": 1.0}, 0.0
    )


def one(p: float) -> float:
    return question_reference.entropy_bits([p, 1.0 - p])


def answer_given_target(component: Any, question: Array, target: Array) -> tuple[float, float]:
    """P(first answer), and the entropy of the answer that is left if the target's difference is known."""
    mean, cov = component(POINTS[[*question, *target]])
    D = np.array([[1.0, -1, 0, 0], [0, 0, 1, -1]])
    m, V = D @ mean, D @ cov @ D.T
    person, t = component.probit, 9.0 * NODES
    center = m[0] + V[0, 1] / np.sqrt(V[1, 1]) * t
    root = np.sqrt(person.scale**2 + V[0, 0] - V[0, 1] ** 2 / V[1, 1])
    seen = (1.0 - person.lapse) * norm.cdf(center / root) + 0.5 * person.lapse
    density = 9.0 * WEIGHTS * norm.pdf(t)
    return float(density @ seen), float(density @ [one(p) for p in seen])


@pytest.mark.parametrize("lapse", [0.0, 0.1])
def test_the_score_is_the_average_of_integrals(lapse: float) -> None:
    belief, question = mixture(lapse), np.array([2, 6])
    rng = np.random.default_rng([len(POINTS), len(WINS)])
    targets = Counter(map(tuple, pairs_of_best(belief, POINTS, rng).tolist()))
    total = 0.0
    for target, count in targets.items():
        components = [(w, *answer_given_target(p, question, np.array(target))) for w, p in belief.components]
        total += count * (
            one(sum(w * p for w, p, _ in components)) - sum(w * left for w, _, left in components)
        )
    score = scored_by(BestInformation(utility_weight=0.0), belief, POINTS, question[None, :])[0]
    assert score == pytest.approx(total / targets.total(), abs=2e-5)
    assert score > 0.01


def test_a_fraction_of_the_expected_utility_is_added() -> None:
    belief, pairs = mixture(), np.array([[0, 1], [2, 6]])
    plain, mixed = (scored_by(BestInformation(weight), belief, POINTS, pairs) for weight in (0.0, 0.5))
    utility = score_all(belief, POINTS, ExpectedUtility())[pairs[:, 0], pairs[:, 1]]
    now = belief.marginals(POINTS)[0].max()
    np.testing.assert_allclose(mixed - plain, 0.5 * (utility - now), atol=1e-12)


def test_the_best_of_draws_are_as_frequent_as_their_probability() -> None:
    """Against draws by the eigenvectors of the covariance."""
    belief, count = mixture(), 20_000
    drawn = draw_best(belief, POINTS, count, np.random.default_rng(0))
    rewards = belief.sample(POINTS, count, np.random.default_rng(1))
    expected = np.bincount(rewards.argmax(axis=1), minlength=len(POINTS)) / count
    found = np.bincount(drawn.best, minlength=len(POINTS)) / count
    np.testing.assert_allclose(found, expected, atol=0.02)
    regret = rewards.max(axis=1) - rewards[:, drawn.reported]
    assert drawn.regret.mean() == pytest.approx(regret.mean(), abs=0.03)
    assert drawn.reported == int(np.argmax(belief.marginals(POINTS)[0]))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), noise=st.floats(0.05, 1.0))
def test_bits_are_between_none_and_one(seed: int, noise: float) -> None:
    x = np.random.default_rng(seed).standard_normal((8, 2))
    belief = PreferenceGP(RBF(0.5), noise=noise, learn=False).fit(x, np.array([[0, 1], [2, 3]])).posterior_
    pairs = np.column_stack(np.triu_indices(len(x), 1))
    bits = scored_by(BestInformation(0.0), belief, x, pairs)
    assert ((bits >= 0.0) & (bits <= 1.0)).all()
    same = scored_by(BestInformation(0.0), belief, x, np.array([[3, 3]]))
    assert same[0] == pytest.approx(0.0, abs=1e-5)


def test_a_target_is_a_rival_of_the_reported_trajectory() -> None:
    belief = mixture()
    pairs = pairs_of_best(belief, POINTS, np.random.default_rng(0))
    reported = int(np.argmax(belief.marginals(POINTS)[0]))
    assert (pairs[:, 1] == reported).all()
    assert (pairs[:, 0] != reported).all()


@pytest.mark.parametrize("name", ["best-information", "knowledge-gradient", "thompson-duel"])
def test_where_the_best_is_certain_there_is_still_a_question(name: str) -> None:
    x = np.array([[0.0], [1.0], [2.0]])
    linear = PreferenceGP(Linear(), noise=0.01, learn=False).fit(x, np.array([[2, 0]] * 40)).posterior_
    question = best_question(linear, x, acquisition=name)
    assert question.left != question.right


def test_pairs_that_were_answered_are_asked_about_only_if_no_others_are_left() -> None:
    belief, every = mixture(), list(combinations(range(len(POINTS)), 2))
    first = best_question(belief, POINTS, acquisition="best-information")
    again = best_question(belief, POINTS, acquisition="best-information", answered=[first.items])
    assert {*again.items} != {*first.items}
    assert best_question(belief, POINTS, acquisition="best-information", answered=every) == first
    assert best_question(belief, POINTS, answered=every) == best_question(belief, POINTS)


@pytest.mark.parametrize("function", [BestInformation(), KnowledgeGradient()])
def test_the_search_finds_nearly_the_best_of_all_questions(function: Any) -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((90, 2))
    pairs, reward = rng.permutation(90)[:16].reshape(8, 2), np.sin(2 * x[:, 0]) + x[:, 1]
    won = np.array([(a, b) if reward[a] > reward[b] else (b, a) for a, b in pairs])
    components: list[Any] = [
        PreferenceGP(RBF(theta), noise=0.1, learn=False).fit(x, won).posterior_ for theta in (0.2, 1.0)
    ]
    belief = MixturePosterior(((0.5, components[0]), (0.5, components[1])), {"rbf": 1.0}, 0.0)
    others = np.array(
        [p for p in combinations(range(90), 2) if p not in {*map(tuple, np.sort(pairs).tolist())}]
    )
    scores = scored_by(function, belief, x, others)
    found = best_question(belief, x, acquisition=function, answered=map(tuple, pairs.tolist()))
    assert found.value >= 0.97 * scores.max()


def test_no_question_is_asked_twice_while_there_are_others() -> None:
    pool = Pool(np.random.default_rng(0).standard_normal((5, 2)))
    learner = Learner(pool, model=PreferenceGP(RBF(0.5), noise=1.0, learn=False))
    asked = []
    for _ in range(11):
        question = learner.ask(purpose="best")
        asked.append(tuple(sorted(question.items)))
        learner.tell(question, "left")
    assert len(set(asked[:10])) == 10
    assert asked[10] in asked[:10]


def test_a_learner_finds_the_best_trajectory_soon() -> None:
    """One feature, and the best in the middle: after a dozen questions it is known."""
    pool = Pool(np.linspace(-2.0, 2.0, 81)[:, None])
    learner = Learner(pool, model=PreferenceGP(RBF(0.5), noise=0.05, learn=False))
    true = -np.abs(pool.features[:, 0] - 0.6)
    for _ in range(12):
        question = learner.ask(purpose="best")
        learner.tell(question, "left" if true[question.left] > true[question.right] else "right")
    assert pool.features[learner.reward().best(pool).index, 0] == pytest.approx(0.6, abs=0.2)


# --- Thompson duels ---------------------------------------------------------------------------------------


def test_a_duel_is_between_the_best_of_the_first_two_draws_that_differ() -> None:
    belief = mixture()
    rng = np.random.default_rng([len(POINTS), len(WINS)])
    best = draw_best(belief, POINTS, 60, rng).best.tolist()
    other = next(index for index in best if index != best[0])
    question = best_question(belief, POINTS, acquisition=ThompsonDuel())
    assert question.items == (min(best[0], other), max(best[0], other))
    assert (question.value, question.unit) == (1.0, "duel")
    again = best_question(belief, POINTS, acquisition=ThompsonDuel(), exclude=[question.items])
    assert again.items != question.items
    assert again.value == 0.0
