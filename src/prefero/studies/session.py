"""A sitting: one person before the page. What comes next, and what becomes of what they say.

    stage     consent, instructions, target_scores, practice, compare, rate, done
    moment    all that the page needs to show now

Everything is worked out from the log, so a sitting can be forgotten and taken up by another server.
"""

import threading
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from prefero.learner import Learner
from prefero.pools.pool import Pool
from prefero.questions import CHOICES, Choice
from prefero.studies.compute_slots import Turns
from prefero.studies.displays import targets_of
from prefero.studies.event_log import Asked, Log, Said
from prefero.studies.learner_cache import Minds
from prefero.studies.participant_progress import compares, stage_of, unrated
from prefero.studies.protocol import RETEST, TEST, Protocol
from prefero.studies.session_state import (
    HIGHEST_RATING,
    HIGHEST_SCORE,
    LOWEST_RATING,
    LOWEST_SCORE,
    Rating,
    SessionState,
    ShownQuestion,
    Stage,
    TargetScores,
)
from prefero.studies.storage.store import Person, Proposal, Refused, Store, Study


class Sitting:
    """One person of one study."""

    def __init__(self, store: Store, study: Study, person: Person, turns: Turns) -> None:
        self.store, self.study, self.person, self.turns = store, study, person, turns
        self.pool: Pool = store.pool(study)
        self.protocol = Protocol.from_json(study.protocol)
        self.plan = self.protocol.plan(person.seed)
        self.minds = Minds(self.pool, self.protocol, person.seed)
        self._lock = threading.Lock()

    # --- what the person does -----------------------------------------------------------------------------

    def moment(self) -> SessionState:
        """What comes now."""
        return self._moment(self.store.log(self.person))

    def answer(self, question: int, said: Said, key: str, seconds: float | None = None) -> SessionState:
        """An answer or a skip; it is on disk before anything else is done."""
        if said == "equal" and not self.protocol.ties:
            raise Refused("no-ties", "'about equal' is no answer in this study: choose A or B")
        return self._moment(self.store.tell(self.person, question, said, key, seconds))

    def undo(self, key: str) -> SessionState:
        """Take the last answer back, as long as there are questions: what is rated rests on the answers."""
        log = self.store.log(self.person)
        if not any(told.key == key for told in log.told) and self.stage(log) != "compare":
            raise Refused("nothing-to-undo", "all questions are answered, and cannot be changed any more")
        return self._moment(self.store.undo(self.person, key))

    def change(self, question: int, change: Literal["delete", "restore"], key: str) -> SessionState:
        """Delete an answer from the history, or restore it."""
        return self._moment(self.store.tell(self.person, question, change, key))

    def step(self, stage: str, data: Mapping[str, Any], key: str) -> SessionState:
        """Consent, scores, practice or a rating."""
        log = self.store.log(self.person)
        if any(step.key == key for step in log.steps):
            return self._moment(log)
        if stage != self.stage(log):
            raise Refused("wrong-stage", "this was done already, perhaps in another window")
        item, kept = self._checked(stage, data, log)
        return self._moment(self.store.do(self.person, stage, item, kept, key))

    def ahead(self) -> tuple[list[int], bool]:
        """Trajectories that may be shown next, and whether these are all."""
        log = self.store.log(self.person)
        if compares(log, self.protocol) and log.open is None:
            return [], False
        after = [log.imagine(log.open, said) for said in self._likely(log)] if log.open else []
        coming = [self._coming(imagined) for imagined in after if compares(imagined, self.protocol)]
        ready = [proposal for proposal in coming if proposal is not None]
        pairs = [index for proposal in ready for index in (proposal.left, proposal.right)]
        return sorted(set(pairs)), len(ready) == len(coming)

    def learner(self, label: str | None = None) -> Learner:
        """What a method has learned so far, for those who may see it."""
        log = self.store.log(self.person)
        with self.turns.mine(), self._lock:
            return self.minds.learner(label or self.protocol.methods[0].label, log).fork()

    # --- where that leaves them ---------------------------------------------------------------------------

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The kinds of answers that the protocol allows."""
        return tuple(choice for choice in CHOICES if choice != "equal" or self.protocol.ties)

    def stage(self, log: Log) -> Stage:
        """What the person is at."""
        return stage_of(log, self.protocol)

    def _moment(self, log: Log) -> SessionState:
        stage, question = self.stage(log), None
        if stage == "compare":
            log, asked = self._open(log)
            question = self._shown(asked)
            for said in self._likely(log):
                self.turns.later(lambda said=said, log=log: self._prepare(log, said))  # type: ignore[misc]
        if stage == "practice":
            question = ShownQuestion(0, 0, list(self._pair(0)), None, None)
        texts = {
            "consent": self.protocol.consent,
            "instructions": self.protocol.instructions,
            "done": self.protocol.thanks,
        }
        return SessionState(
            stage=stage,
            title=self.protocol.title,
            text=texts.get(stage),
            answered=len(log.live),
            total=self.protocol.slots,
            question=question,
            choices=list(self.choices),
            can_undo=stage == "compare" and bool(log.live or log.skipped),
            can_skip=stage == "compare",
            target_scores=self._target_scores() if stage == "target_scores" else None,
            rating=self._rating(log) if stage == "rate" else None,
        )

    def _shown(self, asked: Asked) -> ShownQuestion:
        """The question for the page; participants of a study do not see what the model expects of it."""
        value = asked.bits if self.study.kind == "teach" else None
        unit = None if value is None else "bits"
        return ShownQuestion(asked.id, asked.number, [asked.left, asked.right], value, unit)

    def _open(self, log: Log) -> tuple[Log, Asked]:
        """The question that waits; asked now, if it was not yet."""
        while log.open is None:
            with self.turns.mine(), self._lock:
                proposal = self._propose(log)
            log = self.store.ask(self.person, log.basis, proposal)
        return log, log.open

    # --- what is asked ------------------------------------------------------------------------------------

    def _label(self, log: Log) -> str:
        """Who asks the next question."""
        slot = len(log.live)
        return self.plan[slot] if slot < len(self.plan) else self.protocol.methods[0].label

    def _propose(self, log: Log) -> Proposal:
        slot, label = len(log.live), self._label(log)
        if label == RETEST:
            again = self._earlier(log)
            return Proposal(slot, RETEST, again.right, again.left)
        if label == TEST:
            return Proposal(slot, TEST, *self._pair(slot + 1, len(log.skipped)))
        question, accuracy = self.minds.next(label, log)
        return Proposal(slot, label, question.left, question.right, question.value, accuracy)

    def _likely(self, log: Log) -> list[Said]:
        """Answers that are worth preparing for: who never says "about equal" will hardly begin to."""
        equals = any(live.told.said == "equal" for live in log.live)
        return [said for said in self.choices if said != "equal" or equals]

    def _coming(self, after: Log) -> Proposal | None:
        """What comes then, if that is known already."""
        label = self._label(after)
        with self._lock:
            known = label in (TEST, RETEST) or self.minds.is_ready(label, after)
            return self._propose(after) if known else None

    def _prepare(self, log: Log, said: Said) -> None:
        """The question that comes after an answer, before it is given."""
        if log.open is None or self.store.log(self.person).basis != log.basis:
            return  # the answer is there already
        after = log.imagine(log.open, said)
        if compares(after, self.protocol):
            with self._lock:
                self._propose(after)

    def _pair(self, *where: int) -> tuple[int, int]:
        """Two random trajectories, the same ones whenever they are asked for."""
        rng = np.random.default_rng([self.person.seed, 2, *where])
        left, right = (int(i) for i in rng.choice(len(self.pool), 2, replace=False))
        return left, right

    def _earlier(self, log: Log) -> Asked:
        """One of the questions of the first half that was not asked again."""
        first = [live.asked for live in log.live if live.asked.method != RETEST]
        again = {_pair_of(live.asked) for live in log.live if live.asked.method == RETEST}
        fresh = [asked for asked in first if _pair_of(asked) not in again] or first
        early = fresh[: max(len(fresh) // 2, 1)]
        rng = np.random.default_rng([self.person.seed, 3, len(log.live), len(log.skipped)])
        return early[int(rng.integers(len(early)))]

    # --- scores and ratings -------------------------------------------------------------------------------

    def _target_scores(self) -> TargetScores:
        named = targets_of(self.store.display(self.study))
        if not named:
            raise Refused(
                "no-targets", "this world has no targets: set target_scores = false in the protocol"
            )
        labels, colors = [part["label"] for part in named], [part["shapes"][0]["color"] for part in named]
        return TargetScores(labels, colors, LOWEST_SCORE, HIGHEST_SCORE)

    def _bests(self, log: Log) -> list[tuple[str, int]]:
        """What each method thinks best, in an order of the person's own."""
        order = np.random.default_rng([self.person.seed, 4]).permutation(len(self.protocol.methods))
        labels = [self.protocol.methods[int(i)].label for i in order]
        with self.turns.mine(), self._lock:
            return [
                (label, self.minds.learner(label, log).fork().reward().best(self.pool).index)
                for label in labels
            ]

    def _rating(self, log: Log) -> Rating:
        bests, left = self._bests(log), set(unrated(log, self.protocol))
        number, best = next((n, best) for n, (label, best) in enumerate(bests, 1) if label in left)
        return Rating(best, number, len(bests), LOWEST_RATING, HIGHEST_RATING)

    def _checked(self, stage: str, data: Mapping[str, Any], log: Log) -> tuple[str, Mapping[str, Any]]:
        """What is kept of a step, and the item that it is about."""
        if stage == "consent" and data.get("agreed") is not True:
            raise Refused("no-consent", "without consent there is no study: you may close the page")
        if stage == "target_scores":
            return "", self._checked_scores(data)
        if stage == "practice" and data.get("choice") not in self.choices:
            raise Refused("bad-choice", f"an answer is one of {', '.join(self.choices)}")
        if stage == "rate":
            return self._checked_rating(data, log)
        kept = {"consent": "agreed", "practice": "choice"}.get(stage)
        return "", {kept: data[kept]} if kept else {}

    def _checked_scores(self, data: Mapping[str, Any]) -> dict[str, int]:
        wanted = self._target_scores()
        scores = list(data.values())
        if (
            set(data) != set(wanted.labels)
            or any(type(score) is not int for score in scores)
            or len(set(scores)) != len(scores)
            or not all(LOWEST_SCORE <= score <= HIGHEST_SCORE for score in scores)
        ):
            raise Refused(
                "bad-scores",
                f"every target needs a whole number from {LOWEST_SCORE} to {HIGHEST_SCORE} of its own",
            )
        return dict(data)

    def _checked_rating(self, data: Mapping[str, Any], log: Log) -> tuple[str, dict[str, int]]:
        left = set(unrated(log, self.protocol))
        label, best = next((label, best) for label, best in self._bests(log) if label in left)
        rating = data.get("rating")
        if data.get("trajectory") != best:
            raise Refused("wrong-stage", "that trajectory is not the one to be rated now")
        if type(rating) is not int or not LOWEST_RATING <= rating <= HIGHEST_RATING:
            raise Refused("bad-rating", f"a rating is one of {LOWEST_RATING} to {HIGHEST_RATING}")
        return label, {"trajectory": best, "rating": rating}


def _pair_of(asked: Asked) -> frozenset[int]:
    return frozenset((asked.left, asked.right))
