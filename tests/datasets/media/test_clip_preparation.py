"""Clips are cut once, with progress, and say why they cannot be played."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from prefero.datasets.media import clip_preparation
from prefero.datasets.media.clip_preparation import ClipPreparation, UnplayableClip
from prefero.rendering.video import save_video
from waiting import wait_until

FRAMES = 4


class SlowCutter:
    """Stands for a dataset: it writes two frames, and the others once it may; or it fails."""

    def __init__(self) -> None:
        self.cut, self.may_go_on, self.failure = list[Path](), Event(), ""

    def __call__(self, path: Path, *, trust: bool) -> Path:
        del trust
        self.cut.append(path)
        if self.failure:
            raise ValueError(self.failure)
        save_video(path, self.frames(), 10)
        return path

    def frames(self) -> Iterator[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]:
        for number in range(FRAMES):
            if number == FRAMES // 2:
                assert self.may_go_on.wait(30)
            yield np.zeros((16, 16, 3), dtype=np.uint8)


@pytest.fixture
def cutter(monkeypatch: pytest.MonkeyPatch) -> SlowCutter:
    made = SlowCutter()
    monkeypatch.setattr(clip_preparation, "cut_planned_clip", made)
    monkeypatch.setattr(clip_preparation, "planned_frames", lambda _: FRAMES)
    return made


def test_a_clip_is_cut_once_and_shows_its_progress(cutter: SlowCutter, tmp_path: Path) -> None:
    clips, path = ClipPreparation(lambda _: None), tmp_path / "3.mp4"
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(clips.prepare, path) for _ in range(2)]
        wait_until(lambda: clips.status(path).frames == FRAMES // 2, "the first half of the frames")
        assert (clips.status(path).state, clips.status(path).total) == ("preparing", FRAMES)
        cutter.may_go_on.set()
        assert [one.result() for one in waiting] == [path, path]
    assert cutter.cut == [path]
    assert clips.status(path).state == "ready"


def test_who_waited_for_a_clip_gets_it_although_another_is_being_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page asks for the clips of a question, and then for those of the next one."""
    shown, following = tmp_path / "1.mp4", tmp_path / "2.mp4"
    may_end = {shown: Event(), following: Event()}

    def cut(path: Path, *, trust: bool) -> None:
        del trust
        assert may_end[path].wait(30)
        path.write_bytes(b"a video")

    monkeypatch.setattr(clip_preparation, "cut_planned_clip", cut)
    monkeypatch.setattr(clip_preparation, "AT_ONCE", 1)
    clips = ClipPreparation(lambda _: None)
    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(clips.prepare, shown)
        wait_until(lambda: shown in clips._making, "the first request")
        later = [threads.submit(clips.prepare, path) for path in (following, shown)]
        wait_until(lambda: len(clips._making) == 2, "the other clip")
        may_end[shown].set()
        assert [first.result(30), later[1].result(30)] == [shown, shown]
        assert not later[0].done()
        may_end[following].set()


def test_a_clip_that_cannot_be_cut_says_why_on_the_page_and_once_in_the_terminal(
    cutter: SlowCutter, tmp_path: Path
) -> None:
    told = list[str]()
    clips, path = ClipPreparation(told.append), tmp_path / "3.mp4"
    cutter.failure = "episode 3: played again, it differs from the recording at step 7"
    for _ in range(2):
        with pytest.raises(UnplayableClip, match=r"differs .*at step 7"):
            clips.prepare(path)
        assert (clips.status(path).state, clips.status(path).problem) == ("failed", cutter.failure)
    assert told == [f"A clip cannot be shown: {cutter.failure}"]
    cutter.failure = ""
    cutter.may_go_on.set()
    assert clips.prepare(path) == path  # it became possible
    assert clips.status(path).state == "ready"


def test_a_damaged_file_is_not_ready(tmp_path: Path) -> None:
    told, path = list[str](), tmp_path / "3.mp4"
    path.write_bytes(b"not a video")
    found = ClipPreparation(told.append).status(path)
    assert found.state == "failed"
    assert found.problem is not None
    assert "3.mp4 is damaged or cut short" in found.problem
    assert len(told) == 1
