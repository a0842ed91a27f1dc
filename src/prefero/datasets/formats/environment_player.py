"""Makes Gymnasium environments, here or in another process, and plays episodes of them.

number   of an episode, which is its id too; it is reset with the seed + number, and its random actions
         are drawn with both
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from prefero._support.optional import MissingExtra, need
from prefero.datasets.episode import BadEpisode
from prefero.datasets.features.library.user_functions import find_modules_here, function_name
from prefero.datasets.formats.observations import copied
from prefero.rendering.environments import reason_without_images, say_mujoco_warnings_once

Policy = Callable[[Any], Any]
Choose = Callable[[Any, int], Any]  # an action, from an observation and the number of steps so far
MOST_STEPS = 10_000  # an episode that has not ended by then needs max_steps


class Transition(NamedTuple):
    """An observation, the action that was taken, its reward, and the image that was rendered before it.

    `info` are the flags and numbers that the environment told after a step, and whether it ended the episode.
    """

    observation: Any
    action: Any
    reward: float
    image: Any
    info: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class EnvironmentMaker:
    """Makes an environment by its id or with the user's function, here or in another process.

    registered   what Gymnasium knows of an id, for processes in which it is not registered
    """

    environment: str | Callable[..., Any]
    name: str
    registered: Any = None

    @classmethod
    def of(cls, environment: str | Callable[..., Any], name: str) -> "EnvironmentMaker":
        """For an id, with what is registered under it here."""
        if not isinstance(environment, str):
            return cls(environment, name)
        return cls(environment, name, need("gymnasium", extra="worlds").registry.get(environment))

    def __call__(self, **options: Any) -> Any:
        make = self.environment if callable(self.environment) else self._by_id
        say_mujoco_warnings_once()
        try:
            return make(**options)
        except MissingExtra:
            raise
        except Exception as error:  # another package's environment may fail in any way
            reason = str(error) if isinstance(self.environment, str) else repr(error)
            raise ValueError(f"the environment {self.name!r} cannot be made: {reason}") from error

    def _by_id(self, **options: Any) -> Any:
        gymnasium = need("gymnasium", extra="worlds")
        if ":" in str(self.environment):  # my_module:Mine-v0, which registers it
            find_modules_here()
        unknown = self.registered is not None and self.environment not in gymnasium.registry
        return gymnasium.make(self.registered if unknown else self.environment, **options)


@dataclass(frozen=True)
class EnvironmentPlayer:
    """Plays episodes: with a policy, at random without one, or with given actions.

    name        of the environment, for errors
    max_steps   the largest number of steps of an episode; None leaves it to the environment
    """

    name: str
    policy: Policy | None
    seed: int
    max_steps: int | None

    def play(
        self,
        environment: Any,
        number: int,
        choose: Choose | None = None,
        render: Callable[[], Any] = lambda: None,
    ) -> Iterator[Transition]:
        """Transition after transition; the last one is the final observation, and has no action."""
        observation, limit = self._reset(environment, number), self.max_steps
        choose = choose or (lambda seen, _: self._action(environment, seen, number))
        over, count = False, 0
        while not over and count != limit:
            if limit is None and count == MOST_STEPS:
                raise ValueError(
                    f"{self.name} has not ended an episode in {MOST_STEPS:,} steps: give --max-steps "
                    "(max_steps)"
                )
            image = self._image(render, number)
            action = choose(observation, count)
            try:
                after, reward, terminated, truncated, told = environment.step(action)
                info = _scalars({**told, "terminated": bool(terminated), "truncated": bool(truncated)})
                transition = Transition(copied(observation), action, float(reward), image, info)
            except Exception as error:  # another package's environment may fail in any way
                raise BadEpisode(
                    str(number), f"{self.name} fails at the action {action!r}: {error!r}"
                ) from error
            yield transition
            observation, over, count = after, terminated or truncated, count + 1
        yield Transition(copied(observation), None, 0.0, None)

    def _reset(self, environment: Any, number: int) -> Any:
        seed = self.seed
        try:
            environment.action_space.seed(int(np.random.default_rng([seed, number]).integers(2**31)))
            return environment.reset(seed=seed + number)[0]
        except Exception as error:  # another package's environment may fail in any way
            raise BadEpisode(str(number), f"{self.name} fails at the start: {error!r}") from error

    def _action(self, environment: Any, observation: Any, number: int) -> Any:
        if self.policy is None:
            return environment.action_space.sample()
        try:
            return self.policy(observation)
        except Exception as error:  # the user's code may fail in any way
            raise BadEpisode(
                str(number), f"the policy {function_name(self.policy, 'of yours')} fails: {error!r}"
            ) from error

    def _image(self, render: Callable[[], Any], number: int) -> Any:
        try:
            return render()
        except Exception as error:  # another package's environment may fail in any way
            raise self.not_rendered(number, error) from error

    def not_rendered(self, number: int, error: Exception) -> BadEpisode:
        """The error for an episode of which there are no images."""
        return BadEpisode(str(number), f"{self.name} cannot be rendered: {reason_without_images(error)}")


def _scalars(told: Mapping[str, Any]) -> dict[str, float]:
    """The flags and numbers among infos, as Python has them."""
    found = {str(name): _scalar(value) for name, value in told.items()}
    return {name: value for name, value in found.items() if value is not None}


def _scalar(value: Any) -> float | None:
    """A flag or a number; None for anything else."""
    if isinstance(value, bool | int | float):  # nearly all are, and arrays take much longer
        return value
    array = np.asarray(value) if np.ndim(value) == 0 else None
    return None if array is None or array.dtype.kind not in "fiub" else array.item()
