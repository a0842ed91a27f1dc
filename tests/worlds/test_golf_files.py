"""The files of the robot that plays golf come with a package, and nothing else does."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from prefero._support.optional import MissingExtra
from prefero.worlds import make
from prefero.worlds.mujoco import fetch

ROOT = Path(__file__).resolve().parents[2]


def test_the_robots_files_are_not_in_the_repository() -> None:
    kinds = {".stl", ".obj", ".msh", ".dae", ".ply", ".mjb", ".glb"}
    ours = [top for top in ROOT.iterdir() if not top.name.startswith(".")]
    files = [file for top in ours for file in (top, *top.rglob("*")) if file.is_file()]
    assert len(files) > 50
    assert [file.name for file in files if file.suffix.lower() in kinds] == []


def test_the_robots_files_come_with_their_package() -> None:
    assert "gymnasium_robotics" in fetch.model_file().parts
    assert ROOT / "src" not in fetch.model_file().parents


def without_files(folder: Path) -> Any:
    return SimpleNamespace(submodule_search_locations=[str(folder)])


@pytest.mark.parametrize("installed", [False, True])
def test_without_the_robots_files_it_says_what_to_install(
    installed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "find_spec", lambda _: without_files(tmp_path) if installed else None)
    with pytest.raises(MissingExtra, match=r"Fetch robot's model files.*pip install .*\[worlds\]'"):
        make("golf")


def test_without_mujoco_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match=r"'mujoco', .*\[worlds\]"):
        make("golf")
