"""Videos: MP4 files with H.264, which every browser and every player shows.

Frames go to the encoder one by one, so a video may be larger than memory. The file says how its colors are
coded, since players otherwise guess, and not alike.
"""

import os
import secrets
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.optional import need
from prefero._support.systems import replace_file

Picture = npt.NDArray[np.uint8]  # (height, width, 3)

COLORS = {"colorspace": 1, "color_primaries": 1, "color_trc": 1, "color_range": 1}  # BT.709, 16 to 235
ENCODER = {"crf": "20", "preset": "medium"}  # hardly to be told from the original
SLOWEST, FASTEST = 0.01, 1000  # frames a second


def save_video(path: Path, frames: Iterable[Picture], rate: float) -> None:
    """Write frames (height, width, 3) to an MP4 file that shows `rate` of them a second; all, or no file."""
    if path.suffix.lower() != ".mp4":
        raise ValueError(f"videos are saved as .mp4 files, but this one was to be {path.name!r}")
    if not SLOWEST <= rate <= FASTEST:
        raise ValueError(f"a video shows {SLOWEST} to {FASTEST} frames a second, but the rate is {rate}")
    av = need("av", extra="worlds")
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.mp4")
    try:
        temporary.touch()  # where the folder is missing, its error says so; the encoder's does not
        _encode(av, temporary, _even(frames), Fraction(rate).limit_denominator(1001))
        _to_disk(temporary)
        replace_file(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _even(frames: Iterable[Picture]) -> Iterator[Picture]:
    """The frames, checked, and with the last row or column doubled where the size is odd."""
    shape = None
    for number, frame in enumerate(frames):
        shape = shape or np.shape(frame)
        _check(frame, number, shape)
        yield np.pad(frame, ((0, shape[0] % 2), (0, shape[1] % 2), (0, 0)), mode="edge")
    if shape is None:
        raise ValueError("a video has one frame or more, but there were none")


def _check(frame: Any, number: int, shape: tuple[int, ...]) -> None:
    kind = getattr(frame, "dtype", type(frame).__name__)
    if kind != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3 or frame.size == 0:
        raise ValueError(
            "frames are arrays of bytes (uint8) with shape (height, width, 3), "
            f"but frame {number} is of {kind} with shape {np.shape(frame)}"
        )
    if frame.shape != shape:
        raise ValueError(
            f"all frames have one shape, but the first has {shape} and frame {number} has {frame.shape}"
        )


def _encode(av: Any, path: Path, frames: Iterator[Picture], rate: Fraction) -> None:
    with av.open(str(path.absolute()), "w", options={"movflags": "+faststart"}) as container:
        stream = _stream(container, rate)
        for number, frame in enumerate(frames):
            if number == 0:
                stream.height, stream.width, _ = frame.shape
            container.mux(stream.encode(_coded(av, frame, number, rate)))
        container.mux(stream.encode(None))  # what the encoder has held back


def _stream(container: Any, rate: Fraction) -> Any:
    stream = container.add_stream("libx264", rate=rate, options=ENCODER)
    stream.pix_fmt = "yuv420p"  # the only one that all browsers show
    for name, value in COLORS.items():
        setattr(stream.codec_context, name, value)
    return stream


def _coded(av: Any, frame: Picture, number: int, rate: Fraction) -> Any:
    """A frame as the encoder takes it: in the colors that the file declares, and with its time."""
    rgb = av.VideoFrame.from_ndarray(frame, format="rgb24")
    coded = rgb.reformat(format="yuv420p", dst_colorspace="ITU709", dst_color_range="MPEG")
    coded.pts, coded.time_base = number, 1 / rate
    return coded


def _to_disk(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
