"""Features that can be noted of any episode, by name; one's own by `module:function`.

A feature is asked for in words. The word may be followed by the names of some states, or of numbers:

    mean                      of every state
    highest(speed, height)    of these two only
    goal(x=0.3, y=0.1)        how far the end is from there
    my_features:curvature     a function of mine: of an episode, to a number, some numbers, or named numbers

What a word notes may be several numbers, each with its name. They speak of one step, one second or the whole
episode: `GROWS_WITH_LENGTH` names those that are larger for longer episodes, since lengths may differ.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets.base import BadEpisode, Episode
from prefero.datasets.features.user_functions import function_name, import_function

NamedValues = Mapping[str, float]
Extractor = Callable[[Episode], NamedValues]
FeatureFunction = Callable[[Episode], Any]

WORD = re.compile(r"\s*([a-z-]+)\s*(?:\((.*)\))?\s*", flags=re.DOTALL)
DEFAULT = ("path-length", "smoothness", "energy", "duration")


# --- each of the states -----------------------------------------------------------------------------------


def _each(word: str, summary: Callable[[Array], Array]) -> Callable[[Episode, Sequence[str]], NamedValues]:
    """A number for each state: a summary of its course."""

    def extract(episode: Episode, names: Sequence[str]) -> NamedValues:
        values, columns = summary(episode.states), _columns(episode, names)
        return {f"{word} {episode.state_names[c]}": float(values[c]) for c in columns}

    return extract


def _columns(episode: Episode, names: Sequence[str]) -> list[int]:
    unknown = [name for name in names if name not in episode.state_names]
    if unknown:
        raise ValueError(f"there is no state {unknown[0]!r}: the states are {', '.join(episode.state_names)}")
    return [episode.state_names.index(name) for name in names or episode.state_names]


# --- the way that was taken -------------------------------------------------------------------------------


def path_length(episode: Episode, names: Sequence[str] = ()) -> NamedValues:
    """How far the states travel."""
    path = episode.states[:, _columns(episode, names)]
    return {"path length": float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())}


def jerk(episode: Episode, names: Sequence[str] = ()) -> NamedValues:
    """The root of the mean square of the third derivative."""
    third = _derivative(episode, names, 3)
    return {"jerk": float(np.sqrt(np.mean(np.sum(third**2, axis=1))))}


def smoothness(episode: Episode, names: Sequence[str] = ()) -> NamedValues:
    """0 for a straight way at one speed, and less the more it jerks, in no unit: slow or fast, far or near.

    It is -log(1 + J) with J = duration^3 / (highest speed)^2 times the integral of the squared jerk.
    """
    third, speed = _derivative(episode, names, 3), _derivative(episode, names, 1)
    highest = float(np.max(np.sum(speed**2, axis=1)))
    squares = float(np.mean(np.sum(third**2, axis=1)))
    dimensionless = episode.duration**4 * squares / highest if highest > 0 else 0.0
    return {"smoothness": -float(np.log1p(dimensionless))}


def _derivative(episode: Episode, names: Sequence[str], order: int) -> Array:
    path = episode.states[:, _columns(episode, names)]
    if len(path) <= order:
        raise BadEpisode(
            episode.id, f"its jerk needs four states or more, but it has {len(path)}: leave such episodes out"
        )
    derivative: Array = np.diff(path, n=order, axis=0) / episode.seconds**order
    return derivative


def goal(episode: Episode, **place: float) -> NamedValues:
    """How far the last state is from a place, and how near the states come to it."""
    if not place:
        raise ValueError("goal needs a place, as in goal(x=0.3, y=0.1)")
    away = episode.states[:, _columns(episode, list(place))] - np.array(list(place.values()))
    distance = np.linalg.norm(away, axis=1)
    return {"final distance to goal": float(distance[-1]), "least distance to goal": float(distance.min())}


# --- effort, time, reward ---------------------------------------------------------------------------------


def energy(episode: Episode) -> NamedValues:
    """The squares of all actions, over time."""
    return {"energy": float(np.sum(episode.actions**2) * episode.seconds)}


def duration(episode: Episode) -> NamedValues:
    """How many seconds it takes."""
    return {"duration": episode.duration}


def total_reward(episode: Episode) -> NamedValues:
    """The sum of the dataset's own rewards."""
    if episode.rewards is None:
        raise ValueError("the dataset has no rewards, so there is no return: leave out the feature 'return'")
    return {"return": float(episode.rewards.sum())}


@dataclass(frozen=True)
class LibraryFeature:
    """A feature of the library: what it notes, what may stand in its brackets, and what it means."""

    extract: Callable[..., NamedValues]
    takes: str  # "states", "place" or "": what may be given in brackets
    meaning: str
    grows: bool = False  # is it larger for longer episodes of the same kind?


