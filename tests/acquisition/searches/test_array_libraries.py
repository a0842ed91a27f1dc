"""The search for the best question on other array libraries than NumPy."""

from typing import Any

import array_api_strict
import numpy as np
import pytest

from acquisition.searched_pools import belief_of, every_function, pool, score_all
from prefero.acquisition.base import AcquisitionFunction
from prefero.acquisition.functions.expected_utility import ExpectedUtility
from prefero.acquisition.functions.mutual_information import MutualInformation
from prefero.acquisition.searches.best_question import best_question


def assert_like_numpy(
    to_library: Any, acquisition: AcquisitionFunction, tile: int | None, margin: float = 0.0
) -> None:
    options: dict[str, Any] = {"acquisition": acquisition, "tile": tile}
    options["exclude"] = [(0, 1), (5, 3)]
    for components in (1, 2):
        belief, x = belief_of(4, components, margin), pool(12, 30)
        here = best_question(belief, x, **options)
        there = best_question(belief, to_library(x), **options)
        assert here == there
        assert here.value == pytest.approx(there.value, abs=1e-9)
        scores = score_all(belief, to_library(x), acquisition)
        np.testing.assert_allclose(np.asarray(scores), score_all(belief, x, acquisition), atol=1e-7)


@pytest.mark.parametrize("tile", [7, None])
@every_function
def test_any_array_library_finds_the_question_of_numpy(
    acquisition: AcquisitionFunction, tile: int | None
) -> None:
    assert_like_numpy(array_api_strict.asarray, acquisition, tile)


def test_any_array_library_knows_three_answers() -> None:
    assert_like_numpy(array_api_strict.asarray, MutualInformation(), 7, margin=0.3)


@pytest.mark.parametrize("tile", [7, None])
@every_function
def test_torch_finds_the_question_of_numpy(acquisition: AcquisitionFunction, tile: int | None) -> None:
    torch = pytest.importorskip("torch")
    assert_like_numpy(torch.asarray, acquisition, tile)


def test_torch_knows_three_answers() -> None:
    torch = pytest.importorskip("torch")
    assert_like_numpy(torch.asarray, MutualInformation(), 7, margin=0.3)


@pytest.mark.parametrize("margin", [0.0, 0.3])
@pytest.mark.parametrize("acquisition", [MutualInformation(), ExpectedUtility()])
def test_single_precision_finds_a_question_nearly_as_good(
    acquisition: AcquisitionFunction, margin: float
) -> None:
    torch = pytest.importorskip("torch")
    belief, x = belief_of(4, 1, margin), np.concatenate([pool(12, 40), pool(12, 40)[:5]])
    scores = np.asarray(score_all(belief, x, acquisition))
    found = best_question(belief, torch.asarray(x, dtype=torch.float32), acquisition=acquisition, tile=7)
    assert scores[found.left, found.right] == pytest.approx(scores[np.triu_indices(45, 1)].max(), abs=1e-3)
