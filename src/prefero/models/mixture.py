"""A belief over what kind of reward a person has, and over its hyper-parameters, weighted by evidence.

Nobody knows before asking whether a reward is linear, curved or bumpy, nor how noisy the person is. So the
default model keeps several Gaussian processes, the members of `models.structures`, and weighs them by how
well they foretold the answers: prior times evidence. What the belief predicts is the mixture.

    awake        members whose weight may matter; the others rest, and cost nothing
    key          of a member: which list of members it is in, and its place there

The evidence of a resting member can only fall with further answers, so it is woken only when it might matter
again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import logsumexp

from prefero._support.arrays import Array, one_thread
from prefero.kernels import Kernel, Standardised
from prefero.models.inference import Inference, NotSettled, Solution, Start, infer
from prefero.models.likelihood import Probit
from prefero.models.marginal_likelihood import maximise
from prefero.models.posterior import Posterior
from prefero.models.structures import (
    GRID,
    SOUGHT,
    TYPICAL_NOISE,
    WORDS,
    Given,
    Member,
    Sought,
    members,
    typical,
)
from prefero.questions import Comparisons

STALE = -1  # answers that a member has seen, some of which were taken back: good only to start from
LEADING = 8  # at most so many members make up the mixture, or as many as it takes to have
PER_STRUCTURE = 2  # speak for each structure
NEGLIGIBLE = 1e-3  # of the heaviest member's weight

Key = tuple[int, int]


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
    sought: bool = True  # the structures that are sought, too
    units: tuple[tuple[float, ...], tuple[float, ...]] | None = None  # centre and scale of raw features
    _data: Comparisons | None = None
    _seen: dict[Key, _Seen] = field(default_factory=dict)
    _found: dict[str, tuple[tuple[bytes, float], list[Member]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.settings = (self.features, self.noise, self.margin, self.inference, self.sought, self.units)
        self.given = Given(self.features, self.noise, self.margin, self.inference, self._standard)
        grid = members(self.features, self.noise)
        self._grid = [replace(member, kernel=self._standard(member.kernel)) for member in grid]

    def _standard(self, kernel: Kernel) -> Kernel:
        return kernel if self.units is None else Standardised(kernel, *self.units)

    @one_thread
    def fit(self, data: Comparisons) -> Belief:
        """The belief after these answers."""
        self._forget_unless_continued(data)
        margin = self._margin(data)
        everyone = self._everyone(data, margin)
        weights = self._weigh(everyone, data, margin)
        if not weights:
            raise NotSettled("no structure of the belief could be fitted to these answers")
        total = float(logsumexp(list(weights.values())))
        shares = {key: float(np.exp(log_weight - total)) for key, log_weight in weights.items()}
        structures = dict.fromkeys((member.structure for member in everyone.values()), 0.0)
        for key, share in shares.items():
            structures[everyone[key].structure] += share
        leading = _leading(shares, {key: everyone[key].structure for key in shares}, structures)
        parts = tuple((share, self._seen[key].posterior) for key, share in leading.items())
        return Belief(parts, structures, total)

    def _forget_unless_continued(self, data: Comparisons) -> None:
        if self._data is not None and not _continues(self._data, data):
            self._seen = {}
        for seen in self._seen.values():
            if seen.answers > len(data):
                seen.answers = STALE
        self._data = data

    def _everyone(self, data: Comparisons, margin: float) -> dict[Key, Member]:
        """The grid, and what was found of the structures that are sought."""
        kinds = SOUGHT if self.sought else ()
        found = [self._sought(number, kind, data, margin) for number, kind in enumerate(kinds, 1)]
        lists = [self._grid, *found]
        return {(n, place): member for n, some in enumerate(lists) for place, member in enumerate(some)}

    def _sought(self, number: int, kind: Sought, data: Comparisons, margin: float) -> list[Member]:
        """The members of a structure that is sought, from the answers up to its last milestone."""
        first = kind.milestone(len(data))
        if self.features < kind.features or not first:
            return []
        some = data[:first]
        about = (some.winners.tobytes() + some.losers.tobytes() + some.tied.tobytes(), margin)
        if kind.structure not in self._found or self._found[kind.structure][0] != about:
            self._found[kind.structure] = about, kind.seek(self.given, some, margin)
            self._seen = {key: seen for key, seen in self._seen.items() if key[0] != number}
        return self._found[kind.structure][1]

    def _weigh(self, everyone: dict[Key, Member], data: Comparisons, margin: float) -> dict[Key, float]:
        """Log weights (not normalised) of the members that matter, woken in the order of their promise."""
        promise = {key: self._promise(key, member, margin) for key, member in everyone.items()}
        weights: dict[Key, float] = {}
        best = -np.inf
        for key in sorted(promise, key=lambda key: (-promise[key], key)):
            if promise[key] < best + np.log(NEGLIGIBLE):
                break
            seen = self._infer(key, everyone[key], data, margin)
            if seen is not None:
                weights[key] = everyone[key].log_prior + seen.posterior.log_evidence
                best = max(best, weights[key])
        # those that rest would be left out here, so those that only happen to be awake are too
        return {key: weight for key, weight in weights.items() if weight >= best + np.log(NEGLIGIBLE)}

    def _promise(self, key: Key, member: Member, margin: float) -> float:
        """No member can weigh more than this: its evidence when last seen, since further answers lower it."""
        seen = self._seen.get(key)
        if seen is None or seen.answers == STALE or seen.margin != margin:
            return np.inf
        return member.log_prior + seen.posterior.log_evidence + 1e-3

    def _infer(self, key: Key, member: Member, data: Comparisons, margin: float) -> _Seen | None:
        old = self._seen.get(key)
        if old is not None and old.answers == len(data) and old.margin == margin:
            return old
        start = None if old is None else Start.after(old.solution, len(data))
        try:
            probit = self.given.probit(member.noise, margin)
            posterior, solution = infer(member.kernel, data, probit, self.inference, start)
        except NotSettled:
            return None  # the others go on without it
        self._seen[key] = _Seen(posterior, solution, len(data), margin)
        return self._seen[key]

    def _margin(self, data: Comparisons) -> float:
        """The margin in units of the noise: 0 without ties, else learned with the best typical model."""
        if self.margin is not None or not data.has_ties:
            return 0.0
        guess = Probit(self.noise or TYPICAL_NOISE, self.noise or TYPICAL_NOISE)
        kernels = [self._standard(typical(structure, self.features)) for structure in GRID]
        kernel = max(kernels, key=lambda kernel: self.given.evidence(kernel, data, guess))
        learned = maximise(kernel, data, guess, self.inference, learn_kernel=False, learn_margin=True)
        ratio = learned.probit.margin / learned.probit.noise
        return float(
            np.exp(0.1 * np.round(10 * np.log(ratio)))
        )  # in steps of a tenth, so that members may rest


def _leading(
    shares: dict[Key, float], kind: dict[Key, str], structures: dict[str, float]
) -> dict[Key, float]:
    """The few members that stand for all: the heaviest of each structure, then the heaviest of all.

    Within a structure they share its whole weight, so that many small members are not lost against one.
    """
    ranked = sorted(shares, key=lambda key: (-shares[key], key))
    ranked = [key for key in ranked if structures[kind[key]] >= NEGLIGIBLE]
    first = [k for s in structures for k in [k for k in ranked if kind[k] == s][:PER_STRUCTURE]]
    chosen = [*first, *(key for key in ranked if key not in first)][: max(LEADING, len(first))]
    spoken_for = {s: sum(shares[key] for key in chosen if kind[key] == s) for s in structures}
    weights = {key: shares[key] / spoken_for[kind[key]] * structures[kind[key]] for key in chosen}
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items()}


def _continues(old: Comparisons, new: Comparisons) -> bool:
    """Whether one of the two is the beginning of the other."""
    n = min(len(old), len(new))
    pairs = ((old.winners, new.winners), (old.losers, new.losers), (old.tied, new.tied))
    return all(np.array_equal(a[:n], b[:n]) for a, b in pairs)
