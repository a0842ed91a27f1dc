"""Gymnasium wrappers that replace the reward of an environment by a learned one, for training policies.

    features       a function of an episode's observations (T + 1, ...) and actions (T, ...), or "info:KEY";
                   None computes them as the reward's file says
    reward_type    "sparse": the last step gets the whole reward; "dense": each step gets the increase;
                   "steps": each step gets its own reward, if the reward was taught with the features `steps`
    caution        k in the lower confidence bound, mean - k std
    total          the sum of the rewards of an episode so far

A learned reward is a function of a whole trajectory. With "sparse" and "dense", the rewards of an episode sum
to the reward of its features; with "steps", their mean is that reward. An episode ends when it is terminated
or truncated.
"""

import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import iterate

from prefero._support.arrays import Array, Flags
from prefero.datasets.episode import Episode as RecordedEpisode
from prefero.datasets.formats.observations import side_by_side, stack
from prefero.deploy.compiled.compiled_reward import lower_bound_of
from prefero.deploy.compiled.step_reward import STEPS_WORD, StepReward
from prefero.deploy.online.prefix_rewards import PrefixRewards
from prefero.deploy.online.spaces import SpaceNumbers
from prefero.deploy.online.statistics import OnlineStatistics
from prefero.deploy.online.steps import OnlineSteps
from prefero.deploy.online.taught_environment import TaughtBounds, check_wrappers
from prefero.deploy.planning.plan import check_caution
from prefero.rewards.reward import Reward

RewardType = Literal["sparse", "dense", "steps"]
Features = Callable[[Any, Any], npt.ArrayLike] | str
Info = dict[str, Any]

INFO_PREFIX = "info:"
ORIGINAL_REWARD = "original_reward"


@dataclass
class Episode:
    """The current episode up to now."""

    observations: list[Any]
    actions: list[Any] = field(default_factory=list)
    original_rewards: list[float] = field(default_factory=list)
    total: float = 0.0


@dataclass(frozen=True)
class EpisodeReward:
    """Computes the reward of every step of an episode."""

    reward: Reward
    features: Features | None = None
    reward_type: RewardType = "sparse"
    caution: float = 0.0
    trust: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.reward, Reward):
            raise ValueError(
                "wanted a learned reward, as learner.reward() or prefero.load_reward(path) gives it, "
                f"but got {self.reward!r}"
            )
        named = isinstance(self.features, str) and re.fullmatch(f"{INFO_PREFIX}.+", self.features)
        if not (named or self.features is None or callable(self.features)):
            raise ValueError(
                "features are a function of observations and actions, 'info:KEY' if the environment's info "
                f"has them, or None for those that the reward's file describes, but are {self.features!r}"
            )
        if self.reward_type not in get_args(RewardType):
            raise ValueError(f"reward_type is sparse, dense or steps, but is {self.reward_type!r}")
        check_caution(self.caution)
        if self.features is None:
            _ = self._of_spec  # which is an error if the reward does not know how they are computed

    @cached_property
    def _value(self) -> Callable[[Array], Array]:
        return lower_bound_of(self.reward, self.caution)

    @cached_property
    def _of_spec(self) -> PrefixRewards:
        return PrefixRewards.of(self.reward, caution=self.caution, trust=self.trust)

    def new_episode(self, observation: Any) -> Episode:
        """An episode that starts with this observation."""
        return Episode([deepcopy(observation)])

    def step(
        self, episode: Episode, action: Any, observation: Any, original: float, done: bool, info: Info
    ) -> float:
        """The reward of this step of the episode; `original` is the environment's own."""
        if not isinstance(self.features, str):  # otherwise nothing needs to be recorded
            episode.actions.append(deepcopy(action))
            episode.observations.append(deepcopy(observation))
            episode.original_rewards.append(float(original))
        if self.reward_type != "dense" and not done:
            return 0.0
        before, episode.total = episode.total, self.evaluate(episode, info)
        return episode.total - before

    def evaluate(self, episode: Episode, info: Info) -> float:
        """The learned reward of the episode up to now."""
        if self.features is None:
            return self._of_spec.whole(self._as_recorded(episode))
        row = np.asarray(self._compute_features(episode, info), dtype=float)
        names = self.reward.scaling.names
        if row.shape != (len(names),):
            raise ValueError(
                f"the reward is about {len(names)} features ({', '.join(names)}), so an episode has as many "
                f"numbers, but these have shape {row.shape}"
            )
        return float(self._value(row[None])[0])

    def _as_recorded(self, episode: Episode) -> RecordedEpisode:
        """The episode as a dataset of such episodes has it."""
        assert self.reward.feature_spec is not None
        states, state_names = side_by_side(stack(episode.observations), "state")
        actions, action_names = side_by_side(stack(episode.actions), "action")
        return RecordedEpisode(
            "so far",
            states,
            actions,
            np.array(episode.original_rewards),
            self.reward.feature_spec.step_seconds,
            state_names,
            action_names,
        )

    def _compute_features(self, episode: Episode, info: Info) -> npt.ArrayLike:
        if callable(self.features):
            return self.features(stack(episode.observations), stack(episode.actions))
        assert isinstance(self.features, str)
        key = self.features.removeprefix(INFO_PREFIX)
        if key not in info:
            keys = ", ".join(map(repr, info)) or "nothing"
            sparse = self.reward_type == "sparse"
            hint = "" if sparse else ", or use reward_type='sparse' if the last info has it"
            raise ValueError(
                f"the environment's info has no {key!r} but {keys}: pass a function of observations and "
                f"actions instead{hint}"
            )
        found: npt.ArrayLike = info[key]
        return found


