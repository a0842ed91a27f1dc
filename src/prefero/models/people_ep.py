"""Expectation propagation for many people, in time and memory that are linear in their number.

The reward of a person is f_p = g + h_p: what all people share, and what is the person's own. Both are sums of
the same r basis functions, with weights w_g ~ N(0, S_g) and w_p ~ N(0, S_h):

    A           (n, r)    of a person: the answered differences are d = A (w_g + w_p)
    B           (n, n)    A S_h A.T, the prior covariance of the person's own part
    level       a noise and a lapse rate; every person has one of them, with the common prior `chances`
    tau, nu     (K, n)    sites of the answers at each level: exp(nu d - tau d^2 / 2)
    P, s        (n, n)    the message of a person to w_g: exp(s . A w_g - (A w_g) . P A w_g / 2)
    m, C                  mean and covariance of A w_g without the person's own message (the cavity)
    G           (n, n)    C + B, the covariance of d without the person's own answers
    Q, q                  (G + diag(tau)^-1)^-1, and Q (nu / tau - m): given a level, what is learned of any x
                          is Cov[x, d] q for its mean and - Cov[x, d] Q Cov[d, x] for its covariance

Given w_g the people are independent, so that the precision of all weights together has the shape of an arrow:
one dense block for w_g, and one small block for each person. A person is one factor of EP: inside it the
sites of the answers are found at each level, and the mixture of the levels is replaced by the Gaussian with
its moments. With one level this has the fixed points of EP on all answers at once.

People with about as many answers are computed together (a `Block`); missing answers are rows of zeros.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import logsumexp

from prefero._support.arrays import Array
from prefero.models.answer_levels import NO_TIES, Level, Margin
from prefero.models.likelihood import Likelihood, Probit
from prefero.models.linalg import symmetric
from prefero.models.people_blocks import Block
from prefero.models.person_weights import PersonWeights

MOST_CERTAIN = 1.0 - 1e-9  # of what the others leave open, a person's message explains at most this share


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """What all people have in common besides w_g.

    Args:
        shared: A root of S_g: S_g = shared @ shared.T, (r, r').
        own: S_h, (r, r).
        levels: Noises and lapse rates.
        chances: The prior probability of each level, (K,).
        margin: Of "about equal".
    """

    shared: Array
    own: Array
    levels: tuple[Level, ...]  # the careless ones come last
    chances: Array
    margin: Margin = NO_TIES

    def changed(self, **values: Array) -> "Hyperparameters":
        """The same with other values of some."""
        return replace(self, **values)  # type: ignore[arg-type]


@dataclass(eq=False)
class _Sites:
    """What EP knows of the people of a block, from one sweep to the next."""

    tau: Array  # (K, P, n)
    nu: Array
    P: Array  # (P, n, n)
    s: Array  # (P, n)
    residual: float = np.inf


@dataclass(frozen=True, eq=False)
class PeopleGiven:
    """Of the people of a block, given the answers of all: `weights` (P, K), `Q` (K, P, n, n), `q` (K, P, n).

    `log_z` (P,) are the log-probabilities of each person's answers, given all other people.
    """

    weights: Array
    Q: Array
    q: Array
    log_z: Array
    cavity: tuple[Array, Array]  # of each answer without its own site, (K, P, n)


@dataclass(eq=False)
class PeopleEP:
    """EP over people; `run` sweeps until nothing changes, and goes on after the hyper-parameters changed."""

    blocks: Sequence[Block]
    hyper: Hyperparameters
    damping: float = 1.0
    sites: list[_Sites] = field(default_factory=list)
    given: list[PeopleGiven] = field(default_factory=list)

    def __post_init__(self) -> None:
        levels = len(self.hyper.levels)
        if not self.sites:
            self.sites = [_nothing_known(levels, block) for block in self.blocks]
        self.given = []
        self._own()
        self._group()

    def use(self, hyper: Hyperparameters) -> None:
        """Go on with other hyper-parameters of the same levels."""
        changed = hyper.own is not self.hyper.own
        self.hyper = hyper
        if changed:
            self._own()
        self._group()

    def _own(self) -> None:
        own = self.hyper.own
        self.B = [_sandwich(block.A, own) for block in self.blocks]
        for B, block in zip(self.B, self.blocks, strict=True):
            places = np.arange(B.shape[-1])
            B[:, places, places] += block.extra

    def _group(self) -> None:
        """The posterior of w_g: mean `mu` and covariance `V`."""
        root = self.hyper.shared
        r = len(root)
        precision, shift = np.zeros((r, r)), np.zeros(r)
        for block, sites in zip(self.blocks, self.sites, strict=True):
            flat = block.A.reshape(-1, r)
            precision += flat.T @ (sites.P @ block.A).reshape(-1, r)
            shift += flat.T @ sites.s.ravel()
        inner = np.eye(root.shape[1]) + root.T @ precision @ root
        factor = np.linalg.cholesky(0.5 * (inner + inner.T))
        half = np.linalg.solve(factor, root.T)
        self.V, self.mu = half.T @ half, half.T @ (half @ shift)
        self._log_det = 2.0 * float(np.sum(np.log(factor.diagonal())))
        self._fit = float(shift @ self.mu)

    def run(self, tolerance: float = 1e-4, limit: int = 100) -> int:
        """Sweep until sites and messages change by less than `tolerance`; returns the number of sweeps."""
        for sweep in range(1, limit + 1):
            self.sweep()
            if max((sites.residual for sites in self.sites), default=0.0) <= tolerance:
                return sweep
        return limit

    def sweep(self) -> None:
        """Update the sites and the message of every person, and then the group."""
        self.given, self._log_c = [], 0.0
        for block, sites, B in zip(self.blocks, self.sites, self.B, strict=True):
            m, C = self._cavity(block, sites)
            found = _infer(block, sites, m, C + B, self.hyper)
            self._log_c += _send(sites, found, m, C, self.damping)
            self.given.append(found)
        self._group()

    def _cavity(self, block: Block, sites: _Sites) -> tuple[Array, Array]:
        C = _sandwich(block.A, self.V)
        rest = np.eye(C.shape[-1]) - C @ sites.P
        m = block.A @ self.mu - _times(C, sites.s)
        return _solve(rest, m[..., None])[..., 0], symmetric(_solve(rest, C))

    @property
    def log_evidence(self) -> float:
        """EP's log marginal likelihood of the answers, at a fixed point."""
        return self._log_c + 0.5 * self._fit - 0.5 * self._log_det

    @property
    def own_statistics(self) -> tuple[Array, Array]:
        """The sums over people of A.T E[q q.T] A and of A.T E[Q] A, (r, r) each.

        With E and I the means of these over people, S_h + S_h (E - I) S_h is the mean of E[w_p w_p.T], and
        S_h I S_h is by how much answers lower the covariance of w_p.
        """
        r = len(self.hyper.own)
        second, known = np.zeros((r, r)), np.zeros((r, r))
        for block, found in zip(self.blocks, self.given, strict=True):
            weights, flat = found.weights.T, block.A.reshape(-1, r)
            squares = np.einsum("kp,kpi,kpj->pij", weights, found.q, found.q, optimize=True)
            second += flat.T @ (squares @ block.A).reshape(-1, r)
            known += flat.T @ (np.einsum("kp,kpij->pij", weights, found.Q) @ block.A).reshape(-1, r)
        return symmetric(second), symmetric(known)

    @property
    def level_weights(self) -> Array:
        """The sum over people of the probabilities of their levels, (K,)."""
        return np.asarray(np.sum([found.weights.sum(axis=0) for found in self.given], axis=0))

    def people(self) -> Iterator[tuple[int, PersonWeights]]:
        """The posterior of every person who answered: number, and w_g + w_p at each level."""
        for block, sites, found in zip(self.blocks, self.sites, self.given, strict=True):
            for place, person in enumerate(block.people.tolist()):
                yield person, self._person(block.A[place], sites, found, place)

    @property
    def newcomer(self) -> PersonWeights:
        """Somebody without answers."""
        levels, r = len(self.hyper.levels), len(self.mu)
        nothing = np.zeros((0, r)), self.hyper.chances, np.zeros((levels, 0, 0)), np.zeros((levels, 0))
        return PersonWeights(self.mu, self.V + self.hyper.own, *nothing)

    def _person(self, A: Array, sites: _Sites, found: PeopleGiven, place: int) -> PersonWeights:
        P, s = sites.P[place], sites.s[place]
        VA = self.V @ A.T
        C, m = A @ VA, A @ self.mu
        open_ = np.linalg.inv(np.eye(len(C)) - P @ C)
        mu = self.mu + VA @ (open_ @ (P @ m - s))
        prior = self.V + VA @ symmetric(open_ @ P) @ VA.T + self.hyper.own
        return PersonWeights(mu, prior, A, found.weights[place], found.Q[:, place], found.q[:, place])


def _nothing_known(levels: int, block: Block) -> _Sites:
    P, n = block.rows.shape
    empty = np.zeros((levels, P, n))
    return _Sites(empty, empty.copy(), np.zeros((P, n, n)), np.zeros((P, n)))


def _infer(block: Block, sites: _Sites, m: Array, G: Array, hyper: Hyperparameters) -> PeopleGiven:
    """What the sites say of each person at each level, given all other people; then the sites are updated."""
    attentive = [hyper.margin.probit(level) for level in hyper.levels if not level.is_careless]
    log_z = np.empty((len(block.people), len(hyper.levels)))
    at, log_z[:, : len(attentive)] = _update_sites(block, sites, m, G, attentive)
    log_z[:, len(attentive) :] = -np.log(hyper.margin.n_answers) * block.given.sum(axis=1)[:, None]
    joint = log_z + np.log(hyper.chances)
    total = logsumexp(joint, axis=1)
    weights = np.exp(joint - total[:, None])
    return PeopleGiven(weights, at.Q, at.q, total, at.cavity)


@dataclass(frozen=True, eq=False)
class _Moments:
    """Of the differences of each person at each level, given the sites, (K, P, n) and with another n."""

    Q: Array
    q: Array
    mean: Array
    variance: Array
    log_det: Array  # of I + G diag(tau), (K, P)
    cavity: tuple[Array, Array]

    @classmethod
    def of(cls, sites: _Sites, m: Array, G: Array) -> "_Moments":
        tau, nu, places = sites.tau, sites.nu, np.arange(G.shape[-1])
        root = np.sqrt(tau)
        inner = root[..., :, None] * G * root[..., None, :]
        inner[..., places, places] += 1.0
        Q = root[..., :, None] * np.linalg.inv(inner) * root[..., None, :]
        s = nu - tau * m
        q = s - _times(Q, _times(G, s))
        mean = m + _times(G, q)
        variance = G[..., places, places] - np.einsum("kpij,pij->kpi", G @ Q, G)
        rest = np.maximum(1.0 - tau * variance, 1.0 - MOST_CERTAIN)
        cavity = (mean - nu * variance) / rest, variance / rest
        return cls(Q, q, mean, variance, np.linalg.slogdet(inner)[1], cavity)


def _update_sites(
    block: Block, sites: _Sites, m: Array, G: Array, probits: Sequence[Probit]
) -> tuple[_Moments, Array]:
    """A parallel sweep over the answers; precisions are never negative, see `prefero.models.ep`.

    Returns the moments before it, and EP's log-probability of each person's answers, (P, K).
    """
    at, given, tied = _Moments.of(sites, m, G), block.given, block.tied.ravel()
    log_z, off = np.empty((len(given), len(probits))), 0.0
    for k, probit in enumerate(probits):
        center, variance = at.cavity[0][k], at.cavity[1][k]
        found = probit(center.ravel(), tied, variance.ravel())
        tilted = Likelihood(*(values.reshape(center.shape) for values in found))
        terms = _log_terms(tilted.log, sites.tau[k], sites.nu[k], center, variance, m, at.mean[k])
        log_z[:, k] = np.sum(np.where(given, terms, 0.0), axis=1) - 0.5 * at.log_det[k]
        left_over = 1.0 - variance * tilted.curvature
        bounded = tilted.curvature < 0.0  # only with lapses: a site of precision 0 that matches the mean
        tau = np.where(given & ~bounded, tilted.curvature / left_over, 0.0)
        nu = np.where(bounded, tilted.gradient, (tilted.gradient + center * tilted.curvature) / left_over)
        nu = np.where(given, nu, 0.0)
        change = np.abs(nu - sites.nu[k] - at.mean[k] * (tau - sites.tau[k])) * np.sqrt(at.variance[k])
        off = max(off, float(np.max(change, initial=0.0)))
        sites.tau[k], sites.nu[k] = tau, nu
    sites.residual = off
    return at, log_z


def _log_terms(
    log: Array, tau: Array, nu: Array, center: Array, variance: Array, m: Array, mean: Array
) -> Array:
    """The terms of log Z_EP (GPML 3.65) that belong to one answer, for a prior of mean m."""
    shared = 1.0 + tau * variance
    terms = log + 0.5 * np.log(shared)
    terms -= 0.5 * (2.0 * center * nu + nu**2 * variance - tau * center**2) / shared
    terms += nu * m - 0.5 * tau * m**2 + 0.5 * (nu - tau * m) * (mean - m)
    return terms


def _send(sites: _Sites, found: PeopleGiven, m: Array, C: Array, damping: float) -> float:
    """Each person's new message to w_g; returns the sum of the log constants of these factors."""
    weights = found.weights.T
    q = np.einsum("kp,kpi->pi", weights, found.q)
    around = found.q - q
    Q = np.einsum("kp,kpij->pij", weights, found.Q)
    Q -= np.einsum("kp,kpi,kpj->pij", weights, around, around, optimize=True)
    Q = _proper(Q)
    rest = np.eye(C.shape[-1]) - C @ Q
    P = symmetric(_solve(np.swapaxes(rest, 1, 2), Q))
    s = _times(P, m + _times(C, q)) + q
    off = np.abs(_times(C, s - sites.s)) / np.sqrt(1e-12 + np.einsum("pii->pi", C))
    sites.residual = max(sites.residual, float(off.max(initial=0.0)))
    sites.P += damping * (P - sites.P)
    sites.s += damping * (s - sites.s)
    e = s - _times(P, m)
    log_mass = np.sum(s * m, axis=1) - 0.5 * np.sum(m * _times(P, m), axis=1)
    log_mass += 0.5 * np.sum(e * _times(C, q), axis=1) + 0.5 * np.linalg.slogdet(rest)[1]
    return float(np.sum(found.log_z) - np.sum(log_mass))


def _proper(Q: Array) -> Array:
    """Q without negative eigenvalues: levels that disagree may leave more open than there was before."""
    values, vectors = np.linalg.eigh(symmetric(Q))
    if values.min(initial=0.0) >= 0.0:
        return Q
    return np.asarray((vectors * np.maximum(values, 0.0)[:, None, :]) @ np.swapaxes(vectors, 1, 2))


def _sandwich(A: Array, S: Array) -> Array:
    """A S A.T of every person, (P, n, n)."""
    flat = A.reshape(-1, A.shape[-1]) @ S
    return flat.reshape(A.shape) @ np.swapaxes(A, 1, 2)


def _solve(matrix: Array, right: Array) -> Array:
    return np.asarray(np.linalg.solve(matrix, right), dtype=float)


def _times(matrix: Array, vector: Array) -> Array:
    return (matrix @ vector[..., None])[..., 0]


def left_out(block: Block, found: PeopleGiven, hyper: Hyperparameters) -> Array:
    """1 / the probability of each answer given all others, in expectation over the levels, (P, n)."""
    total = np.zeros(block.rows.shape)
    for k, level in enumerate(hyper.levels):
        if level.is_careless:
            inverse = np.full(block.rows.shape, float(hyper.margin.n_answers))
        else:
            center, variance = (moment[k].ravel() for moment in found.cavity)
            log = hyper.margin.probit(level)(center, block.tied.ravel(), variance).log
            inverse = np.exp(-log).reshape(block.rows.shape)
        total += found.weights[:, k, None] * inverse
    return total
