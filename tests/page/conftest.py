"""The page as people meet it: real servers, the system's Chromium, and everything that it complains about."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from page.servers import Running, free_port
from systems import ON_LINUX

collect_ignore_glob = [] if ON_LINUX else ["test_*.py"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--mute-audio"]
PATIENCE = 30_000  # milliseconds; these machines are slow at times
TRAJECTORIES = 24
SMALL = {"width": 800, "height": 640}  # unless a test says otherwise: every pixel is drawn by the processor

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    assert found, f"these tests drive a browser, one of {', '.join(BROWSERS)}: install one of them"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Start a server with these arguments."""
    running: list[Running] = []

    def start(*arguments: str) -> Running:
        running.append(Running(list(arguments), tmp_path, free_port()).start())
        return running[-1]

    yield start
    for server in running:
        server.kill()


@pytest.fixture
def taught(served: Callable[..., Running], tmp_path: Path) -> Callable[..., Running]:
    """A teaching session about a small pool."""

    def start(what: str = "driver", *more: str) -> Running:
        small = [
            "--trajectories",
            str(TRAJECTORIES),
            "--database",
            str(tmp_path / "teach.db"),
            "--no-browser",
        ]
        return served("teach", what, *small, *more)

    return start


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """What the browser complains about: nothing, unless a test takes it away."""
    found: list[str] = []
    yield found
    assert found == []


@pytest.fixture
def visit(
    browser: Browser,
    complaints: list[str],
    served: Callable[..., Running],  # noqa: ARG001  visitors leave before servers are stopped
) -> Iterator[Callable[..., Page]]:
    """A fresh visitor's page, with anything that `new_context` takes."""
    contexts: list[BrowserContext] = []

    def come(**options: Any) -> Page:
        context = browser.new_context(**({"viewport": SMALL} | options))
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield come
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures of the pages go: the folder PREFERO_PICTURES, if that is set."""
    chosen = os.environ.get("PREFERO_PICTURES")
    folder = Path(chosen) if chosen else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