def reward_type_for(reward: Reward, features: Features | None, wanted: RewardType | None) -> RewardType:
    """The type that was asked for; otherwise "steps" for a reward of steps, and "sparse" for others."""
    if wanted is not None:
        return wanted
    spec = getattr(reward, "feature_spec", None)  # what is no reward is refused below
    return "steps" if features is None and spec is not None and spec.words == (STEPS_WORD,) else "sparse"


def online(reward: EpisodeReward, numbers: SpaceNumbers) -> OnlineSteps | OnlineStatistics | None:
    """What updates the rewards with every step; None where whole episodes are recorded."""
    if reward.reward_type == "steps":
        return OnlineSteps(StepReward.of(reward.reward), numbers, reward.caution)
    if reward.reward_type == "dense" and reward.features is None:
        return OnlineStatistics.of(reward.reward, numbers, reward.caution)
    return None


def taught_bounds(reward: EpisodeReward, env: Any, numbers: SpaceNumbers) -> TaughtBounds:
    """What is warned about in this environment; it is an error if wrappers change what the reward sees.

    Features of the user's own may be of anything, so that nothing is known of what they need.
    """
    spec = reward.reward.feature_spec if reward.features is None else None
    if spec is not None:
        check_wrappers(env, spec)
    return TaughtBounds(spec, numbers)


