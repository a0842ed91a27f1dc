"""Whether a person can stop answering now, for the page."""

from dataclasses import dataclass

from prefero._support.arrays import one_thread
from prefero.learner import Learner
from prefero.models.explain.learning_progress import AHEAD
from prefero.models.posterior.draws import Estimate
from prefero.studies.log.event_log import EventLog


@dataclass(frozen=True)
class StopAdvice:
    """Whether five more answers would change little, with the numbers behind it; see `Learner.can_stop`.

    ahead   how many more answers the gain is about
    """

    can_stop: bool
    answers: int
    accuracy: Estimate
    gain: float
    ahead: int


@one_thread
def stop_advice(learner: Learner, _: EventLog) -> StopAdvice:
    """Whether a person can stop now."""
    progress = learner.progress()
    accuracy = Estimate(progress.accuracy, progress.low, progress.high)
    return StopAdvice(learner.can_stop(), progress.answers, accuracy, progress.gain, AHEAD)
