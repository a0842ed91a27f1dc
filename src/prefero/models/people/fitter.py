"""Fits the model of many people: chooses kernels and shares by evidence, and learns how people differ.

    candidate     a kernel and a share, see `prefero.models.people.candidates`
    S_h           (r, r)   the prior covariance of the weights w_p of a person: (1 - share) I at first
    chances       (K,)     of the response models

People differ in some ways more than in others, and with many people that shows: S_h is learned by expectation
maximization (EM) under an inverse Wishart prior around (1 - share) I, as in hierarchical Bayesian Gaussian
processes (Schwaighofer, Tresp and Yu, 2004). It then has a few large directions where people's tastes are a
few latent factors, without their number being chosen. A step of EM covers the fraction of the way that the
answers know of; it is made longer by as much as leaves S_h positive.

Which candidates there are is decided with some of the people where there are many answers; all people are
then fitted with the few candidates that have any weight.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from prefero._support.arrays import Array, Indices, one_thread
from prefero.models.averaging.learned_margins import TYPICAL_BEYOND, LearnedMargins
from prefero.models.averaging.model_average import normalized_weights
from prefero.models.averaging.structures import ModelSettings
from prefero.models.likelihood.regions import layout_of
from prefero.models.likelihood.response_models import Margin, ResponseModel
from prefero.models.people.basis_functions import BasisFunctions
from prefero.models.people.batches import PeopleBatch, batches_of
from prefero.models.people.candidates import (
    SHARES,
    TYPICAL_ITEM_FRACTION,
    TYPICAL_SHARE,
    KernelCandidate,
    PeopleCandidate,
    kernel_candidates,
    response_model_grid,
    with_widths,
)
from prefero.models.people.ep import PeopleEP
from prefero.models.people.person_factors import Hyperparameters
from prefero.questions.comparisons import Comparisons, Names

MOST_BASIS_FUNCTIONS = 250
MARGINS = (0.15, 0.3, 0.5, 0.75, 1.1, 1.6, 2.4, 3.5)  # in units of the noise, where there are ties
COMMON_WIDTHS = (0.5, 0.7, 1.0, 1.4)  # of the scale of ratings, in units of that of one reward for all people
BEYOND = (0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)  # from there to "much better", where that is an answer


@dataclass(frozen=True)
class ChoicePolicy:
    """How candidates are chosen."""

    answers: int = 800  # by which they are chosen, where there are more
    growth: float = 1.25  # times as many answers there are when they are chosen anew
    sweeps: int = 6  # enough to compare evidences
    close: float = 5.0  # kernels whose log weight is so far below the best are tried with other shares
    # up to so many answers: kernels that are tried with other shares, and candidates fitted to everybody
    effort: tuple[tuple[int, int, int], ...] = ((100, 12, 8), (1000, 3, 3), (2**63, 3, 1))
    light: float = 0.05  # candidates of less weight than the heaviest's times this are left out


@dataclass(frozen=True)
class LearningPolicy:
    """How S_h and the chances of response models are learned."""

    people: int = 1000  # with whom S_h is learned at first, where there are more
    own_prior: float = 10.0  # people that the prior of S_h counts, and
    own_prior_of_function: float = 0.25  # people more for each basis function
    chances_prior: float = 10.0  # people that the prior of the chances counts
    sweeps: int = 30  # in which they are learned
    few: int = 10  # people: fewer hardly say how people differ, and get
    fewer_sweeps: int = 10
    longest_step: float = 8.0  # of EM, in steps
    final_sweeps: int = 30  # at most, with what was learned
    tolerance: float = 1e-3  # standard deviations by which messages may still change at the end


CHOICE, LEARNING = ChoicePolicy(), LearningPolicy()


@dataclass(frozen=True, eq=False)
class PeopleFit:
    """One candidate, fitted to all people: its weight, its basis functions, and the posterior."""

    weight: float
    candidate: PeopleCandidate
    basis: BasisFunctions
    ep: PeopleEP
    log_evidence: float


@dataclass(frozen=True, eq=False)
class PeopleData:
    """Comparisons of people, who have numbers from 0 on."""

    data: Comparisons
    people: Indices
    items: Array  # (M, d) the different trajectories that were compared
    winners: Indices  # (N,) of the items
    losers: Indices

    @classmethod
    def of(cls, data: Comparisons, people: Indices) -> "PeopleData":
        """Find the different trajectories."""
        both = np.concatenate([data.winners, data.losers])
        items, places = np.unique(both, axis=0, return_inverse=True)
        winners, losers = places.reshape(2, -1)
        return cls(data, people, items, winners, losers)

    @property
    def count(self) -> int:
        """How many people."""
        return int(self.people.max(initial=-1)) + 1

    def __len__(self) -> int:
        return len(self.people)

    def some(self, most: int) -> "PeopleData":
        """People evenly spaced, with about so many answers together; all, if there are no more."""
        if len(self) <= most:
            return self
        kept = max(2, round(self.count * most / len(self)))
        chosen = np.unique(np.linspace(0, self.count - 1, kept).astype(np.intp))
        rows = np.flatnonzero(np.isin(self.people, chosen))
        return PeopleData(
            self.data[rows],
            np.searchsorted(chosen, self.people[rows]),
            self.items,
            self.winners[rows],
            self.losers[rows],
        )

    def batches(self, basis: BasisFunctions, response_models: int) -> list[PeopleBatch]:
        """The answers in terms of basis functions."""
        phi, rest = basis(self.items), basis.left_over(self.items)
        A, extra = phi[self.winners] - phi[self.losers], rest[self.winners] + rest[self.losers]
        return batches_of(A, layout_of(self.data), self.people, response_models, extra)


@dataclass(eq=False)
class PeopleFitter:
    """Fits the model of many people, and sooner again as answers are added.

    Candidates are chosen by the answers up to the last milestone, so that the result depends on the answers
    alone, and most answers only need the chosen ones to be fitted again.
    """

    settings: ModelSettings
    kernels: Sequence[KernelCandidate] = ()  # instead of the structures'
    _chosen: tuple[bytes, list[tuple[float, PeopleCandidate]], Margin] | None = None

    @one_thread
    def fit(self, data: Comparisons) -> list[PeopleFit]:
        """The candidates of some weight, fitted to all people, by their numbers."""
        everybody = PeopleData.of(data, people_of(data)[1])
        response_models = response_model_grid(self.settings.noise, self.settings.lapse)
        if data.has_ratings:
            response_models = with_widths(response_models)
        chosen, margin = self._choose(data, response_models)
        fits = [_fit(everybody, candidate, response_models, margin) for _, candidate in chosen]
        return [
            PeopleFit(weight, candidate, basis, ep, ep.log_evidence)
            for (weight, candidate), (basis, ep) in zip(chosen, fits, strict=True)
        ]

    def _choose(
        self, data: Comparisons, response_models: dict[ResponseModel, float]
    ) -> tuple[list[tuple[float, PeopleCandidate]], Margin]:
        some = data.first(milestone(data.n_answers))
        key = some.tobytes() + b"".join(one.tobytes() for one in people_of(some))
        if self._chosen is None or self._chosen[0] != key:
            people = PeopleData.of(some, people_of(some)[1])
            kernels = list(self.kernels) or kernel_candidates(self.settings, some)
            choice = _Choice(people.some(CHOICE.answers), response_models, self._given_margin(data))
            if data.has_ties and self.settings.margin is None:
                choice.learn_margin(kernels[0], "size", MARGINS)
            if data.has_strengths and self.settings.strong_margin is None:
                choice.learn_margin(kernels[0], "beyond", BEYOND)
            if data.has_ratings:
                shape = LearnedMargins(self.settings).of(replace(choice.people.data, people=None)).cut_points
                wider = [tuple(width * cut for cut in shape) for width in COMMON_WIDTHS]
                choice.learn_margin(kernels[0], "cut_points", wider)
            self._chosen = key, choice.candidates(kernels, some.n_answers), choice.margin
        return self._chosen[1], self._chosen[2]

    def _given_margin(self, data: Comparisons) -> Margin:
        margin, strong = self.settings.margin, self.settings.strong_margin
        beyond = 0.0
        if data.has_strengths:
            beyond = TYPICAL_BEYOND if strong is None else max(strong - (margin or 0.0), 0.05)
        if margin is not None:
            return Margin(margin, True, beyond)
        return Margin(1.0 if data.has_ties else 0.0, False, beyond)


def people_of(data: Comparisons) -> tuple[Names, Indices]:
    """The names of the people, sorted, and whose answer each is, by their numbers."""
    assert data.people is not None
    names, numbers = np.unique(data.people, return_inverse=True)
    return names, numbers.astype(np.intp)


def milestone(answers: int) -> int:
    """The last of 10, 13, 16, 21, ... answers at which candidates are chosen; before, all answers."""
    last = 10
    while (following := int(np.ceil(CHOICE.growth * last))) <= answers:
        last = following
    return min(last, answers)


class _Choice:
    """Which candidates explain the answers of some people."""

    def __init__(
        self, people: PeopleData, response_models: dict[ResponseModel, float], margin: Margin
    ) -> None:
        self.people, self.margin = people, margin
        plain = {
            response: chance
            for response, chance in response_models.items()
            if not response.lapse and response.width == 1.0
        }  # lapses and scales of one's own tell kernels hardly apart, and cost time
        self.response_models = plain or response_models
        self.known: dict[PeopleCandidate, float] = {}

    def candidates(self, kernels: list[KernelCandidate], answers: int) -> list[tuple[float, PeopleCandidate]]:
        """The candidates of some weight, the heaviest first: with few answers, more of them."""
        _, count, most = next(effort for effort in CHOICE.effort if answers <= effort[0])
        near = self._nearest(kernels, count)
        for kernel in near:
            self._climb(kernel)
        heaviest = dict(sorted(self.known.items(), key=lambda pair: -pair[1])[:most])
        return [(weight, one) for one, weight in normalized_weights(heaviest, CHOICE.light)[0].items()]

    def learn_margin(self, kernel: KernelCandidate, name: str, sizes: Sequence[object]) -> None:
        """The size of a margin, or cut points, that explain the answers best with a typical share."""
        tried = [replace(self.margin, **{name: size}) for size in sizes]  # type: ignore[arg-type]
        values = []
        for margin in tried:
            self.margin, self.known = margin, {}
            values.append(self._log_weight(kernel.shared(TYPICAL_SHARE)))
        self.margin, self.known = tried[int(np.argmax(values))], {}

    def _nearest(self, kernels: list[KernelCandidate], most: int) -> list[KernelCandidate]:
        """Kernels that explain the answers about as well as the best one, with a typical share.

        Structures are compared with the typical item effects, and then the best with the others.
        """
        fractions = {kernel.item_fraction for kernel in kernels}
        typical = TYPICAL_ITEM_FRACTION if TYPICAL_ITEM_FRACTION in fractions else min(fractions)
        first = self._ranked([kernel for kernel in kernels if kernel.item_fraction == typical])
        best = {kernel.place for kernel in first[:most]}
        return self._ranked([kernel for kernel in kernels if kernel.place in best])[:most]

    def _ranked(self, kernels: list[KernelCandidate]) -> list[KernelCandidate]:
        """The best first, without those that are far behind it."""
        values = [(self._log_weight(kernel.shared(TYPICAL_SHARE)), kernel) for kernel in kernels]
        best = max(value for value, _ in values)
        ranked = sorted(values, key=lambda pair: -pair[0])
        return [kernel for value, kernel in ranked if value > best - CHOICE.close]

    def _climb(self, kernel: KernelCandidate) -> None:
        """Try shares around the best one, until both its neighbours are known."""
        shares = list(SHARES)
        place = shares.index(TYPICAL_SHARE)
        while True:
            near = [p for p in (place - 1, place, place + 1) if 0 <= p < len(shares)]
            best = max(near, key=lambda p: self._log_weight(kernel.shared(shares[p])))
            if best == place:
                return
            place = best

    def _log_weight(self, candidate: PeopleCandidate) -> float:
        if candidate not in self.known:
            basis = BasisFunctions.of(candidate.kernel, self.people.items, MOST_BASIS_FUNCTIONS)
            hyper = hyperparameters(len(basis), candidate.share, self.response_models, self.margin)
            ep = PeopleEP(self.people.batches(basis, len(self.response_models)), hyper)
            learn_chances(ep, CHOICE.sweeps)
            self.known[candidate] = candidate.log_prior + ep.log_evidence
        return self.known[candidate]


def hyperparameters(
    size: int, share: float, response_models: dict[ResponseModel, float], margin: Margin
) -> Hyperparameters:
    """Before anything is learned of how people differ."""
    chances = np.array(list(response_models.values()))
    return Hyperparameters(
        np.sqrt(share) * np.eye(size),
        (1.0 - share) * np.eye(size),
        tuple(response_models),
        chances / chances.sum(),
        margin,
    )


def learn_chances(ep: PeopleEP, sweeps: int) -> None:
    """Sweeps, after each of which the response models get the chances that people have them with."""
    prior = LEARNING.chances_prior * ep.hyper.chances
    for _ in range(sweeps):
        ep.sweep()
        chances = prior + ep.response_model_weights
        ep.changed(chances=chances / chances.sum())


def learn_own(ep: PeopleEP, sweeps: int, prior: Array) -> None:
    """Sweeps, after each of which S_h is a step of EM nearer to what people's own weights look like."""
    chances_prior = LEARNING.chances_prior * ep.hyper.chances
    people = sum(len(batch.people) for batch in ep.batches)
    counts = LEARNING.own_prior + LEARNING.own_prior_of_function * len(prior)
    for _ in range(sweeps):
        ep.sweep()
        S, (second, known) = ep.hyper.own, ep.own_statistics
        mean = (counts * prior + people * S + S @ (second - known) @ S) / (counts + people)
        S = S + _step(S, known, counts, people) * (mean - S)
        chances = chances_prior + ep.response_model_weights
        ep.changed(own=0.5 * (S + S.T), chances=chances / chances.sum())


