"""A Gaussian in few numbers predicts as the one that they stand for; the judge is plain linear algebra."""

import numpy as np
import pytest

from prefero import PreferenceGP
from prefero._support.arrays import Array
from prefero.kernels import RBF, Linear
from prefero.models.posterior.gaussian import Posterior
from prefero.questions import Comparisons
from prefero.rewards.compact import arrays_of, compact
from prefero.rewards.packing import Numbers, numbers_from_json, pack, unpack


def taught(pairs: Array, x: Array) -> Posterior:
    found = PreferenceGP(RBF(0.5) + Linear(), noise=0.3, learn=False).fit_comparisons(
        Comparisons.of(x, pairs)
    )
    assert isinstance(found.posterior_, Posterior)
    return found.posterior_


def points(rows: int = 12) -> Array:
    return np.random.default_rng(0).standard_normal((rows, 3))


CHAIN = np.array([[0, 1], [1, 2], [2, 3], [4, 5]])
CYCLE = np.array([[0, 1], [1, 2], [0, 2], [4, 5], [5, 6], [7, 8]])


@pytest.mark.parametrize("rounding", ["int16", "float32"])
@pytest.mark.parametrize("pairs", [CHAIN, CYCLE], ids=["independent", "dependent"])
def test_the_arrays_predict_the_same(pairs: Array, rounding: str) -> None:
    gaussian, x = taught(pairs, points()), points(20)
    made = unpack(pack({"arrays of": compact(gaussian, rounding)._asdict()}))["arrays of"]
    alpha, whitener = arrays_of(gaussian.kernel, gaussian.points, gaussian.others, **made)
    cross = gaussian.kernel(x, gaussian.points) - gaussian.kernel(x, gaussian.others)
    std = np.sqrt(
        np.diag(gaussian.kernel(x, x) - (cross @ gaussian.whitener) @ (cross @ gaussian.whitener).T)
    )
    rounded = np.sqrt(np.diag(gaussian.kernel(x, x) - (cross @ whitener) @ (cross @ whitener).T))
    assert np.max(np.abs(cross @ alpha - cross @ gaussian.alpha) / std) < 1e-5
    assert np.max(np.abs(rounded - std) / std) < 1e-3


def test_of_answers_about_one_difference_each_the_precision_is_diagonal() -> None:
    gaussian = taught(CHAIN, points())
    made = compact(gaussian, "float32")
    assert made.precision is not None
    assert made.root is None
    full = np.zeros((4, 4))
    full[np.tril_indices(4)] = made.precision.array
    assert np.count_nonzero(full) == 4
    # the judge: the precision of the differences after the answers, less the one before them
    a, b = gaussian.points, gaussian.others
    k = gaussian.kernel
    prior = k(a, a) - k(a, b) - k(b, a) + k(b, b)
    learned = prior @ gaussian.whitener
    added = np.linalg.inv(prior - learned @ learned.T) - np.linalg.inv(prior)
    np.testing.assert_allclose(full + np.tril(full, -1).T, added, atol=1e-6)


@pytest.mark.parametrize(("kind", "error"), [("float64", 0.0), ("float32", 6e-8), ("int16", 2.0**-15)])
@pytest.mark.parametrize("shape", [(7, 3), (5,), (0, 2), (0,), (2, 0), (1, 1)])
def test_arrays_are_rounded_relative_to_their_columns(
    kind: str, error: float, shape: tuple[int, ...]
) -> None:
    array = np.random.default_rng(1).standard_normal(shape) * (10.0 ** np.arange(shape[-1]))
    read = numbers_from_json(Numbers(array, kind).to_json())
    assert read.shape == array.shape
    assert np.all(np.abs(read - array) <= error * np.abs(array).max(axis=0, initial=0.0))
    again = numbers_from_json(Numbers(read, kind).to_json())
    np.testing.assert_array_equal(again, read)


def test_equal_arrays_are_packed_once() -> None:
    array = np.random.default_rng(2).standard_normal(500)
    one, many = pack({"a": Numbers(array)}), pack({str(n): Numbers(array) for n in range(20)})
    assert len(many) < 1.1 * len(one)
    for read in unpack(many).values():
        np.testing.assert_array_equal(read, array)
