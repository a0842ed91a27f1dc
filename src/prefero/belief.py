"""A belief over what kind of reward a person has, and over its hyper-parameters, weighted by evidence.

Nobody knows before asking whether a reward is linear, curved or bumpy, nor how noisy the person is. So the
default model keeps several Gaussian processes, each with its own structure and hyper-parameters, and weighs
them by how well they foretold the answers: prior times evidence. What the belief predicts is the mixture.

    member       a structure with fixed hyper-parameters: a kernel of about unit variance, and a noise
    noise        the paper's sigma, beside a reward whose prior standard deviation is 1
    theta        the RBF parameter for features of unit size, divided by their number
    awake        members whose weight may matter; the others rest, and cost nothing

Hyper-parameters are marginalised over a small grid: it needs no optimiser, and the belief depends on the
answers alone, not on the way to them. The evidence of a
resting member can only fall with further answers, so it is woken only when it might matter again. One
structure, the ARD kernel with its own theta for each feature, has no grid: it is maximised, and pays for
that by the share of its prior's volume that fits as well.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from prefero.arrays import Array, one_thread
from prefero.evidence import maximise
from prefero.inference import Inference, NotSettled, Solution, Start, infer
from prefero.kernels import RBF, Anchored, Kernel, Linear, Quadratic, Standardised
from prefero.likelihood import Probit
from prefero.posterior import Posterior
from prefero.questions import Comparisons

LINEAR, CURVED, SMOOTH, MIXED, UNEVEN = "linear", "quadratic", "smooth", "linear and smooth", "uneven"
WORDS = {
    LINEAR: "linear",
    CURVED: "linear with a curve (quadratic)",
    SMOOTH: "smooth, of no simple form",
    MIXED: "linear with smooth deviations",
    UNEVEN: "smooth, and some features matter more than others",
}
GRID = {LINEAR: 0.25, CURVED: 0.1, SMOOTH: 0.35, MIXED: 0.3}  # prior weights of the structures
UNEVEN_SHARE = 0.2  # beside them
NOISES = {0.3: 0.25, 0.1: 0.5, 0.03: 0.25}
THETAS = {0.06: 0.1, 0.2: 0.2, 0.6: 0.3, 2.0: 0.25, 6.0: 0.15}
TYPICAL_NOISE = 0.1
STALE = -1  # answers that a member has seen, some of which were taken back: good only to start from
LEADING = 8  # at most so many members make up the mixture, or as many as it takes to have
PER_STRUCTURE = 2  # speak for each structure
NEGLIGIBLE = 1e-3  # of the heaviest member's weight


@dataclass(frozen=True)
class Member:
    """A structure with fixed hyper-parameters, and its prior weight."""

    structure: str
    kernel: Kernel
    noise: float
    log_prior: float


def members(features: int, noise: float | None = None) -> list[Member]:
    """The grid: the prior weight of each structure, spread over its hyper-parameters."""
    noises = NOISES if noise is None else {noise: 1.0}
    return [
        Member(structure, Anchored(kernel, (0.0,) * features), sigma, float(np.log(weight * chance * share)))
        for structure, weight in GRID.items()
        for sigma, chance in noises.items()
        for kernel, share in _kernels(structure, features)
    ]


def _kernels(structure: str, features: int) -> list[tuple[Kernel, float]]:
    """The kernels of a structure, each with its share; a typical trajectory's reward has variance 1."""
    d = float(features)
    if structure == LINEAR:
        return [(1 / d * Linear(), 1.0)]
    if structure == CURVED:
        return [(1 / (2 * d + d * (d + 1) / 2) * (Linear() + Quadratic()), 1.0)]
    smooth = [(RBF(theta / d), share) for theta, share in THETAS.items()]
    if structure == SMOOTH:
        return [*smooth]
    return [((0.5 / d) * Linear() + 0.5 * rbf, share) for rbf, share in smooth]


