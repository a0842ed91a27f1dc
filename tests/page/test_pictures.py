"""Every page, light and dark: screenshots for people to look at, and what a program can check of them.

`PREFERO_PICTURES=folder pytest tests/page/test_pictures.py` keeps the screenshots.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from page.check_page import PHONE, WIDE, check_page
from page.drive_page import Visit, answer, wait_for_answers, wait_for_question, wait_until
from page.run_servers import Server, Teach

CHARTS = """() => {
    const charts = [...document.querySelectorAll(".chart")];
    return charts.length > 0 && charts.every((chart) => chart.querySelector("svg"));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_teaching_pages(visit: Visit, teach: Teach, pictures: Path, scheme: str) -> None:
    page = visit(color_scheme=scheme, viewport=WIDE)
    page.goto(teach("tosser", "--questions", "5").address)
    wait_for_answers(page, 0)
    check_page(page, pictures, f"tosser-{scheme}")
    for number, choice in enumerate(["left", "right", "left", "left", "right"], 1):
        answer(page, choice, number)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    check_page(page, pictures, f"help-{scheme}")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="What it learned").click()
    wait_until(page, CHARTS)
    check_page(page, pictures, f"learned-{scheme}")
    page.get_by_role("button", name="Finish", exact=True).first.click()
    expect(page.get_by_role("heading", name="What you taught")).to_be_visible()
    expect(page.get_by_text("load_reward")).to_be_visible()
    check_page(page, pictures, f"finish-{scheme}")


def test_pages_on_a_phone(visit: Visit, teach: Teach, pictures: Path) -> None:
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(teach().address)
    wait_for_question(page)
    check_page(page, pictures, "phone")
    for number in (1, 2):
        answer(page, "left", number)
    page.get_by_role("button", name="What it learned").tap()
    wait_until(page, CHARTS)
    check_page(page, pictures, "phone-learned")


def test_a_visitor_without_a_link(
    visit: Visit, serve: Callable[..., Server], tmp_path: Path, pictures: Path
) -> None:
    page = visit(viewport=WIDE)
    page.goto(serve("study", "serve", "--workers", "0", "--database", str(tmp_path / "s.db")).address)
    expect(page.get_by_role("textbox")).to_be_visible()
    check_page(page, pictures, "sign-in")
