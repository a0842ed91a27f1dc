"""A question that was chosen for a participant, and the answer to it that is expected."""

from collections.abc import Generator
from typing import NamedTuple

from prefero.studies.log.event_log import Proposal


class ChosenQuestion(NamedTuple):
    """The next question.

    likely       the most probable answer; empty where no model chose the question
    """

    proposal: Proposal
    likely: str = ""


ChoosingSteps = Generator[None, None, ChosenQuestion]
