"""`make teach` and `tools/install.py`: what is installed, with what, and what a person who waits is told."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tools import install

ROOT = Path(__file__).resolve().parent.parent
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PIP = """Obtaining file:///home/me/prefero
  Downloading mujoco_core-4.0.0-cp311-cp311-manylinux_2_28_x86_64.whl (9.6 MB)
  Using cached rich-14.0.0-py3-none-any.whl (240 kB)
  Downloading typer-0.29.0-py3-none-any.whl (121 kB)
Installing collected packages: numpy, rich, typer
"""


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Nothing is run: the commands are collected."""
    collected: list[list[str]] = []

    def run(command: list[Any], **_: Any) -> SimpleNamespace:
        collected.append([Path(str(command[0])).name, *map(str, command[1:])])
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", run)
    return collected


def rule(target: str) -> str:
    found = re.search(rf"^{re.escape(target)}:.*\n((?:\t.*\n)+)", MAKEFILE, flags=re.MULTILINE)
    assert found is not None
    return found[1]


def test_teaching_installs_the_extras_that_teaching_needs_and_no_group() -> None:
    assert "$(TEACH) $(PAGE)" in rule("teach")
    assert '".[cli,server,worlds]"' in rule("$(TEACH)")
    assert "--group" not in rule("$(TEACH)") + rule("$(VENV)/.demo")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = " ".join([*extras["cli"], *extras["server"], *extras["worlds"]])
    assert not re.search(r"ruff|mypy|pytest|playwright|onnx|torch|matplotlib", wanted)


def test_the_page_is_built_without_the_packages_that_check_it() -> None:
    packages = (ROOT / "web" / "package.json").read_text(encoding="utf-8")
    built_with = packages[packages.index('"dependencies"') : packages.index('"devDependencies"')]
    assert '"vite"' in built_with
    assert not re.search(r"eslint|vitest|typescript", built_with)
    assert "$(OMIT)" in rule("$(PAGE)")
    assert "OMIT := --omit=dev\n" in MAKEFILE
    assert (
        "vitest" not in (ROOT / "web" / "vite.config.ts").read_text(encoding="utf-8").partition("import")[2]
    )


def test_uv_is_used_when_it_is_there(
    commands: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert install.main([str(tmp_path / "env"), "--editable", ".[cli,server]", "--group", "dev"]) == 0
    made, installed = commands
    assert made[:2] == ["uv", "venv"]
    assert installed[:3] == ["uv", "pip", "install"]
    assert installed[-4:] == ["--editable", ".[cli,server]", "--group", "dev"]
    said = capfd.readouterr().out.splitlines()
    assert said[0].startswith("prefero: making the virtual environment ")
    assert said[1] == "prefero: installing Prefero[cli,server] and dev with uv"


def test_without_uv_pip_installs_and_says_what_it_downloads(
    commands: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(
        install, "install_with_pip", lambda *_: len(list(install.showing(PIP.splitlines()))) and 0
    )
    assert install.main([str(tmp_path / "env"), "--editable", "."]) == 0
    assert commands == [[Path(sys.executable).name, "-m", "venv", str(tmp_path / "env")]]
    said = capfd.readouterr().out.splitlines()
    assert said[1:] == [
        "prefero: installing Prefero with pip",
        "  mujoco_core, 9.6 MB",
        "  3 packages are being unpacked",
    ]


def test_what_pip_said_is_shown_when_it_fails(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert install.install_with_pip(Path(sys.executable), [str(tmp_path / "nowhere")]) != 0
    assert "nowhere" in capfd.readouterr().err


def test_an_old_python_and_one_without_venv_are_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert install.hindrance(None) is None
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "apt-get install python3-venv" in str(install.hindrance(None))
    assert install.hindrance("/usr/bin/uv") is None
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    assert "this is 3.9.2: say  make PYTHON=/path/to/python3" in str(install.hindrance("/usr/bin/uv"))
