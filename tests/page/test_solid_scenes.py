"""Golf, a scene in three dimensions: drawn by three.js, or by the processor without a graphics card."""

import io
from functools import partial

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

import waiting
from page.drive_page import (
    GRAPHICS_CARD,
    PLAYING,
    Visit,
    label_boxes,
    skip_through,
    wait_for_answers,
    wait_for_question,
    wait_frames,
    wait_until,
)
from page.run_servers import Teach

PIXELS_OF_THE_SCREEN = "(all) => all.map((one) => Math.round(100 * one.width / one.clientWidth) / 100)"
GREEN = np.array([88, 150, 83])  # of the green, in the light of both renderers to within 20
POSITIONS = "(all) => all.map((bar) => bar.style.transform)"
# The commands of the first frame do not end before the page is told so.
HOLD_FRAMES = """
const status = WebGL2RenderingContext.prototype.getSyncParameter;
WebGL2RenderingContext.prototype.getSyncParameter = function (fence, which) {
    return window.frameMayEnd ? status.call(this, fence, which) : this.UNSIGNALED;
};
"""


def shows_golf(picture: Locator) -> bool:
    """Does it show the green, the robot and the targets, and is nothing blank, black or coarse?"""
    seen = np.asarray(Image.open(io.BytesIO(picture.screenshot())).convert("RGB")).astype(int)
    green = (np.abs(seen - GREEN).max(axis=2) < 20).mean()
    colors = len(np.unique(seen.reshape(-1, 3) // 16, axis=0))  # robot, targets and smooth edges
    return bool(0.4 < green < 0.9 and colors > 40)


def check_pictures(pictures: Locator) -> None:
    """All show golf; a processor that draws in place of a graphics card may take a moment."""
    for number, picture in enumerate(pictures.all()):
        waiting.wait_until(partial(shows_golf, picture), f"picture {number}")


def positions(page: Page) -> list[str]:
    found: list[str] = page.locator(".timeline-fill").evaluate_all(POSITIONS)
    return found


@pytest.mark.parametrize(("width", "height", "ratio"), [(1280, 800, 1), (1280, 800, 2)])
def test_without_a_graphics_card_the_processor_draws_every_pixel_of_the_screen(
    visit: Visit, teach: Teach, width: int, height: int, ratio: int
) -> None:
    page = visit(viewport={"width": width, "height": height}, device_scale_factor=ratio)
    server = teach("golf")
    page.goto(server.address)
    wait_for_question(page)
    canvases = page.locator(".items canvas")
    expect(canvases).to_have_count(2)
    expect(page.locator("video")).to_have_count(0)
    wait_until(page, PLAYING)
    page.keyboard.press(" ")
    wait_frames(page, 5)
    assert canvases.evaluate_all(PIXELS_OF_THE_SCREEN) == [ratio, ratio]
    check_pictures(page.locator(".items .clip-frame"))
    assert [len(boxes) for boxes in label_boxes(page.locator(".items .screen-box"))] == [8, 8]
    skip_through(page)
    expect(page.locator(".items .scene-ring")).to_have_count(2)  # where the balls have come to rest
    page.keyboard.press("f")
    wait_for_answers(page, 1)
    assert server.choices() == ["left"]


def test_with_a_graphics_card_the_page_draws_and_time_begins_with_the_first_frame_of_both(
    visit: Visit, teach: Teach
) -> None:
    # small: here the processor draws after all, and so fast that the page has no reason to draw less
    page = visit(viewport={"width": 800, "height": 600}, frame_pause=0)
    for script in (GRAPHICS_CARD, HOLD_FRAMES):
        page.add_init_script(script)
    page.goto(teach("golf").address)
    wait_for_question(page)
    expect(page.locator(".items canvas")).to_have_count(2)
    wait_frames(page, 30)
    assert set(positions(page)) == {"scaleX(0)"}
    page.evaluate("window.frameMayEnd = true")
    wait_until(page, PLAYING)
    page.keyboard.press(" ")
    wait_frames(page, 5)
    expect(page.locator("video")).to_have_count(0)
    check_pictures(page.locator(".items .clip-frame"))
    assert [len(boxes) for boxes in label_boxes(page.locator(".items .screen-box"))] == [8, 8]
