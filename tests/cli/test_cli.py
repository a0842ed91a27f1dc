"""The command line, run as a user runs it: in a process of its own."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import prefero
from prefero.cli import app
from prefero.experiments.reproduce import FIGURES
from run_prefero import run_prefero as run
from run_prefero import without

SMALL = ["--questions", "3", "--trajectories", "15", "--features", "2"]


def run_without(package: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Where a package is not installed, and Prefero came from PyPI: a checkout has any name."""
    origin = "from prefero._support import commands; commands._origin = lambda: None"
    return run(*words, first=f"{without(package)}\n{origin}")


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("simulated")
    done = run(
        *("simulate", "--reward", "linear", *SMALL, "--out", "new[1]/p.png", "--save", "reward.json"),
        folder=folder,
    )
    assert done.returncode == 0, done.stderr
    return folder, done


def test_simulate_draws_an_image(simulated: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    image = (simulated[0] / "new[1]" / "p.png").read_bytes()
    assert "new[1]" in simulated[1].stdout  # brackets are no markup
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(image) > 10_000


def test_simulate_saves_a_reward_that_can_be_loaded(
    simulated: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    reward = prefero.load_reward(simulated[0] / "reward.json")
    assert reward.diagnostics["answers"] == 3
    assert reward([[0.0, 0.0], [1.0, 1.0]]).shape == (2,)


def test_simulate_says_what_was_learned_and_where_it_is(
    simulated: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    told = simulated[1].stdout
    assert "active questions" in told
    assert "random questions" in told
    assert "too early to say how many" in " ".join(told.split())
    assert "prefero.load_reward('reward.json')" in told
    assert f"The figure is in {Path('new[1]', 'p.png')}." in told
    assert simulated[1].stderr == ""


def test_the_seed_decides_what_simulate_prints() -> None:
    first, again, other = (
        run(
            "simulate", "--reward", "bumpy", "--questions", "1", "--trajectories", "10", "--seed", seed
        ).stdout
        for seed in ("1", "1", "2")
    )
    tables = [re.findall(r"0\.\d{3}", told) for told in (first, again, other)]
    assert tables[0] == tables[1] != tables[2]
    assert len(tables[0]) == 2


def test_simulate_has_users_like_people() -> None:
    words = ("simulate", "--questions", "2", "--trajectories", "10", "--seed", "1", "--reward")
    like_people, linear = (run(*words, kind).stdout for kind in ("like-people", "linear"))
    assert "With active questions" in like_people
    assert like_people != linear  # the same structure, but this user errs


def test_simulate_stops_when_enough_is_predicted() -> None:
    words = ["--reward", "linear", "--questions", "7", "--trajectories", "20"]
    told = " ".join(run("simulate", *words, "--until", "0.51").stdout.split())
    assert "after 5 of 7 questions" in told
    assert "five more answers" in told
    told = " ".join(run("simulate", *words[:-4], "--questions", "1", "--until", "0.99").stdout.split())
    assert "not reached after 1 question" in told


def test_the_best_of_two_is_better_than_all_the_others() -> None:
    words = ["--reward", "linear", "--questions", "2", "--trajectories", "2", "--noise", "0.01"]
    told = run("simulate", *words).stdout
    assert "above that of 100.0% of the others" in " ".join(told.split())


def test_a_simulated_person_teaches_in_a_world(tmp_path: Path) -> None:
    done = run("simulate", "driver", "--questions", "2", "--trajectories", "20", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "too early to say what the user's reward" in done.stdout


def test_worlds_lists_every_world_with_its_features_and_physics() -> None:
    told = run("worlds").stdout
    for word in ("driver", "tosser", "golf", "lane distance (m)", "flips (turns)", "mujoco", "5.6 s"):
        assert word in told


def test_worlds_says_what_a_world_needs_that_is_not_there() -> None:
    done = run_without("mujoco", "worlds")
    assert done.returncode == 0
    assert done.stdout.count("prefero[worlds]") == 2
    assert "lane distance" in done.stdout


@pytest.mark.parametrize("name", ["clip.mp4", "strip.png", "strip.pdf", "replay.json"])
def test_show_makes_what_the_name_of_the_file_says(name: str, tmp_path: Path) -> None:
    done = run("show", "driver", "--seed", "3", "--out", f"new/{name}", "--frames", "3", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    made = (tmp_path / "new" / name).read_bytes()
    beginnings = {".mp4": b"ftyp", ".png": b"PNG", ".pdf": b"%PDF", ".json": b'{"world": "driver"'}
    assert beginnings[Path(name).suffix] in made[:30]
    assert "speed: -0.198 m/s" in done.stdout
    assert f"It is in {Path('new', name)}." in done.stdout


@pytest.mark.parametrize(
    ("world", "view"), [("driver", "samples"), ("driver", "poisson"), ("golf", "targets")]
)
def test_show_draws_the_views_of_the_paper(world: str, view: str, tmp_path: Path) -> None:
    done = run("show", world, "--view", view, "--out", "view.svg", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "<svg" in (tmp_path / "view.svg").read_text(encoding="utf-8")


def test_an_action_can_be_given(tmp_path: Path) -> None:
    words = ["show", "golf", "--actions", "1.5,-20", "--out", "shot.json"]
    assert "angle: -20 degrees" in run(*words, folder=tmp_path).stdout


def test_version() -> None:
    """In a process that was not forked from another."""
    command = [sys.executable, "-m", "prefero", "--version"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout.strip()) == (0, f"prefero {prefero.__version__}")


def test_help_names_the_command_and_its_options() -> None:
    told = run("--help").stdout
    assert all(command in told for command in ("simulate", "worlds", "show", "reproduce"))
    told = run("simulate", "--help").stdout
    options = ["questions", "features", "trajectories", "noise", "margin", "purpose", "seed", "out", "save"]
    assert [option for option in options if f"--{option}" not in told] == []
    assert re.search("linear.*quadratic.*bumpy", told)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--noise", "-1"], "prefero: noise must be a positive number"),
        (["--margin", "-0.5"], "prefero: margin must be 0"),
        (["--out", "image.docx"], "prefero: a figure is saved as .png, .pdf, .svg"),
        (["--save", "taken/reward.json"], "prefero: "),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_before_any_work(
    words: list[str], message: str, tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be", encoding="utf-8")
    done = run("simulate", *SMALL, *words, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


# --- reproduce --------------------------------------------------------------------------------------------

TINY = """
from dataclasses import replace
import prefero.experiments.reproduce as r
grid = {"thetas": r.QUICK.thetas[:1], "sigmas": r.QUICK.sigmas[:1]}
r.QUICK = replace(r.QUICK, runs=1, questions=15, trajectories=24, test_size=6, **grid)
"""


def reproduce(*words: str, folder: Path, first: str = "") -> subprocess.CompletedProcess[str]:
    """A quick look that is quicker still: 1 run, 15 questions, 24 trajectories, one theta."""
    return run("reproduce", "--quick", "--jobs", "1", *words, folder=folder, first=f"{first}\n{TINY}")


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("reproduced")
    done = reproduce("--figure", "driver-active", "--out", "my results", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_reproduce_makes_runs_a_figure_and_a_report(
    reproduced: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    out, done = reproduced[0] / "my results", reproduced[1]
    count = len(list((out / "runs").glob("*.parquet")))
    assert count >= 4
    assert (out / "driver-active.png").read_bytes().startswith(b"\x89PNG")
    assert "<img" in (out / "report.html").read_text(encoding="utf-8")
    assert "driver-active.png" in (out / "report.md").read_text(encoding="utf-8")
    assert f"{count} runs to do" in done.stdout
    html, text = Path("my results", "report.html"), Path("my results", "report.md")
    assert f"The report is in {html} and {text}." in done.stdout
    assert done.stderr == ""


def test_reproduce_again_does_nothing_new(
    reproduced: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder = reproduced[0]
    kept = {path: path.stat().st_mtime_ns for path in (folder / "my results" / "runs").iterdir()}
    done = reproduce("--figure", "driver-active", "--out", "my results", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 runs to do" in done.stdout
    assert {path: path.stat().st_mtime_ns for path in (folder / "my results" / "runs").iterdir()} == kept


def test_the_report_has_a_command_that_can_be_typed_again(
    reproduced: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    text = (reproduced[0] / "my results" / "report.md").read_text(encoding="utf-8")
    told = re.search(r"`(prefero reproduce .*)`", text)
    assert told is not None
    words = ["--quick", "--jobs", "1", "--figure", "driver-active", "--out", "my results"]
    assert shlex.split(told[1]) == ["prefero", "reproduce", *words]


def test_reproduce_lists_the_figures(tmp_path: Path) -> None:
    done = run("reproduce", "--list", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(FIGURES)
    assert all(line.endswith(figure.title) for line, figure in zip(lines, FIGURES.values(), strict=True))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--figure", "moon"], "prefero: there is no figure 'moon': the figures are driver-linear, "),
        (["--figure", "driver-poly", "--out", "taken/results"], "prefero: "),
    ],
)
def test_what_cannot_be_reproduced_is_said_in_one_line(
    words: list[str], message: str, tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be", encoding="utf-8")
    done = run("reproduce", *words, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize("package", ["joblib", "pyarrow"])
def test_reproduce_names_a_missing_package_with_its_remedy(package: str, tmp_path: Path) -> None:
    done = reproduce("--figure", "driver-active", folder=tmp_path, first=without(package))
    assert done.returncode == 2
    assert re.fullmatch(
        f"prefero: this needs the package {package!r}, which is not installed: "
        r"type  .*pip install .*\[experiments\]'\n",
        done.stderr,
    )


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["reproduce", "--questions", "14"], "--questions"),
        (["reproduce", "--runs", "0"], "--runs"),
        (["reproduce", "--tests", "1"], "--tests"),
        (["reproduce", "--backend", "abacus"], "abacus"),
        (["simulate", "--reward", "wavy"], "wavy"),
        (["simulate", "nowhere"], "driver, tosser, golf"),
        (["simulate", "driver", "--reward", "targets"], "only golf has targets"),
        (["show", "nowhere", "--out", "a.png"], "driver, tosser, golf"),
        (["show", "driver", "--out", "a.gif"], ".mp4"),
        (["show", "driver", "--out", "a.png", "--actions", "1,x"], "1,x"),
        (["show", "driver", "--out", "a.png", "--actions", "1,2"], "10 numbers"),
        (["show", "driver", "--out", "a.png", "--view", "targets"], "only golf has targets"),
        (["show", "golf", "--out", "a.png", "--view", "samples"], "driver and tosser"),
        (["show", "driver"], "--out"),
        (["simulate", "--questions", "0"], "--questions"),
        (["simulate", "--purpose", "fun"], "fun"),
        (["simulate", "--bogus"], "--bogus"),
        (["rank", "nowhere.csv"], "no such file: nowhere.csv"),
        (["pairs", "nowhere.csv"], "no such file: nowhere.csv"),
        (["study", "list", "--database", "nowhere.db"], "no such file: nowhere.db"),
        (["study", "serve", "--clips", "nowhere"], "no such folder: nowhere"),
        (["arena", "report", "--database", "nowhere.db"], "no such file: nowhere.db"),
        (["frobnicate"], "frobnicate"),
        (["simulate", "--save", "folder"], "folder is a folder: give a file, such as"),
        (["reproduce", "--quick", "--out", "row.csv"], "row.csv is a file: give a folder"),
        (
            ["teach", "row.csv", "--port", "0"],
            "row has only one trajectory",
        ),
    ],
)
def test_what_was_typed_wrong_is_named(words: list[str], named: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "row.csv").write_text("speed,height\n1,2\n", encoding="utf-8")
    done = run(*words, folder=tmp_path, environment={"PREFERO_DATA": str(tmp_path)})
    assert done.returncode == 2
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_a_missing_package_is_named_with_its_remedy(package: str) -> None:
    done = run_without(package, "--version")
    assert done.returncode == 2
    assert re.fullmatch(
        f"prefero: this needs the package {package!r}, which is not installed: "
        r"type  .*pip install .*\[cli\]'\n",
        done.stderr,
    )


def test_without_matplotlib_everything_but_the_image_works(tmp_path: Path) -> None:
    save, out = tmp_path / "reward.json", tmp_path / "p.png"
    words = ["simulate", *SMALL, "--save", str(save)]
    assert run_without("matplotlib", *words).returncode == 0
    assert prefero.load_reward(save).diagnostics["answers"] == 3
    done = run_without("matplotlib", *words, "--out", str(out))
    assert (done.returncode, done.stdout) == (2, "")
    assert "[plots]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def every_command() -> list[str]:
    """The words of every command, with those of groups."""
    group: Any = typer.main.get_command(app)
    inner = {name: getattr(command, "commands", {}) for name, command in group.commands.items()}
    return [f"{name} {one}".strip() for name, commands in inner.items() for one in commands or [""]]


@pytest.mark.parametrize("width", ["80", "100"])
def test_help_has_whole_names_of_options_and_an_example(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("TERMINAL_WIDTH", width)
    group: Any = typer.main.get_command(app)
    for words in every_command():
        command = group
        for word in words.split():
            command = command.commands[word]
        told = CliRunner().invoke(app, [*words.split(), "--help"]).output
        names = [name for one in command.params for name in one.opts if name.startswith("--")]
        assert [name for name in names if not re.search(rf"(?<![\w-]){name}(?![\w-])", told)] == [], words
        assert "…" not in told
        assert max(map(len, told.splitlines())) <= int(width), words
        example = f"prefero {words.removesuffix(' compare')}"
        assert re.search(rf"For example:\n\n +{example}( |\n)", told), words


def test_the_help_of_teach_names_every_world() -> None:
    told = CliRunner().invoke(app, ["teach", "--help"]).output
    assert f"A world ({', '.join(prefero.worlds.names())})" in " ".join(told.split())
