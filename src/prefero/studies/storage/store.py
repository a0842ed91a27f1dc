"""The store: studies, participants and their logs, and nothing that could be computed from them."""

import hashlib
import hmac
import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, cast

import numpy as np
from sqlalchemy import Connection, Engine, insert, select, update
from sqlalchemy.exc import IntegrityError

from prefero._support.coded_errors import CodedError
from prefero._support.commands import prefero_command
from prefero._support.names import did_you_mean
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import canonical
from prefero.studies.log.annotations import NO_REMARKS, AnnotationKind, check_tags, tidied
from prefero.studies.log.event_log import (
    SET_ASIDE,
    ActiveAnswer,
    AskedQuestion,
    EventKind,
    EventLog,
    Proposal,
    is_answer,
)
from prefero.studies.storage import schema
from prefero.studies.storage.database import reading, writing
from prefero.studies.storage.log_rows import (
    copy_log,
    insert_row,
    is_current,
    lock_participant,
    now,
    read_log,
    record_annotation,
    record_event,
    record_question,
    record_reason,
    record_stage_event,
)
from prefero.views.stages import SubmittedStage

SECRET_BYTES = 18  # of randomness: 24 letters
SESSION_LETTERS = 16
SEEDS = 2**31 - 1
LONGEST = 100  # letters of a name
LOGS = 128  # that are kept, so that only new rows are read

Kind = Literal["teach", "study"]


class Refused(CodedError, ValueError):
    """A request that does not fit the study's present state."""


@dataclass(frozen=True)
class Study:
    """A teacher's session, or a study with many participants."""

    id: int
    name: str
    kind: Kind
    protocol: Mapping[str, Any]
    pool: str
    at: str
    archived: str | None = None


@dataclass(frozen=True)
class PoolFacts:
    """What a list of sessions says of their trajectories: how many, how they are shown, and the sentence."""

    count: int
    kind: str
    task_description: str


@dataclass(frozen=True)
class Participant:
    """A person who answers; in a teaching session, the teacher.

    session   a name of their session, which is another one in every database, and no secret
    """

    id: int
    study: int
    label: str
    seed: int
    at: str
    session: str


def new_secret() -> str:
    """A random secret for a link."""
    return secrets.token_urlsafe(SECRET_BYTES)


