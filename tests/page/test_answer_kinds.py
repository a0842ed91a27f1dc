"""Answers of every kind on the page: by keys, taps, long presses and dragging, also on a phone."""

import os
import re

from playwright.sync_api import Page, expect

from page.drive_page import Visit, overflow
from page.run_servers import Teach

PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
READY = ".items-frame > :is(.fresh-even, .fresh-odd)"


def wait_for(page: Page, done: int) -> None:
    """So many answers are there, and the next question can be answered."""
    expect(page.locator(".progress-text")).to_have_text(re.compile(rf"^{done} "))
    expect(page.locator(READY)).to_be_visible()
    page.keyboard.press("l")
    expect(page.locator(".waiting")).to_have_count(0)


def picture(page: Page, name: str) -> None:
    """Kept in the folder PREFERO_PICTURES, where a person wants to look at them."""
    folder = os.environ.get("PREFERO_PICTURES")
    if folder:
        page.screenshot(path=f"{folder}/{name}.png")


def test_the_strength_is_a_longer_press_or_shift(visit: Visit, teach: Teach) -> None:
    server, page = teach("driver", "--answers", "strength"), visit()
    page.goto(server.address)
    expect(page.get_by_role("heading", name=re.compile("and by how much"))).to_be_visible()
    wait_for(page, 0)
    picture(page, "strength")
    page.keyboard.press("Shift+ArrowLeft")
    wait_for(page, 1)
    page.keyboard.press("j")
    wait_for(page, 2)
    page.locator(".clip-frame").nth(1).click(delay=700)
    wait_for(page, 3)
    page.locator(".clip-frame").first.click()
    wait_for(page, 4)
    assert server.choices() == ["left-much", "right-slightly", "right-much", "left-slightly"]
    page.keyboard.press("z")
    wait_for(page, 3)


def test_the_best_of_three_by_keys_and_taps_in_two_windows(
    visit: Visit, teach: Teach, browser_errors: list[str]
) -> None:
    server, page = teach("driver", "--answers", "best-of-3"), visit()
    page.goto(server.address)
    wait_for(page, 0)
    picture(page, "best-of-3")
    other = visit()
    other.goto(server.address)
    wait_for(other, 0)
    page.keyboard.press("3")
    wait_for(page, 1)
    other.keyboard.press("2")  # it still shows the first question
    expect(other.get_by_text("already answered")).to_be_visible()
    browser_errors.clear()  # which the browser reports as an error
    page.locator(".clip-frame").nth(1).click()
    wait_for(page, 2)
    page.keyboard.press("s")
    expect(page.locator(".compare [aria-live=polite]")).to_contain_text("You skipped a question.")
    page.reload()
    wait_for(page, 2)
    assert server.choices() == ["3", "2"]


def test_the_best_of_three_on_a_phone(visit: Visit, teach: Teach) -> None:
    server, page = teach("driver", "--answers", "best-of-3"), visit(**PHONE)
    page.goto(server.address)
    wait_for(page, 0)
    picture(page, "best-of-3-phone")
    assert overflow(page) <= 0
    page.get_by_role("button", name="C is the best").tap()
    wait_for(page, 1)
    assert server.choices() == ["3"]


def test_a_ranking_by_keys_and_by_dragging(visit: Visit, teach: Teach) -> None:
    server, page = teach("driver", "--answers", "rank-4"), visit()
    page.goto(server.address)
    expect(page.get_by_role("heading", name=re.compile("^Rank the motions"))).to_be_visible()
    wait_for(page, 0)
    for key in ("3", "1", "=", "2", "4"):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="B, place 3")).to_be_visible()
    picture(page, "rank-4")
    page.keyboard.press("Enter")
    wait_for(page, 1)
    for letter in "ABC":
        page.get_by_role("button", name=f"{letter}, without a place yet").click()
    chip, first = (page.get_by_role("button", name=name) for name in ("D, place 4", "A, place 1"))
    box, to = chip.bounding_box(), first.bounding_box()
    assert box
    assert to
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(to["x"] + 4, to["y"] + to["height"] / 2, steps=8)
    page.mouse.up()
    expect(page.get_by_role("button", name="D, place 1")).to_be_visible()
    page.get_by_role("button", name="This is my order").click()
    wait_for(page, 2)
    assert server.choices() == ["3>1=2>4", "4>1>2>3"]
    page.get_by_role("button", name="What it learned").click()
    expect(page.get_by_text("C > A = B > D")).to_be_visible()


def test_a_ranking_on_a_phone(visit: Visit, teach: Teach) -> None:
    server, page = teach("driver", "--answers", "rank-4"), visit(**PHONE)
    page.goto(server.address)
    wait_for(page, 0)
    for place in (2, 0, 1):
        page.locator(".clip-frame").nth(place).tap()
    expect(page.get_by_role("button", name="D, place 4")).to_be_visible()
    page.get_by_role("button", name="Better: say that they are about equal").first.tap()
    picture(page, "rank-4-phone")
    assert overflow(page) <= 0
    page.get_by_role("button", name="This is my order").tap()
    wait_for(page, 1)
    assert server.choices() == ["1=3>2>4"]
