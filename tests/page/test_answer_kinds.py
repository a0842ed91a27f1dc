"""Answers of every kind on the page: by keys, taps, long presses and dragging, also on a phone."""

import os
import re
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from page.drive_page import MILLISECONDS, Visit, overflow, wait_until_answerable
from page.run_servers import Server, Teach
from page.test_study import links, prefero
from prefero.questions.answer_kinds import ANSWER_KINDS, Kind, has_ties, items_of, kind_named, listed_choices
from prefero.questions.kinds.label import words_of
from prefero.studies.log.attention import retest_agreements
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
FEW = ("--trajectories", "12")
READY = ".items-frame > :is(.fresh-even, .fresh-odd)"


def wait_for(page: Page, done: int) -> None:
    """So many answers are there, and the next question can be answered."""
    expect(page.locator(".progress-text")).to_have_text(re.compile(rf"^{done} "))
    expect(page.locator(READY)).to_be_visible()
    page.keyboard.press("l")
    wait_until_answerable(page)


def picture(page: Page, name: str) -> None:
    """Kept in the folder PREFERO_PICTURES, where a person wants to look at them."""
    folder = os.environ.get("PREFERO_PICTURES")
    if folder:
        page.screenshot(path=f"{folder}/{name}.png")


def test_the_strength_is_a_longer_press_or_shift(visit: Visit, teach: Teach) -> None:
    server, page = teach("driver", "--answers", "strength", *FEW), visit()
    page.goto(server.address)
    expect(page.get_by_role("heading", name=re.compile("and by how much"))).to_be_visible()
    wait_for(page, 0)
    picture(page, "strength")
    assert covered(page) == 0
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


def test_the_best_of_three_by_keys_and_on_a_phone(visit: Visit, teach: Teach) -> None:
    server, page = teach("driver", "--answers", "best-of-3", *FEW), visit()
    page.goto(server.address)
    wait_for(page, 0)
    picture(page, "best-of-3")
    page.keyboard.press("3")
    wait_for(page, 1)
    page.locator(".clip-frame").nth(1).click()
    wait_for(page, 2)
    phone = visit(**PHONE)
    phone.goto(server.address)
    wait_for(phone, 2)
    picture(phone, "best-of-3-phone")
    assert overflow(phone) <= 0
    phone.get_by_role("button", name="A is the best").tap()
    wait_for(phone, 3)
    assert server.choices() == ["3", "2", "1"]


def test_a_ranking_by_keys_by_dragging_and_on_a_phone(visit: Visit, teach: Teach) -> None:
    server, page = teach("driver", "--answers", "rank-4", *FEW), visit()
    page.goto(server.address)
    expect(page.get_by_role("heading", name=re.compile("^Rank the motions"))).to_be_visible()
    wait_for(page, 0)
    for key in ("3", "1", "=", "2", "4"):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="B, place 3")).to_be_visible()
    picture(page, "rank-4")
    chip, first = (page.get_by_role("button", name=name) for name in ("D, place 4", "C, place 1"))
    box, to = chip.bounding_box(), first.bounding_box()
    assert box
    assert to
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(to["x"] + 4, to["y"] + to["height"] / 2, steps=8)
    page.mouse.up()
    expect(page.get_by_role("button", name="D, place 1")).to_be_visible()
    page.get_by_role("button", name="This is my order").click()
    wait_for(page, 1)
    rank_on_a_phone(visit(**PHONE), server.address, 1)
    assert server.choices() == ["4>3>1=2", "1=3>2>4"]
    page.get_by_role("button", name="What it learned").click()
    expect(page.get_by_text("D > C > A = B")).to_be_visible()


