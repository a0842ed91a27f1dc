"""Acquisition functions: what makes a question good. Their protocols, the registry, and the two purposes.

The posterior over rewards is a mixture of Gaussians, its components. An acquisition function of the moments
of pairs scores arrays of questions about a trajectory A (left) and a trajectory B (right). Of each component
it sees:

    weight          of the component in the mixture
    probit          how the person answers, as the component has it: noise and margin
    left, right     E[f(A)] and E[f(B)]
    gap             E[f(A) - f(B)] = left - right
    gap_variance    Var[f(A) - f(B)]

Your own function is an object with a `unit` and a `score`:

    class UpperConfidenceBound:
        unit = "utility"

        def score(self, pairs):
            return sum(p.weight * (p.left + p.right + 2.0 * p.gap_variance**0.5) for p in pairs)

    Learner(pool, acquisition=UpperConfidenceBound())

The exact search over a pool uses the methods of `HasUpperBound` and `HasVarianceBound` where such a function
has them, to leave out questions that cannot be the best; without them it scores every pair. Arrays may belong
to any library that follows the array API standard.

A function that needs more than the moments of pairs, or scores questions about more than two trajectories, is
a `PoolAcquisitionFunction`: it makes a `Scorer` for a belief, a pool and a kind of answer. A search maximizes
any scorer.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, get_args, runtime_checkable

import numpy as np

from prefero._support.arrays import AnyArray, Array, Indices
from prefero._support.plugins import Registry
from prefero.models.likelihood.probit import Probit
from prefero.models.people.posterior import PeoplePosterior
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import Kind, items_of

Purpose = Literal["learn", "best"]
Strategy = Literal["active", "random"]
LARGE_POOL = 2000  # trajectories: smaller pools are searched exactly, or considered as a whole


# --- functions of the moments of pairs --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Component:
    """One Gaussian of a mixture.

    Args:
        weight: In the mixture.
        probit: How the person answers.
    """

    weight: float
    probit: Probit


@dataclass(frozen=True, eq=False)
class PairMoments(Component):
    """Means and variances of the rewards of many pairs under one component; the arrays broadcast.

    Args:
        weight: Of the component in the mixture.
        probit: How the person answers.
        left: The mean rewards of the first trajectories.
        right: The mean rewards of the second.
        gap_variance: The variance of the difference.
    """

    left: AnyArray
    right: AnyArray
    gap_variance: AnyArray

    @property
    def gap(self) -> AnyArray:
        """E[f(A) - f(B)]."""
        return self.left - self.right


@runtime_checkable
class AcquisitionFunction(Protocol):
    """What makes a pair good, given its moments: the question with the largest score is asked."""

    @property
    def unit(self) -> str:
        """Of the scores: "bits", "utility", or a word of your own."""

    def score(self, pairs: Sequence[PairMoments]) -> AnyArray:
        """The value of each question under the mixture, finite, and the same if A and B change places."""


@runtime_checkable
class HasUpperBound(Protocol):
    """An acquisition function with a bound that is cheaper than its score."""

    def upper_bound(self, pairs: Sequence[PairMoments]) -> AnyArray:
        """Numbers no smaller than the scores."""


@runtime_checkable
class HasVarianceBound(Protocol):
    """An acquisition function that needs some uncertainty to reach a value."""

    def least_variance(self, components: Sequence[Component], value: float) -> float:
        """Below this gap variance no question reaches a value.

        It is asked with one component and with many, and may say more than 0 only for one.

        Args:
            components: Of the posterior.
            value: To be reached.

        Returns:
            The variance; 0 where nothing can be said.
        """


class Box(NamedTuple):
    """Ranges of the gap and of its variance under one component, in units of the noise.

    Args:
        component: Weight, and how the person answers.
        low: The smallest gap.
        high: The largest gap.
        least: The smallest variance.
        most: The largest variance.
    """

    component: Component
    low: AnyArray
    high: AnyArray
    least: AnyArray
    most: AnyArray


@runtime_checkable
class HasBoxBound(Protocol):
    """An acquisition function that can be bounded over ranges of gaps and their variances.

    A bound is a function of a few sums over the components; every component contributes a term to each sum.
    """

    def can_bound(self, components: Sequence[Component]) -> bool:
        """Whether it can under these components."""

    def question_terms(self, pairs: PairMoments) -> list[AnyArray]:
        """The terms of one component in the bounds of single questions."""

    def box_terms(self, box: Box) -> list[AnyArray]:
        """The terms of one component in the bounds of all questions in a box."""

    def bound_of_sums(self, questions: Sequence[AnyArray], boxes: Sequence[AnyArray] = ()) -> AnyArray:
        """What no question exceeds.

        Args:
            questions: Sums of the terms of single questions, over some components.
            boxes: Sums of the terms of boxes with these questions in them, over the other components.
        """


# --- functions of a pool, for any kind of answer ----------------------------------------------------------


class Scorer(ABC):
    """An acquisition function for one belief, pool and kind of answer: what a search maximizes.

    Questions are `items`, (n, k): indices of k trajectories of the pool each. A search for sets of several
    trajectories lets pairs grow, so the scorer of such a kind scores smaller sets too. A subclass has a
    `unit` and `scores`; the other methods let searches find a good question sooner.
    """

    unit: str
    moments: AcquisitionFunction | None = None
    """The function of moments by which it scores pairs, for an exact search; None for other scorers."""
    avoids_answered: bool = False
    """Whether pairs that were answered are not asked about while there are others."""

    @abstractmethod
    def scores(self, items: Indices) -> Array:
        """The value of each question, (n,)."""

    def estimates(self, items: Indices) -> Array:
        """Cheap estimates of the scores, by which a search decides what to score."""
        return self.scores(items)

    def value(self, items: Sequence[int]) -> float:
        """The value of the one question that a search has found."""
        return float(self.scores(np.array([items]))[0])

    def about(self, considered: Indices) -> "Scorer":
        """The same, prepared for very many questions about these trajectories."""
        del considered
        return self

    def considered(self, size: int, rng: np.random.Generator) -> Indices:
        """The trajectories that a search looks at first: of a large pool, some.

        Args:
            size: Of the pool.
            rng: Chooses some.

        Returns:
            Their indices.
        """
        return random_items(size, LARGE_POOL, rng)

    def priority(self, considered: Indices) -> Array:
        """Which of these trajectories to look at first: those where this is largest."""
        return np.zeros(len(considered))

    def proposals(self) -> Iterator[tuple[int, ...]] | None:
        """Questions of which the first is asked, without a search; None if there is something to search."""
        return None


@runtime_checkable
class PoolAcquisitionFunction(Protocol):
    """An acquisition function that makes a scorer for a belief, a pool and a kind of answer."""

    @property
    def unit(self) -> str:
        """Of the scores of pairs."""

    def scorer(self, belief: Distribution, pool: Pool | Array, kind: Kind) -> Scorer:
        """What scores questions.

        Args:
            belief: The posterior over rewards.
            pool: The trajectories; an array (M, d) is in the units of the belief.
            kind: Of the answer.

        Returns:
            The scorer.

        Raises:
            ValueError: If it scores no questions of this kind; `check_answers` says so earlier.
        """


@runtime_checkable
class HasAnswerLimits(Protocol):
    """An acquisition function that is not for every way in which people answer."""

    def check_answers(self, kind: Kind, *, margin: bool, lapses: bool) -> None:
        """An error unless it can score questions to such people.

        Args:
            kind: Of the answers.
            margin: Whether they may answer "about equal".
            lapses: Whether some answers are at random.
        """


@runtime_checkable
class HasGroupScorer(Protocol):
    """An acquisition function that also scores questions about the reward that several people share."""

    def group_scorer(self, people: PeoplePosterior, person: str, x: Array) -> Scorer:
        """Scores questions to one person by what they tell about the reward that all share.

        Args:
            people: The posterior over everybody's rewards.
            person: Who is asked; perhaps somebody new.
            x: The trajectories, as features, (M, d).

        Returns:
            The scorer, of pairs.
        """


AnyAcquisitionFunction = AcquisitionFunction | PoolAcquisitionFunction


def random_items(size: int, most: int, rng: np.random.Generator) -> Indices:
    """All trajectories of a pool; of a pool of more than `most`, so many random ones, sorted."""
    return np.arange(size) if size <= most else np.sort(rng.choice(size, most, replace=False))


def features_of(belief: Distribution, pool: Pool | Array) -> Array:
    """The features of a pool in the units of a belief."""
    return pool.features_for(belief) if isinstance(pool, Pool) else pool


def generator(belief: Distribution, size: int) -> np.random.Generator:
    """The same for the same answers about the same pool, and another after every answer."""
    return np.random.default_rng([size, answers_of(belief)])


def answers_of(belief: Distribution) -> int:
    """The number of answers that a belief was learned from."""
    return int(getattr(belief.components[0][1], "answers", 0))


# --- names ------------------------------------------------------------------------------------------------

FUNCTIONS = "prefero.acquisition.functions"
ACQUISITION_FUNCTIONS: Registry[Callable[[], AnyAcquisitionFunction]] = Registry(
    "acquisition function",
    "prefero.acquisition_functions",
    {
        "mutual-information": f"{FUNCTIONS}.mutual_information:MutualInformation",
        "expected-utility": f"{FUNCTIONS}.expected_utility:ExpectedUtility",
        "predictive-information": f"{FUNCTIONS}.predictive_information:PredictiveInformation",
        "knowledge-gradient": f"{FUNCTIONS}.knowledge_gradient:KnowledgeGradient",
        "thompson-duel": f"{FUNCTIONS}.thompson_duel:ThompsonDuel",
        "best-information": f"{FUNCTIONS}.best_information:BestInformation",
    },
    {"bald": "mutual-information", "epig": "predictive-information", "eubo": "expected-utility"},
)
PURPOSES: dict[Purpose, str] = {"learn": "predictive-information", "best": "best-information"}


def acquisition_for(purpose: Purpose) -> AnyAcquisitionFunction:
    """The acquisition function that learns the reward everywhere, or the one that finds the best soon."""
    if purpose not in PURPOSES:
        raise ValueError(f"purpose must be 'learn' or 'best', but is {purpose!r}")
    return ACQUISITION_FUNCTIONS.get(PURPOSES[purpose])()


def acquisition_named(given: AnyAcquisitionFunction | str) -> AnyAcquisitionFunction:
    """An acquisition function by its name or its abbreviation in the field, or an own object as it is."""
    function = ACQUISITION_FUNCTIONS.get(given)() if isinstance(given, str) else given
    whole = hasattr(function, "unit") and (hasattr(function, "score") or hasattr(function, "scorer"))
    if isinstance(function, type) or not whole:
        raise TypeError(
            f"an acquisition function has a unit and a method score(pairs), but this is {function!r}: "
            f"give an object like that, or one of the names {', '.join(ACQUISITION_FUNCTIONS)}"
        )
    return function


def check_answers(
    function: AnyAcquisitionFunction, kind: Kind, *, margin: bool = False, lapses: bool = False
) -> None:
    """An error, in words, unless a function scores questions of a kind to people who answer like this."""
    if hasattr(function, "check_answers"):
        function.check_answers(kind, margin=margin, lapses=lapses)
    if not hasattr(function, "scorer"):
        check_scores_pairs(function, kind)


def check_scores_pairs(function: object, kind: Kind) -> None:
    """An error, in words, if a function that scores pairs is wanted for another number of trajectories."""
    if items_of(kind) != 2:
        raise ValueError(
            f"{function!r} scores pairs, not {kind!r}: ask for 'pair' or 'strength', or take the "
            "acquisition function 'mutual-information' or 'predictive-information'"
        )


def check_strategy(strategy: str) -> None:
    """An error unless there is such a strategy."""
    if strategy not in get_args(Strategy):
        raise ValueError(f"strategy must be 'active' or 'random', but is {strategy!r}")
