"""What the page says was learned, and changes of the history."""

import re

from playwright.sync_api import Route, expect

from page.drive_page import (
    MILLISECONDS,
    Visit,
    answer,
    overflow,
    pixels,
    wait_for_answers,
    wait_for_motion,
    wait_for_question,
)
from page.run_servers import Teach


def test_what_was_learned_and_changes_of_the_history(visit: Visit, teach: Teach) -> None:
    server, page = teach(), visit()
    page.goto(server.address)
    page.get_by_role("button", name="What it learned").click()
    expect(page.get_by_text("nothing", exact=False).first).to_be_visible()
    page.get_by_role("button", name="Questions", exact=True).click()
    wait_for_question(page)
    for number, choice in enumerate(["left", "right", "left"], 1):
        answer(page, choice, number)
    page.get_by_role("button", name="What it learned").click()
    expect(page.get_by_role("heading", name="It is too early to say")).to_be_visible()
    expect(page.get_by_role("group", name="The trajectories of 3 questions by")).to_be_visible()
    expect(page.locator(".accuracy .big-number")).to_have_count(0)
    page.get_by_role("button", name="Replay question 2").click()
    replayed = page.get_by_role("dialog", name="Question 2: you answered “B”")
    canvases = replayed.locator("canvas")
    expect(canvases).to_have_count(2)
    wait_for_motion(canvases, pixels(canvases))
    replayed.get_by_role("button", name="Close").click()
    expect(replayed).to_be_hidden()
    page.get_by_role("button", name="Delete answer 2").click()
    expect(page.get_by_role("button", name="Restore answer 2")).to_be_visible()
    assert server.choices() == ["left", "left"]
    page.get_by_role("button", name="Restore answer 2").click()
    expect(page.get_by_role("button", name="Delete answer 2")).to_be_visible()
    assert sorted(server.choices()) == ["left", "left", "right"]


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
        summary["surprises"][0] |= {"kind": "pair", "probability": 0.04}
        route.fulfill(response=response, json=summary)

    server, page = teach(), visit(viewport={"width": 390, "height": 844})
    page.route("**/api/learning-summary", surprise)
    server.answer("left", "right", "left", "left", "right", "equal")
    page.goto(f"{server.address}/?view=learned")
    expect(page.locator(".accuracy .big-number")).to_have_text(re.compile(r"^\d+%$"))
    page.get_by_text(re.compile("^Probably between [0-9]+% and [0-9]+%$")).click()
    expect(page.get_by_text("the fraction of your answers that it expects to predict")).to_be_visible()
    page.locator(".statements summary").first.click()
    expect(page.locator(".statements p").first).to_be_visible()
    expect(page.locator(".rank")).to_have_count(9)
    expect(page.get_by_role("img", name="How much each feature matters").locator("svg")).to_be_visible()
    expect(
        page.get_by_role("group", name="The trajectories of 6 questions by").locator("svg")
    ).to_be_visible()
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
    assert server.choices() == ["right", "right", "left", "left", "right", "equal"]


def test_a_menu_leads_to_sections_whose_marks_play_and_whose_sliders_move(visit: Visit, teach: Teach) -> None:
    server, page = teach(), visit(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    server.answer("left", "right", "left", "left", "right", "equal")
    page.goto(f"{server.address}/?view=learned")
    menu = page.get_by_role("navigation", name="Sections")
    menu.get_by_role("link", name="What if").click()
    expect(menu.get_by_role("link", name="What if")).to_have_attribute("aria-current", "true")
    page.reload()
    expect(page.locator("#what-if")).to_be_focused()  # the address names the section
    better = page.locator(".what-if-result .big-number")
    before = better.text_content()
    slider = page.get_by_role("slider", name="speed", exact=True)
    slider.fill(str(slider.get_attribute("max")))
    expect(better).not_to_have_text(str(before))
    page.get_by_role("button", name="Reset").click()
    expect(better).to_have_text(str(before))
    mark = page.get_by_role("group", name="The reward by speed").locator(".playable[tabindex='0']")
    mark.focus()
    page.keyboard.press("Enter")
    dialog = page.locator("dialog.trajectory-dialog")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(mark).to_be_focused()
    arrow = page.locator(".arrows .playable").first
    arrow.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name=re.compile("^Question [0-9]+: you answered"))).to_be_visible()


def test_what_is_acceptable_is_counted_and_drawn(visit: Visit, teach: Teach) -> None:
    server, page = (
        teach("driver", "--answers", "best-or-none-3"),
        visit(viewport={"width": 390, "height": 844}),
    )
    server.answer("1", "none", "2", "none", "1", "3")
    page.goto(f"{server.address}/?view=learned")
    card = page.locator("section", has=page.get_by_role("heading", name="What is acceptable"))
    expect(card.locator(".accuracy .big-number")).to_have_text(re.compile(r"^\d+ of 24$"))
    expect(card.get_by_text(re.compile(r"probably between \d+ and \d+"))).to_be_visible()
    expect(card.locator(".rank-acceptable")).to_have_count(6)
    expect(page.get_by_role("group", name=re.compile("^The reward by ")).first.locator("svg")).to_be_visible()
    expect(page.locator(".chart [stroke-dasharray]")).not_to_have_count(0)
    assert page.evaluate(CLIPPED) == []
    assert overflow(page) <= 0
