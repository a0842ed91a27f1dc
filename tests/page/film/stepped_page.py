"""A page whose time stands still until a script moves it on.

Without a graphics card a browser draws a few frames a second, and a film of it in real time would stutter.
Here the page's clock and its animations wait while a frame is drawn and captured, and then go on by exactly
one frame of the film. Only requests take real time: while the script waits for one, it captures nothing.
"""

import io
from collections.abc import Callable

from PIL.Image import Image
from PIL.Image import open as open_picture
from playwright.sync_api import Browser, Locator, Page

from page.drive_page import FULL_QUALITY, GRAPHICS_CARD
from waiting import wait_until

FPS = 25
FRAME = 1000 // FPS  # milliseconds
MOST = 6  # frames by which the page moves on at once: its players take no step of more than 0.25 seconds
ANIMATE = """(milliseconds) => {
    for (const one of document.getAnimations()) {
        const time = Number(one.currentTime ?? 0) + milliseconds;
        if (time < one.effect.getComputedTiming().endTime) one.currentTime = time;
        else one.finish();
    }
}"""


class SteppedPage:
    """Opens an address with `size` (width, height) in CSS pixels, of `ratio` pixels of a picture each.

    The page draws scenes as with a graphics card, with shadows; or without one, which takes half the time.
    """

    def __init__(
        self,
        browser: Browser,
        address: str,
        size: tuple[int, int],
        ratio: float,
        *,
        graphics_card: bool = True,
    ) -> None:
        self.width, self.height = size
        viewport = {"width": self.width, "height": self.height}
        self._context = browser.new_context(viewport=viewport, device_scale_factor=ratio)  # type: ignore[arg-type]
        self.page: Page = self._context.new_page()
        self.page.add_init_script((GRAPHICS_CARD if graphics_card else "") + FULL_QUALITY)
        session = self._context.new_cdp_session(self.page)
        session.send("Animation.enable")
        session.send("Animation.setPlaybackRate", {"playbackRate": 0})
        self.page.clock.install()
        self.page.goto(address)
        self.page.clock.pause_at(self.page.evaluate("Date.now() / 1000 + 1"))

    def step(self, frames: int = 1) -> None:
        """Move time on by this many frames of the film."""
        while frames > 0:
            milliseconds = FRAME * min(frames, MOST)
            self.page.clock.fast_forward(milliseconds)
            self.page.evaluate(ANIMATE, milliseconds)
            frames -= MOST

    def step_until(self, condition: Callable[[], bool], what: str) -> None:
        """Move time on until a condition holds, such as a response that is there."""

        def step() -> bool:
            self.step()
            return condition()

        wait_until(step, what)

    def wait_for(self, locator: Locator) -> None:
        """Move time on until the page shows one of these."""
        self.step_until(lambda: locator.count() > 0 and locator.first.is_visible(), str(locator))

    def picture(self) -> Image:
        """What the page shows. A JPEG, since to make a PNG takes twice as long."""
        return open_picture(io.BytesIO(self.page.screenshot(type="jpeg", quality=95))).convert("RGB")

    def close(self) -> None:
        self._context.close()
