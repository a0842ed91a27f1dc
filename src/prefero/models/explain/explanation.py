"""What a reward seems to be, in plain sentences, each with the meaning of its number.

A statement is about the profile of one feature (`prefero.models.explain.profiles`): whether a higher value is
better, or some value in between is best, and which feature matters most. It is made only if it is probable
given the answers, and so is that the feature matters at all; and not before there are a few answers: nothing
is claimed from the prior.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array
from prefero._support.sentences import number, percent, pluralize
from prefero.models.explain.profiles import Profile, Shape, least_effect, profiles
from prefero.models.posterior.gaussian import Distribution
from prefero.models.posterior.mixture import ENOUGH_ANSWERS
from prefero.trajectories.components import Ends
from prefero.trajectories.features import Scaling

NO_ENDS: Mapping[str, Ends] = {}
SURE = 0.7  # probability from which on something is stated; no shape has more than 0.4 under the prior
MOST_STATEMENTS = 3  # about the shapes of profiles
SENTENCES: dict[Shape, str] = {
    "rising": "A higher {name} seems better",
    "falling": "A lower {name} seems better",
    "peak": "{whose} reward seems to have a best {name}, about {at}: higher or lower is worse",
    "valley": "{whose} reward seems to have a worst {name}, about {at}: higher or lower is better",
}
COMPONENT_SENTENCES: dict[Shape, str] = {
    "rising": "Trajectories like {high} seem better than those like {low}, in {name}",
    "falling": "Trajectories like {low} seem better than those like {high}, in {name}",
    "peak": "In {name}, from trajectories like {low} to those like {high}, a value in between seems best",
    "valley": "In {name}, from trajectories like {low} to those like {high}, a value in between seems worst",
}
MEANINGS: dict[Shape, str] = {
    "rising": "rise with {name}",
    "falling": "fall with {name}",
    "peak": "rise up to some {name} and fall beyond it",
    "valley": "fall up to some {name} and rise beyond it",
    "other": "go up and down several times along {name}",
}


@dataclass(frozen=True)
class Statement:
    """A sentence about the reward, and what its number means.

    Args:
        sentence: The sentence.
        meaning: What its number means.
    """

    sentence: str
    meaning: str


def explain(
    belief: Distribution,
    x: Array,
    scaling: Scaling,
    answers: int,
    whose: str,
    units: Mapping[str, str],
    ends: Mapping[str, Ends] = NO_ENDS,
) -> list[Statement]:
    """What a reward seems to be over the trajectories x, after so many answers.

    `scaling` has the names of the features, `units` those that have one, and `ends` the trajectories that
    show what a component of an embedding is.
    """
    if answers < ENOUGH_ANSWERS:
        return [_too_early(answers, whose)]
    return statements_about(profiles(belief, x, scaling), scaling, whose, units, ends)


def statements_about(
    found: Sequence[Profile],
    scaling: Scaling,
    whose: str,
    units: Mapping[str, str],
    ends: Mapping[str, Ends] = NO_ENDS,
) -> list[Statement]:
    """What the profiles of a reward's features say about it."""
    if not found:
        return []
    found = sorted(found, key=lambda profile: -profile.effect.mean)
    words = _Words(scaling, whose, units, ends, least_effect(len(found)))
    sure = [profile for profile in found if _is_sure(profile)]
    stated = [words.of_levels(one) if one.best else words.of_shape(one) for one in sure]
    return [*words.of_largest(found), *stated[:MOST_STATEMENTS]] or [words.of_open(found[0])]


def _is_sure(profile: Profile) -> bool:
    """A shape that is probable, of a feature that probably matters.

    Of features that do not matter, some have a probable shape by chance.
    """
    if profile.matters < SURE:
        return False
    if profile.best:
        return max(*profile.best, *profile.worst) >= SURE
    return profile.shape != "other" and profile.shapes[profile.shape] >= SURE


def _too_early(answers: int, whose: str) -> Statement:
    return Statement(
        f"It is too early to say what {whose} reward looks like.",
        f"After {pluralize(answers, 'answer')}, any statement would be more of a guess than of what was "
        f"learned. From {ENOUGH_ANSWERS} answers on, what is probable is said here.",
    )


