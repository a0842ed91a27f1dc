"""`--config FILE`: options from a TOML file, which are checked like those of the command line."""

from pathlib import Path

import pytest

from run_here import run_here

FILE = """
[simulate]
world = "driver"
questions = 2
trajectories = 12
reward = "quadratic"

[export]
out = ["one.py", "two.py"]

[loop]
rounds = 3
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.toml").write_text(FILE, encoding="utf-8")
    return tmp_path


def test_a_file_gives_options_and_arguments_and_the_command_line_wins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_here(monkeypatch, "simulate", "--config", "run.toml", "--save", "of_two.json") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "From [simulate] of run.toml: world, questions, trajectories, reward." in out
    assert (
        run_here(monkeypatch, "simulate", "--config=run.toml", "--questions", "3", "--save", "of_three.json")
        == 0
    )
    from prefero import load_reward

    answers = [load_reward(f"of_{many}.json").diagnostics["answers"] for many in ("two", "three")]
    assert answers == [2, 3]
    assert run_here(monkeypatch, "export", "of_two.json", "--config", "run.toml") == 0  # a list is repeated
    assert Path("one.py").exists()
    assert Path("two.py").exists()


@pytest.mark.parametrize(
    ("command", "content", "message"),
    [
        (
            "simulate",
            "[simulate]\nqestions = 3",
            "no option 'qestions'; did you mean 'questions'? The options are",
        ),
        ("simulate", "[simulat]\nquestions = 3", "no section 'simulat'; did you mean 'simulate'?"),
        (
            "simulate",
            "[simulate]\nquestions = 3.5",
            "invalid value for '--questions': it should be a valid integer",
        ),
        ("simulate", "[simulate]\nquestions = true", "questions is a text, a number, or a list of them"),
        ("simulate", "simulate = 3", "simulate is a section with options, [simulate], but is 3"),
        ("simulate", "[simulate", "is no TOML file: Expected"),
        ("study list", "[study.lst]\nx = 3", "no section 'lst'; did you mean 'list'?"),
        ("teach driver", "[teach]\ntrust = true", "--trust is given on the command line only"),
        ("teach driver", '[teach]\nbrowser = "yes"', "true or false, but here 'yes'"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    command: str,
    content: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("bad.toml").write_text(content, encoding="utf-8")
    assert run_here(monkeypatch, *command.split(), "--config", "bad.toml") == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_file_has_to_be_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One that lies there is not read: it might name code, and come from somebody else."""
    Path("prefero.toml").write_text("[worlds]\nnothing = 3", encoding="utf-8")
    assert run_here(monkeypatch, "worlds") == 0
    assert run_here(monkeypatch, "worlds", "--config") == 2
    assert "--config needs the path of a TOML file" in capsys.readouterr().err
    assert run_here(monkeypatch, "worlds", "--config", "nowhere.toml") == 2
    assert "no such file: nowhere.toml" in capsys.readouterr().err
