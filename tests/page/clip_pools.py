"""Pools of video clips."""

from pathlib import Path

import numpy as np

from prefero import Pool
from prefero.rendering.video import save_video


def clip_pool(folder: Path, damaged: int | None = None) -> str:
    """Four wide clips; one of them may be cut short."""
    clips = [folder / f"{n}.mp4" for n in range(4)]
    for number, clip in enumerate(clips):
        frames = (np.full((64, 96, 3), 60 * number + t, dtype=np.uint8) for t in range(20))
        save_video(clip, frames, 20.0)
    if damaged is not None:
        clips[damaged].write_bytes(clips[damaged].read_bytes()[:400])
    Pool([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 1.0]], clips=clips).save(folder / "mine.npz")
    return str(folder / "mine.npz")
