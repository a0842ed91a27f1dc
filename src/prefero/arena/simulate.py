"""Simulated arenas: policies of known strengths, and judges who err.

strengths   (P,)   true; P(A preferred to B) = F(A's - B's), and P(A passes) = F(A's - bar)
bar                what a judge finds just acceptable
F                  the standard normal distribution, as the model assumes; or the logistic distribution of
                   the same variance, Bradley and Terry's
"""

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Literal

import numpy as np
from scipy.special import expit, ndtr

from prefero._support.arrays import Array
from prefero.arena.arena import Arena, ArenaStrategy
from prefero.arena.decisions import least_strength
from prefero.arena.plan import LEAST_DIFFERENCE, MOST_POLICIES, ArenaPlan, Goal
from prefero.arena.standings import Standings
from prefero.arena.strengths import NOISE
from prefero.questions import Question
from prefero.questions.answer_kinds import PAIR, Kind, choices_of, kind_named

JudgeModel = Literal["thurstone", "bradley-terry"]
LOGISTIC_SCALE = np.sqrt(3.0) / np.pi  # of a logistic distribution with variance 1, and of Gumbel's


@dataclass(frozen=True, eq=False)
class SimulatedPolicies:
    """Policies of known strengths, whose rollouts a simulated judge compares.

    Args:
        strengths: True, (P,).
        judges: How they err: "thurstone", as the model assumes, or "bradley-terry".
        margin: Perceived differences below it are answered "about equal".
        lapse_rate: The probability of an answer at random.
        bar: The strength of a policy half of whose rollouts are acceptable.
    """

    strengths: Array
    judges: JudgeModel = "thurstone"
    margin: float = 0.0
    lapse_rate: float = 0.0
    bar: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """A, B, C, ... in the order of `strengths`."""
        letters = [*ascii_uppercase, *(f"A{letter}" for letter in ascii_uppercase)]
        return tuple(letters[:MOST_POLICIES][: len(self.strengths)])

    @property
    def order(self) -> tuple[str, ...]:
        """The names, the strongest first."""
        return tuple(self.names[place] for place in np.argsort(-self.strengths, kind="stable"))

    def answer(self, question: Question, rng: np.random.Generator) -> str:
        """Judge rollouts of these policies.

        Args:
            question: About the policies, by their places.
            rng: Draws the noise.

        Returns:
            A choice of the question's kind.
        """
        kind = kind_named(question.kind)
        if rng.random() < self.lapse_rate:
            return str(rng.choice(choices_of(question.kind, ties=False)))
        seen = np.array([*self.strengths[list(question.items)], self.bar][: kind.places])
        return kind.choice_of(seen + self._noise(len(seen), rng), self.margin, 0.0)

    def _noise(self, count: int, rng: np.random.Generator) -> Array:
        """Of impressions; the difference of two has F."""
        if self.judges == "thurstone":
            return NOISE * rng.standard_normal(count)
        return rng.gumbel(scale=LOGISTIC_SCALE, size=count)

    @property
    def success(self) -> Array:
        """The probability that a rollout of each policy passes, (P,)."""
        above = self.strengths - self.bar
        return np.asarray(ndtr(above) if self.judges == "thurstone" else expit(above / LOGISTIC_SCALE))

    def is_right(self, standings: Standings) -> bool:
        """Whether what the standings say of the policies is true, or would be if it were decided."""
        least = least_strength(standings.plan.least_difference)
        gaps = [(self._gap(one.first, one.other), standings.is_tie(one)) for one in standings.differences]
        return all(abs(gap) < least if is_tie else gap > 0 for gap, is_tie in gaps)

    def _gap(self, first: str, other: str) -> float:
        return float(self.strengths[self.names.index(first)] - self.strengths[self.names.index(other)])


def simulate_arena(
    policies: SimulatedPolicies,
    strategy: ArenaStrategy = "active",
    *,
    goal: Goal = "order",
    questions: int = 1000,
    least_difference: float = LEAST_DIFFERENCE,
    every: int = 1,
    seed: int = 0,
    kind: Kind = PAIR,
) -> Iterator[Standings]:
    """The standings as answers come in.

    Args:
        policies: The policies and their judge.
        strategy: How pairs are chosen.
        goal: What is to be known.
        questions: How many answers there are at most.
        least_difference: The least difference of two policies that matters.
        every: After how many answers the standings are computed.
        seed: Of questions and answers.
        kind: What the judge is asked.

    Yields:
        The standings, until there are as many answers as planned.
    """
    settings = {"goal": goal, "questions": questions, "least_difference": least_difference}
    plan = ArenaPlan.of_policies(policies.names, **settings)
    arena, rng = Arena(plan, seed=seed), np.random.default_rng([seed, 1])
    for number in range(1, questions + 1):
        question = arena.ask(strategy=strategy, kind=kind)
        arena.tell(question, policies.answer(question, rng))
        if number % every == 0:
            yield arena.standings()
