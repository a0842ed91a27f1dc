"""The documentation as a site: its formulas render, every feature is defined, and it needs no CDN."""

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
    assert "http" not in (ROOT / "docs" / "style" / "site.css").read_text(encoding="utf-8")


def test_the_extras_are_listed_where_installing_is_described() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    described = text[text.index("## Install") :]
    assert [extra for extra in project["optional-dependencies"] if f"`{extra}`" not in described] == []
