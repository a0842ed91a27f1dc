"""Checks a page: a screenshot, sideways scrolling, and the rules of accessibility."""

from pathlib import Path

from playwright.sync_api import Page

from page.drive_page import PLAYING, SETTLED, overflow, wait_until

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
WIDE, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}


def check_page(page: Page, pictures: Path, name: str) -> None:
    """Text that fades in or out has too little contrast, so the animations end first."""
    wait_until(page, PLAYING)
    wait_until(page, SETTLED)
    page.screenshot(path=pictures / f"{name}.png", full_page=True)
    assert overflow(page) == 0
    check_accessible(page)


def check_accessible(page: Page) -> None:
    """The rules of accessibility, as the page is now."""
    wait_until(page, SETTLED)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    violations = [(v["id"], [n["html"] for n in v["nodes"]]) for v in found["violations"]]
    assert violations == [], violations
