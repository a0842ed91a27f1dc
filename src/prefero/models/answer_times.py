"""Answer times in the likelihood: slow answers are about close trajectories.

    t           seconds that an answer took
    d           f(winner) - f(loser)
    law         log t ~ N(start - fall |d|, std^2), with three numbers of the person's own, learned from
                their answers and times
    cavity      the posterior of a difference without its own answer and time
    tilted      the cavity times the likelihoods of the answer and of its time

The law is fitted to a posterior without times, by maximum likelihood with weak priors, and used only where it
explains the times clearly better than times that have nothing to do with differences. EP then takes the times
up: its tilted moments are sums over a grid around the moments without the time, since |d| has a kink. A
precision is never negative.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from prefero._support.arrays import Array, one_thread
from prefero.models.inference import Inference
from prefero.models.likelihood import LOG_SQRT_2PI
from prefero.models.linalg import posterior_mean, precision_factor, triangular_inverse
from prefero.models.mixture import MixturePosterior
from prefero.models.posterior import Posterior
from prefero.questions import Comparisons

NODES = np.linspace(-6.0, 6.0, 97)  # standard deviations of the tilted distribution without the time
FALL_PRIOR, STD_PRIOR = 1.0, (0.5, 0.5)  # standard deviation; and of log std, its mean's exponential
CLEAR = 3.0  # by how much the law's log-likelihood must exceed that of times without meaning
FEWEST = 8  # answers with times
SWEEPS, DAMPING, TOLERANCE = 40, 0.6, 1e-4
FASTEST = 0.05  # seconds

Fitted = Posterior | MixturePosterior


@dataclass(frozen=True)
class TimeLaw:
    """log t ~ N(start - fall |d|, std^2).

    Args:
        start: The mean of the logarithm of the seconds for trajectories that are equally good.
        fall: By how much it falls when the difference of rewards grows by 1.
        std: The standard deviation of the logarithm.
    """

    start: float
    fall: float
    std: float

    def log(self, log_seconds: Array, d: Array) -> Array:
        """The log density of times, for differences with one more axis: (N,), (N, K) -> (N, K)."""
        z = (log_seconds[:, None] - self.start + self.fall * np.abs(d)) / self.std
        return np.asarray(-0.5 * z**2 - np.log(self.std) - LOG_SQRT_2PI)


def check_timed(data: Comparisons, inference: Inference) -> None:
    """An error where a model cannot learn from the times of these answers."""
    way_out = "leave the times out, or"
    if data.seconds is None:
        return
    if inference != "ep":
        raise ValueError(
            f"answer times are learned from with expectation propagation, not with {inference!r}: "
            f"{way_out} set inference='ep'"
        )
    if data.has_people:
        raise ValueError(
            "answer times are learned from one person's answers, but several people answered: "
            f"{way_out} learn each person alone"
        )
    if data.rows is not None:
        raise ValueError(
            "answer times are learned from answers about pairs without a strength, but some are of other "
            f"kinds: {way_out} these answers"
        )


@one_thread
def with_answer_times(posterior: Fitted, seconds: Array) -> tuple[Fitted, TimeLaw | None]:
    """The posterior that also knows how long each answer took; the same, where times say nothing.

    Args:
        posterior: Fitted to one person's answers about pairs, by EP.
        seconds: Of each answer, (N,); nan where it is not known.

    Returns:
        The posterior with the times in its sites, and the law of the person's times; None if there is none.
    """
    parts = posterior.components if isinstance(posterior, MixturePosterior) else ((1.0, posterior),)
    times = np.log(np.maximum(seconds, FASTEST))
    law = fit_law(parts[0][1], times)
    if law is None:
        return posterior, None
    timed = tuple((weight, _timed(part, times, law)) for weight, part in parts)
    if isinstance(posterior, MixturePosterior):
        return replace(posterior, components=timed), law
    return timed[0][1], law


def fit_law(part: Posterior, log_seconds: Array) -> TimeLaw | None:
    """The law that explains the times best; None with few times, or if times seem to mean nothing."""
    known = np.flatnonzero(np.isfinite(log_seconds))
    if len(known) < FEWEST:
        return None
    nodes, log_weights = _without_times(part)
    from scipy.optimize import minimize  # slow to import, and seldom needed

    times, nodes, log_weights = log_seconds[known], nodes[known], log_weights[known]
    center, std = float(np.mean(times)), float(np.std(times)) + 0.05

    def loss(values: Array) -> float:
        law = TimeLaw(values[0], abs(values[1]), float(np.exp(values[2])))
        explained = float(np.sum(logsumexp(law.log(times, nodes) + log_weights, axis=1)))
        prior = 0.5 * (values[1] / FALL_PRIOR) ** 2
        prior += 0.5 * ((values[2] - np.log(STD_PRIOR[0])) / STD_PRIOR[1]) ** 2
        return float(prior) - explained

    plain = loss(np.array([center, 0.0, np.log(std)]))
    start = np.array([center + 0.3, 0.3, np.log(std)])
    found = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-3})
    if plain - found.fun < CLEAR:
        return None
    return TimeLaw(float(found.x[0]), abs(float(found.x[1])), float(np.exp(found.x[2])))


def _moments(part: Posterior, tau: Array, nu: Array) -> tuple[Array, Array, Array, Array]:
    """Factor, u_mean, mean and variance of the differences that these sites give."""
    basis = np.asarray(part.cholesky.basis)
    factor = precision_factor(basis, tau)
    u_mean = posterior_mean(basis, factor, nu)
    return factor, u_mean, basis @ u_mean, np.sum((basis @ triangular_inverse(factor).T) ** 2, axis=1)


def _nodes(
    part: Posterior, tau: Array, nu: Array, mean: Array, variance: Array
) -> tuple[Array, Array, Array, Array]:
    """Cavity mean and variance, and nodes (N, K) with log weights that integrate the answer's likelihood."""
    rest = np.maximum(1.0 - tau * variance, 1e-9)
    m, v = (mean - nu * variance) / rest, np.maximum(variance / rest, 1e-12)
    tilted = part.probit(m, part.data.tied, v)
    center = m + v * tilted.gradient
    width = np.sqrt(np.maximum(v * (1.0 - v * tilted.curvature), 1e-12))
    d = center[:, None] + width[:, None] * NODES
    tied = np.repeat(part.data.tied, len(NODES))
    answer = part.probit(d.ravel(), tied).log.reshape(d.shape)
    return m, v, d, answer - 0.5 * (d - m[:, None]) ** 2 / v[:, None]


