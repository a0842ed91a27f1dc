"""Parts of episodes: windows of one length, in steps or in seconds."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prefero.datasets.base import Episode, StepRange

LENGTH = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(s|steps?)?\s*")


@dataclass(frozen=True)
class Length:
    """A stretch of time, in seconds or in steps."""

    size: float
    unit: str

    @classmethod
    def of(cls, words: "str | float | Length") -> "Length":
        """From words, "2s" or "50 steps"; a bare number means steps."""
        if isinstance(words, Length):
            return words
        parsed = LENGTH.fullmatch(str(words))
        size = float(parsed[1]) if parsed else 0.0
        unit = "s" if parsed and parsed[2] == "s" else "steps"
        if not size > 0 or (unit == "steps" and size % 1):
            raise ValueError(f"a length is a number of steps, or of seconds like '2s', but this is {words!r}")
        return cls(size, unit)

    def steps(self, seconds: float) -> int:
        """In steps that last so many seconds, one at least."""
        return max(round(self.size / seconds), 1) if self.unit == "s" else int(self.size)

    def __str__(self) -> str:
        return f"{self.size:g}{'s' if self.unit == 's' else ' steps'}"


@dataclass(frozen=True)
class Windows:
    """Cuts long episodes into windows of one length, whose starts are a stride apart."""

    length: Length
    stride: Length

    @classmethod
    def of(cls, length: str | float | Length, stride: str | float | Length | None = None) -> "Windows":
        """Side by side, unless a stride is given."""
        long = Length.of(length)
        return cls(long, long if stride is None else Length.of(stride))

    @classmethod
    def maybe(
        cls, window: str | float | Length | None, stride: str | float | Length | None
    ) -> "Windows | None":
        """None where episodes are to stay whole."""
        if window is None and stride is not None:
            raise ValueError(
                f"a stride ({stride}) is from one window's start to the next, but there are no windows: "
                "say how long they are, too (--window)"
            )
        return None if window is None else cls.of(window, stride)

    def parts(self, episode: Episode) -> Iterator[StepRange]:
        """The steps of every whole window; an episode that is shorter than one has none."""
        long, stride = self.length.steps(episode.seconds), self.stride.steps(episode.seconds)
        return ((first, first + long) for first in range(0, len(episode) - long + 1, stride))
