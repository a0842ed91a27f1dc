"""Takes the documentation's pictures of the page and of `prefero rank` anew.

A simulated user teaches golf, a study begins, a notebook is taught in, and episodes are ranked.

PYTHONPATH=tests:. python -m page.take_pictures docs/pictures
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.robots.bad_episodes import MISTAKES, SECONDS, demonstration, true_reward
from playwright.sync_api import Browser, Page, expect, sync_playwright

from page.conftest import ARGUMENTS, installed_browser
from page.drive_page import (
    FULL_QUALITY,
    GRAPHICS_CARD,
    SETTLED,
    skip_through,
    wait_for_answers,
    wait_frames,
    wait_until,
)
from page.run_jupyterlab import JupyterLab
from page.run_servers import Server
from page.test_pictures import CHARTS
from page.test_study import PROTOCOL, links, prefero
from prefero import Learner, Pool
from prefero._support.arrays import Array, Image
from prefero.rendering.video import save_video

ANSWERS = 16
COMPARING, LEARNED = {"width": 1280, "height": 700}, {"width": 1280, "height": 2250}
SESSIONS = {"width": 1280, "height": 900}
SIGNALS = {"width": 1280, "height": 800}
STUDY = {"width": 1280, "height": 890}
NOTEBOOK = {"width": 1300, "height": 900}
CELL = """\
import prefero

