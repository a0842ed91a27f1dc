"""The library of features that can be extracted of any episode, and the user's own functions.

A feature is asked for by a word. After the word, in brackets, may come the names of some states, or a place:

    mean                      of every state
    max(speed, height)        of these two only
    goal(x=0.3, y=0.1)        how far the end is from there
    my_features:curvature     the user's own: takes an episode, returns a number, numbers, or named numbers

One word may give several features, each with its name. Some are per step or per second, and some sums over
the episode: `GROWS_WITH_LENGTH` lists those that are larger for longer episodes. Extractors are pickled for
environments in processes of their own, so they are no closures.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.names import no_such
from prefero.datasets.episode import BadEpisode, Episode
from prefero.datasets.features.library.user_functions import function_name, import_function

NamedValues = Mapping[str, float]
Extractor = Callable[[Episode], NamedValues]
FeatureFunction = Callable[[Episode], Any]

WORD = re.compile(r"\s*([a-z-]+)\s*(?:\((.*)\))?\s*", flags=re.DOTALL)
DEFAULT = ("statistics",)  # see embeddings.statistics


# --- statistics of each state -----------------------------------------------------------------------------


def _each(word: str, statistic: Callable[..., Any], episode: Episode, names: Sequence[str]) -> NamedValues:
    """A feature for each state: a statistic of its values over time."""
    values, columns = statistic(episode.states, axis=0), _columns(episode, names)
    return {f"{word} {episode.state_names[c]}": float(values[c]) for c in columns}


def _columns(episode: Episode, names: Sequence[str]) -> list[int]:
    unknown = [name for name in names if name not in episode.state_names]
    if unknown:
        raise ValueError(no_such("state", unknown[0], episode.state_names))
    return [episode.state_names.index(name) for name in names or episode.state_names]


# --- the path of the states -------------------------------------------------------------------------------


def path_length(episode: Episode, names: Sequence[str] = ()) -> NamedValues:
    """The length of the path of the states."""
    path = episode.states[:, _columns(episode, names)]
    return {"path length": float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())}


def jerk(episode: Episode, names: Sequence[str] = ()) -> NamedValues:
    """The root mean square of the third derivative; 0 where there are fewer than four states."""
    return {"jerk": float(np.sqrt(_mean_square(_derivative(episode, names, 3))))}


def log_dimensionless_jerk(episode: Episode, names: Sequence[str] = ()) -> NamedValues:
    """Smoothness without units, so that size and speed do not matter: 0 for a straight path at one speed.

    It is -log(1 + J) with J = duration^3 / (peak speed)^2 times the integral of the squared jerk.
    """
    third, speed = _derivative(episode, names, 3), _derivative(episode, names, 1)
    peak = float(np.max(np.sum(speed**2, axis=1), initial=0.0))
    dimensionless = episode.duration**4 * _mean_square(third) / peak if peak > 0 else 0.0
    return {"log dimensionless jerk": -float(np.log1p(dimensionless))}


def _derivative(episode: Episode, names: Sequence[str], order: int) -> Array:
    """The differences of this order, (T - order, s): none of them while there are too few states."""
    path = episode.states[:, _columns(episode, names)]
    derivative: Array = np.diff(path, n=order, axis=0) / episode.step_seconds**order
    return derivative


def _mean_square(derivative: Array) -> float:
    """The mean over time of the squared length; 0 before there is any, so that it is defined from step 1."""
    return float(np.mean(np.sum(derivative**2, axis=1))) if len(derivative) else 0.0


def goal(episode: Episode, **place: float) -> NamedValues:
    """The distance of the last state to a goal, and the least distance of any state."""
    away = episode.states[:, _columns(episode, list(place))] - np.array(list(place.values()))
    distance = np.linalg.norm(away, axis=1)
    return {"final distance to goal": float(distance[-1]), "least distance to goal": float(distance.min())}


# --- effort, time, reward ---------------------------------------------------------------------------------


def control_effort(episode: Episode) -> NamedValues:
    """The integral of the squared actions over time."""
    return {"control effort": float(np.sum(episode.actions**2) * episode.step_seconds)}


def duration(episode: Episode) -> NamedValues:
    """How many seconds it takes."""
    return {"duration": episode.duration}


def total_reward(episode: Episode) -> NamedValues:
    """The sum of the dataset's own rewards."""
    if episode.rewards is None:
        raise ValueError("the dataset has no rewards, so it has no return: leave out the feature 'return'")
    return {"return": float(episode.rewards.sum())}


@dataclass(frozen=True)
class LibraryFeature:
    """A feature of the library: what extracts it, what its brackets take, and its meaning."""

    extract: Callable[..., NamedValues]
    takes: str  # "states", "place" or "": what may be given in brackets
    meaning: str
    grows: bool = False  # is it larger for longer episodes of the same kind?


