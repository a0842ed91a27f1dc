"""What is known before the first question: demonstrations, corrections, directions and scores.

    demonstration   a trajectory that somebody showed, better than others that could have been shown
    correction      what a person did is better than what a policy did in the same place
    direction       more of a feature is better, or less
    score           a feature that was made to say how good trajectories are: more of it is better
    judgements      what a judge, such as a vision-language model, says of pairs of trajectories

All of it is said about trajectories: a demonstration is the best of five, and the others are pairs of which
the first is better. Those of a direction are virtual: they differ in one feature only. So nothing but items
is new to the inference (`prefero.questions.comparisons`). A demonstration and a correction have a noise of
their own; a direction is right or wrong as a whole, with a probability that is stated. A judge is another
person, with a noise and a taste of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, cast

import numpy as np

from prefero._support.arrays import Array, Flags, Indices
from prefero._support.names import did_you_mean, listed
from prefero._support.sentences import percent, pluralize
from prefero.questions.answer import CORRECTION, DEMONSTRATION, DIRECTION, JUDGE, SCORE, SOURCES
from prefero.questions.answer_kinds import MOST_ITEMS, PAIR
from prefero.questions.comparisons import AnswerRows, Comparisons

if TYPE_CHECKING:
    from prefero.trajectories.features import Scaling

CONFIDENCE = 0.9  # that a direction is right, if nothing else is said
ALTERNATIVES = MOST_ITEMS - 1  # to a demonstration, at most
MOST_DEMONSTRATIONS = 16  # that are learned from: of more, a random choice
ENDS = (0.1, 0.9)  # quantiles of a feature, between which a direction compares

ARRAYS = ("demonstrations", "nearby", "better", "worse")

Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Direction:
    """More of a feature is better, or less.

    Args:
        feature: Its name.
        better: "higher" or "lower".
        confidence: The probability that this is right, above 0.5.
        is_score: Whether the feature was made to say how good trajectories are. The reward then begins as a
            multiple of it, and answers correct that.
    """

    feature: str
    better: Better = "higher"
    confidence: float = CONFIDENCE
    is_score: bool = False

    def __post_init__(self) -> None:
        if self.better not in ("higher", "lower"):
            raise ValueError(
                f"of a feature 'higher' or 'lower' is better, but this is {self.better!r}: "
                "for example know('jerk', 'lower')"
            )
        if not 0.5 < self.confidence < 1.0:
            raise ValueError(
                "the confidence that a direction is right lies between 0.5 and 1, but is "
                f"{self.confidence!r}: to say that the other one is right, exchange 'higher' and 'lower'"
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        """From a text, "lower:jerk" or "lower:jerk:0.8", whose number is the confidence."""
        better, _, rest = text.partition(":")
        feature, _, last = rest.rpartition(":")
        try:
            confidence = float(last) if feature else CONFIDENCE
        except ValueError:  # the colon is in the feature's name
            feature, confidence = "", CONFIDENCE
        if better not in ("higher", "lower") or not rest:
            raise ValueError(
                f"what you prefer is written as lower:FEATURE or higher:FEATURE, or lower:FEATURE:0.8 if "
                f"you are 80 % sure, but this is {text!r}"
            )
        return cls(feature or rest, cast(Better, better), confidence)

    @property
    def source(self) -> str:
        """Among `prefero.questions.answer.SOURCES`."""
        return SCORE if self.is_score else DIRECTION

    @property
    def lapse(self) -> float:
        """The probability that it says nothing: half of such statements are right all the same."""
        return 2.0 * (1.0 - self.confidence)

    def describe(self) -> str:
        """In words: "lower jerk is better (90% sure)"."""
        return f"{self.better} {self.feature} is better ({percent(self.confidence)} sure)"

    def signed(self, features: Array, names: Sequence[str]) -> Array:
        """The values of its feature, (M,), negated if lower ones are better."""
        values: Array = features[:, self.column(names)]
        return values if self.better == "higher" else -values

    def column(self, names: Sequence[str]) -> int:
        """The place of its feature among these, or an error that names them."""
        if self.feature not in names:
            guess = did_you_mean(self.feature, names) or "."
            raise ValueError(f"there is no feature {self.feature!r}{guess} The features are: {listed(names)}")
        return list(names).index(self.feature)


@dataclass(frozen=True, eq=False)
class Judgements:
    """What a judge says of pairs of trajectories, in the units of a pool's features.

    Args:
        judge: Its name, which no person has.
        better: Features of the better one of each pair, or of either where they are about equal, (n, d).
        worse: Features of the other one, (n, d).
        tied: Which are about equal, (n,).
    """

    judge: str
    better: Array
    worse: Array
    tied: Flags

    def __post_init__(self) -> None:
        if not self.judge or self.judge in SOURCES:
            raise ValueError(
                f"a judge needs a name of its own, but this is {self.judge!r}: take the name of the model, "
                f"and none of {listed(SOURCES[1:])}"
            )
        if not self.better.shape == self.worse.shape == (len(self.tied), self.better.shape[-1]):
            raise ValueError(
                f"each judgement has a better, a worse and a tied, but these have the shapes "
                f"{self.better.shape}, {self.worse.shape} and {self.tied.shape}"
            )

    def __len__(self) -> int:
        return len(self.tied)

    def describe(self) -> str:
        """In words: "60 judgements of qwen"."""
        return f"{pluralize(len(self), 'judgement')} of {self.judge}"

    def comparisons(self, scaling: "Scaling") -> Comparisons:
        """As the answers of another person."""
        return Comparisons(
            _scaled(self.better, scaling),
            _scaled(self.worse, scaling),
            self.tied,
            scaling,
            np.full(len(self), self.judge),
            sources=np.full(len(self), SOURCES.index(JUDGE)),
        )

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        pairs = {"better": self.better.tolist(), "worse": self.worse.tolist()}
        return {"judge": self.judge, **pairs, "tied": self.tied.tolist()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any], features: int) -> Self:
        """What `to_json` made, about so many features."""
        better, worse = (
            np.array(values[name], dtype=float).reshape(-1, features) for name in ("better", "worse")
        )
        return cls(values["judge"], better, worse, np.array(values["tied"], dtype=bool))


@dataclass(frozen=True, eq=False)
class PriorKnowledge:
    """What is known of a reward before anybody is asked, in the units of a pool's features.

    Args:
        demonstrations: Features of trajectories that somebody showed, (n, d).
        nearby: Features of what could have been done instead of each demonstration, (n, m, d); m may be 0.
        better: Features of what people did, (c, d), where
        worse: a policy did this, (c, d).
        directions: Of features, and scores.
        judgements: Of each judge.
    """

    demonstrations: Array
    nearby: Array
    better: Array
    worse: Array
    directions: tuple[Direction, ...] = ()
    judgements: tuple[Judgements, ...] = ()

    @classmethod
    def none(cls, features: int) -> Self:
        """Nothing is known."""
        rows = np.empty((0, features))
        return cls(rows, np.empty((0, 0, features)), rows, rows)

    def __bool__(self) -> bool:
        return bool(len(self.demonstrations) or len(self.better) or self.directions or self.judgements)

    def __repr__(self) -> str:
        return f"PriorKnowledge({self.describe()!r})"

    @property
    def features(self) -> int:
        """How many features there are."""
        return int(self.demonstrations.shape[1])

    @property
    def scores(self) -> tuple[str, ...]:
        """The names of features that are scores."""
        return tuple(one.feature for one in self.directions if one.is_score)

    def describe(self) -> str:
        """In words: "5 demonstrations, lower jerk is better (90% sure)"; "nothing" if empty."""
        counts = ("demonstration", len(self.demonstrations)), ("correction", len(self.better))
        parts = [pluralize(count, name) for name, count in counts if count]
        parts += [one.describe() for one in self.directions]
        parts += [one.describe() for one in self.judgements]
        return ", ".join(parts) or "nothing"

    @property
    def parts(self) -> tuple["KnownPart", ...]:
        """By source: the demonstrations, the corrections, each direction, each score, each judge."""
        nothing = type(self).none(self.features)
        found = [
            KnownPart(DEMONSTRATION, "", nothing.demonstrated(self.demonstrations, self.nearby)),
            KnownPart(CORRECTION, "", nothing.corrected(self.better, self.worse)),
        ]
        found += [KnownPart(one.source, one.feature, nothing.directed(one)) for one in self.directions]
        found += [KnownPart(JUDGE, one.judge, nothing.judged(one)) for one in self.judgements]
        return tuple(part for part in found if part.knowledge)

    @property
    def unchecked(self) -> Self:
        """This without what answers check: scores, which are features, and judges, who are people."""
        if not len(self.demonstrations) and not len(self.better) and len(self.directions) == len(self.scores):
            return self
        scores = tuple(one for one in self.directions if one.is_score)
        return replace(type(self).none(self.features), directions=scores, judgements=self.judgements)

    def without(self, source: str, name: str = "") -> Self:
        """All but one part."""
        others = [part.knowledge for part in self.parts if (part.source, part.name) != (source, name)]
        return reduce(type(self).joined, others, type(self).none(self.features))

    # --- more of it ---------------------------------------------------------------------------------------

    def joined(self, other: "PriorKnowledge") -> Self:
        """All of this, and what another one says."""
        both = self.demonstrated(other.demonstrations, other.nearby).corrected(other.better, other.worse)
        both = reduce(type(both).directed, other.directions, both)
        return both.judged(*other.judgements)

    def demonstrated(self, rows: Array, nearby: Array | None = None) -> Self:
        """With more demonstrations, (n, d), and what could have been done instead, (n, m, d)."""
        near = np.empty((len(rows), 0, self.features)) if nearby is None else nearby
        width = max(near.shape[1], self.nearby.shape[1])
        both = [_repeated(one, width, own) for one, own in ((self.nearby, self.demonstrations), (near, rows))]
        return replace(
            self, demonstrations=np.concatenate([self.demonstrations, rows]), nearby=np.concatenate(both)
        )

    def corrected(self, better: Array, worse: Array) -> Self:
        """With more corrections, (c, d) each."""
        return replace(
            self,
            better=np.concatenate([self.better, better]),
            worse=np.concatenate([self.worse, worse]),
        )

    def directed(self, direction: Direction) -> Self:
        """With a direction, in place of an earlier one of the same feature."""
        others = [one for one in self.directions if one.feature != direction.feature]
        return replace(self, directions=(*others, direction))

    def judged(self, *judgements: Judgements) -> Self:
        """With what judges say, in place of what those of the same names said before."""
        for one in judgements:
            if one.better.shape[1] != self.features:
                raise ValueError(
                    f"{one.judge} judged trajectories of {one.better.shape[1]} features, but here they have "
                    f"{self.features}"
                )
        names = {one.judge for one in judgements}
        others = [one for one in self.judgements if one.judge not in names]
        return replace(self, judgements=(*others, *judgements))

    # --- as answers ---------------------------------------------------------------------------------------

    def comparisons(self, pool: Array, scaling: "Scaling", person: str | None = "") -> Comparisons:
        """All of it as pairs of trajectories.

        Args:
            pool: Scaled features, (M, d).
            scaling: Of features.
            person: Who knows it; None: each source is a person of its own. Judges always are, and beside
                them demonstrations and corrections.

        Returns:
            The comparisons, demonstrations first.
        """
        own = self._own_comparisons(pool, scaling)
        if not self.judgements and person == "":
            return own
        names = np.array(SOURCES)[own.source_numbers]
        if person is not None:
            shown = own.from_source(DEMONSTRATION, CORRECTION) & bool(self.judgements)
            names = np.where(shown, names, person)
        named = replace(own, people=names.astype(np.str_))
        return reduce(Comparisons.joined, (one.comparisons(scaling) for one in self.judgements), named)

    def _own_comparisons(self, pool: Array, scaling: "Scaling") -> Comparisons:
        """All but what judges say."""
        pairs = self._corrections_and_directions(pool, scaling)
        shown, instead, number = self._alternatives(pool, scaling)
        if not len(shown):
            return pairs
        counts = np.bincount(number)[number]
        kinds = np.where(counts > 1, [f"best-of-{count + 1}" for count in counts], PAIR)
        demonstrations = Comparisons(
            shown,
            instead,
            np.zeros(len(shown), dtype=bool),
            scaling,
            rows=AnswerRows.of(number, kinds, np.where(counts > 1, "1", "left")),
            sources=np.full(len(shown), SOURCES.index(DEMONSTRATION)),
        )
        return demonstrations.joined(pairs)

    def _corrections_and_directions(self, pool: Array, scaling: "Scaling") -> Comparisons:
        first, second = self._ends(pool, scaling.names)
        directions = [SOURCES.index(one.source) for one in self.directions]
        sources = np.array([SOURCES.index(CORRECTION)] * len(self.better) + directions, dtype=np.intp)
        lapses = [np.nan] * len(self.better) + [one.lapse for one in self.directions]
        return Comparisons(
            np.concatenate([_scaled(self.better, scaling), first]),
            np.concatenate([_scaled(self.worse, scaling), second]),
            np.zeros(len(sources), dtype=bool),
            scaling,
            sources=sources,
            lapses=np.array(lapses, dtype=float),
        )

    def _alternatives(self, pool: Array, scaling: "Scaling") -> tuple[Array, Array, Indices]:
        """Each demonstration beside each of its alternatives, scaled, and its number among those with any."""
        rows = _scaled(self.demonstrations, scaling)
        every = np.random.default_rng(ALTERNATIVES).permutation(len(rows))
        numbers = np.sort(every[:MOST_DEMONSTRATIONS])
        found = [
            _instead(
                pool, rows[number], _others(list(_scaled(self.nearby[number], scaling)), rows[number]), number
            )
            for number in numbers
        ]
        each = np.repeat(numbers, [len(some) for some in found])
        number = np.unique(each, return_inverse=True)[1].astype(np.intp)
        return rows[each], np.concatenate([pool[:0], *found]), number

    def _ends(self, pool: Array, names: Sequence[str]) -> tuple[Array, Array]:
        """The better and the worse virtual trajectory of each direction: typical but for one feature."""
        better = np.tile(np.median(pool, axis=0), (len(self.directions), 1))
        worse = better.copy()
        for row, direction in enumerate(self.directions):
            column = direction.column(names)
            low, high = ends_of(pool[:, column])
            up = direction.better == "higher"
            better[row, column], worse[row, column] = (high, low) if up else (low, high)
        return better, worse

    # --- files --------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        arrays = {name: getattr(self, name) for name in ARRAYS}
        return {
            **{name: {"shape": one.shape, "values": one.ravel().tolist()} for name, one in arrays.items()},
            "directions": [vars(one) for one in self.directions],
            "judgements": [one.to_json() for one in self.judgements],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """What `to_json` made."""
        arrays = {
            name: np.array(values[name]["values"], dtype=float).reshape(values[name]["shape"])
            for name in ARRAYS
        }
        features = arrays["demonstrations"].shape[1]
        return cls(
            **arrays,
            directions=tuple(Direction(**one) for one in values["directions"]),
            judgements=tuple(Judgements.from_json(one, features) for one in values.get("judgements", ())),
        )


class KnownPart(NamedTuple):
    """What is known from one source.

    source       among `prefero.questions.answer.SOURCES`
    name         of a feature or a judge; "" where there is one such source only
    knowledge    from this source alone
    """

    source: str
    name: str
    knowledge: PriorKnowledge


def ends_of(values: Array) -> tuple[float, float]:
    """Between which values of a feature a direction compares; those at both ends if most are equal."""
    low, high = np.quantile(values, ENDS)
    return (float(low), float(high)) if low < high else (float(values.min()), float(values.max()))


def _instead(pool: Array, row: Array, near: Array, number: int) -> Array:
    """What could have been shown in place of a row: trajectories of the pool, and up to half of it nearby."""
    nearby = near[: ALTERNATIVES // 2]
    alike = np.flatnonzero(pool[:, 0] == row[0])  # one column first: of a large pool, hardly any row is left
    same = alike[np.all(pool[alike] == row, axis=1)]
    others: Indices = np.delete(np.arange(len(pool)), same)
    rng = np.random.default_rng([ALTERNATIVES, number])  # the same ones each time
    chosen = rng.choice(others, min(ALTERNATIVES - len(nearby), len(others)), replace=False)
    found: Array = np.concatenate([pool[chosen], nearby])
    return found


def _others(rows: list[Array], row: Array) -> Array:
    """The rows that differ from one."""
    different: list[Array] = [one for one in rows if np.any(one != row)]
    return np.asarray(different, dtype=float).reshape(-1, len(row))


def _scaled(rows: Array, scaling: "Scaling") -> Array:
    """Rows of features, of which there may be none."""
    return np.asarray(scaling(rows)) if len(rows) else rows


def _repeated(near: Array, width: int, own: Array) -> Array:
    """So many alternatives of each demonstration: the demonstration itself, which is none, fills up."""
    filled = np.repeat(own[:, None], width - near.shape[1], axis=1)
    return np.concatenate([near, filled], axis=1)
