"""The posterior over the rewards of many people: the group's reward, everybody's own, and how they answer.

    f_p = g + h_p      the reward of a person: the group's and what is the person's own
    response model     noise and lapse rate of a person, or carelessness; with a probability for each person
    fit                a kernel and a share with a weight, see `prefero.models.people.fitter`

Given a fit and a response model, the reward of a person is a Gaussian process. `person` and `group` give
mixtures of them, which are used like the posterior of one person's reward: they predict, and questions are
chosen by them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array, Indices, as_probabilities, one_thread
from prefero._support.pairs import mixed_pairs
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.response_models import Margin, ResponseModel, average_response_model
from prefero.models.people.fitter import PeopleFit, PeopleFitter
from prefero.models.people.weights import PersonWeights
from prefero.models.posterior.draws import CONFIDENCE
from prefero.models.posterior.gaussian import Posterior, prediction_weights
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import Comparisons
from prefero.trajectories.features import Scaling

MOST_COMPONENTS = 24  # of a person's posterior
LIGHT = 1e-3  # components of less weight are left out
CARELESS_NOISE = 30.0  # of someone who answers at random, where a likelihood is needed: times the reward
PAIRS = 400  # of trajectories, on which people agree or not


@dataclass(frozen=True)
class AnswerStyle:
    """How a person answers.

    Args:
        noise: The posterior mean of the noise, if the person attends.
        low: The lower end of its interval of 90 %.
        high: The upper end.
        lapse: The posterior mean of the lapse rate, if the person attends.
        careless: The probability that all answers are at random.
        answers: How many answers there are.
    """

    noise: float
    low: float
    high: float
    lapse: float
    careless: float
    answers: int


@dataclass(frozen=True, eq=False, repr=False)
class PeoplePosterior:
    """The posterior over the rewards of many people.

    Args:
        names: Of the people.
        fits: The candidates, with their weights.
        answers: How many answers each person has given, (P,).
        anchor: Where all rewards are 0, (d,).
        scaling: What scaled the features that it was fitted to; None: they are raw.
    """

    names: tuple[str, ...]
    fits: tuple[PeopleFit, ...]
    answers: Indices
    anchor: Array
    scaling: Scaling | None = None

    def __repr__(self) -> str:
        return f"PeoplePosterior({len(self.names)} people, {int(self.answers.sum())} answers)"

    @property
    def log_evidence(self) -> float:
        """The log marginal likelihood of all answers."""
        return float(sum(fit.weight * fit.log_evidence for fit in self.fits))

    @property
    def share(self) -> float:
        """The fraction of the variance of rewards that people have in common, between 0 and 1."""
        return float(sum(fit.weight * _share(fit) for fit in self.fits))

    @property
    def structures(self) -> dict[str, float]:
        """The posterior probability of each structure."""
        found: dict[str, float] = {}
        for fit in self.fits:
            found[fit.candidate.structure] = min(found.get(fit.candidate.structure, 0.0) + fit.weight, 1.0)
        return found

    @cached_property
    def group(self) -> MixturePosterior:
        """The posterior over g, the reward that people share."""
        answers = int(self.answers.sum())
        components = [
            (fit.weight, self._gaussian(fit, fit.ep.mu, fit.ep.V, self._typical(fit), answers))
            for fit in self.fits
        ]
        return MixturePosterior(tuple(components), self.structures, self.log_evidence)

    @one_thread
    def person(self, name: str) -> MixturePosterior:
        """The posterior over a person's reward; of somebody new, what the others tell of it.

        Args:
            name: Of the person.

        Returns:
            A mixture of Gaussians.
        """
        place = self.names.index(name) if name in self.names else None
        components = [one for fit in self.fits for one in self._components(fit, place)]
        return MixturePosterior(self._few(components), self.structures, self.log_evidence)

    @staticmethod
    def _few(components: list[tuple[float, Posterior]]) -> tuple[tuple[float, Posterior], ...]:
        """The heaviest Gaussians, with weights that add up to 1."""
        heaviest = sorted(components, key=lambda pair: -pair[0])[:MOST_COMPONENTS]
        heaviest = [pair for pair in heaviest if pair[0] > LIGHT * heaviest[0][0]]
        total = sum(weight for weight, _ in heaviest)
        return tuple((weight / total, one) for weight, one in heaviest)

    def probability(self, people: Sequence[str], a: Array, b: Array) -> Array:
        """P(the person prefers a to b), row by row; much faster than `person` for many people.

        Args:
            people: Whose answer, (M,).
            a: Features, (M, d).
            b: Features of the others, (M, d).

        Returns:
            The probabilities, (M,).
        """
        who = self._numbers(people)
        total = np.zeros(len(who))
        for fit in self.fits:
            total += fit.weight * self._probability(fit, who, fit.basis(a) - fit.basis(b), noisy=True)
        return as_probabilities(total)

    def _probability(self, fit: PeopleFit, who: Indices, A: Array, noisy: bool) -> Array:
        """P(a preferred), or with `noisy=False` P(f_p(a) > f_p(b)), given a candidate."""
        found = np.empty(len(who))
        order = np.argsort(who, kind="stable")
        weights = self._weights[fit]
        for person, rows in _runs(who[order], order):
            mean, variance = weights[person].differences(A[rows])
            chances = weights[person].weights
            found[rows] = sum(
                chance * _preferred(response, fit.ep.hyper.margin, mean[k], variance[k], noisy)
                for k, (chance, response) in enumerate(
                    zip(chances, fit.ep.hyper.response_models, strict=True)
                )
            )
        return found

    @cached_property
    def _weights(self) -> dict[PeopleFit, list[PersonWeights]]:
        """Given each fit, the posterior weights of every person; somebody new comes last."""
        found = {}
        for fit in self.fits:
            known = dict(fit.ep.people())
            new = fit.ep.newcomer
            found[fit] = [known.get(person, new) for person in range(len(self.names) + 1)]
        return found

    def weights_of(self, fit: PeopleFit, name: str) -> PersonWeights:
        """The posterior weights of a person, or of somebody new, given one of the candidates.

        Args:
            fit: The candidate, one of `fits`.
            name: Of the person.

        Returns:
            A Gaussian for each response model.
        """
        return self._weights[fit][int(self._numbers([name])[0])]

    def leave_one_out(self, data: Comparisons) -> Array:
        """The probability of each answer given all others, (N,), for the answers that it was fitted to.

        As in `prefero.models.inference.leave_one_out`: an answer's site is taken out of the Gaussian of each
        response model.
        """
        assert data.people is not None
        unlikely = np.zeros(data.n_answers)
        for fit in self.fits:
            for numbers, inverse in (left for one in fit.ep.factors for left in one.left_out()):
                unlikely[numbers] += fit.weight * inverse
        return as_probabilities(1.0 / unlikely)

    def _numbers(self, people: Sequence[str]) -> Indices:
        places = {name: place for place, name in enumerate(self.names)}
        return np.array([places.get(str(name), len(self.names)) for name in people], dtype=np.intp)

    # --- how they answer ----------------------------------------------------------------------------------

    def style(self, name: str) -> AnswerStyle:
        """How a person answers: noise with an interval, lapse rate, and the probability of carelessness."""
        place = self._numbers([name])[0]
        chances: dict[ResponseModel, float] = {}
        for fit in self.fits:
            for response, chance in zip(
                fit.ep.hyper.response_models, self._weights[fit][place].weights, strict=True
            ):
                chances[response] = chances.get(response, 0.0) + fit.weight * float(chance)
        average, (low, high) = average_response_model(chances), _noise_interval(chances)
        return AnswerStyle(
            noise=average.noise,
            low=low,
            high=high,
            lapse=average.lapse,
            careless=min(sum(chance for response, chance in chances.items() if response.is_careless), 1.0),
            answers=0 if place == len(self.names) else int(self.answers[place]),
        )

    @one_thread
    def agreement(self, x: Array, seed: int = 0) -> Array:
        """How alike people are: the fraction of pairs of trajectories on which two of them probably agree.

        Args:
            x: The trajectories, as features, (M, d).
            seed: Of the pairs.

        Returns:
            A symmetric matrix, (P, P), with 1 on its diagonal; 0.5 is what chance would give.
        """
        pairs = mixed_pairs(x, PAIRS, np.random.default_rng(seed))
        first, second = x[pairs[:, 0]], x[pairs[:, 1]]
        each = (fit.weight * self._everybody(fit, fit.basis(first) - fit.basis(second)) for fit in self.fits)
        prefers = as_probabilities(sum(each))
        agree: Array = (prefers @ prefers.T + (1.0 - prefers) @ (1.0 - prefers).T) / len(pairs)
        np.fill_diagonal(agree, 1.0)
        return agree

    def _everybody(self, fit: PeopleFit, A: Array) -> Array:
        """P(f_p(a) > f_p(b)) of every person and pair, (P, T)."""
        people, rows = len(self.names), len(A)
        who = np.repeat(np.arange(people), rows)
        return self._probability(fit, who, np.tile(A, (people, 1)), noisy=False).reshape(people, rows)

    # --- Gaussians ----------------------------------------------------------------------------------------

    def _components(self, fit: PeopleFit, place: int | None) -> list[tuple[float, Posterior]]:
        weights = self._weights[fit][-1 if place is None else place]
        margin, answers = fit.ep.hyper.margin, 0 if place is None else int(self.answers[place])
        return [
            (
                fit.weight * float(chance),
                self._gaussian(fit, *weights.at(k), _probit(response, margin), answers),
            )
            for k, (response, chance) in enumerate(
                zip(fit.ep.hyper.response_models, weights.weights, strict=True)
            )
            if chance > 0.0
        ]

    def _typical(self, fit: PeopleFit) -> Probit:
        """How people who attend answer on average."""
        hyper = fit.ep.hyper
        chances = dict(zip(hyper.response_models, hyper.chances.tolist(), strict=True))
        return hyper.margin.probit(average_response_model(chances))

    def _gaussian(
        self, fit: PeopleFit, mean: Array, covariance: Array, probit: Probit, answers: int
    ) -> Posterior:
        """The Gaussian under which the weights of the basis functions have this mean and covariance.

        The points are compared with the anchor, where the reward is 0. Where answers leave more open than the
        kernel allows, the kernel is scaled.
        """
        basis, anchors = fit.basis, np.tile(self.anchor, (len(fit.basis), 1))
        scale = max(1.0, float(np.max(np.linalg.eigvalsh(covariance), initial=0.0)))
        kernel = basis.kernel if scale == 1.0 else scale * basis.kernel
        unpivot = basis.unpivot / np.sqrt(scale)
        weights = prediction_weights(unpivot, mean / np.sqrt(scale), covariance / scale)
        return Posterior(
            kernel, probit, basis.points, anchors, *weights, fit.log_evidence, answers, self.scaling
        )


def _share(fit: PeopleFit) -> float:
    """Of the prior variance of differences between the points, what is shared."""
    phi = fit.basis(fit.basis.points)
    centered = phi - phi.mean(axis=0)
    shared, own = fit.ep.hyper.shared, fit.ep.hyper.own
    common, rest = np.sum((centered @ shared) ** 2), np.sum((centered @ own) * centered)
    return float(common / (common + rest)) if common + rest else 1.0


def _probit(response: ResponseModel, margin: Margin) -> Probit:
    if response.is_careless:
        return margin.probit(ResponseModel(CARELESS_NOISE))
    return margin.probit(response)


def _preferred(response: ResponseModel, margin: Margin, mean: Array, variance: Array, noisy: bool) -> Array:
    if not noisy:
        return np.asarray(ndtr(mean / np.sqrt(np.maximum(variance, 1e-12))))
    if response.is_careless:
        return np.full(len(mean), 1.0 / margin.n_answers)
    return margin.probit(response).probabilities(mean, variance)[0]


def _runs(sorted_people: Indices, order: Indices) -> list[tuple[int, Indices]]:
    """Each person with the rows that are theirs."""
    people, starts = np.unique(sorted_people, return_index=True)
    return list(zip(people.tolist(), np.split(order, starts[1:]), strict=True))


def _noise_interval(chances: dict[ResponseModel, float]) -> tuple[float, float]:
    """The ends of an interval of the noise, by interpolation of the distribution of its logarithm."""
    attentive = [(response.noise, chance) for response, chance in chances.items() if not response.is_careless]
    total = sum(chance for _, chance in attentive) or 1.0
    by_noise: dict[float, float] = {}
    for noise, chance in attentive:
        by_noise[noise] = by_noise.get(noise, 0.0) + chance / total
    grid = sorted(by_noise)
    logs = np.log(grid)
    edges = np.concatenate([[logs[0] - 0.5], 0.5 * (logs[1:] + logs[:-1]), [logs[-1] + 0.5]])
    below = np.concatenate([[0.0], np.cumsum([by_noise[noise] for noise in grid])])
    ends = np.interp([0.5 * (1 - CONFIDENCE), 0.5 * (1 + CONFIDENCE)], below, edges)
    low, high = np.exp(ends).tolist()
    return float(low), float(high)


def posterior_of(fitter: PeopleFitter, data: Comparisons) -> PeoplePosterior:
    """The posterior over the rewards of all people who gave these answers."""
    assert data.people is not None
    _, first = np.unique(data.answer_numbers, return_index=True)  # an answer may have several rows
    names, counts = np.unique(data.people[first], return_counts=True)
    by = fitter.settings.whole.standardization
    anchor = np.zeros(data.winners.shape[1]) if by is None else np.array(by.center)
    return PeoplePosterior(tuple(names.tolist()), tuple(fitter.fit(data)), counts, anchor, data.scaling)
