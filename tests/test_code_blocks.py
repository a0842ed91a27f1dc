"""Every Python block of the documentation runs: here, or in a make target that has the packages it needs.

ELSEWHERE says which target that is. With PREFERO_BLOCKS=target, the pages with such blocks run, and a package
that is missing is an error. A `text` block after a `python` block is what it prints. A `console` block that
shows what `prefero` prints is run too, unless it needs data or a server that are not here; NOT_RUN says so.
"""

import ast
import os
import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from prefero.acquisition import ACQUISITION_FUNCTIONS
from prefero.datasets import FORMATS
from prefero.deploy.export import TARGETS
from prefero.judges import JUDGES
from prefero.kernels import KERNELS
from prefero.questions.answer_kinds import ANSWER_KINDS
from prefero.worlds import REGISTRY as WORLDS
from run_prefero import run_prefero

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("benchmarks", "docs", "examples", "plugins", "tools")
REGISTRIES = (ACQUISITION_FUNCTIONS, ANSWER_KINDS, FORMATS, JUDGES, KERNELS, TARGETS, WORLDS)
ELSEWHERE = {
    "lerobot": "lerobot",
    "stable_baselines3": "heavy",
}  # packages, and who installs them
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
NOT_OUTPUT = "<!-- not the output -->"  # in the line before a `text` block that does not show it
NOT_RUN = "<!-- not run -->"  # in the line before a `console` block that shows output
OTHER_PROCESSORS = 0.05  # the share by which a fraction may differ on another processor
ROUNDED = ("README", "arena", "formula", "index", "tutorial")
TARGET = os.environ.get("PREFERO_BLOCKS")
WITH_COMMANDS = ("coding-agents",)  # blocks that go on from commands: tests/test_coding_agents.py runs both
PROGRAM = (
    ast.Import
    | ast.ImportFrom
    | ast.Assign
    | ast.AugAssign
    | ast.For
    | ast.With
    | ast.FunctionDef
    | ast.ClassDef
)


