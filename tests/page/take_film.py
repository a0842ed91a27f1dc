"""Takes the documentation's film of a minute anew: a simulated person teaches golf.

Writes film.mp4, its poster, and a short animation for the README, and says what it is doing.

PYTHONPATH=tests:. python -m page.take_film docs/pictures
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL.Image import Image, Resampling
from playwright.sync_api import sync_playwright

from page.conftest import ARGUMENTS, installed_browser
from page.film import story
from page.film.cards import WIDTH, Cards
from page.film.session import Session
from page.film.stepped_page import FPS
from page.film.story import Studio
from page.film.take import fade
from page.run_servers import Server
from prefero.rendering.video import save_video

ANSWERS = 16
POSTER = 140  # this frame of the questions
ANIMATION = (800, 450)  # the size of the animation
PAUSE = 80  # milliseconds between two of its frames
SCENES: tuple[tuple[Callable[[Studio], Iterator[Image]], int], ...] = (
    (story.title, 0),  # the animation has none of its frames,
    (story.questions, 6),  # and each sixth of these
    (story.learned, 8),
    (story.best_shot, 4),
    (story.last_card, 0),
)
# What the page and the cards are written in, if it is installed: people's systems have such a font, and
# small systems without a screen have none.
FONT = "Inter"
FONTS = "<fontconfig><include>/etc/fonts/fonts.conf</include>{}</fontconfig>".format(
    "".join(
        f'<match><test qual="any" name="family"><string>{name}</string></test>'
        f'<edit name="family" mode="prepend" binding="strong"><string>{FONT}</string></edit></match>'
        for name in ("system-ui", "sans", "sans-serif")
    )
)


@dataclass
class Animation:
    """Some frames of the film, for pages that show pictures and no films."""

    frames: list[Image] = field(default_factory=list)

    def keep(self, frames: Iterable[Image], every: int) -> Iterator[Image]:
        for number, frame in enumerate(frames):
            if every and number % every == 0:
                self.frames.append(frame.resize(ANIMATION, Resampling.LANCZOS))
            yield frame

    def save(self, path: Path) -> None:
        first, *others = self.frames
        first.save(path, save_all=True, append_images=others, duration=PAUSE, loop=0, quality=60, method=4)


def film(studio: Studio, animation: Animation, poster: Path) -> Iterator[Image]:
    """The scenes, each of which fades into the next."""
    last = None
    for scene, every in SCENES:
        print(f"filming {scene.__name__}", end=" ", flush=True)
        start, number = time.monotonic(), 0
        shown = scene(studio) if last is None else fade(last, scene(studio))
        for number, last in enumerate(animation.keep(shown, every), 1):
            if scene is story.questions and number == POSTER:
                last.save(poster, optimize=True)
            yield last
        taken = time.monotonic() - start
        print(f"{number / FPS:.1f} seconds, which took {taken:.0f}", flush=True)


def main(pictures: Path) -> None:
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="prefero-") as name, sync_playwright() as playwright:
        folder, animation = Path(name), Animation()
        (folder / "fonts.conf").write_text(FONTS, encoding="utf-8")
        fonts: dict[str, str | float | bool] = {**os.environ, "FONTCONFIG_FILE": str(folder / "fonts.conf")}
        browser = playwright.chromium.launch(executable_path=installed_browser(), args=ARGUMENTS, env=fonts)
        server = Server(["teach", "golf", "--no-browser", "--database", str(folder / "golf.db")], folder)
        try:
            studio = Studio(browser, Cards(browser, WIDTH), Session(server.start(), ANSWERS))
            frames = film(studio, animation, pictures / "film-poster.png")
            save_video(pictures / "film.mp4", map(np.asarray, frames), FPS)
        finally:
            server.kill()
            browser.close()
    animation.save(pictures / "film.webp")
    for file in sorted(pictures.glob("film*")):
        print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
