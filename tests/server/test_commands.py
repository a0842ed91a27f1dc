"""`prefero teach` and `prefero study` as a user types them: what they print, record and refuse."""

import csv
import re
import shlex
import signal
import socket
import sqlite3
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import plain_http
from page.run_servers import free_port
from prefero import Pool
from prefero.studies.storage.store import Store
from server.run_commands import RunningCommand, run, run_without
from server.served_studies import Client, InvitedStudy, complete_stages, error_of, ok
from systems import posix_only

NO_WORKERS = ["--port", "0", "--workers", "0"]
TRAJECTORIES = ["--trajectories", "12"]


def one_line(told: str) -> str:
    """The message, which is one line."""
    assert told.startswith("prefero: "), told
    assert len(told.splitlines()) == 1, told
    return told


@pytest.fixture
def pool_file(pool: Pool, tmp_path: Path) -> Path:
    pool.save(tmp_path / "walks.npz")
    return tmp_path / "walks.npz"


# --- teach ------------------------------------------------------------------------------------------------


def test_a_session_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    words = ["teach", "driver", *TRAJECTORIES, "--port", "0"]
    with RunningCommand(tmp_path, *words) as first:
        with Client(first.address()) as page:
            assert ok(page.get("/api/me"))["role"] == "teacher"
            assert page.session()["title"] == "Driver"
            for choice in ("left", "equal"):
                seen = ok(page.answer(choice))
            history = page.history()
        assert first.stop() == 0
        assert "After 2 answers it is too early to say what was learned." in first.out.read_text(
            encoding="utf-8"
        )
        assert re.search(
            r"^Stopped. To continue:  \S*prefero teach driver", first.out.read_text(encoding="utf-8"), re.M
        )
        assert f"Your answers are stored in {tmp_path / 'teach.db'}." in first.out.read_text(encoding="utf-8")
        assert "continues after" not in first.out.read_text(encoding="utf-8")
        assert first.err.read_text(encoding="utf-8") == ""
    with RunningCommand(tmp_path, *words) as again:
        with Client(again.address()) as page:
            assert (page.session(), page.history()) == (seen, history)
        assert "The session 'driver' continues after 2 answers." in again.out.read_text(encoding="utf-8")
        assert again.stop() == 0
        assert "Traceback" not in again.output


def test_a_session_says_what_is_known_and_how_far_it_is_trusted(tmp_path: Path) -> None:
    Pool.simulate("driver", 2, seed=7, progress=False).save(tmp_path / "shown.npz")
    name = Pool.simulate("driver", 2, progress=False).names[0]
    known = ["--demonstrations", "shown.npz", "--prefer", f"lower:{name}"]
    words = ["teach", "driver", *TRAJECTORIES, "--port", "0", "--workers", "1", *known]
    with RunningCommand(tmp_path, *words) as command:
        with Client(command.address()) as page:
            page.session()
            ok(page.answer("left"))
        assert command.stop() == 0
        told = command.out.read_text(encoding="utf-8")
        stated = f"2 demonstrations, lower {name} is better (90% sure)."
        assert f"Known before the first question: {stated}" in told
        assert "2 demonstrations: too few answers yet to check this." in told
        assert f"--demonstrations shown.npz --prefer 'lower:{name}:0.9'" in told
        assert command.err.read_text(encoding="utf-8") == ""


@posix_only
def test_a_server_that_the_system_stops_ends_quietly(tmp_path: Path) -> None:
    with RunningCommand(tmp_path, "teach", "driver", *TRAJECTORIES, "--port", "0") as server:
        server.address()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=30) in (0, -signal.SIGTERM, 128 + signal.SIGTERM)
        assert server.err.read_text(encoding="utf-8") == ""


def test_a_pool_in_a_file_is_taught_with_answers_kept_where_one_says(
    pool_file: Path, tmp_path: Path, pool: Pool
) -> None:
    """The last line says how to go on with the same database."""
    words = ["teach", "walks.npz", "--database", "mine/answers.db", "--name", "mine", "--port", "0"]
    with RunningCommand(tmp_path, *words) as server:
        with Client(server.address()) as page:
            assert ok(page.get("/api/me"))["study"] == "mine"
            assert ok(page.get("/api/display"))["features"][0]["name"] == pool.names[0]
            ok(page.answer("left"))
        assert server.stop() == 0
        told = server.out.read_text(encoding="utf-8")
    assert f"Your answers are stored in {Path('mine', 'answers.db')}." in told
    connection = sqlite3.connect(tmp_path / "mine" / "answers.db")
    assert connection.execute("SELECT kind FROM events").fetchall() == [("left",)]
    connection.close()
    assert not (tmp_path / "teach.db").exists()
    again = re.search(r"To continue:  \S*prefero (teach .*)", told)
    assert again is not None
    assert again[1].split()[:2] == ["teach", str(pool_file.name)]
    assert "--database mine/answers.db" in again[1]
    assert "--name mine" in again[1]
    other = Pool(np.eye(3), ["a", "b", "c"])
    other.save(pool_file)
    refused = run(*words, data=tmp_path)
    assert refused.returncode == 2
    assert "other trajectories: choose another --name" in one_line(refused.stderr)