def digest_of(secret: str) -> str:
    """What is stored of a secret. It is long and random, so a fast digest is safe."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Store:
    """All studies of one database."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._pool = lru_cache(maxsize=16)(self._read_pool)
        self._facts = lru_cache(maxsize=1024)(self._read_facts)
        self._logs: OrderedDict[int, EventLog] = OrderedDict()  # as they were read last
        self._lock = threading.Lock()  # over the logs
        self._teachers: dict[str, int] = {}  # their ids by the names of their sessions

    # --- studies and participants -------------------------------------------------------------------------

    def add_study(
        self,
        name: str,
        kind: Kind,
        protocol: Mapping[str, Any],
        pool: Pool,
        display: Mapping[str, Any],
        secret: str,
    ) -> Study:
        """A new study; `display` is how trajectories are shown, `secret` opens the experimenter's page."""
        for attempt in (1, 2):
            try:
                with writing(self.engine) as connection:
                    insert_study(connection, name, kind, protocol, pool, display, secret)
                break
            except IntegrityError:  # another server added the name or the pool at the same time
                if attempt == 2:
                    raise
        return self.study(name)

    def study(self, name: str) -> Study:
        """The study of this name, or an error that lists the existing ones."""
        known = {study.name: study for study in self.studies()}
        if name not in known:
            create = prefero_command("study", "create", name)
            there = (
                f"there are {', '.join(known)}"
                if known
                else f"create it with  {create}  or name its --database"
            )
            guess = did_you_mean(name, known) or ":"
            raise Refused("no-study", f"there is no study {name!r}{guess} {there}")
        return known[name]

    def studies(self) -> list[Study]:
        """All studies, oldest first."""
        with reading(self.engine) as connection:
            return _studies(connection)

    def study_in(self, connection: Connection, name: str) -> Study:
        """The study of this name, in the middle of a transaction."""
        return next(study for study in _studies(connection) if study.name == name)

    def change_protocol(self, study: Study, **changes: Any) -> Study:
        """Change settings, such as the sentence that says what to do; answers stay as they are."""
        c = schema.studies.c
        with writing(self.engine) as connection:  # another window may change another setting
            own = select(c.protocol).where(c.id == study.id).with_for_update()
            protocol = json.loads(connection.execute(own).scalar_one()) | changes
            self._change(connection, study, protocol=json.dumps(protocol))
        return self._again(study)

    def rename(self, study: Study, name: str) -> Study:
        """Give it another name, which no other one has."""
        check_name(name)
        try:
            with writing(self.engine) as connection:
                self._change(connection, study, name=name)
        except IntegrityError as error:
            raise Refused(
                "study-exists", f"there is already a session or a study {name!r}: choose another name"
            ) from error
        return self._again(study)

    def archive(self, study: Study, archived: bool = True) -> Study:
        """Put a session away from the list, or bring it back; nothing of it is deleted."""
        with writing(self.engine) as connection:
            self._change(connection, study, archived=now() if archived else None)
        return self._again(study)

    def _change(self, connection: Connection, study: Study, **values: Any) -> None:
        connection.execute(update(schema.studies).where(schema.studies.c.id == study.id).values(**values))

    def _again(self, study: Study) -> Study:
        """The study as it is now, perhaps under another name."""
        return next(one for one in self.studies() if one.id == study.id)

    def copy(self, study: Study, name: str, secret: str, *, answers: bool) -> Study:
        """Another study with the same trajectories, settings and people, with or without their answers."""
        check_name(name)
        row = {"name": name, "kind": study.kind, "pool": study.pool, "at": now()}
        row |= {"protocol": json.dumps(dict(study.protocol)), "secret": digest_of(secret)}
        try:
            with writing(self.engine) as connection:
                copy = insert_row(connection, schema.studies, row)
                for participant in self._participants(connection, study):
                    self._copy_participant(connection, participant, copy, answers)
        except IntegrityError as error:
            raise Refused(
                "study-exists", f"there is already a session or a study {name!r}: choose another name"
            ) from error
        return self.study(name)

    def _copy_participant(
        self, connection: Connection, participant: Participant, study: int, answers: bool
    ) -> None:
        row = {"study": study, "label": participant.label, "seed": participant.seed, "at": now()}
        own = insert_row(connection, schema.participants, row | {"code": digest_of(new_secret())})
        if answers:
            copy_log(connection, read_log(connection, participant.id), own)

    def replace_pool(self, study: Study, pool: Pool, display: Mapping[str, Any]) -> Study:
        """The same trajectories shown in another way, for example with videos; answers stay as they are."""
        if not np.array_equal(pool.features, self.pool(study).features):
            raise Refused("another-pool", f"the answers in {study.name!r} are about other trajectories")
        with writing(self.engine) as connection:
            self._change(connection, study, pool=_keep_pool(connection, pool, display))
        return self.study(study.name)

    def pool(self, study: Study) -> Pool:
        """The trajectories that its questions are about."""
        return self._pool(study.pool)[0]

    def display(self, study: Study) -> dict[str, Any]:
        """How its trajectories are shown."""
        return self._pool(study.pool)[1]

    def pool_facts(self, study: Study) -> PoolFacts:
        """What a list says of its trajectories, which are read once for it."""
        return self._facts(study.pool)

    def _read_facts(self, digest: str) -> PoolFacts:
        pool, display = self._read_pool(digest)
        return PoolFacts(len(pool), display["kind"], display["task_description"])

    def _read_pool(self, digest: str) -> tuple[Pool, dict[str, Any]]:
        c = schema.pools.c
        with reading(self.engine) as connection:
            row = connection.execute(select(c.data, c.display).where(c.digest == digest)).one()
        return Pool.from_bytes(row.data, "the study's pool"), json.loads(row.display)

    def invite(self, study: Study, label: str, code: str, seed: int | None = None) -> Participant:
        """A new participant, who signs in with this code."""
        check_length("label", label)
        row = {
            "study": study.id,
            "label": label,
            "code": digest_of(code),
            "seed": secrets.randbelow(SEEDS) if seed is None else seed,
            "at": now(),
        }
        try:
            with writing(self.engine) as connection:
                connection.execute(insert(schema.participants), row)
        except IntegrityError as error:
            raise Refused(
                "participant-exists", f"{study.name!r} already has a participant {label!r}"
            ) from error
        return next(one for one in self.participants(study) if one.label == label)

    def participants(self, study: Study) -> list[Participant]:
        """All participants of a study, in the order of their invitations."""
        with reading(self.engine) as connection:
            return self._participants(connection, study)

    def _participants(self, connection: Connection, study: Study) -> list[Participant]:
        c = schema.participants.c
        wanted = select(schema.participants).where(c.study == study.id).order_by(c.id)
        return [_participant(row) for row in connection.execute(wanted)]

    def teacher_of(self, session: str) -> tuple[Study, Participant] | None:
        """The teaching session, as it is now, and the teacher with this name of their session."""
        p, s = schema.participants.c, schema.studies.c
        taught = select(schema.participants).join(schema.studies, s.id == p.study).where(s.kind == "teach")
        known = self._teachers.get(session)
        with reading(self.engine) as connection:
            rows = connection.execute(taught if known is None else taught.where(p.id == known))
            found = next((one for one in map(_participant, rows) if one.session == session), None)
            if found is None:
                return None
            self._teachers[session] = found.id
            study = connection.execute(select(schema.studies).where(s.id == found.study)).one()
        return _study(study), found

    def renew_secret(self, study: Study, secret: str) -> None:
        """Give the experimenter another secret; the old one opens nothing from now on."""
        wanted = update(schema.studies).where(schema.studies.c.id == study.id)
        with writing(self.engine) as connection:
            connection.execute(wanted.values(secret=digest_of(secret)))

    def renew_code(self, study: Study, label: str, code: str) -> None:
        """Give a participant another code; the old one opens nothing from now on."""
        known = {participant.label: participant.id for participant in self.participants(study)}
        if label not in known:
            there = ", ".join(known) or "none yet"
            raise Refused(
                "no-participant",
                f"{study.name!r} has no participant {label!r}; its participants are: {there}",
            )
        wanted = update(schema.participants).where(schema.participants.c.id == known[label])
        with writing(self.engine) as connection:
            connection.execute(wanted.values(code=digest_of(code)))

    def owner_of(self, secret: str) -> tuple[Study, Participant | None] | None:
        """The study and the participant with this code, or the study alone for the experimenter's secret."""
        digest = digest_of(secret)
        p, s = schema.participants.c, schema.studies.c
        with reading(self.engine) as connection:
            participant = connection.execute(select(schema.participants).where(p.code == digest)).first()
            its_study = s.secret == digest if participant is None else s.id == participant.study
            study = connection.execute(select(schema.studies).where(its_study)).first()
        found = participant.code if participant is not None else study.secret if study is not None else ""
        if study is None or not hmac.compare_digest(found, digest):
            return None
        return _study(study), None if participant is None else _participant(participant)

    # --- what a participant was asked and did -------------------------------------------------------------

    def event_log(self, participant: Participant) -> EventLog:
        """Everything, from first to last."""
        with reading(self.engine) as connection:
            return self._read_log(connection, participant)

    def _read_log(self, connection: Connection, participant: Participant) -> EventLog:
        """The log, of which only the rows are read that were not read before."""
        with self._lock:
            known = self._logs.get(participant.id, EventLog())
        log = read_log(connection, participant.id, known)
        with self._lock:
            self._logs.pop(participant.id, None)
            self._logs[participant.id] = log
            while len(self._logs) > LOGS:
                self._logs.popitem(last=False)
        return log

    def add_question(self, participant: Participant, log: EventLog, proposal: Proposal) -> EventLog:
        """Record a question that was chosen from `log`; the log with it.

        If another window changed the log meanwhile, nothing is recorded, and the log is as that one left it.
        """
        with writing(self.engine) as connection:
            lock_participant(connection, participant.id)
            if log.open_question is not None or not is_current(connection, participant.id, log):
                return self._read_log(connection, participant)
            return log.with_question(record_question(connection, participant.id, log, vars(proposal)))

    def add_event(
        self,
        participant: Participant,
        question: int,
        kind: EventKind,
        key: str,
        seconds: float | None = None,
        accept: Callable[[AskedQuestion, str], str] = lambda asked, word: canonical(asked.kind, word),
    ) -> EventLog:
        """Record an event; a key that is known already changes nothing. When this returns, it is on disk.

        `accept` says how an answer to the question is stored, or refuses it.
        """
        with self._writing_log(participant) as (connection, log):
            if any(event.key == key for event in log.events):
                return log
            check_event(log, question, kind)
            kind = accept(log.by_id[question], kind) if is_answer(kind) else kind
            return log.with_event(record_event(connection, participant.id, log, question, kind, key, seconds))

    def choose_question(self, participant: Participant, proposal: Proposal, key: str) -> EventLog:
        """Record a question that was chosen by hand; the one that was open is set aside.

        A key that is known already changes nothing, and nor does the same choice again.
        """
        with self._writing_log(participant) as (connection, log):
            if any(event.key == key for event in log.events):
                return log
            asked = log.open_question
            if asked is not None and asked.is_by_hand and asked.asks_same == proposal.asks_same:
                return log
            if asked is not None:
                set_aside = record_event(connection, participant.id, log, asked.id, SET_ASIDE, key, None)
                log = log.with_event(set_aside)
            return log.with_question(record_question(connection, participant.id, log, vars(proposal)))

    def undo(
        self, participant: Participant, key: str, check: Callable[[EventLog], None] = lambda _: None
    ) -> EventLog:
        """Take back the last active answer or skip, unless `check` refuses; a known key changes nothing."""
        with self._writing_log(participant) as (connection, log):
            if any(event.key == key for event in log.events):
                return log
            check(log)
            if log.undoable is None:
                raise Refused("nothing-to-undo", "there is no answer to undo")
            return log.with_event(
                record_event(connection, participant.id, log, log.undoable, "undo", key, None)
            )

    def add_stage_event(
        self, participant: Participant, stage: SubmittedStage, item: str, data: Mapping[str, Any], key: str
    ) -> EventLog:
        """Record what was done at a stage; a key that is known already changes nothing."""
        with self._writing_log(participant) as (connection, log):
            if any(event.key == key for event in log.stage_events):
                return log
            if log.stage_event(stage, item) is not None:
                raise Refused("wrong-stage", "this was done already, perhaps in another window")
            return log.with_stage_event(
                record_stage_event(connection, participant.id, stage, item, data, key)
            )

    def add_reason(
        self,
        participant: Participant,
        question: int,
        feature: str,
        key: str,
        check: Callable[[ActiveAnswer, str], None] = lambda *_: None,
    ) -> EventLog:
        """Record the feature that is the reason of an active answer; "" takes it back.

        A key that is known already changes nothing, and nor does the reason that the answer has.
        """
        with self._writing_log(participant) as (connection, log):
            if any(reason.key == key for reason in log.reasons):
                return log
            active = log.active_answer(question)
            if active is None:
                raise Refused("not-answered", "the answer that this is the reason of was taken back")
            check(active, feature)
            if active.because == feature:
                return log
            event = active.event.id
            return log.with_reason(record_reason(connection, participant.id, event, feature, key))

    def annotate(
        self,
        participant: Participant,
        kind: AnnotationKind,
        text: str,
        key: str,
        *,
        trajectory: int | None = None,
        question: int | None = None,
    ) -> EventLog:
        """Record a note, a tag, or that a tag is removed, about a trajectory or a question.

        A key that is known already changes nothing, and nor does what holds already.
        """
        try:
            text = tidied(kind, text)
        except ValueError as error:
            raise Refused("bad-annotation", str(error)) from error
        with self._writing_log(participant) as (connection, log):
            if any(one.key == key for one in log.annotations):
                return log
            if question is not None and question not in log.by_id:
                raise Refused("no-question", "this participant was never asked that question")
            found = log.trajectory_remarks if question is None else log.question_remarks
            before = found.get(cast(int, trajectory if question is None else question), NO_REMARKS)
            after = before.after(kind, text)
            if after == before:
                return log
            try:
                check_tags(after)
            except ValueError as error:
                raise Refused("bad-annotation", str(error)) from error
            return log.with_annotation(
                record_annotation(connection, participant.id, trajectory, question, kind, text, key)
            )

    @contextmanager
    def _writing_log(self, participant: Participant) -> Iterator[tuple[Connection, EventLog]]:
        """A transaction with the participant's log, read once, while others who write to it wait."""
        with writing(self.engine) as connection:
            lock_participant(connection, participant.id)
            yield connection, self._read_log(connection, participant)


