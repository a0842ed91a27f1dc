"""The default model's posterior over rewards: a mixture of Gaussians, one for each candidate that counts.

Which candidates there are, and how they are weighted, is decided by `prefero.models.averaging.fitter`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array, as_probabilities
from prefero._support.sentences import percent, pluralize
from prefero.models.likelihood.probit import Probit
from prefero.models.posterior.gaussian import Posterior
from prefero.models.posterior.structure_names import DESCRIPTIONS, GIVEN, LABELS
from prefero.trajectories.features import Scaling

ENOUGH_ANSWERS = 5  # with fewer, a posterior is little more than its prior, and nothing is said about it
SURE = 0.6  # probability of a structure that is named


@dataclass(frozen=True, eq=False, repr=False)
class MixturePosterior:
    """A mixture of Gaussians over rewards. Call it with features for a mean and a covariance.

    Args:
        components: Posteriors with their weights.
        structures: The posterior probability of each structure, by its name.
        log_evidence: The log marginal likelihood of the answers.
    """

    components: tuple[tuple[float, Posterior], ...]
    structures: dict[str, float]  # the posterior probability of each structure
    log_evidence: float

    def __post_init__(self) -> None:
        unknown = set(self.structures) - {*DESCRIPTIONS, GIVEN}
        if unknown:
            raise ValueError(
                f"there is no structure {min(unknown)!r}: the structures are {', '.join(DESCRIPTIONS)}"
            )

    @property
    def probit(self) -> Probit:
        """The likelihood of answers, with all its numbers averaged over the components."""
        each = [(weight, one.probit) for weight, one in self.components]
        cut_points = sum(weight * np.array(probit.cut_points) for weight, probit in each)
        return Probit(
            noise=sum(weight * probit.noise for weight, probit in each),
            margin=sum(weight * probit.margin for weight, probit in each),
            lapse=sum(weight * probit.lapse for weight, probit in each),
            strong_margin=sum(weight * probit.strong_margin for weight, probit in each),
            cut_points=tuple(np.asarray(cut_points).tolist()),
        )

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.components[0][1].n_features

    @property
    def scaling(self) -> Scaling | None:
        """What scaled the features that it was fitted to; None: they are raw."""
        return self.components[0][1].scaling

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and covariance (M, M) of the rewards of x under the mixture."""
        each = [(weight, *one(x)) for weight, one in self.components]
        mean: Array = np.asarray(sum(w * m for w, m, _ in each))
        covariance: Array = np.asarray(sum(w * (c + np.outer(m - mean, m - mean)) for w, m, c in each))
        return mean, covariance

    def marginals(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and variance (M,) of the rewards of x."""
        return self._moments((w, *one.marginals(x)) for w, one in self.components)

    def difference(self, a: Array, b: Array) -> tuple[Array, Array]:
        """Mean and variance of f(a) - f(b), row by row."""
        return self._moments((w, *one.difference(a, b)) for w, one in self.components)

    def probability(self, a: Array, b: Array) -> Array:
        """P(a is preferred to b), row by row."""
        return as_probabilities(sum(w * one.probability(a, b) for w, one in self.components))

    def sample(self, x: Array, count: int, rng: np.random.Generator) -> Array:
        """Joint samples of the rewards of x, shape (count, M)."""
        counts = rng.multinomial(count, [weight for weight, _ in self.components])
        samples = [p.sample(x, int(n), rng) for n, (_, p) in zip(counts, self.components, strict=True) if n]
        return rng.permutation(np.concatenate(samples)) if samples else np.empty((0, len(x)))

    def describe(self, given: str = "") -> str:
        """The most probable structure in words; nothing is claimed of a given kernel or from the prior.

        Args:
            given: What it was learned from, in words, if not from answers alone.

        Returns:
            A clause.
        """
        given = given or pluralize(self.answers, "answer")
        if GIVEN in self.structures:
            return f"the reward was learned with the given kernel, after {given}"
        if self.answers < ENOUGH_ANSWERS:
            return f"it is too early to say what the reward looks like, after {given}"
        structure, weight = max(self.structures.items(), key=lambda item: item[1])
        if weight < SURE:
            return f"the reward's form is still open ({self._percentages()})"
        return f"the reward seems {DESCRIPTIONS[structure]} ({percent(weight)} sure)"

    @property
    def answers(self) -> int:
        """How many answers the person, or the group, has given."""
        return self.components[0][1].answers

    def __repr__(self) -> str:
        ranked = ", ".join(f"{name} {weight:.2f}" for name, weight in self._ranked() if weight >= 0.005)
        return f"MixturePosterior({ranked})"

    def _percentages(self) -> str:
        return ", ".join(
            f"{LABELS[name]} {percent(weight)}" for name, weight in self._ranked() if weight >= 0.05
        )

    def _ranked(self) -> list[tuple[str, float]]:
        return sorted(self.structures.items(), key=lambda item: -item[1])

    @staticmethod
    def _moments(each: Iterator[tuple[float, Array, Array]]) -> tuple[Array, Array]:
        moments = list(each)
        mean: Array = np.asarray(sum(w * m for w, m, _ in moments))
        variance: Array = np.asarray(sum(w * (v + (m - mean) ** 2) for w, m, v in moments))
        return mean, variance
