"""A person who teaches on the page while a policy trains, for `RewardLoop`.

Each round has a session of its own, about the newest segments; the page is at the same address all the time,
and shows the new session when it is loaded again. The server runs in a thread of the training's process.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import uvicorn

from prefero.pools.displays import display_of
from prefero.pools.pool import Pool
from prefero.questions import Answer
from prefero.server.app import create_app
from prefero.server.auth import ServerContext, Visitor
from prefero.server.serve import address_of, configuration, listen, names_of, open_browser
from prefero.studies.protocol.protocol import teaching_protocol
from prefero.studies.start import TEACHER
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store, new_secret

HOST, PORT = "127.0.0.1", 8321
EVERY = 0.2  # seconds between looks at the answers, while waiting for them


class PageTeacher:
    """A person on the page; answers are stored in a database, and taken from there.

    Args:
        folder: Where the database is: that of the loop.
        task_description: What the robot is to do, in a sentence for the person.
        port: Of the page, on this machine; 0 takes any that is free.
        browser: Open the browser.
        report: Is told where the page is.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        task_description: str = "",
        port: int = PORT,
        browser: bool = True,
        report: Callable[[str], None] = print,
    ) -> None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        self._store = Store(open_database(str(Path(folder) / "teach.db")))
        self._task_description, self._browser, self._report = task_description, browser, report
        self._listener = listen(HOST, port)
        self._context = ServerContext(self._store, report=report)
        self._server = uvicorn.Server(configuration(create_app(self._context, **names_of(HOST))))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def address(self) -> str:
        """Of the page."""
        return address_of(self._listener, HOST)

    def show(self, pool: Pool, count: int) -> None:
        """From now on, ask about this pool.

        Args:
            pool: Segments with videos.
            count: After so many answers the page says that it is enough.
        """
        number = len(self._store.studies()) + 1
        protocol = teaching_protocol(f"Round {number}", max(count, 1), self._task_description)
        display = display_of(pool)
        self._context.clip_folders = (Path(display["folder"]),) if "folder" in display else ()
        study = self._store.add_study(
            f"round {number}", "teach", protocol.to_json(), pool, display, new_secret()
        )
        participant = self._store.invite(study, TEACHER, new_secret(), seed=0)
        self._context.guest = Visitor("teacher", study, participant)
        if not self._thread.is_alive():
            self._thread.start()
            opened = self._browser and open_browser(self.address)
            self._report(
                f"{'The page is open at' if opened else 'Open this page in a browser:'} {self.address}"
            )
        else:
            self._report(f"There are new segments: load the page again, {self.address}")

    def answers(self, wait_for: int) -> list[Answer]:
        """The answers about the pool that was shown last.

        Args:
            wait_for: Wait until there are so many.

        Returns:
            The answers; none before anything was shown.
        """
        if self._context.guest is None:
            return []
        participant = self._context.guest.participant
        assert participant is not None
        while len(found := self._store.event_log(participant).answers) < wait_for:
            time.sleep(EVERY)
        return [one.answer for one in found]

    def close(self) -> None:
        """Stop the server; what was answered stays stored."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join()
        self._listener.close()
        self._context.computing.close()

    def _serve(self) -> None:
        self._server.run(sockets=[self._listener])
