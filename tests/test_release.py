"""What is written in more than one place for a release agrees."""

import re
import sys
import tomllib
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

import prefero

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PAGES = ["README.md", "CONTRIBUTING.md", "RELEASING.md", "docs/versions.md"]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads(text_of("pyproject.toml"))["project"]  # type: ignore[no-any-return]


def test_the_citation_has_the_version_of_the_package() -> None:
    assert f"\nversion: {prefero.__version__}\n" in text_of("CITATION.cff")


def test_the_plugin_has_the_version_of_the_package() -> None:
    plugin = tomllib.loads(text_of("plugins/lerobot_policy_prefero/pyproject.toml"))["project"]
    assert plugin["version"] == prefero.__version__
    assert plugin["dependencies"] == [f"prefero>={prefero.__version__}"]


def test_the_changelog_begins_with_the_version_of_the_package() -> None:
    first = re.search(r"^## (\S+)", text_of("CHANGELOG.md"), flags=re.MULTILINE)
    assert first is not None
    assert first[1] == prefero.__version__


def test_every_supported_python_is_tested(project: dict[str, Any]) -> None:
    prefix = "Programming Language :: Python :: 3."
    minors = [int(line.removeprefix(prefix)) for line in project["classifiers"] if line.startswith(prefix)]
    assert minors == list(range(minors[0], minors[-1] + 1))
    assert project["requires-python"] == f">=3.{minors[0]}"
    matrix = ", ".join(f'"3.{minor}"' for minor in minors)
    assert f"python: [{matrix}]" in text_of(".github/workflows/tests.yml")
    assert f"Python 3.{minors[0]} to 3.{minors[-1]}" in text_of("docs/versions.md")


def build_hooks() -> Any:
    """The module hatch_build.py; hatchling, which it imports, is in the environments of builds only."""
    hatchling = {
        "hatchling.builders.hooks.plugin.interface": SimpleNamespace(BuildHookInterface={Any: object}),
        "hatchling.metadata.plugin.interface": SimpleNamespace(MetadataHookInterface=object),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, module in hatchling.items():
            patch.setitem(sys.modules, name, module)
        return run_path(str(ROOT / "hatch_build.py"))


def test_the_readme_of_an_index_links_to_this_version_or_to_nothing() -> None:
    hooks, readme = build_hooks(), text_of("README.md")
    inside = [link for link in re.findall(r"\]\(([^)]+)\)", readme) if not link.startswith(("http", "#"))]
    assert len(inside) > 20
    shown = hooks["for_index"](readme, "https://example.org/prefero", "1.2.3")
    found = re.findall(r"\]\(([^)]+)\)", shown)
    assert all(link.startswith(("https://", "http://", "#")) for link in found)
    for link in inside:
        assert re.search(rf"https://example.org/prefero/(raw|blob)/v1.2.3/{re.escape(link)}\)", shown)
        assert (ROOT / link.partition("#")[0]).exists()
    bare = hooks["for_index"](readme, "", "1.2.3")
    assert "](docs" not in bare
    texts = re.findall(r"(?<!!)\[([^\]]+)\]\((?!http|#)", readme)
    assert all(text in bare for text in texts)
    assert hooks["version_of"](ROOT / "src" / "prefero" / "__init__.py") == prefero.__version__


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({}, ""),
        ({"PREFERO_REPOSITORY": "https://example.org/one/"}, "https://example.org/one"),
        (
            {"GITHUB_SERVER_URL": "https://example.org", "GITHUB_REPOSITORY": "a/b"},
            "https://example.org/a/b",
        ),
    ],
)
def test_the_address_of_the_repository_is_that_of_the_workflow_or_a_variable(
    variables: dict[str, str], address: str
) -> None:
    assert build_hooks()["address_of_repository"](variables) == address
    assert set(build_hooks()["urls_of"](address, "1.2.3")) <= {
        "Source",
        "Documentation",
        "Changelog",
        "Issues",
    }


def test_every_make_target_is_described() -> None:
    targets = re.findall(r"^([a-z-]+):(.*)$", MAKEFILE, flags=re.MULTILINE)
    inner = {"python-checks", "page-checks", "every-test"}  # parts of `make test`
    assert [name for name, rest in targets if "## " not in rest and name not in inner] == []


@pytest.mark.parametrize("name", [*PAGES, *(str(path.relative_to(ROOT)) for path in WORKFLOWS)])
def test_every_make_target_that_is_mentioned_exists(name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, flags=re.MULTILINE))
    mentioned = re.findall(r"(?:^\$ |`|&& |run: )make ([a-z-]+)", text_of(name), flags=re.MULTILINE)
    assert set(mentioned) <= targets
