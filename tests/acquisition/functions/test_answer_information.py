"""Questions about several trajectories: their information, the search for them, and batches."""

import numpy as np
import pytest
from scipy.special import ndtr

from acquisition.searched_pools import scored_by
from prefero.acquisition.batches import ImaginedAnswers, choice_probabilities, likely_answer
from prefero.acquisition.functions.answer_information import (
    AnswerInformation,
    AnswerScorer,
    information_scorer,
)
from prefero.acquisition.functions.mutual_information import MutualInformation
from prefero.acquisition.functions.predictive_information import PredictiveInformation
from prefero.acquisition.searches.best_question import best_question
from prefero.acquisition.searches.random_question import random_question
from prefero.acquisition.targets import TargetQuestions, draw_targets
from prefero.kernels import RBF
from prefero.learner import Learner
from prefero.models.likelihood.probabilities import People
from prefero.models.preference_gp import PreferenceGP
from prefero.pools.pool import Pool
from prefero.questions import Answer, Question
from prefero.questions.answer_kinds import ANSWER_KINDS, Kind, choices_of, examples, items_of, kind_named
from prefero.simulation.users import SimulatedUser

X = np.random.default_rng(0).standard_normal((30, 2))
POOL = Pool(X)
MODEL = PreferenceGP(RBF(0.3), noise=0.3, learn=False).fit(POOL.scaled, [(0, 1), (2, 3)])
BELIEF = MODEL.posterior_
PAIRS = np.array([[4, 9], [0, 1], [11, 20]])
RNG = np.random.default_rng(0)


def by_draws(kind: Kind, draws: int | None = None, targets: TargetQuestions | None = None) -> AnswerScorer:
    """Scores by the mutual information, or by the predictive information with Prefero's weight."""
    weight = 1.0 if targets is None else PredictiveInformation().mutual_information_weight
    scorer = information_scorer(BELIEF, POOL.scaled, kind, targets, weight)
    scorer.draws = draws or scorer.draws
    return scorer


def test_the_information_of_a_pair_equals_the_closed_form() -> None:
    found = by_draws("pair", 4000).scores(PAIRS)
    mean, covariance = BELIEF(POOL.scaled)
    from prefero import information_gain

    wanted = information_gain(mean, covariance, 0.3)[tuple(PAIRS.T)]
    np.testing.assert_allclose(found, wanted, atol=0.02)


def test_the_predictive_information_of_a_pair_equals_the_closed_form() -> None:
    acquisition = PredictiveInformation(targets=[(0, 5), (7, 12), (3, 21)])
    targets = draw_targets(acquisition.targets, BELIEF, POOL.scaled, RNG)
    found = by_draws("pair", 6000, targets).scores(PAIRS)
    np.testing.assert_allclose(found, scored_by(acquisition, BELIEF, POOL.scaled, PAIRS), atol=0.01)


@pytest.mark.parametrize("kind", ["best-of-3", "rank-3"])
def test_the_information_of_three_equals_a_simulation_of_impressions(kind: Kind) -> None:
    """H(answer) - H(answer | rewards), with the answers of many showings counted."""
    rng, items = np.random.default_rng(1), [4, 9, 17]
    rewards = BELIEF.sample(POOL.scaled[items], 900, rng)
    words = choices_of(kind, ties=False)
    counts = np.zeros((len(rewards), len(words)))
    for draw, row in enumerate(rewards):
        for seen in row + 0.3 * rng.standard_normal((100, 3)):
            counts[draw, words.index(kind_named(kind).choice_of(seen, 0.0, 1.0))] += 1
    p = counts / counts.sum(axis=1, keepdims=True)

    def entropy(p: np.ndarray) -> np.ndarray:
        return np.asarray(-np.sum(np.where(p > 0, p * np.log2(np.maximum(p, 1e-12)), 0.0), axis=-1))

    bias = (np.count_nonzero(p, axis=1) - 1).mean() / (2 * 100 * np.log(2))  # of counted entropies
    simulated = float(entropy(p.mean(axis=0)) - entropy(p).mean()) - bias
    found = by_draws(kind, 2000).scores(np.array([items]))
    assert found[0] == pytest.approx(simulated, abs=0.06)


