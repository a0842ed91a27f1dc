"""The library of features that can be extracted of any episode, and the user's own functions.

A feature is asked for by a word. After the word, in brackets, may come the names of some states, or a place:

    mean                      of every state
    max(speed, height)        of these two only
    goal(x=0.3, y=0.1)        how far the end is from there
    my_features:curvature     the user's own: takes an episode, returns a number, numbers, or named numbers

One word may give several features, each with its name. Some are per step or per second, and some sums over
the episode: `GROWS_WITH_LENGTH` lists those that are larger for longer episodes.

A feature is one function of an episode's states, actions, rewards and step_seconds, and perhaps of names of
states. It is called for whole episodes and segments, and exported Python files hold its code: it needs only
NumPy and other functions. Extractors are pickled for environments in processes of their own, so they are no
closures.
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
Feature = str | FeatureFunction  # as users give it

WORD = re.compile(r"\s*([a-z-]+)\s*(?:\((.*)\))?\s*", flags=re.DOTALL)
DEFAULT = ("statistics",)  # see embeddings.statistics
MANY = (*DEFAULT, "moving-objects")  # words of so many features that nobody chooses them one by one


# --- statistics of each state -----------------------------------------------------------------------------


def mean(episode: Episode, names: Sequence[str] = ()) -> NamedValues:
    """The mean of each state."""
    return each_state("mean", episode, names, episode.states.mean(axis=0))


def minimum(episode: Episode, names: Sequence[str] = ()) -> NamedValues:
    """The minimum of each state."""
    return each_state("min", episode, names, episode.states.min(axis=0))


def maximum(episode: Episode, names: Sequence[str] = ()) -> NamedValues:
    """The maximum of each state."""
    return each_state("max", episode, names, episode.states.max(axis=0))


def final(episode: Episode, names: Sequence[str] = ()) -> NamedValues:
    """Each state at the end."""
    return each_state("final", episode, names, episode.states[-1])


def each_state(word: str, episode: Episode, names: Sequence[str], values: Array) -> NamedValues:
    """A feature for each state that is named, or for all of them, from values of all states (s,)."""
    return {f"{word} {episode.state_names[c]}": float(values[c]) for c in columns(episode, names)}


def columns(episode: Episode, names: Sequence[str]) -> list[int]:
    """Of the states with these names; of all, where none is named."""
    return [episode.state_names.index(name) for name in names or episode.state_names]


# --- the path of the states -------------------------------------------------------------------------------


def path_length(episode: Episode, names: Sequence[str] = ()) -> NamedValues:
    """The length of the path of the states."""
    path = episode.states[:, columns(episode, names)]
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
    seconds = len(episode.actions) * episode.step_seconds
    dimensionless = seconds**4 * _mean_square(third) / peak if peak > 0 else 0.0
    return {"log dimensionless jerk": -float(np.log1p(dimensionless))}


def _derivative(episode: Episode, names: Sequence[str], order: int) -> Array:
    """The differences of this order, (T - order, s): none of them while there are too few states."""
    path = episode.states[:, columns(episode, names)]
    derivative: Array = np.diff(path, n=order, axis=0) / episode.step_seconds**order
    return derivative


def _mean_square(derivative: Array) -> float:
    """The mean over time of the squared length; 0 before there is any, so that it is defined from step 1."""
    return float(np.mean(np.sum(derivative**2, axis=1))) if len(derivative) else 0.0


def goal(episode: Episode, place: Mapping[str, float]) -> NamedValues:
    """The distance of the last state to a goal, goal(x=0.3, y=0.1), and the least distance of any state."""
    away = episode.states[:, columns(episode, list(place))] - np.array(list(place.values()))
    distance = np.linalg.norm(away, axis=1)
    return {"final distance to goal": float(distance[-1]), "least distance to goal": float(distance.min())}


# --- effort, time, reward ---------------------------------------------------------------------------------


def control_effort(episode: Episode) -> NamedValues:
    """The integral of the squared actions over time."""
    return {"control effort": float(np.sum(episode.actions**2) * episode.step_seconds)}


def duration(episode: Episode) -> NamedValues:
    """How many seconds it takes."""
    return {"duration": len(episode.actions) * episode.step_seconds}


def total_reward(episode: Episode) -> NamedValues:
    """The sum of the dataset's own rewards."""
    if episode.rewards is None:
        raise ValueError("the dataset has no rewards, so it has no return: leave out the feature 'return'")
    return {"return": float(episode.rewards.sum())}


