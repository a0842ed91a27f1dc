"""What real people are like: how often their rewards have which structure, and how they err.

The numbers are the evidence of the project's own models for 335 people in ten public sets of comparisons,
each set counting the same. They add up to about 1, and are divided by their sum.

    structure     the form of the reward, as in `prefero.models.averaging.structures`
    noise         the paper's sigma, for a reward that varies by 1 over the pool
    lapse rate    the fraction of answers that are given at random
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")

STRUCTURES = {"linear": 0.53, "quadratic": 0.01, "rbf": 0.16, "linear+rbf": 0.05, "additive": 0.26}
NOISES = {  # noise and lapse rate; who hardly errs otherwise lapses most
    (0.03, 0.0): 0.05,
    (0.03, 0.2): 0.12,
    (0.1, 0.0): 0.05,
    (0.2, 0.0): 0.12,
    (0.2, 0.1): 0.05,
    (0.3, 0.0): 0.16,
    (0.3, 0.05): 0.10,
    (0.55, 0.0): 0.15,
    (0.55, 0.1): 0.10,
    (1.0, 0.0): 0.10,
}


class Traits(NamedTuple):
    """The structure of a person's reward, and how the person errs."""

    structure: str
    noise: float
    lapse_rate: float


def traits_of(seed: int) -> Traits:
    """Those of the simulated user with this seed."""
    rng = np.random.default_rng([seed, *b"traits of a person"])  # a stream that no task draws from
    structure = _drawn(STRUCTURES, rng)
    return Traits(structure, *_drawn(NOISES, rng))


def _drawn(weights: Mapping[T, float], rng: np.random.Generator) -> T:
    chances = np.array(list(weights.values()))
    return list(weights)[rng.choice(len(chances), p=chances / chances.sum())]