def test_more_trajectories_and_finer_answers_tell_more() -> None:
    items = np.array([[4, 9, 17]])
    best, rank = (
        float(scored_by(MutualInformation(), BELIEF, POOL, items, kind)[0])
        for kind in ("best-of-3", "rank-3")
    )
    pair = float(by_draws("pair").scores(items[:, :2])[0])
    assert pair < best + 0.02 < rank + 0.02


def test_the_search_finds_a_better_set_than_chance() -> None:
    rng = np.random.default_rng(0)
    found = best_question(BELIEF, POOL, kind="best-of-3")
    sets = np.array([rng.choice(30, 3, replace=False) for _ in range(40)])
    values = by_draws("best-of-3", 400).scores(sets)
    assert found.value > np.quantile(values, 0.95)
    again = best_question(BELIEF, POOL, kind="best-of-3", exclude=[found.items])
    assert set(again.items) != set(found.items)


def test_a_small_pool_has_no_large_sets() -> None:
    with pytest.raises(ValueError, match=r"'rank-4' needs 4 .*3"):
        best_question(BELIEF, Pool(X[:3]), kind="rank-4")


@pytest.mark.parametrize("kind", ANSWER_KINDS.names())
def test_random_questions_and_likely_answers_are_of_every_kind(kind: Kind) -> None:
    question = random_question(30, np.random.default_rng(0), kind=kind)
    assert (question.kind, len(set(question.items))) == (kind, items_of(kind))
    assert likely_answer(BELIEF, POOL.scaled, question).choice in choices_of(kind)


def test_probabilities_of_answers_are_those_of_the_belief() -> None:
    probabilities = choice_probabilities(BELIEF, POOL.scaled, Question(4, 9))
    wanted = BELIEF.probability(POOL.scaled[[4]], POOL.scaled[[9]])[0]
    assert probabilities[0] == pytest.approx(wanted, abs=0.05)


def test_imagined_answers_differ_between_scenarios() -> None:
    imagined = ImaginedAnswers(lambda _: BELIEF, (), POOL, [Question(4, 9, number=1)], seed=0)
    assert {told[-1].choice for told in imagined.told} == {"left", "right"}


@pytest.mark.parametrize("kind", ["pair", "best-of-3"])
def test_a_batch_of_questions_does_not_repeat_itself(kind: Kind) -> None:
    learner = Learner(POOL, model=PreferenceGP(RBF(0.3), noise=0.3, learn=False))
    questions = learner.ask(count=3, kind=kind)
    assert len({frozenset(question.items) for question in questions}) == 3
    assert learner.open_questions == questions
    assert [question.number for question in questions] == [1, 2, 3]
    with pytest.raises(ValueError, match="count must be"):
        learner.ask(count=0)


@pytest.mark.parametrize("kind", examples()[1:])
def test_a_learner_asks_and_learns_every_kind(kind: Kind, tmp_path: object) -> None:
    user, rng = SimulatedUser(lambda x: x[:, 0], noise=0.1), np.random.default_rng(0)
    learner = Learner(POOL, model=PreferenceGP(RBF(0.3), noise=0.1, learn=False))
    for _ in range(3):
        question = learner.ask(kind=kind)
        learner.tell(question, user.answer_question(question, X, rng))
    assert {answer.question.kind for answer in learner.answers} == {kind}
    assert learner.undo().question == question
    learner.skip(question)
    assert question.items not in [other.items for other in learner.open_questions]
    path = f"{tmp_path}/learner.json"
    learner.save(path)
    again = Learner.load(path)
    assert again.answers == learner.answers
    learner.reward().save(f"{tmp_path}/reward.json")
    from prefero import load_reward

    loaded = load_reward(f"{tmp_path}/reward.json")
    np.testing.assert_allclose(loaded.predict(X), learner.reward().predict(X), atol=1e-5)


