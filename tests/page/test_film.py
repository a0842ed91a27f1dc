"""The film: two seconds taken in a real browser, and the files in the documentation."""

from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image, ImageSequence
from playwright.sync_api import Browser

from page.film.camera import around
from page.film.cards import Cards
from page.film.stepped_page import FPS, SteppedPage
from page.film.story import ASKED
from page.film.take import Take, fade
from page.run_servers import Teach
from page.take_film import ANIMATION
from prefero._support.arrays import Array
from prefero.rendering.video import save_video

PICTURES = Path(__file__).resolve().parent.parent.parent / "docs" / "pictures"
SMALL = 320  # the width of a film for a test


def decoded(path: Path) -> list[Array]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="gray").astype(float) for frame in container.decode(video=0)]


def test_two_seconds_of_a_page_are_filmed(browser: Browser, teach: Teach, tmp_path: Path) -> None:
    """In the page's own time: a motion that is filmed for a second has gone on by a second."""
    stepped = SteppedPage(browser, teach().address, (640, 320), 1.0)
    take = Take(stepped, Cards(browser, SMALL))
    items = stepped.page.locator(ASKED)
    stepped.wait_for(items)
    take.say("Which one is better?")
    start = stepped.page.evaluate("performance.now()")
    close = take.roll(FPS, to=around(stepped, items))
    frames = fade(Image.new("RGB", (SMALL, SMALL * 9 // 16)), chain(take.roll(FPS), close), 5)
    save_video(tmp_path / "film.mp4", map(np.asarray, frames), FPS)
    assert stepped.page.evaluate("performance.now()") - start == 2000
    stepped.close()
    shown = decoded(tmp_path / "film.mp4")
    assert [picture.shape for picture in shown] == [(180, 320)] * 2 * FPS
    page = [picture[:160] for picture in shown]  # without the caption
    changes = [np.abs(after - before).mean() for before, after in pairwise(page)]
    assert min(changes[FPS + 3 : -3]) > 0.05  # the camera moves
    assert page[FPS].std() > 10  # it is not blank
    assert shown[-1][160:].std() > 10  # nor is the caption


def test_the_film_of_the_documentation_can_be_played_in_a_browser() -> None:
    times, contrasts = [], []
    with av.open(str(PICTURES / "film.mp4")) as container:
        (stream,) = container.streams
        codec: Any = stream.codec_context
        assert (codec.name, codec.pix_fmt, codec.width, codec.height) == ("h264", "yuv420p", 1280, 720)
        for number, frame in enumerate(container.decode(video=0)):
            times.append(frame.time)
            if number % FPS == FPS - 1:
                contrasts.append(frame.to_ndarray(format="gray").std())
    assert 45 <= len(times) / FPS <= 60
    assert np.allclose(np.diff(times), 1 / FPS)
    assert min(contrasts) > 5  # no picture is blank
    film = (PICTURES / "film.mp4").read_bytes()
    assert len(film) < 4e6
    assert film.index(b"moov") < film.index(b"mdat")  # it plays before all of it is there


def test_the_animation_and_the_poster() -> None:
    milliseconds = 0
    with Image.open(PICTURES / "film.webp") as animation:
        assert (animation.size, animation.info["loop"]) == (ANIMATION, 0)
        for frame in ImageSequence.Iterator(animation):
            frame.load()
            milliseconds += frame.info["duration"]
    assert 12_000 <= milliseconds <= 15_000
    assert (PICTURES / "film.webp").stat().st_size < 2.5e6
    with Image.open(PICTURES / "film-poster.png") as poster:
        assert poster.size == (1280, 720)
