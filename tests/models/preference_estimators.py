"""Parameters of PreferenceGP, items and pairs, for its tests as an estimator and of what it learns."""

from typing import Any

import numpy as np
import pytest

from prefero import PreferenceGP
from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored, Linear, Matern

PARAMETERS: list[dict[str, Any]] = [
    {},
    {"noise": 0.3, "learn": False},
    {"kernel": RBF(theta=(0.5, 2.0)), "inference": "laplace"},
    {"kernel": Anchored(0.5 * Linear() + Matern(lengthscale=2.0), (0.0, 1.0)), "margin": 0.2},
]
every_parameter = pytest.mark.parametrize("parameters", PARAMETERS, ids=["default", "noise", "ARD", "sum"])


def items(rows: int = 24, columns: int = 2, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((rows, columns))


def pairs(x: Array, number: int = 15, seed: int = 0, noise: float = 0.05) -> Any:
    """Winners and losers under the reward x_0 - x_1, with a little noise."""
    rng = np.random.default_rng(seed)
    drawn = np.array([rng.choice(len(x), 2, replace=False) for _ in range(number)])
    gap = (x[drawn[:, 0]] - x[drawn[:, 1]]) @ np.array([1.0, -1.0]) + noise * rng.standard_normal(number)
    return np.where(gap[:, None] > 0, drawn, drawn[:, ::-1])


def quick(**parameters: Any) -> PreferenceGP:
    """One Gaussian process with everything fixed."""
    return PreferenceGP(**{"kernel": 1.0 * RBF(theta=0.3), "noise": 0.1, "learn": False, **parameters})
