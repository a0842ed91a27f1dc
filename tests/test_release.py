"""What is written in more than one place for a release agrees."""

import re
import tomllib
from pathlib import Path
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


def test_every_make_target_is_described() -> None:
    targets = re.findall(r"^([a-z-]+):(.*)$", MAKEFILE, flags=re.MULTILINE)
    inner = {"python-checks", "page-checks", "every-test"}  # parts of `make test`
    assert [name for name, rest in targets if "## " not in rest and name not in inner] == []


@pytest.mark.parametrize("name", [*PAGES, *(str(path.relative_to(ROOT)) for path in WORKFLOWS)])
def test_every_make_target_that_is_mentioned_exists(name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, flags=re.MULTILINE))
    mentioned = re.findall(r"(?:^\$ |`|&& |run: )make ([a-z-]+)", text_of(name), flags=re.MULTILINE)
    assert set(mentioned) <= targets
