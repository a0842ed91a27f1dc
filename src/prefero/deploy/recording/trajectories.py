"""What a recording shows of a trajectory: its video, its numbers over time, and the learned reward.

    seconds    (n,)    since the trajectory began
    level              a number of the whole trajectory: one row, at its beginning, drawn to its end
    x          (n, d)  scaled features

If the reward was taught with the features `steps`, it is recorded for each step. Otherwise it is recorded for
the beginning of the episode up to and with each step, as it is known while the episode runs. Rows of a table
have no steps, and the features of worlds are known at the end of a trajectory: their reward is a level.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets import Dataset, Episode, EpisodeDataset
from prefero.datasets.episode import StepRange
from prefero.datasets.media.clips import clip_folder, cut_planned_clip
from prefero.deploy.compiled.step_reward import StepReward, is_of_steps
from prefero.deploy.online.prefix_rewards import PrefixRewards
from prefero.models.posterior.standardized import StandardizedRewards, reference_of
from prefero.pools.pool import Pool
from prefero.rendering.scenes import POSE_2D, POSE_3D, Scene
from prefero.rewards.plots import leading_variables, stand_in
from prefero.rewards.reward import Reward
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds.base import World
from prefero.worlds.clips import save_clip

STEP, PREFIX, WHOLE = "each step", "the beginning up to each step", "the whole trajectory"
POSES = {POSE_2D: ("x", "y", "angle"), POSE_3D: ("x", "y", "z", "qw", "qx", "qy", "qz")}


class Series(NamedTuple):
    """Numbers over time.

    Args:
        names: Of k numbers.
        seconds: The times, (n,).
        values: The numbers at these times, (n, k).
    """

    names: tuple[str, ...]
    seconds: Array
    values: Array


@dataclass(frozen=True, eq=False)
class RecordedTrajectory:
    """What is recorded of a trajectory.

    Args:
        id: Its id.
        reward_of: What the rewards are of, in words.
        seconds: The times of the rewards, (n,).
        mean: The expected rewards, (n,).
        std: Their standard deviations, (n,).
        series: Its states, actions and features, as far as there are any. Features are in standard deviations
            from their mean, and only those along which the reward varies most.
        video: An MP4 file, if there is a video.
    """

    id: str
    reward_of: str
    seconds: Array
    mean: Array
    std: Array
    series: dict[str, Series]
    video: bytes | None = None


@dataclass(frozen=True, eq=False)
class TrajectoryReader:
    """Computes what is recorded of trajectories.

    Args:
        reward: The reward.
        trust: Import the functions that the reward's file names.
    """

    reward: Reward
    trust: bool = False

    def read(self, source: Dataset | Pool, items: Sequence[int]) -> list[RecordedTrajectory]:
        """What is recorded of some trajectories of a dataset or a pool."""
        if isinstance(source, Pool):
            return [self._of_pool(source, item) for item in items]
        for item in items:
            source.check_number(item)
        origin = source.origin
        if origin is not None and isinstance(origin.dataset, EpisodeDataset):
            reader = self if source.feature_spec is None else self._with_spec(source)
            rows = [(origin.numbers[item], origin.segments[item]) for item in items]
            return [reader._of_episode(origin.dataset, *row) for row in rows]
        if isinstance(source, EpisodeDataset):
            return [self._of_episode(source, item, None) for item in items]
        return self._of_rows(source, items)

    def _with_spec(self, source: Dataset) -> "TrajectoryReader":
        """The same with the features as a table of them says."""
        return replace(self, reward=replace(self.reward, feature_spec=source.feature_spec))

    # --- episodes -----------------------------------------------------------------------------------------

    def _of_episode(
        self, dataset: EpisodeDataset, number: int, steps: StepRange | None
    ) -> RecordedTrajectory:
        whole = dataset.episode(number)
        episode = whole if steps is None else whole.segment(steps)
        seconds = episode.step_seconds * np.arange(len(episode.states), dtype=float)
        moments = seconds[: len(episode)]
        series = {
            "states": Series(episode.state_names, seconds, episode.states),
            "actions": Series(episode.action_names, moments, episode.actions),
        }
        if self._step_reward is not None:
            mean, std = _of_steps(self._step_reward, episode)
        else:
            features, mean, std = self._prefix_rewards.predict(episode)
            series["features"] = self._features(moments, self.reward.scaling(features))
        reward_of = PREFIX if self._step_reward is None else STEP
        clip = _clip(dataset, number, steps)
        return RecordedTrajectory(episode.id, reward_of, moments, mean, std, series, clip)

    @cached_property
    def _step_reward(self) -> StepReward | None:
        return StepReward.of(self.reward) if is_of_steps(self.reward) else None

    @cached_property
    def _prefix_rewards(self) -> PrefixRewards:
        return PrefixRewards.of(self.reward, trust=self.trust)

    # --- trajectories without steps -----------------------------------------------------------------------

    def _of_rows(self, dataset: Dataset, items: Sequence[int]) -> list[RecordedTrajectory]:
        table = self.reward.extract_features(dataset, trust=self.trust)
        x = self.reward.scaling(table.features)
        rows = [table.numbers.index(item) for item in items]
        return [
            self._level(dataset.ids[item], x[[row]], {}, _clip(dataset, item, None))
            for item, row in zip(items, rows, strict=True)
        ]

    def _of_pool(self, pool: Pool, item: int) -> RecordedTrajectory:
        pool.check_index(item)
        x = pool.features_for(self.reward.belief)[[item]]
        name = str(item) if pool.ids is None else pool.ids[item]
        if pool.source is not None and pool.actions is not None:
            world, trajectory = pool.world(), pool.trajectory(item)
            return self._level(name, x, _of_world(world, trajectory), _rendered(world, trajectory))
        clip = None if pool.clips is None else cut_planned_clip(pool.clips[item], trust=self.trust)
        return self._level(name, x, {}, None if clip is None else clip.read_bytes())

    def _level(
        self, name: str, x: Array, series: dict[str, Series], clip: bytes | None
    ) -> RecordedTrajectory:
        """Of one trajectory's features x, (1, d)."""
        mean, variance = self.reward.belief.marginals(x)
        start = np.zeros(1)
        series = series | {"features": self._features(start, x)}
        return RecordedTrajectory(name, WHOLE, start, mean, np.sqrt(variance), series, clip)

    # --- features -----------------------------------------------------------------------------------------

    def _features(self, seconds: Array, x: Array) -> Series:
        return Series(
            tuple(self.reward.scaling.names[n] for n in self._leading), seconds, x[:, self._leading]
        )

    @cached_property
    def _leading(self) -> list[int]:
        """The features along which the reward varies most, as in `Reward.plot`."""
        scaling, belief = self.reward.scaling, self.reward.belief
        if not scaling.variables:  # features of steps mean nothing alone
            return []
        x = stand_in(len(scaling.names))
        rewards = StandardizedRewards(belief, reference_of(x))
        return [n for one in leading_variables(rewards, scaling, x) for n in one.features]


