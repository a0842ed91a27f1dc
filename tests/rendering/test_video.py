"""Videos are checked by decoding them; a file is written whole or not at all."""

import gc
import re
import struct
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from prefero._support.arrays import Image
from prefero._support.optional import MissingExtra
from prefero.rendering.video import save_video

COLORS = np.array([[200, 40, 90], [20, 180, 60], [30, 60, 220], [255, 255, 255], [0, 0, 0], [250, 220, 20]])


def plain(count: int, height: int = 48, width: int = 64) -> Iterator[Image]:
    """Every frame has one color on its left, and the next one on its right."""
    for number in range(count):
        frame = np.empty((height, width, 3), dtype=np.uint8)
        frame[:, : width // 2] = COLORS[number % len(COLORS)]
        frame[:, width // 2 :] = COLORS[(number + 1) % len(COLORS)]
        yield frame


def decoded(path: Path) -> list[Any]:
    with av.open(path) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def test_a_video_is_h264_that_browsers_show(tmp_path: Path) -> None:
    save_video(tmp_path / "video.mp4", plain(12), fps=25)
    with av.open(tmp_path / "video.mp4") as container:
        (stream,) = container.streams
        assert isinstance(stream, av.VideoStream)
        assert stream.codec_context.name == "h264"
        assert stream.pix_fmt == "yuv420p"
        assert stream.colorspace == 1  # BT.709
        assert (stream.width, stream.height) == (64, 48)
        assert stream.frames == 12
        times = [frame.time for frame in container.decode(stream)]
    np.testing.assert_allclose(times, np.arange(12) / 25)


@pytest.mark.parametrize(("fps", "wanted"), [(20, 20), (12.5, 12.5), (29.97, 30000 / 1001), (0.5, 0.5)])
def test_a_video_runs_at_its_frame_rate(tmp_path: Path, fps: float, wanted: float) -> None:
    save_video(tmp_path / "video.mp4", plain(5), fps)
    with av.open(tmp_path / "video.mp4") as container:
        stream = container.streams.video[0]
        assert stream.average_rate is not None
        assert float(stream.average_rate) == pytest.approx(wanted, rel=1e-4)


def test_colors_and_their_order_survive(tmp_path: Path) -> None:
    save_video(tmp_path / "video.mp4", plain(9), fps=10)
    frames = decoded(tmp_path / "video.mp4")
    assert len(frames) == 9
    for frame, wanted in zip(frames, plain(9), strict=True):
        for columns in (slice(4, 24), slice(40, 60)):  # away from the edge, where colors mix
            np.testing.assert_allclose(frame[4:44, columns].astype(int), wanted[4:44, columns], atol=12)


@pytest.mark.parametrize("shape", [(47, 64), (48, 63), (47, 63), (1, 1)])
def test_odd_sizes_grow_by_a_pixel(tmp_path: Path, shape: tuple[int, int]) -> None:
    save_video(tmp_path / "video.mp4", (np.full((*shape, 3), 200, dtype=np.uint8) for _ in range(3)), fps=10)
    height, width = shape
    for frame in decoded(tmp_path / "video.mp4"):
        assert frame.shape == (height + height % 2, width + width % 2, 3)
        assert np.abs(frame.astype(int) - 200).max() < 8  # the border is no black line


def test_a_video_can_start_before_it_is_loaded(tmp_path: Path) -> None:
    save_video(tmp_path / "video.mp4", plain(30), fps=10)
    content, names, place = (tmp_path / "video.mp4").read_bytes(), [], 0
    while place < len(content):
        size, name = struct.unpack(">I4s", content[place : place + 8])
        names.append(name)
        place += size
    assert place == len(content)
    assert names.index(b"moov") < names.index(b"mdat")


def test_frames_are_taken_one_by_one_and_not_kept(tmp_path: Path) -> None:
    alive: list[weakref.ref[Image]] = []
    most = 0

    def frames() -> Iterator[Image]:
        nonlocal most
        for number in range(60):
            frame = np.full((32, 32, 3), number, dtype=np.uint8)
            alive.append(weakref.ref(frame))
            assert not (tmp_path / "video.mp4").exists()
            yield frame
            gc.collect(0)
            most = max(most, sum(known() is not None for known in alive))

    save_video(tmp_path / "video.mp4", frames(), fps=30)
    assert len(decoded(tmp_path / "video.mp4")) == 60
    assert most <= 3


# --- whole or not at all ----------------------------------------------------------------------------------


def broken() -> Iterator[Image]:
    yield from plain(5)
    raise KeyboardInterrupt


def growing() -> Iterator[Image]:
    yield from plain(2)
    yield from plain(1, height=50)


@pytest.mark.parametrize("old", [b"", b"an older video"])
def test_a_failure_leaves_things_as_they_were(tmp_path: Path, old: bytes) -> None:
    if old:
        (tmp_path / "video.mp4").write_bytes(old)
    with pytest.raises(KeyboardInterrupt):
        save_video(tmp_path / "video.mp4", broken(), fps=10)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == (
        {"video.mp4": old} if old else {}
    )


def test_a_new_video_replaces_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "video.mp4").write_bytes(b"an older video")
    save_video(tmp_path / "video.mp4", plain(3), fps=10)
    assert len(decoded(tmp_path / "video.mp4")) == 3
    assert [file.name for file in tmp_path.iterdir()] == ["video.mp4"]


@pytest.mark.parametrize(
    ("frames", "complaint"),
    [
        ([], "one frame or more"),
        ([np.zeros((4, 4, 3))], "frame 0 is of float64 with shape (4, 4, 3)"),
        ([np.zeros((4, 4), dtype=np.uint8)], "frame 0 is of uint8 with shape (4, 4)"),
        ([np.zeros((4, 4, 4), dtype=np.uint8)], "frame 0 is of uint8 with shape (4, 4, 4)"),
        ([np.zeros((0, 4, 3), dtype=np.uint8)], "frame 0 is of uint8 with shape (0, 4, 3)"),
        ([[1, 2, 3]], "frame 0 is of list"),
        (growing(), "the first has (48, 64, 3) and frame 2 has (50, 64, 3)"),
    ],
    ids=["none", "reals", "grey", "alpha", "empty", "list", "growing"],
)
def test_what_is_no_video_is_refused(tmp_path: Path, frames: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        save_video(tmp_path / "video.mp4", frames, fps=10)
    assert list(tmp_path.iterdir()) == []


def test_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=re.escape("saved as .mp4 files, but this one was to be 'video.gif'")
    ):
        save_video(tmp_path / "video.gif", plain(3), fps=10)


@pytest.mark.parametrize("fps", [0, -5, float("inf"), float("nan")])
def test_an_impossible_frame_rate_is_refused(tmp_path: Path, fps: float) -> None:
    with pytest.raises(ValueError, match="frames per second"):
        save_video(tmp_path / "video.mp4", plain(3), fps)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        save_video(tmp_path / "nowhere" / "video.mp4", plain(3), fps=10)


def test_without_av_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[worlds\]"):
        save_video(tmp_path / "video.mp4", plain(3), fps=10)
    assert list(tmp_path.iterdir()) == []
