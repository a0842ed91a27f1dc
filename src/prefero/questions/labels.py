"""Labels: what a dataset says already about its trajectories, such as their success.

    value    what the data have: a flag, a number or a text
    level    its place among the levels, from 0, the lowest; two levels are a failure and a success
    word     what the data call a level

Labels are answers about single trajectories that nobody has to give again; their source is LABELS.
"""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from prefero._support.names import listed
from prefero._support.sentences import pluralize
from prefero.questions.answer import LABELS, Answer
from prefero.questions.answer_kinds import Kind, kind_named
from prefero.questions.kinds.base import LEVELS
from prefero.questions.kinds.label import LEVEL_WORDS, levels_of
from prefero.questions.question import Question

MOST_LEVELS = max(LEVELS)
DEFAULT_LEVELS = 5  # that numbers are cut into
MISSING = ("", "nan")
FLAGS = {  # texts that say whether a trajectory succeeded, whatever their case
    **dict.fromkeys(("false", "no", "fail", "failed", "failure", "0", "0.0"), 0),
    **dict.fromkeys(("true", "yes", "pass", "passed", "success", "succeeded", "1", "1.0"), 1),
}
ORDER_HINT = (
    'give their order, the lowest first: --label-order "bad,okay,good" (order=["bad", "okay", "good"])'
)


class _Levels(NamedTuple):
    """The level of each value, (N,), and the words of all levels, the lowest first."""

    level: list[int]
    words: tuple[str, ...]


@dataclass(frozen=True)
class Labels:
    """Labels of trajectories of a pool, one or several of each, or none.

    Args:
        name: Of the column or file that they come from.
        kind: "success", or "rate-3" to "rate-7".
        items: Which trajectory each label is of, by its index.
        choices: What each label says, a choice of the kind: "pass" or "fail"; "1", the lowest level, "2", ...
        words: What the data call the levels, the lowest first.
    """

    name: str
    kind: Kind
    items: tuple[int, ...]
    choices: tuple[str, ...]
    words: tuple[str, ...]

    def __post_init__(self) -> None:
        kind = kind_named(self.kind)
        if not levels_of(kind):
            raise ValueError(f"labels are a success or a rating, but these are {self.kind!r}")
        if len(self.items) != len(self.choices) or len(self.words) != levels_of(kind):
            raise ValueError(
                f"{len(self.items)} labels of {levels_of(kind)} levels have {len(self.choices)} choices and "
                f"{len(self.words)} words"
            )
        for item, choice in zip(self.items, self.choices, strict=True):
            Answer(Question(item, kind=self.kind), choice)  # an error if it makes no sense

    @classmethod
    def of(
        cls,
        values: Iterable[object],
        name: str = "labels",
        *,
        levels: int | None = None,
        order: Sequence[str] = (),
        items: Sequence[int] | None = None,
    ) -> Self:
        """Labels from the values of a column: flags, ordered categories or numbers.

        Flags (True and False, 0 and 1, or texts such as "yes" and "fail") are successes and failures. Up to
        seven different numbers are levels as they are; of more, neighbours become one level, so that each
        level has about as many labels, and equal numbers have the same. Texts need an order.

        Args:
            values: One value each; None, NaN and "" are no label.
            name: Of the column.
            levels: How many levels numbers are cut into, 2 to 7; by default 5, if there are more than 7.
            order: The texts from the lowest to the highest level, 2 to 7 of them.
            items: Which trajectory each value is of, by its index; by default one after the other.

        Returns:
            The labels.

        Raises:
            ValueError: If there is no label, or no order can be seen.
        """
        every = _plain(values)
        owners = range(len(every)) if items is None else items
        pairs = zip(owners, every, strict=True)
        known = [(int(item), value) for item, value in pairs if not _is_missing(value)]
        if not known:
            raise ValueError(f"{name!r} has no label: all {len(every)} values are missing")
        found = _levels_of_values([value for _, value in known], name, levels, tuple(order))
        count = len(found.words)
        kind = kind_named("success" if count == 2 else f"rate-{count}")
        choices = tuple(kind.choices[level] for level in found.level)
        return cls(name, kind.name, tuple(item for item, _ in known), choices, found.words)

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return f"Labels({self.describe()!r})"

    @cached_property
    def _answers(self) -> tuple[Answer, ...]:
        pairs = zip(self.items, self.choices, strict=True)
        return tuple(Answer(Question(item, kind=self.kind), choice, source=LABELS) for item, choice in pairs)

    def answers(self, person: str = "") -> tuple[Answer, ...]:
        """The labels as answers, by this person; their source is LABELS."""
        if not person:
            return self._answers
        return tuple(Answer(one.question, one.choice, person, source=LABELS) for one in self._answers)

    @property
    def counts(self) -> dict[str, int]:
        """How many labels each level has, by its word, the lowest first; 0 for levels that nobody used."""
        found = Counter(self.choices)
        return {
            word: found[choice]
            for word, choice in zip(self.words, kind_named(self.kind).choices, strict=True)
        }

    @property
    def are_all_equal(self) -> bool:
        """Whether every label is the same: they say something about the bar, and nothing about the order."""
        return len(set(self.choices)) == 1

    @property
    def contradictions(self) -> tuple[int, ...]:
        """The trajectories that have different labels."""
        said: dict[int, set[str]] = {}
        for item, choice in zip(self.items, self.choices, strict=True):
            said.setdefault(item, set()).add(choice)
        return tuple(item for item, choices in said.items() if len(choices) > 1)

    def describe(self) -> str:
        """What there is, in words: "250 labels of next.success: 180 pass, 70 fail"."""
        what, counts = f"{pluralize(len(self), 'label')} of {self.name}", list(self.counts.items())[::-1]
        if len(counts) == 2:
            return f"{what}: {', '.join(f'{count} {word}' for word, count in counts)}"
        return f"{what} in {len(counts)} levels: {', '.join(f'{word} ({count})' for word, count in counts)}"

    def rows(self, rows: Iterable[int]) -> Self:
        """The labels of some trajectories, which have new indices: their places among the rows."""
        places = {int(row): place for place, row in enumerate(rows)}
        kept = [
            (places[item], choice)
            for item, choice in zip(self.items, self.choices, strict=True)
            if item in places
        ]
        items, choices = tuple(item for item, _ in kept), tuple(choice for _, choice in kept)
        return type(self)(self.name, self.kind, items, choices, self.words)

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "name": self.name,
            "kind": self.kind,
            "items": list(self.items),
            "choices": list(self.choices),
            "words": list(self.words),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """What `to_json` made."""
        return cls(
            str(values["name"]),
            str(values["kind"]),
            tuple(values["items"]),
            tuple(map(str, values["choices"])),
            tuple(map(str, values["words"])),
        )


