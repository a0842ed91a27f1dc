"""The pool as a teacher looks through it: pages of trajectories, sorted and filtered.

    rewards     of all trajectories, in standard deviations above the average one; None while it is too early
    shown       in how many questions a trajectory was shown
    remarks     its note and its tags

One page is made at a time, with a few features of each trajectory, so that a pool may be large.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Indices, one_thread
from prefero.learner import Learner
from prefero.models.posterior.mixture import ENOUGH_ANSWERS
from prefero.pools.displays import feature_ranges
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import Kind, items_of
from prefero.studies.log.annotations import NO_REMARKS, Remarks
from prefero.studies.log.event_log import EventLog
from prefero.studies.reports.learning_summary import FeatureLabel
from prefero.studies.storage.store import Refused
from prefero.views.displays import FeatureRange

Sort = Literal["index", "id", "reward", "std", "shown", "feature"]
SORTS: tuple[Sort, ...] = get_args(Sort)
Shown = Literal["any", "shown", "never"]
MOST_FEATURES = 12  # of a trajectory that are sent, and the one by which is sorted

Mask = npt.NDArray[np.bool_]


class PoolRewards(NamedTuple):
    """Of all trajectories: means (N,), standard deviations (N,), and how probably each is acceptable, (N,).

    `acceptable` is None where no answer has said what is.
    """

    mean: Array
    std: Array
    acceptable: Array | None


class Between(NamedTuple):
    """A range of a feature, by its place among the features; None is no limit."""

    feature: int
    low: float | None
    high: float | None


@dataclass(frozen=True)
class PoolQuery:
    """Which trajectories are wanted, in which order, and which page of them.

    feature   the place of the feature by which is sorted, if `sort` says so
    text      in the id, the note or a tag; or the index
    between   ranges of features
    """

    sort: Sort = "index"
    descending: bool = False
    feature: int = 0
    text: str = ""
    tag: str = ""
    shown: Shown = "any"
    between: tuple[Between, ...] = ()
    offset: int = 0
    limit: int = 48


@dataclass(frozen=True)
class PoolTrajectory:
    """A trajectory on its card; `id` is null where there are none, and rewards are while it is too early."""

    index: int
    id: str | None
    mean: float | None
    std: float | None
    acceptable: float | None
    features: dict[str, float]
    shown: int
    note: str
    tags: list[str]


@dataclass(frozen=True)
class TagCount:
    """A tag that is in use, and on how many trajectories and answers."""

    tag: str
    count: int


@dataclass(frozen=True)
class PoolPage:
    """One page of the trajectories that fit, of which there are `matching` among `total`.

    enough_answers   so many answers are needed before there are rewards
    sizes            how many trajectories can be chosen for a question of this session
    tags             in use, the most frequent first
    features         with their ranges in the pool
    """

    trajectories: list[PoolTrajectory]
    matching: int
    total: int
    answers: int
    enough_answers: int
    sizes: list[int]
    tags: list[TagCount]
    features: list[FeatureRange]


@one_thread
def pool_rewards(learner: Learner, _: EventLog) -> PoolRewards | None:
    """The rewards of all trajectories, computed where the learner is."""
    if len(learner.answers) < ENOUGH_ANSWERS:
        return None
    reward, pool = learner.reward(), learner.pool
    mean, std = reward.standardized(pool.features, pool)
    return PoolRewards(mean, std, reward.probability_acceptable(pool.features) if reward.has_bar else None)


def pool_page(
    pool: Pool,
    log: EventLog,
    rewards: PoolRewards | None,
    labels: Sequence[FeatureLabel],
    kinds: Sequence[Kind],
    query: PoolQuery,
) -> PoolPage:
    """The trajectories that a teacher wants to see."""
    listing = _Listing(pool, log, rewards)
    for place in (query.feature, *(one.feature for one in query.between)):
        _check_feature(place, pool)
    found = listing.sorted(np.flatnonzero(listing.fitting(query)), query)
    names = _sent_features(pool, query)
    return PoolPage(
        [listing.trajectory(int(index), names) for index in found[query.offset :][: query.limit]],
        len(found),
        len(pool),
        len(log.answers),
        ENOUGH_ANSWERS,
        sorted({items_of(kind) for kind in kinds}),
        tag_counts(log),
        feature_ranges(pool, {label.name: label.unit for label in labels}),
    )


def tag_counts(log: EventLog) -> list[TagCount]:
    """The tags in use, the most frequent first; of spellings that differ in capitals only, the first."""
    spelled: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for remarks in (*log.trajectory_remarks.values(), *log.question_remarks.values()):
        for tag in remarks.tags:
            counts[spelled.setdefault(tag.casefold(), tag)] += 1
    return [TagCount(tag, count) for tag, count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))]


def shown_counts(log: EventLog, size: int) -> Indices:
    """In how many questions each trajectory was shown, (N,)."""
    items = [item for asked in log.questions for item in asked.items]
    return np.bincount(np.array(items, dtype=int), minlength=size)


class _Listing:
    """All trajectories with what is known of them."""

    def __init__(self, pool: Pool, log: EventLog, rewards: PoolRewards | None) -> None:
        self.pool, self.rewards, self.remarks = pool, rewards, log.trajectory_remarks
        self.variables = pool.scaling.variables
        self.shown = shown_counts(log, len(pool))

    def fitting(self, query: PoolQuery) -> Mask:
        """Which trajectories pass all filters."""
        fits = np.ones(len(self.pool), dtype=bool)
        if query.shown != "any":
            fits &= (self.shown > 0) == (query.shown == "shown")
        for feature, low, high in query.between:
            values = self.values(feature)
            fits &= (values >= (-np.inf if low is None else low)) & (
                values <= (np.inf if high is None else high)
            )
        if query.tag:
            fits &= self._those_with(lambda remarks: remarks.has(query.tag))
        return fits & self._with_text(query.text.strip().casefold()) if query.text.strip() else fits

    def sorted(self, found: Indices, query: PoolQuery) -> Indices:
        """In the wanted order; equal ones by their index. Without rewards by index too."""
        if query.sort == "id" and self.pool.ids is not None:
            keys = [natural_key(self.pool.ids[index]) for index in found]
            order = sorted(range(len(found)), key=keys.__getitem__, reverse=query.descending)
            return found[order]
        values = self._keys(query)[found]
        return found[np.argsort(-values if query.descending else values, kind="stable")]

    def values(self, feature: int) -> Array:
        """A feature of all trajectories, (N,)."""
        return np.asarray(self.variables[feature].values(self.pool.features), dtype=float)

    def trajectory(self, index: int, features: dict[str, int]) -> PoolTrajectory:
        """What its card shows."""
        rewards, remarks = self.rewards, self.remarks.get(index, NO_REMARKS)
        row = self.pool.features[[index]]
        known = None if rewards is None or rewards.acceptable is None else float(rewards.acceptable[index])
        return PoolTrajectory(
            index,
            None if self.pool.ids is None else self.pool.ids[index],
            None if rewards is None else float(rewards.mean[index]),
            None if rewards is None else float(rewards.std[index]),
            known,
            {name: float(self.variables[place].values(row)[0]) for name, place in features.items()},
            int(self.shown[index]),
            remarks.note,
            list(remarks.tags),
        )

    def _keys(self, query: PoolQuery) -> Array:
        if query.sort == "feature":
            return self.values(query.feature)
        if query.sort == "shown":
            return self.shown.astype(float)
        if query.sort in ("reward", "std") and self.rewards is not None:
            return self.rewards.mean if query.sort == "reward" else self.rewards.std
        return np.arange(len(self.pool), dtype=float)

    def _with_text(self, text: str) -> Mask:
        """In an id, a note or a tag; a number is an index too."""
        ids = self.pool.ids
        fits = self._those_with(lambda one: any(text in part.casefold() for part in (one.note, *one.tags)))
        if ids is not None:
            fits |= np.fromiter((text in one.casefold() for one in ids), dtype=bool, count=len(ids))
        number = text.removeprefix("no.").strip()
        if number.isdecimal() and int(number) < len(fits):
            fits[int(number)] = True
        return fits

    def _those_with(self, wanted: Callable[[Remarks], bool]) -> Mask:
        fits = np.zeros(len(self.pool), dtype=bool)
        fits[[index for index, remarks in self.remarks.items() if wanted(remarks)]] = True
        return fits


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Sorts "run 2" before "run 10": digits by their number, and other letters as they are."""
    parts = re.findall(r"\d+|\D+", text.casefold())
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def _sent_features(pool: Pool, query: PoolQuery) -> dict[str, int]:
    """The features on a card, with their places."""
    places = list(range(len(pool.scaling.variables)))[:MOST_FEATURES]
    places += [query.feature] * (query.sort == "feature" and query.feature not in places)
    return {pool.scaling.variables[place].name: place for place in places}


def _check_feature(place: int, pool: Pool) -> None:
    count = len(pool.scaling.variables)
    if place and place >= count:
        raise Refused("bad-feature", f"there are features 0 to {count - 1}, and no feature {place}")
