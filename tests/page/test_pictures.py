"""Every page, light and dark: pictures for people to look at, and what a machine can check of them.

`PREFERO_PICTURES=folder pytest tests/page/test_pictures.py` keeps the pictures.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from page.looks import PHONE, WIDE, answer, answers_are, look, pair_is_shown
from page.servers import Running

Visit = Callable[..., Page]
Taught = Callable[..., Running]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_teaching_pages(visit: Visit, taught: Taught, pictures: Path, scheme: str) -> None:
    page = visit(color_scheme=scheme, viewport=WIDE)
    page.goto(taught("tosser", "--questions", "4").address)
    answers_are(page, 0)
    page.wait_for_timeout(800)
    look(page, pictures, f"tosser-{scheme}")
    for number, choice in enumerate(["left", "right", "left", "left"], 1):
        answer(page, choice, number)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    look(page, pictures, f"help-{scheme}")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="What it learned").click()
    expect(page.locator("main svg").first).to_be_visible()
    page.wait_for_timeout(800)
    look(page, pictures, f"learned-{scheme}")
    page.get_by_role("button", name="Finish", exact=True).first.click()
    expect(page.get_by_role("heading", name="What you taught")).to_be_visible()
    expect(page.get_by_text("load_reward")).to_be_visible()
    page.wait_for_timeout(500)
    look(page, pictures, f"finish-{scheme}")


def test_pages_on_a_phone(visit: Visit, taught: Taught, pictures: Path) -> None:
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(taught().address)
    pair_is_shown(page)
    page.wait_for_timeout(500)
    look(page, pictures, "phone")
    for number in (1, 2):
        answer(page, "left", number)
    page.get_by_role("button", name="What it learned").tap()
    expect(page.locator("main svg").first).to_be_visible()
    page.wait_for_timeout(500)
    look(page, pictures, "phone-learned")


def test_a_visitor_without_a_link(
    visit: Visit, served: Callable[..., Running], tmp_path: Path, pictures: Path
) -> None:
    page = visit(viewport=WIDE)
    page.goto(served("study", "serve", "--database", str(tmp_path / "s.db")).address)
    expect(page.get_by_role("textbox")).to_be_visible()
    look(page, pictures, "entry")
