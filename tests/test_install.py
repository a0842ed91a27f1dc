"""`make teach` and `tools/install.py`: what is installed, with what, and what a person who waits is told."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
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


@pytest.mark.skipif(not (ROOT / "web/node_modules/vite").is_dir(), reason="the page's packages are not there")
def test_building_the_page_and_the_widget_prints_nothing(tmp_path: Path) -> None:
    assert rule("$(PAGE)").rstrip().endswith("npm run --silent build")
    scripts = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))["scripts"]
    for command in scripts["build"].split(" && "):
        tool, *words = command.split()
        vite = [ROOT / "web" / "node_modules" / ".bin" / tool, *words, "--outDir", tmp_path, "--emptyOutDir"]
        done = subprocess.run(vite, cwd=ROOT / "web", capture_output=True, check=True)
        assert done.stdout + done.stderr == b""


def test_uv_is_used_when_it_is_there(
    commands: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    wanted = ["--constraint", "constraints.txt", "--editable", ".[cli,server]", "--group", "dev"]
    assert install.main([str(tmp_path / "env"), *wanted]) == 0
    made, installed = commands
    assert made[:2] == ["uv", "venv"]
    assert installed[:4] == ["uv", "pip", "install", "--quiet"]
    assert installed[-6:] == wanted
    said = capfd.readouterr().out.splitlines()
    assert said[0].startswith("prefero: making the virtual environment ")
    assert said[1] == f"prefero: installing Prefero[cli,server] and dev with uv{install.LONG}"
    assert re.fullmatch(r"prefero: installed in \d+ s", said[2])
    assert len(said) == 3


def environment_with(tmp_path: Path, *programs: str) -> Path:
    """An environment that is there already, with these programs."""
    folder = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    folder.mkdir(parents=True)
    for program in programs:
        (folder / (program + (".exe" if sys.platform == "win32" else ""))).touch()
    return tmp_path / "env"


def test_without_uv_pip_installs_uv_first_with_the_same_constraints(
    commands: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    folder = environment_with(tmp_path, "python")
    monkeypatch.setattr(install, "run_quietly", lambda command: commands.append([*map(str, command[1:])]))
    wanted = ["--constraint", "constraints.txt", "--editable", "."]
    monkeypatch.setattr(install, "install_with_pip", lambda *_: 0)
    assert install.main([str(folder), *wanted]) == 0
    assert commands == [["-m", "pip", "install", "--no-compile", "--constraint", "constraints.txt", "uv"]]
    assert (
        capfd.readouterr().out == f"prefero: installing Prefero with pip{install.LONG}\n"
    )  # there is still no uv


@pytest.mark.parametrize("fails", [False, True])
def test_the_uv_of_the_environment_installs_and_where_it_fails_pip_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str], fails: bool
) -> None:
    """Also where the shell finds it, since pip is its way back, and pip's settings are its own."""
    folder = environment_with(tmp_path, "python", "uv")
    python = next(folder.glob("*/python*"))
    monkeypatch.setattr("shutil.which", lambda name: str(python.with_name(name + python.suffix)))
    listed = (
        "global.index-url='https://mirror.example/simple'\n:env:.index-url='https://nearer.example/simple'\n"
    )
    run: list[tuple[list[str], str]] = []

    def answer(command: list[Any], **options: Any) -> SimpleNamespace:
        if "config" in command:
            return SimpleNamespace(returncode=0, stdout=listed)
        run.append((command, options["env"].get("UV_DEFAULT_INDEX", "")))
        return SimpleNamespace(returncode=int(fails))

    monkeypatch.delenv("UV_DEFAULT_INDEX", raising=False)
    monkeypatch.setattr(subprocess, "run", answer)
    monkeypatch.setattr(install, "install_with_pip", lambda *_: 7)
    assert install.main([str(folder), "numpy"]) == (7 if fails else 0)
    [(command, index)] = run
    assert command[1:] == ["pip", "install", "--quiet", "--python", str(python), "numpy"]
    assert index == "https://nearer.example/simple"
    said = capfd.readouterr().out.splitlines()
    assert said[0] == f"prefero: installing numpy with uv, which pip installed{install.LONG}"
    assert said[1:] == (
        [
            "prefero: uv failed: what follows is pip's attempt",
            f"prefero: installing numpy with pip{install.LONG}",
        ]
        if fails
        else ["prefero: installed in 0 s"]
    )


