"""A reward sees the observations and actions that it was taught with, or the environment is refused."""

import warnings
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers as single
from gymnasium.spaces import Box
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.wrappers import vector

from prefero import (
    Learner,
    Pool,
    PreferenceGP,
    Question,
    Reward,
    RewardFromPreferences,
    RewardLoop,
    VectorRewardFromPreferences,
    load_reward,
)
from prefero.deploy.training.teachers import ReturnTeacher
from prefero.kernels import Linear

UNIT: Any = np.float32(-1), np.float32(1)
WIDE = Box(-9.0, 9.0, (3,), np.float32)


class Doubled(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper of no special kind, with a space of its own."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.observation_space = Box(-99.0, 99.0, (3,), np.float32)


def pendulum() -> Any:
    return gymnasium.make("Pendulum-v1", max_episode_steps=5)


def rescaled(**_: Any) -> Any:
    return single.RescaleAction(pendulum(), *UNIT)


def taught(environment: Any, words: Any = ("steps",)) -> Reward:
    pool = Pool.from_gymnasium(environment, list(words), episodes=4, max_steps=5, clips="never")
    learner = Learner(pool, model=PreferenceGP(Linear(), noise=0.1, learn=False))
    learner.tell(Question(0, 1), "left")
    return learner.reward()


@pytest.fixture(scope="module")
def reward() -> Reward:
    return taught("Pendulum-v1")


CHANGING = {
    "NormalizeObservation": single.NormalizeObservation,
    "RescaleObservation": partial(
        single.RescaleObservation,
        min_obs=np.array([-1, -1, -2], np.float32),
        max_obs=np.array([1, 1, 2], np.float32),
    ),
    "TransformObservation": partial(single.TransformObservation, func=np.negative, observation_space=WIDE),
    "RescaleAction": partial(single.RescaleAction, min_action=UNIT[0], max_action=UNIT[1]),
    "TransformAction": partial(single.TransformAction, func=np.negative, action_space=None),
    "FrameStackObservation": partial(single.FrameStackObservation, stack_size=2),
    "Doubled": Doubled,
}


@pytest.mark.parametrize("name", CHANGING)
def test_a_wrapper_that_changes_what_the_reward_sees_belongs_outside(reward: Reward, name: str) -> None:
    wrap: Any = CHANGING[name]
    for kind in ("steps", "dense", "sparse"):
        with pytest.raises(ValueError, match=f"no wrappers .* apply {name} to the env"):
            RewardFromPreferences(wrap(pendulum()), reward, reward_type=kind)
    plain, outside = (
        RewardFromPreferences(pendulum(), reward),
        wrap(RewardFromPreferences(pendulum(), reward)),
    )
    plain.reset(seed=0)
    outside.reset(seed=0)
    if name not in ("RescaleAction", "TransformAction"):
        action = np.array([0.5], dtype=np.float32)
        assert outside.step(action)[1] == plain.step(action)[1]


@pytest.mark.parametrize(
    ("name", "wrap"),
    [
        ("NormalizeObservation", vector.NormalizeObservation),
        ("RescaleAction", partial(vector.RescaleAction, min_action=UNIT[0], max_action=UNIT[1])),
        ("RescaleAction", None),  # in every environment of the vector
    ],
)
@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
def test_so_it_does_for_vector_environments(reward: Reward, name: str, wrap: Any, kind: Any) -> None:
    envs = kind([rescaled if wrap is None else pendulum] * 2)
    try:
        with pytest.raises(ValueError, match=f"the wrappers {name},"):
            VectorRewardFromPreferences(envs if wrap is None else wrap(envs), reward)
    finally:
        envs.close()


@pytest.mark.parametrize(
    "wrap", [single.ClipAction, single.FlattenObservation, single.RecordEpisodeStatistics]
)
def test_wrappers_that_leave_the_numbers_as_they_are_are_allowed(reward: Reward, wrap: Any) -> None:
    given = []
    for env in (RewardFromPreferences(wrap(pendulum()), reward), RewardFromPreferences(pendulum(), reward)):
        env.reset(seed=0)
        given.append(env.step(np.array([0.5], dtype=np.float32))[1])
    assert given[0] == given[1]


def test_a_reward_that_was_taught_with_a_wrapper_needs_it(tmp_path: Any) -> None:
    taught(rescaled).save(tmp_path / "reward.json")
    reward = load_reward(tmp_path / "reward.json")
    RewardFromPreferences(rescaled(), reward).reset(seed=0)
    with pytest.raises(ValueError, match=r"RescaleAction .*no wrappers"):
        RewardFromPreferences(pendulum(), reward)


def test_features_of_ones_own_may_be_of_anything(reward: Reward) -> None:
    def features(*_: Any) -> Any:
        return np.zeros(len(reward.scaling.names))

    env = RewardFromPreferences(single.NormalizeObservation(pendulum()), reward, features)
    env.reset(seed=0)
    done, given = False, 0.0
    while not done:
        _, step, terminated, truncated, _ = env.step(np.array([0.5], dtype=np.float32))
        done, given = terminated or truncated, given + step
    assert given == pytest.approx(np.asarray(reward.predict(features()[None]))[0])


class Still:
    """Trains nothing."""

    def start(self, env: Any) -> None: ...
    def train(self, steps: int) -> None: ...
    def relabel(self, rewards: Any) -> None: ...
    def save(self, folder: Any) -> None: ...
    def load(self, folder: Any) -> None: ...


@pytest.mark.filterwarnings("ignore:the final policy:UserWarning")
def test_a_loop_says_which_wrappers_it_taught_with() -> None:
    options: Any = {"questions": 1, "rounds": 1, "segment": 2, "first_steps": 8, "progress": False}
    reward = RewardLoop(rescaled(), Still(), ReturnTeacher(), **options).run(0)
    RewardFromPreferences(rescaled(), reward)
    with pytest.raises(ValueError, match="RescaleAction"):
        RewardFromPreferences(pendulum(), reward)


# --- bounds -----------------------------------------------------------------------------------------------


class Line(gymnasium.Env[Any, Any]):
    """A place that actions move, in some unit."""

    observation_space = Box(-np.inf, np.inf, (2,), np.float64)
    action_space = Box(-np.inf, np.inf, (1,), np.float64)

    def __init__(self, unit: float = 1.0) -> None:
        self.unit = unit

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        del options
        self.place, self.steps = self.np_random.uniform(1.0, 2.0), 0
        return np.array([self.place * self.unit, 7.0]), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        del action
        self.steps += 1
        return np.array([self.place * self.unit, 7.0]), 0.0, self.steps == 2, False, {}


@pytest.mark.parametrize("words", [["steps"], ["statistics(3)"], ["final(state 1)"]])
@pytest.mark.parametrize("several", [False, True])
def test_leaving_what_was_taught_is_said_once(words: list[str], several: bool) -> None:
    reward = taught(lambda **_: Line(), words)

    def play(unit: float, action: float) -> list[str]:
        env: Any = (
            VectorRewardFromPreferences(SyncVectorEnv([lambda: Line(unit)] * 2), reward)
            if several
            else RewardFromPreferences(Line(unit), reward)
        )
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for episode in range(2):
                env.reset(seed=episode)
                for _ in range(2):
                    env.step(np.full((2, 1) if several else 1, action))
        return [str(one.message) for one in said]

    assert play(1.0, 0.5) == []
    (message,) = play(100.0, 0.5)
    assert message.startswith("the state 'state 1' is 1")
    assert "taught with 1" in message
    (message,) = play(1.0, -60.0)
    assert message.startswith("the action 'action 1' is -60")
