"""What the person who runs the server does with the teaching sessions of its database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from prefero import worlds
from prefero.server.begin_session import BeginRequest
from prefero.server.beginnings import Beginning, Beginnings
from prefero.server.uploads import Uploads
from prefero.studies.protocol.protocol import Protocol
from prefero.studies.storage.database import address_of
from prefero.studies.storage.store import Refused, Store, Study
from prefero.studies.teaching_sessions import (
    TeachingSession,
    TeachingSettings,
    change_settings,
    check_about_group,
    free_name,
    setting_changes,
    teaching_session,
    teaching_sessions,
)

QUESTIONS = 30  # of a new session


@dataclass(frozen=True)
class WorldChoice:
    """A world that a new session can be about."""

    name: str
    task_description: str


class SessionManager:
    """The teaching sessions of one database.

    Args:
        store: The database.
        command: The command that continues a session later; of None, that which opens the list.
        stored_in: Where the answers are, as a person may see it.
        about: What questions are about where several people teach.
        link: A link to a session (of None: to the list) for other machines; None if only this one reaches
            the server.
    """

    def __init__(
        self,
        store: Store,
        command: Callable[[Study | None], str],
        stored_in: str,
        about: str = "person",
        link: Callable[[str | None], str | None] = lambda _: None,
    ) -> None:
        self.link = link
        self.store, self.command, self.stored_in, self.about = store, command, stored_in, about
        self.uploads = Uploads.beside(address_of(store.engine))
        self.beginnings = Beginnings(store)

    def sessions(self) -> list[TeachingSession]:
        """All sessions, the newest first."""
        return teaching_sessions(self.store)

    def worlds(self) -> list[WorldChoice]:
        """The worlds that can be used without code of the user's own."""
        return [WorldChoice(name, worlds.make(name).task_description) for name in worlds.names()]

    def begin_world(self, world: str, name: str, **settings: object) -> Beginning:
        """Begin a session about a world."""
        if world not in worlds.names():
            raise Refused("bad-session", f"there is no world {world!r}: choose {', '.join(worlds.names())}")
        request = self._request(world, name or free_name(self.store, world), settings)
        return self.beginnings.begin(request, files=False, failed=lambda: None)

    def begin_upload(self, upload: str, name: str, **settings: object) -> Beginning:
        """Begin a session about what was uploaded, which is deleted if that cannot be taught about."""
        what = self.uploads.finish(upload)
        request = self._request(str(what), name or free_name(self.store, name_of(what)), settings)
        return self.beginnings.begin(request, files=True, failed=lambda: self.uploads.delete(upload))

    def _request(self, what: str, name: str, settings: dict[str, object]) -> BeginRequest:
        if name in {study.name for study in self.store.studies()}:
            raise Refused(
                "study-exists", f"there is already a session or a study {name!r}: choose another name"
            )
        request = BeginRequest(address_of(self.store.engine), what, name, QUESTIONS)
        return BeginRequest(**{**vars(request), **settings})

    def change_settings(self, name: str, settings: TeachingSettings) -> Study:
        """Give a session other settings, by the same rules as the command line."""
        study = teaching_session(self.store, name)
        try:
            changes = setting_changes(study.protocol, settings)
            check_about_group(self.about, Protocol.from_json({**study.protocol, **changes}))
            return change_settings(self.store, study, settings)
        except ValueError as error:
            raise Refused("bad-settings", str(error)) from error

    def close(self) -> None:
        """Begin nothing any more."""
        self.beginnings.close()


def name_of(what: Path) -> str:
    """The name of a session about uploaded files: that of the only file, or of the first of several."""
    if what.is_file():
        return what.stem
    files: Sequence[Path] = sorted(what.iterdir())
    return files[0].stem if len(files) == 1 else f"{files[0].stem} and others"
