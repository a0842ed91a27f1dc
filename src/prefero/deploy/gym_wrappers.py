"""The learned reward as the reward of a Gymnasium environment, so that any training code can maximise it.

    features    a function of an episode's observations (T + 1, ...) and actions (T, ...), or "info:KEY"
    when        "end": the last step brings the whole reward; "steps": each step brings what it adds
    caution     standard deviations to take off the mean: how little is left to luck
    paid        what an episode has been given so far

A learned reward is of whole trajectories. Either way, what an episode is given adds up to the reward of its
features. An episode ends where it is terminated or truncated; one that is abandoned is given no more.
"""

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import iterate

from prefero._support.arrays import Array, Flags
from prefero.deploy.planning import check_caution, lower_confidence_bound
from prefero.reward import Reward

When = Literal["end", "steps"]
Features = Callable[[Any, Any], npt.ArrayLike] | str
Info = dict[str, Any]

FROM_INFO = "info:"
ORIGINAL = "original_reward"


@dataclass
class Episode:
    """An episode so far."""

    observations: list[Any]
    actions: list[Any] = field(default_factory=list)
    paid: float = 0.0


@dataclass(frozen=True)
class Judge:
    """Gives episodes their reward, a step at a time."""

    reward: Reward
    features: Features
    when: When = "end"
    caution: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.reward, Reward):
            raise ValueError(
                "wanted a learned reward, as learner.reward() or prefero.load_reward(path) gives it, "
                f"but got {self.reward!r}"
            )
        named = isinstance(self.features, str) and re.fullmatch(f"{FROM_INFO}.+", self.features)
        if not (named or callable(self.features)):
            raise ValueError(
                "features are a function of observations and actions, or 'info:KEY' where the environment "
                f"tells them, but are {self.features!r}"
            )
        if self.when not in get_args(When):
            raise ValueError(
                f"the reward comes at the {' or at '.join(get_args(When))}, but when is {self.when!r}"
            )
        check_caution(self.caution)

    def begin(self, observation: Any) -> Episode:
        """A new episode."""
        return Episode([deepcopy(observation)])

    def step(self, episode: Episode, action: Any, observation: Any, over: bool, info: Info) -> float:
        """What this step of the episode is given."""
        if callable(self.features):  # else nothing needs to be kept
            episode.actions.append(deepcopy(action))
            episode.observations.append(deepcopy(observation))
        if self.when == "end" and not over:
            return 0.0
        before, episode.paid = episode.paid, self.worth(episode, info)
        return episode.paid - before

    def worth(self, episode: Episode, info: Info) -> float:
        """The reward of an episode, or of what there is of it."""
        row = np.asarray(self._noted(episode, info), dtype=float)
        names = self.reward.scaling.names
        if row.shape != (len(names),):
            raise ValueError(
                f"the reward is about {len(names)} features ({', '.join(names)}), so an episode has as many "
                f"numbers, but these have shape {row.shape}"
            )
        x = self.reward.scaling(row[None])
        return float(lower_confidence_bound(self.reward.belief, x, self.caution)[0])

    def _noted(self, episode: Episode, info: Info) -> npt.ArrayLike:
        if callable(self.features):
            return self.features(stacked(episode.observations), stacked(episode.actions))
        key = self.features.removeprefix(FROM_INFO)
        if key not in info:
            there = ", ".join(map(repr, info)) or "nothing"
            way_out = "" if self.when == "end" else ", or take when='end', if it is there at the end"
            raise ValueError(
                f"the environment's info has no {key!r} but {there}: give a function of observations and "
                f"actions instead{way_out}"
            )
        found: npt.ArrayLike = info[key]
        return found


def stacked(items: list[Any]) -> Any:
    """Observations or actions of all steps with the step as first axis; in a dict or tuple, each part is."""
    first = items[0]
    if isinstance(first, Mapping):
        return {key: stacked([item[key] for item in items]) for key in first}
    if isinstance(first, tuple):
        return tuple(stacked(list(part)) for part in zip(*items, strict=True))
    return np.stack(items)


