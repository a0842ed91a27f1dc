"""A person teaches, from the first question to the reward file, also on a phone and without the server."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

import prefero
from page.check_page import check_page
from page.drive_page import (
    KEYS,
    MILLISECONDS,
    PLAYING,
    Connection,
    answer,
    halo_pixels,
    overflow,
    pixels,
    skip,
    skip_through,
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
    server, page = teach("driver", "--questions", "5", "--until", "0.501"), visit()
    page.goto(server.address)
    wait_for_answers(page, 0)
    expect(page.locator(".predicted")).to_have_text("goal 50%")
    expect(page.get_by_role("heading", name="Which motion of the blue car is better?")).to_be_visible()
    expect(page.get_by_text("Decide how the blue car should drive")).to_be_visible()
    for number, choice in enumerate(["left", "right", "equal", "left"], 1):
        answer(page, choice, number)
    page.keyboard.press("z")
    wait_for_answers(page, 3)
    skip(page)
    answer(page, "right", 4)
    skip_through(page)
    page.keyboard.press(KEYS["left"])
    expect(page.get_by_text("So it stopped asking after 5 answers.")).to_be_visible()
    expect(
        page.get_by_text(re.compile("The true share is probably between .* Five more answers"))
    ).to_be_visible()
    expect(page.get_by_role("button", name="A is better")).to_be_hidden()
    page.get_by_role("button", name="Continue comparing").click()
    wait_for_answers(page, 5)
    expect(page.locator(".predicted")).to_have_text(re.compile(r"predicts \d\d%, goal 50%"))
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

    page.get_by_role("button", name="Leave").click()
    expect(page.get_by_role("heading", name="Your answers are saved")).to_be_visible()
    expect(page.get_by_text(str(tmp_path / "teach.db")).first).to_be_visible()
    expect(
        page.get_by_text(f"prefero teach driver --until 0.501 --database {tmp_path / 'teach.db'}")
    ).to_be_visible()
    page.get_by_role("button", name="Continue comparing").click()
    wait_for_answers(page, 5)


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
    assert min(halo_pixels(canvases)) > 10  # the taught car is in the picture, and marked
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
    skip_through(second)
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
    skip_through(page)
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
    connection = Connection(page, "**/api/session/events")
    page.goto(server.address)
    skip_through(page)
    connection.interrupted = True
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Your answer is saved in this browser")).to_be_visible()
    connection.interrupted = False
    page.reload()
    wait_for_answers(page, 1)
    assert history(server) == ["right"]
    browser_errors.clear()


@pytest.mark.parametrize("size", [(360, 740), (740, 360)], ids=["upright", "across"])
def test_a_phone(visit: Visit, teach: Teach, size: tuple[int, int], tmp_path: Path) -> None:
    """With reduced motion, so that no clip has played to its end before the first tap."""
    phone = {"viewport": {"width": size[0], "height": size[1]}, "has_touch": True, "is_mobile": True}
    page = visit(**phone, reduced_motion="reduce")
    server = teach(clip_pool(tmp_path), "--task-description", "Find the calmest drive.")
    page.goto(server.address)
    wait_for_question(page)
    assert overflow(page) == 0
    for name in ("A is better", "B is better", "About equal"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["y"] + box["height"] <= size[1]  # on the screen without scrolling
    expect(page.get_by_text("Find the calmest drive.")).to_be_in_viewport()
    expect(page.get_by_role("button", name="Keys")).to_be_hidden()  # there is no keyboard
    page.get_by_role("button", name="B is better").tap(force=True)  # though it is not enabled yet
    expect(page.locator(".waiting.emphasized")).to_be_visible()
    page.get_by_role("button", name="skip ahead").tap()
    expect(page.get_by_role("button", name="B is better")).to_have_attribute("aria-disabled", "false")
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
    assert min(halo_pixels(canvases)) > 10  # the taught car is in the picture at its end, too


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
    expect(page.get_by_role("heading", name="It is too early to say")).to_be_visible()
    expect(page.get_by_role("img", name="The trajectories of 3 questions by")).to_be_visible()
    expect(page.locator(".big-number")).to_have_count(0)
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


# texts of charts that reach beyond the box of their chart
CLIPPED = """() => [...document.querySelectorAll(".chart")].flatMap((chart) => {
    const { left, right } = chart.getBoundingClientRect();
    const outside = (box) => box.width > 0 && (box.left < left - 1 || box.right > right + 1);
    const texts = [...chart.querySelectorAll("text")].filter((text) => outside(text.getBoundingClientRect()));
    return texts.map((text) => `${chart.ariaLabel}: ${text.textContent}`);
})"""


def test_what_was_learned_from_enough_answers(visit: Visit, teach: Teach) -> None:
    """An answer that surprises the model is put into the server's response."""

    def surprise(route: Route) -> None:
        response = route.fetch(timeout=MILLISECONDS)
        summary = response.json()
        pair = summary["question_map"]["pairs"][0]
        summary["surprises"] = [{key: pair[key] for key in ("question", "number", "items", "choice")}]
        summary["surprises"][0]["probability"] = 0.04
        route.fulfill(response=response, json=summary)

    server, page = teach(), visit(viewport={"width": 390, "height": 844})
    page.route("**/api/learning-summary", surprise)
    server.answer("left", "right", "left", "left", "right", "equal")
    page.goto(f"{server.address}/?view=learned")
    expect(page.locator(".big-number")).to_have_text(re.compile(r"^\d+%$"))
    page.get_by_text(re.compile("^Probably between [0-9]+% and [0-9]+%$")).click()
    expect(page.get_by_text("the share of your answers that it expects to predict")).to_be_visible()
    page.locator(".statements summary").first.click()
    expect(page.locator(".statements p").first).to_be_visible()
    expect(page.locator(".rank")).to_have_count(9)
    expect(page.get_by_role("img", name="How much each feature matters").locator("svg")).to_be_visible()
    expect(page.get_by_role("img", name="The trajectories of 6 questions by").locator("svg")).to_be_visible()
    assert page.evaluate(CLIPPED) == []
    assert overflow(page) == 0
    expect(page.get_by_text("you answered “A”, which it found 4% likely")).to_be_visible()
    page.get_by_role("button", name="Look at it again, question 1").click()
    replayed = page.get_by_role("dialog")
    expect(replayed.locator("canvas")).to_have_count(2)  # until then the button moves down
    replayed.get_by_role("button", name="Close").click()
    expect(replayed).to_be_hidden()
    page.get_by_role("button", name="A slip: answer it again, question 1").click()
    wait_for_answers(page, 5)
    answer(page, "right", 6)
    assert history(server) == ["right", "right", "left", "left", "right", "equal"]