def count_evidence(answers: int, labels: int = 0) -> str:
    """How much something was learned from: "12 answers", "12 answers and 250 labels", or "250 labels"."""
    if labels and not answers:
        return pluralize(labels, "label")
    return pluralize(answers, "answer") + (f" and {pluralize(labels, 'label')}" if labels else "")


def warn_about(labels: Labels, names: Sequence[str] | None = None) -> None:
    """A warning if labels say nothing about the order, or contradict each other; `names` are the ids."""
    if labels and labels.are_all_equal:
        only = next(word for word, count in labels.counts.items() if count)
        warnings.warn(
            f"every label of {labels.name} is {only}: that says something about what is acceptable, but "
            "nothing about which trajectory is better",
            stacklevel=3,
        )
    twice = labels.contradictions
    if twice:
        which = listed([str(item) if names is None else names[item] for item in twice], 5)
        warnings.warn(
            f"some trajectories have different labels of {labels.name}, which all count: {which}",
            stacklevel=3,
        )


# --- values -----------------------------------------------------------------------------------------------


def _plain(values: Iterable[object]) -> list[object]:
    """Python's own values, also of NumPy's arrays and of series."""
    given = values.tolist() if hasattr(values, "tolist") else list(values)
    return [one.item() if isinstance(one, np.generic) else one for one in given]


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in (
        "NAType",
        "NaTType",
    ):  # which pandas has in columns with gaps
        return True
    if isinstance(value, float):
        return isnan(value)
    return isinstance(value, str) and value.strip().lower() in MISSING