def test_answers_about_other_kinds_are_refused() -> None:
    learner = Learner(POOL, model=PreferenceGP(RBF(0.3), noise=0.3, learn=False))
    with pytest.raises(ValueError, match="no answer kind 'best'"):
        learner.ask(kind="best")
    with pytest.raises(ValueError, match="but this is 'left'"):
        Answer(Question(1, 2, 3), "left")


# --- the stated Monte Carlo error -------------------------------------------------------------------------

GRID = np.linspace(-6.0, 6.0, 81)
COVARIANCE = np.array([[1.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0.0, 0.2, 1.0]])
MEAN = np.array([0.4, 0.0, -0.2])


def best_by_sums(rewards: np.ndarray) -> np.ndarray:
    """P(each of three is the best) at noise 0.5, by plain sums over a fine grid of impressions."""
    z = (rewards[:, :, None] - rewards[:, None, :]) / 0.5
    density = np.exp(-0.5 * GRID**2)
    found = np.empty_like(rewards)
    for best in range(3):
        first, second = (other for other in range(3) if other != best)
        below = ndtr(z[:, best, first, None] + GRID) * ndtr(z[:, best, second, None] + GRID)
        found[:, best] = below @ density / density.sum()
    return found


def bits(p: np.ndarray) -> np.ndarray:
    return np.asarray(-np.sum(p * np.log2(np.maximum(p, 1e-300)), axis=-1))


def by_brute_force(predictive: bool) -> float:
    """The information in the best of three about the reward, or about which of the first two is better."""
    rewards = np.random.default_rng(0).multivariate_normal(MEAN, COVARIANCE, 20_000)
    p, better = best_by_sums(rewards), rewards[:, 0] > rewards[:, 1]
    if not predictive:
        return float(bits(p.mean(axis=0)) - bits(p).mean())
    joint = np.stack([(p * (better == side)[:, None]).mean(axis=0) for side in (True, False)])
    return float(bits(p.mean(axis=0)) + bits(joint.sum(axis=1)) - bits(joint.ravel()))


@pytest.mark.parametrize("predictive", [False, True])
def test_the_stated_error_covers_the_truth_and_the_value_has_no_bias(predictive: bool) -> None:
    truth, draws, off = by_brute_force(predictive), 100, []
    for seed in range(150):
        rewards = np.random.default_rng([1, seed]).multivariate_normal(MEAN, COVARIANCE, draws)
        same = np.full(draws, 0.5)
        people = People(same, np.zeros(draws), same, np.zeros(draws))
        better = (rewards[:, :1] > rewards[:, 1:2]).astype(float)
        scorer = AnswerInformation(
            rewards,
            people,
            np.full(draws, 1.0 / draws),
            preferred=better if predictive else None,
            mutual_information_weight=0.0 if predictive else 1.0,
            ties=False,
            bar=np.zeros(draws),
        )
        value, error = scorer.estimate(np.arange(3), "best-of-3")
        off.append((value - truth) / error)
    assert np.mean(np.abs(off) < 1.96) == pytest.approx(0.95, abs=0.045)
    assert abs(np.mean(off)) < 0.25  # 0.07 is the standard error of this mean
    assert np.std(off) == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("kind", ["best-of-3", "rank-4"])
def test_more_draws_make_the_stated_error_smaller(kind: Kind) -> None:
    items = [4, 9, 17, 20][: items_of(kind)]
    targets = draw_targets(None, BELIEF, POOL, RNG)
    few, many = (by_draws(kind, draws, targets).estimate(items) for draws in (100, 400))
    assert 1.5 < few[1] / many[1] < 2.7
    assert abs(few[0] - many[0]) < 4.0 * few[1]
