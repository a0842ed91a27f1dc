"""The effects that make up how good a rollout is in a judge's eyes, and what a judge finds just acceptable.

    f(rollout, judge) = policy + (policy, task) + (policy, judge) + rollout
    bar(judge) = bar + (bar, judge)

    effects     (d,)     all terms of the sums above, side by side; a priori independent normals
    x           (M, d)   which effects make up f or the bar: 0 or 1, or their average for a policy's strength
    strength             of a policy: its effect and the average of its effects with tasks and judges

So f and the bar are linear rewards of `x`, and a success label compares a rollout with the bar as a pair
compares two rollouts. The labels of a dataset are those of one more judge, who differs from people as people
differ from each other. As soon as a person has answered, strengths are averages over the people alone.

An effect that occurs only once cannot be told from noise, so the model has effects of tasks if there are two
or more, likewise of judges and of their bars, and of rollouts if one was judged twice.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from prefero._support.arrays import Array, Flags
from prefero.arena.plan import ArenaPlan
from prefero.kernels import Kernel, Linear, Standardized
from prefero.questions import Answer, Comparisons
from prefero.questions.kinds.base import BAR

STDS = {0.125: 0.1, 0.25: 0.2, 0.5: 0.3, 1.0: 0.25, 2.0: 0.15}  # of policies, with prior weights
# variances of other effects relative to: policies (tasks, judges), the bar (bars of judges), noise (rollouts)
VARIANCE_RATIOS = (0.1, 1.0)
BAR_VARIANCE = 1.0  # so that a success rate may be anything between 0 and 1
DATASET = "labels of the dataset"  # in place of a judge's name
Key = tuple[str, int, str]  # kind, policy or trajectory, and task or judge of an effect


@dataclass(frozen=True)
class Judgment:
    """An answer of a judge.

    Args:
        answer: About trajectories of the arena's pool.
        judge: Whose answer it is.
    """

    answer: Answer
    judge: str = ""

    @property
    def items(self) -> tuple[int, ...]:
        """The trajectories that it is about."""
        return self.answer.question.items


def labels_of(plan: ArenaPlan) -> tuple[Judgment, ...]:
    """The labels that the datasets of an arena have."""
    return tuple(Judgment(answer, DATASET) for answer in (plan.labels.answers() if plan.labels else ()))


@dataclass(frozen=True)
class Candidate:
    """The sizes of all effects, as variances, with a prior weight."""

    policy: float
    task: float
    judge: float
    rollout: float
    own_bar: float
    bar: float = BAR_VARIANCE
    log_prior: float = 0.0

    @classmethod
    def of(cls, std: float, task: float, judge: float, rollout: float, log_prior: float = 0.0) -> "Candidate":
        """From the standard deviation of policies, and the ratios of the other variances."""
        variance = std**2
        own_bar = judge * BAR_VARIANCE
        return cls(variance, task * variance, judge * variance, rollout, own_bar, log_prior=log_prior)


@dataclass(frozen=True)
class Effects:
    """Which effects the model has, in the order of their columns.

    judges   those who answered
    bars     those of them who said what is acceptable
    shown    the trajectories that have effects of their own; empty: none has
    """

    plan: ArenaPlan
    judges: tuple[str, ...]
    shown: tuple[int, ...]
    bars: tuple[str, ...] = ()

    def __ge__(self, other: "Effects") -> bool:
        """Whether these are the same effects, perhaps with those of more trajectories."""
        same = (self.judges, self.bars, self.active) == (other.judges, other.bars, other.active)
        return same and set(self.shown) >= set(other.shown)

    @property
    def active(self) -> tuple[bool, bool, bool]:
        """Whether there are effects of tasks, judges and rollouts."""
        return len(self.plan.task_names) > 1, len(self.judges) > 1, bool(self.shown)

    @cached_property
    def columns(self) -> tuple[list[Key], dict[Key, int]]:
        """Kind, policy or trajectory, and task or judge of each effect; and where each is."""
        task, judge, _ = self.active
        policies = range(len(self.plan.policies))
        found = [("policy", policy, "") for policy in policies]
        found += [("task", p, name) for p in policies for name in self.plan.task_names if task]
        found += [("judge", p, name) for p in policies for name in self.judges if judge]
        found += [("rollout", trajectory, "") for trajectory in self.shown]
        found += [("bar", 0, "")]
        found += [("own_bar", 0, name) for name in self.bars if len(self.bars) > 1]
        return found, {key: place for place, key in enumerate(found)}

    # --- rows of x ----------------------------------------------------------------------------------------

    def rows(self, items: Sequence[int], judges: Sequence[str]) -> Array:
        """x of each trajectory, or of BAR, in the eyes of each judge, (M, d)."""
        return self._x([self._keys(*one) for one in zip(items, judges, strict=True)])

    def _keys(self, item: int, judge: str) -> list[Key]:
        if item == BAR:
            return self._bar_keys(judge)
        cell = self._cell_keys(self.plan.policy_of[item], self.plan.task_of(item), judge)
        return [*cell, ("rollout", item, "")]

    def _cell_keys(self, policy: int, task: str, judge: str) -> list[Key]:
        return [("policy", policy, ""), ("task", policy, task), ("judge", policy, judge)]

    def _bar_keys(self, judge: str) -> list[Key]:
        return [("bar", 0, ""), ("own_bar", 0, judge)]

    def _x(self, several: Sequence[Sequence[Key]]) -> Array:
        """Ones where these effects are, those that the model has."""
        columns, place = self.columns
        x = np.zeros((len(several), len(columns)))
        for row, keys in enumerate(several):
            x[row, [place[key] for key in keys if key in place]] = 1.0
        return x

    @cached_property
    def policies(self) -> Array:
        """x of the policies' strengths: averages over the tasks and the judges, (P, d)."""
        tasks, judges = self.plan.task_names, people_in(self.judges) or ("",)
        weight = {"policy": 1.0, "task": 1 / len(tasks), "judge": 1 / len(judges)}
        x = np.zeros((len(self.plan.policies), len(self.columns[0])))
        for column, (kind, policy, name) in enumerate(self.columns[0]):
            if kind in weight and (kind != "judge" or name in judges):
                x[policy, column] = weight[kind]
        return x

    def above_bar(self, policy: int) -> Array:
        """x of how far a policy's rollouts are above the bar, in each task and for each judge, (M, d).

        The judges are those who said what is acceptable.
        """
        cells = list(product(self.plan.task_names, people_in(self.bars)))
        rollouts = self._x([self._cell_keys(policy, *cell) for cell in cells])
        return rollouts - self._x([self._bar_keys(judge) for _, judge in cells])

    # --- the model ----------------------------------------------------------------------------------------

    def kernel(self, candidate: Candidate) -> Kernel:
        """The prior covariance: independent effects of these variances."""
        scale = tuple(getattr(candidate, kind) ** -0.5 for kind, *_ in self.columns[0])
        return Standardized(Linear(), (0.0,) * len(scale), scale)

    def candidates(self) -> list[Candidate]:
        """The grid; effects that the model does not have are not varied."""
        ratios = [VARIANCE_RATIOS if active else VARIANCE_RATIOS[:1] for active in self.active]
        each = 1 / np.prod([len(some) for some in ratios])
        return [
            Candidate.of(std, task, judge, rollout, float(np.log(weight * each)))
            for std, weight in STDS.items()
            for task, judge, rollout in product(*ratios)
        ]

    def comparisons(self, judgments: Sequence[Judgment]) -> Comparisons:
        """The judgments as rows of x."""
        judges = [judgment.judge for judgment in judgments for _ in judgment.answer.rows]
        pairs = [row for judgment in judgments for row in judgment.answer.rows]
        winners = self.rows([row.better for row in pairs], judges)
        losers = self.rows([row.worse for row in pairs], judges)
        nowhere = np.zeros((len(self.plan.policy_of), 1))  # x depends on the judge too
        said = Comparisons.from_answers(nowhere, [judgment.answer for judgment in judgments])
        return replace(said, winners=winners, losers=losers)

    def alone(self, judgments: Sequence[Judgment]) -> Flags:
        """Which rows are labels of trajectories that were judged once, and have no effect of their own."""
        own = set(self.shown)
        alone = [
            bool(own) and not own.issuperset(judgment.items)
            for judgment in judgments
            for _ in judgment.answer.rows
        ]
        return np.array(alone, dtype=bool)