_LAST = partial(np.take, indices=-1)
LIBRARY: dict[str, LibraryFeature] = {
    "mean": LibraryFeature(partial(_each, "mean", np.mean), "states", "the mean of each state"),
    "min": LibraryFeature(partial(_each, "min", np.min), "states", "the minimum of each state"),
    "max": LibraryFeature(partial(_each, "max", np.max), "states", "the maximum of each state"),
    "final": LibraryFeature(partial(_each, "final", _LAST), "states", "each state at the end"),
    "path-length": LibraryFeature(path_length, "states", "the length of the states' path", grows=True),
    "jerk": LibraryFeature(jerk, "states", "the root mean square of the states' third derivative"),
    "log-dimensionless-jerk": LibraryFeature(
        log_dimensionless_jerk, "states", "smoothness without units: 0 if perfectly smooth, else negative"
    ),
    "control-effort": LibraryFeature(
        control_effort, "", "the integral of the squared actions over time", grows=True
    ),
    "duration": LibraryFeature(duration, "", "how many seconds it takes", grows=True),
    "goal": LibraryFeature(goal, "place", "the final and the least distance to a goal: goal(x=0.3, y=0.1)"),
    "return": LibraryFeature(total_reward, "", "the sum of the dataset's own rewards", grows=True),
}
EMBEDDINGS = (
    *("statistics", "pca(n)", "random-network(n)", "time-contrastive(n)"),
    *("image-encoder(FILE, n)", "encoder(module:function)", "steps"),
)  # see the folder embeddings
FEATURE_WORDS = (*LIBRARY, *EMBEDDINGS)
GROWS_WITH_LENGTH = tuple(name.replace("-", " ") for name, one in LIBRARY.items() if one.grows)


def extractor_for(feature: str | FeatureFunction) -> Extractor:
    """What extracts a feature of the library, or one of the user's own functions."""
    if callable(feature):
        return user_extractor(feature, function_name(feature, "feature"))
    if ":" in feature.partition("(")[0]:
        return user_extractor(import_function(feature), feature.partition(":")[2])
    parsed = WORD.fullmatch(feature)
    if parsed is None or parsed[1] not in LIBRARY:
        raise ValueError(f"{no_such('feature', feature, FEATURE_WORDS)}, and your own as module:function")
    found = LIBRARY[parsed[1]]
    inside = [word.strip() for word in (parsed[2] or "").split(",") if word.strip()]
    if inside and not found.takes:
        raise ValueError(f"{parsed[1]} takes nothing in brackets, but this is {feature!r}")
    if found.takes == "place":
        return partial(found.extract, **_place(feature, inside))
    return partial(found.extract, names=inside) if found.takes else found.extract


def _place(feature: str, inside: Sequence[str]) -> dict[str, float]:
    try:
        place = {name.strip(): float(value) for name, value in (word.split("=") for word in inside)}
    except ValueError:
        place = {}
    if not place or not all(map(isfinite, place.values())):
        raise ValueError(f"wanted states and finite numbers, as in goal(x=0.3, y=0.1), but got {feature!r}")
    return place


# --- the user's own ---------------------------------------------------------------------------------------


def user_extractor(function: FeatureFunction, name: str) -> Extractor:
    """What extracts a function's features; a single one has this name."""
    return partial(_extracted, function, name)


def _extracted(function: FeatureFunction, name: str, episode: Episode) -> NamedValues:
    try:
        values = function(episode)
    except BadEpisode:
        raise
    except Exception as error:  # the user's code may fail in any way
        raise BadEpisode(episode.id, f"{name} fails: {error!r}") from error
    return named_values(values, name, episode.id)


def named_values(values: Any, name: str, episode: str) -> NamedValues:
    """A number, numbers or named numbers, all as named numbers."""
    if isinstance(values, Mapping):
        pairs = {str(key): value for key, value in values.items()}
    else:
        row = np.atleast_1d(np.asarray(values, dtype=object))
        pairs = {name: row[0]} if row.shape == (1,) else {f"{name} {i + 1}": v for i, v in enumerate(row)}
    try:
        return {key: float(value) for key, value in pairs.items()}
    except (TypeError, ValueError, OverflowError) as error:
        raise BadEpisode(episode, f"{name} must return numbers, but returned {values!r}") from error


def features_of(extractors: Sequence[Extractor], episode: Episode) -> dict[str, float]:
    """All features of an episode; names are unique and values finite."""
    found: dict[str, float] = {}
    for extract in extractors:
        for name, value in extract(episode).items():
            if name in found:
                raise ValueError(f"two features are called {name!r}: leave one of them out")
            if not np.isfinite(value):
                raise BadEpisode(episode.id, f"its feature {name!r} is {value}")
            found[name] = value
    return found
