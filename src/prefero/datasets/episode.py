"""One episode of a dataset: what a robot observed and did, step by step.

T              steps
states         (T, s) or (T + 1, s)   observed numbers of every step, and perhaps those after the last one
actions        (T, a)
rewards        (T,)                   where the dataset has any
step_seconds                          how long a step lasts
StepRange                             a segment of an episode: its first step, and the one after its last
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array

StepRange = tuple[int, int]
SKIP_HINT = "Use --skip-bad (skip_bad=True) to leave out bad episodes"
NAMED = 3  # skipped episodes that a message names, at most


class BadEpisode(ValueError):
    """An episode that cannot be used; the message names it and gives the reason."""

    def __init__(self, episode: str, reason: str) -> None:
        self.episode, self.reason = episode, reason.rstrip(".")  # messages of other packages may end in one
        super().__init__(f"episode {episode}: {self.reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Worker processes send it back pickled."""
        return type(self), (self.episode, self.reason)

    def with_skip_hint(self) -> Self:
        """The same error with the remedy, where the episode may be left out."""
        return type(self)(self.episode, f"{self.reason}. {SKIP_HINT}")


@dataclass(frozen=True)
class VideoSpan:
    """A span of a video file.

    Args:
        path: The file.
        start: In seconds.
        end: In seconds; None is the end of the file.
    """

    path: Path
    start: float = 0.0
    end: float | None = None  # None: until the end of the file


@dataclass(frozen=True, eq=False)
class Episode:
    """States, actions and rewards of one episode, checked: an inconsistency raises `BadEpisode`.

    Args:
        id: Which episode it is.
        states: Observed numbers of every step, and perhaps those after the last one: (T, s) or (T + 1, s).
        actions: (T, a).
        rewards: (T,), where the dataset has any.
        step_seconds: How long a step lasts.
        state_names: Of the s states; without them they are numbered.
        action_names: Of the a actions.
        video: The span of a video that shows it, if there is one.
        terminated: Whether the environment ended it, as when a robot falls; a time limit does not.
    """

    id: str
    states: Array
    actions: Array
    rewards: Array | None = None
    step_seconds: float = 1.0
    state_names: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()
    video: VideoSpan | None = None
    terminated: bool = False

    def __post_init__(self) -> None:
        states, actions = self._matrix("states", self.states), self._matrix("actions", self.actions)
        if not 0 < self.step_seconds < np.inf:
            raise BadEpisode(self.id, f"a step must last a positive time, but lasts {self.step_seconds} s")
        if len(actions) == 0:
            raise BadEpisode(self.id, "it has no steps")
        if len(states) - len(actions) not in (0, 1):
            raise BadEpisode(
                self.id,
                f"{len(actions)} actions need as many states or one more, but there are {len(states)}",
            )
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "actions", actions)
        if self.rewards is not None:
            rewards = self._matrix("rewards", self.rewards)
            if rewards.shape != (len(actions), 1):
                raise BadEpisode(self.id, f"{len(actions)} actions, but rewards of shape {rewards.shape}")
            object.__setattr__(self, "rewards", rewards[:, 0])
        object.__setattr__(self, "state_names", self._names("state", self.state_names, states))
        object.__setattr__(self, "action_names", self._names("action", self.action_names, actions))

    def _matrix(self, what: str, values: npt.ArrayLike) -> Array:
        """(T, n) finite numbers; a single column may come without its axis."""
        try:
            matrix = np.asarray(values, dtype=float)
        except (TypeError, ValueError) as error:
            raise BadEpisode(self.id, f"its {what} are not numbers, or of different lengths") from error
        matrix = matrix[:, None] if matrix.ndim == 1 else matrix
        if matrix.ndim != 2:
            raise BadEpisode(self.id, f"its {what} have shape {matrix.shape}, wanted (steps, numbers)")
        bad = np.argwhere(~np.isfinite(matrix))
        if len(bad):
            step, column = (int(n) for n in bad[0])
            raise BadEpisode(
                self.id, f"its {what} are not finite: {matrix[step, column]} at step {step}, column {column}"
            )
        return matrix

    def _names(self, kind: str, names: tuple[str, ...], values: Array) -> tuple[str, ...]:
        count = values.shape[1]
        given = tuple(names) or tuple(f"{kind} {i + 1}" for i in range(count))
        if len(given) != count or len(set(given)) != count:
            raise BadEpisode(self.id, f"{count} {kind}s need as many different names, but have {list(given)}")
        return given

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def duration(self) -> float:
        """How long the episode lasts, in seconds."""
        return len(self) * self.step_seconds

    def segment(self, steps: StepRange) -> Self:
        """Some of its steps as an episode, with the span of the video that shows them."""
        first, last = steps
        if not 0 <= first < last <= len(self):
            raise ValueError(
                f"episode {self.id} has steps 0 to {len(self)}, but the segment is {first}:{last}"
            )
        final_states = len(self.states) - len(self)
        video = self.video and replace(
            self.video,
            start=self.video.start + first * self.step_seconds,
            end=self.video.start + last * self.step_seconds,
        )
        return replace(
            self,
            id=segment_id(self.id, steps),
            states=self.states[first : last + final_states],
            actions=self.actions[first:last],
            rewards=None if self.rewards is None else self.rewards[first:last],
            video=video,
            terminated=self.terminated and last == len(self),
        )


def segment_id(episode: str, steps: StepRange | None) -> str:
    """The id of a segment: its episode's id and its steps; of a whole episode, its id."""
    return episode if steps is None else f"{episode}[{steps[0]}:{steps[1]}]"


def skipped_reasons(skipped: Mapping[str, str]) -> str:
    """Which episodes were skipped and why: the first few of them, and how many more."""
    reasons = [f"{episode}: {reason}" for episode, reason in skipped.items()]
    more = [f"and {len(reasons) - NAMED} more"] if len(reasons) > NAMED else []
    return "; ".join(reasons[:NAMED] + more)