class RewardFromPreferences(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """An environment whose reward is the one that a person taught.

    env         any Gymnasium environment
    reward      as `learner.reward()` or `prefero.load_reward` gives it
    features    a function of an episode's observations (T + 1, ...) and actions (T, ...) that returns the
                features which the reward is about; or "info:KEY" for an environment that tells them in its
                info, as those of Prefero's worlds do when an episode ends: "info:features"
    when        "end": the last step brings the whole reward; "steps": every step brings what the episode
                so far is worth more than a step before, and `features` is called with all of these
    caution     standard deviations to take off the mean, so that a policy seeks what is known to be good

    The environment's own reward is in `info["original_reward"]`. For vector environments there is
    `VectorRewardFromPreferences`.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        reward: Reward,
        features: Features,
        *,
        when: When = "end",
        caution: float = 0.0,
    ) -> None:
        RecordConstructorArgs.__init__(
            self, reward=reward, features=features, when=when, caution=caution, _disable_deepcopy=True
        )
        gymnasium.Wrapper.__init__(self, env)
        self._judge = Judge(reward, features, when, caution)
        self._episode = Episode([])

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """A new episode."""
        observation, info = super().reset(seed=seed, options=options)
        self._episode = self._judge.begin(observation)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        """One step, with the learned reward; the environment's own is in the info."""
        observation, original, terminated, truncated, info = super().step(action)
        reward = self._judge.step(self._episode, action, observation, terminated or truncated, info)
        return observation, reward, terminated, truncated, {**info, ORIGINAL: original}


class VectorRewardFromPreferences(VectorWrapper[Any, Any, Any, Any, Any]):
    """Many environments whose reward is the one that a person taught: `RewardFromPreferences` for a vector.

    Sub-environments may begin their next episode at the next step, at the same step, or when they are told.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        reward: Reward,
        features: Features,
        *,
        when: When = "end",
        caution: float = 0.0,
    ) -> None:
        super().__init__(env)
        self._judge = Judge(reward, features, when, caution)
        self._at_once = env.metadata.get("autoreset_mode") == AutoresetMode.SAME_STEP
        self._episodes: list[Episode | None] = [None] * env.num_envs  # None: is over, and not begun again

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: Info | None = None
    ) -> tuple[Any, Info]:
        """New episodes, of all or of those in `options["reset_mask"]`."""
        chosen = np.array((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool)))
        observations, infos = super().reset(seed=seed, options=options)  # type: ignore[arg-type]
        for number, observation in enumerate(iterate(self.observation_space, observations)):
            if chosen[number]:
                self._episodes[number] = self._judge.begin(observation)
        return observations, infos

    def step(self, actions: Any) -> tuple[Any, Array, Flags, Flags, Info]:
        """One step of each, with the learned reward; the environments' own are in the infos."""
        observations, original, terminated, truncated, infos = super().step(actions)
        over = np.logical_or(terminated, truncated)
        each = zip(
            iterate(self.action_space, actions), iterate(self.observation_space, observations), strict=True
        )
        rewards = [self._step(number, *pair, bool(over[number]), infos) for number, pair in enumerate(each)]
        told = {ORIGINAL: np.array(original), f"_{ORIGINAL}": np.ones(self.num_envs, dtype=bool)}
        return observations, np.array(rewards), terminated, truncated, {**infos, **told}

    def _step(self, number: int, action: Any, observation: Any, over: bool, infos: Info) -> float:
        episode = self._episodes[number]
        if episode is None:  # this step was its reset, and the action was not used
            self._episodes[number] = self._judge.begin(observation)
            return 0.0
        last, info = observation, one_of(infos, number)
        if over and self._at_once:  # what is returned is the next episode's
            last, info = info["final_obs"], info["final_info"]
        reward = self._judge.step(episode, action, last, over, info)
        if over:
            self._episodes[number] = self._judge.begin(observation) if self._at_once else None
        return reward


def one_of(infos: Info, number: int) -> Info:
    """The info of one sub-environment; `_key` says which of them have a `key`."""
    told = [key for key in infos if f"_{key}" in infos and infos[f"_{key}"][number]]
    return {
        key: one_of(infos[key], number) if isinstance(infos[key], dict) else infos[key][number]
        for key in told
    }
