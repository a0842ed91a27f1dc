"""The example: every kind of dataset is made and brought in."""

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "own_trajectories.py"


def test_every_kind_of_dataset_is_made_brought_in_and_taught(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["LeRobot", "Minari", "clips", "archive", "Gymnasium"]
    assert ["with films" in line for line in lines] == [True, False, True, False, True]
