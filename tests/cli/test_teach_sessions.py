"""`prefero teach` without an argument, and with a session's name alone."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from run_here import run_here
from studies.fake_study import answer

Run = Callable[..., int]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What would have been served."""
    found: list[tuple[Any, ...]] = []
    monkeypatch.setattr(
        import_module("prefero.cli.teach"), "serve_session", lambda *given: found.append(given)
    )
    return found


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    common = ("--database", "teach.db", "--port", "0", "--no-browser")
    return lambda *words: run_here(monkeypatch, "teach", *words, *common)


def test_without_an_argument_no_session_is_open(
    run: Run, served: list[tuple[Any, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run() == 0
    (_, _, _, visitor, context) = served[0]
    assert (visitor.role, visitor.opened) == ("teacher", None)
    assert context["manager"].sessions() == []
    printed = capsys.readouterr().out
    assert "Your sessions are stored in teach.db." in printed
    assert "To continue:  prefero teach --database teach.db" in printed.replace(".venv/bin/", "")


def test_a_name_alone_continues_a_session_with_the_trajectories_of_the_database(
    run: Run, served: list[tuple[Any, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    small = ("driver", "--trajectories", "12", "--until", "0.9")
    assert run(*small, "--name", "calm") == 0
    store = Store(open_database("teach.db"))
    study = store.study("calm")
    answer(store, store.participants(study)[0], "left")
    store.rename(study, "calmer")
    capsys.readouterr()
    assert run("--name", "calmer", "--answers", "rate-3") == 0
    continued, context = served[1][3], served[1][4]
    assert (continued.study.id, continued.study.protocol["answers"]) == (study.id, "rate-3")
    assert continued.study.protocol["goal"] == 0.9
    printed = capsys.readouterr().out
    assert "The session 'calmer' continues after 1 answer." in printed
    command = context["manager"].command
    assert command(continued.study).endswith("teach --name calmer --database teach.db")
    assert command(None).endswith("teach --database teach.db")
    store.engine.dispose()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--answers", "rate-5"), "name a world or a dataset"),
        (("--features", "final"), "name a world or a dataset"),
        (("--trajectories", "12"), "name a world or a dataset"),
        (("--name", "nothing"), "there is no study 'nothing'"),
        (("--name", "nothing", "--labels", "success"), "name a world or a dataset"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_options_that_need_trajectories_are_refused_without_any(
    words: tuple[str, ...], told: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words) != 0
    assert told in " ".join(capsys.readouterr().err.split())


def test_the_report_of_a_session_is_a_web_page(
    run: Run,
    served: list[tuple[Any, ...]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("driver", "--trajectories", "12") == 0
    assert len(served) == 1
    assert run_here(monkeypatch, "report", "--database", "teach.db", "--out", "driver.pdf") == 2
    assert "the report is a web page, FILE.html, but the path is driver.pdf" in capsys.readouterr().err
    assert not Path("driver.pdf").exists()
    assert run_here(monkeypatch, "report", "--database", "teach.db", "--out", "driver.html") == 0
    assert "</html>" in Path("driver.html").read_text(encoding="utf-8")
