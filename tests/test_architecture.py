"""The architecture: imports point to earlier layers, the core needs little, and its page agrees with it."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src" / "prefero"
LAYERS = (
    ("_support",),
    ("questions", "kernels", "trajectories", "rendering"),
    ("models", "worlds", "datasets", "views"),
    ("pools",),
    ("acquisition",),
    ("rewards", "notebook", "judges"),
    ("learner",),
    ("deploy", "simulation", "methods", "arena"),
    ("plots",),
    ("__init__",),
    ("studies",),
    ("experiments", "server"),
    ("cli",),
    ("__main__",),
)
LAYER = {package: depth for depth, layer in enumerate(LAYERS) for package in layer}
# The second level: a folder or module of these packages imports only from those before it. The folders of
# `models` come here when they are made.
FOLDERS = {
    "acquisition": (
        *("base", "entropy", "bivariate_normal", "projection", "targets", "plausible_best", "excluded"),
        *("scorers", "target_scorer", "label_scorers", "taste", "functions", "searches", "batches"),
        *("group_questions", "fraction_better"),
    ),
    "models": (
        *("algebra", "likelihood", "posterior", "inference", "averaging", "people", "explain"),
        *("preference_gp", "linear", "person_model"),
    ),
    "datasets/features": ("library", "embeddings", "tables", "extraction"),
    "judges": (
        *("judge", "sheets", "http_client", "chat", "progress_server", "function", "asking"),
        *("judgement_file", "named"),
    ),
    "deploy": ("planning", "compiled", "online", "training", "scoring", "export", "recording"),
    "questions": (
        *("kinds", "answer_kinds", "question", "answer", "answer_times", "labels", "comparisons"),
        "prior_knowledge",
    ),
    "rewards": ("packing", "compact", "file", "plots", "card", "acceptable", "reward"),
    "studies": (
        *("protocol", "log", "storage", "asking", "computing", "reports", "exports"),
        *("session", "start", "teaching_sessions", "arena_start", "create"),
    ),
}
# the only packages that may import something beyond these three when they are imported themselves
USES_EXTRAS = {
    "worlds",
    "simulation",
    "plots",
    "deploy",
    "notebook",
    "experiments",
    "studies",
    "server",
    "cli",
    "__main__",
}
CORE = {"numpy", "scipy", "threadpoolctl"}
SLOW = ["scipy.optimize", "scipy.stats"]  # of what is always there, the parts that take long to import
OPTIONAL = [
    "typer",
    "rich",
    "matplotlib",
    "torch",
    "array_api_compat",
    "sklearn",
    "mujoco",
    "gymnasium",
    "av",
    "fastapi",
    "sqlalchemy",
    "alembic",
    "uvicorn",
    "pyarrow",
    "cma",
    "onnx",
    "stable_baselines3",
    "minari",
    "h5py",
    "pandas",
    "anywidget",
    "rerun",
]


def sources() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def package_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[str]:
    """Full names of the modules, or of names in modules, that a piece of code imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def without_type_checking(tree: ast.Module) -> ast.Module:
    kept = [n for n in tree.body if not (isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test))]
    return ast.Module(kept, [])


def at_import(tree: ast.Module) -> ast.Module:
    """What runs when the module is imported: no function's body, nothing that only a type checker reads."""
    kept = without_type_checking(tree).body
    return ast.Module([n for n in kept if not isinstance(n, ast.FunctionDef | ast.ClassDef)], [])


def packages_imported(file: Path) -> set[str]:
    """The packages of Prefero that a file imports anywhere, its own excepted."""
    names = [
        n.split(".") for n in imported(without_type_checking(ast.parse(file.read_text(encoding="utf-8"))))
    ]
    ours = {n[1] if len(n) > 1 and n[1] in LAYER else "__init__" for n in names if n[0] == "prefero"}
    return ours - {package_of(file)}


def test_every_package_has_a_layer() -> None:
    assert {package_of(file) for file in sources()} == set(LAYER)


@pytest.mark.parametrize("package", LAYER)
def test_a_package_imports_only_from_earlier_layers(package: str) -> None:
    files = [file for file in sources() if package_of(file) == package]
    wrong = {str(f.relative_to(SOURCE)): later for f in files if (later := _later(f))}
    assert wrong == {}


def _later(file: Path) -> set[str]:
    own = LAYER[package_of(file)]
    return {package for package in packages_imported(file) if LAYER[package] >= own}


def parts(package: str) -> dict[str, list[Path]]:
    """The files of each folder and module of a package. Its own `__init__` may import all of them."""
    found: dict[str, list[Path]] = {}
    for file in sorted((SOURCE / package).rglob("*.py")):
        part = file.relative_to(SOURCE / package).parts[0].removesuffix(".py")
        found.setdefault(part, []).append(file)
    return {part: files for part, files in found.items() if part != "__init__"}


