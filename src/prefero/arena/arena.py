"""Arena: which policy is better? Asks for judgments of rollouts, and stops when the answer is known.

    question    two trajectories of the arena's pool, whose policies are in the plan; or one, to be labelled
    judgment    a judge's answer to it
    skipped     questions that were left unanswered; they say nothing, and other rollouts are shown next

What an arena knows depends on its judgments, and on the labels of its plan, alone: it is rebuilt from them.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import numpy as np

from prefero._support.arrays import one_thread
from prefero.arena.effects import Judgment
from prefero.arena.matches import Shown, judged, most_informative, round_robin
from prefero.arena.plan import ArenaPlan, check_arena_kind
from prefero.arena.standings import Standings, standings_of
from prefero.arena.strengths import StrengthFitter, Strengths
from prefero.questions import Answer, Question
from prefero.questions.answer_kinds import PAIR, Kind, items_of

ArenaStrategy = Literal["active", "round-robin"]


class Arena:
    """Finds the order of policies, or the best one, with few comparisons or labels of their rollouts.

    Args:
        plan: Whose rollout each trajectory is, and when the arena ends; or the names of the policies, if
            every comparison has new rollouts.
        seed: Of the choice between equally good questions, and of sides.
        judgments: Of an earlier session, to continue it.
        skipped: Items of questions that were skipped.
    """

    def __init__(
        self,
        plan: ArenaPlan | Sequence[str],
        *,
        seed: int = 0,
        judgments: Iterable[Judgment] = (),
        skipped: Iterable[tuple[int, ...]] = (),
    ) -> None:
        self.plan = plan if isinstance(plan, ArenaPlan) else ArenaPlan.of_policies(plan)
        self.seed = seed
        self.judgments, self.skipped = tuple(judgments), tuple(skipped)
        self._fitter = StrengthFitter(self.plan)

    def __repr__(self) -> str:
        return f"Arena({', '.join(self.plan.policies)}; {len(self.judgments)} answers)"

    @one_thread
    def ask(self, judge: str = "", strategy: ArenaStrategy = "active", kind: Kind = PAIR) -> Question:
        """The question that tells most about the goal.

        Args:
            judge: Who will answer.
            strategy: "active", or "round-robin": every pair of policies equally often, for comparison.
            kind: What is asked: which of two rollouts is better, "pair"; the same, or that none of them is
                acceptable, "pair-or-none"; or whether one rollout is a "success".

        Returns:
            The question; `policies_of` says whose rollouts it is about.
        """
        if strategy not in get_args(ArenaStrategy):
            raise ValueError(
                f"a strategy is {' or '.join(get_args(ArenaStrategy))}, but this is {strategy!r}"
            )
        check_arena_kind(kind)
        shown = self._shown()
        rng = np.random.default_rng([self.seed, len(shown.questions)])
        candidates = shown.candidates(rng, items_of(kind))
        if strategy == "round-robin":
            return shown.with_sides(round_robin(shown, candidates, rng, kind), rng)
        several = list(candidates.values())
        strengths = self._fitter.fit(self.judgments, [item for items in several for item in items])
        return shown.with_sides(most_informative(strengths, several, judge, kind), rng)

    def _shown(self) -> Shown:
        return Shown(self.plan, tuple(judged(self.judgments)), self.skipped)

    def tell(self, question: Question, choice: str, judge: str = "") -> None:
        """Learn from an answer.

        Args:
            question: As `ask` returned it.
            choice: "left", "right" or "equal"; or "none"; or of one rollout "pass" or "fail".
            judge: Who answered.
        """
        check_arena_kind(question.kind)
        count = len(self.plan.policy_of)
        if max(question.items) >= count:
            raise ValueError(
                f"this arena has trajectories 0 to {count - 1}, but one is {max(question.items)}"
            )
        if len(question.items) == 2 and len(set(self.policies_of(question))) < 2:
            raise ValueError(f"both are rollouts of {self.policies_of(question)[0]}, which says nothing")
        self.judgments = (*self.judgments, Judgment(Answer(question, choice), judge))

    def skip(self, question: Question) -> None:
        """Leave a question unanswered."""
        self.skipped = (*self.skipped, question.items)

    def policies_of(self, question: Question) -> tuple[str, ...]:
        """The names of the policies whose rollouts a question is about, from left to right."""
        return tuple(self.plan.policies[self.plan.policy_of[item]] for item in question.items)

    @one_thread
    def strengths(self) -> Strengths:
        """The posterior over the policies' strengths."""
        return self._fitter.fit(self.judgments)

    def standings(self) -> Standings:
        """What is known about the policies now."""
        return standings_of(self.strengths(), self.judgments)
