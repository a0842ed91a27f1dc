"""Servers that are killed: one process imports everything once, then forks one after another on one port.

    python kill_servers.py DATABASE PORT KILLS

Every child is the real server over the database file. Most are killed a random state after they began to
serve, some while they start. It says so when all kills are done; the last server lives until input ends.
It is a script so that it forks from a process without threads.
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

LIFE = 3.0  # that a server serves, at most, in units of the time that it took to start: machines differ
LONGEST = 0.4  # seconds
STILLBORN = 0.1  # the share of those that are killed before they serve
PATIENCE = 60.0


def warm_up() -> None:
    """Do once what is slow the first time in a process, so that the children need not."""
    with tempfile.TemporaryDirectory() as folder:
        store, slots = Store(open_database(Path(folder) / "warm.db")), ComputeSlots()
        asker, pool = StudyMethod("R", "RandomGP 1 0.1", 1), Pool(np.eye(4))
        protocol = replace(teaching_protocol("", 1), methods=(asker,), ties=False)
        study = store.add_study("warm", "teach", protocol.to_json(), pool, display_of(pool), "a")
        session = Session(store, study, store.invite(study, "warm", "b"), slots)
        question = session.state().question
        assert question is not None
        session.answer(question.id, "left", "warm")
        slots.close()
        store.engine.dispose()


def born(file: Path, port: int) -> tuple[int, int]:
    """A server in a process of its own; its id, and a pipe that says when it serves."""
    heard, said = os.pipe()
    child = os.fork()
    if child:
        os.close(said)
        return child, heard

    def ready() -> None:
        os.write(said, b".")

    try:
        serve(create_app(ServerContext(Store(open_database(file)))), listen("127.0.0.1", port), ready)
    finally:
        os._exit(1)


def killed(child: int, heard: int, moments: random.Random) -> None:
    """After a while that nobody can foresee."""
    if moments.random() < STILLBORN:
        time.sleep(moments.uniform(0.0, 0.05))
    else:
        start = time.monotonic()
        select.select([heard], [], [], PATIENCE)
        time.sleep(moments.uniform(0.0, min(LIFE * (time.monotonic() - start), LONGEST)))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(heard)


def main() -> None:
    file, port, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    warm_up()
    states = random.Random(kills)
    for _ in range(kills):
        killed(*born(file, port), states)
    child, heard = born(file, port)
    print("all are dead but the last", flush=True)
    sys.stdin.read()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(heard)


if __name__ == "__main__":
    main()
