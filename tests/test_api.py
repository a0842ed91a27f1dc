"""The public API is what docs/api/*.md list: all of it can be imported, is typed and has a docstring."""

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import prefero

DOCS = Path(__file__).resolve().parent.parent / "docs"
FIRST_PAGE = (DOCS / "api.md").read_text(encoding="utf-8")
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in sorted((DOCS / "api").glob("*.md"))}
LISTED = {
    page: re.findall(r"^::: (\S+)$", text, flags=re.MULTILINE) for page, text in PAGES.items()
}  # the names of each page
NAMES = [name for names in LISTED.values() for name in names]
PACKAGES = sorted({name.rpartition(".")[0] for name in NAMES} - {"prefero"})
SPECIAL = ("__init__", "__call__")

every_name = pytest.mark.parametrize("name", NAMES)


def resolve(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def methods_of(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods and properties that Prefero has written for a class, inherited ones too."""
    for base in kind.__mro__:
        if not base.__module__.startswith("prefero"):
            continue
        for name, value in vars(base).items():
            function = function_in(value)
            if function is None or not function.__module__.startswith("prefero"):  # Protocol writes some
                continue
            if name in SPECIAL or not name.startswith("_"):
                yield name, function


def function_in(value: Any) -> Callable[..., Any] | None:
    if isinstance(value, property):
        return value.fget
    if isinstance(value, cached_property):
        function: Callable[..., Any] = value.func
        return function
    if isinstance(value, classmethod | staticmethod):
        return value.__func__
    return value if inspect.isfunction(value) else None


def without_types(function: Callable[..., Any]) -> list[str]:
    """What of a function is not annotated."""
    known = inspect.get_annotations(function)
    wanted = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    return [name for name in (*wanted, "return") if name not in known]


def test_every_name_is_listed_once_and_there_are_many() -> None:
    assert len(NAMES) == len(set(NAMES)) == len({id(resolve(name)) for name in NAMES}) > 100


def package_of(name: str) -> str:
    """Training is the large part of `deploy`, with a page of its own."""
    first, second = f"{resolve(name).__module__}.".split(".")[1:3]
    return "deploy.training" if second in ("training", "online") else first


def test_a_package_is_on_one_page() -> None:
    pages = {(package_of(name), page) for page, names in LISTED.items() for name in names}
    packages = sorted(package for package, _ in pages if not package.startswith("_"))
    assert len(packages) == len(set(packages))


def test_the_first_page_links_to_the_ten_names_that_most_programs_need() -> None:
    found = re.findall(r"^\| \[`(\w+)`\]\(api/(\w+)\.md#(\S+)\) \|", FIRST_PAGE, flags=re.MULTILINE)
    assert len(found) == 10
    assert [full for _, page, full in found if full not in LISTED[page]] == []
    assert [full for short, _, full in found if full != f"prefero.{short}"] == []
    assert [page for page in PAGES if f"](api/{page}.md)" not in FIRST_PAGE] == []


@every_name
def test_a_public_name_is_a_class_or_a_function_of_prefero(name: str) -> None:
    thing = resolve(name)
    assert inspect.isclass(thing) or inspect.isfunction(thing)
    assert thing.__module__.startswith("prefero")
    assert not any(part.startswith("_") for part in name.split("."))


@every_name
def test_a_public_name_has_a_docstring(name: str) -> None:
    thing = resolve(name)
    assert inspect.getdoc(thing)
    if inspect.isclass(thing):
        public = [method for method, _ in methods_of(thing) if method not in SPECIAL]
        assert [method for method in public if not inspect.getdoc(getattr(thing, method))] == []


@every_name
def test_a_public_name_is_typed(name: str) -> None:
    thing = resolve(name)
    functions = dict(methods_of(thing)) if inspect.isclass(thing) else {"": thing}
    assert {method: missing for method, f in functions.items() if (missing := without_types(f))} == {}


def test_everything_that_prefero_exports_is_public() -> None:
    listed = set(NAMES) | set(PACKAGES)
    assert [name for name in prefero.__all__ if f"prefero.{name}" not in listed] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_everything_that_a_public_package_exports_is_public(package: str) -> None:
    public = {id(resolve(name)) for name in NAMES}
    module = import_module(package)
    exported = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    things = {
        n: thing for n, thing in exported.items() if inspect.isclass(thing) or inspect.isfunction(thing)
    }
    assert [name for name, thing in things.items() if id(thing) not in public] == []
    pages = "".join(PAGES.values())
    assert [name for name in exported if name not in pages] == []


def test_the_page_says_what_is_public_and_how_names_go_away() -> None:
    first = " ".join(FIRST_PAGE.split())
    assert "A name that is listed on these pages is public: it is typed, documented" in first
    assert "All other names are private" in first
    assert "(versions.md)" in first


# --- sections of docstrings -------------------------------------------------------------------------------


def parameters_of(thing: Any) -> list[str]:
    """As a docstring names them."""
    stars: dict[Any, str] = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}
    known = inspect.signature(thing).parameters.values()
    return [stars.get(one.kind, "") + one.name for one in known if one.name not in ("self", "cls")]


def documented(thing: Any) -> list[str]:
    """The parameters that the section "Args" of a docstring describes."""
    section = re.search(r"^Args:\n((?:    .+\n?)+)", inspect.getdoc(thing) or "", flags=re.MULTILINE)
    return re.findall(r"^    (\**\w+): \S", section[1], flags=re.MULTILINE) if section else []


def with_parameters() -> Iterator[tuple[str, Any]]:
    """Functions and classes that take something, and methods that take two things or more."""
    for name in NAMES:
        thing = resolve(name)
        if not inspect.isclass(thing):
            yield name, inspect.unwrap(thing)
            continue
        if not (issubclass(thing, Exception) or inspect.isabstract(thing) or hasattr(thing, "_is_protocol")):
            yield name, thing
        for method, value in vars(thing).items():
            function = inspect.unwrap(function_in(value) or len)
            ours = function.__module__.startswith("prefero") and (method == "__call__" or method[0] != "_")
            if ours and len(parameters_of(function)) > 1:
                yield f"{name}.{method}", function


SECTIONS = {name: thing for name, thing in with_parameters() if parameters_of(thing)}
DESCRIBED = {(name.rpartition(".")[2], tuple(documented(thing))) for name, thing in SECTIONS.items()}


@pytest.mark.parametrize("name", SECTIONS)
def test_every_parameter_is_described(name: str) -> None:
    """The reference shows them as a table. A method that another class describes need not repeat that."""
    wanted, found = parameters_of(SECTIONS[name]), documented(SECTIONS[name])
    elsewhere = (name.rpartition(".")[2], tuple(wanted)) in DESCRIBED
    assert found == wanted or (not found and elsewhere)


def test_docstrings_have_sections_of_one_style() -> None:
    """Those of mkdocs.yml, and no others."""
    for name in NAMES:
        text = inspect.getdoc(resolve(name)) or ""
        assert not re.search(r"^-{3,}$", text, flags=re.MULTILINE), name
        assert not re.search(r"^\w+ {2,}\S", text, flags=re.MULTILINE), f"{name}: a table needs a heading"