@dataclass(frozen=True)
class _Words:
    """Statements about the profiles of one reward; `least` is the least effect of a feature that matters."""

    scaling: Scaling
    whose: str
    units: Mapping[str, str]
    ends: Mapping[str, Ends]
    least: float

    def of_shape(self, profile: Profile) -> Statement:
        """Whether more is better, or something in between."""
        name, shape = self._name(profile), profile.shape
        sure = percent(profile.shapes[shape])
        at = "" if profile.extreme is None else self._value(profile, profile.extreme[1])
        sentence = SENTENCES[shape].format(name=name, at=at, whose=self.whose.capitalize())
        if ends := self.ends.get(name):
            sentence = COMPONENT_SENTENCES[shape].format(name=name, low=ends.low_id, high=ends.high_id)
        if (levels := self._levels(profile)) and shape in ("rising", "falling"):
            first, second = (levels[-1], levels[0]) if shape == "rising" else (levels[0], levels[-1])
            sentence = f"For {name}, {first} seems better than {second}"
        meaning = f"{self._agreement(profile, shape)}{self._others}.{self._place(profile)}"
        return Statement(f"{sentence} ({sure} sure).", meaning + self._mattering(profile))

    def of_levels(self, profile: Profile) -> Statement:
        """Which level of a category is the best; if that is open, which is the worst."""
        name, levels = self._name(profile), self._levels(profile)
        is_best = max(profile.best) >= SURE
        chances = profile.best if is_best else profile.worst
        place, sure = int(np.argmax(chances)), percent(max(chances))
        which = "best" if is_best else "worst"
        judged = f"better than {levels[1 - place]}" if is_best and len(levels) == 2 else which
        meaning = (
            f"{self._agreeing(sure)} are {'highest' if is_best else 'lowest'} where {name} is {levels[place]}"
            f"{self._others}.{self._mattering(profile)}"
        )
        return Statement(f"For {name}, {levels[place]} seems {judged} ({sure} sure).", meaning)

    @property
    def _others(self) -> str:
        return ", with all other features at their mean" if len(self.scaling.variables) > 1 else ""

    def _levels(self, profile: Profile) -> tuple[str, ...]:
        categories = self.scaling.variables[profile.feature].categories
        return () if categories is None else categories.levels

    def _mattering(self, profile: Profile) -> str:
        if len(self.scaling.variables) < 2:
            return ""
        return (
            f" In {percent(profile.matters)} of them, {self._name(profile)} makes up at least "
            f"{percent(self.least)} of how much they vary with single features."
        )

    def of_largest(self, found: list[Profile]) -> list[Statement]:
        """Which feature matters most, if that is probable."""
        first = max(found, key=lambda profile: profile.largest)
        if len(found) < 2 or first.largest < SURE:
            return []
        name, sure = self._name(first), percent(first.largest)
        meaning = (
            f"{self._agreeing(sure)} vary most with {name}, if each feature in turn varies as it does over "
            "the pool and all others stay at their mean."
        )
        shown = f"{name[:1].upper()}{name[1:]}{self._shown(name)}"
        return [Statement(f"{shown} seems to matter most ({sure} sure).", meaning)]

    def of_open(self, first: Profile) -> Statement:
        """Nothing is probable enough."""
        name, most = self._name(first), ""
        if first.shapes:
            most = f": {self._agreement(first, first.shape)}"
        meaning = (
            f"Nothing that could be said about a single feature is at least {percent(SURE)} probable yet. "
            f"The most influential one seems to be {name}{self._shown(name).rstrip(',')}{most}."
        )
        return Statement(f"The form of {self.whose} reward is still open.", meaning)

    def _agreement(self, profile: Profile, shape: Shape) -> str:
        what = MEANINGS[shape].format(name=self._name(profile))
        return f"{self._agreeing(percent(profile.shapes[shape]))} {what}"

    def _agreeing(self, fraction: str) -> str:
        return (
            f"{fraction[:1].upper()}{fraction[1:]} of the rewards that agree with {self.whose} answers, "
            "counted by how well they agree,"
        )

    def _place(self, profile: Profile) -> str:
        if profile.extreme is None or profile.shape not in ("peak", "valley"):
            return ""
        low, _, high = profile.extreme
        which = "best" if profile.shape == "peak" else "worst"
        ends = f"{self._value(profile, low)} and {self._value(profile, high)}"
        return f" The {which} {self._name(profile)} is probably between {ends}."

    def _shown(self, name: str) -> str:
        """Of a component, which trajectories show it."""
        ends = self.ends.get(name)
        return f", from trajectories like {ends.low_id} to those like {ends.high_id}," if ends else ""

    def _name(self, profile: Profile) -> str:
        return self.scaling.variables[profile.feature].name

    def _value(self, profile: Profile, scaled: float) -> str:
        """A value of a feature in its own unit; of a category, the level that is nearest."""
        column = self.scaling.variables[profile.feature].features[0]
        scale, center = self.scaling.scale[column], self.scaling.center[column]
        if levels := self._levels(profile):
            return levels[min(max(round(scaled * scale + center), 0), len(levels) - 1)]
        unit = self.units.get(self._name(profile), "")
        return f"{number(scaled * scale + center, scale)} {unit}".strip()
