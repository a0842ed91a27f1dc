"""Takeovers: where a person took over from a policy, as the steps of a dataset say.

column      says of each step whether a person acted: `intervention` of LeRobot's rollouts, and others
takeover    the beginning of a person's segment right after one of the policy's
did         the first steps of the person's segment
undone      the policy's last steps before it, as many

What a person did from the takeover on is better than what the policy did right before it: the person saw that
and would not let it go on. Both are in the same place and take equally long. LeRobot keeps no steps that were
paused in between. What the policy does when it has the robot back is not compared: nobody objected to it.

A person may have to undo what the policy did, so what tells how far a task has come can be worse after a
takeover. Corrections have a noise of their own, and are given up if answers contradict them.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from prefero._support.arrays import Array, Flags
from prefero._support.names import listed
from prefero._support.sentences import pluralize
from prefero.datasets.base import EpisodeDataset
from prefero.datasets.episode import BadEpisode, Episode, StepRange
from prefero.datasets.features.extraction.from_spec import EpisodeFeatures
from prefero.datasets.features.extraction.windows import Windows
from prefero.datasets.features.library.library import GROWS_WITH_LENGTH
from prefero.datasets.outcomes import known_values

PERSON_COLUMNS = (
    "intervention",
    "is_intervention",
    "human_intervention",
)  # or what ends in .intervention, ...
FEWEST_STEPS = 4  # of each segment; fewer have no jerk
OF_WHOLE = (*GROWS_WITH_LENGTH, "first", "final", "final distance to goal", "least distance to goal")


class Takeover(NamedTuple):
    """Steps of an episode: what a person did, and what the policy did right before."""

    did: StepRange
    undone: StepRange


def takeover_features(
    dataset: EpisodeDataset, features: EpisodeFeatures, skip_bad: bool = False
) -> tuple[Array, Array]:
    """The features of what people did at each takeover, and of what the policy did before, (c, d) each.

    Args:
        dataset: It says of each step whether a person acted.
        features: Of an episode or a window, as the pool has them.
        skip_bad: Leave out bad episodes instead of stopping.

    Raises:
        ValueError: If there is no takeover, or the features are of whole episodes.
    """
    column = person_column(dataset)
    _check_parts(features)
    flags = dataset.outcome_column(column, _flags)
    assert flags is not None
    _check_policy(dataset, column, flags)
    pairs = [
        (features(episode.segment(one.did)), features(episode.segment(one.undone)))
        for number, episode in _with_both(dataset, flags, skip_bad)
        for one in takeovers(_checked(episode, flags[number], column), _length(features, episode))
    ]
    differ = [pair for pair in pairs if np.any(pair[0] != pair[1])]
    if not differ:
        windows = features.spec.window
        least = f"a window ({windows})" if windows else f"{FEWEST_STEPS} steps"
        raise ValueError(
            f"in {dataset.name} no takeover has {least} of the policy before it and {least} of the person "
            "after it: take shorter windows, --window"
        )
    did, undone = (np.array(rows) for rows in zip(*differ, strict=True))
    return did, undone


def person_column(dataset: EpisodeDataset) -> str:
    """The column that says whether a person acted; an error with the names that it may have."""
    known = dataset.outcome_names()
    found = [name for name in known if name.rpartition(".")[2] in PERSON_COLUMNS]
    if not found:
        raise ValueError(
            f"{dataset.name} does not say where a person took over: that is read from a column called "
            f"{listed(PERSON_COLUMNS)}, or ending in such a name after a dot, and its columns are "
            f"{listed(known)}"
        )
    return found[0]


def takeovers(flags: Flags, window: int | None = None) -> list[Takeover]:
    """Where a person takes over from the policy.

    Args:
        flags: Whether a person acted, (T,).
        window: How many steps of each are compared, all of which must be there; None: as many as both have.

    Returns:
        Those that are long enough, in their order.
    """
    changes = np.flatnonzero(np.diff(flags.astype(int))) + 1
    bounds = [0, *changes.tolist(), len(flags)]
    found = []
    for before, start, end in zip(bounds, bounds[1:], bounds[2:], strict=False):
        steps = window or min(start - before, end - start)
        enough = steps >= (window or FEWEST_STEPS) and steps <= min(start - before, end - start)
        if flags[start] and enough:
            found.append(Takeover((start, start + steps), (start - steps, start)))
    return found


def _flags(values: Sequence[Any]) -> Flags:
    """Whether a person acted, of an episode's steps; the columns hold flags, or numbers 0 and 1."""
    return np.array(known_values(values), dtype=float) > 0.5


def _checked(episode: Episode, flags: Flags, column: str) -> Flags:
    if len(flags) != len(episode):
        raise BadEpisode(
            episode.id, f"it has {len(episode)} steps, and {column!r} says of {len(flags)} who acted"
        )
    return flags


def _with_both(
    dataset: EpisodeDataset, flags: Sequence[Any], skip_bad: bool
) -> Iterator[tuple[int, Episode]]:
    """The episodes in which a person and a policy acted."""
    numbers = [n for n, one in enumerate(flags) if one is not None and one.any() and not one.all()]
    for number, found in zip(numbers, dataset.read(numbers), strict=True):
        if isinstance(found, Episode):
            yield number, found
        elif not skip_bad:
            raise found.with_skip_hint()


def _length(features: EpisodeFeatures, episode: Episode) -> int | None:
    """How many steps a window of an episode has, if the features are of windows."""
    windows = Windows.maybe(features.spec.window, features.spec.stride)
    return None if windows is None else windows.length.steps(episode.step_seconds)


def _check_policy(dataset: EpisodeDataset, column: str, flags: Sequence[Any]) -> None:
    """An error if nobody took over, or the policy's steps were not kept."""
    known = [one for one in flags if one is not None]
    if not any(one.any() for one in known):
        raise ValueError(f"nobody took over in {dataset.name}: {column!r} is false at every step")
    if all(one.all() for one in known):
        raise ValueError(
            f"all {pluralize(len(known), 'episode')} of {dataset.name} are a person's from beginning to end, "
            "so there is nothing of the policy to compare with: learn from them as demonstrations, "
            "--demonstrations, or let lerobot-rollout record both, --strategy.record_autonomous=true"
        )


def _check_parts(features: EpisodeFeatures) -> None:
    """An error if some features say something of a whole episode, of which a takeover is a part."""
    if features.spec.window is not None:
        return
    whole = [name for name in features.scaling.names if _is_of_whole(name)]
    if whole:
        raise ValueError(
            f"a takeover is a part of an episode, and these features say something of whole ones: "
            f"{listed(whole)}. Compare windows, such as --window 2s, or take other features, such as "
            "--features mean,jerk"
        )


def _is_of_whole(name: str) -> bool:
    inside = name.removeprefix("log(").removesuffix(")")
    return inside in OF_WHOLE or inside.partition(" ")[0] in OF_WHOLE
