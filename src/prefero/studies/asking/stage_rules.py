"""The rules of the stages, one class each: when a stage is due, what it shows, and what it accepts.

A new stage is a word of `stages.Stage`, a class here, and a view of the page.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from prefero.questions import Question
from prefero.studies.log.event_log import EventLog
from prefero.studies.protocol.protocol import Protocol
from prefero.studies.storage.store import Refused
from prefero.views.session_state import Rating, ShownQuestion, StageParts, TargetScores
from prefero.views.stages import Stage

if TYPE_CHECKING:
    from prefero.studies.session import Session

LOWEST_SCORE, HIGHEST_SCORE = 2, 9
LOWEST_RATING, HIGHEST_RATING = 1, 9
Data = Mapping[str, Any]


class StageRule(ABC):
    """The rule of one stage."""

    @abstractmethod
    def is_due(self, log: EventLog, protocol: Protocol) -> bool:
        """Whether the protocol has this stage, and the participant has not completed it."""

    def show(self, session: "Session", log: EventLog) -> StageParts:
        """What the page shows at this stage."""
        return {}

    def accept(self, session: "Session", log: EventLog, data: Data) -> tuple[str, dict[str, Any]]:
        """The item and the data of the stage event to record, or a refusal."""
        raise NotImplementedError(f"{type(self).__name__} takes no data")


class Consent(StageRule):
    """The participant agrees to take part."""

    def is_due(self, log: EventLog, protocol: Protocol) -> bool:
        """Before anything else, where the protocol has a text."""
        return bool(protocol.consent) and log.stage_event("consent") is None

    def show(self, session: "Session", log: EventLog) -> StageParts:
        """The text to agree to."""
        return {"text": session.protocol.consent}

    def accept(self, session: "Session", log: EventLog, data: Data) -> tuple[str, dict[str, Any]]:
        """Agreement, and nothing less."""
        if data.get("agreed") is not True:
            raise Refused("no-consent", "without consent there is no study: you may close the page")
        return "", {"agreed": True}


class Instructions(StageRule):
    """The participant reads what to do."""

    def is_due(self, log: EventLog, protocol: Protocol) -> bool:
        """Where the protocol has a text."""
        return bool(protocol.instructions) and log.stage_event("instructions") is None

    def show(self, session: "Session", log: EventLog) -> StageParts:
        """The text."""
        return {"text": session.protocol.shown_instructions}

    def accept(self, session: "Session", log: EventLog, data: Data) -> tuple[str, dict[str, Any]]:
        """That they were read."""
        return "", {}


class ScoreTargets(StageRule):
    """The participant gives each target a different whole number."""

    def is_due(self, log: EventLog, protocol: Protocol) -> bool:
        """Where the protocol asks for scores."""
        return protocol.target_scores and log.stage_event("target_scores") is None

    def show(self, session: "Session", log: EventLog) -> StageParts:
        """The targets."""
        targets = session.targets()
        if not targets:
            raise Refused(
                "no-targets", "this world has no targets: set target_scores = false in the protocol"
            )
        labels, colors = [t["label"] for t in targets], [t["shapes"][0]["color"] for t in targets]
        return {"target_scores": TargetScores(labels, colors, LOWEST_SCORE, HIGHEST_SCORE)}

    def accept(self, session: "Session", log: EventLog, data: Data) -> tuple[str, dict[str, Any]]:
        """A different whole number for every target."""
        wanted, scores = self.show(session, log)["target_scores"], list(data.values())
        if (
            set(data) != set(wanted.labels)
            or any(type(score) is not int for score in scores)
            or len(set(scores)) != len(scores)
            or not all(LOWEST_SCORE <= score <= HIGHEST_SCORE for score in scores)
        ):
            raise Refused(
                "bad-scores",
                f"every target needs a different whole number from {LOWEST_SCORE} to {HIGHEST_SCORE}",
            )
        return "", dict(data)


class Practice(StageRule):
    """The participant answers a question that does not count."""

    def is_due(self, log: EventLog, protocol: Protocol) -> bool:
        """Where the protocol asks for it."""
        return protocol.practice and log.stage_event("practice") is None

    def show(self, session: "Session", log: EventLog) -> StageParts:
        """A random question."""
        question = Question(*session.questions.practice_items(), kind=session.protocol.kinds[0])
        return {"question": ShownQuestion.of(question, id=0)}

    def accept(self, session: "Session", log: EventLog, data: Data) -> tuple[str, dict[str, Any]]:
        """An answer, or a skip."""
        choice = data.get("choice")
        if choice != "skip":
            choice = session.checked_choice(session.protocol.kinds[0], choice)
        return "", {"choice": choice}


class Compare(StageRule):
    """The participant answers questions; the session shows and records those."""

    def is_due(self, log: EventLog, protocol: Protocol) -> bool:
        """Until all questions are answered, or without an end."""
        return protocol.open_ended or len(log.answers) < protocol.total_questions


class Rate(StageRule):
    """The participant rates the best trajectory of every method, one after the other."""

    def is_due(self, log: EventLog, protocol: Protocol) -> bool:
        """Where the protocol asks for it, until every method is rated."""
        return protocol.rate and bool(unrated_methods(log, protocol))

    def show(self, session: "Session", log: EventLog) -> StageParts:
        """The best trajectory of the next method."""
        number, (_, best) = self._next(session, log)
        total = len(session.protocol.methods)
        return {"rating": Rating(best, number, total, LOWEST_RATING, HIGHEST_RATING)}

    def accept(self, session: "Session", log: EventLog, data: Data) -> tuple[str, dict[str, Any]]:
        """A rating of the trajectory that is shown."""
        number, (label, best) = self._next(session, log)
        rating = data.get("rating")
        if (data.get("number"), data.get("trajectory")) != (number, best):
            raise Refused("wrong-stage", "another trajectory is to be rated now: load the page again")
        if type(rating) is not int or not LOWEST_RATING <= rating <= HIGHEST_RATING:
            raise Refused(
                "bad-rating", f"a rating is a whole number from {LOWEST_RATING} to {HIGHEST_RATING}"
            )
        return label, {"trajectory": best, "rating": rating}

    def _next(self, session: "Session", log: EventLog) -> tuple[int, tuple[str, int]]:
        left = unrated_methods(log, session.protocol)
        bests = enumerate(session.best_trajectories(log), 1)
        return next((number, best) for number, best in bests if best[0] in left)


class Done(StageRule):
    """The participant has done everything."""

    def is_due(self, log: EventLog, protocol: Protocol) -> bool:
        """After everything else."""
        return True

    def show(self, session: "Session", log: EventLog) -> StageParts:
        """Thanks."""
        return {"text": session.protocol.thanks}


RULES: dict[Stage, StageRule] = {
    "consent": Consent(),
    "instructions": Instructions(),
    "target_scores": ScoreTargets(),
    "practice": Practice(),
    "compare": Compare(),
    "rate": Rate(),
    "done": Done(),
}


def stage_of(log: EventLog, protocol: Protocol) -> Stage:
    """The stage that a participant is at: the first that is due."""
    return next(stage for stage, rule in RULES.items() if rule.is_due(log, protocol))


def unrated_methods(log: EventLog, protocol: Protocol) -> list[str]:
    """Labels of the methods whose best trajectory is not rated yet."""
    return [method.label for method in protocol.methods if log.stage_event("rate", method.label) is None]
