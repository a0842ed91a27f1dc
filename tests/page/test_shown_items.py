"""Items of a question: motions in step, videos, features alone, and three of them."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

import prefero
from page.check_page import check_page
from page.clip_pools import clip_pool
from page.drive_page import (
    MILLISECONDS,
    PLAYING,
    Visit,
    halo_pixels,
    pixels,
    wait_for_answers,
    wait_for_motion,
    wait_for_question,
    wait_frames,
    wait_until,
    wait_until_answerable,
)
from page.run_servers import Teach

VIDEOS = "[...document.querySelectorAll('video')]"


def test_both_items_move_in_step_and_stop_together(visit: Visit, teach: Teach) -> None:
    page = visit()
    page.goto(teach().address)
    wait_for_question(page)
    canvases = page.locator(".items canvas")
    expect(canvases).to_have_count(2)
    wait_for_motion(canvases, pixels(canvases))
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play", exact=True).first).to_be_visible()
    wait_frames(page, 2)  # the last frame before the pause is drawn
    paused = pixels(canvases)
    wait_frames(page, 20)
    assert pixels(canvases) == paused
    assert min(halo_pixels(canvases)) > 10  # the taught car is in the picture, and marked
    page.keyboard.press(".")
    wait_for_motion(canvases, paused)


def test_reduced_motion_is_respected(visit: Visit, teach: Teach) -> None:
    page = visit(reduced_motion="reduce")
    page.goto(teach().address)
    wait_for_question(page)
    canvases = page.locator(".items canvas")
    wait_until(page, PLAYING)  # the timeline is at the end at once
    wait_frames(page, 2)
    shown = pixels(canvases)
    wait_frames(page, 20)
    assert pixels(canvases) == shown
    assert min(halo_pixels(canvases)) > 10  # the taught car is in the picture at its end, too


def test_video_clips_play_and_keep_their_shape(visit: Visit, teach: Teach, tmp_path: Path) -> None:
    page, server = visit(), teach(clip_pool(tmp_path))
    page.goto(server.address)
    wait_for_question(page)
    expect(page.locator("video")).to_have_count(2)
    wait_until(page, f"() => {VIDEOS}.every((video) => video.videoWidth === 96)")
    for box in page.locator(".items .screen").all():  # no bars beside the picture
        found = box.bounding_box()
        assert found is not None
        assert found["width"] / found["height"] == pytest.approx(1.5, rel=0.01)
    wait_until_answerable(page)
    page.keyboard.press("f")
    wait_for_answers(page, 1)
    assert server.choices() == ["left"]


def test_clips_say_that_they_are_being_prepared_or_why_they_cannot_be_played(
    visit: Visit, teach: Teach, tmp_path: Path, browser_errors: list[str]
) -> None:
    page, server = visit(), teach(clip_pool(tmp_path, damaged=3))
    half = {"state": "preparing", "frames": 12, "total": 24, "problem": None}
    held: list[Route] = []
    page.route("**/api/session", asking(0, 3))
    page.route("**/api/clips/0.mp4*", lambda route: held.append(route))
    page.route("**/api/clips/0/status*", lambda route: route.fulfill(json=half))
    page.goto(server.address)
    expect(page.get_by_role("status").filter(has_text="being prepared")).to_contain_text("12 of 24 frames")
    expect(page.locator(".reason")).to_contain_text("3.mp4 is cut short")
    expect(page.locator(".waiting")).to_contain_text("B cannot be played: skip this question")
    held[0].continue_()
    wait_until(page, f"() => {VIDEOS}.some((video) => video.currentTime > 0.2)")
    page.keyboard.press("f")
    expect(page.get_by_role("alert")).to_have_text("Not taken.")
    page.unroute("**/api/session")
    page.get_by_role("button", name="skip this question").click()
    expect(page.locator(".confirmation")).to_have_text("You skipped a question.")
    assert server.choices() == []
    assert "3.mp4 is cut short" in (tmp_path / "server.log").read_text(encoding="utf-8")
    browser_errors.clear()  # the browser may say that it could not decode the video


def asking(*items: int) -> Callable[[Route], None]:
    """Change the response of the server on the way: the question is about these items."""

    def change(route: Route) -> None:
        response = route.fetch(timeout=MILLISECONDS)
        state = response.json()
        state["question"]["items"] = list(items)
        route.fulfill(response=response, json=state)

    return change


def test_features_alone_are_shown_with_those_that_differ_most_first(
    visit: Visit, teach: Teach, tmp_path: Path
) -> None:
    rows = [[5.0, 0.0, *[5.0] * 18], [5.0, 9.0, *[5.0] * 18], [9.0, 0.0, *[6.0] * 18]]
    prefero.Pool(rows, names=[f"feature {n}" for n in range(20)]).save(tmp_path / "bare.npz")
    page = visit(viewport={"width": 390, "height": 600})
    page.route("**/api/session", asking(0, 1))
    page.goto(teach(str(tmp_path / "bare.npz")).address)
    expect(page.locator(".feature-row").first).to_contain_text("feature 1")
    expect(page.locator(".feature-row").first).to_contain_text("B has 9 more")
    expect(page.get_by_text("feature 19")).to_be_hidden()
    page.get_by_text("14 other features").click()
    expect(page.get_by_text("feature 19")).to_be_visible()
    expect(page.get_by_role("button", name="A is better")).to_be_in_viewport()


@pytest.mark.parametrize("size", [(1000, 640), (390, 844)], ids=["wide", "phone"])
def test_a_question_of_three_items_plays_in_step(
    visit: Visit, teach: Teach, pictures: Path, size: tuple[int, int]
) -> None:
    page = visit(viewport={"width": size[0], "height": size[1]})
    page.goto(teach("driver", "--answers", "best-of-3").address)
    expect(page.get_by_role("heading", name=re.compile("of the blue car is (the )?best"))).to_be_visible()
    expect(page.locator(".item figcaption")).to_have_text(["A", "B", "C"])
    canvases = page.locator(".items canvas")
    expect(canvases).to_have_count(3)
    wait_for_motion(canvases, pixels(canvases))
    positions = page.locator(".timeline-fill").evaluate_all("(all) => all.map((bar) => bar.style.transform)")
    assert len(positions) == 3
    assert len(set(positions)) == 1
    check_page(page, pictures, f"three-items-{size[0]}")