@dataclass(frozen=True, eq=False, repr=False)
class Belief:
    """A mixture of Gaussians over rewards. Call it with features for a mean and a covariance."""

    components: tuple[tuple[float, Posterior], ...]
    structures: dict[str, float]  # the weight of each structure
    log_evidence: float

    @property
    def probit(self) -> Probit:
        """How the person answers, on average over the members."""
        noise = sum(weight * part.probit.noise for weight, part in self.components)
        return Probit(noise, sum(weight * part.probit.margin for weight, part in self.components))

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and covariance (M, M) of the rewards of x under the mixture."""
        each = [(weight, *part(x)) for weight, part in self.components]
        mean: Array = sum(w * m for w, m, _ in each)  # type: ignore[assignment]
        covariance: Array = sum(w * (c + np.outer(m - mean, m - mean)) for w, m, c in each)  # type: ignore[assignment]
        return mean, covariance

    def marginals(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and variance (M,) of the rewards of x."""
        return self._moments((w, *part.marginals(x)) for w, part in self.components)

    def difference(self, a: Array, b: Array) -> tuple[Array, Array]:
        """Mean and variance of f(a) - f(b), row by row."""
        return self._moments((w, *part.difference(a, b)) for w, part in self.components)

    def probability(self, a: Array, b: Array) -> Array:
        """P(a is preferred to b), row by row."""
        total: Array = sum(w * part.probability(a, b) for w, part in self.components)  # type: ignore[assignment]
        return total

    def sample(self, x: Array, count: int, rng: np.random.Generator) -> Array:
        """Joint draws of the rewards of x, shape (count, M)."""
        shares = rng.multinomial(count, [weight for weight, _ in self.components])
        draws = [p.sample(x, int(n), rng) for n, (_, p) in zip(shares, self.components, strict=True) if n]
        return rng.permutation(np.concatenate(draws)) if draws else np.empty((0, len(x)))

    def describe(self) -> str:
        """The most likely structure in words."""
        structure, weight = max(self.structures.items(), key=lambda item: item[1])
        if weight < 0.4:
            return f"the reward's form is still open: {self._shares()}"
        return f"the reward looks {WORDS[structure]}: {weight:.2f}"

    def __repr__(self) -> str:
        return f"Belief({self._shares()})"

    def _shares(self) -> str:
        ranked = sorted(self.structures.items(), key=lambda item: -item[1])
        return ", ".join(f"{structure} {weight:.2f}" for structure, weight in ranked if weight >= 0.005)

    @staticmethod
    def _moments(each: Iterator[tuple[float, Array, Array]]) -> tuple[Array, Array]:
        parts = list(each)
        mean: Array = sum(w * m for w, m, _ in parts)  # type: ignore[assignment]
        variance: Array = sum(w * (v + (m - mean) ** 2) for w, m, v in parts)  # type: ignore[assignment]
        return mean, variance


@dataclass(eq=False)
class _Seen:
    """A member's last inference: its posterior, where it ended, and how many answers it knew."""

    posterior: Posterior
    solution: Solution
    answers: int
    margin: float