class RewardFromPreferences(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """An environment whose reward is a learned one.

    The environment's own reward is in `info["original_reward"]`. `VectorRewardFromPreferences` wraps vector
    environments. When an episode begins or ends far outside the states and actions that the reward was taught
    with, there is a warning, once for each environment.

    Args:
        env: Any Gymnasium environment.
        reward: From `learner.reward()` or `prefero.load_reward`.
        features: A function of an episode's observations (T + 1, ...) and actions (T, ...) that returns the
            features of the reward; or "info:KEY" if the environment's info has them, as that of Prefero's
            worlds has at the end of an episode: "info:features". None computes them from observations and
            actions as the reward's file says, for a reward that was taught with episodes of such an
            environment. Wrappers that change observations or actions, such as `NormalizeObservation` or
            `RescaleAction`, are then applied to the environment with the reward, and not before it, unless
            the reward was taught with the same ones.
        reward_type: "sparse": the last step gets the whole reward; "dense": every step gets the increase of
            the reward of the episode up to now, and `features` is called at every step; "steps": every step
            gets its own reward, for a reward that was taught with the features `steps`. None is "steps" for
            such a reward, and "sparse" for others.
        caution: k in mean - k std, so that a policy prefers what is known to be good.
        trust: Without `features`, import the functions that the reward's file names.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        reward: Reward,
        features: Features | None = None,
        *,
        reward_type: RewardType | None = None,
        caution: float = 0.0,
        trust: bool = False,
    ) -> None:
        RecordConstructorArgs.__init__(
            self,
            reward=reward,
            features=features,
            reward_type=reward_type,
            caution=caution,
            trust=trust,
            _disable_deepcopy=True,
        )
        gymnasium.Wrapper.__init__(self, env)
        kind = reward_type_for(reward, features, reward_type)
        self._episode_reward = EpisodeReward(reward, features, kind, caution, trust)
        self._episode = Episode([])
        numbers = SpaceNumbers(env.observation_space, env.action_space, None)
        self._online = online(self._episode_reward, numbers)
        self._bounds = taught_bounds(self._episode_reward, env, numbers)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Start a new episode.

        Args:
            seed: Of the environment.
            options: Of the environment.

        Returns:
            The first observation, and the info.
        """
        observation, info = super().reset(seed=seed, options=options)
        self._bounds.check(observation)
        if self._online is not None:
            self._online.begin(observation)
        else:
            self._episode = self._episode_reward.new_episode(observation)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        """One step, with the learned reward; the environment's own is in the info."""
        observation, original, terminated, truncated, info = self.env.step(action)
        done = terminated or truncated
        if done:
            self._bounds.check(observation, action)
        if self._online is not None:
            reward = float(self._online(action, observation, terminated))
        else:
            reward = self._episode_reward.step(
                self._episode, action, observation, float(original), done, info
            )
        return observation, reward, terminated, truncated, {**info, ORIGINAL_REWARD: original}


class VectorRewardFromPreferences(VectorWrapper[Any, Any, Any, Any, Any]):
    """A vector environment whose reward is a learned one.

    All three autoreset modes are supported: next step, same step, and disabled.

    Args:
        env: Any Gymnasium vector environment.
        reward: From `learner.reward()` or `prefero.load_reward`.
        features: A function of one episode, "info:KEY" or None; see `RewardFromPreferences`.
        reward_type: "sparse", "dense" or "steps"; None is "steps" for a reward of steps, else "sparse".
        caution: k in mean - k std.
        trust: Without `features`, import the functions that the reward's file names.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        reward: Reward,
        features: Features | None = None,
        *,
        reward_type: RewardType | None = None,
        caution: float = 0.0,
        trust: bool = False,
    ) -> None:
        super().__init__(env)
        kind = reward_type_for(reward, features, reward_type)
        self._episode_reward = EpisodeReward(reward, features, kind, caution, trust)
        self._same_step = env.metadata.get("autoreset_mode") == AutoresetMode.SAME_STEP
        self._resetting = np.ones(env.num_envs, dtype=bool)  # whose next step is a reset
        numbers = SpaceNumbers(env.single_observation_space, env.single_action_space, env.num_envs)
        recorded = self._same_step and kind == "dense"  # statistics would lack the last observation
        self._online = None if recorded else online(self._episode_reward, numbers)
        self._bounds = taught_bounds(self._episode_reward, env, numbers)
        self._episodes = [Episode([]) for _ in range(env.num_envs)]

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: Info | None = None
    ) -> tuple[Any, Info]:
        """Start new episodes in all sub-environments, or in those of `options["reset_mask"]`."""
        mask = np.array((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool)))
        observations, infos = super().reset(seed=seed, options=options)  # type: ignore[arg-type]
        self._bounds.check(observations)
        self._begin(observations, mask)
        self._resetting &= ~mask
        return observations, infos

    def _begin(self, observations: Any, which: Flags) -> None:
        """New episodes of some sub-environments."""
        if self._online is not None:
            self._online.begin(observations, which)
            return
        for number, observation in enumerate(iterate(self.observation_space, observations)):
            if which[number]:
                self._episodes[number] = self._episode_reward.new_episode(observation)

    def step(self, actions: Any) -> tuple[Any, Array, Flags, Flags, Info]:
        """One step of each, with the learned rewards; the environments' own are in the infos."""
        observations, original, terminated, truncated, infos = super().step(actions)
        done = np.logical_or(terminated, truncated)
        if done.any():
            self._bounds.check(observations, actions)
        rewards = (
            self._rewards_of_episodes(actions, observations, original, done, infos)
            if self._online is None
            else self._online(actions, observations, terminated)
        )
        rewards[self._resetting] = 0.0  # their actions were ignored
        begun = done if self._same_step else self._resetting
        if begun.any():
            self._begin(observations, begun)
        self._resetting = done & ~begun
        originals = {
            ORIGINAL_REWARD: np.array(original),
            f"_{ORIGINAL_REWARD}": np.ones(self.num_envs, dtype=bool),
        }
        return observations, rewards, terminated, truncated, {**infos, **originals}

    def _rewards_of_episodes(
        self, actions: Any, observations: Any, original: Array, done: Flags, infos: Info
    ) -> Array:
        each = zip(
            iterate(self.action_space, actions), iterate(self.observation_space, observations), strict=True
        )
        rewards = np.zeros(self.num_envs)
        for number, (action, observation) in enumerate(each):
            if self._resetting[number]:
                continue
            last, info = observation, info_of(infos, number)
            if done[number] and self._same_step:  # the returned observation is the next episode's
                last, info = info["final_obs"], info["final_info"]
            rewards[number] = self._episode_reward.step(
                self._episodes[number], action, last, float(original[number]), bool(done[number]), info
            )
        return rewards


def info_of(infos: Info, number: int) -> Info:
    """The info of one sub-environment; `_key` is the mask of those that have a `key`."""
    keys = [key for key in infos if f"_{key}" in infos and infos[f"_{key}"][number]]
    return {
        key: info_of(infos[key], number) if isinstance(infos[key], dict) else infos[key][number]
        for key in keys
    }