def pages() -> list[Path]:
    found = [page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md")]
    return [*sorted(ROOT.glob("*.md")), ROOT / "web" / "README.md", *sorted(found)]


def fences(page: Path) -> list[tuple[str, str]]:
    """The code blocks of a page: what the fence says, and the code."""
    found = re.findall(
        r"^```([^\n`]*)\n(.*?)^```\s*$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return [(info.strip(), code) for info, code in found]


def programs(page: Path) -> list[str]:
    return [code for info, code in fences(page) if info.startswith("python")]


def imported(code: str) -> set[str]:
    """The packages that a block imports."""
    nodes = list(ast.walk(ast.parse(code)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {name.partition(".")[0] for name in names}


def targets(page: Path) -> set[str]:
    """The make targets that run some of a page's blocks."""
    return {ELSEWHERE[name] for code in programs(page) for name in imported(code) & set(ELSEWHERE)}


def missing(code: str) -> set[str]:
    """What a block needs and is not installed; it must be where a target should have installed it."""
    absent = {name for name in imported(code) & set(ELSEWHERE) if find_spec(name) is None}
    return {name for name in absent if ELSEWHERE[name] != TARGET}


def chosen() -> list[Path]:
    """The pages whose blocks run here; `test_gallery.py` runs the programs of the gallery."""
    found = [page for page in pages() if programs(page) and page.stem not in WITH_COMMANDS]
    found = [page for page in found if page.parent.name != "gallery"]
    return [page for page in found if TARGET is None or TARGET in targets(page)]


def marked() -> list[Any]:
    """The pages; those whose questions and numbers rounding might change have the mark for it."""
    rounding = pytest.mark.rounding
    return [pytest.param(page, marks=rounding if page.stem in ROUNDED else ()) for page in chosen()]


def shown_outputs(page: Path) -> list[tuple[str, str | None]]:
    """Every `python` block of a page, with the `text` block after it that shows what it prints."""
    text = page.read_text(encoding="utf-8")
    fence = rf"^({NOT_OUTPUT}\n)?```([^\n`]*)\n(.*?)^```\s*$"
    found = re.findall(fence, text, flags=re.MULTILINE | re.DOTALL)
    return [
        (code, shown if kind.strip() == "text" and not marked else None)
        for (_, language, code), (marked, kind, shown) in pairwise([*found, ("", "", "")])
        if language.strip() == "python"
    ]


def is_same_output(shown: str, printed: str) -> bool:
    """The same words and whole numbers, and nearly the same fractions; "..." stands for anything."""
    shown, printed = (" ".join(text.split()) for text in (shown, printed))
    parts = re.split(rf"(\.\.\.|{NUMBER})", shown)
    numbers = [part for part in parts if re.fullmatch(NUMBER, part)]
    pattern = [".*?" if p == "..." else f"({NUMBER})" if p in numbers else re.escape(p) for p in parts]
    found = re.fullmatch("".join(pattern), printed)
    return found is not None and all(map(is_near, numbers, found.groups()))


def is_near(shown: str, printed: str) -> bool:
    """Whole numbers are the same; a fraction is rounded to the digits that are shown."""
    digits = len(shown.partition(".")[2])
    allowed = OTHER_PROCESSORS * abs(float(shown)) + 10.0**-digits if digits else 0.0
    return abs(float(shown) - float(printed)) <= allowed


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("Question(87, 53, value=0.17...)", "Question(87, 53, value=0.1732, unit='bits')\n", True),
        ("Question(87, 53, value=0.17...)", "Question(87, 54, value=0.1732, unit='bits')", False),
        ("value=0.92", "value=0.17", False),
        ("[[0.   0.69]\n [0.69 0.  ]]", "[[0.   0.688]\n [0.69 0.  ]]", True),
        ("2 features", "3 features", False),
        ("speed, height", "speed, distance", False),
    ],
)
def test_shown_output_is_compared_number_by_number(shown: str, printed: str, same: bool) -> None:
    assert is_same_output(shown, printed) is same


@pytest.mark.parametrize("page", marked(), ids=lambda page: str(page.relative_to(ROOT).with_suffix("")))
def test_every_code_block_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for registry in REGISTRIES:  # what a page registers is gone after it
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    names: dict[str, object] = {"__name__": page.stem}
    elsewhere: set[str] = set()
    assert [code for code, _ in shown_outputs(page)] == programs(page)
    for number, (code, shown) in enumerate(shown_outputs(page), 1):
        if missing(code):
            elsewhere |= missing(code)
            continue
        exec(compile(code, f"{page.name}, block {number}", "exec"), names)
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        assert shown is None or is_same_output(shown, printed.out), f"block {number} prints {printed.out}"
    if elsewhere:
        run = sorted({f"make {ELSEWHERE[name]}" for name in elsewhere})
        pytest.skip(f"all but the blocks with {', '.join(sorted(elsewhere))} ran; those: {', '.join(run)}")


def shown_commands() -> Iterator[tuple[str, str, str]]:
    """The page, the command and its output, of the `prefero` commands whose output a page shows."""
    fence = rf"^({NOT_RUN}\n)?```console\n(.*?)^```\s*$"
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for marked, block in re.findall(fence, text, flags=re.MULTILINE | re.DOTALL):
            for command, output in re.findall(r"^\$ (.*)\n((?:[^$\n].*\n)*)", block, flags=re.MULTILINE):
                if output and not marked and command.startswith("prefero ") and not command.endswith("\\"):
                    yield page.stem, command, output


@pytest.mark.parametrize(("page", "command", "shown"), [*shown_commands()])
def test_commands_print_what_a_page_shows(page: str, command: str, shown: str, tmp_path: Path) -> None:
    words = shlex.split(command, comments=True)[1:]
    place = {name: str(tmp_path) for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
    done = run_prefero(*words, folder=tmp_path, environment=place)
    assert done.returncode == 0, f"{page}: {done.stderr}"
    assert is_same_output(shown, done.stdout + done.stderr), f"{page}: {done.stdout}{done.stderr}"


def blocks(kind: str) -> Iterator[tuple[str, str]]:
    """The page and the code of every block whose fence begins so."""
    for page in pages():
        yield from ((page.name, code) for info, code in fences(page) if info.startswith(kind))


def test_no_code_block_is_run_nowhere() -> None:
    infos = {info for page in pages() for info, _ in fences(page)}
    assert infos <= {"python", "console", "text", "math", "toml", "sql"}, (
        "a block of another kind is not checked"
    )
    assert [page for page, code in blocks("text") if is_program(code)] == [], (
        "a program in a text block is not run"
    )
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(ELSEWHERE.values()):
        recipe = re.search(rf"^{target}:.*\n(?:\t.*\n)+", makefile, flags=re.MULTILINE)
        assert recipe is not None
        assert re.search(rf"PREFERO_BLOCKS={target}\b.*tests/test_code_blocks\.py", recipe[0]), target
        assert any(target in targets(page) for page in pages()), target


def is_program(code: str) -> bool:
    """Is this text Python that does something, and no output?"""
    try:
        return any(isinstance(node, PROGRAM) for node in ast.walk(ast.parse(code)))
    except SyntaxError:
        return False


def test_the_readme_shows_code() -> None:
    assert programs(ROOT / "README.md")
