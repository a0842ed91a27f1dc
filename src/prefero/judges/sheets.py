"""What a judge sees of a trajectory: frames with their times, one sheet of them, or a table of features.

    frame    an image and the seconds since the trajectory began
    sheet    the frames of one trajectory in rows, each under its number and time, as the bytes of an image

Scenes are drawn with the paths that their parts have moved along; other frames are those of videos.
"""

import io
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import ceil, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from prefero._support.arrays import Image
from prefero._support.optional import need
from prefero._support.sentences import number
from prefero.datasets.media.clips import cut_planned_clip
from prefero.datasets.media.video_files import frame_rate, read_frames
from prefero.pools.pool import Pool
from prefero.rendering.canvas import canvas_for
from prefero.rendering.scenes import Window
from prefero.trajectories.categories import Variable
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds.base import RendersVideo, World

FRAMES = 8
AREA = 320 * 240  # pixels of a frame
NARROWEST, WIDEST = 0.6, 1.8  # the width of a frame, in its heights
SOLID = 1.5  # the same, of scenes in 3-D
SHEET = 1.6  # the width of a sheet that is aimed at, in its heights
EMPTY = 0.7  # how much worse a place without a frame is, as a factor of that shape, in logarithms
CAPTION, GAP, LETTERS = 22, 6, 15  # pixels
PAPER, INK = (255, 255, 255), (25, 25, 25)
VIDEO_RATE = 25.0  # frames a second that a world renders
MOST_KEPT = 64  # frames of a video that are in memory at the same time
KEPT = 16  # sheets
USUAL = (0.1, 0.9)  # quantiles of a feature that a table names


class Frame(NamedTuple):
    """What is seen at one time."""

    seconds: float
    image: Image


class Sheet(NamedTuple):
    """The frames of one trajectory in one image.

    content    the bytes of a file
    kind       "png", or "jpeg" for videos
    frames     how many there are
    seconds    the time of the last one
    size       width and height, in pixels
    """

    content: bytes
    kind: str
    frames: int
    seconds: float
    size: tuple[int, int]


class TrajectoryViews:
    """What can be seen of a pool's trajectories.

    Args:
        pool: The trajectories.
        trust: Cutting a clip may run the code that its plan names.
    """

    def __init__(self, pool: Pool, *, trust: bool = False) -> None:
        self.pool, self._trust = pool, trust
        self._world: World | None = None
        if pool.source is not None and pool.actions is not None:
            self._world = pool.world()
        self.sheet = lru_cache(KEPT)(self._sheet)

    @property
    def has_images(self) -> bool:
        """Whether there is more to see than features."""
        return self.is_drawn or self.pool.clips is not None or isinstance(self._world, RendersVideo)

    @property
    def is_drawn(self) -> bool:
        """Whether images are drawn from a scene; otherwise they are frames of a video."""
        return self._world is not None and bool(self._world.scene.parts)

    @property
    def explanation(self) -> str:
        """What a judge must know to read drawings: whose motion it is, and what lines and rings mean."""
        if self._world is None or not self.is_drawn:
            return ""
        whose = f" Judge the motion of {self._world.subject}." if self._world.subject else ""
        return (
            f"Lines are the paths so far, and a white ring marks what has come to rest or to its end.{whose}"
        )

    def frames(self, index: int, count: int = FRAMES) -> list[Frame]:
        """Frames at evenly spaced times from first to last; fewer if there are not so many."""
        self.pool.check_index(index)
        if self._world is None and self.pool.clips is not None:
            clip = cut_planned_clip(self.pool.clips[index], trust=self._trust)
            return _spread(read_frames(clip), frame_rate(clip), count)
        if self._world is None or not self.has_images:
            raise ValueError("these trajectories have features and nothing to see: there are no frames")
        trajectory = self.pool.trajectory(index)
        if self.is_drawn:
            return _drawn(self._world, trajectory, count)
        assert isinstance(self._world, RendersVideo)
        width, height = _size(SOLID)
        shown = self._world.render_video(trajectory.actions, VIDEO_RATE, width, height)
        return _spread(shown, 1.0 / self._world.time_step, count)

    def _sheet(self, index: int) -> Sheet:
        """All frames of a trajectory in one image."""
        frames = self.frames(index)
        if not frames:
            raise ValueError(f"trajectory {index} has a video without frames, so a judge would see nothing")
        kind = "png" if self.is_drawn else "jpeg"
        image = _on_one_sheet(frames)
        memory = io.BytesIO()
        image.save(memory, format=kind, **({"optimize": True} if self.is_drawn else {"quality": 88}))
        return Sheet(memory.getvalue(), kind, len(frames), frames[-1].seconds, image.size)

    def table(self, first: int, second: int) -> str:
        """The features of two trajectories, A and B, a line each, with what is usual in the pool."""
        variables = self.pool.scaling.variables
        if not variables:
            raise ValueError(
                "these trajectories have features of steps and no videos, so a judge would see nothing: use "
                "a dataset with videos"
            )
        known = () if self.pool.source is None else self.pool.world().features
        units = {feature.name: feature.unit for feature in known}
        lines = [self._line(one, units.get(one.name, ""), first, second) for one in variables]
        return "\n".join(["feature: A | B | usual", *lines])

    def _line(self, variable: Variable, unit: str, first: int, second: int) -> str:
        values = variable.values(self.pool.features)
        name = f"{variable.name} ({unit})" if unit else variable.name
        if variable.categories is not None:
            levels = variable.categories.levels
            a, b = (levels[int(values[one])] for one in (first, second))
            return f"{name}: {a} | {b} | one of {', '.join(levels)}"
        low, high = np.quantile(values, USUAL)
        spread = float(np.std(values)) or 1.0
        a, b, low, high = (
            number(float(one), spread / 10) for one in (values[first], values[second], low, high)
        )
        return f"{name}: {a} | {b} | {low} to {high}"


