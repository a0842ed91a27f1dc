"""The posterior over the strengths of policies, given comparisons of their rollouts.

    f(rollout, judge) = policy + (policy, task) + (policy, judge) + rollout
    P(A preferred to B) = Phi(f(A) - f(B) - margin)

    effects     (d,)     all terms of the sum above, side by side; a priori independent normals
    x           (M, d)   which effects make up f: 0 or 1, or their average for a policy's strength
    std                  standard deviation of the policies' effects; the noise of an answer has 1
    strength             of a policy: its effect and the average of its effects with tasks and judges

This is Thurstone's model, Bradley and Terry's with the normal in place of the logistic distribution. It is
also a linear reward of `x`, so the inference is that of rewards (`prefero.models.inference.infer`). How large
each kind of effect is, is not known: candidates on a grid are weighted by their marginal likelihood. An
effect that occurs only once cannot be told from noise, so the model has effects of tasks if there are two or
more, likewise of judges, and of rollouts if one was shown twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array
from prefero.arena.plan import ArenaPlan
from prefero.kernels import Kernel, Linear, Standardized
from prefero.models.algebra.linalg import symmetric_root
from prefero.models.averaging.model_average import ModelAverage
from prefero.models.inference.fit import Fit
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import SQRT_2, Probit
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import Answer, Comparisons

NOISE = 1 / SQRT_2  # so that an answer's noise has standard deviation 1
STDS = {0.125: 0.1, 0.25: 0.2, 0.5: 0.3, 1.0: 0.25, 2.0: 0.15}  # with prior weights
VARIANCE_RATIOS = (
    0.1,
    1.0,
)  # variances of other effects: tasks and judges relative to policies, rollouts to noise
MARGINS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # of ties
TYPICAL = 0.5  # the std that the margin is chosen with
NEGLIGIBLE = 1e-3  # of the largest weight
DRAWS = 4096  # joint samples of the strengths that probabilities are computed from
TOLERANCE = 1e-3  # of inference, in standard deviations: probabilities change by less than in their draws
TINY = 1e-300  # a variance that is not 0
SAME_DRAWS = 0  # the seed, so that the same answers always give the same probabilities


@dataclass(frozen=True)
class Judgment:
    """An answer of a judge.

    Args:
        answer: About two trajectories of the arena's pool.
        judge: Whose answer it is.
    """

    answer: Answer
    judge: str = ""


@dataclass(frozen=True)
class Candidate:
    """The sizes of all effects, as variances, with a prior weight."""

    policy: float
    task: float
    judge: float
    rollout: float
    log_prior: float = 0.0


@dataclass(frozen=True)
class Effects:
    """Which effects the model has, in the order of their columns.

    judges, shown   those who answered, and the trajectories that have effects of their own; empty: none has
    """

    plan: ArenaPlan
    judges: tuple[str, ...]
    shown: tuple[int, ...]

    def __ge__(self, other: "Effects") -> bool:
        """Whether these are the same effects, perhaps with those of more trajectories."""
        same = (self.judges, self.active) == (other.judges, other.active)
        return same and set(self.shown) >= set(other.shown)

    @property
    def active(self) -> tuple[bool, bool, bool]:
        """Whether there are effects of tasks, judges and rollouts."""
        return len(self.plan.task_names) > 1, len(self.judges) > 1, bool(self.shown)

    @cached_property
    def columns(self) -> tuple[list[tuple[str, int, str]], dict[tuple[str, int, str], int]]:
        """Kind, policy or trajectory, and task or judge of each effect; and where each is."""
        task, judge, _ = self.active
        policies = range(len(self.plan.policies))
        found = [("policy", policy, "") for policy in policies]
        found += [("task", p, name) for p in policies for name in self.plan.task_names if task]
        found += [("judge", p, name) for p in policies for name in self.judges if judge]
        found += [("rollout", trajectory, "") for trajectory in self.shown]
        return found, {key: place for place, key in enumerate(found)}

    def rows(self, trajectories: Sequence[int], judges: Sequence[str]) -> Array:
        """x of each trajectory in the eyes of each judge, (M, d)."""
        columns, place = self.columns
        x = np.zeros((len(trajectories), len(columns)))
        for row, (trajectory, judge) in enumerate(zip(trajectories, judges, strict=True)):
            policy = self.plan.policy_of[trajectory]
            keys = [("policy", policy, ""), ("task", policy, self.plan.task_of(trajectory))]
            keys += [("judge", policy, judge), ("rollout", trajectory, "")]
            x[row, [place[key] for key in keys if key in place]] = 1.0
        return x

    @cached_property
    def policies(self) -> Array:
        """x of the policies' strengths: averages over the tasks and the judges, (P, d)."""
        weight = {"policy": 1.0, "task": 1 / len(self.plan.task_names), "rollout": 0.0}
        weight["judge"] = 1 / max(len(self.judges), 1)
        x = np.zeros((len(self.plan.policies), len(self.columns[0])))
        for column, (kind, policy, _) in enumerate(self.columns[0]):
            if kind != "rollout":
                x[policy, column] = weight[kind]
        return x

    def kernel(self, candidate: Candidate) -> Kernel:
        """The prior covariance: independent effects of these variances."""
        size = {kind: getattr(candidate, kind) ** -0.5 for kind in ("policy", "task", "judge", "rollout")}
        scale = tuple(size[kind] for kind, *_ in self.columns[0])
        return Standardized(Linear(), (0.0,) * len(scale), scale)

    def candidates(self) -> list[Candidate]:
        """The grid; effects that the model does not have are not varied."""
        ratios = [VARIANCE_RATIOS if active else VARIANCE_RATIOS[:1] for active in self.active]
        each = 1 / np.prod([len(some) for some in ratios])
        return [
            Candidate(std**2, task * std**2, judge * std**2, rollout, float(np.log(weight * each)))
            for std, weight in STDS.items()
            for task, judge, rollout in product(*ratios)
        ]

    def comparisons(self, judgments: Sequence[Judgment]) -> Comparisons:
        """The judgments as rows of x."""
        judges = [judgment.judge for judgment in judgments]
        pairs = [judgment.answer.pair for judgment in judgments]
        winners, losers = (self.rows([pair[side] for pair in pairs], judges) for side in (0, 1))
        tied = np.array([judgment.answer.choice == "equal" for judgment in judgments], dtype=bool)
        return Comparisons(winners, losers, tied)


