"""Acquisition functions: what makes a question good. The protocol, the registry, and the two purposes.

The posterior over rewards is a mixture of Gaussians, its components. An acquisition function scores arrays of
questions about a trajectory A (left) and a trajectory B (right), and sees of each component:

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

A function that needs more than the moments of each pair, such as predictive information, is a
`PoolAcquisitionFunction`: it scores questions and searches a pool itself.

The exact search over a pool uses the methods of `HasUpperBound`, `HasVarianceBound` and `HasMomentBound`
where an acquisition function has them, to leave out questions that cannot be the best; without them it scores
every pair. Arrays may belong to any library that follows the array API standard.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, get_args, runtime_checkable

from prefero._support.arrays import AnyArray, Array, Indices
from prefero._support.plugins import Registry
from prefero.models.likelihood import Probit
from prefero.models.posterior import Distribution
from prefero.pools.pool import Pool
from prefero.questions import Question

Purpose = Literal["learn", "best"]
Strategy = Literal["active", "random"]


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
    """What makes a question good: the question with the largest score is asked."""

    @property
    def unit(self) -> str:
        """Of the scores: "bits", "utility", or a word of your own."""

    def score(self, pairs: Sequence[PairMoments]) -> AnyArray:
        """The value of each question under the mixture, finite, and the same if A and B change places."""


@runtime_checkable
class PoolAcquisitionFunction(Protocol):
    """An acquisition function that looks at a whole pool, not at each pair alone, and searches it itself."""

    @property
    def unit(self) -> str:
        """Of the scores."""

    def score_questions(self, belief: Distribution, pool: Pool | Array, questions: Indices) -> Array:
        """The value of each question.

        Args:
            belief: The posterior over rewards.
            pool: The trajectories; an array (M, d) is in the units of the belief.
            questions: Pairs of trajectory indices, (Q, 2).

        Returns:
            The values, (Q,).
        """

    def best_question(
        self, belief: Distribution, pool: Pool | Array, exclude: Iterable[tuple[int, int]] = ()
    ) -> Question:
        """The best question about a pool, or a good one.

        Args:
            belief: The posterior over rewards.
            pool: The trajectories; an array (M, d) is in the units of the belief.
            exclude: Pairs that are not asked.

        Returns:
            The question, with its value and unit.
        """


AnyAcquisitionFunction = AcquisitionFunction | PoolAcquisitionFunction


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


class MomentLimits(NamedTuple):
    """What the moments of x = (f(A) - f(B)) / scale over the whole mixture must be to reach a value.

    Args:
        least_variance: The variance must be at least this.
        farthest: The largest E[x]^2 / (1 + Var[x]).
    """

    least_variance: float
    farthest: float  # the largest E[x]^2 / (1 + Var[x])


@runtime_checkable
class HasMomentBound(Protocol):
    """An acquisition function that is limited by two moments of the whole mixture."""

    def moment_limits(self, components: Sequence[Component], value: float) -> MomentLimits | None:
        """What questions must have that reach a value.

        Args:
            components: Of the posterior.
            value: To be reached.

        Returns:
            The limits; None where nothing can be said.
        """


@runtime_checkable
class HasAnswerLimits(Protocol):
    """An acquisition function that is not for every way in which people answer."""

    def check_answers(self, *, margin: bool, lapses: bool) -> None:
        """An error unless it can score questions to such people.

        Args:
            margin: Whether they may answer "about equal".
            lapses: Whether some answers are at random.
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

    Every component contributes numbers to the bound, its part, and parts are added over the components.
    """

    def can_bound(self, components: Sequence[Component]) -> bool:
        """Whether it can under these components."""

    def question_part(self, pairs: PairMoments) -> list[AnyArray]:
        """What one component contributes to the bounds of single questions."""

    def box_part(self, box: Box) -> list[AnyArray]:
        """What one component contributes to the bounds of all questions in a box."""

    def part_bound(self, questions: Sequence[AnyArray], boxes: Sequence[AnyArray] = ()) -> AnyArray:
        """What no question exceeds.

        Args:
            questions: The sum of the parts of single questions, over some components.
            boxes: The sum of the parts of boxes with these questions in them, over the other components.
        """


ACQUISITION_FUNCTIONS: Registry[Callable[[], AnyAcquisitionFunction]] = Registry(
    "acquisition function",
    "prefero.acquisition_functions",
    {
        "mutual-information": "prefero.acquisition.mutual_information:MutualInformation",
        "expected-utility": "prefero.acquisition.expected_utility:ExpectedUtility",
        "predictive-information": "prefero.acquisition.predictive_information:PredictiveInformation",
        "knowledge-gradient": "prefero.acquisition.knowledge_gradient:KnowledgeGradient",
        "thompson-duel": "prefero.acquisition.thompson:ThompsonDuel",
        "best-information": "prefero.acquisition.best_information:BestInformation",
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
    if isinstance(function, type) or not isinstance(function, AnyAcquisitionFunction):
        raise TypeError(
            f"an acquisition function has a unit and a method score(pairs), but this is {function!r}: "
            f"give an object like that, or one of the names {', '.join(ACQUISITION_FUNCTIONS)}"
        )
    return function


def check_strategy(strategy: str) -> None:
    """An error unless there is such a strategy."""
    if strategy not in get_args(Strategy):
        raise ValueError(f"strategy must be 'active' or 'random', but is {strategy!r}")
