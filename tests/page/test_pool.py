"""The Pool tab in a browser: pictures, a question chosen by hand, notes and tags."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from page.check_page import PHONE, check_accessible
from page.clip_pools import clip_pool
from page.drive_page import Visit, answer, overflow, wait_for_answers, wait_until
from page.run_servers import Server, Teach

PICTURED = "() => [...document.images].some((one) => one.naturalWidth > 0)"


def choose(page: Page, *places: int) -> None:
    for place in places:
        page.locator(".pool-choose input").nth(place).check()


def test_a_question_is_chosen_by_hand_answered_and_noted(visit: Visit, teach: Teach) -> None:
    page = visit()
    page.goto(f"{teach('golf').address}/?view=pool")
    expect(page.locator(".pool-card")).to_have_count(16)  # a grid of speeds and angles
    wait_until(page, PICTURED)
    check_accessible(page)
    page.get_by_label("Play no. 3", exact=True).focus()
    page.keyboard.press("c")
    expect(page.get_by_text("A question of this session has 2: choose 2.")).to_be_visible()
    choose(page, 7)
    page.get_by_role("button", name="Compare these").click()
    wait_for_answers(page, 0)
    page.keyboard.press("t")
    page.get_by_placeholder("collision").first.fill("too slow")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Remove the tag too slow")).to_be_visible()
    check_accessible(page)
    page.keyboard.press("Escape")
    answer(page, "left", 1)
    page.get_by_role("button", name="What it learned").click()
    row = page.locator(".history tbody tr")
    for part in ("chosen by hand", "no. 3", "no. 7", "too slow"):
        expect(row).to_contain_text(part)


def test_videos_have_pictures_and_are_searched_on_a_phone(
    visit: Visit, serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve("teach", clip_pool(tmp_path), "--no-browser", "--database", str(tmp_path / "clips.db"))
    page = visit(viewport=PHONE)
    page.goto(f"{server.address}/?view=pool")
    wait_until(page, PICTURED)
    page.get_by_label("Play").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Note").fill("Almost fell")
    dialog.get_by_role("button", name="Close").click()
    expect(page.locator(".pool-note")).to_have_text("Almost fell")
    page.get_by_label("Search", exact=True).fill("almost")
    expect(page.locator(".pool-card")).to_have_count(1)
    assert overflow(page) <= 0
