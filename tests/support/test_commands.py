"""Commands in messages work where the person is: in an active environment or not, in a checkout or not."""

import ast
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from prefero._support import commands
from prefero._support.commands import install_command, prefero_command, upgrade_command
from systems import ON_WINDOWS

pytestmark = pytest.mark.skipif(ON_WINDOWS, reason="the paths are those of other systems")


class Place:
    """A project folder with an environment, in which a person types."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.programs = folder, folder / ".venv" / "bin"
        self.programs.mkdir(parents=True)
        self._patch = monkeypatch
        for program in ("prefero", "pip", "python"):
            self.add(program)
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setattr(sys, "executable", str(self.programs / "python"))
        monkeypatch.setattr(shutil, "which", {}.get)
        self.installed_from(None)

    def add(self, program: str) -> None:
        (self.programs / program).write_text("", encoding="utf-8")

    def activate(self) -> None:
        self._patch.setattr(shutil, "which", lambda name: str(self.programs / name))

    def installed_from(self, origin: dict[str, Any] | None) -> None:
        text = None if origin is None else json.dumps(origin)
        self._patch.setattr(commands, "distribution", lambda _: SimpleNamespace(read_text=lambda _: text))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path / "project", monkeypatch)


def test_an_active_environment_needs_no_path(place: Place) -> None:
    place.activate()
    assert prefero_command("teach", "my data.csv") == "prefero teach 'my data.csv'"
    assert install_command(["cli", "server"]) == "pip install 'prefero[cli,server]'"
    assert upgrade_command() == "pip install --upgrade prefero"


def test_without_an_active_environment_the_path_is_given(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert prefero_command("teach", "golf") == ".venv/bin/prefero teach golf"
    assert install_command(["plots"]) == ".venv/bin/python -m pip install 'prefero[plots]'"
    monkeypatch.chdir(place.folder.parent)
    assert prefero_command("worlds") == "project/.venv/bin/prefero worlds"


@pytest.mark.usefixtures("place")
def test_another_prefero_on_the_path_is_not_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert prefero_command("worlds") == ".venv/bin/prefero worlds"


def test_without_the_program_the_module_is_run(place: Place) -> None:
    (place.programs / "prefero").unlink()
    assert prefero_command("worlds") == ".venv/bin/python -m prefero worlds"


def test_extras_of_a_checkout_are_installed_from_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.installed_from({"url": place.folder.as_uri(), "dir_info": {"editable": True}})
    place.activate()
    assert install_command(["worlds"]) == "pip install --editable '.[worlds]'"
    assert upgrade_command() == "git -C . pull"
    monkeypatch.chdir(place.folder.parent)
    assert shlex.split(install_command(["worlds"]))[-1] == "project[worlds]"


def test_extras_of_a_wheel_are_installed_from_the_wheel(place: Place) -> None:
    place.installed_from({"url": "file:///tmp/prefero-0.1.0-py3-none-any.whl", "archive_info": {}})
    place.activate()
    assert (
        install_command(["cli"]) == "pip install 'prefero[cli] @ file:///tmp/prefero-0.1.0-py3-none-any.whl'"
    )


@pytest.mark.usefixtures("place")
def test_an_environment_that_uv_made_has_no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "find_spec", lambda _: None)
    monkeypatch.setattr(shutil, "which", {"uv": "/usr/bin/uv"}.get)
    assert install_command(["cli"]) == "uv pip install --python .venv/bin/python 'prefero[cli]'"


SOURCES = sorted((Path(__file__).resolve().parents[2] / "src" / "prefero").rglob("*.py"))
COMMANDS = "teach|features|score|export|simulate|worlds|show|study"
TYPED = re.compile(rf"(?<!`)\bprefero (?:{COMMANDS}) |\bpip install \w")


def texts(tree: ast.Module) -> Iterator[str]:
    """The strings of a module that are not docstrings."""
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            yield node.value


def test_no_message_names_a_command_that_may_not_work_here() -> None:
    found = [text for file in SOURCES for text in texts(ast.parse(file.read_text(encoding="utf-8")))]
    assert [text for text in found if TYPED.search(text) and not text.startswith("#")] == []


def test_advice_of_other_packages_names_extras_as_these_are_declared(place: Place) -> None:
    place.activate()
    advice = 'pygame is not installed, run `pip install "gymnasium[classic_control,box2d]"`'
    assert 'pip install "gymnasium[classic-control,box2d]"' in commands.pip_command(advice)
    for other in ("pip install nowhere[extra_one]", "pip install gymnasium[no_such]", "values[0]"):
        assert commands.pip_command(other) == other


def test_the_page_is_built_from_anywhere(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.installed_from({"url": place.folder.as_uri(), "dir_info": {"editable": True}})
    assert commands.page_command() == "make page"
    (place.folder / "work").mkdir()
    monkeypatch.chdir(place.folder / "work")
    assert commands.page_command() == f"make -C {place.folder} page"
