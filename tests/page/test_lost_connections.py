"""No answer is lost or counted twice: after a reload, in two windows, and while the server is away."""

from playwright.sync_api import expect

from page.drive_page import (
    Connection,
    Visit,
    answer,
    skip_through,
    wait_for_answers,
    wait_for_question,
)
from page.run_servers import Teach


def test_a_reload_shows_the_same_question(visit: Visit, teach: Teach) -> None:
    server, page = teach(), visit()
    page.goto(server.address)
    wait_for_question(page)
    answer(page, "left", 1)
    before = server.get("/api/session")["question"]
    page.reload()
    wait_for_answers(page, 1)
    assert server.get("/api/session")["question"] == before
    assert server.choices() == ["left"]


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
    assert server.choices() == ["left"]
    answer(second, "right", 2)
    assert server.choices() == ["left", "right"]
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
    assert server.choices() == ["left", "right"]
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
    assert server.choices() == ["right"]
    browser_errors.clear()
