"""Recordings of questions for the Rerun viewer (.rrd): all trajectories side by side, on one timeline.

    left/video       the clip, and which of its frames is shown when
    left/reward      mean - std, mean and mean + std of the learned reward
    left/states      and `left/actions`, `left/features`: one column each
    right/...        the same of the other trajectory; of more than two, `option_1`, `option_2` and so on

The timeline is `time`, in seconds since a trajectory began. The file holds the blueprint, the layout with
which the viewer opens.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.files import write_atomically
from prefero._support.optional import need
from prefero.datasets import Dataset
from prefero.deploy.recording.trajectories import RecordedTrajectory, Series, TrajectoryReader
from prefero.pools.pool import Pool
from prefero.questions.question import Question
from prefero.rewards.reward import Reward

SUFFIX, TIMELINE = ".rrd", "time"
SIDES = {1: ("clip",), 2: ("left", "right")}  # names of the trajectories, by how many there are
COLORS = (  # of the trajectories' rewards; and of columns of numbers, the same on all sides
    *((79, 163, 209), (232, 132, 60), (99, 181, 107), (192, 111, 196)),
    *((214, 69, 80), (150, 120, 80), (120, 130, 220), (180, 170, 50)),
)
MEAN_WIDTH, EDGE_WIDTH, EDGE_OPACITY = 2.5, 1.0, 150
UNTIMED = 1.0  # seconds for which a level is drawn if nothing says how long the trajectory is
ROWS = {"clips": 4.0, "reward": 3.0, "numbers": 3.0}  # of the layout, and their heights
TITLES = {"states": "states", "actions": "actions", "features": "features (std from the mean)"}


def record_question(
    reward: Reward,
    trajectories: Pool | Dataset,
    question: Question | Sequence[int],
    path: str | Path,
    *,
    trust: bool = False,
) -> None:
    """Write a question as a recording for the Rerun viewer; it needs the extra `rerun`.

    The recording has the clips of the question's trajectories side by side; below them their rewards with a
    band of one standard deviation to both sides, and their states, actions and features, all over time. For a
    reward that was taught with `steps`, the rewards are those of the steps; for another one, those of the
    beginnings of the episode up to each step. Where steps are not known, they are those of the trajectories.

    Args:
        reward: The reward.
        trajectories: A dataset, or a pool of a world.
        question: The trajectories, by their numbers in the dataset or the pool.
        path: The file (.rrd).
        trust: Import the functions that the reward's file names.

    Raises:
        MissingExtra: If `rerun-sdk` is not installed.
        ValueError: If the reward is of other features, or a trajectory cannot be read.
    """
    place = Path(path)
    check_recording(place)
    rr = need("rerun", extra="rerun")
    items = question.items if isinstance(question, Question) else Question(*question).items
    found = TrajectoryReader(reward, trust).read(trajectories, items)
    names = SIDES.get(len(found), tuple(f"option_{n}" for n in range(1, len(found) + 1)))
    write_atomically(place, _recording(rr, dict(zip(names, found, strict=True))))


def check_recording(path: Path) -> None:
    """An error, before any work is done, if a recording cannot have this path."""
    if path.suffix.lower() != SUFFIX:
        raise ValueError(f"a recording is saved as {SUFFIX}, but the path is {path}")


def _recording(rr: Any, sides: Mapping[str, RecordedTrajectory]) -> bytes:
    """The content of the file."""
    stream = rr.RecordingStream("prefero")
    memory = stream.memory_recording()
    stream.send_recording_name(" or ".join(one.id for one in sides.values()))
    ends = [
        _send_side(rr, stream, side, one, color)
        for (side, one), color in zip(sides.items(), _colors(sides), strict=True)
    ]
    stream.send_blueprint(_blueprint(rr, sides, max(ends)))
    content: bytes = memory.drain_as_bytes()
    return content


def _send_side(
    rr: Any, stream: Any, side: str, one: RecordedTrajectory, color: tuple[int, int, int]
) -> float:
    """All that is recorded of a trajectory; when it ends, in seconds."""
    times = _send_video(rr, stream, f"{side}/video", one)
    moments = [times, one.seconds, *(series.seconds for series in one.series.values())]
    end = max(float(some[-1]) for some in moments if len(some)) or UNTIMED
    _send(rr, stream, f"{side}/reward", _band(side, one), end, **_band_style(color))
    for what, series in one.series.items():
        if series.values.size:
            _send(rr, stream, f"{side}/{what}", series, end, colors=_colors(series.names))
    return end


def _colors(names: Collection[str]) -> list[tuple[int, int, int]]:
    return [COLORS[n % len(COLORS)] for n in range(len(names))]


def _send_video(rr: Any, stream: Any, entity: str, one: RecordedTrajectory) -> Array:
    """The video and its frames; their times in seconds."""
    if one.video is None:
        return np.zeros(0)
    video = rr.AssetVideo(contents=one.video, media_type="video/mp4")
    try:
        frames = video.read_frame_timestamps_nanos()
    except RuntimeError as error:
        raise ValueError(f"the clip of {one.id} is no MP4 file that Rerun shows: {error}") from error
    stream.log(entity, video, static=True, strict=True)
    seconds: Array = frames * 1e-9
    columns = rr.VideoFrameReference.columns_nanos(frames)
    stream.send_columns(entity, [rr.TimeColumn(TIMELINE, duration=seconds)], columns, strict=True)
    return seconds


def _band(side: str, one: RecordedTrajectory) -> Series:
    """The reward with one standard deviation to both sides."""
    values = np.stack([one.mean - one.std, one.mean, one.mean + one.std], axis=1)
    return Series((f"{side} mean - std", f"{side} mean", f"{side} mean + std"), one.seconds, values)


def _band_style(color: tuple[int, int, int]) -> dict[str, Any]:
    edge = (*color, EDGE_OPACITY)
    return {"colors": [edge, (*color, 255), edge], "widths": [EDGE_WIDTH, MEAN_WIDTH, EDGE_WIDTH]}


def _send(rr: Any, stream: Any, entity: str, series: Series, end: float, **style: Any) -> None:
    """Numbers over time; a level goes from the beginning to the end."""
    names, seconds, values = series
    if len(seconds) == 1:
        seconds, values = np.array([seconds[0], end]), np.repeat(values, 2, axis=0)
    stream.log(entity, rr.SeriesLines(names=names, **style), static=True, strict=True)
    columns = rr.Scalars.columns(scalars=values.ravel()).partition([len(names)] * len(values))
    stream.send_columns(entity, [rr.TimeColumn(TIMELINE, duration=seconds)], columns, strict=True)


# --- the layout -------------------------------------------------------------------------------------------


def _blueprint(rr: Any, sides: Mapping[str, RecordedTrajectory], end: float) -> Any:
    rrb = need("rerun.blueprint", extra="rerun")
    seconds = [rr.TimeRangeBoundary.absolute(seconds=bound) for bound in (0.0, end)]
    axis = rrb.TimeAxis(view_range=rr.TimeRange(*seconds))  # the same in all views
    rows = {
        "clips": [
            rrb.Spatial2DView(origin=f"/{side}/video", name=f"{side}: {one.id}")
            for side, one in sides.items()
            if one.video is not None
        ],
        "reward": [_reward_view(rrb, sides, axis)],
        "numbers": [_tabs(rrb, side, one, axis) for side, one in sides.items()],
    }
    shown = {name: views for name, views in rows.items() if views}
    layout = rrb.Vertical(
        *(rrb.Horizontal(*views) for views in shown.values()), row_shares=[ROWS[name] for name in shown]
    )
    time = rrb.TimePanel(timeline=TIMELINE, state="collapsed", loop_mode="all", play_state="playing")
    closed = (rrb.BlueprintPanel(state="collapsed"), rrb.SelectionPanel(state="collapsed"))
    return rrb.Blueprint(layout, time, *closed)


def _reward_view(rrb: Any, sides: Mapping[str, RecordedTrajectory], axis: Any) -> Any:
    of = " or ".join(dict.fromkeys(one.reward_of for one in sides.values()))
    contents, name = [f"/{side}/reward" for side in sides], f"reward of {of}: mean ± 1 std"
    return rrb.TimeSeriesView(origin="/", contents=contents, name=name, axis_x=axis)


def _tabs(rrb: Any, side: str, one: RecordedTrajectory, axis: Any) -> Any:
    views = [
        rrb.TimeSeriesView(origin=f"/{side}/{what}", name=f"{side}: {TITLES[what]}", axis_x=axis)
        for what, series in one.series.items()
        if series.values.size
    ]
    return rrb.Tabs(*views)