@dataclass(eq=False)
class BeliefFitter:
    """Forms the belief from answers, and forms it anew, quickly, as answers are added.

    What comes out depends on the answers alone; what is kept from one time to the next only saves work.
    """

    features: int
    noise: float | None = None  # None: marginalised
    margin: float | None = None  # None: learned where there are ties
    inference: Inference = "ep"
    uneven: bool = True  # the ARD structure
    units: tuple[tuple[float, ...], tuple[float, ...]] | None = None  # centre and scale of raw features
    _data: Comparisons | None = None
    _seen: dict[int, _Seen] = field(default_factory=dict)
    _uneven: tuple[Any, Member] | None = None

    def __post_init__(self) -> None:
        self.settings = (self.features, self.noise, self.margin, self.inference, self.uneven, self.units)
        grid = members(self.features, self.noise)
        self._grid = [replace(member, kernel=self._standard(member.kernel)) for member in grid]

    def _standard(self, kernel: Kernel) -> Kernel:
        return kernel if self.units is None else Standardised(kernel, *self.units)

    @one_thread
    def fit(self, data: Comparisons) -> Belief:
        """The belief after these answers."""
        self._forget_unless_continued(data)
        margin = self._margin(data)
        everyone = [*self._grid, *self._uneven_member(data, margin)]
        weights = self._weigh(everyone, data, margin)
        if not weights:
            raise NotSettled("no structure of the belief could be fitted to these answers")
        total = float(logsumexp(list(weights.values())))
        shares = {n: float(np.exp(log_weight - total)) for n, log_weight in weights.items()}
        structures = dict.fromkeys((member.structure for member in everyone), 0.0)
        for number, share in shares.items():
            structures[everyone[number].structure] += share
        leading = _leading(shares, {n: everyone[n].structure for n in shares}, structures)
        parts = tuple((share, self._seen[n].posterior) for n, share in leading.items())
        return Belief(parts, structures, total)

    def _forget_unless_continued(self, data: Comparisons) -> None:
        if self._data is not None and not _continues(self._data, data):
            self._seen = {}
        for seen in self._seen.values():
            if seen.answers > len(data):
                seen.answers = STALE
        self._data = data

    def _weigh(self, everyone: list[Member], data: Comparisons, margin: float) -> dict[int, float]:
        """Log weights (not normalised) of the members that matter, woken in the order of their promise."""
        promise = {n: self._promise(n, member, margin) for n, member in enumerate(everyone)}
        weights: dict[int, float] = {}
        best = -np.inf
        for number in sorted(promise, key=lambda n: (-promise[n], n)):
            if promise[number] < best + np.log(NEGLIGIBLE):
                break
            seen = self._infer(number, everyone[number], data, margin)
            if seen is not None:
                weights[number] = everyone[number].log_prior + seen.posterior.log_evidence
                best = max(best, weights[number])
        # those that rest would be left out here, so those that only happen to be awake are too
        return {number: weight for number, weight in weights.items() if weight >= best + np.log(NEGLIGIBLE)}

    def _promise(self, number: int, member: Member, margin: float) -> float:
        """No member can weigh more than this: its evidence when last seen, since further answers lower it."""
        seen = self._seen.get(number)
        if seen is None or seen.answers == STALE or seen.margin != margin:
            return np.inf
        return member.log_prior + seen.posterior.log_evidence + 1e-3

    def _infer(self, number: int, member: Member, data: Comparisons, margin: float) -> _Seen | None:
        old = self._seen.get(number)
        if old is not None and old.answers == len(data) and old.margin == margin:
            return old
        start = None if old is None else Start.after(old.solution, len(data))
        try:
            probit = self._probit(member.noise, margin)
            posterior, solution = infer(member.kernel, data, probit, self.inference, start)
        except NotSettled:
            return None  # the others go on without it
        self._seen[number] = _Seen(posterior, solution, len(data), margin)
        return self._seen[number]

    def _probit(self, noise: float, margin: float) -> Probit:
        """A learned margin is a multiple of the noise, a given one is in units of the reward."""
        return Probit(noise, margin * noise if self.margin is None else self.margin)

    def _margin(self, data: Comparisons) -> float:
        """The margin in units of the noise: 0 without ties, else learned with the best typical model."""
        if self.margin is not None or not data.has_ties:
            return 0.0
        guess = Probit(self.noise or TYPICAL_NOISE, self.noise or TYPICAL_NOISE)
        typical = (_kernels(structure, self.features) for structure in GRID)
        kernels = [self._standard(choices[len(choices) // 2][0]) for choices in typical]
        kernel = max(kernels, key=lambda kernel: self._evidence(kernel, data, guess))
        learned = maximise(kernel, data, guess, self.inference, learn_kernel=False, learn_margin=True)
        ratio = learned.probit.margin / learned.probit.noise
        return float(
            np.exp(0.1 * np.round(10 * np.log(ratio)))
        )  # in steps of a tenth, so that members may rest

    def _uneven_member(self, data: Comparisons, margin: float) -> list[Member]:
        """The ARD structure; its parameters are sought again whenever there are half as many answers more."""
        first = _last_milestone(len(data))
        if not self.uneven or self.features < 2 or not first:
            return []
        some = data[:first]
        key = (some.winners.tobytes(), some.losers.tobytes(), some.tied.tobytes(), margin)
        if self._uneven is None or self._uneven[0] != key:
            self._uneven = key, self._learn_uneven(some, margin)
            self._seen.pop(len(self._grid), None)
        return [self._uneven[1]]

    def _evidence(self, kernel: Kernel, data: Comparisons, probit: Probit) -> float:
        try:
            return infer(kernel, data, probit, self.inference)[1].log_evidence
        except NotSettled:
            return -np.inf

    def _learn_uneven(self, some: Comparisons, margin: float) -> Member:
        d = self.features
        start = self._standard(Anchored(RBF((0.6 / d,) * d), (0.0,) * d))
        probit = self._probit(self.noise or TYPICAL_NOISE, margin)
        # a learned margin is a multiple of the noise, so with ties the noise stays as it is
        learned = maximise(
            start, some, probit, self.inference, learn_noise=self.noise is None and not margin, iterations=12
        )
        # the share of the prior that fits as well, had each answer told a tenth of what the prior does
        volume = -0.5 * learned.free * float(np.log1p(0.1 * len(some)))
        log_prior = learned.log_prior + volume + float(np.log(UNEVEN_SHARE))
        return Member(UNEVEN, learned.kernel, learned.probit.noise, log_prior)


def _leading(
    shares: dict[int, float], kind: dict[int, str], structures: dict[str, float]
) -> dict[int, float]:
    """The few members that stand for all: the heaviest of each structure, then the heaviest of all.

    Within a structure they share its whole weight, so that many small members are not lost against one.
    """
    ranked = sorted(shares, key=lambda n: (-shares[n], n))
    ranked = [n for n in ranked if structures[kind[n]] >= NEGLIGIBLE]
    first = [n for s in structures for n in [n for n in ranked if kind[n] == s][:PER_STRUCTURE]]
    chosen = [*first, *(n for n in ranked if n not in first)][: max(LEADING, len(first))]
    spoken_for = {s: sum(shares[n] for n in chosen if kind[n] == s) for s in structures}
    weights = {n: shares[n] / spoken_for[kind[n]] * structures[kind[n]] for n in chosen}
    total = sum(weights.values())
    return {n: weight / total for n, weight in weights.items()}


def _continues(old: Comparisons, new: Comparisons) -> bool:
    """Whether one of the two is the beginning of the other."""
    n = min(len(old), len(new))
    pairs = ((old.winners, new.winners), (old.losers, new.losers), (old.tied, new.tied))
    return all(np.array_equal(a[:n], b[:n]) for a, b in pairs)


def _last_milestone(answers: int) -> int:
    """The last of 20, 30, 45, 67, ... that `answers` has reached, or 0."""
    milestone, last = 20, 0
    while milestone <= answers:
        last, milestone = milestone, milestone + milestone // 2
    return last
