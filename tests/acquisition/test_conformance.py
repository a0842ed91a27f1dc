"""The conformance kit, run over every acquisition function and over some that come from outside Prefero."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acquisition.conformance import check_acquisition_function, check_pool_acquisition_function
from acquisition.searched_pools import score_all
from prefero import Learner, Pool
from prefero._support.arrays import AnyArray, Array, Indices, namespace_of
from prefero._support.plugins import UnknownNameError
from prefero.acquisition.base import (
    ACQUISITION_FUNCTIONS,
    AcquisitionFunction,
    PairMoments,
    PoolAcquisitionFunction,
    Scorer,
    acquisition_for,
    features_of,
)
from prefero.acquisition.functions.mutual_information import MutualInformation
from prefero.acquisition.searches.best_question import best_question
from prefero.models.posterior.gaussian import Distribution
from prefero.questions.answer_kinds import ANSWER_KINDS, Kind
from support.install_package import install_package

# a whole package outside Prefero: variance of the difference, the question of which is the least known
OUTSIDE = """
class GapVariance:
    unit = "variance"

    def score(self, pairs):
        mean = sum(p.weight * p.gap for p in pairs)
        return sum(p.weight * (p.gap_variance + (p.gap - mean) ** 2) for p in pairs)
"""


class UpperConfidenceBound:
    """A user's own, with an upper bound that is looser than its score."""

    unit = "utility"

    def score(self, pairs: Sequence[PairMoments]) -> AnyArray:
        return sum(p.weight * (p.left + p.right + 2.0 * self._std(p)) for p in pairs)

    def upper_bound(self, pairs: Sequence[PairMoments]) -> AnyArray:
        return self.score(pairs) + 0.25

    def _std(self, pairs: PairMoments) -> AnyArray:
        xp = namespace_of(pairs.gap_variance)
        return xp.sqrt(xp.clip(pairs.gap_variance, min=0.0))


class OnlyVariance:
    """Scores that do not depend on the means at all: under known rewards one number stands for all pairs."""

    unit = "variance"

    def score(self, pairs: Sequence[PairMoments]) -> AnyArray:
        return sum(p.weight * p.gap_variance for p in pairs)


class FarthestItems:
    """A user's own for any kind of answer: the mean distance of the trajectories."""

    unit = "distance"

    def scorer(self, belief: Distribution, pool: Pool | Array, _: Kind) -> Scorer:
        return Distances(features_of(belief, pool))


class Distances(Scorer):
    unit = "distance"

    def __init__(self, x: Array) -> None:
        self.x = x

    def scores(self, items: Indices) -> Array:
        x = self.x[items]
        return np.asarray(np.linalg.norm(x[:, :, None] - x[:, None], axis=3).mean(axis=(1, 2)))


@pytest.mark.parametrize("name", ACQUISITION_FUNCTIONS.names())
def test_every_registered_acquisition_function_conforms(name: str) -> None:
    acquisition = ACQUISITION_FUNCTIONS.get(name)()
    assert isinstance(acquisition, PoolAcquisitionFunction)
    check_pool_acquisition_function(acquisition, ("best-of-3", "rank-3"))
    if isinstance(acquisition, AcquisitionFunction):
        check_acquisition_function(acquisition)


@pytest.mark.parametrize("formula", ["houlsby", "paper"])
def test_the_other_formulas_conform_with_two_answers(formula: Any) -> None:
    check_acquisition_function(MutualInformation(formula), margins=(0.0,), lapses=False)


@pytest.mark.parametrize("acquisition", [UpperConfidenceBound(), OnlyVariance()])
def test_ones_own_acquisition_function_conforms(acquisition: Any) -> None:
    check_acquisition_function(acquisition)


def test_ones_own_acquisition_function_of_any_kind_conforms_and_is_asked_by() -> None:
    check_pool_acquisition_function(FarthestItems(), ("strength", "best-of-3", "worst-of-4", "rank-3"))
    learner = learner_with(FarthestItems())
    x = learner.pool.scaled
    for kind in ANSWER_KINDS:
        question = learner.ask(kind=kind)
        assert (question.kind, question.unit) == (kind, "distance")
        assert question.value == pytest.approx(Distances(x).scores(np.array([question.items]))[0])


@pytest.mark.parametrize("wrong", ["a bound that is too low", "scores that depend on the side"])
def test_the_kit_finds_what_is_wrong(wrong: str) -> None:
    class Wrong(UpperConfidenceBound):
        def score(self, pairs: Sequence[PairMoments]) -> AnyArray:
            scores = super().score(pairs)
            return scores + 0.1 * pairs[0].gap if "side" in wrong else scores

        def upper_bound(self, pairs: Sequence[PairMoments]) -> AnyArray:
            return super().score(pairs) - 0.5

    with pytest.raises(AssertionError):
        check_acquisition_function(Wrong())


# --- from outside the package -----------------------------------------------------------------------------


def learner_with(acquisition: Any) -> Learner:
    pool = Pool(np.random.default_rng(1).standard_normal((25, 2)))
    learner = Learner(pool, acquisition=acquisition)
    for _ in range(3):
        question = learner.ask()
        learner.tell(question, "left" if pool.scaled[question.left, 0] > 0 else "right")
    return learner


def assert_asks_by(learner: Learner, acquisition: Any) -> None:
    belief, x = learner.belief(), learner.pool.scaled
    scores = np.triu(score_all(belief, x, acquisition), 1)
    question = learner.ask()
    assert question.unit == acquisition.unit
    assert question.value == pytest.approx(scores.max(), rel=1e-9)
    assert scores[min(question.items), max(question.items)] == pytest.approx(scores.max(), rel=1e-9)


def test_an_acquisition_function_comes_from_another_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = {"prefero.acquisition_functions": {"gap-variance": "gap_variance_plugin:GapVariance"}}
    install_package(tmp_path, monkeypatch, "gap_variance_plugin", OUTSIDE, points)
    outside = ACQUISITION_FUNCTIONS.get("gap-variance")()
    assert isinstance(outside, AcquisitionFunction)
    check_acquisition_function(outside)
    assert_asks_by(learner_with("gap-variance"), outside)
    learner = learner_with("mutual-information")
    question = best_question(learner.belief(), learner.pool, acquisition="gap-variance")
    assert question.unit == "variance"


def test_an_acquisition_function_is_registered_by_hand() -> None:
    ACQUISITION_FUNCTIONS.register("only-variance", OnlyVariance)
    try:
        assert_asks_by(learner_with("only-variance"), OnlyVariance())
    finally:
        ACQUISITION_FUNCTIONS.unregister("only-variance")
    with pytest.raises(UnknownNameError, match="no acquisition function 'only-variance'"):
        learner_with("only-variance")


def test_an_acquisition_function_is_an_object_of_ones_own() -> None:
    assert_asks_by(learner_with(UpperConfidenceBound()), UpperConfidenceBound())


def test_a_purpose_takes_a_built_in_one_instead() -> None:
    learner = learner_with(UpperConfidenceBound())
    assert learner.ask(purpose="learn").unit == "bits"
    assert learner.ask(purpose="best").unit == "bits"
    with pytest.raises(ValueError, match=r"purpose .*'learn' or 'best', .*'win'"):
        acquisition_for("win")  # type: ignore[arg-type]
