"""Drives the page as a person does, and waits for what the person would see. There are no fixed delays."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, Route, expect

from waiting import TIMEOUT

KEYS = {"left": "ArrowLeft", "right": "ArrowRight", "equal": "ArrowDown"}
MILLISECONDS = 1000 * TIMEOUT
Visit = Callable[..., Page]  # the fixture that opens a page

# Animations that end have ended; those that loop do not count.
SETTLED = """() => document.getAnimations().every(
    (one) => one.playState !== "running" || one.effect.getComputedTiming().endTime === Infinity
)"""
# Every player has played a part of its motion: nothing is blank any more, and it is not the first frame.
PLAYING = """() => [...document.querySelectorAll(".timeline-fill")].every((bar) => {
    const [, position] = /scaleX\\(([0-9.]+)\\)/.exec(bar.style.transform) ?? [];
    return Number(position ?? 0) > 0.2;
})"""
# Checked in the page after every frame. Playwright's wait_for_function needs eval, which the policy forbids.
UNTIL = """([argument, seconds]) => new Promise((resolve, reject) => {
    const condition = CONDITION;
    const late = performance.now() + 1000 * seconds;
    const check = () => {
        if (condition(argument)) resolve();
        else if (performance.now() > late) reject(new Error("waited too long"));
        else requestAnimationFrame(check);
    };
    check();
})"""
HALO_PIXELS = """(all) => all.map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) {
        count += data[i] === 0xff && data[i + 1] === 0xd8 && data[i + 2] === 0x4d;
    }
    return count;
})"""
LABEL_BOXES = """(all) => all.map((scene) => {
    const box = scene.getBoundingClientRect();
    const [x, y] = [(at) => (at - box.left) / box.width, (at) => (at - box.top) / box.height];
    return [...scene.querySelectorAll(".scene-label")]
        .filter((label) => getComputedStyle(label).visibility === "visible")
        .map((label) => label.getBoundingClientRect())
        .map(({ left, top, right, bottom }) => [x(left), y(top), x(right), y(bottom)]);
})"""
FRAMES = """(count) => new Promise((resolve) => {
    const next = (left) => left > 0 ? requestAnimationFrame(() => next(left - 1)) : resolve();
    next(count);
})"""


# The processor draws three-dimensional scenes, and the page takes it for a graphics card.
GRAPHICS_CARD = """
const named = WebGL2RenderingContext.prototype.getParameter;
WebGL2RenderingContext.prototype.getParameter = function (which) {
    return which === 0x9246 ? "a graphics card" : named.call(this, which); // UNMASKED_RENDERER_WEBGL
};
const made = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, options) {
    return made.call(this, kind, { ...options, failIfMajorPerformanceCaveat: false });
};
"""
# The processor draws slowly, and so the page would draw with lower quality, but not if it measures no time.
FULL_QUALITY = 'Object.defineProperty(document, "hidden", { get: () => true });'


class Connection:
    """The way of some requests of a page to the server, which a test can interrupt.

    It is made before the page is opened. The browser tells a page that is open already of a new route in a
    message of its own, which a key may overtake; the request of that key would then reach the server.
    """

    def __init__(self, page: Page, address: str) -> None:
        self.interrupted = False
        page.route(address, self._pass_on)

    def _pass_on(self, route: Route) -> None:
        if self.interrupted:
            route.abort()
        else:
            route.continue_()


def wait_until(page: Page, condition: str, argument: object = None) -> None:
    """Wait until a JavaScript function of the argument returns true."""
    page.evaluate(UNTIL.replace("CONDITION", condition), [argument, TIMEOUT])


def wait_frames(page: Page, count: int) -> None:
    """Wait until the page has drawn this many frames."""
    page.evaluate(FRAMES, count)


def wait_for_question(page: Page) -> None:
    """The items are there, and not the message that they are being prepared."""
    expect(page.get_by_role("button", name=re.compile("A is better|Pass"))).to_be_visible()
    expect(page.locator(".items-frame > :is(.fresh-even, .fresh-odd)")).to_be_visible()


def skip_through(page: Page) -> None:
    """See the items to their end, so that the page takes an answer."""
    wait_for_question(page)
    page.keyboard.press("l")
    wait_until_answerable(page)


def wait_until_answerable(page: Page) -> None:
    """The items are there, and in a study they were seen."""
    expect(page.locator(".items-frame")).to_have_attribute("aria-busy", "false")
    expect(page.locator(".waiting")).to_have_count(0)


def wait_for_answers(page: Page, done: int) -> None:
    """The progress shows this many answers, and the next question is there."""
    expect(page.locator(".progress-text")).to_have_text(re.compile(rf"^{done} "))
    wait_for_question(page)


def answer(page: Page, choice: str, done: int) -> None:
    """Press the key of a choice as soon as the items are there; it is the `done`th answer."""
    wait_for_question(page)
    wait_until_answerable(page)
    page.keyboard.press(KEYS[choice])
    wait_for_answers(page, done)


def skip(page: Page) -> None:
    """Press S, and wait for another question: only then the announcement changes."""
    page.keyboard.press("s")
    expect(page.locator(".compare [aria-live=polite]")).to_contain_text("You skipped a question.")
    wait_for_question(page)


def halo_pixels(canvases: Locator) -> list[int]:
    """How many pixels of each canvas have the color of the halo around the main part."""
    found: list[int] = canvases.evaluate_all(HALO_PIXELS)
    return found


def label_boxes(scenes: Locator) -> list[list[tuple[float, float, float, float]]]:
    """The visible labels of each scene: left, top, right and bottom, as fractions of the scene."""
    found: list[list[tuple[float, float, float, float]]] = scenes.evaluate_all(LABEL_BOXES)
    return found


def pixels(canvases: Locator) -> list[str]:
    """What canvases show."""
    found: list[str] = canvases.evaluate_all("(all) => all.map((canvas) => canvas.toDataURL())")
    return found


def wait_for_motion(canvases: Locator, before: list[str]) -> None:
    """Wait until every canvas shows something else."""
    condition = """([canvases, before]) => canvases.every((canvas, i) => canvas.toDataURL() !== before[i])"""
    wait_until(canvases.page, condition, [canvases.element_handles(), before])


def overflow(page: Page) -> int:
    """How many pixels the page can be scrolled sideways."""
    found: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return found
