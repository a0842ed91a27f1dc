"""A folder of videos without a table: features are extracted of what the frames show.

A video is an episode with a step for each frame, and no actions. Its states are numbers that describe the
frames; see `prefero.datasets.media.frame_states`. They are kept in Prefero's cache, since decoding takes
time.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Image
from prefero.datasets.base import EpisodeDataset, check_whole, playable_path
from prefero.datasets.episode import BadEpisode, Episode, StepRange, VideoSpan
from prefero.datasets.media.frame_states import Kind, frame_states, state_names
from prefero.datasets.media.video_files import (
    VideoError,
    check_complete,
    frame_rate,
    kept_arrays,
    read_frames,
)

COMPONENTS = 8  # principal components, of half as many videos at most


class VideoEpisodes(EpisodeDataset):
    """Videos, one episode each; `kind` is that of the states."""

    batch_size, reading = 4, "looking at the videos of"

    def __init__(self, name: str, videos: tuple[Path, ...], kind: Kind, *, has_video: bool = True) -> None:
        self.name, self.videos, self.kind, self.has_video = name, videos, kind, has_video
        self.ids = tuple(video.name for video in videos)
        self.files = videos

    @property
    def default_features(self) -> tuple[str, ...]:  # type: ignore[override]  # it depends on how many there are
        """Principal components: they carried most about unknown rewards (docs/results/features.md)."""
        return (f"pca({max(min(COMPONENTS, len(self) // 2), 1)})",)

    def version_parts(self) -> list[Any]:
        """Which states they have, and which files."""
        return [self.kind, list(self.ids)]

    def episode(self, number: int) -> Episode:
        """The states of every frame of a video."""
        self.check_number(number)
        video = self.videos[number]
        try:
            known = kept_arrays(video, self.kind, partial(self._measured, video))
        except VideoError as error:
            raise BadEpisode(self.ids[number], str(error)) from error
        states, rate = known["states"].astype(float), float(known["rate"])
        actions = np.zeros((len(states), 0))
        names = state_names(self.kind)
        return Episode(self.ids[number], states, actions, None, 1 / rate, names, video=VideoSpan(video))

    def _measured(self, video: Path) -> dict[str, Any]:
        check_complete(video)
        states, rate = frame_states(video, self.kind)
        return {"states": states.astype(np.float32), "rate": np.array(rate)}

    # --- videos -------------------------------------------------------------------------------------------

    def check_video(self, number: int) -> None:
        """`BadEpisode` unless every frame of the video is there."""
        check_whole(self.videos[number], self.ids[number])

    def clip_path(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The video itself if all of it is shown and browsers play it, otherwise a copy in `folder`."""
        if steps is not None:
            return super().clip_path(number, folder, steps)
        return playable_path(self.videos[number], number, folder, self.ids[number])

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """The frames of a video or of a segment of it."""
        video = self.videos[number]
        rate = frame_rate(video)
        start, end = (0.0, None) if steps is None else (steps[0] / rate, steps[1] / rate)
        return read_frames(video, start, end, rate), rate