def parts_imported(file: Path, package: str) -> set[str]:
    """The folders and modules of its own package that a file imports anywhere, by name."""
    within = ["prefero", *package.split("/")]
    tree = without_type_checking(ast.parse(file.read_text(encoding="utf-8")))
    names = [n.split(".") for n in imported(tree)]
    return {n[len(within)] for n in names if n[: len(within)] == within and len(n) > len(within)}


@pytest.mark.parametrize("package", FOLDERS)
def test_every_part_of_a_package_is_in_its_list(package: str) -> None:
    assert set(parts(package)) == set(FOLDERS[package])


@pytest.mark.parametrize(
    ("package", "part"), [(package, part) for package, order in FOLDERS.items() for part in order]
)
def test_a_part_of_a_package_imports_only_from_earlier_ones(package: str, part: str) -> None:
    order = FOLDERS[package]
    allowed = set(order[: order.index(part) + 1])
    wrong = {str(f.relative_to(SOURCE)): parts_imported(f, package) - allowed for f in parts(package)[part]}
    assert {file: later for file, later in wrong.items() if later} == {}


@pytest.mark.parametrize("package", FOLDERS)
def test_the_tests_of_a_package_lie_in_folders_of_the_same_names(package: str) -> None:
    tests = [path for path in (TESTS / package).iterdir() if path.is_dir() and any(path.rglob("test_*.py"))]
    assert {path.name for path in tests} <= set(FOLDERS[package])


def test_the_core_needs_only_numpy_scipy_and_threadpoolctl() -> None:
    allowed = CORE | {"prefero"} | sys.stdlib_module_names
    core = [file for file in sources() if package_of(file) not in USES_EXTRAS]
    for file in core:
        packages = {
            name.partition(".")[0]
            for name in imported(at_import(ast.parse(file.read_text(encoding="utf-8"))))
        }
        assert packages <= allowed, file.name
    assert len(core) > 20


def test_importing_prefero_imports_no_optional_package_and_no_slow_one() -> None:
    code = f"import sys, prefero; print(*[p for p in {OPTIONAL + SLOW} if p in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == ""


# --- the page about it ------------------------------------------------------------------------------------

PAGE = (SOURCE.parent.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
PICTURE = (SOURCE.parent.parent / "docs" / "pictures" / "architecture.svg").read_text(encoding="utf-8")
NOT_PACKAGES = {"__init__", "__main__"}
PACKAGES = [package for layer in LAYERS for package in layer if package not in NOT_PACKAGES]
REFERENCE = re.compile(r"`([\w/-]+\.(?:py|tsx?))`(?::\s+`([\w.]+)`)?")  # `file` or `file`: `name`


def test_every_package_has_its_paragraph_in_the_order_of_the_layers() -> None:
    headings = re.findall(r"^### `(\w+)`\n\n(.+)$", PAGE, flags=re.MULTILINE)
    assert [name for name, _ in headings] == PACKAGES


def test_the_picture_has_every_package_in_its_layer() -> None:
    rows = re.findall(r'<text x="\d+" y="(\d+)"[^>]*monospace[^>]*>(\w+)<', PICTURE)
    drawn: dict[int, set[str]] = {}
    for y, package in rows:
        drawn.setdefault(-int(y), set()).add(package)
    layers = [set(layer) - NOT_PACKAGES for layer in LAYERS]
    assert [drawn[y] for y in sorted(drawn)] == [layer for layer in layers if layer]


@pytest.mark.parametrize("package", FOLDERS)
def test_the_page_names_the_folders_of_a_package_in_their_order(package: str) -> None:
    _, _, rest = PAGE.partition(f"### `{package.partition('/')[0]}`\n")
    section, _, _ = rest.partition("\n#")
    folders = [part for part in FOLDERS[package] if (SOURCE / package / part).is_dir()]
    named = [name for name in re.findall(r"`(\w+)/`", section) if name in folders]
    assert named == folders


def definitions(file: Path) -> set[str]:
    """Classes, functions and methods of a file: Name, function, Class.method."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        return set(
            re.findall(r"^(?:export )?(?:default )?(?:class|function) (\w+)", text, flags=re.MULTILINE)
        )
    found = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
            inner = node.body if isinstance(node, ast.ClassDef) else []
            found |= {f"{node.name}.{n.name}" for n in inner if isinstance(n, ast.FunctionDef)}
    return found


@pytest.mark.parametrize(("file", "name"), sorted(set(REFERENCE.findall(PAGE))))
def test_every_file_and_name_on_the_page_exists(file: str, name: str) -> None:
    whole = [place for place in (SOURCE / file, SOURCE.parent.parent / file) if place.is_file()]
    found = whole if "/" in file or name else list(SOURCE.rglob(file))
    assert found
    assert not name or name in definitions(found[0])
