"""Who is asking: the cookie holds a secret, and the secret is a teacher's, a participant's or a study's."""

import hmac
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from prefero.server.models import Role
from prefero.studies.compute_slots import Turns
from prefero.studies.session import Sitting
from prefero.studies.storage.store import Person, Store, Study, digest_of

COOKIE = "prefero"
AGE = 180 * 24 * 3600
SITTINGS = 64  # that are kept ready; others are taken up again from the database


class Forbidden(Exception):
    """The secret does not open this."""


@dataclass(frozen=True)
class Visitor:
    """Somebody who may be here."""

    role: Role
    study: Study
    person: Person | None


class House:
    """What all requests share."""

    def __init__(
        self,
        store: Store,
        *,
        guest: Visitor | None = None,
        token: tuple[str, Visitor] | None = None,
        secure: bool = False,
    ) -> None:
        self.store, self.secure = store, secure
        self.guest = guest  # who visitors without a secret are: only where nobody else can reach the server
        self.token = token and (digest_of(token[0]), token[1])  # a secret of this server, not of the database
        self.turns = Turns()
        self._sittings: OrderedDict[int, Sitting] = OrderedDict()
        self._lock = threading.Lock()

    def visitor(self, secret: str | None) -> Visitor | None:
        """Who has this secret; the guest, if it opens nothing here."""
        return (self.owner(secret) if secret is not None else None) or self.guest

    def owner(self, secret: str) -> Visitor | None:
        """Whose secret this is."""
        if self.token and hmac.compare_digest(self.token[0], digest_of(secret)):
            return self.token[1]
        found = self.store.who(secret)
        if found is None:
            return None
        study, person = found
        if person is None:
            return Visitor("experimenter", study, None)
        return Visitor("teacher" if study.kind == "teach" else "participant", study, person)

    def sitting(self, visitor: Visitor) -> Sitting:
        """The visitor's own."""
        person = visitor.person
        if person is None:
            raise Forbidden
        with self._lock:
            sitting = self._sittings.pop(person.id, None)
            if sitting is None:
                sitting = Sitting(self.store, visitor.study, person, self.turns)
            self._sittings[person.id] = sitting
            if len(self._sittings) > SITTINGS:
                self._sittings.popitem(last=False)
            return sitting


def house(request: Request) -> House:
    """The one that this server is."""
    found: House = request.app.state.house
    return found


def anybody(request: Request) -> Visitor | None:
    """The visitor, if they have a secret that opens anything."""
    return house(request).visitor(request.cookies.get(COOKIE))


def somebody(request: Request) -> Visitor:
    """The visitor, who has a secret that opens something."""
    visitor = anybody(request)
    if visitor is None:
        raise Forbidden
    return visitor


def _of(role: Role, request: Request) -> Visitor:
    visitor = somebody(request)
    if visitor.role != role:
        raise Forbidden
    return visitor


def teacher(request: Request) -> Visitor:
    """Only the teacher."""
    return _of("teacher", request)


def experimenter(request: Request) -> Visitor:
    """Only the experimenter."""
    return _of("experimenter", request)


def own_sitting(request: Request) -> Sitting:
    """Of the teacher or the participant who asks."""
    return house(request).sitting(somebody(request))


def own_teaching(request: Request) -> Sitting:
    """Of the teacher who asks."""
    return house(request).sitting(teacher(request))


Here = Annotated[House, Depends(house)]
Anybody = Annotated[Visitor | None, Depends(anybody)]
Somebody = Annotated[Visitor, Depends(somebody)]
Experimenter = Annotated[Visitor, Depends(experimenter)]
OwnSitting = Annotated[Sitting, Depends(own_sitting)]
OwnTeaching = Annotated[Sitting, Depends(own_teaching)]