def effects_of(plan: ArenaPlan, judgments: Sequence[Judgment], also: Sequence[int] = ()) -> Effects:
    """The effects that these judgments can tell apart; `also` are trajectories that may be shown next."""
    shown = [item for judgment in judgments for item in judgment.answer.question.items]
    repeated = plan.recorded and len(set(shown)) < len(shown)
    judges = tuple(dict.fromkeys(judgment.judge for judgment in judgments))
    return Effects(plan, judges, tuple(sorted({*shown, *also})) if repeated else ())


@dataclass(frozen=True, eq=False)
class Strengths:
    """The posterior over the policies' strengths.

    Args:
        effects: The effects of the model.
        posterior: Over the effects.
    """

    effects: Effects
    posterior: MixturePosterior

    def sample(self, x: Array, count: int) -> Array:
        """Joint samples of the strengths and of f at rows of x, (count, P + M); always the same ones."""
        rows = np.concatenate([self.effects.policies, x])
        return self.posterior.sample(rows, count, np.random.default_rng(SAME_DRAWS))

    @cached_property
    def _moments(self) -> list[tuple[float, Array, Array]]:
        """Weight, mean and covariance of the strengths in each component of the posterior."""
        return [(weight, *one(self.effects.policies)) for weight, one in self.posterior.components]

    @cached_property
    def draws(self) -> Array:
        """Joint samples of the strengths, (DRAWS, P), in a random order; their average is 0 in each."""
        rng = np.random.default_rng(SAME_DRAWS)
        noise = rng.standard_normal((DRAWS, len(self.mean)))
        ends = np.round(DRAWS * np.cumsum([weight for weight, *_ in self._moments])).astype(int)
        drawn_of_each = [
            mean + some @ symmetric_root(covariance)
            for some, (_, mean, covariance) in zip(np.split(noise, ends[:-1]), self._moments, strict=True)
        ]
        drawn = rng.permutation(np.concatenate(drawn_of_each))
        centered: Array = drawn - drawn.mean(axis=1, keepdims=True)
        return centered

    @cached_property
    def mean(self) -> Array:
        """The expected strengths, (P,), with average 0."""
        mean = np.sum([weight * mean for weight, mean, _ in self._moments], axis=0)
        centered: Array = mean - mean.mean()
        return centered

    @cached_property
    def better(self) -> Array:
        """P(the policy of the row is better than that of the column), (P, P); 1/2 on the diagonal."""
        total = np.zeros((len(self.mean),) * 2)
        for weight, mean, covariance in self._moments:
            own = covariance.diagonal()
            variance = np.maximum(own[:, None] + own - 2 * covariance, TINY)
            total += weight * ndtr((mean[:, None] - mean) / np.sqrt(variance))
        return total


@dataclass(eq=False)
class StrengthFitter:
    """Fits strengths to judgments, and quickly again as judgments are added.

    The result depends on the judgments alone; what is kept from one fit to the next only saves time.
    """

    plan: ArenaPlan
    _judgments: tuple[Judgment, ...] = ()
    _average: ModelAverage[Candidate] = field(default_factory=lambda: ModelAverage(NEGLIGIBLE))
    _last: Strengths | None = None

    def fit(self, judgments: Sequence[Judgment], also: Sequence[int] = ()) -> Strengths:
        """The strengths after these judgments; `also` are trajectories that may be shown next."""
        effects = effects_of(self.plan, judgments, also)
        if self._last is not None and self._judgments == tuple(judgments) and self._last.effects >= effects:
            return self._last
        data = effects.comparisons(judgments)
        margin, before = _learned_margin(effects, data), self._judgments
        continued = before == tuple(judgments[: len(before)])
        self._average.begin(len(data), (effects.active, margin), continued)
        averaged = self._average.over(
            {candidate: candidate.log_prior for candidate in effects.candidates()},
            lambda some: {one: self._fit(effects.kernel(one), one, data, margin) for one in some},
        )
        components = tuple((weight, averaged.fits[one].posterior) for one, weight in averaged.weights.items())
        self._judgments = tuple(judgments)
        self._last = Strengths(effects, MixturePosterior(components, {}, averaged.log_evidence))
        return self._last

    def _fit(self, kernel: Kernel, candidate: Candidate, data: Comparisons, margin: float) -> Fit:
        start = self._average.start(candidate, len(data))
        return infer(kernel, data, Probit(NOISE, margin), start=start, tolerance=TOLERANCE)


def _learned_margin(effects: Effects, data: Comparisons) -> float:
    """The margin in units of an answer's noise: 0 without ties, else the most probable on a grid."""
    if not data.has_ties:
        return 0.0
    typical = Candidate(TYPICAL**2, *(VARIANCE_RATIOS[0] * TYPICAL**2,) * 2, VARIANCE_RATIOS[0])
    kernel = effects.kernel(typical)
    return max(MARGINS, key=lambda m: infer(kernel, data, Probit(NOISE, m)).log_evidence)