def _step(S: Array, known: Array, counts: float, people: int) -> float:
    """How long a step of EM may be: a longer one might take more from a direction of S_h than there is."""
    values, vectors = np.linalg.eigh(S)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    largest = float(np.linalg.eigvalsh(root.T @ known @ root)[-1])
    return min((counts + people) / (counts + largest), LEARNING.longest_step)


def _fit(
    everybody: PeopleData,
    candidate: PeopleCandidate,
    response_models: dict[ResponseModel, float],
    margin: Margin,
) -> tuple[BasisFunctions, PeopleEP]:
    basis = BasisFunctions.of(candidate.kernel, everybody.items, MOST_BASIS_FUNCTIONS)
    hyper = hyperparameters(len(basis), candidate.share, response_models, margin)
    prior = hyper.own
    sweeps = LEARNING.fewer_sweeps if everybody.count < LEARNING.few else LEARNING.sweeps
    some = everybody.some(round(LEARNING.people * len(everybody) / max(everybody.count, 1)))
    if some is not everybody:
        first = PeopleEP(some.batches(basis, len(response_models)), hyper)
        learn_own(first, sweeps, prior)
        hyper, sweeps = first.hyper, sweeps // 3
    ep = PeopleEP(everybody.batches(basis, len(response_models)), hyper)
    if candidate.share < 1.0:
        learn_own(ep, sweeps, prior)
    else:
        learn_chances(ep, CHOICE.sweeps)
    ep.run(LEARNING.tolerance, LEARNING.final_sweeps)
    return basis, ep
