"""Driving: people compared two trajectories of a simulated car that passes another car.

Julia wrote the files (JLD2, which HDF5 reads): `prefs` has for each comparison the states x₁ and x₂ of both
trajectories (place across and along the road, heading and speed of 50 steps), and 1 for the first or -1 for
the second. The four features are those of the paper.
"""

from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np

from benchmarks.people.judgements import Judgements, compared, joined
from prefero._support.arrays import Array

NAMES = ("lane", "speed", "heading", "other car")
LANES = (-0.17, 0.0, 0.17)  # where they are across the road
SECONDS, FRICTION, STEPS = 0.1, 1.0, 10  # of a step, of the cars, and in which a control is kept
OTHER_START = (0.17, 0.0, np.pi / 2, 0.41)
OTHER_STEERING, OTHER_SPEED = (0.0, 1.0, -1.0, 0.0, 0.0), (0.41, 0.41, 0.41, 0.533, 0.533)


def read(folder: Path) -> Judgements:
    """The comparisons of all people, of both of their files."""
    rows = [(person, *row) for person, file in _files(folder) for row in _comparisons(file)]
    people, first, second, choices = zip(*rows, strict=True)
    pairs, other = zip(first, second, strict=True), other_car()
    features = [trajectory_features(states, other) for pair in pairs for states in pair]
    return joined(np.array(features), NAMES, compared(people, choices))


def _files(folder: Path) -> Iterator[tuple[int, Path]]:
    """Each file and its person; the name of one lacks its dot."""
    for name in ("train", "test"):
        for file in sorted((folder / f"{name.capitalize()}Data").glob(f"{name}*jld2")):
            yield int(file.name.removeprefix(name).removesuffix("jld2").rstrip(".")), file


def _comparisons(path: Path) -> Iterator[tuple[Array, Array, int]]:
    with h5py.File(path) as file:
        for reference in file["prefs"][()]:
            row = file[reference][()]
            yield file[row["x₁"]][()], file[row["x₂"]][()], 0 if row["pref"] == 1 else 1


def other_car() -> Array:
    """Where the other car is at each step, (50, 2): it changes its lane in front of the first."""
    state, places = np.array(OTHER_START), []
    for steering, speed in zip(OTHER_STEERING, OTHER_SPEED, strict=True):
        for _ in range(STEPS):
            _, _, heading, now = state
            change = [now * np.cos(heading), now * np.sin(heading), now * steering, speed - FRICTION * now]
            state = state + SECONDS * np.array(change)
            places.append(state[:2])
    return np.array(places)


def trajectory_features(states: Array, other: Array) -> list[float]:
    """Of a trajectory, (50, 4): near a lane's middle, near full speed, straight on, far from the other."""
    across, along, heading, speed = states.T
    off_lane = np.min([(across - lane) ** 2 for lane in LANES], axis=0)
    apart = 7 * (across - other[:, 0]) ** 2 + 3 * (along - other[:, 1]) ** 2
    return [
        float(np.exp(-30 * off_lane).mean()),
        float(-((speed - 1) ** 2).mean()),
        float(np.sin(heading).mean()),
        float(-np.exp(-apart).mean()),
    ]