def insert_study(
    connection: Connection,
    name: str,
    kind: Kind,
    protocol: Mapping[str, Any],
    pool: Pool,
    display: Mapping[str, Any],
    secret: str,
    at: str | None = None,
) -> None:
    """Add a study's row, and its pool's if it is new."""
    check_length("name", name)
    if any(study.name == name for study in _studies(connection)):
        raise Refused("study-exists", f"there is already a study {name!r}: choose another name")
    digest = _keep_pool(connection, pool, display)
    row = {"name": name, "kind": kind, "protocol": json.dumps(protocol), "pool": digest}
    connection.execute(insert(schema.studies), row | {"secret": digest_of(secret), "at": at or now()})


def _keep_pool(connection: Connection, pool: Pool, display: Mapping[str, Any]) -> str:
    """Add a pool's row if it is new; its digest."""
    data = pool.to_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if not connection.execute(select(schema.pools.c.digest).where(schema.pools.c.digest == digest)).first():
        kept = {"digest": digest, "data": data, "display": json.dumps(display)}
        connection.execute(insert(schema.pools), kept)
    return digest


def check_length(what: str, text: str) -> None:
    """PostgreSQL stores no longer names, and SQLite would."""
    if not 0 < len(text) <= LONGEST:
        raise Refused("bad-name", f"a {what} has 1 to {LONGEST} letters, but this one has {len(text)}")


