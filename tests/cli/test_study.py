"""`prefero study` in one process: what its commands print, refuse and explain."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from prefero.cli import app
from prefero.cli.study import study as study_commands
from prefero.studies.protocol.protocol import BUILT_IN, read_protocol
from prefero.studies.storage import schema
from prefero.studies.storage.database import open_database, writing
from prefero.studies.storage.log_rows import insert_row, now
from prefero.studies.storage.store import Store, new_secret
from studies.fake_study import ask, new_key, proposal

Run = Callable[..., str]
LINK = r"(http\S+)/#([A-Za-z0-9_-]{22,})"
COMMANDS: dict[str, click.Command] = getattr(typer.main.get_command(study_commands), "commands", {})
PROTOCOL = """
pool = "walks.csv"
consent = ""
instructions = ""
practice = false
tests = 1
[[methods]]
method = "RandomGP"
questions = 20
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in a folder with a table of walks and a protocol; what it prints, or its error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "data"))
    rows = np.random.default_rng(0).standard_normal((12, 2)).tolist()
    table = "speed,effort\n" + "".join(f"{a},{b}\n" for a, b in rows)
    (tmp_path / "walks.csv").write_text(table, encoding="utf-8")
    (tmp_path / "walks.toml").write_text(PROTOCOL, encoding="utf-8")

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, ["study", *words])
        if done.exception is not None:
            raise done.exception
        return done.output

    return run


def stored(folder: Path) -> Store:
    return Store(open_database(folder / "data" / "studies.db"))


# --- creating ---------------------------------------------------------------------------------------------


def test_the_papers_protocol_with_own_data_says_what_is_left_out(run: Run) -> None:
    told = run("create", "mine", "--world", "walks.csv")
    assert told.startswith("Preparing the trajectories of walks.csv.\n")  # which may take a minute
    assert "'mine' asks 50 questions about 12 trajectories of walks.csv" in told
    assert "Left out: target_scores" in told
    assert "prefero study invite mine --participants 10  and  prefero study serve" in told


def test_options_of_datasets_apply(run: Run, tmp_path: Path) -> None:
    run("create", "mine", "--world", "walks.csv", "--drop", "effort", "--trajectories", "5")
    store = stored(tmp_path)
    pool = store.pool(store.study("mine"))
    assert (pool.names, len(pool)) == (("speed",), 5)
    store.engine.dispose()


def test_every_link_begins_with_the_base(run: Run) -> None:
    base = ["--base", "https://lab.example/study"]
    told = run("create", "mine", "--world", "walks.csv", "--participants", "2", *base)
    assert "prefero study serve --base https://lab.example/study" in told
    told += run("invite", "mine", *base) + run("renew", "mine", *base)
    told += run("renew", "mine", "--participant", "P2", *base)
    run("export", "mine", "--out", "away")
    told += run("import", "away", "--name", "again", *base)
    links = re.findall(LINK, told)
    assert [where for where, _ in links] == ["https://lab.example/study"] * 7
    assert len({secret for _, secret in links}) == 7
    assert "127.0.0.1" not in told


@pytest.mark.parametrize(
    ("base", "where"),
    [
        ("http://127.0.0.1:8720/", "--host 127.0.0.1 --port 8720"),
        ("http://[::1]:8720/", "--host ::1 --port 8720"),
        ("http://lab.example:8000/", "--host 0.0.0.0 --port 8000"),
        ("http://192.0.2.7/", "--host 0.0.0.0 --port 80"),
    ],
)
def test_the_server_of_the_next_step_listens_where_the_links_lead(run: Run, base: str, where: str) -> None:
    told = run("create", "mine", "--world", "walks.csv", "--base", base, "--database", "mine.db")
    same = f"--base '{base}' --database mine.db" if "[" in base else f"--base {base} --database mine.db"
    assert f"and  prefero study serve {where} {same}" in told
    assert f"prefero study renew mine {same}  prints another" in told


@pytest.mark.parametrize(
    "base", ["lab.example", "ftp://lab.example/", "https://", "https://lab.example/#x", "http://lab:99999/"]
)
@pytest.mark.parametrize("command", [["create", "mine"], ["invite", "mine"], ["serve"]])
def test_a_base_that_is_no_address_is_refused_before_anything_is_done(
    run: Run, command: list[str], base: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"--base .*https://lab\.example/"):
        run(*command, "--base", base)
    assert not (tmp_path / "data").exists()


def test_a_printed_protocol_can_be_edited_and_used(run: Run, tmp_path: Path) -> None:
    text = run("protocol", "paper")
    assert tomllib.loads(text)["world"] == "golf"
    assert text == run("protocol")
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    assert read_protocol("mine.toml") == BUILT_IN["paper"]
    edited = text.replace('world = "golf"', 'pool = "walks.csv"').replace("questions = 15", "questions = 2")
    (tmp_path / "mine.toml").write_text(edited, encoding="utf-8")
    told = run("create", "mine", "--protocol", "mine.toml")
    assert "asks 11 questions about 12 trajectories" in told
    assert tomllib.loads(run("protocol", "mine.toml"))["methods"] == tomllib.loads(edited)["methods"]
    assert tomllib.loads(run("protocol", "--world", "driver"))["target_scores"] is False


