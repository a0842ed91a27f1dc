"""A taste for good trajectories, judged by draws of rewards and by what is shown."""

from typing import Any

import numpy as np
import pytest

from prefero import Learner
from prefero._support.arrays import Array
from prefero.acquisition import PredictiveInformation
from prefero.acquisition import base as acquisition_base
from prefero.acquisition.scorers import scorer_of
from prefero.acquisition.searches.best_question import best_question
from prefero.acquisition.taste import FULL, ROWS, ProbabilityAboveMedian, with_taste
from prefero.models.preference_gp import PreferenceGP
from prefero.questions.answer_kinds import Kind
from prefero.simulation.tasks import make_task

PAIRS = np.array([[0, 1], [2, 3], [4, 5]])


def learned(answers: int) -> tuple[Any, Array]:
    """A belief after some answers about a reward that grows with both features, and a pool."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((60, 2))
    pairs = [rng.choice(60, 2, replace=False) for _ in range(answers)]
    winners = [(a, b) if x[a].sum() > x[b].sum() else (b, a) for a, b in pairs]
    return PreferenceGP().fit(x, winners).posterior_, x


def test_chances_are_about_the_fractions_of_draws_above_their_own_median() -> None:
    """The judge draws whole rewards; taking the median of the means instead errs by about .05."""
    belief, x = learned(8)
    drawn = belief.sample(x, 20_000, np.random.default_rng(0))
    expected = np.mean(drawn > np.median(drawn, axis=1, keepdims=True), axis=0)
    found = ProbabilityAboveMedian.of(belief, x)(np.arange(len(x)))
    assert np.sqrt(np.mean((found - expected) ** 2)) < 0.08
    assert np.corrcoef(found, expected)[0, 1] > 0.97


def test_the_median_of_a_grid_is_not_that_of_one_of_its_edges() -> None:
    """Every second row of this pool has the larger second feature."""
    belief, _ = learned(12)
    x = np.stack(np.meshgrid(np.linspace(-1, 1, ROWS), [-1.0, 1.0], indexing="ij"), axis=-1).reshape(-1, 2)
    above = [mean > median for (mean, median) in _means_and_medians(belief, x)]
    assert all(0.4 < np.mean(some) < 0.6 for some in above)


def _means_and_medians(belief: Any, x: Array) -> list[tuple[Array, float]]:
    medians = ProbabilityAboveMedian.of(belief, x).medians
    return [(part(x)[0], median) for (_, part), median in zip(belief.components, medians, strict=True)]


def test_chances_of_a_large_pool_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    belief, x = learned(8)
    whole = ProbabilityAboveMedian.of(belief, x)(PAIRS)
    monkeypatch.setattr(acquisition_base, "LARGE_POOL", 10)
    assert ProbabilityAboveMedian.of(belief, x)(PAIRS) == pytest.approx(whole)


@pytest.mark.parametrize("kind", ["pair", "strength", "best-of-3"])
def test_the_value_is_the_information_times_what_the_taste_leaves_of_it(kind: Kind) -> None:
    belief, x = learned(FULL)
    items = np.array([[0, 1, 2], [3, 4, 5]]) if kind == "best-of-3" else PAIRS
    plain, tasteful = (
        scorer_of(PredictiveInformation(taste=taste), belief, x, kind).scores(items) for taste in (0.0, 0.4)
    )
    chances = ProbabilityAboveMedian.of(belief, x)(items).mean(axis=1)
    assert tasteful == pytest.approx(plain * (0.6 + 0.4 * chances))


def test_the_taste_grows_with_the_answers() -> None:
    x = learned(0)[1]
    for answers, grown in ((0, 0.0), (FULL // 2, 0.5), (FULL, 1.0), (2 * FULL, 1.0)):
        belief, _ = learned(answers)
        plain = scorer_of(PredictiveInformation(), belief, x, "pair")
        factors = with_taste(plain, belief, x, 1.0).scores(PAIRS) / plain.scores(PAIRS)
        chances = ProbabilityAboveMedian.of(belief, x)(PAIRS).mean(axis=1)
        assert factors == pytest.approx(1.0 - grown + grown * chances)


def test_more_of_what_is_shown_is_good() -> None:
    task = make_task("linear", features=4, trajectories=200, noise=0.3, seed=11)
    true = task.user.reward(task.pool.scaled)
    good = true > np.median(true)

    def shown(taste: float) -> float:
        learner, rng = (
            Learner(task.pool, acquisition=PredictiveInformation(taste=taste)),
            np.random.default_rng(1),
        )
        seen = []
        for _ in range(25):
            question = learner.ask()
            left, right = task.pool.scaled[list(question.items)]
            learner.tell(question, task.user.answer(left, right, rng))
            seen.append(good[list(question.items)].mean())
        return float(np.mean(seen[15:]))

    assert shown(0.9) > shown(0.0) + 0.2


def test_a_question_is_worth_its_information_alone() -> None:
    task = make_task("linear", features=2, trajectories=40, seed=2)
    learner, rng = Learner(task.pool, acquisition=PredictiveInformation(taste=0.9)), np.random.default_rng(0)
    for _ in range(6):
        left, right = task.pool.scaled[list((question := learner.ask()).items)]
        learner.tell(question, task.user.answer(left, right, rng))
    question = learner.ask()
    plain = scorer_of(PredictiveInformation(), learner.belief(), task.pool, "pair")
    assert question.value == pytest.approx(plain.value(question.items))


@pytest.mark.parametrize(("kind", "items"), [("best-of-3", (0, 1, 2)), ("strength", (3, 4))])
def test_so_is_a_question_of_another_kind(kind: Kind, items: tuple[int, ...]) -> None:
    belief, x = learned(FULL)
    plain, tasteful = (scorer_of(PredictiveInformation(taste=taste), belief, x, kind) for taste in (0.0, 0.9))
    assert tasteful.value(items) == plain.value(items)
    found = best_question(belief, x, acquisition=PredictiveInformation(taste=0.9), kind=kind)
    assert found.value == plain.value(found.items)


@pytest.mark.parametrize("taste", [-0.1, 1.5, np.nan])
def test_a_taste_is_a_fraction(taste: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        PredictiveInformation(taste=taste)
