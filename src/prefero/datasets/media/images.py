"""Pictures one by one: PNG and JPEG files, inside tables or in folders, and arrays that are pictures."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Image
from prefero._support.optional import need
from prefero.datasets.media.video_files import VideoError

NO_VIDEO = "none"  # instead of a camera
LEAST = 32  # pixels: what is smaller is no view, but a board or a map
LAST, FIRST = (1, 3, 4), (1, 3)  # so many colors; four in front are pictures one after the other
BROKEN = (OSError, ValueError, SyntaxError, EOFError, OverflowError)  # what Pillow calls damage


def choose_camera(cameras: Sequence[str], wanted: str | None) -> str | None:
    """The camera that was named, by its whole name or its end; or the first, or none."""
    if wanted is None:
        return cameras[0] if cameras else None
    if wanted == NO_VIDEO:
        return None
    fitting = [key for key in cameras if wanted == key] or [k for k in cameras if k.endswith(f".{wanted}")]
    if len(fitting) != 1:
        raise ValueError(
            f"there is no camera {wanted!r}: the cameras are {', '.join(cameras) or 'none'}; "
            f"{NO_VIDEO!r} does without films"
        )
    return fitting[0]


def decode_image(content: bytes | Path, name: str) -> Image:
    """A picture in a file, or in the bytes of one; `name` is for errors."""
    images = need("PIL.Image", extra="datasets")
    if isinstance(content, Path) and not content.is_file():
        raise VideoError(f"{name} is missing")
    try:
        with images.open(content if isinstance(content, Path) else io.BytesIO(content)) as image:
            return _grey(np.asarray(image)) if image.mode[0] in "IF" else np.asarray(image.convert("RGB"))
    except BROKEN as error:
        why = str(error).split(" <")[0]  # and not which object of Python's it is
        raise VideoError(f"{name} is damaged or cut short: {why}") from error


def _grey(depths: npt.NDArray[Any]) -> Image:
    """What no screen shows as it is, such as millimetres: from black to white."""
    largest = float(np.max(depths, initial=0)) or 1.0
    return np.repeat((np.clip(depths / largest, 0, 1) * 255).astype(np.uint8)[:, :, None], 3, axis=2)


def is_image(shape: Sequence[int], dtype: Any) -> bool:
    """Are arrays of this shape views: bytes, with the colors first or last, or grey?"""
    if dtype != np.uint8 or len(shape) not in (2, 3):
        return False
    sides = shape if len(shape) == 2 else shape[:2] if shape[-1] in LAST else shape[1:]
    return min(sides) >= LEAST and (len(shape) == 2 or shape[-1] in LAST or shape[0] in FIRST)


def as_image(array: npt.NDArray[Any]) -> Image:
    """An array that is a picture, with the colors last: (height, width, 3)."""
    if array.ndim == 2:
        array = array[:, :, None]
    elif array.shape[-1] not in LAST:
        array = array.transpose(1, 2, 0)
    return np.repeat(array, 3, axis=2) if array.shape[-1] == 1 else np.ascontiguousarray(array[:, :, :3])
