"""A teacher looks at the signals of two trajectories below their clips."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from datasets.write_datasets import write_lerobot_3, write_video_folder
from page.check_page import PHONE, WIDE, check_page
from page.drive_page import Visit, answer, wait_for_question, wait_until
from page.run_servers import Teach

CURSOR_AT = (
    """([cursors, at]) => cursors.every((one) => Math.abs(parseFloat(one.style.left) - 100 * at) < 4)"""
)
BARS_AT = """(at) => [...document.querySelectorAll(".timeline-fill")].every((bar) => {
    const [, position] = /scaleX\\(([0-9.]+)\\)/.exec(bar.style.transform) ?? [];
    return Math.abs(Number(position) - at) < 0.04;
})"""


def charts(page: Page) -> Locator:
    return page.locator(".signals > .signal-grid .signal-chart")


def button(page: Page) -> Locator:
    return page.get_by_role("button", name="Signals")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_signals_below_the_clips(visit: Visit, teach: Teach, pictures: Path, scheme: str) -> None:
    server, page = teach("driver"), visit(viewport=WIDE, color_scheme=scheme)
    page.goto(server.address)
    wait_for_question(page)
    expect(button(page)).to_have_attribute("aria-pressed", "false")
    expect(charts(page)).to_have_count(0)
    page.keyboard.press("g")
    expect(charts(page)).to_have_count(8)  # of four signals, for both clips
    label = re.compile(r"of A, from .* to .*; farthest apart at .* s: A .*, B ")
    expect(charts(page).first).to_have_attribute("aria-label", label)
    check_page(page, pictures, f"signals-{scheme}")

    page.keyboard.press(" ")
    box = charts(page).nth(3).bounding_box()
    assert box is not None
    charts(page).nth(3).click(position={"x": 0.75 * box["width"], "y": 10})
    wait_until(page, BARS_AT, 0.75)
    wait_until(page, CURSOR_AT, [page.locator(".signal-cursor").element_handles(), 0.75])

    page.get_by_text("more signals").press("Enter")  # by keyboard, which answers nothing
    expect(page.locator(".signals details .signal-chart").first).to_be_visible()
    page.get_by_text("Features of both").press("Enter")
    expect(page.get_by_text(re.compile("(A|B) has .* m/s more"))).to_be_visible()
    assert server.choices() == []
    answer(page, "left", 1)
    expect(charts(page)).to_have_count(8)
    page.reload()
    expect(charts(page)).to_have_count(8)  # the browser remembers it
    page.keyboard.press("g")
    expect(charts(page)).to_have_count(0)


def test_signals_of_a_dataset_on_a_phone(visit: Visit, teach: Teach, pictures: Path, tmp_path: Path) -> None:
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(teach(str(write_lerobot_3(tmp_path / "arm"))).address)
    wait_for_question(page)
    button(page).tap()
    expect(page.get_by_role("img", name=re.compile("^shoulder of B, from"))).to_be_visible()
    check_page(page, pictures, "signals-phone")
    answers = page.get_by_role("button", name="A is better").bounding_box()
    assert answers is not None
    assert answers["y"] + answers["height"] <= PHONE["height"]


def test_videos_alone_have_no_signals(visit: Visit, teach: Teach, tmp_path: Path) -> None:
    page = visit()
    with page.expect_response(re.compile("/signals$")) as found:
        page.goto(teach(str(write_video_folder(tmp_path / "throws"))).address)
    assert found.value.json()["signals"] == []
    wait_for_question(page)
    page.keyboard.press("g")
    expect(button(page)).to_have_count(0)
    expect(page.locator(".signals")).to_have_count(0)
