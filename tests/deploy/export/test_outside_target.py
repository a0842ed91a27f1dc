"""An export target of another package: nothing in Prefero names it, and every export finds it."""

import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deploy.conformance import Predict, assert_close, check_target, rewards, rows
from prefero.cli import app
from prefero.deploy.export import TARGETS, export_reward
from support.install_package import install_package

MODULE = '''
"""A reward as a zip archive with a Python file in it."""

import io
import zipfile

from prefero.deploy.export.python import to_python


def to_zip(reward):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr("reward.py", to_python(reward))
    return memory.getvalue()
'''


@pytest.fixture(autouse=True)
def zip_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = {"prefero.export_targets": {"pyz": "zip_target:to_zip"}}
    install_package(tmp_path / "site", monkeypatch, "zip_target", MODULE, points)


def load_zip(path: Path) -> Predict:
    names: dict[str, Any] = {}
    with zipfile.ZipFile(path) as archive:
        exec(archive.read("reward.py"), names)
    predict: Predict = names["predict"]
    return predict


def test_it_is_found_by_its_suffix_and_predicts_what_every_reward_predicts(tmp_path: Path) -> None:
    assert TARGETS.names()[:2] == ("py", "onnx")
    assert TARGETS.names()[-1] == "pyz"
    check_target(".pyz", load_zip, tmp_path)


def test_the_command_line_exports_with_it(tmp_path: Path) -> None:
    reward, out = rewards()["RBF"], tmp_path / "robot" / "reward.pyz"
    reward.save(tmp_path / "reward.json")
    result = CliRunner().invoke(app, ["export", str(tmp_path / "reward.json"), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert_close(load_zip(out)(rows(4, 1)), reward.predict(rows(4, 1), return_std=True))


def test_other_suffixes_are_refused_with_the_targets_there_are(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.py, \.onnx, .*\.pyz"):
        export_reward(rewards()["RBF"], tmp_path / "reward.txt")
    assert "zip_target" not in sys.modules  # only the target that is asked for is imported
