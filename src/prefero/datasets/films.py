"""Films that others made: are they whole, do browsers play them, and what do they show.

Any film that FFmpeg reads will do, AV1 too. Frames are decoded one by one, from the key frame before the
first one that is wanted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prefero.extras import need
from prefero.video import Picture

PLAYED = {"h264": ("yuv420p", "yuvj420p")}  # codecs and pixels that every browser shows


class FilmError(ValueError):
    """A film is missing or damaged."""


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """The file and its first stream of pictures; what goes wrong while reading is a `FilmError`."""
    av = need("av", extra="datasets")
    if not path.is_file():
        raise FilmError(f"the film {path} is missing")
    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise FilmError(f"the film {path} is cut short, or holds no pictures")
            yield container, container.streams.video[0]
    except av.error.FFmpegError as error:
        raise FilmError(f"the film {path} is damaged or cut short: {error.strerror}") from error


def playable(path: Path) -> bool:
    """Do all browsers play it as it is?"""
    with _opened(path) as (_, stream):
        return stream.codec_context.pix_fmt in PLAYED.get(stream.codec_context.name, ())


def rate_of(path: Path) -> float:
    """Frames a second."""
    with _opened(path) as (_, stream):
        rate = stream.average_rate or stream.guessed_rate
        if not rate:
            raise FilmError(f"{path} does not say how many frames a second shows")
        return float(rate)


def whole_film(path: Path) -> None:
    """An error unless every frame that the film announces is there; nothing is decoded."""
    with _opened(path) as (container, stream):
        packets = [packet.is_corrupt for packet in container.demux(stream) if packet.size]
        if not packets or any(packets) or len(packets) < stream.frames:
            raise FilmError(
                f"the film {path} is cut short: it announces {stream.frames or 'some'} frames, and "
                f"{packets.count(False)} are there"
            )


def frames_of(path: Path, start: float = 0.0, end: float | None = None) -> Iterator[Picture]:
    """The pictures shown from `start` to before `end`, in seconds."""
    with _opened(path) as (container, stream):
        half = 0.5 / float(stream.average_rate or stream.guessed_rate or 1000)  # times are rounded
        if start > 0.0:
            container.seek(int(max(start - half, 0.0) / stream.time_base), stream=stream, backward=True)
        for frame in container.decode(stream):
            if end is not None and frame.time >= end - half:
                return
            if frame.time >= start - half:
                yield frame.to_ndarray(format="rgb24")
