"""Start servers and kill them: one process imports everything once, then forks one after another on a port.

    python kill_servers.py DATABASE PORT KILLS

Every child is the real server over the database, a file or a URL. Most are killed a random time after they
begin to serve, some while they start. It prints a line when all kills are done; the last server runs until
input ends. It is a script so that it forks from a process without threads.
"""

import os
import random
import select
import signal
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from prefero import Pool
from prefero.server.app import create_app
from prefero.server.auth import ServerContext
from prefero.server.serve import listen, serve
from prefero.studies.compute_slots import ComputeSlots
from prefero.studies.displays import display_of
from prefero.studies.protocol import StudyMethod, teaching_protocol
from prefero.studies.session import Session
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store

LIFETIME = 3.0  # the most that a server serves, relative to the time that it took to start: machines differ
LONGEST_LIFETIME = 0.4  # seconds
EARLY_KILLS = 0.1  # the share of servers that are killed before they serve
TIMEOUT = 60.0


def warm_up() -> None:
    """Do once what is slow the first time in a process, so that the forked servers start fast."""
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


def kill_server(child: int, reader: int, rng: random.Random) -> None:
    """After a random time."""
    if rng.random() < EARLY_KILLS:
        time.sleep(rng.uniform(0.0, 0.05))
    else:
        start = time.monotonic()
        select.select([reader], [], [], TIMEOUT)
        time.sleep(rng.uniform(0.0, min(LIFETIME * (time.monotonic() - start), LONGEST_LIFETIME)))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)


def main() -> None:
    database, port, kills = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    warm_up()
    rng = random.Random(kills)
    for _ in range(kills):
        kill_server(*start_server(database, port), rng)
    child, reader = start_server(database, port)
    print("all servers but the last were killed", flush=True)
    sys.stdin.read()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)


if __name__ == "__main__":
    main()
