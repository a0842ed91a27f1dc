"""Sessions of new participants and teachers, in studies of their own."""

from typing import Any, Literal

from prefero import Pool
from prefero.pools.displays import display_of
from prefero.studies.session import Session
from prefero.studies.storage.store import Store
from studies.fake_study import (
    WithoutPreparations,
    invited,
    protocol_of,
)


class SessionFactory:
    """Sessions in a store; nothing is prepared, so that a test sees all that happens."""

    def __init__(self, store: Store, pool: Pool) -> None:
        self.store, self.pool, self.slots = store, pool, WithoutPreparations()
        self.numbers = iter(range(100))

    def new(
        self,
        seed: int = 5,
        targets: tuple[str, ...] = (),
        kind: Literal["study", "teach"] = "study",
        **changed: Any,
    ) -> Session:
        """The session of a new participant in a new study, or of a new teacher."""
        number = next(self.numbers)
        parts = [{"label": label, "shapes": [{"color": "#123456"}]} for label in targets]
        display = display_of(self.pool) | {"scene": {"parts": parts}}
        protocol = protocol_of(**changed).to_json()
        study = self.store.add_study(f"s{number}", kind, protocol, self.pool, display, f"secret {number}")
        return Session(self.store, study, invited(self.store, "P1", study, seed), self.slots)


def question_of(session: Session) -> int:
    question = session.state().question
    assert question is not None
    return question.id
