"""Write results of runs that were never run, with curves of a test's choosing."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from unittest import mock

import numpy as np
import numpy.typing as npt

from prefero.experiments.figures.base import GRID_SIGMAS, GRID_THETAS, Scale
from prefero.experiments.results import Results
from prefero.experiments.runs import BEST_EVERY, BINS, CALIBRATED_AFTER, TEST_AFTER, Rows, Run

TINY = Scale(
    runs=2, questions=16, trajectories=24, test_size=6, thetas=GRID_THETAS[:2], sigmas=GRID_SIGMAS[:1]
)

RIGHT = "bin_correct"  # the column that counts right predictions

_KEPT: dict[tuple[Path, int], Rows] = {}


class Remembered(Results):
    """Results that read a file again only when it has changed: figures and claims read them over and over."""

    def rows(self, run: Run) -> Rows:
        path = self.path(run)
        version = path, path.stat().st_mtime_ns
        if version not in _KEPT:
            _KEPT[version] = super().rows(run)
        return _KEPT[version]


def rows_of(
    questions: int,
    *,
    accuracy: npt.ArrayLike = 0.8,
    log_likelihood: npt.ArrayLike = -0.4,
    best_reward: npt.ArrayLike = 0.5,
    answer_accuracy: float = 0.6,
    bins: Iterable[int] = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100),
    right: Iterable[int] = (5, 11, 19, 27, 36, 46, 58, 70, 83, 97),
) -> Rows:
    """What a run of so many questions might have given; a number stands for a flat curve."""
    numbers = range(1, questions + 1)
    assert len(BINS) - 1 == len(list(bins)) == len(list(right))
    return {
        "question": list(numbers),
        "left": [0] * questions,
        "right": [1] * questions,
        "choice": ["left"] * questions,
        "accuracy": _curve(accuracy, questions),
        "log_likelihood": _curve(log_likelihood, questions),
        "best_reward": [
            b if n % BEST_EVERY == 0 else None
            for n, b in zip(numbers, _curve(best_reward, questions), strict=True)
        ],
        "answer_accuracy": [answer_accuracy if n == TEST_AFTER else None for n in numbers],
        "bin_counts": [list(bins) if n in CALIBRATED_AFTER else None for n in numbers],
        RIGHT: [list(right) if n in CALIBRATED_AFTER else None for n in numbers],
    }


def _curve(values: npt.ArrayLike, questions: int) -> list[float]:
    return [float(v) for v in np.broadcast_to(np.asarray(values, dtype=float), questions)]


def learned(run: Run) -> Rows:
    """A noisy curve that rises, another for every run."""
    rng = np.random.default_rng(int(run.key, 16))
    n = run.setting.questions
    climb = 1 - np.exp(-np.arange(1, n + 1) / rng.uniform(2, 30))
    accuracy = np.clip(0.5 + 0.5 * climb + 0.02 * rng.standard_normal(n), 0, 1)
    bins = rng.integers(1, 100, len(BINS) - 1)
    return rows_of(
        n,
        accuracy=accuracy,
        log_likelihood=np.log(np.clip(accuracy, 0.01, 0.99)),
        best_reward=np.clip(climb, 0, 1),
        answer_accuracy=float(rng.integers(6)) / 5,
        bins=bins.tolist(),
        right=rng.integers(0, bins + 1).tolist(),
    )


def save(results: Results, rows: Mapping[Run, Rows]) -> None:
    """Save runs without waiting for the disk."""
    with mock.patch.object(os, "fsync"):
        for run, of_run in rows.items():
            results.save(run, of_run)


def fabricate(results: Results, runs: Iterable[Run]) -> dict[Run, Rows]:
    """Save runs that have learned something, and say what was saved."""
    made = {run: learned(run) for run in runs}
    save(results, made)
    return made
