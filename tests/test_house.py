"""The house rules: what is documented, and what the files of the repository contain."""

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest
import typer

import prefero
from prefero.cli import app

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "prefero"
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


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


WITH_EXTRAS = re.compile(r"([A-Za-z][\w-]*|\.)\[([a-z][\w,-]*)\]")


def advised_extras() -> Iterator[tuple[Path, str, str]]:
    """Every PACKAGE[EXTRA] that a text tells a person to install, or that Prefero itself requires."""
    advice = ["docs", "examples", "plugins", "src", "tools"]
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "Makefile", ROOT / "pyproject.toml"]
    for path in files + [inside for place in advice for inside in (ROOT / place).rglob("*")]:
        if path.suffix in ("", ".md", ".py", ".toml", ".ipynb", ".yml") and path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                if "install" in line or path.name == "pyproject.toml" or "prefero[" in line:
                    for package, extras in WITH_EXTRAS.findall(line):
                        yield from ((path, package, extra) for extra in extras.split(","))


def declared_extras(package: str) -> set[str] | None:
    """The extras of a package; None if it is not installed."""
    if package in (".", "prefero"):
        declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        return set(declared["project"]["optional-dependencies"])
    try:
        return set(metadata(package).get_all("Provides-Extra") or ())
    except PackageNotFoundError:
        return None


def test_every_extra_that_a_person_is_told_to_install_exists() -> None:
    advised = list(advised_extras())
    assert {("prefero", "all"), (".", "all"), ("minari", "hdf5")} <= {one[1:] for one in advised}
    known = {package: declared_extras(package) for _, package, _ in advised}
    checked = [(path, package, extra, known[package]) for path, package, extra in advised]
    assert [one[:3] for one in checked if one[3] is not None and one[2] not in one[3]] == []


@pytest.mark.parametrize("kind", [prefero.Learner, prefero.Pool, prefero.PreferenceGP, prefero.Reward])
def test_every_method_a_user_calls_is_documented(kind: type) -> None:
    text = documentation()
    inner = {"check_index", "fit_comparisons", "get_params", "has_same_trajectories", "set_params"}
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


# --- the house --------------------------------------------------------------------------------------------

KEPT = {".ci", ".github", ".gitignore", ".pre-commit-config.yaml"}  # of the hidden ones
OUTPUTS = {"site", "dist", "build", "results"}
BUILT = (ROOT / "web" / "node_modules", SOURCE / "server" / "page")
BINARY = {".png", ".npz", ".pdf", ".gif", ".parquet", ".db", ".mp4", ".webp"}


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
