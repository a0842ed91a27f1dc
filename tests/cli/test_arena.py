"""`prefero arena` in one process: what its commands print, refuse and explain."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import click
import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from prefero._support.progress_bar import Advance, progress
from prefero.cli import app
from prefero.cli.arena import arena as arena_commands
from prefero.cli.arena import named_policies, sources
from prefero.cli.options import FEATURES, FORMATS
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store

Run = Callable[..., str]
COMMANDS: dict[str, click.Command] = getattr(typer.main.get_command(arena_commands), "commands", {})


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in a folder with the rollouts of two policies; what it prints, or its error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys.modules["prefero.cli.arena"], "serve_session", lambda *_: None)
    monkeypatch.setattr("prefero.studies.reports.arena.draw_arena", lambda *_: None)  # tested elsewhere
    for seed, name in enumerate(("careful", "hasty")):
        features = np.random.default_rng(seed).standard_normal((4, 2))
        np.savez(tmp_path / f"{name}.npz", features=features, names=["speed", "effort"])

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, ["arena", *words])
        if done.exception is not None:
            raise done.exception
        return done.output

    return run


def test_an_arena_begins_continues_and_is_reported(run: Run, tmp_path: Path) -> None:
    printed = run("careful.npz", "hasty.npz", "--port", "0", "--questions", "7")
    assert "8 rollouts of careful, hasty" in printed
    assert (
        "order is known with 95%, or that no difference matters (wins of 65%), or after 7 answers" in printed
    )
    assert "After 0 answers" in printed
    again = run("compare", "careful.npz", "hasty.npz", "--port", "0", "--goal", "best", "--judge", "ben")
    assert "It continues after 0 answers." in again
    assert "best one is known with 95%, or that no" in again
    assert "--judge ben" in again.split("To continue:")[1]
    store = Store(open_database(tmp_path / "data" / "arena.db"))
    (study,) = store.studies()
    assert [judge.label for judge in store.participants(study)] == ["judge", "ben"]
    reported = run("report")
    assert "Nothing has been compared yet." in reported
    assert (tmp_path / "careful-vs-hasty-report" / "report.html").is_file()
    with pytest.raises(ValueError, match="--overwrite"):
        run("report")


def test_labels_of_datasets_and_what_judges_are_asked(run: Run, tmp_path: Path) -> None:
    for name, flags in (("a", "1 1 1 0"), ("b", "0 0 1 0")):
        rows = [f"{name}{i},{i % 3},{flag}" for i, flag in enumerate(flags.split())]
        (tmp_path / f"{name}.csv").write_text("id,speed,success\n" + "\n".join(rows), encoding="utf-8")
    printed = run("a.csv", "b.csv", "--labels", "success", "--answers", "success", "--port", "0")
    assert "8 labels of success: 4 pass, 4 fail; they count from the first question on." in printed
    reported = run("report")
    assert "2 policies, 8 labels of success: 4 pass, 4 fail." in reported
    assert "a succeeds in 6" in reported
    assert "success, 90% interval" in reported
    with pytest.raises(ValueError, match="there is no column 'won'"):
        run("a.csv", "b.csv", "--labels", "won", "--port", "0", "--name", "other")
    with pytest.raises(ValueError, match="asked for pair, success, pair-or-none, but not for 'rank-3'"):
        run("a.csv", "b.csv", "--answers", "rank-3", "--port", "0", "--name", "other")


def test_policies_without_labels_and_equal_labels_are_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,speed,success\n0,1,true\n1,2,true", encoding="utf-8")
    (tmp_path / "b.csv").write_text("id,speed\n0,1\n1,2", encoding="utf-8")
    with pytest.warns(UserWarning, match="every label of success is pass"):
        printed = run("a.csv", "b.csv", "--labels", "success", "--port", "0")
    assert "No rollout of b is labelled." in printed
    reported = run("report")
    assert "Every rollout that was labelled passed (2 of 2)" in reported


def test_what_is_missing_is_said(run: Run) -> None:
    with pytest.raises(ValueError, match="there is no arena yet"):
        run("report")
    with pytest.raises(ValueError, match=r"which policy .*careful"):
        run("careful.npz", "--port", "0")
    with pytest.raises(FileNotFoundError, match=r"no\.npz"):
        run("careful.npz", "no.npz", "--port", "0")
    with pytest.raises(ValueError, match="NAME=module:function or NAME=random"):
        run("CartPole-v1", "--policies", "mine", "--port", "0")


def test_policies_play_an_environment() -> None:
    pytest.importorskip("gymnasium")
    policies, opening = ["one=random", "two=random"], {"episodes": 3, "max_steps": 4, "trust": False}
    named = named_policies(["CartPole-v1"], policies, None)
    opened = sources(["CartPole-v1"], policies, named, opening)
    assert [(source.policy, len(source.dataset)) for source in opened] == [("one", 3), ("two", 3)]
    with pytest.raises(ValueError, match="play one environment"):
        sources(["CartPole-v1", "Acrobot-v1"], policies, named, opening)


def test_a_simulation_compares_with_a_round_robin(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def bar(text: str, total: int) -> AbstractContextManager[Advance]:
        shown.append(text)
        return progress(text, total, show=False)

    monkeypatch.setattr(sys.modules["prefero.cli.arena"], "progress", bar)
    printed = run("simulate", "--policies", "2", "--gap", "3")
    assert shown == ["simulating an arena, active", "simulating an arena, round-robin"]
    assert printed.count("This is right.") == 2
    assert "Round robin: The order is " in printed
    printed = run("simulate", "--policies", "2", "--gap", "3", "--answers", "success", "--bar", "0.5")
    assert "% is true." in printed


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "arena.md").read_text(encoding="utf-8")
    panels = (FEATURES, FORMATS)  # documented with datasets
    own = [p for p in COMMANDS[name].params if getattr(p, "rich_help_panel", None) not in panels]
    for option in (word for p in own for word in p.opts if word.startswith("--")):
        assert f"`{option}`" in page or option == "--browser", option
