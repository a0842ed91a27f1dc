"""How the trajectories of a pool are shown: replayed in their scene, as videos, or by their features."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from prefero.datasets.media.clips import missing_clips, planned_cameras
from prefero.pools.pool import Pool
from prefero.rendering.scene_json import plain
from prefero.rendering.scenes import replay
from prefero.trajectories.categories import Variable
from prefero.views.displays import (
    ClipsDisplay,
    Feature,
    FeatureRange,
    FeaturesDisplay,
    SceneDisplay,
    TrajectoryDetails,
)
from prefero.worlds.base import TASK_DESCRIPTION


def display_of(pool: Pool) -> dict[str, Any]:
    """What the page needs before it shows any trajectory: the scene, or the features and their ranges.

    `task_description` tells a person what to do, and `subject` whose motion is judged; both are the world's.
    """
    variables = pool.scaling.variables
    features, texts = [_feature(variable) for variable in variables], (TASK_DESCRIPTION, "")
    if pool.source is not None and pool.actions is not None:
        world = pool.world()
        known = {feature.name: feature.unit for feature in world.features}
        features = [_feature(variable, known.get(variable.name, "")) for variable in variables]
        texts = world.task_description, world.subject
        if world.scene.parts:
            return plain(SceneDisplay(*texts, "scene", world.scene.as_json(), world.duration, features))
    if pool.clips is not None:
        folder = _checked_folder(pool.clips)
        cameras = planned_cameras(pool.clips[0]) if pool.clips else []
        return plain(ClipsDisplay(*texts, "clips", features, cameras)) | {"folder": folder}
    if not variables:
        raise ValueError(
            "these trajectories have features of steps and no videos, so a person would see nothing: "
            "use a dataset with videos, or an environment that renders"
        )
    return plain(FeaturesDisplay(*texts, "features", feature_ranges(pool, {}), pool.no_video))


def feature_ranges(pool: Pool, units: Mapping[str, str]) -> list[FeatureRange]:
    """The features as people see them, in these units, with the lowest and the highest value of each."""
    variables = pool.scaling.variables
    columns = [variable.values(pool.features) for variable in variables]
    return [
        FeatureRange(
            **vars(_feature(one, units.get(one.name, ""))), low=float(column.min()), high=float(column.max())
        )
        for one, column in zip(variables, columns, strict=True)
    ]


def _checked_folder(clips: Sequence[str]) -> str:
    """The folder of clips; an error unless all of them are videos in it."""
    absent = missing_clips(clips)  # and not to be cut from a dataset on demand
    if absent:
        raise ValueError(
            f"{len(absent)} clips of the pool are missing, the first is {absent[0]}: put them back, or make "
            "the pool anew"
        )
    others = [clip for clip in clips if Path(clip).suffix.lower() != ".mp4"]
    if others:
        raise ValueError(
            f"clips are .mp4 files, but one of them is {others[0]}: convert it, or open its folder with "
            "Pool.from_video_folder, which converts videos for the browser"
        )
    folder = clip_folder_of(clips)
    outside = [clip for clip in clips if not Path(clip).resolve().is_relative_to(Path(folder).resolve())]
    if outside:
        raise ValueError(f"{outside[0]} is a link out of the clips' folder: put the video itself there")
    return folder


def _feature(variable: Variable, unit: str = "") -> Feature:
    categories = variable.categories
    if categories is None:
        return Feature(variable.name, unit, levels=[], ordered=True)
    return Feature(variable.name, unit, list(categories.levels), categories.ordered)


def clip_folder_of(clips: Iterable[str]) -> str:
    """The folder that holds all these videos, in it or in folders of it."""
    return os.path.commonpath([os.path.normpath(Path(clip).absolute().parent) for clip in clips])


def targets_of(display: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of the scene that have a name written on them."""
    return [part for part in display.get("scene", {}).get("parts", []) if part["label"]]


def details_of(pool: Pool, display: dict[str, Any], index: int) -> dict[str, Any]:
    """One trajectory for the page: its features, and its replay where there is a scene.

    The feature of a category is the place of its level.
    """
    pool.check_index(index)
    shown = None
    if display["kind"] == "scene":
        shown = replay(display["scene"]["frame_time"], pool.trajectory(index).poses)
    return plain(TrajectoryDetails(variable_values(pool, index), shown))


def variable_values(pool: Pool, index: int) -> dict[str, float]:
    """The features of a trajectory as people see them: numbers, and the places of categories' levels."""
    row = pool.features[[index]]
    return {variable.name: float(variable.values(row)[0]) for variable in pool.scaling.variables}
