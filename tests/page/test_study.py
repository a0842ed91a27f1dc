"""A whole study: three participants and the experimenter, mini-golf in three dimensions."""

import os
import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

from playwright.sync_api import Page, expect

from page.check_page import PHONE, WIDE, check_page
from page.drive_page import GRAPHICS_CARD, KEYS, Visit, label_boxes, skip_through
from page.run_servers import Server
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from run_prefero import run_prefero

PROTOCOL = """
title = "Mini-golf"
world = "golf"
trajectories = 16
target_scores = true
tests = 1
rate = true

[[methods]]
label = "Prefero"
method = "Prefero"
questions = 2

[[methods]]
label = "RandomGP"
method = "RandomGP 1 0.1"
questions = 2
"""
TOUCH = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
BROWSERS = ({"viewport": WIDE}, TOUCH, {"reduced_motion": "reduce"})  # of the three participants
SCALE = 1 if "PREFERO_PICTURES" in os.environ else 0.5  # a quarter of the pixels, which the processor draws


def prefero(*arguments: str) -> str:
    done = run_prefero(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def links(printed: str) -> list[str]:
    """The fragments of the experimenter's link and of the participants'."""
    return re.findall(r"/#([A-Za-z0-9_-]{24})", printed)


def take_part(page: Page, address: str, pictures: Path | None) -> None:
    """From the link to the last stage."""

    def check(name: str) -> None:
        if pictures is not None:
            check_page(page, pictures, name)

    page.goto(address)
    page.get_by_role("checkbox").wait_for()
    assert "#" not in page.url  # the secret does not stay in the address
    check("study-consent")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Instructions").wait_for()
    page.get_by_text("two examples of a robot").wait_for()
    check("study-instructions")
    has_keyboard = page.evaluate("matchMedia('(pointer: fine)').matches")
    expect(page.get_by_text("One frame forward")).to_be_visible(visible=has_keyboard)
    page.get_by_role("button", name="I am ready").click()
    rows = page.locator(".score-row")
    expect(rows).to_have_count(8)
    for place in range(8):
        rows.nth(place).get_by_role("radio", name=str(2 + place)).check()
    expect(page.get_by_label("Where the targets are").locator("canvas, video")).to_be_visible()
    check("study-scores")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("This question is for practice").wait_for()
    skip_through(page)
    page.keyboard.press(KEYS["left"])
    for done in range(5):
        expect(page.locator(".progress-text")).to_have_text(f"{done} of 5")
        skip_through(page)
        expect(page.locator(".own-scores li").first).to_contain_text("9")
        expect(page.get_by_role("button", name="About equal")).to_have_count(0)
        expect(page.get_by_text("What it learned")).to_have_count(0)  # nothing of the model is shown
        if done == 1:
            check("study-compare")
            check_labels(page)
        page.keyboard.press(KEYS["left" if done % 2 else "right"])
    for number in (1, 2):
        page.get_by_text(f"{number} of 2").wait_for()
        page.keyboard.press("7")
        expect(page.get_by_role("radio", name="7")).to_be_checked()
        if number == 1:
            check("study-rate")
        page.keyboard.press("Enter")
    page.get_by_role("heading", name="Thank you").wait_for()
    check("study-done")


def check_labels(page: Page) -> None:
    """Each of the two scenes has its eight labels, inside the picture, and none covers another."""
    for boxes in label_boxes(page.locator(".items .screen-box")):
        assert len(boxes) == 8
        assert all(0 <= left < right <= 1 and 0 <= top < bottom <= 1 for left, top, right, bottom in boxes)
        for (left, top, right, bottom), (x0, y0, x1, y1) in combinations(boxes, 2):
            assert left >= x1 or right <= x0 or top >= y1 or bottom <= y0


def test_three_participants_and_the_experimenter(
    visit: Visit, serve: Callable[..., Server], tmp_path: Path, pictures: Path
) -> None:
    (tmp_path / "protocol.toml").write_text(PROTOCOL, encoding="utf-8")
    database = ["--database", str(tmp_path / "study.db")]
    printed = prefero(
        *("study", "create", "putting", "--protocol", str(tmp_path / "protocol.toml")),
        *("--participants", "3"),
        *database,
    )
    secret, *codes = links(printed)
    assert len(codes) == 3
    server = serve("study", "serve", "--workers", "0", *database)

    watching = visit(viewport=WIDE)
    watching.goto(f"{server.address}/#{secret}")
    expect(watching.get_by_role("row")).to_have_count(4)
    for number, code in enumerate(codes):
        person = visit(**BROWSERS[number], device_scale_factor=SCALE, frame_pause=200)
        person.add_init_script(GRAPHICS_CARD)  # no videos have to be rendered
        take_part(person, f"{server.address}/#{code}", pictures if number == 0 else None)
        expect(watching.get_by_role("row", name=f"P{number + 1}")).to_contain_text("5 of 5")
        person.context.close()
    check_page(watching, pictures, "experimenter")
    watching.set_viewport_size({"width": 390, "height": 844})
    frame = watching.locator(".table-frame")
    assert frame.evaluate("(frame) => frame.scrollWidth - frame.clientWidth") == 0
    expect(watching.get_by_text("3 of 3 finished")).to_be_visible()

    store = Store(open_database(tmp_path / "study.db"))
    for one in store.participants(store.study("putting")):
        log = store.event_log(one)
        assert [live.choice for live in log.answers] == ["right", "left", "right", "left", "right"]
        assert {step.item: step.data["rating"] for step in log.stage_events if step.stage == "rate"} == {
            "Prefero": 7,
            "RandomGP": 7,
        }
    report = prefero("study", "report", "putting", "--out", str(tmp_path / "report"), *database)
    assert "Prefero" in report
    assert "7.0" in report
    assert (tmp_path / "report" / "report.html").stat().st_size > 20_000
