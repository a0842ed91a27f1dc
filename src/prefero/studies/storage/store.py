"""The store: what is kept of studies and people, and nothing that could be worked out from it."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal, cast

from sqlalchemy import Connection, Engine, insert, select
from sqlalchemy.exc import IntegrityError

from prefero.pools.pool import Pool
from prefero.studies.event_log import ANSWERS, Asked, Log, Said, Step, Told
from prefero.studies.storage import schema
from prefero.studies.storage.database import reading, writing

SECRET_BYTES = 18  # of chance in a code: 24 letters
SEEDS = 2**31 - 1
LONGEST = 100  # letters of a name

Kind = Literal["teach", "study"]


class Refused(ValueError):
    """The request does not fit the state of things. `code` says why in a word."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Study:
    """A teacher's session, or a study."""

    id: int
    name: str
    kind: Kind
    protocol: Mapping[str, Any]
    pool: str
    at: str


@dataclass(frozen=True)
class Person:
    """Somebody who answers."""

    id: int
    study: int
    label: str
    seed: int
    at: str


@dataclass(frozen=True)
class Proposal:
    """A question that is about to be asked."""

    slot: int
    method: str
    left: int
    right: int
    bits: float | None = None
    accuracy: float | None = None


def new_secret() -> str:
    """Unguessable, and fit for a link."""
    return secrets.token_urlsafe(SECRET_BYTES)


def digest_of(secret: str) -> str:
    """What is kept of a secret. It is long and random, so a fast digest is safe."""
    return hashlib.sha256(secret.encode()).hexdigest()


def now() -> str:
    """The moment, as it is kept."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Store:
    """All studies of one database."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._pool = lru_cache(maxsize=16)(self._read_pool)

    # --- studies and people -------------------------------------------------------------------------------

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
            except IntegrityError:  # somebody else added the name or the pool at the same moment
                if attempt == 2:
                    raise
        return self.study(name)

    def study(self, name: str) -> Study:
        """The study of this name, or an error that lists those there are."""
        known = {study.name: study for study in self.studies()}
        if name not in known:
            there = f"there are {', '.join(known)}" if known else "there is none yet"
            raise Refused("no-study", f"there is no study {name!r}: {there}")
        return known[name]

    def studies(self) -> list[Study]:
        """All of them, oldest first."""
        with reading(self.engine) as connection:
            return _studies(connection)

    def study_in(self, connection: Connection, name: str) -> Study:
        """The study of this name, in the middle of a transaction."""
        return next(study for study in _studies(connection) if study.name == name)

    def pool(self, study: Study) -> Pool:
        """What its questions are about."""
        return self._pool(study.pool)[0]

    def display(self, study: Study) -> dict[str, Any]:
        """How its trajectories are shown."""
        return self._pool(study.pool)[1]

    def _read_pool(self, digest: str) -> tuple[Pool, dict[str, Any]]:
        c = schema.pools.c
        with reading(self.engine) as connection:
            row = connection.execute(select(c.data, c.display).where(c.digest == digest)).one()
        return Pool.from_bytes(row.data, "the study's pool"), json.loads(row.display)

    def invite(self, study: Study, label: str, code: str, seed: int | None = None) -> Person:
        """Somebody new, who comes with this code."""
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
                connection.execute(insert(schema.people), row)
        except IntegrityError as error:
            raise Refused("person-exists", f"there is a {label!r} in {study.name!r} already") from error
        return next(person for person in self.people(study) if person.label == label)

    def people(self, study: Study) -> list[Person]:
        """Everybody in a study, in the order of their invitations."""
        c = schema.people.c
        wanted = select(c.id, c.study, c.label, c.seed, c.at).where(c.study == study.id).order_by(c.id)
        with reading(self.engine) as connection:
            return [Person(*row) for row in connection.execute(wanted)]

    def who(self, secret: str) -> tuple[Study, Person | None] | None:
        """Whose secret this is: a participant's code, or a study's own, which is nobody's."""
        digest = digest_of(secret)
        p, s = schema.people.c, schema.studies.c
        with reading(self.engine) as connection:
            person = connection.execute(
                select(p.id, p.study, p.label, p.seed, p.at, p.code).where(p.code == digest)
            ).first()
            mine = s.secret == digest if person is None else s.id == person.study
            study = connection.execute(
                select(s.id, s.name, s.kind, s.protocol, s.pool, s.at, s.secret).where(mine)
            ).first()
        found = person.code if person is not None else study.secret if study is not None else ""
        if study is None or not hmac.compare_digest(found, digest):
            return None
        return _study(study), None if person is None else Person(*person[:5])

    # --- what a person was asked and said -----------------------------------------------------------------

    def log(self, person: Person) -> Log:
        """Everything, from first to last."""
        with reading(self.engine) as connection:
            return _log(connection, person.id)

    def ask(self, person: Person, basis: int, proposal: Proposal) -> Log:
        """Keep a question that rests on `basis`, unless another window was sooner; the log with it."""
        with writing(self.engine) as connection:
            log = _locked(connection, person.id)
            if log.basis != basis or log.open is not None:
                return log
            row = vars(proposal) | {"person": person.id, "number": log.number, "basis": basis, "at": now()}
            connection.execute(insert(schema.questions), row)
            return _log(connection, person.id)

    def tell(self, person: Person, question: int, said: Said, key: str, seconds: float | None = None) -> Log:
        """Keep what was said; the same key twice is once. When this returns, it is on disk."""
        with writing(self.engine) as connection:
            log = _locked(connection, person.id)
            if any(told.key == key for told in log.told):
                return log
            _check_told(log, question, said)
            connection.execute(
                insert(schema.answers),
                {
                    "person": person.id,
                    "question": question,
                    "turn": log.turn(question),
                    "said": said,
                    "key": key,
                    "seconds": seconds,
                    "at": now(),
                },
            )
            return _log(connection, person.id)

    def undo(self, person: Person, key: str) -> Log:
        """Take back the last answer in force, or the skip that came after it."""
        log = self.log(person)
        if any(told.key == key for told in log.told):
            return log
        last = _undoable(log)
        if last is None:
            raise Refused("nothing-to-undo", "there is no answer to take back")
        return self.tell(person, last, "undo", key)

    def do(self, person: Person, stage: str, item: str, data: Mapping[str, Any], key: str) -> Log:
        """Keep a step; the same key twice is once."""
        with writing(self.engine) as connection:
            log = _locked(connection, person.id)
            if any(step.key == key for step in log.steps):
                return log
            if log.step(stage, item) is not None:
                raise Refused("wrong-stage", "this was done already, perhaps in another window")
            row = {"person": person.id, "stage": stage, "item": item, "data": json.dumps(data)}
            connection.execute(insert(schema.steps), row | {"key": key, "at": now()})
            return _log(connection, person.id)


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
    """A study's row, and its pool's unless that is there."""
    check_length("name", name)
    if any(study.name == name for study in _studies(connection)):
        raise Refused("study-exists", f"there is a study {name!r} already: choose another name")
    data = pool.to_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if not connection.execute(select(schema.pools.c.digest).where(schema.pools.c.digest == digest)).first():
        kept = {"digest": digest, "data": data, "display": json.dumps(display)}
        connection.execute(insert(schema.pools), kept)
    row = {"name": name, "kind": kind, "protocol": json.dumps(protocol), "pool": digest}
    connection.execute(insert(schema.studies), row | {"secret": digest_of(secret), "at": at or now()})