pool = prefero.Pool.simulate("driver", 60)
learner = prefero.Learner(pool)
learner.save("learner.json")
learner.widget(questions=20, until=0.9)"""


def likes(features: dict[str, float]) -> float:
    """A simulated user who wants shots of about 1.6 rad/s at about 10 degrees."""
    return -(((features["speed"] - 1.6) / 0.5) ** 2) - ((features["angle"] - 10) / 20) ** 2


def teach(server: Server, answers: int) -> None:
    for _ in range(answers):
        items = server.get("/api/session")["question"]["items"]
        left, right = (likes(server.get(f"/api/trajectories/{item}")["features"]) for item in items)
        server.answer("left" if left > right else "right")


def open_page(browser: Browser, address: str, viewport: dict[str, int]) -> Page:
    page = browser.new_page(viewport=viewport)  # type: ignore[arg-type]
    page.set_default_timeout(120_000)
    page.add_init_script(GRAPHICS_CARD + FULL_QUALITY)
    page.goto(address)
    return page


def pause_at_end(page: Page) -> None:
    skip_through(page)
    for key in ("l", " "):
        page.keyboard.press(key)
    wait_until(page, SETTLED)
    wait_frames(page, 5)


def teaching(browser: Browser, folder: Path, pictures: Path) -> None:
    stored = ["--trajectories", "200", "--no-browser", "--database", str(folder / "golf.db")]
    server = Server(["teach", "golf", *stored], folder).start()
    try:
        teach(server, ANSWERS)
        page = open_page(browser, server.address, COMPARING)
        wait_for_answers(page, ANSWERS)
        page.get_by_role("button", name="No hints").click()
        pause_at_end(page)
        page.screenshot(path=pictures / "teach-compare.png")
        page.set_viewport_size(LEARNED)  # type: ignore[arg-type]
        page.get_by_role("button", name="What it learned").click()
        wait_until(page, CHARTS)
        expect(page.get_by_text("Loading the motion…")).to_have_count(0, timeout=120_000)
        wait_frames(page, 30)
        whole = page.locator("section", has_text="How the reward depends on each feature").bounding_box()
        assert whole is not None  # what follows it would be cut
        shown = {"x": 0, "y": 0, "width": LEARNED["width"], "height": whole["y"] + whole["height"] + 10}
        page.screenshot(path=pictures / "teach-insight.png", clip=shown)  # type: ignore[arg-type]
        page.set_viewport_size(COMPARING)  # type: ignore[arg-type]
        page.get_by_role("button", name="Finish", exact=True).click()
        page.get_by_role("heading", name="Download").wait_for()
        wait_frames(page, 30)
        page.screenshot(path=pictures / "teach-finish.png", full_page=True)
    finally:
        server.kill()


def signals(browser: Browser, folder: Path, pictures: Path) -> None:
    """Charts below two drives, halfway."""
    stored = ["--trajectories", "200", "--no-browser", "--database", str(folder / "driver.db")]
    server = Server(["teach", "driver", *stored], folder).start()
    try:
        page = open_page(browser, server.address, SIGNALS)
        page.get_by_role("button", name="No hints").click()
        skip_through(page)
        page.keyboard.press(" ")
        page.keyboard.press("g")
        page.locator(".signal-chart").first.click(position={"x": 120, "y": 10})
        wait_until(page, SETTLED)
        wait_frames(page, 5)
        page.screenshot(path=pictures / "teach-signals.png")
    finally:
        server.kill()


def pool(browser: Browser, folder: Path, pictures: Path) -> None:
    """All drives by their reward, two of them chosen."""
    stored = ["--trajectories", "200", "--no-browser", "--database", str(folder / "pool.db")]
    server = Server(["teach", "driver", *stored], folder).start()
    try:
        server.answer("left", "right", "left", "left", "right", "left")
        page = open_page(browser, f"{server.address}/?view=pool", SIGNALS)
        page.get_by_label("Sort by").select_option("reward")
        page.locator(".pool-card:nth-child(5) .pool-facts", has_text="±").wait_for()
        wait_frames(page, 30)
        for place in (0, 2):
            page.locator(".pool-choose input").nth(place).check()
        page.get_by_role("button", name="Compare these").wait_for()
        wait_frames(page, 10)
        page.screenshot(path=pictures / "teach-pool.png")
    finally:
        server.kill()


def sessions(browser: Browser, folder: Path, pictures: Path) -> None:
    """The list of three sessions, and what a new one can be about."""
    database = ["--database", str(folder / "sessions.db"), "--no-browser", "--trajectories", "60"]
    for world, name, answers in (("tosser", "high tosses", 2), ("golf", "putting", 5), ("driver", "calm", 3)):
        server = Server(["teach", world, "--name", name, *database], folder).start()
        server.answer(*["left"] * answers)
        server.kill()
    server = Server(["teach", *database[:3]], folder).start()
    try:
        page = open_page(browser, server.address, SESSIONS)
        page.get_by_role("button", name="Open putting").wait_for()
        page.screenshot(path=pictures / "teach-sessions.png")
    finally:
        server.kill()


def scores(browser: Browser, folder: Path, pictures: Path) -> None:
    (folder / "protocol.toml").write_text(PROTOCOL, encoding="utf-8")
    database = ["--database", str(folder / "study.db")]
    about = ["--protocol", str(folder / "protocol.toml"), "--participants", "1"]
    participant = links(prefero("study", "create", "putting", *about, *database))[1]
    server = Server(["study", "serve", *database], folder).start()
    try:
        page = open_page(browser, f"{server.address}/#{participant}", STUDY)
        page.get_by_role("checkbox").check()
        for button in ("Continue", "I am ready"):
            page.get_by_role("button", name=button).click()
        for place in range(8):
            page.locator(".score-row").nth(place).get_by_role("radio", name=str(2 + place)).check()
        page.get_by_label("Where the targets are").locator("canvas").wait_for()
        wait_until(page, SETTLED)
        wait_frames(page, 5)
        page.screenshot(path=pictures / "study-scores.png")
    finally:
        server.kill()


def widget(browser: Browser, folder: Path, pictures: Path) -> None:
    lab = JupyterLab(folder)
    try:
        page = open_page(browser, lab.notebook("teaching", CELL), NOTEBOOK)
        lab.run_first_cell(page)
        page.get_by_text("Click here to answer with keys").click()
        for number in range(1, 7):
            skip_through(page)
            page.keyboard.press("f" if number % 3 else "j")
            wait_for_answers(page, number)
        pause_at_end(page)
        page.locator(".jp-Notebook").screenshot(path=pictures / "widget.png")
    finally:
        lab.stop()


REACHES = 30  # of which one has each fault of MISTAKES
ROBOT, TARGET, FLOOR = (30, 80, 160), (120, 200, 120), (234, 234, 234)


def frames(path: Array) -> list[Image]:
    """A point robot on its way to a ring."""
    y, x = np.mgrid[:90, :120]
    images = np.full((len(path), 90, 120, 3), FLOOR, dtype=np.uint8)
    images[:, np.abs(np.hypot(x - 103, y - 50) - 7) < 2] = TARGET
    for image, (along, beside) in zip(images, path, strict=True):
        image[np.hypot(x - 15 - 88 * along, y - 50 + 60 * beside) < 5] = ROBOT
    return list(images)


def worst_episodes(folder: Path, pictures: Path) -> None:
    rng, reaches = np.random.default_rng(0), folder / "reaches"
    paths = [demonstration(rng, MISTAKES[n] if n < len(MISTAKES) else "") for n in range(REACHES)]
    reaches.mkdir()
    lines = ["video,x,y,length,jerk,seconds"]
    for number, path in enumerate(paths):
        steps = np.diff(path, axis=0)
        jerk = np.sqrt(np.mean(np.diff(path, n=3, axis=0) ** 2))
        values = (*path[-1], np.linalg.norm(steps, axis=1).sum(), np.log(jerk), len(path) * SECONDS)
        lines.append(f"reach{number:02}.mp4," + ",".join(f"{value:.6g}" for value in values))
        save_video(reaches / f"reach{number:02}.mp4", frames(path), 1 / SECONDS)
    (reaches / "features.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    learner, worth = Learner(Pool.from_dataset(reaches)), true_reward(paths)
    for _ in range(ANSWERS):
        question = learner.ask()
        learner.tell(question, "left" if worth[question.left] > worth[question.right] else "right")
    learner.reward().save(folder / "reward.json")
    shown = ["--worst", "5", "--best", "2", "--picture", str(pictures / "worst-episodes.png")]
    print(prefero("rank", str(folder / "reward.json"), str(reaches), *shown))


def main(pictures: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="prefero-") as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=installed_browser(), args=ARGUMENTS)
        teaching(browser, folder, pictures)
        signals(browser, folder, pictures)
        sessions(browser, folder, pictures)
        pool(browser, folder, pictures)
        scores(browser, folder, pictures)
        widget(browser, folder, pictures)
        browser.close()
        worst_episodes(folder, pictures)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
