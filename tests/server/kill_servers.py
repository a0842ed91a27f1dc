"""Start servers and kill them: one process imports everything once, then forks one after another on a port.

    python kill_servers.py DATABASE PORT KILLS

Every child is the real server over the database, a file or a URL. Clients write a byte to the input for every
event that was acknowledged to them. Most servers are killed at a random moment after some events, some while
they start or work on their first requests: no moment depends on how fast the machine is. It prints a line
when all kills are done; the last server runs until input ends. It is a script so that it forks from a process
without threads.
"""

import importlib
import os
import random
import select
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from prefero import Pool
from prefero.pools.displays import display_of
from prefero.server.app import create_app
from prefero.server.auth import ServerContext
from prefero.server.serve import listen, serve
from prefero.studies.computing.compute_slots import ComputeSlots
from prefero.studies.protocol.protocol import StudyMethod, teaching_protocol
from prefero.studies.session import Session
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store

EVENTS = (0, 1, 2, 3, 5, 8)  # after so many a server is killed, one of these at random
EARLY_KILLS = 0.1  # the share of servers that are killed before they serve
TIMEOUT = 60.0  # seconds in which a server must begin to serve, and clients must be answered
IMPORTED_LATE = ("anyio._backends._asyncio", "uvicorn.lifespan.off", "uvicorn.loops.asyncio")


def warm_up() -> None:
    """Do once what is slow the first time in a process, so that the forked servers start fast."""
    for module in IMPORTED_LATE:
        importlib.import_module(module)
    with tempfile.TemporaryDirectory() as folder:
        store, slots = Store(open_database(Path(folder) / "warm.db")), ComputeSlots()
        method, pool = StudyMethod("R", "RandomGP 1 0.1", 1), Pool(np.eye(4))
        protocol = replace(teaching_protocol("", 1), methods=(method,), ties=False)
        study = store.add_study("warm", "teach", protocol.to_json(), pool, display_of(pool), "a")
        session = Session(store, study, store.invite(study, "warm", "b"), slots)
        question = session.state().question
        assert question is not None
        session.answer(question.id, "left", "warm")
        slots.close()
        store.engine.dispose()


def start_server(database: str, port: int) -> tuple[int, int]:
    """Fork a server; its process id, and a pipe that is written to when it serves."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader

    def ready() -> None:
        os.write(writer, b".")

    try:
        serve(create_app(ServerContext(Store(open_database(database)))), listen("127.0.0.1", port), ready)
    finally:
        os._exit(1)


@dataclass
class Killer:
    """Kills servers at random moments, in steps of how long the servers before them took."""

    rng: random.Random
    start: float = 0.0  # seconds until a server served
    first: float = 0.0  # seconds from then until its first event was acknowledged
    event: float = 0.0  # seconds between two events, the mean of the last ones
    events: int = field(default_factory=sys.stdin.fileno)

    def kill(self, child: int, reader: int) -> None:
        try:
            if self.start and self.rng.random() < EARLY_KILLS:
                self._within(self.start)
            else:
                self._serve(reader, self.rng.choice(EVENTS))
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(reader)
        self._forget_events()

    def _serve(self, reader: int, events: int) -> None:
        """Let it serve until so many events were acknowledged, and then a moment of the next one."""
        self.start = self._seconds_until_read(reader)
        for number in range(events):
            seconds = self._seconds_until_read(self.events)
            if number:
                self.event = (self.event + seconds) / 2  # some come at the same time
            else:
                self.first = seconds
        self._within(self.event if events else self.first)

    def _within(self, seconds: float) -> None:
        time.sleep(self.rng.uniform(0.0, seconds))

    def _seconds_until_read(self, pipe: int) -> float:
        start = time.monotonic()
        if not (select.select([pipe], [], [], TIMEOUT)[0] and os.read(pipe, 1)):
            sys.exit(f"a server ended or did nothing for {TIMEOUT:.0f} seconds")
        return time.monotonic() - start

    def _forget_events(self) -> None:
        """Those that the killed server acknowledged in its last moment do not count for the next one."""
        while select.select([self.events], [], [], 0)[0] and os.read(self.events, 1024):
            pass


def main() -> None:
    database, port, kills = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    warm_up()
    killer = Killer(random.Random(kills))
    for _ in range(kills):
        killer.kill(*start_server(database, port))
    child, reader = start_server(database, port)
    print("all servers but the last were killed", flush=True)
    sys.stdin.read()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)


if __name__ == "__main__":
    main()
