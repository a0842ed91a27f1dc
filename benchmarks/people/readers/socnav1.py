"""SocNav1: people rated from 0 to 100 how well a robot's place in a room suits the people around it.

`raw_data` has a file for each person with a scene in each line; the robot is at the origin, and lengths
are in centimetres.
"""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.people.judgements import SEED, Judgements, Trial, joined, rated
from prefero._support.arrays import Array

CENTIMETRES, FARTHEST = 100.0, 8.0  # in a metre; distance in metres that stands for "none"
NAMES = (
    "people",
    "nearest person",
    "second person",
    "objects",
    "nearest object",
    "wall",
    "nearest interaction",
)


def read(folder: Path) -> Judgements:
    """The ratings of all people."""
    files = sorted((folder / "raw_data").glob("*.json"))
    ratings = [
        [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line] for file in files
    ]
    features = np.array([scene_features(scene) for scenes in ratings for scene in scenes])
    return joined(features, NAMES, _trials(ratings))


def _trials(ratings: list[list[dict[str, Any]]]) -> Iterator[Trial]:
    rng, start = np.random.default_rng(SEED), 0
    for person, scenes in enumerate(ratings):
        scores = np.array([scene["score"] for scene in scenes], dtype=float)
        for pairs in rated(np.arange(start, start + len(scenes)), scores, rng):
            yield Trial(person, pairs)
        start += len(scenes)


def scene_features(scene: dict[str, Any]) -> list[float]:
    """Numbers of people and objects, and the robot's distances in metres."""
    place = {thing["id"]: _place(thing) for thing in (*scene["humans"], *scene["objects"])}
    people = sorted(_capped(_place(person)) for person in scene["humans"])
    objects = [_capped(_place(thing)) for thing in scene["objects"]]
    lines = [_segment(place[a], place[b]) for a, b, _ in scene["links"] if a in place and b in place]
    corners = np.array(scene["room"]) / CENTIMETRES
    walls = [_segment(a, b) for a, b in pairwise(corners)]
    nearest, second = (*people, FARTHEST, FARTHEST)[:2]
    return [
        len(people),
        nearest,
        second,
        len(objects),
        min(objects, default=FARTHEST),
        min([*walls, FARTHEST]),
        min([*lines, FARTHEST]),
    ]


def _place(thing: dict[str, Any]) -> Array:
    return np.array([thing["xPos"], thing["yPos"]]) / CENTIMETRES


def _capped(place: Array) -> float:
    return min(float(np.hypot(*place)), FARTHEST)


def _segment(a: Array, b: Array) -> float:
    """Distance of the origin from the line between two places."""
    along = b - a
    length = float(along @ along)
    nearest = np.clip(-(a @ along) / length, 0.0, 1.0) if length else 0.0
    return float(np.hypot(*(a + nearest * along)))
