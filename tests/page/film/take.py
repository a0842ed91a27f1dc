"""Films a page: its frames with the camera's view, a caption below, the pressed key and the pointer."""

from collections.abc import Iterator

from PIL.Image import Image, Resampling, blend, new
from playwright.sync_api import Locator

from page.film.camera import View, box_of, ease, whole
from page.film.cards import HEIGHT, STRIP, WIDTH, Cards
from page.film.stepped_page import SteppedPage

APPEARING = 6  # frames in which a caption appears
FADE = 10  # frames from one scene to the next, before its first caption
KEY = 14  # frames for which a pressed key is shown,
DOWN = 5  # and is down
POINTING = 16  # frames in which the pointer goes to what it clicks
KEY_PLACES = {"←": 60, "→": WIDTH - 60 - 64}  # on the side of the answer, in CSS pixels of the film


class Take:
    """A page before the camera. Each generator yields the frames that it films."""

    def __init__(self, stepped: SteppedPage, cards: Cards) -> None:
        self.stepped, self.page, self._cards = stepped, stepped.page, cards
        self.view = whole(stepped)
        self._caption, self._said = "", 0  # and for how many frames
        self._key, self._left = "", 0  # and for how many more frames
        self._pointer: tuple[float, float] | None = None

    def say(self, caption: str) -> None:
        if caption != self._caption:
            self._caption, self._said = caption, 0 if self._caption else -FADE

    def roll(self, frames: int, *, speed: int = 1, to: View | None = None) -> Iterator[Image]:
        """Film while the page plays, `speed` times as fast, and the camera moves to a view."""
        start = self.view
        for number in range(1, frames + 1):
            self.view = start.towards(to or start, ease(number / frames))
            self.stepped.step(speed)
            yield self._frame(self.stepped.picture())

    def scroll(self, frames: int, pixels: float) -> Iterator[Image]:
        """Film while the page scrolls down."""
        done = 0
        for number in range(1, frames + 1):
            due = round(pixels * ease(number / frames))
            self.page.evaluate("(pixels) => window.scrollBy(0, pixels)", due - done)
            done = due
            yield from self.roll(1)

    def hold(self, frames: int) -> Iterator[Image]:
        """Show a page on which nothing moves; only the caption may change."""
        self.stepped.step()
        picture = self.stepped.picture()
        for _ in range(frames):
            yield self._frame(picture)

    def press(self, key: str, sign: str) -> None:
        """Press a key, and show its sign in the next frames."""
        self.page.keyboard.press(key)
        self._key, self._left = sign, KEY

    def click(self, locator: Locator) -> Iterator[Image]:
        """Move the pointer to a part of the page, and click."""
        box = box_of(locator)
        x, y = self._pointer or (0.6 * self.stepped.width, 0.7 * self.stepped.height)
        end = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for number in range(1, POINTING + 1):
            part = ease(number / POINTING)
            self._pointer = x + part * (end[0] - x), y + part * (end[1] - y)
            self.page.mouse.move(*self._pointer)
            yield from self.roll(1)
        self.page.mouse.click(*end)

    def _frame(self, picture: Image) -> Image:
        scale = self._cards.scale
        film = new("RGB", (round(scale * WIDTH), round(scale * HEIGHT)))
        room = (film.width, film.height - round(scale * STRIP))
        box = self.view.box(picture.width / self.stepped.width)
        film.paste(picture.resize(room, Resampling.LANCZOS, box=box))
        film.paste(self._strip(), (0, room[1]))
        if self._pointer:
            x, y = self.view.place(*self._pointer)
            film.paste(arrow := self._cards.pointer(), (round(x * room[0]), round(y * room[1])), arrow)
        return film

    def _strip(self) -> Image:
        """The caption, and the key."""
        self._said += 1
        clear = min(max(self._said / APPEARING, 0), 1)
        strip = blend(self._cards.caption(""), self._cards.caption(self._caption), clear)
        if self._left > 0:
            self._add_key(strip)
            self._left -= 1
        return strip

    def _add_key(self, strip: Image) -> None:
        """It is down for a moment, and then fades."""
        key, scale = self._cards.key(self._key), self._cards.scale
        strength = min(self._left / (KEY - DOWN), 1)
        place = KEY_PLACES[self._key], 11 if self._left > KEY - DOWN else 8
        faded = key.getchannel("A").point(lambda alpha: alpha * strength)
        strip.paste(key, (round(scale * place[0]), round(scale * place[1])), faded)


def fade(start: Image, frames: Iterator[Image], count: int = FADE) -> Iterator[Image]:
    """Go from a picture to the frames that follow, in the first of these."""
    for number, frame in enumerate(frames, 1):
        yield blend(start, frame, ease(number / count)) if number < count else frame
