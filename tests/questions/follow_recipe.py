"""Follows the recipe "Adding an answer kind" of docs/recipes.md literally, in a copy of the code."""

import filecmp
import re
import shutil
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[2]
TREES = ("src", "web/src")
MADE = ("__pycache__", "page", "built")  # by Python, and by building the page
KIND = "top-2-of-4"


def recipe() -> str:
    """The text of the recipe."""
    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    return page.partition("## Adding an answer kind\n")[2].partition("\n## ")[0]


def first_block(language: str) -> str:
    """The first code block of the recipe in a language."""
    found = re.search(rf"^ *```{language}\n(.*?)^ *```$", recipe(), flags=re.MULTILINE | re.DOTALL)
    assert found
    return dedent(found[1])


def follow_recipe(copy: Path) -> None:
    """Copy the code, and do the numbered steps."""
    for tree in TREES:
        shutil.copytree(ROOT / tree, copy / tree, ignore=shutil.ignore_patterns(*MADE))
    steps = recipe().partition("In Prefero itself")[2]
    file, listed, component, *_ = re.findall(r"`((?:src|web)/[^`]*)`", steps)
    entry, line, *_ = re.findall(r"`(Top\(.*\),|from .*)`", steps)
    (copy / file).write_text(first_block("python"), encoding="utf-8")
    (copy / component).write_text(first_block("tsx"), encoding="utf-8")
    text = (copy / listed).read_text(encoding="utf-8")
    text = text.replace("\n\nSEVERAL", f"\n{line}\n\nSEVERAL", 1)
    text = text.replace("\n)\nANSWER_KINDS", f"\n    {entry}\n)\nANSWER_KINDS", 1)
    (copy / listed).write_text(text, encoding="utf-8")


def changed_files(copy: Path) -> set[str]:
    """The files of the copy that are new or different, and those that it lacks."""
    compared = {tree: filecmp.dircmp(ROOT / tree, copy / tree, [*MADE]) for tree in TREES}
    return {f"{tree}/{name}" for tree, found in compared.items() for name in _changed(found)}


def _changed(compared: "filecmp.dircmp[str]") -> set[str]:
    found = {*compared.left_only, *compared.right_only, *compared.diff_files, *compared.funny_files}
    for folder, inner in compared.subdirs.items():
        found |= {f"{folder}/{name}" for name in _changed(inner)}
    return found