def _of_steps(reward: StepReward, episode: Episode) -> tuple[Array, Array]:
    """The rewards of the steps of an episode, and their standard deviations, (T,) each."""
    _, std = reward.predict(episode.states[: len(episode)], episode.actions)
    return reward.of_episode(episode), std


def _of_world(world: World, trajectory: Trajectory) -> dict[str, Series]:
    """The poses of what moves; and the actions, which are those of the whole trajectory."""
    poses = trajectory.poses.astype(float)
    seconds = world.scene.frame_time * np.arange(len(poses), dtype=float)
    states = Series(_pose_names(world.scene, poses.shape[-1]), seconds, poses.reshape(len(poses), -1))
    actions = Series(world.action_space.names, np.zeros(1), trajectory.actions[None])
    return {"states": states, "actions": actions}


def _pose_names(scene: Scene, numbers: int) -> tuple[str, ...]:
    return tuple(f"{part.name} {what}" for part in scene.parts if part.moves for what in POSES[numbers])


def _rendered(world: World, trajectory: Trajectory) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        save_clip(path, world, trajectory)
        return path.read_bytes()


def _clip(dataset: Dataset, number: int, steps: StepRange | None) -> bytes | None:
    """The clip that the page shows."""
    if not dataset.has_video:
        return None
    return dataset.cut_clip(number, clip_folder(dataset), steps).read_bytes()
