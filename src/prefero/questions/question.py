"""Question: trajectories of a pool, of which a person is asked what they prefer, or how good one is."""

from dataclasses import dataclass, field

import numpy as np

from prefero.questions.answer_kinds import PAIR, Kind, default_kind, items_of


@dataclass(frozen=True, init=False, repr=False)
class Question:
    """Which of these trajectories is the best?

    Args:
        *items: Indices of different trajectories, in the order in which they are shown; one for a label.
        value: Of the acquisition function when the question was chosen; nan if it was not.
        unit: Of the value: "bits" of mutual information, "utility", or of an own function its own.
        number: A learner numbers its questions, so that the same trajectories may be asked about again.
        kind: Of the answer that is wanted. None means a pair, of more trajectories the best, and of one
            whether it is a success.
        optimality_gap: How much better another question about the pool may be, as a fraction of the value:
            0 if the search was exact, 0.005 if none is better by more than 0.5 %, and nan if not known.
    """

    items: tuple[int, ...]
    value: float = field(compare=False)
    unit: str = field(compare=False)
    number: int
    kind: Kind
    optimality_gap: float = field(compare=False)

    def __init__(
        self,
        *items: int,
        value: float = float("nan"),
        unit: str = "bits",
        number: int = 0,
        kind: Kind | None = None,
        optimality_gap: float = float("nan"),
    ) -> None:
        indices = tuple(_index(item) for item in items)
        if not indices:
            raise ValueError("a question needs a trajectory, or several to compare, but has none")
        again = [item for place, item in enumerate(indices) if item in indices[:place]]
        if again:
            raise ValueError(
                f"trajectory {again[0]} cannot be compared with itself: a question needs different ones"
            )
        kind = default_kind(len(indices)) if kind is None else kind
        if items_of(kind) != len(indices):
            raise ValueError(f"{kind!r} asks about {items_of(kind)} trajectories, not {len(indices)}")
        given = {"items": indices, "value": value, "unit": unit, "number": number, "kind": kind}
        for name, one in (given | {"optimality_gap": optimality_gap}).items():
            object.__setattr__(self, name, one)

    def __repr__(self) -> str:
        items, kind = ", ".join(map(str, self.items)), f", kind={self.kind!r}" * (self.kind != PAIR)
        return f"Question({items}, value={self.value!r}, unit={self.unit!r}, number={self.number!r}{kind})"

    @property
    def left(self) -> int:
        """The first trajectory of a pair."""
        return self._pair("left")[0]

    @property
    def right(self) -> int:
        """The second trajectory of a pair."""
        return self._pair("right")[1]

    @property
    def known_value(self) -> tuple[float, str] | tuple[None, None]:
        """The value with its unit, as rows store them; None, None if it is not known."""
        return (self.value, self.unit) if np.isfinite(self.value) else (None, None)

    def numbered(self, number: int) -> "Question":
        """The same question with another number."""
        return Question(
            *self.items,
            value=self.value,
            unit=self.unit,
            number=number,
            kind=self.kind,
            optimality_gap=self.optimality_gap,
        )

    def _pair(self, side: str) -> tuple[int, ...]:
        if len(self.items) != 2:
            raise ValueError(
                f"only a question about two trajectories has a {side} one, but this one has "
                f"{len(self.items)}: use its items"
            )
        return self.items


def _index(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ValueError(
            f"a trajectory is named by its index, a whole number from 0 on, but this is {value!r}"
        )
    return int(value)
