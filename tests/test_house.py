"""The house rules: which way imports point, what is documented, and that what is documented runs."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

import prefero
from prefero.acquisition import ACQUISITION_FUNCTIONS
from prefero.cli import app
from prefero.datasets import FORMATS
from prefero.deploy.export import TARGETS
from prefero.kernels import KERNELS
from prefero.worlds import REGISTRY as WORLDS

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "prefero"
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
REGISTRIES = (ACQUISITION_FUNCTIONS, FORMATS, KERNELS, TARGETS, WORLDS)


def sources() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


# --- documentation ----------------------------------------------------------------------------------------


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def documentation() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in pages())


def mentioned(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def public_methods(kind: type) -> list[str]:
    """Methods that a class of Prefero's has, its own and those it inherits from Prefero."""
    members = inspect.getmembers(kind, lambda m: inspect.isfunction(m) or isinstance(m, property))
    return [name for name, _ in members if not name.startswith("_")]


def commands() -> dict[str, set[str]]:
    """Every command of the command line with its options."""
    group = typer.main.get_command(app)
    found = {"": {option for p in group.params for option in p.opts}}
    for name, command in getattr(group, "commands", {}).items():
        options = {option for p in command.params for option in p.opts if option.startswith("--")}
        found[name] = options
    return found


@pytest.mark.parametrize("kind", [prefero.Learner, prefero.Pool, prefero.PreferenceGP, prefero.Reward])
def test_every_method_a_user_calls_is_documented(kind: type) -> None:
    text = documentation()
    inner = {"check_index", "fit_comparisons", "get_params", "set_params"}
    assert [m for m in public_methods(kind) if m not in inner and not mentioned(m, text)] == []


def test_every_command_and_every_option_is_documented() -> None:
    text = documentation()
    known = commands()
    assert known["simulate"] >= {"--questions", "--noise", "--out", "--save"}
    for command, options in known.items():
        assert not command or mentioned(f"prefero {command}", text), command
        assert [option for option in options if not mentioned(option, text)] == []


def public_definitions(file: Path) -> list[ast.FunctionDef | ast.ClassDef]:
    body = ast.parse(file.read_text(encoding="utf-8")).body
    found = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return [node for node in found if not node.name.startswith("_")]


@pytest.mark.parametrize("file", sources(), ids=lambda file: str(file.relative_to(SOURCE)))
def test_every_module_class_and_function_has_a_docstring(file: Path) -> None:
    assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    assert [node.name for node in public_definitions(file) if not ast.get_docstring(node)] == []


def fences(page: Path) -> list[tuple[str, str]]:
    """The code blocks of a page: what the fence says, and the code."""
    found = re.findall(
        r"^```([^\n`]*)\n(.*?)^```\s*$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return [(info.strip(), code) for info, code in found]


def test_the_readme_shows_code() -> None:
    assert "python" in [info for info, _ in fences(ROOT / "README.md")]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_code_block_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for registry in REGISTRIES:  # what a page registers is gone after it
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    blocks = [(info, code) for info, code in fences(page) if info.startswith("python")]
    assert {info for info, _ in blocks} <= {"python"}, "a block that is not run may be wrong"
    names: dict[str, object] = {"__name__": page.stem}
    for number, (_, code) in enumerate(blocks, 1):
        exec(compile(code, f"{page.name}, block {number}", "exec"), names)
    assert "Traceback" not in capsys.readouterr().err


# --- the house --------------------------------------------------------------------------------------------

KEPT = {".ci", ".github", ".gitignore", ".pre-commit-config.yaml"}  # of the hidden ones
OUTPUTS = {"site", "dist", "build", "results"}
BUILT = (ROOT / "web" / "node_modules", SOURCE / "server" / "page")
BINARY = {".png", ".npz", ".pdf", ".gif", ".parquet", ".db"}


def our_files() -> list[Path]:
    """Every text file of the repository, caches and outputs excepted."""
    ours = [top for top in ROOT.iterdir() if top.name in KEPT or not top.name.startswith(".")]
    found = [file for top in ours if top.name not in OUTPUTS for file in _files_in(top)]
    return [file for file in found if file.suffix not in BINARY]


def _files_in(place: Path) -> Iterator[Path]:
    """Folders of what is made are not entered: the page's packages are tens of thousands of files."""
    if place.is_file():
        yield place
    elif place not in BUILT and place.name != "__pycache__":
        for inner in place.iterdir():
            yield from _files_in(inner)


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    machine = re.compile(r"(?<![\w.:/-])/(?:work|root|opt|home|Users)/\w")
    found = {f.name: m.group() for f in our_files() if (m := machine.search(f.read_text(encoding="utf-8")))}
    assert found == {}


def test_no_file_leaves_work_for_later() -> None:
    later = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME)\b")
    assert [file.name for file in our_files() if later.search(file.read_text(encoding="utf-8"))] == []
    assert len(our_files()) > 30


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", MAKEFILE, flags=re.MULTILINE))


def test_every_make_target_in_the_readme_exists() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    wanted = set(re.findall(r"(?:^|`)make ([a-z]+)", readme, flags=re.MULTILINE))
    assert wanted <= make_targets()
    assert {"demo", "test"} <= wanted


def test_every_phony_target_is_a_target_and_every_target_is_phony() -> None:
    declared = re.search(r"^\.PHONY:(.*)$", MAKEFILE, flags=re.MULTILINE)
    assert declared is not None
    assert set(declared.group(1).split()) == make_targets()


def test_the_demo_calls_a_command_that_exists() -> None:
    line = next(line for line in MAKEFILE.splitlines() if "/prefero " in line)
    command, *words = line.split("/prefero ")[1].split()
    assert {word for word in words if word.startswith("--")} <= commands()[command]


def test_continuous_integration_runs_what_make_test_runs() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
