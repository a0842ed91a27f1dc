"""The grid of structures: prior weights that add up to one, and rewards of unit variance."""

from math import exp

import numpy as np
import pytest

from prefero.models.structures import GRID, grid_candidates, kernel_grid


@pytest.mark.parametrize("features", [1, 2, 5, 64])
def test_the_prior_weights_of_the_grid_add_up_to_one(features: int) -> None:
    assert sum(exp(candidate.log_prior) for candidate in grid_candidates(features)) == pytest.approx(1.0)


@pytest.mark.parametrize("features", [1, 4, 64])
@pytest.mark.parametrize("structure", GRID)
def test_a_typical_trajectory_has_a_reward_of_about_unit_size(structure: str, features: int) -> None:
    x = np.random.default_rng(0).standard_normal((4000, features))
    for kernel, _ in kernel_grid(structure, features):
        assert np.mean(kernel.diagonal(x)) == pytest.approx(1.0, abs=0.35)
