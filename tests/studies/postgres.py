"""A real PostgreSQL, started for the tests and gone with them."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg

from systems import skip_except_on_linux
from waiting import wait_until

MISSING = (
    "these tests need PostgreSQL and start it themselves, but no initdb was found: install the package "
    "postgresql (Debian: apt-get install postgresql; macOS: brew install postgresql)"
)
USER = "prefero"
# The server stops when its input ends, which it does when the tests end, in whatever way. It stops at once,
# since what it holds is thrown away.
LEASH = '"$@" & server=$!; read -r _; kill -QUIT $server; wait $server'
LEASH_AGAIN = """while [ ! -e stopped ]; do
find . -maxdepth 2 '(' -name postmaster.pid -o -name '.s.PGSQL*.lock' ')' -empty -delete
"$@"; sleep 0.2; done & read -r _; : > stopped
kill -QUIT "$(head -n 1 "$3/postmaster.pid")"; wait"""  # started again when it has stopped, as a service is
LEAVE = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()"""
EMPTY = """DO $$ DECLARE name text; BEGIN
FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
LOOP EXECUTE format('DROP SCHEMA %I CASCADE', name); END LOOP;
CREATE SCHEMA public; END $$"""
FAST_SETTINGS = {  # what is safe to leave out where nothing outlives the tests
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "listen_addresses": "",  # only the socket: no port can be taken, and nobody else comes in
    "shared_buffers": "16MB",
}

DURABLE = {"fsync": "on", "synchronous_commit": "on"}  # for tests of servers that stop


class Server:
    """A running PostgreSQL, which lends databases to tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = count(1)
        self._spare: list[str] = []

    def url(self, name: str) -> str:
        """As a user of Prefero writes it."""
        return f"postgresql://{USER}@/{name}?host={self.folder}"

    def run(self, statement: str, database: str = "postgres") -> None:
        """Past Prefero; by default outside of any database of a test."""
        with psycopg.connect(dbname=database, user=USER, host=str(self.folder), autocommit=True) as session:
            session.execute(statement.encode())

    def has_waiting_transaction(self) -> bool:
        """Whether a transaction waits for a lock that another one holds."""
        with psycopg.connect(dbname="postgres", user=USER, host=str(self.folder)) as session:
            return session.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone() is not None

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of an empty one. It is emptied afterwards and lent again: making one takes longer."""
        name = self._spare.pop() if self._spare else self._new()
        try:
            yield self.url(name)
        finally:
            self.run(LEAVE, name)
            self.run(EMPTY, name)
            self._spare.append(name)

    def _new(self) -> str:
        name = f"prefero_{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name}")
        return name


def programs() -> Path:
    """The folder of PostgreSQL's own programs, which Debian keeps off the path."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    known = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: path.parts[-3].zfill(4))
    if known:
        return known[-1].parent
    raise FileNotFoundError(MISSING)


def _servant() -> tuple[int, int] | None:
    """PostgreSQL refuses to be run by root: who runs it then, by user and group."""
    import pwd

    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = known.get("postgres") or known["nobody"]
    return entry.pw_uid, entry.pw_gid


@contextmanager
def running(parent: Path | None = None, *, durable: bool = False) -> Iterator[Server]:
    """A server in a folder of its own; the folder's path is short, since it names a socket."""
    skip_except_on_linux("PostgreSQL")
    bin_folder, servant = programs(), _servant()
    user, group = servant or (None, None)
    folder = Path(tempfile.mkdtemp(prefix="prefero-pg-", dir=parent))
    try:
        if servant:
            os.chown(folder, *servant)
        data, log = folder / "data", folder / "log"
        with log.open("wb") as output:
            making = [
                f"--pgdata={data}",
                f"--username={USER}",
                "--auth=trust",
                "--no-sync",
                "--encoding=UTF8",
                "--wal-segsize=1",
            ]
            subprocess.run(
                [bin_folder / "initdb", *making, "--locale=C"],
                check=True,
                stdout=output,
                stderr=output,
                cwd=folder,
                user=user,
                group=group,
            )
            settings = FAST_SETTINGS | (DURABLE if durable else {})
            options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
            leash = LEASH_AGAIN if durable else LEASH
            process = subprocess.Popen(
                [
                    "sh",
                    "-c",
                    leash,
                    "sh",
                    bin_folder / "postgres",
                    "-D",
                    data,
                    "-k",
                    folder,
                    *options,
                ],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                cwd=folder,
                user=user,
                group=group,
            )
        with process:  # which closes its input at the end, and waits
            server = Server(folder)
            _wait_for_start(server, log)
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for_start(server: Server, log: Path) -> None:
    def answers() -> bool:
        try:
            server.run("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    wait_until(answers, f"the start of PostgreSQL, which logs to {log},")