def check_name(name: str) -> None:
    """A name is shown in a line of its own, and typed in a command."""
    check_length("name", name)
    if not name.isprintable() or name != name.strip():
        raise Refused("bad-name", f"a name is one line without spaces around it, and this is {name!r}")


def _studies(connection: Connection) -> list[Study]:
    wanted = select(schema.studies).order_by(schema.studies.c.id)
    return [_study(row) for row in connection.execute(wanted)]


def check_event(log: EventLog, question: int, kind: EventKind) -> None:
    """Refuse an event that does not fit those before it."""
    if question not in log.by_id:
        raise Refused("no-question", "this participant was never asked that question")
    if (is_answer(kind) or kind in ("skip", SET_ASIDE)) and (
        log.open_question is None or log.open_question.id != question
    ):
        raise Refused("already-answered", "that question was answered or replaced, perhaps in another window")
    answered = {active.asked.id for active in log.answers}
    if kind == "delete" and question not in answered:
        raise Refused("not-answered", "there is no answer to delete")
    if kind == "restore" and question not in log.deleted:
        raise Refused("not-deleted", "there is no deleted answer to restore")
    if kind == "undo" and question not in answered | {asked.id for asked in log.skipped}:
        raise Refused("nothing-to-undo", "that answer was undone already, perhaps in another window")


def _participant(row: Any) -> Participant:
    session = digest_of(f"session {row.code}")[:SESSION_LETTERS]
    return Participant(row.id, row.study, row.label, row.seed, row.at, session)


def _study(row: Any) -> Study:
    return Study(
        row.id, row.name, cast(Kind, row.kind), json.loads(row.protocol), row.pool, row.at, row.archived
    )
