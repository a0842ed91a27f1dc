"""Segments of episodes: windows of one length, in steps or in seconds."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prefero.datasets.episode import Episode, StepRange

LENGTH = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(s|steps?)?\s*")


@dataclass(frozen=True)
class Length:
    """A length of time, in seconds or in steps."""

    size: float
    unit: str

    @classmethod
    def of(cls, given: "str | float | Length") -> "Length":
        """From a text, "2s" or "50 steps"; a number alone means steps."""
        if isinstance(given, Length):
            return given
        parsed = LENGTH.fullmatch(str(given))
        size = float(parsed[1]) if parsed else 0.0
        unit = "s" if parsed and parsed[2] == "s" else "steps"
        if not size > 0 or (unit == "steps" and size % 1):
            raise ValueError(f"a length is a number of steps, or of seconds like '2s', but this is {given!r}")
        return cls(size, unit)

    def steps(self, step_seconds: float) -> int:
        """How many steps of this duration it is, one at least."""
        return max(round(self.size / step_seconds), 1) if self.unit == "s" else int(self.size)

    def __str__(self) -> str:
        return f"{self.size:g}{'s' if self.unit == 's' else ' steps'}"


@dataclass(frozen=True)
class Windows:
    """Cuts episodes into windows of one length, whose starts are a stride apart."""

    length: Length
    stride: Length

    @classmethod
    def of(cls, length: str | float | Length, stride: str | float | Length | None = None) -> "Windows":
        """Without a stride, one window begins where the last one ends."""
        long = Length.of(length)
        return cls(long, long if stride is None else Length.of(stride))

    @classmethod
    def maybe(
        cls, window: str | float | Length | None, stride: str | float | Length | None
    ) -> "Windows | None":
        """None where episodes stay whole."""
        if window is None and stride is not None:
            raise ValueError(
                f"a stride ({stride}) is the distance between the starts of windows, but there are none: "
                "give their length as well (--window)"
            )
        return None if window is None else cls.of(window, stride)

    def segments(self, episode: Episode) -> Iterator[StepRange]:
        """The steps of every whole window; an episode shorter than one has none."""
        long, stride = self.length.steps(episode.step_seconds), self.stride.steps(episode.step_seconds)
        return ((first, first + long) for first in range(0, len(episode) - long + 1, stride))
