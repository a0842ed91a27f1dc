"""The posterior of one person's reward among many people's; `prefero.models.people.ep` has the notation."""

from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array
from prefero.models.algebra.linalg import symmetric


@dataclass(frozen=True, eq=False)
class PersonWeights:
    """The posterior of a person's weights w_g + w_p: a Gaussian under each response model.

    Args:
        mu: The mean without the person's own answers, (r,).
        prior: The covariance without them, (r, r).
        A: The person's differences, (n, r).
        weights: The probability of each response model, (K,).
        Q: (K, n, n).
        q: (K, n).
    """

    mu: Array
    prior: Array
    A: Array
    weights: Array
    Q: Array
    q: Array

    def at(self, response: int) -> tuple[Array, Array]:
        """Mean (r,) and covariance (r, r) under a response model."""
        cross = self.prior @ self.A.T
        return self.mu + cross @ self.q[response], symmetric(self.prior - cross @ self.Q[response] @ cross.T)

    def differences(self, a: Array) -> tuple[Array, Array]:
        """Mean and variance of a @ (w_g + w_p) under each response model, for rows a (M, r): (K, M) each."""
        cross = a @ self.prior
        learned = cross @ self.A.T
        mean = a @ self.mu + self.q @ learned.T
        variance = np.sum(cross * a, axis=1) - np.einsum("mi,kij,mj->km", learned, self.Q, learned)
        return mean, np.maximum(variance, 0.0)

    def with_group(self, a: Array, own: Array) -> tuple[Array, Array, Array]:
        """Mean and variance of a @ (w_g + w_p), and what of the variance a @ w_g explains: (K, M) each.

        `own` is S_h.
        """
        mean, variance = self.differences(a)
        group = self.prior - own
        to_person, to_group = a @ self.prior @ self.A.T, a @ group @ self.A.T
        between = np.sum((a @ group) * a, axis=1)
        with_person = between - np.einsum("mi,kij,mj->km", to_group, self.Q, to_person)
        of_group = between - np.einsum("mi,kij,mj->km", to_group, self.Q, to_group)
        explained = with_person**2 / np.maximum(of_group, 1e-12)
        return mean, variance, np.minimum(explained, variance)
