"""Flags that several commands share: those of FeatureOptions, and those of the dataset formats."""

import inspect
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from prefero import Pool
from prefero.cli import app
from prefero.cli.help import with_nearest
from prefero.cli.options import (
    FEATURES,
    FORMATS,
    JUDGES,
    KNOWN,
    LABELS,
    SERVER,
    SESSION,
    feature_options,
    typed,
    with_dataset_flags,
)
from prefero.datasets import FeatureOptions
from run_here import run_here

Given = tuple[str, FeatureOptions, Mapping[str, object]]


def run(*words: str) -> Given:
    """What a command gets that has the shared flags."""
    found: list[Given] = []

    @with_dataset_flags()
    def command(
        what: Annotated[str, typer.Argument()], *, features: FeatureOptions, opening: Mapping[str, object]
    ) -> None:
        """A command."""
        found.append((what, features, opening))

    own = typer.Typer()
    own.command()(command)
    result = CliRunner().invoke(own, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return found[0]


def test_every_feature_option_but_those_of_the_program_is_a_flag() -> None:
    flags = set(inspect.signature(feature_options).parameters)
    names = {one.name for one in fields(FeatureOptions)} - {"cache", "progress"}
    assert {"features" if flag == "feature" else flag for flag in flags} == names


def test_without_flags_everything_has_its_default() -> None:
    what, features, opening = run("arm")
    assert what == "arm"
    assert features == FeatureOptions()
    assert set(opening.values()) == {None, False}
    assert {"camera", "task", "render", "step_seconds", "max_steps", "table"} <= set(opening)


@pytest.mark.parametrize(
    "features",
    [
        FeatureOptions(["mean", "goal(x=0.3, y=0.1)"]),
        FeatureOptions(window="2s", stride="1s", skip_bad=True),
        FeatureOptions(["pca(2)"], fit_embeddings_on="whole.npz", drop=["a b", "c"], jobs=3),
        FeatureOptions(log_transform=["control effort"]),
    ],
)
def test_options_are_typed_as_they_are_read(features: FeatureOptions) -> None:
    opening = {"camera": "wrist", "render": True, "max_steps": 9, "seed": 0, "task": None}
    words = list(typed(features, opening))
    _, again, opened = run("arm", *words)
    assert again == features
    assert {name: opened[name] for name in opening} == {**opening, "task": None}


def test_flags_may_be_left_out() -> None:
    @with_dataset_flags(without=("drop",))
    def command(*, features: FeatureOptions, opening: Mapping[str, object]) -> None:
        del features, opening

    assert "drop" not in inspect.signature(command).parameters
    assert "log_transform" in inspect.signature(command).parameters


def test_the_help_of_teach_groups_every_option() -> None:
    parameters = typer.main.get_command(app).commands["teach"].params  # type: ignore[attr-defined]
    options = [one for one in parameters if one.param_type_name == "option"]
    assert [one.name for one in options if getattr(one, "rich_help_panel", None) is None] == []
    headings = dict.fromkeys(one.rich_help_panel for one in options)
    assert list(headings) == [SESSION, SERVER, LABELS, KNOWN, JUDGES, FEATURES, FORMATS]


def test_a_misspelt_value_of_an_option_suggests_the_nearest() -> None:
    done = CliRunner().invoke(app, ["show", "driver", "--out", "x.png", "--view", "clp"])
    said = " ".join(done.output.split())
    assert "'clip', 'samples', 'poisson', 'targets'; did you mean 'clip'?" in said
    assert with_nearest("'7' is not one of 'a', 'b'.") == "'7' is not one of 'a', 'b'."
    assert with_nearest("0 is not in the range x>=1.") == "0 is not in the range x>=1."


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "teach golf --port 99999",
            "'--port': it should be less than or equal to 65535, but is '99999'. See",
        ),
        ("simulate --questions three", "'--questions': it should be a valid integer"),
        ("teach golf --prot 1", "--port"),
        ("reprt", "'report'"),
        ("study create", "missing argument 'name'. See"),
        ("--nothing", "no such option: --nothing"),
    ],
)
def test_what_is_wrong_with_the_words_of_a_command_is_one_line(words: str, said: str) -> None:
    done = CliRunner().invoke(app, words.split())
    (line,) = done.stderr.splitlines()
    assert done.exit_code == 2
    assert line.startswith("prefero: ")
    assert said in line
    assert line.endswith("--help")


def test_a_group_without_a_command_shows_its_help() -> None:
    done = CliRunner().invoke(app, ["study"])
    assert "create" in done.output
    assert done.output.startswith("Usage: ")


def test_questions_about_the_group_are_about_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Pool([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]]).save("walks.npz")
    words = ("teach", "walks.npz", "--answers", "rank-3", "--about", "group", "--no-browser", "--port", "0")
    assert run_here(monkeypatch, *words) != 0
    said = " ".join(capfd.readouterr().err.split())
    assert "most informative pair" in said
    assert "Traceback" not in said