LIBRARY: dict[str, LibraryFeature] = {
    "mean": LibraryFeature(_each("mean", lambda x: x.mean(axis=0)), "states", "the mean of each state"),
    "lowest": LibraryFeature(
        _each("lowest", lambda x: x.min(axis=0)), "states", "the lowest value of each state"
    ),
    "highest": LibraryFeature(
        _each("highest", lambda x: x.max(axis=0)), "states", "the highest value of each state"
    ),
    "final": LibraryFeature(_each("final", lambda x: x[-1]), "states", "each state at the end"),
    "path-length": LibraryFeature(path_length, "states", "how far the states travel", grows=True),
    "jerk": LibraryFeature(jerk, "states", "the root mean square of the third derivative of the states"),
    "smoothness": LibraryFeature(
        smoothness, "states", "0 if perfectly smooth, less the more it jerks; has no unit"
    ),
    "energy": LibraryFeature(energy, "", "the sum of all squared actions, over time", grows=True),
    "duration": LibraryFeature(duration, "", "how many seconds it takes", grows=True),
    "goal": LibraryFeature(
        goal, "place", "the final and the least distance to a place, as in goal(x=0.3, y=0.1)"
    ),
    "return": LibraryFeature(total_reward, "", "the sum of the dataset's own rewards", grows=True),
}
EMBEDDINGS = (
    "components(n)",
    "network(n)",
    "encoder(module:function)",
)  # see features.embeddings
FEATURE_WORDS = (*LIBRARY, *EMBEDDINGS)
GROWS_WITH_LENGTH = tuple(name.replace("-", " ") for name, word in LIBRARY.items() if word.grows)


def extractor_for(feature: str | FeatureFunction) -> Extractor:
    """What a word, or a function of one's own, notes of an episode."""
    if callable(feature):
        return _own(feature, function_name(feature, "feature"))
    if ":" in feature.partition("(")[0]:
        return _own(import_function(feature), feature.partition(":")[2])
    parsed = WORD.fullmatch(feature)
    if parsed is None or parsed[1] not in LIBRARY:
        raise ValueError(
            f"there is no feature {feature!r}: there are {', '.join(FEATURE_WORDS)}, and your own as "
            "module:function"
        )
    word, inside = LIBRARY[parsed[1]], [part.strip() for part in (parsed[2] or "").split(",") if part.strip()]
    if inside and not word.takes:
        raise ValueError(f"{parsed[1]} takes nothing in brackets, but this is {feature!r}")
    if word.takes == "place":
        place = _place(feature, inside)
        return lambda episode: word.extract(episode, **place)
    return (lambda episode: word.extract(episode, inside)) if word.takes else word.extract


def _place(feature: str, inside: Sequence[str]) -> dict[str, float]:
    try:
        return {name.strip(): float(value) for name, value in (part.split("=") for part in inside)}
    except ValueError as error:
        raise ValueError(
            f"wanted states and numbers, as in goal(x=0.3, y=0.1), but got {feature!r}"
        ) from error


# --- one's own --------------------------------------------------------------------------------------------


def _own(function: FeatureFunction, name: str) -> Extractor:
    def extract(episode: Episode) -> NamedValues:
        try:
            values = function(episode)
        except BadEpisode:
            raise
        except Exception as error:  # code of others fails in ways of its own
            raise BadEpisode(episode.id, f"{name} fails: {error!r}") from error
        return named(values, name, episode.id)

    return extract


def named(values: Any, name: str, episode: str) -> NamedValues:
    """A number, some numbers or named numbers, all as named numbers."""
    if isinstance(values, Mapping):
        pairs = {str(key): value for key, value in values.items()}
    else:
        row = np.atleast_1d(np.asarray(values, dtype=object))
        pairs = {name: row[0]} if row.shape == (1,) else {f"{name} {i + 1}": v for i, v in enumerate(row)}
    try:
        return {key: float(value) for key, value in pairs.items()}
    except (TypeError, ValueError, OverflowError) as error:
        raise BadEpisode(episode, f"{name} must return numbers, but returned {values!r}") from error


def features_of(notes: Sequence[Extractor], episode: Episode) -> dict[str, float]:
    """All that is noted of an episode; every number has a name of its own and is finite."""
    found: dict[str, float] = {}
    for note in notes:
        for name, value in note(episode).items():
            if name in found:
                raise ValueError(f"two features are called {name!r}: leave one of them out")
            if not np.isfinite(value):
                raise BadEpisode(episode.id, f"its feature {name!r} is {value}")
            found[name] = value
    return found
