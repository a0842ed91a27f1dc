"""A person teaches, from the first question to the reward file, also on a phone and without the server."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

import prefero
from page.check_page import check_page
from page.drive_page import (
    PLAYING,
    answer,
    overflow,
    pixels,
    skip,
    wait_for_answers,
    wait_for_motion,
    wait_for_question,
    wait_frames,
    wait_until,
)
from page.run_servers import Server

VIDEOS = "[...document.querySelectorAll('video')]"
Visit = Callable[..., Page]
Teach = Callable[..., Server]


def history(server: Server) -> list[str]:
    return [row["choice"] for row in server.get("/api/history")["answers"] if not row["deleted"]]


def test_a_whole_session_with_keys_only(visit: Visit, teach: Teach, tmp_path: Path) -> None:
    server, page = teach("driver", "--questions", "5"), visit()
    page.goto(server.address)
    wait_for_answers(page, 0)
    for number, choice in enumerate(["left", "right", "equal", "left"], 1):
        answer(page, choice, number)
    page.keyboard.press("z")
    wait_for_answers(page, 3)
    skip(page)
    answer(page, "right", 4)
    answer(page, "left", 5)
    expect(page.get_by_text("You have given all 5 planned answers")).to_be_visible()
    assert history(server) == ["left", "right", "equal", "right", "left"]

    page.keyboard.press("Tab")
    for _ in range(30):  # the keyboard alone reaches the way to the end
        if page.evaluate("document.activeElement.textContent") == "Finish":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What you taught")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="reward.json").click()
    download.value.save_as(tmp_path / "reward.json")
    reward = prefero.load_reward(tmp_path / "reward.json")
    assert reward.diagnostics["answers"] == 5
    assert reward.diagnostics["ties"] == 1


def test_keys_of_the_player(visit: Visit, teach: Teach) -> None:
    page = visit()
    page.goto(teach().address)
    wait_for_question(page)
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play", exact=True).first).to_be_visible()
    page.keyboard.press("]")
    expect(page.get_by_label("Speed")).to_have_text("1.5×")
    page.keyboard.press("[")
    page.keyboard.press("[")
    expect(page.get_by_label("Speed")).to_have_text("0.5×")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("ArrowLeft")  # while the help is open, keys answer nothing
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    wait_for_answers(page, 0)


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
    page.keyboard.press(".")
    wait_for_motion(canvases, paused)


def test_a_reload_shows_the_same_question(visit: Visit, teach: Teach) -> None:
    server, page = teach(), visit()
    page.goto(server.address)
    wait_for_question(page)
    answer(page, "left", 1)
    before = server.get("/api/session")["question"]
    page.reload()
    wait_for_answers(page, 1)
    assert server.get("/api/session")["question"] == before
    assert history(server) == ["left"]


def test_two_windows_do_not_answer_one_question_twice(
    visit: Visit, teach: Teach, browser_errors: list[str]
) -> None:
    server = teach()
    first, second = visit(), visit()
    for page in (first, second):
        page.goto(server.address)
        wait_for_question(page)
    answer(first, "left", 1)
    second.keyboard.press("ArrowRight")  # it still shows the first question
    expect(second.get_by_text("already answered")).to_be_visible()
    wait_for_answers(second, 1)
    assert history(server) == ["left"]
    answer(second, "right", 2)
    assert history(server) == ["left", "right"]
    assert [error for error in browser_errors if "409" not in error] == []
    browser_errors.clear()


def test_an_answer_waits_while_the_server_is_down(
    visit: Visit, teach: Teach, browser_errors: list[str]
) -> None:
    server, page = teach(), visit()
    page.goto(server.address)
    wait_for_question(page)
    answer(page, "left", 1)
    server.kill()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Your answer is saved in this browser")).to_be_visible()
    page.keyboard.press("ArrowLeft")  # nothing more can be answered now
    server.start()
    wait_for_answers(page, 2)
    expect(page.get_by_text("Your answer is saved in this browser")).to_be_hidden()
    assert history(server) == ["left", "right"]
    browser_errors.clear()  # the browser says that it could not connect


def test_a_pending_answer_survives_a_reload(visit: Visit, teach: Teach, browser_errors: list[str]) -> None:
    server, page = teach(), visit()
    page.goto(server.address)
    wait_for_question(page)
    page.route("**/api/session/events", lambda route: route.abort())
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Your answer is saved in this browser")).to_be_visible()
    page.unroute("**/api/session/events")
    page.reload()
    wait_for_answers(page, 1)
    assert history(server) == ["right"]
    browser_errors.clear()


@pytest.mark.parametrize("size", [(360, 740), (740, 360)], ids=["upright", "across"])
def test_a_phone(visit: Visit, teach: Teach, size: tuple[int, int]) -> None:
    page = visit(viewport={"width": size[0], "height": size[1]}, has_touch=True, is_mobile=True)
    server = teach()
    page.goto(server.address)
    wait_for_question(page)
    assert overflow(page) == 0
    for name in ("A is better", "B is better", "About equal"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box is not None
        assert box["height"] >= 44
    page.get_by_role("button", name="B is better").tap()
    wait_for_answers(page, 1)
    assert history(server) == ["right"]


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


def test_what_was_learned_and_changes_of_the_history(visit: Visit, teach: Teach) -> None:
    server, page = teach(), visit()
    page.goto(server.address)
    page.get_by_role("button", name="What it learned").click()
    expect(page.get_by_text("nothing", exact=False).first).to_be_visible()
    page.get_by_role("button", name="Compare", exact=True).click()
    wait_for_question(page)
    for number, choice in enumerate(["left", "right", "left"], 1):
        answer(page, choice, number)
    page.get_by_role("button", name="What it learned").click()
    expect(page.locator("main svg").first).to_be_visible()
    page.get_by_role("button", name="Replay question 2").click()
    replayed = page.get_by_role("dialog", name="Question 2: you answered “B”")
    canvases = replayed.locator("canvas")
    expect(canvases).to_have_count(2)
    wait_for_motion(canvases, pixels(canvases))
    replayed.get_by_role("button", name="Close").click()
    expect(replayed).to_be_hidden()
    page.get_by_role("button", name="Delete answer 2").click()
    expect(page.get_by_role("button", name="Restore answer 2")).to_be_visible()
    assert history(server) == ["left", "left"]
    page.get_by_role("button", name="Restore answer 2").click()
    expect(page.get_by_role("button", name="Delete answer 2")).to_be_visible()
    assert sorted(history(server)) == ["left", "left", "right"]


def test_video_clips_play(visit: Visit, teach: Teach, tmp_path: Path) -> None:
    import numpy as np

    from prefero.rendering.video import save_video

    for number in range(4):
        frames = (np.full((64, 96, 3), 60 * number + t, dtype=np.uint8) for t in range(20))
        save_video(tmp_path / f"{number}.mp4", frames, 20.0)
    clips = [tmp_path / f"{n}.mp4" for n in range(4)]
    prefero.Pool([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 1.0]], clips=clips).save(tmp_path / "mine.npz")
    page, server = visit(), teach(str(tmp_path / "mine.npz"))
    page.goto(server.address)
    wait_for_question(page)
    expect(page.locator("video")).to_have_count(2)
    wait_until(
        page, "() => [...document.querySelectorAll('video')].every((video) => video.videoWidth === 96)"
    )
    wait_until(
        page, "() => [...document.querySelectorAll('video')].every((video) => video.currentTime > 0.2)"
    )
    answer(page, "left", 1)
    assert history(server) == ["left"]


def test_features_alone_are_shown_as_bars(visit: Visit, teach: Teach, tmp_path: Path) -> None:
    pool = prefero.Pool([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]], names=["speed", "distance"])
    pool.save(tmp_path / "bare.npz")
    page = visit()
    page.goto(teach(str(tmp_path / "bare.npz")).address)
    wait_for_question(page)
    expect(page.get_by_text("speed").first).to_be_visible()
    expect(page.get_by_text("distance").first).to_be_visible()


def test_the_first_load_is_small(visit: Visit, teach: Teach, capsys: pytest.CaptureFixture[str]) -> None:
    """Over a slow connection, without the code for three-dimensional scenes."""
    page = visit()
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    slow = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 90_000}
    session.send("Network.emulateNetworkConditions", slow)
    received: list[float] = []
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    server = teach()
    page.goto(server.address)
    wait_for_question(page)
    seconds = page.evaluate("performance.now()") / 1000
    with capsys.disabled():
        print(f"\nfirst load: {sum(received) / 1000:.0f} kB, {seconds:.1f} s at 1.6 Mbit/s")
    assert 0 < sum(received) < 400_000


@pytest.mark.parametrize("size", [(1000, 640), (390, 844)], ids=["wide", "phone"])
def test_a_question_of_three_items_plays_in_step(
    visit: Visit, teach: Teach, pictures: Path, size: tuple[int, int]
) -> None:
    """The server asks about pairs only so far, so its response is changed on the way."""

    def ask_three(route: Route) -> None:
        response = route.fetch()
        state = response.json()
        state["question"]["items"] = [0, 1, 2]
        route.fulfill(response=response, json=state)

    page = visit(viewport={"width": size[0], "height": size[1]})
    page.route("**/api/session", ask_three)
    page.goto(teach().address)
    expect(page.get_by_role("heading", name="Which is best?")).to_be_visible()
    expect(page.locator(".item figcaption")).to_have_text(["A", "B", "C"])
    canvases = page.locator(".items canvas")
    expect(canvases).to_have_count(3)
    wait_for_motion(canvases, pixels(canvases))
    positions = page.locator(".timeline-fill").evaluate_all("(all) => all.map((bar) => bar.style.transform)")
    assert len(positions) == 3
    assert len(set(positions)) == 1
    check_page(page, pictures, f"three-items-{size[0]}")