def test_levels_of_one_clip_by_keys_with_words_and_on_a_phone(visit: Visit, teach: Teach) -> None:
    words = ("--words", "poor, fair, good, very good, excellent")
    server, page = teach("driver", "--answers", "rate-5", *words, *FEW), visit()
    page.goto(server.address)
    expect(page.get_by_role("heading", name="How good is this motion of the blue car?")).to_be_visible()
    wait_for(page, 0)
    expect(page.locator(".item")).to_have_count(1)
    page.keyboard.press("5")
    expect(page.locator(".compare [aria-live=polite]")).to_contain_text("You chose 5, excellent.")
    wait_for(page, 1)
    page.locator(".clip-frame").click()  # says nothing
    page.keyboard.press("z")
    wait_for(page, 0)
    page.keyboard.press("4")
    wait_for(page, 1)
    phone = visit(**PHONE)
    phone.goto(server.address)
    wait_for(phone, 1)
    picture(phone, "rate-5-phone")
    assert overflow(phone) <= 0
    assert covered(phone) == 0
    phone.get_by_role("button", name="1 poor").tap()
    wait_for(phone, 2)
    assert server.choices() == ["4", "1"]
    page.get_by_role("button", name="What it learned").click()
    expect(page.get_by_role("cell", name="4, very good")).to_be_visible()


def test_none_is_an_answer_of_pairs_and_rankings(visit: Visit, teach: Teach) -> None:
    for kind, name in (("pair-or-none", "Neither is acceptable"), ("rank-or-none-3", "None is acceptable")):
        server, page = teach("driver", "--answers", kind, "--name", kind, *FEW), visit()
        page.goto(server.address)
        wait_for(page, 0)
        page.keyboard.press("n")
        wait_for(page, 1)
        page.get_by_role("button", name=name).click()
        wait_for(page, 2)
        assert server.choices() == ["none", "none"]
        page.context.close()


@pytest.mark.parametrize("window", [{}, PHONE])
def test_a_change_of_kind_is_told_and_everything_below_keeps_its_place(
    window: dict[str, Any], visit: Visit, teach: Teach
) -> None:
    kinds: list[Kind] = ["pair", "rate-7", "success", "best-or-none-3"]
    server, page = teach("driver"), visit(**window)
    plain = server.get("/api/session")
    states = cycle([in_kind(plain, kind, kinds, number) for number, kind in enumerate(kinds)])
    page.route("**/api/session", lambda route: route.fulfill(json=next(states)))
    page.route("**/api/session/events", lambda route: route.fulfill(json=next(states)))
    page.goto(server.address)
    places = set()
    for number, told in enumerate(
        ("", "how good is this one?", "is this one acceptable?", "which is the best?")
    ):
        wait_for(page, number)
        expect(page.locator(".kind-change")).to_have_text([f"Now: {told}"] if told else [])
        spoken = page.locator(".compare [aria-live=polite]")
        expect(spoken).to_contain_text(f"Now: {told}" if told else "Which is better?")
        boxes = [page.locator(part).bounding_box() for part in (".answer-bar", ".secondary", ".controls")]
        places.add(tuple((round(box["x"]), round(box["y"])) for box in boxes if box))
        page.keyboard.press("s")
    assert len(places) == 1


def rank_on_a_phone(page: Page, address: str, done: int) -> None:
    page.goto(address)
    wait_for(page, done)
    for place in (2, 0, 1):
        page.locator(".clip-frame").nth(place).tap()
    expect(page.get_by_role("button", name="D, place 4")).to_be_visible()
    page.get_by_role("button", name="Better: say that they are about equal").first.tap()
    picture(page, "rank-4-phone")
    assert overflow(page) <= 0
    assert covered(page) == 0
    page.get_by_role("button", name="This is my order").tap()
    wait_for(page, done + 1)


def test_skip_and_undo_are_visible_on_a_phone_in_every_kind(visit: Visit, teach: Teach) -> None:
    server, page = teach("driver"), visit(**PHONE)
    shown: list[Kind] = []
    server.answer("left")
    page.route("**/api/session", lambda route: route.fulfill(json=of_kind(route, shown[-1])))
    for kind in ANSWER_KINDS:
        shown.append(kind)
        page.goto(server.address)
        expect(page.locator(".item")).to_have_count(items_of(kind))
        wait_for(page, 1)
        for name in ("Skip", "Undo"):
            expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)
        assert (kind, max(overflow(page), 0), covered(page)) == (kind, 0, 0)
        picture(page, f"{kind}-phone")


