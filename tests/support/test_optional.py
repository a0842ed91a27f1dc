"""Missing packages: one message names all extras that a command needs, and one command installs them."""

import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import numpy as np
import pytest

from prefero import Learner, Pool, Question
from prefero import __main__ as program
from prefero._support import optional
from prefero._support.optional import WRITERS, MissingExtra, missing_packages, need
from run_here import run_here

DECLARED = [
    "numpy>=2.1",
    'typer>=0.15; extra == "cli"',
    "rich>=13; extra == 'cli'",
    'fastapi>=0.115; extra == "server"',
    'prefero[server]; extra == "postgres"',
    'psycopg[binary]>=3.2; extra == "postgres"',
    'mujoco>=3.11; extra == "worlds"',
    'matplotlib>=3.9; extra == "plots"',
]


@pytest.fixture
def core_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prefero without extras."""

    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(optional, "requires", lambda _: DECLARED)
    monkeypatch.setattr(optional, "version", absent)
    monkeypatch.setattr(
        optional, "install_command", lambda extras: f"pip install 'prefero[{','.join(extras)}]'"
    )


@pytest.mark.usefixtures("core_only")
def test_the_packages_of_an_extra_are_those_that_are_declared() -> None:
    assert missing_packages("cli") == ["typer", "rich"]
    assert missing_packages("postgres") == ["fastapi", "psycopg"]
    assert missing_packages("unheard of") == []


def test_in_this_environment_no_package_of_the_command_line_is_missing() -> None:
    assert missing_packages("cli") == missing_packages("server") == []


@pytest.mark.parametrize(
    ("words", "extras"),
    [
        ("--version", "cli"),
        ("teach driver", "cli server"),
        ("teach golf --questions 5", "cli server worlds"),
        ("teach pool.npz", "cli server"),
        ("teach my_dataset --database postgresql://here/db", "cli server datasets postgres"),
        ("features arm --out f.parquet", "cli datasets"),
        ("simulate tosser --out results/simulate.png", "cli worlds plots"),
        ("show driver --out driver.mp4", "cli plots worlds"),
        ("export reward.json --out reward.onnx", "cli onnx"),
        ("push reward.json me/grasps", "cli hub"),
        ("rerun reward.json pool.npz --question 0,1", "cli rerun"),
        ("reproduce", "cli experiments plots worlds"),
        ("study create golf-study --world golf", "cli server worlds"),
    ],
)
def test_the_extras_of_a_command_are_known_from_its_words(words: str, extras: str) -> None:
    assert program.extras_of(words.split()) == extras.split()


@pytest.mark.usefixtures("core_only")
def test_one_message_names_everything_that_a_command_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lacking(module: str, *, extra: str) -> None:
        raise MissingExtra(f"{module} is missing", extra)

    monkeypatch.setattr(program, "need", lacking)
    monkeypatch.setattr("sys.argv", ["prefero", "teach", "golf"])
    with pytest.raises(SystemExit, match="2"):
        program.main()
    assert capsys.readouterr().err == (
        "prefero: this needs the packages 'typer', 'rich', 'fastapi', 'mujoco', which are not installed: "
        "type  pip install 'prefero[cli,server,worlds]'\n"
    )


def test_every_extra_that_a_command_may_name_is_declared() -> None:
    named = {"cli", "datasets", "postgres", *program.WORD_EXTRAS.values()}
    named |= {extra for _, extra in WRITERS.values()}
    named |= {extra for extras in program.COMMAND_EXTRAS.values() for extra in extras}
    declared = {match[3] for match in map(optional.REQUIREMENT.match, requires("prefero") or []) if match}
    assert named <= declared


def test_a_package_that_is_missing_is_an_error_with_its_extra() -> None:
    with pytest.raises(MissingExtra, match="'nowhere', which is not installed") as caught:
        need("nowhere.at.all", extra="plots")
    assert caught.value.extras == ("plots",)


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Takes a package away; the working folder has a reward and a pool."""
    monkeypatch.chdir(tmp_path)
    pool = Pool(np.random.default_rng(0).normal(size=(4, 2)), ["speed", "jerk"])
    learner = Learner(pool)
    learner.tell(Question(0, 1), "left")
    learner.reward().save("reward.json")
    pool.save("pool.npz")

    def take(package: str) -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, package, None)

    return take


@pytest.mark.parametrize(
    ("words", "package"),
    [
        ("rank reward.json pool.npz --picture worst.png --out s.csv", "matplotlib"),
        ("rank reward.json pool.npz --out s.parquet", "pyarrow"),
        ("score reward.json pool.npz --out s.parquet", "pyarrow"),
        ("score reward.json pool.npz --out s.csv --rabc p.parquet", "pyarrow"),
        ("features pool.npz", "pyarrow"),
        ("features pool.npz --figure f.png", "matplotlib"),
        ("simulate --questions 1 --out f.png --save r.json", "matplotlib"),
        ("show driver --out clip.png", "matplotlib"),
        ("show driver --out clip.mp4", "av"),
        ("export reward.json --out r.py --out r.onnx", "onnx"),
        ("pairs pool.npz --out pairs.parquet", "pyarrow"),
        ("rerun reward.json pool.npz --question 0,1", "rerun"),
        ("study report mine", "matplotlib"),
        ("arena report", "matplotlib"),
        ("reproduce --quick", "matplotlib"),
    ],
)
def test_a_missing_package_is_named_before_any_work_is_done(
    words: str,
    package: str,
    without: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    without(package)
    before = sorted(Path.cwd().iterdir())
    assert run_here(monkeypatch, *words.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert f"'{package}'" in said.err
    assert "not installed: type  " in said.err
    assert sorted(Path.cwd().iterdir()) == before
