"""A person teaches, from the first question to the reward file, also on a phone."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

import prefero
import waiting
from page.clip_pools import clip_pool
from page.drive_page import (
    KEYS,
    SETTLED,
    Visit,
    answer,
    overflow,
    skip,
    skip_through,
    wait_for_answers,
    wait_for_question,
    wait_until,
    wait_until_answerable,
)
from page.run_servers import Server, Teach


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
        page.get_by_text(re.compile("The true fraction is probably between .* Five more answers"))
    ).to_be_visible()
    expect(page.get_by_role("button", name="A is better")).to_be_hidden()
    page.get_by_role("button", name="Continue answering").click()
    wait_for_answers(page, 5)
    expect(page.locator(".predicted")).to_have_text(re.compile(r"predicts \d\d%, goal 50%"))
    expect(page.get_by_text("You have given all 5 planned answers")).to_be_visible()
    assert server.choices() == ["left", "right", "equal", "right", "left"]

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
    page.get_by_role("button", name="Continue answering").click()
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


@pytest.mark.parametrize("size", [(360, 740), (740, 360)], ids=["upright", "across"])
def test_a_phone(visit: Visit, teach: Teach, size: tuple[int, int], tmp_path: Path) -> None:
    """With reduced motion, so that no clip has played to its end before the tap."""
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
    wait_until_answerable(page)
    page.get_by_role("button", name="B is better").tap()
    wait_for_answers(page, 1)
    assert server.choices() == ["right"]


def test_the_button_that_answered_is_not_highlighted_in_the_next_question(visit: Visit, teach: Teach) -> None:
    page = visit()
    page.goto(teach().address)
    a, b = (page.get_by_role("button", name=f"{letter} is better") for letter in "AB")
    wait_until_answerable(page)
    for button in (a, b):
        button.hover()
    expect(page.locator(".compare")).to_have_class(re.compile("pointed"))
    wait_until(page, SETTLED)
    assert color_of(a) != color_of(b)
    b.click()
    wait_for_answers(page, 1)
    wait_until(page, SETTLED)
    assert color_of(a) == color_of(b)
    a.hover()
    expect(page.locator(".compare")).to_have_class(re.compile("pointed"))
    wait_until(page, SETTLED)
    assert color_of(a) != color_of(b)


def color_of(button: Locator) -> list[str]:
    style: list[str] = button.evaluate(
        "(one) => [getComputedStyle(one).backgroundColor, getComputedStyle(one).borderColor]"
    )
    return style


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


def test_a_reason_is_named_with_a_key_and_taken_back_with_a_click(visit: Visit, teach: Teach) -> None:
    server, page = teach("driver"), visit()
    page.goto(server.address)
    answer(page, "left", 1)
    reasons, question = page.locator(".reason"), server.get("/api/session")["question"]
    expect(reasons).to_have_count(3)
    box = page.locator(".items-frame").bounding_box()
    page.keyboard.press("c")
    expect(reasons.nth(1)).to_have_attribute("aria-pressed", "true")
    reasons.nth(0).dblclick()  # a double click counts once
    expect(reasons.nth(0)).to_have_attribute("aria-pressed", "true")
    expect(reasons.nth(1)).to_have_attribute("aria-pressed", "false")
    named = reasons.nth(0).get_attribute("title")
    wait_for_reason(server, str(named).split(maxsplit=1)[1])
    assert server.get("/api/session")["question"] == question
    assert page.locator(".items-frame").bounding_box() == box  # nothing moves
    page.keyboard.press("x")
    expect(page.locator(".reason[aria-pressed=true]")).to_have_count(0)
    wait_for_reason(server, None)
    answer(page, "right", 2)  # which has reasons of its own
    expect(page.locator(".reason[aria-pressed=true]")).to_have_count(0)
    page.keyboard.press("z")
    wait_for_answers(page, 1)
    expect(reasons).to_have_count(0)


def wait_for_reason(server: Server, feature: str | None) -> None:
    """The server has it as the reason of the first answer."""
    waiting.wait_until(lambda: server.get("/api/history")["answers"][0]["because"] == feature)
