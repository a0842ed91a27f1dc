"""An arena in the browser: videos of two policies, blind until it ends, then the result or thanks."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, expect

from page.check_page import PHONE, check_page
from page.drive_page import KEYS, skip, skip_through, wait_for_question
from page.run_servers import Server
from page.test_study import links, prefero
from prefero.rendering.video import save_video

COLORS = {"careful": (40, 110, 200), "hasty": (200, 90, 40)}


def record(folder: Path, color: tuple[int, int, int]) -> Path:
    """Three short videos of a square that moves."""
    folder.mkdir()
    for number in range(3):
        frames = np.full((8, 60, 96, 3), 235, dtype=np.uint8)
        for step, frame in enumerate(frames):
            frame[20:40, 8 * step + 4 * number : 8 * step + 4 * number + 20] = color
        save_video(folder / f"start-{number}.mp4", iter(frames), 16)
    return folder


def prefer_blue(page: Page, count: int) -> None:
    """Answer that the blue rollout is better, or of one rollout that it passes, as a judge would."""
    skip_through(page)
    left = page.locator("video").first.evaluate(BLUENESS)
    is_alone = page.locator("video").count() == 1
    page.keyboard.press(
        KEYS["left" if left != is_alone else "right"]
    )  # of one, the key on the right is a pass
    ended = page.get_by_role("heading", name=re.compile("Result|Thank you"))
    expect(page.locator(".progress-text").or_(ended)).to_contain_text(re.compile(rf"^{count} |Result|Thank"))


BLUENESS = """(video) => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
    const context = canvas.getContext("2d");
    context.drawImage(video, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    let [red, blue] = [0, 0];
    for (let i = 0; i < data.length; i += 4) [red, blue] = [red + data[i], blue + data[i + 2]];
    return blue > red;
}"""


def test_an_arena_from_the_first_question_to_the_standings(
    visit: Callable[..., Page], serve: Callable[..., Server], tmp_path: Path, pictures: Path
) -> None:
    folders = [str(record(tmp_path / name, color)) for name, color in COLORS.items()]
    options = ["--database", str(tmp_path / "arena.db"), "--confidence", "0.75", "--no-browser"]
    server = serve("arena", *folders, *options)
    page = visit(viewport=PHONE)
    page.goto(server.address)
    wait_for_question(page)
    expect(page.locator(".progress-text")).to_have_text("0 of at most 120")
    expect(page.get_by_role("progressbar", name="Answers given")).to_have_attribute("aria-valuenow", "0")
    prefer_blue(page, 1)
    skip_through(page)
    page.keyboard.press("z")
    expect(page.locator(".progress-text")).to_have_text("0 of at most 120")
    skip(page)
    prefer_blue(page, 1)
    page.reload()
    skip_through(page)
    check_page(page, pictures, "arena-compare")
    assert not any(name in page.content() for name in COLORS)
    for count in range(2, 21):
        if page.get_by_role("heading", name="Result").is_visible():
            break
        prefer_blue(page, count)
    expect(page.get_by_text("The order is careful, hasty: ")).to_be_visible()
    expect(page.get_by_role("rowheader")).to_have_text(["careful", "hasty"])
    expect(page.get_by_text("arena report 'careful vs hasty' --database")).to_be_visible()
    check_page(page, pictures, "arena-result")
    page.get_by_role("button", name="Continue answering").click()
    skip_through(page)
    check_page(page, pictures, "arena-after-the-end")
    page.keyboard.press(KEYS["equal"])
    page.get_by_role("button", name="Result").click()
    expect(page.get_by_role("heading", name="Result")).to_be_visible()


def test_an_arena_of_success_labels(
    visit: Callable[..., Page], serve: Callable[..., Server], tmp_path: Path, pictures: Path
) -> None:
    folders = [str(record(tmp_path / name, color)) for name, color in COLORS.items()]
    options = ["--database", str(tmp_path / "arena.db"), "--confidence", "0.75", "--no-browser"]
    server = serve("arena", *folders, *options, "--answers", "success")
    page = visit(viewport=PHONE)
    page.goto(server.address)
    wait_for_question(page)
    check_page(page, pictures, "arena-success")
    assert not any(name in page.content() for name in COLORS)
    for count in range(1, 31):
        if page.get_by_role("heading", name="Result").is_visible():
            break
        prefer_blue(page, count)
    expect(page.get_by_text("careful succeeds in ")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Success, 90% interval")).to_be_visible()
    check_page(page, pictures, "arena-success-result")


def test_an_invited_judge_is_thanked_and_learns_nothing(
    visit: Callable[..., Page], serve: Callable[..., Server], tmp_path: Path, pictures: Path
) -> None:
    database = ["--database", str(tmp_path / "arena.db")]
    folders = [str(record(tmp_path / name, color)) for name, color in COLORS.items()]
    serve("arena", *folders, *database, "--questions", "2", "--no-browser").kill()
    (code,) = links(prefero("study", "invite", "careful vs hasty", *database))
    server = serve("study", "serve", "--workers", "0", *database)
    page = visit(viewport=PHONE)
    page.goto(f"{server.address}/#{code}")
    wait_for_question(page)
    for count in (1, 2):
        prefer_blue(page, count)
    expect(page.get_by_text("Your 2 answers are saved")).to_be_visible()
    assert not any(name in page.content() for name in COLORS)
    check_page(page, pictures, "arena-thanks")