def with_rollout_noise(data: Comparisons, alone: Flags, candidate: Candidate) -> Comparisons:
    """The rows with the effects of rollouts that were labelled once as a part of the noise.

    P(pass) = Phi((f - bar) / sqrt(1 + rollout)), so that such a label is a smaller difference with noise 1.
    """
    if not alone.any():
        return data
    scale = np.where(alone, (1 + candidate.rollout) ** -0.5, 1.0)[:, None]
    return replace(data, winners=scale * data.winners, losers=scale * data.losers)


def people_in(judges: Sequence[str]) -> tuple[str, ...]:
    """The judges without the dataset, unless it is the only one."""
    return tuple(judge for judge in judges if judge != DATASET) or tuple(judges)


def effects_of(plan: ArenaPlan, judgments: Sequence[Judgment], also: Sequence[int] = ()) -> Effects:
    """The effects that these judgments can tell apart; `also` are trajectories that may be shown next."""
    times = Counter(item for judgment in judgments for item in judgment.items)
    repeated = plan.recorded and max(times.values(), default=0) > 1
    compared = {item for judgment in judgments if len(judgment.items) > 1 for item in judgment.items}
    own = {item for item, count in times.items() if count > 1} | compared | set(also)
    judges = dict.fromkeys(judgment.judge for judgment in judgments)
    bars = dict.fromkeys(judgment.judge for judgment in judgments if judgment.answer.kind.uses_bar)
    return Effects(plan, tuple(judges), tuple(sorted(own)) if repeated else (), tuple(bars))
