"""What the teacher's pages show of a learner, as functions that are computed where the learner is.

Each takes a learner and the log of its answers, as `Session.of_learner` gives them.
"""

from collections.abc import Mapping

from prefero._support.arrays import one_thread
from prefero.learner import Learner
from prefero.models.explanation import Statement
from prefero.rewards.reward import BestTrajectory
from prefero.studies.log.event_log import EventLog
from prefero.studies.reports.learning_summary import (
    FeatureLabel,
    LearningSummary,
    goal_sentence,
    learning_summary,
)


def summary_of(learner: Learner, log: EventLog, labels: list[FeatureLabel]) -> LearningSummary:
    """What was learned so far."""
    return learning_summary(log, learner, labels)


@one_thread
def reward_facts(
    learner: Learner, _: EventLog, units: Mapping[str, str]
) -> tuple[BestTrajectory, int, list[Statement]]:
    """The best trajectory, the number of answers, and statements about the reward."""
    reward = learner.reward()
    return reward.best(learner.pool), len(learner.answers), reward.explain(learner.pool, units=units)


def reward_file_text(learner: Learner, _: EventLog) -> str:
    """The learned reward as its file has it."""
    return learner.reward().to_json()


def goal_reached(learner: Learner, _: EventLog, goal: float) -> str:
    """That as many answers are predicted as the teacher wanted."""
    return goal_sentence(learner.progress(), goal)
