"""Write docs/llms.txt, the map of the documentation for language models, and llms-full.txt into a site.

    python -m tools.write_llms                      # docs/llms.txt, which is a file of the site
    python -m tools.write_llms site/llms-full.txt   # the text of all pages, in the order of the navigation

The form is that of llmstxt.org: a title, a summary in a quotation, and sections of links, each with one line.
The sections are those of the navigation, and a page's line is the beginning of its text, so that nothing is
written twice.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SETTINGS = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
LONGEST = 160  # letters of a line


class Link(NamedTuple):
    """A page of the navigation: the section, the title and the file."""

    section: str
    title: str
    page: str


def setting(name: str) -> str:
    """A line of the site's settings."""
    found = re.search(rf"^{name}: (.*)$", SETTINGS, flags=re.MULTILINE)
    if found is None:
        raise ValueError(f"mkdocs.yml has no {name}")
    return found[1]


def links() -> Iterator[Link]:
    """The pages of the navigation, in its order; a section inside a section belongs to it."""
    navigation = SETTINGS[SETTINGS.index("nav:\n") :].partition("\n\n")[0]
    section = ""
    for indent, title, page in re.findall(
        r"^( +)- (?:([^:\n]+):)? ?(\S+\.md)?$", navigation, flags=re.MULTILINE
    ):
        if len(indent) == 2:
            section = title
        if page:
            yield Link(section, title or heading(page), page)


def heading(page: str) -> str:
    """The title of a page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return next(line.removeprefix("# ") for line in text.splitlines() if line.startswith("# "))


def summary(page: str) -> str:
    """The first sentences of a page, as many as a line has room for."""
    text = (DOCS / page).read_text(encoding="utf-8")
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    plain = next(part for part in paragraphs if re.match(r"[\w*`]", part))
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", plain).replace("**", "")
    sentences = re.split(r"(?<=[.:])\s+(?=[A-Z`])", plain)
    line = sentences[0]
    for sentence in sentences[1:]:
        if len(f"{line} {sentence}") > LONGEST:
            break
        line = f"{line} {sentence}"
    return line


def address(page: str) -> str:
    """Where the site has a page, from its root."""
    place = page.removesuffix(".md")
    return f"{place.removesuffix('index')}" if place.endswith("index") else f"{place}/"


def map_of_pages() -> str:
    """The content of llms.txt."""
    lines = [f"# {setting('site_name')}", "", f"> {setting('site_description')}"]
    section = ""
    for link in links():
        if link.section != section:
            section = link.section
            lines += ["", f"## {section}", ""]
        lines.append(f"- [{link.title}]({address(link.page) or './'}): {summary(link.page)}")
    return "\n".join(lines) + "\n"


def all_pages() -> str:
    """The content of llms-full.txt."""
    pages = dict.fromkeys(link.page for link in links())
    return "\n\n".join((DOCS / page).read_text(encoding="utf-8").strip() for page in pages) + "\n"


def main() -> None:
    """Write the map, or the text of all pages into the file named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("full", nargs="?", type=Path, help="the file for the text of all pages")
    full = parser.parse_args().full
    place, text = (full, all_pages()) if full else (DOCS / "llms.txt", map_of_pages())
    place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
