"""What a person looks at and does on the page."""

import re
import time
from pathlib import Path

from playwright.sync_api import Page, expect

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
WIDE, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
STILL = """document.getAnimations().every(
    (one) => one.playState !== "running" || one.effect.getComputedTiming().endTime === Infinity
)"""
KEYS = {"left": "ArrowLeft", "right": "ArrowRight", "equal": "ArrowDown"}


def pair_is_shown(page: Page) -> None:
    """Both sides are there, and the page waits for an answer."""
    expect(page.get_by_role("button", name="A is better")).to_have_attribute("aria-disabled", "false")
    expect(page.locator(".pair:not(.pair-waiting)")).to_be_visible()


def answers_are(page: Page, done: int) -> None:
    """The progress says so, and the next pair is there."""
    expect(page.locator(".progress-words")).to_have_text(re.compile(rf"^{done} "))
    pair_is_shown(page)


def answer(page: Page, choice: str, done: int) -> None:
    """Press a key; it was the `done`th answer."""
    page.keyboard.press(KEYS[choice])
    answers_are(page, done)


def until(page: Page, condition: str) -> None:
    """Wait for it; Playwright's own way would be stopped by the page's content security policy."""
    deadline = time.monotonic() + 20
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, condition
        page.wait_for_timeout(100)


def wide(page: Page) -> int:
    """How far the page could be scrolled sideways."""
    found: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return found


def look(page: Page, pictures: Path, name: str) -> None:
    """A picture, nothing to scroll sideways to, and nothing that a screen reader would stumble over."""
    page.screenshot(path=pictures / f"{name}.png", full_page=True)
    assert wide(page) == 0
    until(page, STILL)  # what fades in or out has no contrast yet
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    violations = [(v["id"], [n["html"] for n in v["nodes"]]) for v in found["violations"]]
    assert violations == [], violations