def _text(value: object) -> str:
    """A value as people write it: 3.0 is 3."""
    return f"{value:.12g}" if isinstance(value, float) else str(value).strip()


def _levels_of_values(values: list[object], name: str, levels: int | None, order: tuple[str, ...]) -> _Levels:
    if levels is not None and not 2 <= levels <= MOST_LEVELS:
        raise ValueError(f"labels have 2 to {MOST_LEVELS} levels, but {levels} are asked for")
    if order:
        return _in_order(values, name, order)
    flags = [FLAGS.get(_text(value).lower()) for value in values]
    numbers = _numbers(values)
    more = numbers is not None and (levels or 2) > 2  # then 0 and 1 are numbers like others
    if None not in flags and not more:
        return _Levels([flag for flag in flags if flag is not None], LEVEL_WORDS[2])
    if numbers is None:
        different = sorted({_text(value) for value in values})
        raise ValueError(
            f"the labels of {name!r} are texts without an order ({listed(list(map(repr, different)), 8)}): "
            f"{ORDER_HINT}"
        )
    return _cut(numbers, name, levels)


def _in_order(values: list[object], name: str, order: tuple[str, ...]) -> _Levels:
    """The places of texts in the order that the user gave."""
    words = tuple(_text(word) for word in order)
    places = {word.lower(): place for place, word in enumerate(words)}
    if not 2 <= len(words) <= MOST_LEVELS or len(places) != len(words) or "" in places:
        raise ValueError(
            f"the order of labels names 2 to {MOST_LEVELS} different ones, the lowest first, but this is "
            f"{', '.join(map(repr, order))}: join neighbouring ones in the data if there are more"
        )
    unknown = sorted({_text(value) for value in values if _text(value).lower() not in places})
    if unknown:
        raise ValueError(
            f"the order {'<'.join(words)} does not have all labels of {name!r}: "
            f"{listed(list(map(repr, unknown)), 8)} {'is' if len(unknown) == 1 else 'are'} missing"
        )
    return _Levels([places[_text(value).lower()] for value in values], words)


def _numbers(values: list[object]) -> npt.NDArray[np.float64] | None:
    """The values as numbers; None if one is none."""
    try:
        return np.array([float(value) for value in values])  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _cut(numbers: npt.NDArray[np.float64], name: str, wanted: int | None) -> _Levels:
    """Numbers as levels: each different one, or if there are too many, neighbours together."""
    different, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    if len(different) == 1:
        raise ValueError(
            f"every label of {name!r} is {_text(float(different[0]))}, and nothing says whether that is "
            "good: give labels that differ, or True and False"
        )
    if len(different) <= (wanted or MOST_LEVELS):
        return _Levels(place.tolist(), _number_words(different.tolist(), different.tolist()))
    ends = _ends(counts, wanted or DEFAULT_LEVELS)
    starts = [0, *(end + 1 for end in ends[:-1])]
    return _Levels(
        np.searchsorted(ends, place).tolist(),
        _number_words([different[start] for start in starts], [different[end] for end in ends]),
    )


def _ends(counts: npt.NDArray[np.int_], levels: int) -> list[int]:
    """Where each level ends among the different numbers, the shares as equal as can be; none is empty."""
    below, total, ends = np.cumsum(counts), counts.sum(), [-1]
    for level in range(1, levels):
        first, last = ends[-1] + 1, len(counts) - 1 - (levels - level)
        nearest = np.argmin(np.abs(below[first : last + 1] - total * level / levels))
        ends.append(first + int(nearest))
    return [*ends[1:], len(counts) - 1]


def _number_words(lowest: Sequence[float], highest: Sequence[float]) -> tuple[str, ...]:
    """The words of levels: a number, or the range of numbers; of two levels, fail and pass with them."""
    ranges = [
        _text(float(low)) if low == high else f"{low:.4g} to {high:.4g}"
        for low, high in zip(lowest, highest, strict=True)
    ]
    if len(ranges) == 2:
        return tuple(f"{word} ({numbers})" for word, numbers in zip(LEVEL_WORDS[2], ranges, strict=True))
    return tuple(ranges)