def of_kind(route: Route, kind: Kind) -> dict[str, Any]:
    """The response of the server, with a question of another kind."""
    state: dict[str, Any] = route.fetch(timeout=MILLISECONDS).json()
    return in_kind(state, kind, [kind])


def in_kind(state: dict[str, Any], kind: Kind, kinds: list[Kind], answered: int = 1) -> dict[str, Any]:
    """The state with a question of another kind, in a session of these kinds."""
    items = items_of(kind)
    question = state["question"] | {"id": 100 + answered, "kind": kind, "items": list(range(items))}
    asked = {"items": items, "choices": list(listed_choices(kind)), "ties": has_ties(kind)}
    words = list(words_of(kind_named(kind)))
    return state | asked | {"question": question, "kinds": kinds, "words": words, "answered": answered}


def covered(page: Page) -> int:
    """How many pixels of the items the answers cover."""
    items, answers = page.locator(".items").bounding_box(), page.locator(".answer-bar").bounding_box()
    assert items
    assert answers
    return round(max(items["y"] + items["height"] - answers["y"], 0))


# --- in a study: undo, reload, two windows, skip and retests ----------------------------------------------

STUDY = """
title = "{kind}"
world = "driver"
trajectories = 12
consent = ""
instructions = ""
practice = false
retests = 1
answers = "{kind}"

[[methods]]
method = "Prefero"
questions = 2
"""
ANSWERS = {  # the keys of an answer, which says that the first is the best, and its choice
    "strength": (["Shift+ArrowLeft"], "left-much"),
    "best-of-3": (["1"], "1"),
    "rank-4": (["1", "2", "3", "Enter"], "1>2>3>4"),
    "rate-5": (["2"], "2"),
    "best-or-none-3": (["0"], "none"),
}


@pytest.fixture
def studies(tmp_path: Path, serve: Callable[..., Server]) -> dict[str, str]:
    """One server for a study of each kind: the participants' links."""
    database, codes = ["--database", str(tmp_path / "study.db")], {}
    for kind in ANSWERS:
        protocol = tmp_path / f"{kind}.toml"
        protocol.write_text(STUDY.format(kind=kind), encoding="utf-8")
        create = ("study", "create", kind, "--protocol", str(protocol), "--participants", "1")
        codes[kind] = links(prefero(*create, *database))[1]
    address = serve("study", "serve", "--workers", "0", *database).address
    return {kind: f"{address}/#{code}" for kind, code in codes.items()}


def test_every_kind_with_undo_reload_two_windows_skip_and_a_retest(
    visit: Visit, studies: dict[str, str], browser_errors: list[str], tmp_path: Path
) -> None:
    store = Store(open_database(tmp_path / "study.db"))
    for kind, link in studies.items():
        page, other = visit(), visit()
        for one in (page, other):
            one.goto(link)
            wait_for(one, 0)
        answer(page, kind, 1)
        page.keyboard.press("z")
        wait_for(page, 0)
        page.reload()
        wait_for(page, 0)
        answer(page, kind, 1)
        give(other, kind)  # it still shows the first question
        expect(other.get_by_text("already answered")).to_be_visible()
        browser_errors.clear()  # which the browser reports as an error
        page.keyboard.press("s")
        expect(page.locator(".compare [aria-live=polite]")).to_contain_text("You skipped a question.")
        wait_for(page, 1)
        answer(page, kind, 2)
        give(page, kind)
        page.get_by_role("heading", name="Thank you").wait_for()
        (participant,) = store.participants(store.study(kind))
        log = store.event_log(participant)
        first, *_ = asked = [active.asked for active in log.answers]
        again = next(one for one in asked if one.method == "retest")
        assert [active.choice for active in log.answers] == [ANSWERS[kind][1]] * 3
        assert again.items == first.items[::-1]
        assert retest_agreements(log) == [kind in ("rate-5", "best-or-none-3")]
        for one in (page, other):
            one.context.close()


def give(page: Page, kind: str) -> None:
    """Press the keys of the answer."""
    for key in ANSWERS[kind][0]:
        page.keyboard.press(key)


def answer(page: Page, kind: str, done: int) -> None:
    give(page, kind)
    wait_for(page, done)
