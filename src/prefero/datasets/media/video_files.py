"""Video files of any kind: are they complete, do browsers play them, and which frames do they show.

Any video that FFmpeg reads will do, AV1 too. Frames are decoded one by one, from the key frame before the
first one that is wanted. Times are seconds since the video's first frame, also if the file gives another time
to that frame.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy.typing as npt

from prefero._support.arrays import Image
from prefero._support.files import ArchiveError, cache_folder, read_archive, write_archive
from prefero._support.optional import need

SUFFIXES = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".gif")  # of the videos in a folder
LFS_POINTER = b"version https://git-lfs"
PLAYED = {"h264": ("yuv420p", "yuvj420p")}  # codecs and pixel formats that every browser plays, in MP4
UNTAGGED = {"movflags": "+faststart", "fflags": "+bitexact"}  # without the muxer's own name and version
MESSAGES = {"h264": "6", "hevc": "39|40", "av1": "5"}  # types of units in which encoders say something

Arrays = dict[str, npt.NDArray[Any]]


class VideoError(ValueError):
    """A video is missing or damaged."""


def damage_message(path: Path, error: BaseException) -> str:
    """Why a file that exists cannot be read, in one line."""
    with suppress(OSError), path.open("rb") as file:
        if file.read(len(LFS_POINTER)) == LFS_POINTER:
            return f"{path} is only a Git LFS pointer: `git lfs pull` fetches the file itself"
    reason = str(getattr(error, "strerror", None) or error).strip() or type(error).__name__
    return f"{path} is damaged or cut short: {reason.splitlines()[0]}"


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """The file and its first video stream; what goes wrong while reading is a `VideoError`."""
    av = need("av", extra="datasets")
    if not path.is_file():
        raise VideoError(f"the video {path} is missing")
    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise VideoError(f"the video {path} is cut short, or has no video stream")
            yield container, container.streams.video[0]
    except av.error.FFmpegError as error:
        raise VideoError(f"the video {damage_message(path, error)}") from error


def kept_arrays(video: Path, kind: str, compute: Callable[[], Arrays]) -> Arrays:
    """What is computed of a video, once for the file as it is now: from Prefero's cache if it is there."""
    try:
        about = video.stat()
    except OSError as error:
        raise VideoError(f"the video {video} is missing") from error
    key = f"{video.resolve()} {about.st_size} {about.st_mtime_ns} {kind}"
    kept = cache_folder() / "videos" / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.npz"
    try:
        return read_archive(kept)[1]
    except (ArchiveError, OSError):
        pass
    found = compute()
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_archive(kept, {}, found)
    return found


def videos_in(folder: Path) -> tuple[Path, ...]:
    """The videos in a folder, in order."""
    found = (path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    return tuple(sorted(path for path in found if not path.name.startswith(".")))


def plays_in_browsers(path: Path) -> bool:
    """Do all browsers play it as it is?"""
    with _opened(path) as (container, stream):
        if path.suffix.lower() != ".mp4" or "mp4" not in container.format.name.split(","):
            return False
        return stream.codec_context.pix_fmt in PLAYED.get(stream.codec_context.name, ())


def frame_rate(path: Path) -> float:
    """Frames a second."""
    with _opened(path) as (_, stream):
        rate = stream.average_rate or stream.guessed_rate
        if not rate:
            raise VideoError(f"{path} does not say its frame rate")
        return float(rate)


def copy_without_tags(path: Path, copy: BinaryIO) -> None:
    """Write the frames of a video, as they are encoded, into an MP4 file that says nothing else.

    Left out are titles, comments, times, names of handlers and encoders, sound, and messages between frames.
    """
    av, bitstream = need("av", extra="datasets"), need("av.bitstream", extra="datasets")
    with _opened(path) as (source, stream), av.open(copy, "w", format="mp4", options=UNTAGGED) as target:
        units = MESSAGES.get(stream.codec_context.name)
        frames = "null" if units is None else f"filter_units=remove_types={units}"
        written = target.add_stream_from_template(stream)
        kept = bitstream.BitStreamFilterContext(frames, stream, written)
        for packet in source.demux(stream):
            for frame in kept.filter(packet if packet.size else None):
                frame.stream = written
                target.mux(frame)


def check_complete(path: Path) -> None:
    """An error unless every frame that the video announces is there; nothing is decoded."""
    with _opened(path) as (container, stream):
        packets = [packet.is_corrupt for packet in container.demux(stream) if packet.size]
        if not packets or any(packets) or len(packets) < stream.frames:
            raise VideoError(
                f"the video {path} is cut short: it announces {stream.frames or 'some'} frames, and "
                f"{packets.count(False)} are there"
            )


def check_span(path: Path, start: float, end: float, rate: float) -> None:
    """An error unless the video goes from `start` to `end`, give or take one frame; little of it is read."""
    last = 0.0
    with _opened(path) as (container, stream):
        zero, half = _zero(stream), 0.5 / rate
        wanted = max(end - 4 * half, start, 0.0) - half  # the last frame but one; times are rounded
        container.seek(int((zero + max(wanted, 0.0)) / stream.time_base), stream=stream)
        for packet in container.demux(stream):
            if packet.size and not packet.is_corrupt and packet.pts is not None:
                last = max(last, float(packet.pts * stream.time_base) - zero)
                if last >= wanted:
                    return
    raise VideoError(f"the video {path} should last until {end:.2f} s, but ends after {last:.2f} s")


def read_frames(
    path: Path,
    start: float = 0.0,
    end: float | None = None,
    rate: float | None = None,
    side: int | None = None,
) -> Iterator[Image]:
    """The frames from `start` to before `end`; `rate` is the frame rate, if that is known better.

    With `side` each is averaged to so many cells in both directions.
    """
    with _opened(path) as (container, stream):
        zero, everything = _zero(stream), start <= 0.0 and end is None
        half = 0.5 / float(rate or stream.average_rate or stream.guessed_rate or 1000)  # times are rounded
        if start > 0.0:
            container.seek(int((zero + max(start - half, 0.0)) / stream.time_base), stream=stream)
        for frame in container.decode(stream):
            time = _time(frame, path, zero) if not everything else 0.0
            if end is not None and time >= end - half:
                return
            if time >= start - half:
                yield _array(frame, side)


def middle_frame(path: Path) -> Image:
    """The frame that is shown in the middle of a video, or the last one before it."""
    found = None
    with _opened(path) as (container, stream):
        middle = (stream.start_time or 0) + (stream.duration or 0) // 2
        container.seek(middle, stream=stream)  # to the key frame before it
        for frame in container.decode(stream):
            if found is not None and (frame.pts is None or frame.pts > middle):
                break
            found = frame
    if found is None:
        raise VideoError(f"the video {path} is cut short: it has no frames")
    return _array(found, None)


def _array(frame: Any, side: int | None) -> Image:
    size = {} if side is None else {"width": side, "height": side, "interpolation": "AREA"}
    array: Image = frame.to_ndarray(format="rgb24", **size)
    return array


def _zero(stream: Any) -> float:
    """The time that a file gives its first frame."""
    return float((stream.start_time or 0) * stream.time_base)


def _time(frame: Any, path: Path, zero: float) -> float:
    if frame.time is None:
        raise VideoError(f"the video {path} does not give the times of its frames")
    return float(frame.time) - zero
