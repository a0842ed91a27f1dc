"""Features of what moves in the video of an episode: where it is, how fast, in which direction, how turned.

    moving-objects(3)    at most three objects, told apart by color, and the camera where it moves

    mean X               of each track: places, speeds, directions and tilts of objects, and the camera
    final X              of places
    turning of object    the mean change of its tilt, a second
    mean square X        of places, around their means over the examples
    min X, max X         of places

The colors of the objects, and what is behind them, are found in examples: the medians of all places where the
camera stands still, else a few common colors. Features are listed in this order and thinned like
`statistics`. Nothing is downloaded or trained by gradients; the same videos give the same features.

    tracks    (T, 7 K + 2)   see `object_tracks`
    kept      (C,)           1 for each feature that is kept, else 0
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from prefero._support.arrays import Array
from prefero._support.progress_bar import progress
from prefero._support.sentences import pluralize
from prefero.datasets.base import array_digest
from prefero.datasets.episode import BadEpisode, Episode, VideoSpan
from prefero.datasets.features.embeddings.fitted import UNFITTING, FittedEmbedding, check_examples
from prefero.datasets.features.embeddings.object_tracks import (
    PARTS,
    SIDE,
    Scenery,
    camera_moves,
    changes,
    palette,
    shifts,
    square_distances,
    track_names,
    tracks_of,
)
from prefero.datasets.features.embeddings.statistics import each_of, thinned
from prefero.datasets.features.library.library import NamedValues
from prefero.datasets.media.video_files import VideoError, frame_rate, kept_arrays, read_frames

OBJECTS = 3  # where their number is not given
FRAMES = 120  # of a video, at most
LOOKED_AT = 64  # examples that objects are found in
BEHIND, SAMPLES = 4, 12_000  # colors behind objects where the camera moves; sampled places
CHANGED = 0.1  # distance of colors from which on a place has changed
METHOD = "moving objects 2"  # of the numbers in the cache


@dataclass(frozen=True, eq=False)
class MovingObjects(FittedEmbedding):
    """Statistics of tracks.

    colors    (K, 3)             of the objects
    behind    (SIDE * SIDE, 3)   what is behind them, in steps of 1/255, place by place
              (BEHIND, 3)        where the camera moves
    center    (7 K + 2,)         the means of the tracks over the examples
    kept      (C,)
    """

    colors: Array
    behind: Array
    center: Array
    kept: Array

    @classmethod
    def fit(cls, examples: Sequence[Episode], count: int = OBJECTS) -> Self:
        """Find at most so many objects in the videos of the examples, and thin their features."""
        check_examples(examples)
        chosen = np.unique(np.linspace(0, len(examples) - 1, LOOKED_AT).round().astype(int)).tolist()
        some = [examples[place] for place in chosen]
        with progress("finding what moves", 2 * len(some)) as advance:
            videos = []
            for one in some:
                videos.append(_frames_or_bad(one))
                advance(1)
            usable = [found for found in videos if not isinstance(found, BadEpisode)]
            if len(usable) < 2:
                raise next(found for found in videos if isinstance(found, BadEpisode))
            scenery = find_scenery(usable, count)
            bare = cls(scenery.colors, scenery.behind, np.zeros(0), np.zeros(0))
            tracks = []
            for one, found in zip(some, videos, strict=True):
                if not isinstance(found, BadEpisode):
                    tracks.append(bare.tracks(one))
                advance(1)
        center = np.concatenate([found for found, _ in tracks]).mean(axis=0)
        rows = [list(candidates(found, seconds, center).values()) for found, seconds in tracks]
        return cls(scenery.colors, scenery.behind, center, thinned(np.array(rows))[2])

    def check(self, episode: Episode) -> None:
        """An error unless it has a video."""
        _video(episode)

    def features(self, episode: Episode) -> NamedValues:
        """Those that are kept."""
        found = candidates(*self.tracks(episode), self.center)
        return {n: v for (n, v), kept in zip(found.items(), self.kept.tolist(), strict=True) if kept}

    def tracks(self, episode: Episode) -> tuple[Array, float]:
        """The tracks of an episode and the seconds between two of their rows; computed once for a video."""
        video = _video(episode)
        about = f"{METHOD} {video.start} {video.end} {array_digest(self.colors)} {array_digest(self.behind)}"
        try:
            known = kept_arrays(video.path, about, partial(self._tracked, episode))
        except VideoError as error:
            raise BadEpisode(episode.id, str(error)) from error
        return known["tracks"].astype(float), float(known["seconds"])

    def _tracked(self, episode: Episode) -> dict[str, Any]:
        frames, seconds = frames_of(episode)
        return {"tracks": tracks_of(frames / 255.0, self.scenery, seconds), "seconds": np.array(seconds)}

    @property
    def scenery(self) -> Scenery:
        """What is looked for in the frames."""
        return Scenery(self.colors, self.behind, len(self.behind) == BEHIND)

    def shapes(self, count: int) -> dict[str, tuple[int, ...]]:
        """By the number of objects."""
        if not 0 < len(self.colors) <= count or len(self.behind) not in (BEHIND, SIDE * SIDE):
            raise ValueError(UNFITTING)
        tracks = len(track_names(len(self.colors)))
        kept = len(candidates(np.zeros((1, tracks)), 1.0, np.zeros(tracks)))
        return {
            "colors": (len(self.colors), 3),
            "behind": (len(self.behind), 3),
            "center": (tracks,),
            "kept": (kept,),
        }


def candidates(tracks: Array, seconds: float, center: Array) -> dict[str, float]:
    """All features of tracks, in their order."""
    objects = tracks.shape[1] // len(PARTS)
    names = track_names(objects)
    place = [column for column, name in enumerate(names) if name[:2] in ("x ", "y ", "ca")]
    places, of_places = [names[column] for column in place], tracks[:, place]
    tilts = tracks[:, :-2].reshape(len(tracks), objects, len(PARTS))[..., -2:]
    steps = np.linalg.norm(np.diff(tilts, axis=0), axis=-1).sum(axis=0)
    turning = steps / max(len(tracks) - 1, 1) / seconds
    return {
        **each_of("mean", names, tracks.mean(axis=0)),
        **each_of("final", places, of_places[-1]),
        **each_of("turning of object", [str(n + 1) for n in range(objects)], turning),
        **each_of("mean square", places, np.mean((of_places - center[place]) ** 2, axis=0)),
        **each_of("min", places, of_places.min(axis=0)),
        **each_of("max", places, of_places.max(axis=0)),
    }


# --- frames -----------------------------------------------------------------------------------------------


def frames_of(episode: Episode) -> tuple[Any, float]:
    """The frames of its video, at most FRAMES evenly spaced ones, of 8 bits, and the seconds between two."""
    video = _video(episode)
    try:
        rate = frame_rate(video.path)
        every, frames = 1, []
        for number, frame in enumerate(read_frames(video.path, video.start, video.end, rate, SIDE)):
            if number % every == 0:
                frames.append(frame)
            if len(frames) > FRAMES:  # so that no video, however long, fills the memory
                frames, every = frames[::2], 2 * every
    except VideoError as error:
        raise BadEpisode(episode.id, str(error)) from error
    if len(frames) < 2:
        raise BadEpisode(
            episode.id,
            f"its video has {pluralize(len(frames), 'frame')}, and what moves is seen in two or more",
        )
    return np.stack(frames), every / rate


def _frames_or_bad(example: Episode) -> Any:
    """Its frames, or what is wrong with it: a bad example is left out, and extraction says which are bad."""
    try:
        return frames_of(example)[0]
    except BadEpisode as error:
        return error


def _video(episode: Episode) -> VideoSpan:
    if episode.video is None:
        raise ValueError(
            f"episode {episode.id} has no video file in which objects could move: use features of states and "
            "actions, such as statistics"
        )
    return episode.video


def find_scenery(videos: Sequence[Any], count: int) -> Scenery:
    """The colors of what moves in videos of 8 bits, and what is behind it."""
    few = [frames / 255.0 for frames in videos[:: max(len(videos) // 8, 1)]]
    moves = camera_moves(few)
    behind = common_colors(videos) if moves else median_places(videos)
    colors, change = [], []
    for frames in (frames / 255.0 for frames in videos):
        shift = shifts(frames) if moves else np.zeros((len(frames), 2))
        changed = changes(frames, shift)
        seen = changed > CHANGED
        if moves:
            far = np.sqrt(square_distances(frames[seen], behind).min(axis=-1))
        else:
            far = np.linalg.norm(frames - behind.reshape(SIDE, SIDE, 3), axis=-1)[seen]
        each = max(1, len(far) // (SAMPLES // len(videos)))
        colors.append(frames[seen][::each])
        change.append(far[::each])
    found, weight = np.concatenate(colors), np.concatenate(change) ** 3
    if not weight.any():
        raise ValueError(
            "nothing moves in the videos of the examples: use other features, such as statistics"
        )
    return Scenery(palette(found, weight, min(count, len(np.unique(found, axis=0)))), behind, moves)


def median_places(videos: Sequence[Any]) -> Array:
    """The median color of each place, (SIDE * SIDE, 3)."""
    some = [frames[:: max(1, len(frames) // 6)] for frames in videos]
    median: Array = np.round(np.median(np.concatenate(some), axis=0)).reshape(-1, 3) / 255.0
    return median


def common_colors(videos: Sequence[Any]) -> Array:
    """A few colors that most places have, (BEHIND, 3)."""
    places = np.concatenate([frames[::10, ::5, ::5].reshape(-1, 3) for frames in videos])
    colors = places[:: max(1, len(places) // SAMPLES)] / 255.0
    return palette(colors, np.ones(len(colors)), BEHIND)
