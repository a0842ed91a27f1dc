"""What every acquisition function must keep, whether it is Prefero's or a user's own.

`check_acquisition_function` runs all checks. They use what the search uses: questions under mixtures of one
to three components, with two or three answers, of differences that are known, hardly known, near and far.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import array_api_strict
import numpy as np
import pytest

from acquisition.searched_pools import score_all, scored_by
from prefero._support.arrays import Array, to_numpy
from prefero.acquisition.base import (
    AcquisitionFunction,
    Component,
    HasUpperBound,
    HasVarianceBound,
    PairMoments,
    PoolAcquisitionFunction,
    acquisition_named,
)
from prefero.acquisition.searches.best_question import best_question
from prefero.kernels import RBF, Linear
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.likelihood.probit import Probit
from prefero.models.linear import LinearPreference
from prefero.models.preference_gp import PreferenceGP
from prefero.questions import Comparisons
from prefero.questions.answer_kinds import Kind, items_of

TIE_TOLERANCE = 1e-10
ROUNDING = 1e-12  # beside the largest number that goes into a score


def check_acquisition_function(
    acquisition: AcquisitionFunction, margins: Sequence[float] = (0.0, 0.3), *, lapses: bool = True
) -> None:
    """All checks; for a function of two possible answers without lapses margins=(0.0,), lapses=False."""
    assert acquisition_named(acquisition) is acquisition
    assert isinstance(acquisition.unit, str)
    assert acquisition.unit
    for margin in margins:
        for seed in range(3):  # one to three components
            pairs = questions(seed, margin)
            check_scores_are_finite_symmetric_and_elementwise(acquisition, pairs)
            check_upper_bound(acquisition, pairs)
            check_any_array_library(acquisition, pairs)
            check_inputs_are_left_alone(acquisition, pairs)
        for belief in beliefs(margin, lapses):
            check_search_is_brute_force(acquisition, belief)
        check_variance_bound(acquisition, margin)


def check_pool_acquisition_function(
    acquisition: PoolAcquisitionFunction, kinds: Sequence[Kind] = ("best-of-3",)
) -> None:
    """All checks of a function that makes scorers; it scores pairs, and questions of these kinds."""
    assert acquisition_named(acquisition) is acquisition
    assert acquisition.unit
    for margin in (0.0, 0.3):
        for belief in beliefs(margin):
            check_pool_scores_and_search(acquisition, belief)
        for kind in kinds:
            check_scores_sets(acquisition, beliefs(margin)[1], kind)


def check_scores_sets(acquisition: PoolAcquisitionFunction, belief: Any, kind: Kind) -> None:
    """Scores of sets are finite; the search finds one of the better sets, and nothing that is excluded."""
    x, rng = np.random.default_rng(2).standard_normal((12, 2)), np.random.default_rng(3)
    sets = np.array([rng.choice(len(x), items_of(kind), replace=False) for _ in range(30)])
    scores = scored_by(acquisition, belief, x, sets, kind)
    assert scores.shape == (len(sets),)
    assert np.isfinite(scores).all()
    found = best_question(belief, x, acquisition=acquisition, kind=kind)
    assert (found.kind, len(set(found.items))) == (kind, items_of(kind))
    assert found.value >= np.quantile(scores, 0.8)
    again = best_question(belief, x, acquisition=acquisition, kind=kind, exclude=[found.items])
    assert set(again.items) != set(found.items)


def check_pool_scores_and_search(acquisition: PoolAcquisitionFunction, belief: Any) -> None:
    """Scores are finite and symmetric; the search finds nearly the best, and nothing that is excluded."""
    x = np.random.default_rng(2).standard_normal((20, 2))
    pairs = np.column_stack(np.triu_indices(len(x), 1))
    scores = scored_by(acquisition, belief, x, pairs)
    assert scores.shape == (len(pairs),)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scored_by(acquisition, belief, x, pairs[:, ::-1]), scores, atol=1e-9)
    found = best_question(belief, x, acquisition=acquisition)
    assert found == best_question(belief, x, acquisition=acquisition)
    assert found.unit == acquisition.unit
    at = int(np.flatnonzero((pairs == found.items).all(axis=1))[0])
    assert found.value == pytest.approx(scores[at], abs=1e-9)
    assert found.value >= 0.9 * scores.max()
    assert best_question(belief, x, acquisition=acquisition, exclude=[(found.left, found.right)]) != found
    with pytest.raises(ValueError, match="nothing is left to ask"):
        best_question(belief, x, acquisition=acquisition, exclude=[tuple(pair) for pair in pairs.tolist()])


def questions(seed: int, margin: float, length: int = 60) -> list[PairMoments]:
    """Questions under one to three components."""
    rng = np.random.default_rng(seed)
    count, noise = 1 + seed % 3, 10.0 ** rng.uniform(-2, 1)
    weights = rng.dirichlet(np.ones(count)) if count > 1 else np.ones(1)
    center, far = rng.uniform(-50, 50), 10.0 ** rng.uniform(-2, 2)
    return [
        PairMoments(
            float(weights[k]),
            Probit(noise * (1.0, 0.5, 3.0)[k], margin * noise),
            noise * (center + far * rng.standard_normal(length)),
            noise * (center + far * rng.standard_normal(length)),
            noise**2 * 10.0 ** rng.uniform(-6, 5, length) * rng.integers(0, 2, length),
        )
        for k in range(count)
    ]


@cache
def beliefs(margin: float, lapses: bool = True) -> list[Any]:
    """A Gaussian, Bayesian model averaging, and equally likely known rewards."""
    rng = np.random.default_rng(5)
    items = rng.standard_normal((12, 2))
    data = Comparisons.of(items, np.array([[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]))
    gp = PreferenceGP(Linear() + RBF(0.5), noise=0.2, margin=margin, learn=False)
    linear = LinearPreference(noise=0.2, margin=margin, draws=20)
    noise = None if lapses else 0.2  # a noise that is known has no lapses beside it
    mixture = MixtureFitter(Reference.normal(2), noise=noise, margin=margin, searched=False).fit(data)
    return [gp.fit_comparisons(data).posterior_, mixture, linear.fit_comparisons(data).posterior_]


def rounding(pairs: Sequence[PairMoments]) -> float:
    """How far scores may be off."""
    sizes = [np.abs(v).max() for p in pairs for v in (p.left, p.right, np.sqrt(p.gap_variance), 1.0)]
    return float(ROUNDING * max(sizes))


def scores_of(acquisition: AcquisitionFunction, pairs: Sequence[PairMoments]) -> Array:
    return np.broadcast_to(to_numpy(acquisition.score(pairs)), np.shape(pairs[0].left))


def check_scores_are_finite_symmetric_and_elementwise(
    acquisition: AcquisitionFunction, pairs: Sequence[PairMoments]
) -> None:
    scores, allowed = scores_of(acquisition, pairs), rounding(pairs)
    assert np.isfinite(scores).all()
    swapped = [replace(p, left=p.right, right=p.left) for p in pairs]
    np.testing.assert_allclose(scores_of(acquisition, swapped), scores, rtol=1e-9, atol=allowed)
    some = slice(3, 11)
    alone = [
        replace(p, left=p.left[some], right=p.right[some], gap_variance=p.gap_variance[some]) for p in pairs
    ]
    np.testing.assert_allclose(scores_of(acquisition, alone), scores[some], rtol=1e-9, atol=allowed)


def check_upper_bound(acquisition: AcquisitionFunction, pairs: Sequence[PairMoments]) -> None:
    if isinstance(acquisition, HasUpperBound):
        bound = np.broadcast_to(to_numpy(acquisition.upper_bound(pairs)), np.shape(pairs[0].left))
        assert (bound >= scores_of(acquisition, pairs) - rounding(pairs)).all()


def check_any_array_library(acquisition: AcquisitionFunction, pairs: Sequence[PairMoments]) -> None:
    """The array API standard and nothing else, so that the same lines run on a GPU."""

    def strict(values: Any) -> Any:
        return array_api_strict.asarray(np.array(values))

    moved = [
        replace(p, left=strict(p.left), right=strict(p.right), gap_variance=strict(p.gap_variance))
        for p in pairs
    ]
    found, expected = to_numpy(acquisition.score(moved)), acquisition.score(pairs)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=rounding(pairs))
    if isinstance(acquisition, HasUpperBound):
        bound = to_numpy(acquisition.upper_bound(moved))
        np.testing.assert_allclose(bound, acquisition.upper_bound(pairs), rtol=1e-4, atol=1e-5)


def check_inputs_are_left_alone(acquisition: AcquisitionFunction, pairs: Sequence[PairMoments]) -> None:
    before = [[np.array(v) for v in (p.left, p.right, p.gap_variance)] for p in pairs]
    acquisition.score(pairs)
    if isinstance(acquisition, HasUpperBound):
        acquisition.upper_bound(pairs)
    for kept, p in zip(before, pairs, strict=True):
        for values, now in zip(kept, (p.left, p.right, p.gap_variance), strict=True):
            np.testing.assert_array_equal(values, now)


def check_search_is_brute_force(acquisition: AcquisitionFunction, belief: Any) -> None:
    """The tiled search finds the best of all scores, here and in another array library."""
    x = np.random.default_rng(8).standard_normal((40, 2))
    scores = np.asarray(score_all(belief, x, acquisition))
    above = np.where(np.triu(np.ones(scores.shape, dtype=bool), 1), scores, -np.inf)
    row, column = (int(i) for i in np.argwhere(above >= above.max() - TIE_TOLERANCE)[0])
    expected = row, column
    for pool, tile in ((x, 7), (x, None), (array_api_strict.asarray(x), 7)):
        question = best_question(belief, pool, acquisition=acquisition, tile=tile)
        assert question.items == expected
        assert question.unit == acquisition.unit
        np.testing.assert_allclose(question.value, above.max(), rtol=1e-9, atol=1e-9)
    again = best_question(belief, x, acquisition=acquisition, exclude=[expected], tile=7)
    assert again.items != expected


def check_variance_bound(acquisition: AcquisitionFunction, margin: float) -> None:
    """Below the least variance no question with one component reaches the value."""
    if not isinstance(acquisition, HasVarianceBound):
        return
    rng, probit = np.random.default_rng(2), Probit(0.3, margin)
    left, right = rng.standard_normal((2, 400))
    for value in (-np.inf, 1e-4, 0.1, 0.5, 0.9):
        least = acquisition.least_variance([Component(1.0, probit)], value)
        variance = least * rng.uniform(0.0, 0.999, 400)
        scores = scores_of(acquisition, [PairMoments(1.0, probit, left, right, variance)])
        assert least == 0.0 or (scores < value).all()
        assert acquisition.least_variance([Component(0.5, probit)] * 2, value) == 0.0
