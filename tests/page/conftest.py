"""Fixtures for tests of the page: real servers, the system's Chromium, and a list of the browser's errors."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from page.drive_page import MILLISECONDS
from page.run_servers import Server
from systems import ON_LINUX

collect_ignore_glob = [] if ON_LINUX else ["test_*.py"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--mute-audio",
    "--use-angle=swiftshader",  # the processor draws WebGL,
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",  # and the rest of the page without WebGL, which takes 30 times as much of it
    "--disable-gpu-rasterization",
]
TRAJECTORIES = 24
SMALL = {"width": 800, "height": 640}  # the default window: every pixel is drawn by the processor

FRAME_PAUSE = 50  # milliseconds, of 15 frames a second
FOR_PEOPLE = "PREFERO_PICTURES" in os.environ  # who want to look at the pictures
# A canceled frame is not drawn, as without this.
FEWER_FRAMES = """
const [atNextFrame, requested] = [requestAnimationFrame.bind(window), new Set()];
window.requestAnimationFrame = (callback) => {
    const draw = (now) => { if (requested.delete(id)) callback(now); };
    const id = setTimeout(() => atNextFrame(draw), PAUSE);
    requested.add(id);
    return id;
};
window.cancelAnimationFrame = (id) => requested.delete(id);
"""

expect.set_options(timeout=MILLISECONDS)


def installed_browser() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    assert found, f"these tests drive a browser, one of {', '.join(BROWSERS)}: install one of them"
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=installed_browser(), args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start a server with these arguments, perhaps with the code in another folder."""
    running: list[Server] = []

    def start(*arguments: str, source: Path | None = None) -> Server:
        running.append(Server(list(arguments), tmp_path).start(source))
        return running[-1]

    yield start
    for server in running:
        server.kill()


@pytest.fixture
def teach(serve: Callable[..., Server], tmp_path: Path) -> Callable[..., Server]:
    """Start a server for teaching, with a small pool."""

    def start(world: str = "driver", *more: str) -> Server:
        small = [
            "--trajectories",
            str(TRAJECTORIES),
            "--database",
            str(tmp_path / "teach.db"),
            "--no-browser",
        ]
        return serve("teach", world, *small, *more)

    return start


@pytest.fixture
def browser_errors() -> Iterator[list[str]]:
    """What the browser reports as errors. A test that expects some clears the list."""
    found: list[str] = []
    yield found
    assert found == []


HINTS_READ = 'try { localStorage.setItem("prefero.hints", "seen"); } catch {}'  # not in an empty document


@pytest.fixture
def visit(
    browser: Browser,
    browser_errors: list[str],
    serve: Callable[..., Server],  # noqa: ARG001  pages are closed before their servers are stopped
) -> Iterator[Callable[..., Page]]:
    """Open a page in a new browser context, with any options of `new_context`.

    Between two frames, it draws nothing for some milliseconds, so that the processor can do more than draw.
    The hints of the first use were read before, unless `hints`.
    """
    contexts: list[BrowserContext] = []

    def open_page(*, frame_pause: int = FRAME_PAUSE, hints: bool = False, **options: Any) -> Page:
        context = browser.new_context(**({"viewport": SMALL} | options))
        if not hints:
            context.add_init_script(HINTS_READ)
        if frame_pause and not FOR_PEOPLE:
            context.add_init_script(FEWER_FRAMES.replace("PAUSE", str(frame_pause)))
        context.set_default_timeout(MILLISECONDS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda entry: browser_errors.append(entry.text) if entry.type == "error" else None)
        page.on("pageerror", lambda error: browser_errors.append(str(error)))
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            page.unroute_all(behavior="ignoreErrors")  # a response that a test changes may be on its way
        context.close()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go: the folder PREFERO_PICTURES, if that is set."""
    chosen = os.environ.get("PREFERO_PICTURES")
    folder = Path(chosen) if chosen else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
