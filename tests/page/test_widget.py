"""The widget in a real JupyterLab: scenes, clips and features; keys, buttons, and what the kernel learns.

`PREFERO_HEAVY=1 PREFERO_PICTURES=folder pytest tests/page/test_widget.py` keeps the screenshots.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from page.check_page import WIDE
from page.drive_page import Visit, answer, skip, skip_through, wait_for_answers
from page.run_jupyterlab import JupyterLab, run_cell
from prefero.rendering.video import save_video

pytestmark = pytest.mark.skipif(
    "PREFERO_HEAVY" not in os.environ, reason="JupyterLab takes a while: make heavy"
)

SCENE = """\
import prefero
pool = prefero.Pool.simulate("driver", 24, progress=False)
learner = prefero.Learner(pool)
learner.save("learner.json")
learner.widget(questions=3)"""
DARK = "() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
ANSWERS = "[answer.choice for answer in learner.answers]"
OTHERS = """\
from pathlib import Path
import numpy as np
import prefero
features = np.random.default_rng(0).normal(size=(6, 2))
clips = sorted(Path("clips").glob("*.mp4"))
learner = prefero.Learner(prefero.Pool(features, ["speed", "height"], clips={clips}))
learner.widget()"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterLab]:
    running = JupyterLab(tmp_path_factory.mktemp("notebooks"))
    yield running
    running.stop()


@pytest.fixture
def notebook(visit: Visit, lab: JupyterLab, browser_errors: list[str]) -> Callable[..., Page]:
    """Open a notebook with these cells, and run the first one."""

    def start(name: str, *cells: str) -> Page:
        page = visit(viewport=WIDE)
        page.goto(lab.notebook(name, *cells))
        lab.run_first_cell(page)
        browser_errors.clear()  # of JupyterLab itself, while it starts
        return page

    return start


def use_keys(page: Page) -> None:
    """Give the widget the focus, as its header asks for."""
    page.get_by_text("Click here to answer with keys").click()
    expect(page.get_by_text("Click here to answer with keys")).to_be_hidden()


def test_teaching_with_keys(notebook: Callable[..., Page], lab: JupyterLab, pictures: Path) -> None:
    page = notebook("scene", SCENE, ANSWERS)
    wait_for_answers(page, 0)
    expect(page.get_by_role("heading", name="Which motion of the blue car is better?")).to_be_visible()
    use_keys(page)
    page.screenshot(path=pictures / "widget-light.png")
    answer(page, "left", 1)
    answer(page, "equal", 2)
    skip(page)
    page.keyboard.press("z")  # the skip, and then the second answer
    expect(page.locator(".compare [aria-live=polite]")).to_contain_text("Your last answer was undone.")
    wait_for_answers(page, 2)
    page.keyboard.press("z")
    wait_for_answers(page, 1)
    for key in "ddxab":  # in a notebook, these delete, cut and add cells
        page.keyboard.press(key)
    answer(page, "right", 2)
    assert page.locator(".jp-CodeCell").count() == 2
    expect(run_cell(page, 1)).to_have_text("['left', 'right']")  # the learner of the kernel has learned
    told = json.loads((lab.folder / "learner.json").read_text(encoding="utf-8"))["told"]
    assert [row["choice"] for row in told] == ["left", "right"]

    use_keys(page)
    answer(page, "left", 3)
    expect(page.get_by_text("You have given all 3 planned answers.")).to_be_visible()
    page.get_by_role("button", name="Continue answering").click()
    answer(page, "left", 4)


def test_the_widget_has_the_theme_of_the_notebook(notebook: Callable[..., Page], pictures: Path) -> None:
    page = notebook("theme", SCENE)
    wait_for_answers(page, 0)
    ground = page.locator(".widget .header")
    expect(ground).to_have_css("background-color", "rgb(255, 255, 255)")
    page.evaluate(DARK)
    expect(ground).to_have_css("background-color", "rgb(26, 32, 41)")
    use_keys(page)
    skip_through(page)
    page.screenshot(path=pictures / "widget-dark.png")


def test_features_with_buttons(notebook: Callable[..., Page], pictures: Path) -> None:
    page = notebook("features", OTHERS.format(clips="None"), ANSWERS)
    wait_for_answers(page, 0)
    expect(page.locator(".feature-row")).to_have_count(2)
    page.get_by_role("button", name="B is better").click()
    wait_for_answers(page, 1)
    page.screenshot(path=pictures / "widget-features.png")
    expect(run_cell(page, 1)).to_have_text("['right']")


def test_clips_are_played(notebook: Callable[..., Page], lab: JupyterLab, pictures: Path) -> None:
    (lab.folder / "clips").mkdir()
    for number in range(6):
        frames = (np.full((96, 128, 3), 20 * number + 5 * step, dtype=np.uint8) for step in range(12))
        save_video(lab.folder / "clips" / f"{number}.mp4", frames, 10)
    page = notebook("clips", OTHERS.format(clips="clips"), ANSWERS)
    wait_for_answers(page, 0)
    expect(page.locator("video")).to_have_count(2)
    expect(page.get_by_role("button", name="A is better")).to_have_attribute("aria-disabled", "false")
    assert (
        page.locator("video").evaluate_all("(all) => all.map((one) => one.currentTime)")
        == [pytest.approx(1.2, abs=0.2)] * 2
    )
    page.screenshot(path=pictures / "widget-clips.png")
    page.locator(".clip-frame").first.click()  # which is an answer, and gives the widget the focus
    wait_for_answers(page, 1)
    answer(page, "left", 2)
    expect(run_cell(page, 1)).to_have_text("['left', 'left']")