def test_a_server_that_others_can_reach_asks_for_the_token_that_it_shows(tmp_path: Path) -> None:
    words = ["teach", "driver", *TRAJECTORIES, "--port", "0", "--host", "0.0.0.0"]
    with RunningCommand(tmp_path, *words) as server:
        link = server.address()
        found = re.fullmatch(r"http://[^/]+:(\d+)/#([A-Za-z0-9_-]{22,})", link)
        assert found is not None, link
        address, token = f"http://127.0.0.1:{found[1]}", found[2]
        assert error_of(plain_http.get(f"{address}/api/session")) == (403, "unknown-secret")
        assert plain_http.get(f"{address}/api/me").json()["role"] is None
        with Client(address, token) as page:
            assert page.session()["stage"] == "compare"
        server.stop()
        assert server.output.count(token) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("teach driver --port 0 --database note.txt", "cannot be used"),
        ("teach driver --port 0 --host 203.0.113.1", "this machine has no address '203.0.113.1'"),
        ("teach driver --port 0 --until 90", "but is 90: for 90 % write 0.9"),
        ("study create s --protocol nowhere", "no such file or built-in protocol"),
        ("study invite nobody", "there is no study 'nobody': create it with  "),
        ("study import nowhere", "no such folder: nowhere"),
    ],
)
def test_an_error_is_reported_in_one_line(words: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text(
        "neither a database nor a pool, and long enough to be looked at" * 20, encoding="utf-8"
    )
    done = run(*words.split(), data=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in one_line(done.stderr)


@pytest.mark.parametrize("what", ["nowhere", "note.txt"])
def test_what_cannot_be_taught_is_told_what_can(what: str, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Dear robot,", encoding="utf-8")
    done = run("teach", what, "--port", "0", data=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    found, *wanted = done.stderr.splitlines()
    assert found.startswith("prefero: ")
    assert f"'{what}'" in found
    assert wanted[1:4] == [
        "  a world (driver, tosser, golf)",
        "  a pool file (.npz)",
        "  a LeRobot dataset (a folder with meta/info.json)",
    ]


def test_without_a_built_page_the_terminal_says_so_and_no_browser_is_opened(tmp_path: Path) -> None:
    gone = "from pathlib import Path; from prefero.server import app, serve; app.PAGE = Path('nowhere')"
    opened = "serve.open_browser = lambda url: print('opened', url)"
    words = ["teach", "driver", *TRAJECTORIES, "--port", "0"]
    with RunningCommand(tmp_path, *words, first=f"{gone}; {opened}") as server:
        address = server.address()
        told = server.output
        assert re.search(r"^The page was not built, .* make .*page ", told, re.M)
        assert told.index("The page was not built") < told.index("Your answers are stored")
        assert "opened" not in told
        assert "in a browser" not in told
        with Client(address) as page:
            found = page.get("/")
        assert (found.status_code, "page  and start again." in found.text) == (503, True)


@pytest.mark.parametrize("command", [["teach", "driver", *TRAJECTORIES], ["study", "serve"]])
def test_a_port_in_use_is_reported_in_one_line(command: list[str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run(*command, "--port", port, data=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"port {port} is taken" in one_line(done.stderr)


@pytest.mark.parametrize(
    ("command", "package"),
    [("teach driver", "fastapi"), ("study list", "sqlalchemy"), ("study export walks", "alembic")],
)
def test_a_missing_package_is_named_with_its_remedy(command: str, package: str, tmp_path: Path) -> None:
    done = run_without(package, *command.split(), data=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(
        f"prefero: this needs the package {package!r}, which is not installed: "
        r"type  .*pip install .*\[server\]'\n",
        done.stderr,
    )


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    """Also one that the console could take for markup."""
    data = tmp_path / "a [bold] [" / "folder]"
    data.mkdir(parents=True)
    with RunningCommand(data, "teach", "driver", *TRAJECTORIES, "--port", "0") as server:
        server.address()
        assert str(data / "teach.db") in server.out.read_text(encoding="utf-8")


# --- study ------------------------------------------------------------------------------------------------

PROTOCOL = """
title = "Walks"
pool = "walks.npz"
consent = "Do you agree?"
practice = false
tests = 1
rate = true
[[methods]]
label = "Random"
method = "RandomGP 1 0.1"
questions = 2
"""
LINK = r"^(P\d+)  (http\S+)/#([A-Za-z0-9_-]{22,})$"


def run_study(folder: Path, *words: str, data: Path | None = None) -> str:
    """What the command prints, after checking that it succeeded."""
    done = run("study", *words, data=data or folder, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def report(folder: Path) -> str:
    told = run_study(folder, "report", "walks", "--overwrite")
    assert f"The report is in {Path('walks-report', 'report.html')}." in told
    assert "| " not in told  # a table for the terminal, not Markdown
    return (folder / "walks-report" / "report.md").read_text(encoding="utf-8")


def test_a_study_from_its_protocol_to_its_report_and_to_another_machine(
    pool_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "walks.toml").write_text(PROTOCOL, encoding="utf-8")

    study = partial(run_study, tmp_path)
    assert pool_file.exists()
    made = study("create", "walks", "--protocol", "walks.toml", "--participants", "1")
    assert "'walks' asks 3 questions about 12 trajectories" in made
    secret = re.search(r"not shown again:  http://127.0.0.1:8766/#([A-Za-z0-9_-]{22,})\n", made)
    assert secret is not None
    told = study("invite", "walks", "--participants", "2", "--base", "https://lab.example/")
    links = re.findall(LINK, made, flags=re.MULTILINE) + re.findall(LINK, told, flags=re.MULTILINE)
    assert [(name, base) for name, base, _ in links] == [
        ("P1", "http://127.0.0.1:8766"),
        *((name, "https://lab.example") for name in ("P2", "P3")),
    ]
    assert "No participant" in report(tmp_path)
    with RunningCommand(tmp_path, "study", "serve", "--port", "0") as server:
        address = server.wait_for(r"experimenters open (http://\S+)/#SECRET")[1]
        server.wait_for("Serving")
        for _, _, code in links[:2]:
            with Client(address, code) as page:
                assert complete_stages(page)["stage"] == "done"
        with Client(address, secret[1]) as page:
            assert ok(page.get("/api/progress"))["finished"] == 2
        with Client(address) as page:
            assert error_of(page.get("/api/session")) == (403, "unknown-secret")
        assert "Studies: walks." in server.output
        assert server.stop() == 0
        assert server.out.read_text(encoding="utf-8").endswith("Stopped.\n")
        assert server.err.read_text(encoding="utf-8") == ""
    assert re.search(r"walks\W+study\W+3\W+2\W+2\W", study("list"))
    assert "No participant" not in report(tmp_path)
    assert "The study is in away." in study("export", "walks", "--out", "away")
    with (tmp_path / "away" / "answers.csv").open(newline="", encoding="utf-8") as file:
        assert [row["participant"] for row in csv.DictReader(file)] == ["P1"] * 3 + ["P2"] * 3
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    come = study("import", "away", "--name", "again", data=elsewhere)
    assert "in the study 'again'" in come
    assert secret[1] not in come
    study("import", "away", "--into", "again", "--prefix", "B", data=elsewhere)
    assert re.search(r"again\W+study\W+6\W+4\W+4\W", study("list", data=elsewhere))


def test_the_server_that_is_printed_answers_at_the_links_that_are_printed(
    pool_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "walks.toml").write_text(PROTOCOL, encoding="utf-8")
    assert pool_file.exists()
    base = f"http://127.0.0.1:{free_port()}/"
    words = ["--protocol", "walks.toml", "--participants", "1", "--base", base, "--database", "mine.db"]
    told = run_study(tmp_path, "create", "walks", *words)
    ((_, address, code),) = re.findall(LINK, told, flags=re.MULTILINE)
    printed = re.search(r"^Next:  \S*prefero (study serve .*)$", told, flags=re.MULTILINE)
    assert printed is not None
    with RunningCommand(tmp_path, *shlex.split(printed[1]), "--workers", "0") as server:
        server.wait_for("Serving")
        with Client(address, code) as page:
            assert page.session()["title"] == "Walks"


def test_a_study_behind_a_proxy_goes_by_its_name_and_needs_https(
    store: Store, invited: InvitedStudy, file: Path, tmp_path: Path
) -> None:
    assert store.studies()
    names = ["--base", "https://lab.example/", "--allow-host", "second.example"]
    with RunningCommand(tmp_path, "study", "serve", *NO_WORKERS, *names, "--database", str(file)) as server:
        address = server.wait_for(r"Serving at (http://127\S+)/\.")[1]
        assert "experimenters open https://lab.example/#SECRET" in server.output
        enter, secret = f"{address}/api/enter", {"secret": invited.codes[0]}
        lab = {"host": "lab.example", "origin": "https://lab.example"}
        assert "; Secure" in plain_http.post(enter, json=secret, headers=lab).headers["set-cookie"]
        assert plain_http.post(enter, json=secret, headers={"host": "second.example"}).status_code == 200
        assert plain_http.post(enter, json=secret, headers={"host": "evil.example"}).status_code == 421


def test_a_study_that_could_not_be_served_is_refused_when_it_is_created(
    pool_file: Path, tmp_path: Path
) -> None:
    """Not only when a participant opens the page: a method that knows no ties."""
    text = PROTOCOL.replace("rate = true", "ties = true").replace("RandomGP 1 0.1", "ActiveLinear")
    pool_file.with_suffix(".toml").write_text(text, encoding="utf-8")
    done = run("study", "create", "walks", "--protocol", "walks.toml", data=tmp_path)
    assert done.returncode == 2, done.stdout
    assert "ties = false" in one_line(done.stderr)
