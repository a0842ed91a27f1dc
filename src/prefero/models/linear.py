"""The linear baseline: a reward w . x with |w| = 1, its posterior by Markov chain Monte Carlo.

    w            (S, d)    samples of the unit weights, all of the same weight in the posterior
    differences  (N, d)    winners - losers: the answers' probability given w is Phi(w . difference / scale),
                           or that with lapses

This is the paper's ActiveLinear (after Biyik et al., "Asking Easy Questions", 2019): the prior is uniform
over directions, and the mutual information of a question is estimated from samples of the posterior. A sample
is a Gaussian without variance, so the posterior is a mixture like any other and the same search finds its
questions.

The samples are by elliptical slice sampling (Murray, Adams & MacKay, 2010) of a normal vector whose direction
is w, with many chains in parallel. The ellipses are about a Gaussian near the posterior, that of expectation
propagation for a linear reward, and not about the prior, where most proposals would be rejected (Nishihara,
Murray & Adams, 2014).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import cholesky, solve_triangular
from scipy.special import log_ndtr, logsumexp

from prefero._support.arrays import AnyArray, Array, Flags, like, one_thread
from prefero.kernels import Linear, Parameterless
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.models.preference_gp import PreferenceModel
from prefero.questions import Comparisons
from prefero.trajectories.features import Scaling, feature_matrix

WIDER = (
    1.5  # the Gaussian of the ellipses has more variance than the posterior, so that chains reach its tails
)
TINY = 1e-12


@dataclass(frozen=True)
class ZeroKernel(Parameterless):
    """No covariance: the reward is known."""

    def rowwise(self, x: AnyArray, y: AnyArray) -> AnyArray:
        """Zeros."""
        return 0.0 * (x + y)[..., 0]

    def input_gradient(self, x: Array, y: Array) -> Array:
        """Zeros."""
        return np.zeros((len(x), *y.shape))


@dataclass(frozen=True, eq=False)
class WeightSample:
    """One sample of the weights, as a Gaussian without variance."""

    weights: Array
    probit: Probit
    kernel: ZeroKernel = field(default_factory=ZeroKernel)

    def project(self, x: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Mean (M,), and `learned` (M, 0)."""
        return x @ like(self.weights, x), x[:, :0]


@dataclass(frozen=True, eq=False, repr=False)
class LinearPosterior:
    """Samples of the weights of a linear reward. Call it with features for a mean and a covariance.

    Args:
        weights: The samples, unit vectors, (draws, d).
        probit: The likelihood of answers.
        effective_sample_size: How many independent samples they are worth.
        scaling: Of the features that it was fitted to.
        log_evidence: The log marginal likelihood of the answers.
    """

    weights: Array
    probit: Probit
    effective_sample_size: float
    scaling: Scaling | None = None  # what scaled the features that it was fitted to; None: they are raw
    log_evidence: float = float("nan")

    def __repr__(self) -> str:
        count, effective = len(self.weights), self.effective_sample_size
        return f"LinearPosterior({count} samples, {effective:.0f} effective, {self.probit})"

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.weights.shape[1])

    @property
    def components(self) -> tuple[tuple[float, WeightSample], ...]:
        """The samples as a mixture."""
        weight = 1.0 / len(self.weights)
        return tuple((weight, WeightSample(w, self.probit)) for w in self.weights)

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and covariance (M, M) of the rewards of x."""
        mean, centered = self._centered(x)
        return mean, centered.T @ centered / len(self.weights)

    def marginals(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and variance (M,) of the rewards of x."""
        mean, centered = self._centered(x)
        return mean, np.mean(centered**2, axis=0)

    def difference(self, a: Array, b: Array) -> tuple[Array, Array]:
        """Mean and variance of f(a) - f(b), row by row."""
        return self.marginals(a - b)

    def probability(self, a: Array, b: Array) -> Array:
        """P(a is preferred to b), row by row."""
        first, _ = self.probit.probabilities(self.weights @ (a - b).T, 0.0)
        averaged: Array = first.mean(axis=0)
        return averaged

    def sample(self, x: Array, count: int, rng: np.random.Generator) -> Array:
        """Joint samples of the rewards of x, shape (count, M)."""
        return self.weights[rng.integers(len(self.weights), size=count)] @ x.T

    def _centered(self, x: Array) -> tuple[Array, Array]:
        rewards = self.weights @ x.T
        mean: Array = rewards.mean(axis=0)
        return mean, rewards - mean


