"""Videos: MP4 files in H.264, which every browser and every player shows.

Frames go to the encoder one by one, so that a video may be larger than memory. The file declares its color
space, since players otherwise guess it, and not all guess the same.
"""

import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np

from prefero._support.arrays import Image
from prefero._support.optional import need
from prefero._support.systems import replace_file

COLOR_SPACE = {"colorspace": 1, "color_primaries": 1, "color_trc": 1, "color_range": 1}  # BT.709, 16 to 235
QUALITY = "20"  # x264's crf: visually close to lossless
Preset = Literal["medium", "veryfast", "ultrafast"]
MIN_FPS, MAX_FPS = 0.01, 1000
_on_frame: ContextVar[Callable[[], None]] = ContextVar("_on_frame", default=lambda: None)


@contextmanager
def counting_frames(on_frame: Callable[[], None]) -> Iterator[None]:
    """Call `on_frame` after each frame that is encoded in this thread, to show the progress.

    Not an argument of `save_video`: between it and who waits are datasets, whose formats need not know of it.
    """
    token = _on_frame.set(on_frame)
    try:
        yield
    finally:
        _on_frame.reset(token)


def save_video(path: Path, frames: Iterable[Image], fps: float, *, preset: Preset = "medium") -> None:
    """Write an MP4 file, whole or not at all.

    Args:
        path: The file.
        frames: Images (height, width, 3) of 8 bits.
        fps: Frames per second.
        preset: x264's; "veryfast" takes half the time, for somebody who waits; "ultrafast" a sixth, in a
            file two or three times as large.
    """
    if path.suffix.lower() != ".mp4":
        raise ValueError(f"videos are saved as .mp4 files, but this one was to be {path.name!r}")
    if not MIN_FPS <= fps <= MAX_FPS:
        raise ValueError(f"a video has {MIN_FPS} to {MAX_FPS} frames per second, but fps is {fps}")
    av = need("av", extra="worlds")
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.mp4")
    try:
        temporary.touch()  # a missing folder is named in this error, but not in the encoder's
        _encode(av, temporary, _even_sized(frames), Fraction(fps).limit_denominator(1001), preset)
        _flush_to_disk(temporary)
        replace_file(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _even_sized(frames: Iterable[Image]) -> Iterator[Image]:
    """The frames, checked, with the last row or column repeated where the size is odd."""
    shape = None
    for number, frame in enumerate(frames):
        shape = shape or np.shape(frame)
        _check(frame, number, shape)
        odd = shape[0] % 2, shape[1] % 2
        yield np.pad(frame, ((0, odd[0]), (0, odd[1]), (0, 0)), mode="edge") if any(odd) else frame
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


def _encode(av: Any, path: Path, frames: Iterator[Image], fps: Fraction, preset: Preset) -> None:
    converter = av.video.reformatter.VideoReformatter()  # one for all frames: to make one takes time
    with av.open(str(path.absolute()), "w", options={"movflags": "+faststart"}) as container:
        stream = _add_stream(container, fps, {"crf": QUALITY, "preset": preset})
        for number, frame in enumerate(frames):
            if number == 0:
                stream.height, stream.width, _ = frame.shape
            container.mux(stream.encode(_to_yuv(av, converter, frame, number, fps)))
            _on_frame.get()()
        container.mux(stream.encode(None))  # flush the encoder


def _add_stream(container: Any, fps: Fraction, options: dict[str, str]) -> Any:
    stream = container.add_stream("libx264", rate=fps, options=options)
    stream.pix_fmt = "yuv420p"  # the only one that all browsers show
    for name, value in COLOR_SPACE.items():
        setattr(stream.codec_context, name, value)
    return stream


def _to_yuv(av: Any, converter: Any, frame: Image, number: int, fps: Fraction) -> Any:
    """A frame for the encoder: in the color space that the file declares, with its time stamp."""
    rgb = av.VideoFrame.from_ndarray(frame, format="rgb24")
    yuv = converter.reformat(rgb, format="yuv420p", dst_colorspace="ITU709", dst_color_range="MPEG")
    yuv.pts, yuv.time_base = number, 1 / fps
    return yuv


def _flush_to_disk(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
