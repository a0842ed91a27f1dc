"""Several sessions on one page: files that are dropped, two windows, copies, settings, colors and hints."""

import base64
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, expect

from page.check_page import check_accessible
from page.drive_page import Visit, answer, overflow, wait_for_answers, wait_for_question
from page.run_servers import Server
from prefero.rendering.video import save_video

DROP = """([files]) => {
    const data = new DataTransfer();
    for (const [name, content] of files) {
        data.items.add(new File([Uint8Array.from(atob(content), (one) => one.charCodeAt(0))], name));
    }
    for (const type of ["dragover", "drop"]) {
        const options = { dataTransfer: data, bubbles: true, cancelable: true };
        document.body.dispatchEvent(new DragEvent(type, options));
    }
}"""


def drop(page: Page, *files: Path) -> None:
    """Let go of files over the page."""
    contents = [[one.name, base64.b64encode(one.read_bytes()).decode()] for one in files]
    page.evaluate(DROP, [contents])


def video(path: Path, shade: int) -> Path:
    frames = (np.full((64, 96, 3), shade + 2 * t, dtype=np.uint8) for t in range(12))
    save_video(path, frames, 10.0)
    return path


def open_list(page: Page) -> None:
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name="Sessions").click()
    expect(page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()


def test_dropped_files_begin_sessions(visit: Visit, serve: Callable[..., Server], tmp_path: Path) -> None:
    """Two videos, then a table; the page was opened without any session."""
    server = serve("teach", "--no-browser", "--database", str(tmp_path / "teach.db"))
    page = visit()
    page.goto(server.address)
    expect(page.get_by_text("There is no session yet.")).to_be_visible()
    check_accessible(page)
    drop(page, video(tmp_path / "calm.mp4", 40), video(tmp_path / "wild.mp4", 160))
    answer(page, "left", 1)
    own = re.search(r"session=(\w+)", page.url)
    assert own is not None
    assert len(list((tmp_path / "teach.uploads").glob("*/*.mp4"))) == 2
    values = np.random.default_rng(0).normal(size=(9, 2)).round(3)
    lines = ["id,speed,height", *(f"walk {n},{a},{b}" for n, (a, b) in enumerate(values))]
    (tmp_path / "walks.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    drop(page, tmp_path / "walks.csv")  # while a question is shown
    wait_for_answers(page, 0)
    expect(page.locator(".brand")).to_have_text("walks")
    answer(page, "right", 1)
    page.go_back()  # to the list, where the files were let go
    expect(page.get_by_role("list", name="Sessions").get_by_role("listitem")).to_have_count(2)
    (tmp_path / "broken.mp4").write_bytes(b"no video")
    drop(page, tmp_path / "broken.mp4", tmp_path / "calm.mp4")
    expect(page.get_by_role("alert")).to_contain_text("broken.mp4")


def test_two_windows_a_copy_and_other_settings(visit: Visit, teach: Callable[..., Server]) -> None:
    """The video of a window, its answers and its settings are those of its own session."""
    server, page = teach(), visit(hints=True)
    page.goto(server.address)
    wait_for_answers(page, 0)
    expect(page.get_by_label("Hints")).to_contain_text("1 of 3")
    page.get_by_role("button", name="No hints").click()
    answer(page, "left", 1)
    open_list(page)
    page.get_by_role("button", name="Copy driver").click()
    page.get_by_role("textbox", name="Name").fill("calm")
    check_accessible(page)
    page.get_by_role("button", name="Copy", exact=True).click()
    page.get_by_role("button", name="Open calm").click()
    wait_for_answers(page, 1)
    other = page.context.new_page()
    other.goto(server.address)
    wait_for_answers(other, 1)
    expect(other.get_by_label("Hints")).to_have_count(0)  # the browser remembers
    answer(page, "right", 2)
    answer(page, "right", 3)
    answer(other, "left", 2)
    page.reload()
    wait_for_answers(page, 3)
    same = page.context.new_page()
    same.goto(page.url)
    wait_for_answers(same, 3)
    page.get_by_role("button", name="Menu").click()
    check_accessible(page)
    page.get_by_role("button", name="Settings of this session").click()
    page.get_by_label("Planned questions").fill("7")
    page.get_by_label("Kind of answers").select_option("rate-5")
    check_accessible(page)
    page.get_by_role("button", name="Save").click()
    for window in (page, same):  # the one that shows the same session too, by itself
        expect(window.locator(".progress-text")).to_have_text("3 of 7")
        expect(window.get_by_role("button", name=re.compile("very good"))).to_be_visible()
    wait_for_answers(other, 2)


def test_colors_hints_and_the_way_to_the_phone(visit: Visit, teach: Callable[..., Server]) -> None:
    server = teach()
    page = visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, hints=True)
    page.goto(server.address)
    wait_for_question(page)
    assert overflow(page) == 0
    for number in (1, 2, 3):
        expect(page.get_by_label("Hints")).to_contain_text(f"{number} of 3")
        button = page.get_by_role("button", name="A is better").bounding_box()
        assert button is not None
        assert button["y"] + button["height"] <= 844
        page.get_by_role("button", name="Got it" if number == 3 else "Next").click()
    expect(page.get_by_label("Hints")).to_have_count(0)
    light = ground(page)
    page.get_by_role("button", name="Menu").click()
    page.get_by_label("Dark").check()
    assert ground(page) != light
    assert overflow(page) == 0
    page.get_by_role("button", name="Open on a phone").click()
    expect(page.get_by_role("dialog").locator("code")).to_contain_text("--host 0.0.0.0")
    check_accessible(page)
    page.keyboard.press("Escape")
    page.reload()
    wait_for_question(page)
    assert ground(page) != light
    expect(page.get_by_label("Hints")).to_have_count(0)


def ground(page: Page) -> str:
    found: str = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    return found
