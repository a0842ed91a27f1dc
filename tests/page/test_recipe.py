"""The page with a kind of answers that was added by following the recipe, in a copy of the code."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from page.drive_page import Visit
from page.run_servers import Server
from page.test_answer_kinds import covered, picture, wait_for
from questions.follow_recipe import KIND, ROOT, follow_recipe

TOOLS = ("node_modules/typescript/bin/tsc", "--noEmit"), ("node_modules/vite/bin/vite.js", "build")


def test_a_kind_of_the_recipe_is_asked_and_answered(
    tmp_path: Path, visit: Visit, serve: Callable[..., Server]
) -> None:
    follow_recipe(tmp_path)
    build_page(tmp_path / "web")
    small = ("--trajectories", "12", "--no-browser", "--database", str(tmp_path / "teach.db"))
    server = serve("teach", "driver", "--answers", KIND, *small, source=tmp_path / "src")
    page = visit()
    page.goto(server.address)
    heading = "Which two motions of the blue car are the best?"
    expect(page.get_by_role("heading", name=heading)).to_be_visible()
    wait_for(page, 0)
    picture(page, KIND)
    assert covered(page) == 0
    page.keyboard.press("2")
    wait_for(page, 1)
    page.get_by_role("button", name="C and D").click()
    wait_for(page, 2)
    assert server.choices() == ["1+3", "3+4"]
    page.get_by_role("button", name="What it learned").click()
    expect(page.get_by_text("A and C are the best")).to_be_visible()


def build_page(web: Path) -> None:
    """Check the types of a copy of `web/src`, and build it into the copy of the package beside it."""
    ignored = shutil.ignore_patterns("src", "tests", "node_modules")
    shutil.copytree(ROOT / "web", web, ignore=ignored, dirs_exist_ok=True)
    (web / "node_modules").symlink_to(ROOT / "web" / "node_modules")
    places = [os.environ.get("PATH", ""), str(Path(sys.executable).parent)]  # Node may come from PyPI
    node = shutil.which("node", path=os.pathsep.join(places))
    assert node, "there is no Node to build the page with"
    for tool in TOOLS:
        subprocess.run([node, *tool], cwd=web, check=True)