def test_uv_looks_where_pip_is_told_to_look() -> None:
    assert install.translated([]) == {}
    assert install.translated(["global.cert='/etc/certificates'"]) == {}
    listed = ["global.extra-index-url='file:///one file:///two'", ":env:.find-links='\\n/wheels\\n/more'"]
    assert install.translated(listed) == {
        "UV_INDEX": "file:///one file:///two",
        "UV_FIND_LINKS": "/wheels,/more",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_pip_says_what_it_downloads(
    commands: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(install, "own_uv", lambda *_: None)
    monkeypatch.setattr(
        install, "install_with_pip", lambda *_: len(list(install.showing(PIP.splitlines()))) and 0
    )
    assert install.main([str(tmp_path / "env"), "--editable", "."]) == 0
    assert commands == [[Path(sys.executable).name, "-m", "venv", str(tmp_path / "env")]]
    said = capfd.readouterr().out.splitlines()
    assert said[1:] == [
        f"prefero: installing Prefero with pip{install.LONG}",
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
    assert "make PYTHON=/path/to/python3" in str(install.hindrance("/usr/bin/uv"))


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SYSTEMS = {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}


def environment(version: str, system: str) -> dict[str, str]:
    """What markers look at, on another machine."""
    python = {"python_version": version, "python_full_version": f"{version}.9"}
    return {
        **python,
        "sys_platform": system,
        "platform_system": SYSTEMS[system],
        "platform_machine": "x86_64",
    }


def requirements() -> list[Requirement]:
    """All that pyproject.toml asks for, except Prefero's own extras."""
    project = PROJECT["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    every = [Requirement(text) for some in [*lists, *PROJECT["dependency-groups"].values()] for text in some]
    return [requirement for requirement in every if requirement.name != "prefero"]


def pins(machine: dict[str, str]) -> dict[str, str]:
    """The versions of constraints.txt on a machine."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    every = [Requirement(line) for line in lines if line and not line.startswith("#")]
    here = [pin for pin in every if pin.marker is None or pin.marker.evaluate(machine)]
    versions: dict[str, str] = {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in here
    }
    assert len(versions) == len(here)  # one version of each
    return versions


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_versions_that_make_installs_are_in_the_ranges_of_the_project(version: str, system: str) -> None:
    pinned = pins(environment(version, system))
    outside = [
        f"{requirement}: {pinned.get(canonicalize_name(requirement.name))}"
        for requirement in requirements()
        if pinned.get(canonicalize_name(requirement.name), "none") not in requirement.specifier
    ]
    assert outside == [], "say `make constraints`, which chooses the versions anew"


def test_everything_that_make_installs_is_constrained() -> None:
    assert "CONSTRAINTS ?= constraints.txt\n" in MAKEFILE
    assert "tools/install.py $(VENV) $(addprefix --constraint ,$(CONSTRAINTS))\n" in MAKEFILE
    for target in ("$(TEACH)", "$(VENV)/.demo", "$(READY)"):
        assert f"{target}: pyproject.toml $(CONSTRAINTS)\n\t@$(INSTALL) " in MAKEFILE
    weekly = (ROOT / ".github" / "workflows" / "weekly.yml").read_text(encoding="utf-8")
    assert "make test PYTHON=python CONSTRAINTS=\n" in weekly  # the newest versions, every week


def test_the_tests_that_targets_name_are_there() -> None:
    """Those of heavy, lerobot and soak run seldom: a file that was moved would show late."""
    named = set(re.findall(r"(?<=\s)tests(?:/[\w.-]+)+", MAKEFILE))
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_pip_follows_the_constraints(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A version that there is not: pip must say that it was asked for."""
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("numpy==0.0.1\n", encoding="utf-8")
    wanted = ["--constraint", str(constraints), "--no-index", "--dry-run", "numpy"]
    assert install.install_with_pip(Path(sys.executable), wanted) != 0
    assert "numpy==0.0.1" in capfd.readouterr().err
