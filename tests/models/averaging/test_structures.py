"""The grid of structures: prior weights that add up to one, and rewards that vary by one over the pool."""

from collections.abc import Callable
from math import exp

import numpy as np
import pytest

from prefero._support.arrays import Array
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.structures import WARPED, ModelSettings, grid_candidates, grid_weights


def normal_pool(features: int) -> Array:
    return np.random.default_rng(features).standard_normal((300, features))


def heavy_tailed_pool(features: int) -> Array:
    return np.random.default_rng(features).standard_t(3, size=(300, features)) * 7.0 + 3.0


def clustered_pool(features: int) -> Array:
    rng = np.random.default_rng(features)
    return rng.integers(2, size=(300, features)) + 0.05 * rng.standard_normal((300, features))


POOLS = (normal_pool, heavy_tailed_pool, clustered_pool)


def settings(pool: Array, noise: float | None = None) -> ModelSettings:
    return ModelSettings(Reference.of(pool), noise, None, "ep")


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("noise", [None, 0.2])
@pytest.mark.parametrize("features", [1, 2, 5])
def test_the_prior_weights_of_the_grid_add_up_to_one(
    pool: Callable[[int], Array], noise: float | None, features: int
) -> None:
    candidates = grid_candidates(settings(pool(features), noise))
    assert sum(exp(candidate.log_prior) for candidate in candidates) == pytest.approx(1.0)


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("features", [1, 4, 20])
def test_under_every_candidate_rewards_vary_by_one_over_the_pool(
    pool: Callable[[int], Array], features: int
) -> None:
    """The judge draws rewards of the pool's trajectories from the prior, and looks how they vary."""
    x = pool(features)
    normals = np.random.default_rng(0).standard_normal((300, 1500))
    for candidate in grid_candidates(settings(x, noise=0.1)):
        values, vectors = np.linalg.eigh(candidate.kernel(x, x))
        rewards = (vectors * np.sqrt(np.maximum(values, 0.0))) @ normals
        error = rewards.var(axis=0).std() / np.sqrt(1500)
        assert rewards.var(axis=0).mean() == pytest.approx(1.0, abs=0.04 + 4.0 * error), candidate.structure


def test_compressed_features_are_looked_at_where_tails_are_heavy() -> None:
    assert not any(s.startswith("warped") for s in grid_weights(Reference.of(normal_pool(3))))
    weights = grid_weights(Reference.of(heavy_tailed_pool(3)))
    assert {s for s in weights if s.startswith("warped")} == {f"warped {structure}" for structure in WARPED}