def _without_times(part: Posterior) -> tuple[Array, Array]:
    """Nodes of each difference given all answers, with log weights that add up to 1."""
    tau, nu = np.maximum(part.sites[0], 0.0), part.sites[1]
    _, _, mean, variance = _moments(part, tau, nu)
    _, _, d, log = _nodes(part, tau, nu, mean, variance)
    return d, log - logsumexp(log, axis=1, keepdims=True)


def _timed(part: Posterior, log_seconds: Array, law: TimeLaw) -> Posterior:
    """EP with the likelihood of the times, from the sites without them."""
    tau, nu, known = np.maximum(part.sites[0], 0.0), part.sites[1].copy(), np.isfinite(log_seconds)
    for _ in range(SWEEPS):
        _, _, mean, variance = _moments(part, tau, nu)
        m, v, d, log = _nodes(part, tau, nu, mean, variance)
        log = log + np.where(known[:, None], law.log(np.where(known, log_seconds, 0.0), d), 0.0)
        weights = np.exp(log - logsumexp(log, axis=1, keepdims=True))
        center = np.sum(weights * d, axis=1)
        variance = np.maximum(np.sum(weights * (d - center[:, None]) ** 2, axis=1), 1e-12)
        new_tau = np.maximum(1.0 / variance - 1.0 / v, 0.0)
        new_nu = np.where(new_tau > 0, center / variance - m / v, (center - m) / v)
        change = np.max(np.abs(center - mean) / np.sqrt(variance + 1e-12), initial=0.0)
        tau, nu = tau + DAMPING * (new_tau - tau), nu + DAMPING * (new_nu - nu)
        if change < TOLERANCE:
            break
    factor, u_mean, _, _ = _moments(part, tau, nu)
    return replace(part, sites=(tau, nu), factor=factor, u_mean=u_mean)