def test_a_misspelt_method_is_answered_with_the_nearest(run: Run, tmp_path: Path) -> None:
    (tmp_path / "walks.toml").write_text(PROTOCOL.replace("RandomGP", "random gp"), encoding="utf-8")
    with pytest.raises(ValueError, match="no method 'random gp'; did you mean 'RandomGP'") as error:
        run("create", "mine", "--protocol", "walks.toml")
    assert len(str(error.value)) < 250  # without those of every theta and sigma


# --- secrets ----------------------------------------------------------------------------------------------


def test_a_secret_that_nobody_saw_is_renewed(run: Run, tmp_path: Path) -> None:
    """As after a `study create` or `study invite` that was killed before it printed."""
    (first, code) = (
        secret
        for _, secret in re.findall(LINK, run("create", "a", "--world", "walks.csv", "--participants", "1"))
    )
    ((_, other),) = re.findall(LINK, run("create", "b", "--world", "walks.csv"))
    ((_, renewed),) = re.findall(LINK, run("renew", "a"))
    ((_, second),) = re.findall(LINK, run("renew", "a", "--participant", "P1"))
    store = stored(tmp_path)
    study = store.study("a")
    assert store.owner_of(renewed) == (study, None)
    assert store.owner_of(second) == (study, store.participants(study)[0])
    assert store.owner_of(other) == (store.study("b"), None)
    assert store.owner_of(first) is store.owner_of(code) is None
    store.engine.dispose()
    with pytest.raises(ValueError, match=r"'a' has no participant 'P7'; .*P1"):
        run("renew", "a", "--participant", "P7")
    with pytest.raises(ValueError, match="no study 'c'"):
        run("renew", "c")


def test_new_participants_get_labels_that_are_free(run: Run, tmp_path: Path) -> None:
    """Those of a merged study may have any."""
    run("create", "mine", "--world", "walks.csv")
    store = stored(tmp_path)
    store.invite(store.study("mine"), "P3", new_secret())
    store.engine.dispose()
    assert re.findall(r"^(P\d+)  http", run("invite", "mine", "--participants", "2"), re.M) == ["P2", "P4"]


# --- reports and exports ----------------------------------------------------------------------------------


@pytest.fixture
def answered(run: Run, tmp_path: Path) -> Run:
    """A study of one participant who has answered everything, always within half a second."""
    run("create", "mine", "--protocol", "walks.toml", "--participants", "1")
    store = stored(tmp_path)
    (person,) = store.participants(store.study("mine"))
    sides: Any = ["left", "right", "right", "left", "right", "left", "left"] * 3
    for number, side in enumerate(sides):
        asked = proposal(number, "test" if number == 20 else "RandomGP")
        store.add_event(person, ask(store, person, asked), side, new_key(), 0.5)
    store.engine.dispose()
    return run


def test_a_report_is_a_table_with_the_careless_and_without_p_values(answered: Run) -> None:
    told = answered("report", "mine")
    assert "1 invited, 1 began, 1 finished." in told
    assert re.search(r"RandomGP +[01]\.\d\d\s", told)
    assert re.search(r"P1 +done +21 of 21 +0\.5 +57% +fast", told)
    assert "P1, fast: 21 of 21 answers" in told
    assert "|" not in told
    assert re.search(r"\bp\b", told) is None
    assert "nan" not in told
    with pytest.raises(ValueError, match=r"^mine-report exists already: .*--out"):
        answered("report", "mine")


def test_a_folder_is_replaced_only_if_one_says_so(answered: Run, tmp_path: Path) -> None:
    """An export; reports do the same, and are drawn anew each time."""
    assert "The study is in mine." in answered("export", "mine")
    before = {path.name: path.read_bytes() for path in (tmp_path / "mine").iterdir()}
    message = "^mine exists already: choose another --out, or replace it with --overwrite$"
    with pytest.raises(ValueError, match=message):
        answered("export", "mine")
    assert {path.name: path.read_bytes() for path in (tmp_path / "mine").iterdir()} == before
    assert "The study is in mine." in answered("export", "mine", "--overwrite")


# --- help -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_and_its_options(name: str) -> None:
    command = COMMANDS[name]
    assert command.help is not None
    first = command.help.split("\n\n")[0]
    assert first.endswith(".")
    assert len(first) < 120
    unexplained = [p.name for p in command.params if not getattr(p, "help", None) and p.name != "help"]
    assert unexplained == []


def test_every_command_and_option_is_on_the_page_about_studies() -> None:
    """The options of datasets are on the page about datasets."""
    page = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
    for name, command in COMMANDS.items():
        assert f"`prefero study {name}" in page
        shared = {"Features of a dataset", "Opening a dataset, by its format"}
        own = [p for p in command.params if getattr(p, "rich_help_panel", None) not in shared]
        missing = [o for p in own for o in p.opts if o.startswith("--") and f"`{o}" not in page]
        assert missing == [], name


def test_a_participant_whose_rows_do_not_fit_together_stops_no_list(run: Run, tmp_path: Path) -> None:
    for name in ("bad", "good"):
        run("create", name, "--protocol", "walks.toml", "--participants", "1")
    store = stored(tmp_path)
    (person,) = store.participants(store.study("bad"))
    question = ask(store, person, proposal())
    row = {"participant": person.id, "question": question, "position": 0, "kind": "restore", "key": "key"}
    with writing(store.engine) as connection:
        insert_row(connection, schema.events, row | {"seconds": None, "at": now()})
    store.engine.dispose()
    listed = run("list")
    assert "'bad' cannot be read" in listed
    assert re.search(r"good\s.*study\s.*1", listed)
