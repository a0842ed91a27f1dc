"""A hook of mkdocs: formulas become HTML when the site is built; a reader needs no script and no network.

Markdown has a formula as $...$ or in a block ```math, which arithmatex marks. KaTeX, from the npm packages of
`web/`, turns it into HTML; its style sheet and its fonts go into the site. A wrong formula ends the build.
"""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

WEB = Path(__file__).resolve().parent.parent / "web"
KATEX = WEB / "node_modules" / "katex" / "dist"
PLACE = "assets/katex"  # in the site
FORMULA = re.compile(r'<(span|div) class="arithmatex">(?:\\\(|\\\[)(.*?)(?:\\\)|\\\])</\1>', flags=re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The style sheet of formulas is on every page."""
    config.extra_css.append(f"{PLACE}/katex.min.css")
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The style sheet and the fonts are files of the site."""
    if not KATEX.is_dir():
        raise PluginError("formulas are rendered by KaTeX, which is not installed: type  make docs")
    for path in [KATEX / "katex.min.css", *sorted((KATEX / "fonts").glob("*.woff2"))]:
        target = f"{PLACE}/{path.relative_to(KATEX).as_posix()}"
        files.append(File.generated(config, target, abs_src_path=str(path)))
    return files


def on_page_content(content: str, page: Page, **_: Any) -> str:
    """Every formula of a page, rendered at once."""
    found = [
        {"tex": html.unescape(match[2]).strip(), "display": match[1] == "div"}
        for match in FORMULA.finditer(content)
    ]
    if not found:
        return content
    rendered = iter(render(found, page.file.src_uri))
    return FORMULA.sub(lambda match: f'<{match[1]} class="formula">{next(rendered)}</{match[1]}>', content)


def render(formulas: list[dict[str, Any]], where: str) -> list[str]:
    """HTML of formulas; an error names the page and what is wrong."""
    node = shutil.which("node")
    if node is None:
        raise PluginError("formulas are rendered with Node, which was not found: install it")
    done = subprocess.run(
        [node, str(WEB / "formulas.mjs")],
        input=json.dumps(formulas),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        reason = next((line for line in done.stderr.splitlines() if "Error" in line), done.stderr)
        raise PluginError(f"{where}: {reason}")
    html_of: list[str] = json.loads(done.stdout)
    return html_of