@dataclass(frozen=True)
class LibraryFeature:
    """A feature of the library: what extracts it, and what its brackets take."""

    extract: Callable[..., NamedValues]
    takes: str = "states"  # or "place" or "": what may be given in brackets
    grows: bool = False  # is it larger for longer episodes of the same kind?

    @property
    def meaning(self) -> str:
        """What it is, in a sentence."""
        return (self.extract.__doc__ or "").partition("\n")[0]


LIBRARY: dict[str, LibraryFeature] = {
    "mean": LibraryFeature(mean),
    "min": LibraryFeature(minimum),
    "max": LibraryFeature(maximum),
    "final": LibraryFeature(final),
    "path-length": LibraryFeature(path_length, grows=True),
    "jerk": LibraryFeature(jerk),
    "log-dimensionless-jerk": LibraryFeature(log_dimensionless_jerk),
    "control-effort": LibraryFeature(control_effort, takes="", grows=True),
    "duration": LibraryFeature(duration, takes="", grows=True),
    "goal": LibraryFeature(goal, takes="place"),
    "return": LibraryFeature(total_reward, takes="", grows=True),
}
EMBEDDINGS = (
    *("statistics", "pca(n)", "random-network(n)", "time-contrastive(n)"),
    *("moving-objects(n)", "image-encoder(FILE, n)", "encoder(module:function)", "steps"),
)  # see the folder embeddings
FEATURE_WORDS = (*LIBRARY, *EMBEDDINGS)
GROWS_WITH_LENGTH = tuple(name.replace("-", " ") for name, one in LIBRARY.items() if one.grows)


def extractor_for(feature: Feature) -> Extractor:
    """What extracts a feature of the library, or one of the user's own functions."""
    if callable(feature):
        return partial(_extracted, feature, function_name(feature, "feature"))
    if ":" in feature.partition("(")[0]:
        return partial(_extracted, import_function(feature), feature.partition(":")[2])
    extract, arguments = parse_word(feature)
    return partial(_of_known_states, extract, arguments) if arguments else extract


def parse_word(word: str) -> tuple[Callable[..., NamedValues], dict[str, Any]]:
    """The function that a word of the library means, and its arguments besides an episode."""
    parsed = WORD.fullmatch(word)
    if parsed is None or parsed[1] not in LIBRARY:
        raise ValueError(f"{no_such('feature', word, FEATURE_WORDS)}, and your own as module:function")
    found = LIBRARY[parsed[1]]
    inside = [word.strip() for word in (parsed[2] or "").split(",") if word.strip()]
    if inside and not found.takes:
        raise ValueError(f"{parsed[1]} takes nothing in brackets, but this is {word!r}")
    if found.takes == "place":
        return found.extract, {"place": _place(word, inside)}
    return found.extract, {"names": inside} if inside else {}


def _of_known_states(
    extract: Callable[..., NamedValues], arguments: Mapping[str, Any], episode: Episode
) -> NamedValues:
    """The features; an error that names a state which the episode lacks."""
    for name in (name for names in arguments.values() for name in names):
        if name not in episode.state_names:
            raise ValueError(no_such("state", name, episode.state_names))
    return extract(episode, **arguments)


def _place(feature: str, inside: Sequence[str]) -> dict[str, float]:
    try:
        place = {name.strip(): float(value) for name, value in (word.split("=") for word in inside)}
    except ValueError:
        place = {}
    if not place or not all(map(isfinite, place.values())):
        raise ValueError(f"wanted states and finite numbers, as in goal(x=0.3, y=0.1), but got {feature!r}")
    return place


# --- the user's own ---------------------------------------------------------------------------------------


def _extracted(function: FeatureFunction, name: str, episode: Episode) -> NamedValues:
    """What a function of the user's own returns; a single number has this name."""
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
