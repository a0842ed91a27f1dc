"""A question that was chosen for a participant, with what helps to be fast afterwards."""

from collections.abc import Generator
from dataclasses import dataclass, replace

from prefero.studies.log.event_log import Proposal


@dataclass(frozen=True)
class ChosenQuestion:
    """The next question.

    likely       the most probable answer; empty where no model chose the question
    runners_up   other good questions of the same search, the best first
    """

    proposal: Proposal
    likely: str = ""
    runners_up: tuple[Proposal, ...] = ()

    @property
    def substitutes(self) -> tuple[Proposal, ...]:
        """Good questions to ask later, when the best one is not ready."""
        return tuple(replace(one, selection="runner-up") for one in (self.proposal, *self.runners_up))


ChoosingSteps = Generator[None, None, ChosenQuestion]
