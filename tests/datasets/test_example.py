"""The example: a dataset of every format is written and taught with."""

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "own_trajectories.py"


def test_a_dataset_of_every_format_is_written_and_taught_with(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["LeRobot", "Minari", "videos", "archive", "Gymnasium"]
    assert ["with videos" in line for line in lines] == [True, False, True, False, True]
