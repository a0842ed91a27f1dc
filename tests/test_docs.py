"""The documentation as a site: its formulas render, its links lead somewhere, and it needs no CDN."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from prefero.datasets.features.library.library import FEATURE_WORDS

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
HEADING = re.compile(r"^#+ (.*)$", flags=re.MULTILINE)
LISTED = re.compile(r"^::: (\S+)$", flags=re.MULTILINE)
LINKING = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
KATEX = ROOT / "web" / "node_modules" / "katex"
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*$", flags=re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<![\\\w$])\$(?=\S)([^$]+?)(?<=\S)\$(?![\w$])")
SYMBOLS = re.compile(r"[Φφσ√Σ∑ΛμΨ]\s*\(|[ᵀ⁻½∑√]")


def formulas(page: Path) -> list[dict[str, object]]:
    text = page.read_text(encoding="utf-8")
    blocks = [{"tex": code, "display": True} for kind, code in FENCE.findall(text) if kind == "math"]
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))
    return [*blocks, *({"tex": found, "display": False} for found in INLINE.findall(prose))]


def test_the_pages_of_the_maths_have_formulas() -> None:
    counts = {page.stem: len(formulas(page)) for page in PAGES}
    assert counts["maths"] > 50
    assert counts["features"] > 20
    assert counts["formula"] > 5


@pytest.mark.skipif(
    not KATEX.is_dir() or shutil.which("node") is None, reason="needs KaTeX: make page-checks"
)
def test_every_formula_can_be_rendered() -> None:
    wanted = [formula for page in PAGES for formula in formulas(page)]
    script = str(ROOT / "web" / "formulas.mjs")
    done = subprocess.run(
        ["node", script], input=json.dumps(wanted), capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr[:800]
    rendered = json.loads(done.stdout)
    assert len(rendered) == len(wanted)
    assert all('class="katex' in html for html in rendered)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_formula_is_left_as_plain_text(page: Path) -> None:
    blocks = [code for kind, code in FENCE.findall(page.read_text(encoding="utf-8")) if kind in ("", "text")]
    assert [code for code in blocks if SYMBOLS.search(code)] == []


def test_every_feature_and_embedding_is_defined_with_a_formula() -> None:
    text = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### ([^\n]+)\n(.*?)(?=^##|\Z)", text, flags=re.MULTILINE | re.DOTALL))
    for word in FEATURE_WORDS:
        name = word.partition("(")[0]
        about = [body for heading, body in sections.items() if name in re.split(r"[ ,(]+", heading)]
        assert len(about) == 1, f"{word} has no section in docs/features.md"
        assert "$" in about[0] or "```math" in about[0], f"{word} has no formula"


def test_the_site_takes_nothing_from_elsewhere() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "http" not in settings
    assert "font: false" in settings
    for file in (ROOT / "docs" / "style").iterdir():
        assert "http" not in file.read_text(encoding="utf-8"), file


# --- links ------------------------------------------------------------------------------------------------


def in_the_navigation() -> list[str]:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    section = re.search(r"^nav:\n((?:  .*\n)+)", settings, flags=re.MULTILINE)
    assert section is not None
    return re.findall(r"(\S+\.md)$", section[1], flags=re.MULTILINE)


def test_every_page_is_in_the_navigation_once() -> None:
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert sorted(in_the_navigation()) == sorted(pages)


def test_the_navigation_begins_with_get_started() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    sections = re.findall(r"^  - ([\w ]+):", settings[settings.index("nav:") :], flags=re.MULTILINE)
    assert sections[:6] == ["Get started", "Examples", "How to", "How it works", "Evidence", "Reference"]
    assert in_the_navigation()[0] == "index.md"


def links(page: Path) -> list[str]:
    """Links and pictures of a page that lead to files of the repository."""
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    found = re.findall(r"\]\(([^()\s]+)\)", prose) + re.findall(r"(?:src|href|poster)=\"([^\"]+)\"", prose)
    return [link for link in found if not re.match(r"\w+:", link)]


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_pictures_lead_to_files(page: Path) -> None:
    """GitHub shows these pages too. What is in the site links only to what is in the site."""
    targets = [(link, (page.parent / link.partition("#")[0]).resolve()) for link in links(page)]
    assert [link for link, target in targets if not target.exists()] == []
    if page.is_relative_to(ROOT / "docs"):
        assert [link for link, target in targets if not target.is_relative_to(ROOT / "docs")] == []


def test_the_extras_are_listed_where_installing_is_described() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    described = text[text.index("## Install") :]
    assert [extra for extra in project["optional-dependencies"] if f"`{extra}`" not in described] == []


def anchors(page: Path) -> set[str]:
    """What a link may name after #: the headings of a page, and the public names that it lists."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    words = [re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in HEADING.findall(text)]
    names = LISTED.findall(text)
    return {re.sub(r"[\s-]+", "-", heading) for heading in words} | set(names)


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_headings(page: Path) -> None:
    wanted = [(link, link.partition("#")) for link in links(page) if "#" in link]
    files = [
        (link, (page.parent / path).resolve() if path else page, name) for link, (path, _, name) in wanted
    ]
    assert [link for link, file, name in files if file.suffix == ".md" and name not in anchors(file)] == []