def _drawn(world: World, trajectory: Trajectory, count: int) -> list[Frame]:
    """The scene of a world, with the paths so far."""
    scene, poses = world.scene, trajectory.poses.astype(float)
    view = scene.view
    aspect = (view.right - view.left) / (view.top - view.bottom) if isinstance(view, Window) else SOLID
    canvas, arrival = canvas_for(scene, *_size(aspect), poses), scene.arrival(poses)
    places = np.unique(np.linspace(0, len(poses) - 1, count).round().astype(int)).tolist()
    return [
        Frame(place * scene.frame_time, canvas.render(poses[place], poses[: place + 1], place >= arrival))
        for place in places
    ]


def _spread(images: Iterable[Image], rate: float, count: int) -> list[Frame]:
    """So many of a video's images, evenly from first to last; few are in memory at the same time."""
    kept: list[Frame] = []
    step, last = 1, None
    for place, image in enumerate(images):
        last = Frame(place / rate, image)
        if place % step == 0:
            kept.append(last)
        if len(kept) > MOST_KEPT:
            kept, step = kept[::2], 2 * step
    if last is None:
        return []
    if kept[-1].seconds < last.seconds:
        kept.append(last)
    times = np.array([frame.seconds for frame in kept])
    wanted = np.linspace(0.0, last.seconds, count)
    return [kept[place] for place in np.unique(np.abs(times - wanted[:, None]).argmin(axis=1)).tolist()]


# --- sheets -----------------------------------------------------------------------------------------------


def _size(aspect: float) -> tuple[int, int]:
    """Width and height of a frame, in pixels."""
    height = sqrt(AREA / min(max(aspect, NARROWEST), WIDEST))
    return round(AREA / height), round(height)


def _on_one_sheet(frames: Sequence[Frame]) -> Any:
    """The frames in rows, each below its number and its time, as an image of Pillow."""
    images, draws, fonts = (
        need(f"PIL.{part}", extra="datasets") for part in ("Image", "ImageDraw", "ImageFont")
    )
    height, width = frames[0].image.shape[:2]
    width, height = _size(width / height)
    columns = _columns(len(frames), width, height)
    rows = ceil(len(frames) / columns)
    across, down = width + GAP, height + CAPTION + GAP
    sheet = images.new("RGB", (GAP + columns * across, GAP + rows * down), PAPER)
    draw, font = draws.Draw(sheet), fonts.load_default(LETTERS)
    for place, (seconds, image) in enumerate(frames):
        x, y = GAP + place % columns * across, GAP + place // columns * down
        draw.text((x + 2, y), f"{place + 1} of {len(frames)}: {seconds:.1f} s", fill=INK, font=font)
        shown = _fitted(images.fromarray(np.ascontiguousarray(image)), width, height)
        sheet.paste(shown, (x + (width - shown.width) // 2, y + CAPTION))
        draw.rectangle((x, y + CAPTION, x + width - 1, y + CAPTION + height - 1), outline=(190, 190, 190))
    return sheet


def _fitted(image: Any, width: int, height: int) -> Any:
    """The image as large as a frame can be, with its own shape."""
    scale = min(width / image.width, height / image.height)
    size = max(round(image.width * scale), 1), max(round(image.height * scale), 1)
    return image if size == image.size else image.resize(size)


def _columns(count: int, width: int, height: int) -> int:
    """In how many columns a sheet is nearest to its shape, with full rows if that is possible."""

    def cost(columns: int) -> float:
        rows = ceil(count / columns)
        empty = rows * columns - count
        shape = (columns * (width + GAP)) / (rows * (height + CAPTION + GAP))
        return abs(log(shape / SHEET)) + EMPTY * empty

    return min(range(1, count + 1), key=cost)