class LinearPreference(PreferenceModel):
    """Learns a linear reward from pairwise comparisons; with the interface of `PreferenceGP`.

    Args:
        noise: The paper's sigma.
        margin: Differences that look smaller than this are answered "about equal".
        draws: How many samples of the weights.
        seed: Of the samples.
        lapse: The lapse rate, the probability of an answer at random.
    """

    def __init__(
        self, noise: float = 0.1, margin: float = 0.0, draws: int = 100, seed: int = 0, lapse: float = 0.0
    ) -> None:
        self.noise = noise
        self.margin = margin
        self.draws = draws
        self.seed = seed
        self.lapse = lapse

    @property
    def learns_from_all_kinds(self) -> bool:
        """Whether it can learn from answers other than plain pairs: it cannot."""
        return False

    @property
    def has_lapses(self) -> bool:
        """Whether some answers may be at random."""
        return self.lapse > 0

    def fit(self, items: npt.ArrayLike, pairs: npt.ArrayLike, ties: npt.ArrayLike | None = None) -> Self:
        """Learn from answers about rows of features.

        Args:
            items: The features, (M, d).
            pairs: For each answer the index of the winner, then of the loser, (N, 2).
            ties: Pairs that were answered "about equal", (T, 2).

        Returns:
            The model itself.
        """
        return self.fit_comparisons(Comparisons.of(feature_matrix(items), pairs, ties))

    def fit_comparisons(self, data: Comparisons, reference: Array | None = None) -> Self:  # noqa: ARG002
        """Learn from comparisons of features; the weights' prior does not depend on a reference."""
        if data.rows is not None:
            raise ValueError("LinearPreference learns from answers about pairs: take PreferenceGP for others")
        if data.has_ties and not self.margin:
            raise ValueError("some answers are 'about equal': give LinearPreference a positive margin")
        if self.draws < 2:
            raise ValueError(f"draws must be 2 or more, but is {self.draws}")
        probit = Probit(self.noise, self.margin, self.lapse)
        self.posterior_ = sample_weights(data, probit, self.draws, np.random.default_rng(self.seed))
        self.log_evidence_ = self.posterior_.log_evidence
        self.noise_, self.margin_, self.lapse_ = self.noise, self.margin, self.lapse
        self.n_features_in_ = data.winners.shape[1]
        return self


@one_thread
def sample_weights(
    data: Comparisons, probit: Probit, draws: int, rng: np.random.Generator, steps: int = 30
) -> LinearPosterior:
    """Samples of the unit weights given the answers: the last positions of as many chains."""
    d = data.winners.shape[1]
    posterior = infer((1 / d) * Linear(), data, probit).posterior  # weights of length about 1
    center, covariance = posterior(np.eye(d))
    root = cholesky(WIDER * covariance + TINY * np.eye(d), lower=True)
    whiten = solve_triangular(root, np.eye(d), lower=True)
    away = data.winners - data.losers

    def log_weight(vectors: Array) -> Array:
        """log of (a normal vector whose direction has the answers' likelihood) / (the Gaussian)."""
        inner = (vectors - center) @ whiten.T
        normal = 0.5 * (np.sum(inner**2, axis=1) - d * np.sum(vectors**2, axis=1))
        weight: Array = _log_likelihood(vectors, away, data.tied, probit) + normal
        return weight

    vectors = center + rng.standard_normal((draws, d)) @ root.T
    path = np.empty((steps, draws, d))
    for step in range(steps):
        vectors = _slice_step(vectors, center, root, log_weight, rng)
        path[step] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    effective = effective_sample_size(path[steps // 2 :])
    return LinearPosterior(path[-1], probit, min(effective, float(draws)), data.scaling)


def _log_likelihood(vectors: Array, away: Array, tied: Flags, probit: Probit) -> Array:
    """log P(answers | weights) of every chain, shape (chains,)."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    d = unit @ away.T
    z = (d[:, ~tied] - probit.margin) / probit.scale
    total = probit.log_with_lapses(log_ndtr(z)).sum(axis=1)
    if tied.any():
        away_from = np.abs(d[:, tied])  # symmetric, and seen from this side neither end rounds to 1
        ends = [log_ndtr((sign * probit.margin - away_from) / probit.scale) for sign in (1.0, -1.0)]
        within = logsumexp(np.stack(ends), axis=0, b=np.array([1.0, -1.0])[:, None, None])
        total += probit.log_with_lapses(within).sum(axis=1)
    return np.asarray(total)


def _slice_step(
    vectors: Array,
    center: Array,
    root: Array,
    log_weight: Callable[[Array], Array],
    rng: np.random.Generator,
) -> Array:
    """One elliptical slice step of every chain: shrink the bracket of angles until accepted."""
    fresh, from_center = rng.standard_normal(vectors.shape) @ root.T, vectors - center
    floor = log_weight(vectors) - rng.exponential(size=len(vectors))
    angle = rng.uniform(0.0, 2.0 * np.pi, len(vectors))
    low, high = angle - 2.0 * np.pi, angle.copy()
    moved, waiting = vectors.copy(), np.arange(len(vectors))
    while len(waiting):
        turn = angle[waiting, None]
        tried = center + from_center[waiting] * np.cos(turn) + fresh[waiting] * np.sin(turn)
        good = log_weight(tried) >= floor[waiting]
        moved[waiting[good]] = tried[good]
        waiting = waiting[~good]
        back = angle[waiting] < 0
        low[waiting[back]], high[waiting[~back]] = angle[waiting[back]], angle[waiting[~back]]
        angle[waiting] = rng.uniform(low[waiting], high[waiting])
    return moved


def effective_sample_size(path: Array) -> float:
    """The effective sample size of all positions of all chains, in the worst coordinate.

    path   (steps, chains, d)   compares the scatter between chains' means with that of all positions:
    independent positions would give a ratio of 1 / steps.
    """
    steps, chains, _ = path.shape
    total, between = path.reshape(steps * chains, -1).var(axis=0), path.mean(axis=0).var(axis=0, ddof=1)
    ratio = np.max(np.where(total > 0, between / np.maximum(total, 1e-300), 1.0 / steps))
    return float(chains / max(ratio, 1.0 / steps))
