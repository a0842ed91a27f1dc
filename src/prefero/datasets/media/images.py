"""Single images: PNG and JPEG files, inside tables or in folders, and arrays that are images."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Image
from prefero._support.names import no_such
from prefero._support.optional import need
from prefero.datasets.media.video_files import VideoError

NO_VIDEO = "none"  # instead of a camera's name
SMALLEST = 32  # pixels: a smaller array of bytes is a board or a map, not a camera's view
CHANNELS_LAST, CHANNELS_FIRST = (1, 3, 4), (1, 3)  # four in front are images one after the other
DAMAGE = (OSError, ValueError, SyntaxError, EOFError, OverflowError)  # what Pillow raises for damaged files


def choose_camera(cameras: Sequence[str], wanted: str | None) -> str | None:
    """The camera of this name, or whose name ends so; without one the first, if there is any."""
    if wanted is None:
        return cameras[0] if cameras else None
    if wanted == NO_VIDEO:
        return None
    fitting = [key for key in cameras if wanted == key] or [k for k in cameras if k.endswith(f".{wanted}")]
    if len(fitting) != 1:
        raise ValueError(f"{no_such('camera', wanted, cameras)}; {NO_VIDEO!r} shows no videos")
    return fitting[0]


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
