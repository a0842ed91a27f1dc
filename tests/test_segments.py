"""The tasks of robot learning in the benchmarks, on an environment whose rewards are easy to compute."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from benchmarks.robots import segment_features, segments
from benchmarks.robots.segments import STEPS, Source, record, segment_task

from prefero._support.arrays import Array


class Slider(gymnasium.Env[Array, Array]):
    """A position that an action moves; the reward is the position after the step."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,), dtype=np.float64)
    action_space = gymnasium.spaces.Box(-2.0, 4.0, (1,), dtype=np.float64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.place = self.np_random.normal(size=1)
        return self.place, {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        self.place = self.place + 0.1 * action
        return self.place, float(self.place[0]), False, False, {}


@pytest.fixture
def _slider(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    source = Source(Slider, 120, 0.1, lambda states, _: states.mean(axis=1))
    monkeypatch.setattr(segments, "SOURCES", {"slider": source})
    monkeypatch.setattr(segments, "FOLDER", tmp_path)
    monkeypatch.setattr(segments, "SNAPSHOTS", (0, 2))
    monkeypatch.setattr(segments, "SEGMENTS", 40)
    monkeypatch.setattr(segments, "TESTED", 10)


@pytest.mark.usefixtures("_slider")
def test_a_segment_has_the_rewards_of_its_own_steps() -> None:
    found = record(segments.SOURCES["slider"], np.random.default_rng(0), segments=6)
    assert found.states.shape == (6, STEPS + 1, 1)
    assert np.allclose(found.rewards, found.states[:, 1:, 0])
    assert np.allclose(np.diff(found.states[:, :, 0]), 0.1 * found.actions[:, :, 0])
    assert found.actions.min() >= -2
    assert found.actions.max() <= 4


@pytest.mark.usefixtures("_slider")
def test_held_out_segments_are_of_other_rollouts() -> None:
    task, again = segment_task("slider", 3), segment_task("slider", 3)
    kept = task.recording.rollouts
    assert not set(kept[task.pool]) & set(kept[task.tested])
    assert np.array_equal(task.pairs, again.pairs)
    assert not np.array_equal(task.recording.states, segment_task("slider", 1003).recording.states)


@pytest.mark.usefixtures("_slider")
def test_the_true_return_is_always_right_and_nothing_is_half_right() -> None:
    task = segment_task("slider", 0)
    returns = task.recording.rewards.sum(axis=1)[task.tested]
    assert task.accuracy(returns) == 1.0
    assert task.accuracy(-returns) == 0.0
    assert task.accuracy(0 * returns) == 0.5
    questions = task.random_pairs(20, 0)
    assert set(questions.ravel()) <= set(task.pool)
    first, second = task.recording.rewards.sum(axis=1)[questions].T
    assert np.array_equal(task.prefers_first(questions), first > second)
    assert len(task.episodes(task.pool)[0]) == STEPS


def test_an_unknown_task_is_named() -> None:
    with pytest.raises(ValueError, match=r"slider.*pendulum"):
        segment_task("slider", 0)


@pytest.mark.usefixtures("_slider")
def test_features_of_held_out_segments_are_those_of_the_pool() -> None:
    task = segment_task("slider", 0)
    for name in ("statistics", "steps", "pca(2)", "moments", "thoughtful"):
        pool, tested = segment_features.features(task, name)
        assert pool.features.shape == (len(task.pool), tested.shape[1])
        assert len(tested) == len(task.tested)
    job = {"task": "slider", "method": "thoughtful", "questions": "random", "seed": 0, "most": 10}
    (row,) = segment_features.work(job)
    assert row["accuracy"] > 0.9  # the mean position is nearly the return
    lines = list(segment_features.table([{**job, **row}], ["slider"]))
    assert f"{row['accuracy']:.3f}±nan" in lines[1]
