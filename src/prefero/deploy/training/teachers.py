"""Teachers of a loop of teaching and training: they answer questions about two segments of episodes.

A teacher is a function of two segments, or shows the whole pool to a person who answers when they like.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from prefero.datasets.episode import Episode
from prefero.pools.pool import Pool
from prefero.questions import Answer, PairChoice

QUESTION = "Which is better: left (l), right (r), about equal (e), or skip (s)? "

Teacher = Callable[[Episode, Episode], PairChoice | None]  # None: would rather not answer


class PoolTeacher(Protocol):
    """A teacher who chooses when to answer, and sees videos: `prefero.server.page_teacher.PageTeacher`."""

    def show(self, pool: Pool, count: int) -> None:
        """From now on, ask about this pool, up to so many questions."""

    def answers(self, wait_for: int) -> list[Answer]:
        """The answers about the pool that was shown last, once there are so many."""


class ReturnTeacher:
    """A simulated teacher: prefers the segment of larger return by the environment's own reward.

    Args:
        noise: The standard deviation of an error in the difference of returns, in units of its own standard
            deviation over the questions so far; 0 makes no errors.
        seed: Of the errors.
    """

    def __init__(self, noise: float = 0.0, seed: int = 0) -> None:
        self.noise, self._rng = noise, np.random.default_rng(seed)
        self._seen: list[float] = []

    def __call__(self, left: Episode, right: Episode) -> PairChoice:
        """The segment of larger return.

        Args:
            left: A segment.
            right: Another one.

        Returns:
            Which is better.
        """
        assert left.rewards is not None
        assert right.rewards is not None
        difference = float(left.rewards.sum() - right.rewards.sum())
        self._seen.append(difference)
        error = self.noise * np.sqrt(np.mean(np.square(self._seen))) * self._rng.standard_normal()
        return "left" if difference + error > 0 else "right"


class TerminalTeacher:
    """A person in the terminal, who sees each segment as a video file or as numbers.

    Args:
        show: Shows two segments, for example as videos; None prints the mean of each state and action.
        ask: Reads an answer; None is the terminal.
    """

    def __init__(
        self,
        show: Callable[[Episode, Episode], None] | None = None,
        ask: Callable[[str], str] | None = None,
    ) -> None:
        self._show, self._ask = show or print_means, ask or input

    def __call__(self, left: Episode, right: Episode) -> PairChoice | None:
        """The person's answer; None for a skipped question."""
        self._show(left, right)
        answers: dict[str, PairChoice | None] = {"l": "left", "r": "right", "e": "equal", "s": None}
        while True:
            said = self._ask(QUESTION).strip().lower()
            if said[:1] in answers:
                return answers[said[:1]]


def print_means(left: Episode, right: Episode) -> None:
    """Print the mean of each state and action over two segments, side by side."""
    print(f"\n{'':24s}{'left':>12s}{'right':>12s}")
    for names, a, b in (
        (left.state_names, left.states, right.states),
        (left.action_names, left.actions, right.actions),
    ):
        for name, one, other in zip(names, a.mean(axis=0), b.mean(axis=0), strict=True):
            print(f"{'mean ' + name:24s}{one:12.3f}{other:12.3f}")
