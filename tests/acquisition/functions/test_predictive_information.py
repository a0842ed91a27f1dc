"""Predictive information, judged by integrals over the target's difference and by looking at every pair."""

from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm

from acquisition.searched_pools import score_all, scored_by
from prefero import Learner, Pool
from prefero._support.arrays import Array, Indices
from prefero._support.pairs import farthest_points
from prefero.acquisition import MutualInformation, PredictiveInformation
from prefero.acquisition.base import acquisition_named
from prefero.acquisition.searches.best_question import best_question
from prefero.acquisition.targets import draw_targets
from prefero.models.linear import LinearPreference
from prefero.models.preference_gp import PreferenceGP
from prefero.simulation.tasks import make_task
from question_reference import NODES, WEIGHTS


def learned(count: int = 6, margin: float | None = None, seed: int = 0) -> tuple[Any, Array]:
    """A belief after some answers, and a pool."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((30, 2))
    pairs = rng.permutation(30)[: 2 * count].reshape(count, 2)
    reward = np.sin(2 * x[:, 0]) + x[:, 1]
    winners = [(a, b) if reward[a] > reward[b] else (b, a) for a, b in pairs]
    ties = None if margin is None else np.array([[0, 1]])
    return PreferenceGP(margin=margin).fit(x, winners, ties).posterior_, x


def table_by_quadrature(component: Any, question: Array, target: Array) -> Array:
    """P(answer, preference of the target), (3, 2), by integrals over the difference of the target."""
    mean, cov = component(np.concatenate([question, target]))
    D = np.array([[1.0, -1, 0, 0], [0, 0, 1, -1]])
    m, V = D @ mean, D @ cov @ D.T
    sd, table = np.sqrt(V[1, 1]), np.zeros((3, 2))
    for column, sign in enumerate((1.0, -1.0)):
        far = max(sign * m[1] + 12 * sd, 0.0)  # from 0 to where nothing is left
        t = sign * 0.5 * far * (1 + NODES)
        density = 0.5 * far * WEIGHTS * norm.pdf(t, m[1], sd)
        center = m[0] + V[0, 1] / V[1, 1] * (t - m[1])
        root = np.sqrt(component.probit.scale**2 + max(V[0, 0] - V[0, 1] ** 2 / V[1, 1], 0.0))
        lapse, answers = component.probit.lapse, 3 if component.probit.margin else 2
        first, second = (
            (1 - lapse) * ndtr((s * center - component.probit.margin) / root) + lapse / answers
            for s in (1.0, -1.0)
        )
        table[:, column] = [density @ p for p in (first, second, 1 - first - second)]
    return table


def integral(belief: Any, question: Array, target: Array) -> float:
    """I(y_q; y_t)."""
    table = sum(
        weight * table_by_quadrature(component, question, target) for weight, component in belief.components
    )
    independent, there = np.outer(table.sum(1), table.sum(0)), table > 1e-14
    return float(np.sum(table[there] * np.log2(table[there] / independent[there])))


@pytest.mark.parametrize("margin", [None, 0.2])
def test_the_score_is_the_average_of_integrals(margin: float | None) -> None:
    belief, x = learned(margin=margin)
    targets, question = np.array([[3, 4], [5, 20], [7, 1]]), np.array([[9, 12]])
    score = scored_by(PredictiveInformation(targets, mutual_information_weight=0.0), belief, x, question)
    judge = np.mean([integral(belief, x[question[0]], x[target]) for target in targets])
    assert score[0] == pytest.approx(judge, abs=1e-8)


def test_the_mutual_information_is_added_with_a_weight() -> None:
    belief, x = learned()
    questions = np.array([[0, 1], [4, 9]])
    plain, mixed = (
        scored_by(PredictiveInformation(mutual_information_weight=weight), belief, x, questions)
        for weight in (0.0, 0.5)
    )
    bits = score_all(belief, x, MutualInformation())[questions[:, 0], questions[:, 1]]
    np.testing.assert_allclose(mixed - plain, 0.5 * bits, atol=1e-12)


def test_nothing_is_learned_about_a_target_that_does_not_depend_on_the_question() -> None:
    """Under a linear reward, moving along one feature says nothing about the other."""
    x = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    belief = LinearPreference(draws=600, seed=3).fit(x, np.empty((0, 2), dtype=int)).posterior_
    own, other = (
        scored_by(PredictiveInformation(np.array([target]), 0.0), belief, x, np.array([[0, 1]]))[0]
        for target in ((0, 1), (0, 2))
    )
    assert own > 0.5
    assert other == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_the_search_finds_nearly_the_best_of_all_questions(seed: int) -> None:
    task = make_task("bumpy", trajectories=60, seed=seed)
    learner, rng = Learner(task.pool, seed=seed), np.random.default_rng(seed)
    for _ in range(4 + 3 * seed):
        question = learner.ask(strategy="random")
        left, right = task.pool.scaled[question.left], task.pool.scaled[question.right]
        learner.tell(question, task.user.answer(left, right, rng))
    belief, x = learner.belief(), task.pool.scaled
    scores = scored_by(PredictiveInformation(), belief, x, np.column_stack(np.triu_indices(60, 1)))
    assert best_question(belief, x, acquisition="predictive-information").value >= 0.97 * scores.max()


def test_of_a_large_pool_some_trajectories_are_considered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefero.acquisition.base.LARGE_POOL", 20)
    belief, x = learned()
    question = best_question(belief, x, acquisition="predictive-information")
    assert question.left != question.right
    assert question.value > 0
    assert np.isnan(question.optimality_gap)  # it may be the best, but that is not proven


@pytest.mark.parametrize("name", ["predictive-information", "best-information", "knowledge-gradient"])
def test_of_a_large_pool_either_side_is_exchanged_for_every_trajectory(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    belief, x = learned()
    excluded = [(0, other) for other in range(1, len(x))]
    monkeypatch.setattr("prefero.acquisition.searches.exchange.TOGETHER", 16)
    monkeypatch.setattr("prefero.acquisition.searches.exchange.WHOLE_EXCHANGES", 0)
    monkeypatch.setattr("prefero.acquisition.base.LARGE_POOL", 10)
    few = best_question(belief, x, acquisition=name, exclude=excluded)
    monkeypatch.setattr("prefero.acquisition.searches.exchange.WHOLE_EXCHANGES", 4)
    found = best_question(belief, x, acquisition=name, exclude=excluded)
    assert 0 not in found.items
    assert found.value >= few.value
    function = acquisition_named(name)
    others = [other for other in range(1, len(x)) if other not in found.items]
    beside = np.array([(side, other) for side in found.items for other in others])
    assert found.value >= 0.99 * scored_by(function, belief, x, beside).max()


def test_it_avoids_questions_about_oddities() -> None:
    """Mutual information asks about the one trajectory that is far away from all others."""
    rng = np.random.default_rng(0)
    pool = Pool(np.concatenate([rng.standard_normal((200, 2)), [[40.0, -40.0]]]))
    odd = len(pool) - 1
    assert odd in Learner(pool, acquisition="mutual-information").ask().items
    predictive = Learner(pool, acquisition="predictive-information")
    asked = []
    for _ in range(4):
        asked.append(predictive.ask())
        predictive.tell(asked[-1], "left")
    assert odd not in asked[0].items
    assert sum(odd in question.items for question in asked) <= 1


@pytest.mark.rounding
def test_a_learner_asks_by_name_and_repeats_itself() -> None:
    pool = Pool(np.random.default_rng(1).standard_normal((40, 2)))
    first, second = (Learner(pool, seed=3, acquisition="predictive-information") for _ in range(2))
    for _ in range(3):
        question = first.ask()
        assert question == second.ask()
        assert question.unit == "bits"
        assert question.value is not None
        assert 0 < question.value < 1
        for learner in (first, second):
            learner.tell(question, "right")


def pairs_drawn(targets: Any, pool: Pool) -> tuple[Array, Indices]:
    belief = Learner(pool).belief()
    drawn = draw_targets(targets, belief, pool, np.random.default_rng(0))
    return drawn.points, drawn.pairs


def test_targets_of_a_very_large_pool_are_of_a_random_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(np.random.default_rng(4).standard_normal((50, 2)))
    monkeypatch.setattr("prefero.acquisition.targets.MOST_POINTS", 12)
    points, pairs = pairs_drawn(None, pool)
    assert 2 <= len(points) <= 12
    assert {tuple(p) for p in points} <= {tuple(p) for p in pool.scaled}
    assert pairs.max() < len(points)


def test_targets_are_of_the_pool_of_another_one_or_of_a_region() -> None:
    rng = np.random.default_rng(4)
    pool, elsewhere = Pool(rng.standard_normal((50, 2))), Pool(5 + rng.standard_normal((9, 2)))
    points, pairs = pairs_drawn(None, pool)
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert {tuple(p) for p in points} <= {tuple(p) for p in pool.scaled}
    points, _ = pairs_drawn(elsewhere, pool)
    assert (points.mean(axis=0) > 3).all()  # in the pool's scale
    points, _ = pairs_drawn(lambda features: features[:, 0] > 0.5, pool)
    assert (points[:, 0] > pool.scaled[:, 0].min()).all()
    assert len(np.unique(points, axis=0)) <= int((pool.features[:, 0] > 0.5).sum())


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([[0, 0]], "two different trajectories"),
        ([[0, 99]], "from 0 to 49"),
        ([0, 1], "shape"),
        (np.empty((0, 2), dtype=int), "shape"),
        (lambda features: features[:, 0], "True or False"),
        (lambda features: features[:, 0] > 1e9, "two trajectories or more"),
    ],
)
def test_targets_that_make_no_sense_are_refused(targets: Any, message: str) -> None:
    pool = Pool(np.random.default_rng(4).standard_normal((50, 2)))
    with pytest.raises(ValueError, match=message):
        Learner(pool, acquisition=PredictiveInformation(targets)).ask()


@pytest.mark.rounding
def test_farthest_points_are_far_from_each_other() -> None:
    line = np.array([[0.0], [1.0], [9.0], [10.0], [5.0]])
    assert sorted(farthest_points(line, 3, 0).tolist()) == [0, 3, 4]