def clip_pool(folder: Path, damaged: int | None = None) -> str:
    """Four wide clips; one of them may be cut short."""
    import numpy as np

    from prefero.rendering.video import save_video

    clips = [folder / f"{n}.mp4" for n in range(4)]
    for number, clip in enumerate(clips):
        frames = (np.full((64, 96, 3), 60 * number + t, dtype=np.uint8) for t in range(20))
        save_video(clip, frames, 20.0)
    if damaged is not None:
        clips[damaged].write_bytes(clips[damaged].read_bytes()[:400])
    prefero.Pool([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 1.0]], clips=clips).save(folder / "mine.npz")
    return str(folder / "mine.npz")


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
    expect(page.locator(".waiting")).to_be_hidden()  # they have played to their end
    page.keyboard.press("f")
    wait_for_answers(page, 1)
    assert history(server) == ["left"]


def test_clips_say_that_they_are_being_prepared_or_why_they_cannot_be_played(
    visit: Visit, teach: Teach, tmp_path: Path, browser_errors: list[str]
) -> None:
    page, server = visit(), teach(clip_pool(tmp_path, damaged=3))
    half = {"state": "preparing", "frames": 12, "total": 24, "problem": None}
    held: list[Route] = []
    page.route("**/api/session", asking(0, 3))
    page.route("**/api/clips/0.mp4", lambda route: held.append(route))
    page.route("**/api/clips/0/status", lambda route: route.fulfill(json=half))
    page.goto(server.address)
    expect(page.get_by_role("status").filter(has_text="being prepared")).to_contain_text("12 of 24 frames")
    expect(page.locator(".reason")).to_contain_text("3.mp4 is cut short")
    expect(page.locator(".waiting")).to_contain_text("B cannot be played: skip this question")
    held[0].continue_()
    wait_until(page, f"() => {VIDEOS}.some((video) => video.currentTime > 0.2)")
    page.keyboard.press("f")
    expect(page.locator(".waiting.emphasized")).to_be_visible()
    page.unroute("**/api/session")
    page.get_by_role("button", name="skip this question").click()
    expect(page.locator(".confirmation")).to_have_text("You skipped a question.")
    assert history(server) == []
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
