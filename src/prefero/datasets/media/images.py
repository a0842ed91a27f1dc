"""Single images: PNG and JPEG files, inside tables or in folders, and arrays that are images."""

import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Image
from prefero._support.names import no_such
from prefero._support.optional import need
from prefero.datasets.media.video_files import VideoError

NO_VIDEO, ALL_CAMERAS = "none", "all"  # instead of a camera's name
CAMERA_HELP = (
    "The cameras whose videos are shown when a person teaches: names separated by commas, all, or none. "
    "By default all; a table of features names the first."
)
MOST_CAMERAS = 4  # that are shown side by side, unless they are named
SMALLEST = 32  # pixels: a smaller array of bytes is a board or a map, not a camera's view
DARKER = 0.45  # of the brightness, behind words
WORDS_WIDTH, SMALLEST_LETTERS = 1.2, 10.0  # words fill two thirds of an image; pixels
CHANNELS_LAST, CHANNELS_FIRST = (1, 3, 4), (1, 3)  # four in front are images one after the other
DAMAGE = (OSError, ValueError, SyntaxError, EOFError, OverflowError)  # what Pillow raises for damaged files


def choose_cameras(
    cameras: Sequence[str], wanted: str | None, usual: Sequence[str] | None = None
) -> tuple[str, ...]:
    """The cameras of these names or ends of names, separated by commas; without names the first.

    ALL_CAMERAS are those that are `usual`, by default all, and NO_VIDEO is none.
    """
    if wanted is None:
        return tuple(cameras[:1])
    if wanted == NO_VIDEO:
        return ()
    if wanted == ALL_CAMERAS:
        return tuple((usual or cameras)[:MOST_CAMERAS])
    return tuple(dict.fromkeys(_camera_named(cameras, name.strip()) for name in wanted.split(",")))


def _camera_named(cameras: Sequence[str], wanted: str) -> str:
    fitting = [key for key in cameras if wanted == key] or [k for k in cameras if k.endswith(f".{wanted}")]
    if len(fitting) != 1:
        raise ValueError(
            f"{no_such('camera', wanted, cameras)}; {ALL_CAMERAS!r} shows them side by side, "
            f"{NO_VIDEO!r} shows no videos"
        )
    return fitting[0]


def joined_views(cameras: Sequence[Iterable[Image]]) -> Iterator[Image]:
    """What several cameras show at the same moments, in one image; the images of one as they are."""
    for images in zip(*cameras, strict=False):  # the last image of a video is easily lost
        yield images[0] if len(images) == 1 else side_by_side_images(images)


def side_by_side_images(images: Sequence[Image]) -> Image:
    """Two images beside each other, more of them in two columns; images of a row are equally tall."""
    rows = [_row(images[start : start + 2]) for start in range(0, len(images), 2)]
    width = max(row.shape[1] for row in rows)
    return np.concatenate([np.pad(row, ((0, 0), (0, width - row.shape[1]), (0, 0))) for row in rows])


def _row(images: Sequence[Image]) -> Image:
    height = max(image.shape[0] for image in images)
    return np.concatenate([_as_tall(image, height) for image in images], axis=1)


def _as_tall(image: Image, height: int) -> Image:
    if image.shape[0] == height:
        return image
    pillow = need("PIL.Image", extra="datasets")
    size = (round(image.shape[1] * height / image.shape[0]), height)
    return np.asarray(pillow.fromarray(image).resize(size))


def with_words(image: Image, words: str) -> Image:
    """The image, darker, with words in its middle."""
    images, draws, fonts = (
        need(f"PIL.{part}", extra="datasets") for part in ("Image", "ImageDraw", "ImageFont")
    )
    height, width = image.shape[:2]
    shown = images.fromarray((image * DARKER).astype(np.uint8))
    font = fonts.load_default(max(width * WORDS_WIDTH / max(len(words), 1), SMALLEST_LETTERS))
    draws.Draw(shown).text((width / 2, height / 2), words, fill=(255, 255, 255), anchor="mm", font=font)
    return np.asarray(shown)


def decode_image(content: bytes | Path, name: str) -> Image:
    """The image in a file, or in the bytes of one; `name` is for errors."""
    images = need("PIL.Image", extra="datasets")
    if isinstance(content, Path) and not content.is_file():
        raise VideoError(f"{name} is missing")
    try:
        with images.open(content if isinstance(content, Path) else io.BytesIO(content)) as image:
            return _gray(np.asarray(image)) if image.mode[0] in "IF" else np.asarray(image.convert("RGB"))
    except DAMAGE as error:
        reason = str(error).split(" <")[0]  # without the address of Pillow's object
        raise VideoError(f"{name} is damaged or cut short: {reason}") from error


def _gray(depths: npt.NDArray[Any]) -> Image:
    """Values that no screen shows as they are, such as millimetres: from black to white."""
    largest = float(np.max(depths, initial=0)) or 1.0
    return np.repeat((np.clip(depths / largest, 0, 1) * 255).astype(np.uint8)[:, :, None], 3, axis=2)


def is_image(shape: Sequence[int], dtype: Any) -> bool:
    """Are arrays of this shape a camera's view: bytes, with the color channels first or last, or gray?"""
    if dtype != np.uint8 or len(shape) not in (2, 3):
        return False
    sides = shape if len(shape) == 2 else shape[:2] if shape[-1] in CHANNELS_LAST else shape[1:]
    has_channels = len(shape) == 2 or shape[-1] in CHANNELS_LAST or shape[0] in CHANNELS_FIRST
    return min(sides) >= SMALLEST and has_channels


def as_image(array: npt.NDArray[Any]) -> Image:
    """An array that is an image, with the color channels last: (height, width, 3)."""
    if array.ndim == 2:
        array = array[:, :, None]
    elif array.shape[-1] not in CHANNELS_LAST:
        array = array.transpose(1, 2, 0)
    return np.repeat(array, 3, axis=2) if array.shape[-1] == 1 else np.ascontiguousarray(array[:, :, :3])
