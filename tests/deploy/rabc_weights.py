"""The weights that RA-BC gives to frames, stated again, frame by frame, from equations 8 and 9 of its paper.

`tests/lerobot_plugin` compares them with LeRobot's own.
"""

from collections.abc import Mapping
from statistics import fmean, pstdev

from prefero._support.arrays import Array

KAPPA, EPSILON = 0.01, 1e-6


def rabc_weights(progress: Mapping[int, Array], chunk: int = 50) -> dict[int, list[float]]:
    """The weight of each frame of each episode, before a batch is normalized."""
    growths = {number: growth_of([float(v) for v in values], chunk) for number, values in progress.items()}
    every = [growth for growths_here in growths.values() for growth in growths_here]
    mean, std = max(fmean(every), 0.0), max(pstdev(every), EPSILON)
    return {number: [weight_of(growth, mean, std) for growth in some] for number, some in growths.items()}


def growth_of(progress: list[float], chunk: int) -> list[float]:
    last = len(progress) - 1
    return [progress[min(t + chunk, last)] - value for t, value in enumerate(progress)]


def weight_of(growth: float, mean: float, std: float) -> float:
    if growth > KAPPA:
        return 1.0
    if growth < 0.0:
        return 0.0
    return min(max((growth - (mean - 2 * std)) / (4 * std + EPSILON), 0.0), 1.0)
