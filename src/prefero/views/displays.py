"""How the trajectories of a pool are displayed, in types; `prefero.pools.displays` makes them of a pool."""

from dataclasses import dataclass, field
from typing import Literal

from prefero.rendering.scene_json import FlatScene, Replay, SolidScene


@dataclass(frozen=True)
class Feature:
    """A feature's name and unit.

    A category has levels, and its value is the place of one of them. A number is ordered and has no levels.
    """

    name: str
    unit: str
    levels: list[str]
    ordered: bool


@dataclass(frozen=True)
class FeatureRange(Feature):
    """A feature with its lowest and its highest value in the pool."""

    low: float
    high: float


@dataclass(frozen=True)
class DisplayTexts:
    """What the person is to do, in a sentence, and whose motion is judged: "the blue car", or ""."""

    task_description: str
    subject: str


@dataclass(frozen=True)
class SceneDisplay(DisplayTexts):
    """Trajectories are replayed in this scene; each lasts so many seconds."""

    kind: Literal["scene"]
    scene: FlatScene | SolidScene
    seconds: float
    features: list[Feature]


@dataclass(frozen=True)
class ClipsDisplay(DisplayTexts):
    """Trajectories are shown as videos.

    `cameras` are those whose images are side by side in them, if there are several: a person may choose one.
    """

    kind: Literal["clips"]
    features: list[Feature]
    cameras: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class FeaturesDisplay(DisplayTexts):
    """Trajectories are shown by their features alone; `no_video` says why, where there could be videos."""

    kind: Literal["features"]
    features: list[FeatureRange]
    no_video: str


@dataclass(frozen=True)
class TrajectoryDetails:
    """One trajectory: its features by name, and its replay where the pool has a scene."""

    features: dict[str, float]
    replay: Replay | None


@dataclass(frozen=True)
class Signal:
    """A number over time: its values at some times, in seconds from the start of the trajectory."""

    name: str
    unit: str
    times: list[float]
    values: list[float]


@dataclass(frozen=True)
class TrajectorySignals:
    """What is known of a trajectory over time, and of the whole of it.

    signals      none where nothing is known over time
    left_out     how many more signals there are
    ranges       of its features, each with the lowest and the highest value in the pool
    values       of its features, by name
    deviations   standard deviations of the features over the pool, by name; categories have none
    """

    signals: list[Signal]
    left_out: int
    ranges: list[FeatureRange]
    values: dict[str, float]
    deviations: dict[str, float]


Display = SceneDisplay | ClipsDisplay | FeaturesDisplay