def check_length(what: str, text: str) -> None:
    """PostgreSQL keeps no longer names, and SQLite would."""
    if not 0 < len(text) <= LONGEST:
        raise Refused("bad-name", f"a {what} has 1 to {LONGEST} letters, but this one has {len(text)}")


def _studies(connection: Connection) -> list[Study]:
    c = schema.studies.c
    wanted = select(c.id, c.name, c.kind, c.protocol, c.pool, c.at).order_by(c.id)
    return [_study(row) for row in connection.execute(wanted)]


def _undoable(log: Log) -> int | None:
    """The question whose answer or skip came last, of those that still stand."""
    standing = [(live.told.id, live.asked.id) for live in log.live]
    standing += [(log.turns[asked.id][-1].id, asked.id) for asked in log.skipped]
    return max(standing)[1] if standing else None


def _check_told(log: Log, question: int, said: Said) -> None:
    """Does this fit what was said before?"""
    if question not in log.by_id:
        raise Refused("no-question", "that question was never asked here")
    live = {answer.asked.id for answer in log.live}
    if said in (*ANSWERS, "skip") and (log.open is None or log.open.id != question):
        raise Refused("already-answered", "that question was answered or replaced, perhaps in another window")
    if said == "delete" and question not in live:
        raise Refused("not-answered", "there is no answer to delete")
    if said == "restore" and question not in log.deleted:
        raise Refused("not-deleted", "there is no deleted answer to restore")
    if said == "undo" and question != _undoable(log):
        raise Refused("nothing-to-undo", "that answer was taken back already, perhaps in another window")


def _locked(connection: Connection, person: int) -> Log:
    """The log, with everybody else who writes about this person waiting."""
    connection.execute(select(schema.people.c.id).where(schema.people.c.id == person).with_for_update())
    return _log(connection, person)


def _log(connection: Connection, person: int) -> Log:
    q, a, s = schema.questions.c, schema.answers.c, schema.steps.c
    asked = select(
        q.id, q.number, q.basis, q.slot, q.method, q.left, q.right, q.bits, q.accuracy, q.at
    ).where(q.person == person)
    told = select(a.id, a.question, a.turn, a.said, a.key, a.seconds, a.at).where(a.person == person)
    steps = select(s.id, s.stage, s.item, s.data, s.key, s.at).where(s.person == person)
    return Log(
        tuple(Asked(**row._mapping) for row in connection.execute(asked.order_by(q.id))),
        tuple(Told(*row) for row in connection.execute(told.order_by(a.id))),
        tuple(
            Step(row.id, row.stage, row.item, json.loads(row.data), row.key, row.at)
            for row in connection.execute(steps.order_by(s.id))
        ),
    )


def _study(row: Any) -> Study:
    return Study(row.id, row.name, cast(Kind, row.kind), json.loads(row.protocol), row.pool, row.at)
