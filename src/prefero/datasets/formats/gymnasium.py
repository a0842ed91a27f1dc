"""Episodes of a Gymnasium environment, played by a policy or at random, and rendered as videos.

    environment   an id, or a function that makes the environment and takes render_mode
    policy        a function of an observation that returns an action, or its module:function; None: random
    seed          episode n is reset with the seed + n, and its random actions are drawn with both

An episode is played whenever it is read, always in the same way; to render it, it is played once more.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from prefero._support.arrays import Array, Image
from prefero._support.optional import MissingExtra, need
from prefero.datasets.base import DatasetFormat, DatasetSpec, EpisodeDataset, FormatOptions, option
from prefero.datasets.episode import BadEpisode, Episode, StepRange
from prefero.datasets.features.user_functions import (
    function_digest,
    function_name,
    import_function,
    source_files,
)
from prefero.datasets.formats.observations import copied, first_image, side_by_side, stack

Policy = Callable[[Any], Any]
DEFAULT_RATE = 30.0  # steps a second, where the environment does not say
RENDER_MODE = "rgb_array"
MOST_STEPS = 10_000  # an episode that has not ended by then needs max_steps


class Transition(NamedTuple):
    """An observation, the action that was taken, its reward, and the image that was rendered before it."""

    observation: Any
    action: Any
    reward: float
    image: Any


@dataclass(frozen=True, kw_only=True)
class GymnasiumOptions(FormatOptions):
    """How an environment is played."""

    episodes: int = option(100, "How many episodes are played; 100.", minimum=1)
    policy: str | None = option(
        None, "The policy that plays: module:function of an observation; random actions without one."
    )
    max_steps: int | None = option(None, "The largest number of steps of an episode.", minimum=1)
    seed: int = option(0, "The seed of the environment and of random actions; 0.", minimum=0)


class GymnasiumDataset(EpisodeDataset, DatasetFormat):
    """Episodes that are played when they are read.

    `policy` is a function itself, in place of the one that the options name.
    """

    format_name = "gymnasium"
    description = "the id of a Gymnasium environment"
    options_type = GymnasiumOptions
    send_whole = True  # an environment that this process has registered is unknown to others

    def __init__(
        self,
        environment: str | Callable[..., Any],
        options: GymnasiumOptions | None = None,
        *,
        policy: Policy | None = None,
    ) -> None:
        self.environment, self.options = environment, options or GymnasiumOptions()
        self._check_options()
        named = self.options.policy
        self.policy = policy if policy is not None or named is None else import_function(named)
        self.name = environment if isinstance(environment, str) else function_name(environment, "own")
        self.ids = tuple(map(str, range(self.options.episodes)))
        self.registered = self._registered()
        made = self._made()
        self.step_seconds = 1.0 / float(made.metadata.get("render_fps") or DEFAULT_RATE)
        self.renders = RENDER_MODE in made.metadata.get("render_modes", [])
        made.close()
        if isinstance(environment, str) and policy is None:
            self.spec = DatasetSpec.of("gymnasium", environment, self.options)
        self._parts = self._digests(policy)

    def _check_options(self) -> None:
        episodes, steps, seed = self.options.episodes, self.options.max_steps, self.options.seed
        if episodes < 1 or seed < 0 or (steps is not None and steps < 1):
            raise ValueError(
                f"an environment is played for 1 or more episodes and steps with a seed of 0 or more, but "
                f"these are {episodes}, {steps} and {seed}"
            )

    def _digests(self, policy: Policy | None) -> list[Any]:
        """The user's code that plays it, and all that a spec would say."""
        player = policy if policy is not None else self.options.policy
        code = [] if player is None else [function_digest(player)]
        if self.spec is not None:
            return code
        made = self.environment if isinstance(self.environment, str) else function_digest(self.environment)
        return [made, self.options.max_steps, self.options.seed, *code]

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """The id of an environment that is registered with Gymnasium."""
        if find_spec("gymnasium") is None or Path(path).exists():
            return False
        return path in need("gymnasium", extra="worlds").registry

    @classmethod
    def open(cls, path: str, options: FormatOptions) -> "GymnasiumDataset":
        """Make the environment once; episodes are played when they are read."""
        assert isinstance(options, GymnasiumOptions)
        return cls(path, options)

    @classmethod
    def code_run(cls, path: str, options: FormatOptions) -> str:
        """The environment, and the policy."""
        policy = getattr(options, "policy", None)
        return f"the environment {path!r}" + (f" and the policy {policy!r}" if policy else "")

    def version_parts(self) -> list[Any]:
        """Digests of the user's code, and what else determines the episodes."""
        return self._parts

    @property
    def index_files(self) -> tuple[Path, ...]:
        """The files of the policy."""
        named = self.options.policy
        return () if named is None else tuple(Path(file) for file in source_files(named) if file)

    # --- environments -------------------------------------------------------------------------------------

    @cached_property
    def has_video(self) -> bool:  # type: ignore[override]  # computed on first use
        """Can it be rendered? One image is, to see whether everything for that is installed."""
        if not self.renders or self.options.videos == "ignore":
            return False
        try:
            made = self._made(render_mode=RENDER_MODE)
            try:
                first_image(made)
            finally:
                made.close()
        except Exception as error:  # another package's environment may fail in any way
            reason = str(error).rstrip(".") or repr(error)
            remedy = "Repair that to see videos; until then its features are shown"
            warnings.warn(f"{self.name} cannot be rendered: {reason}. {remedy}", stacklevel=2)
            return False
        return True

    def _made(self, **options: Any) -> Any:
        make = self.environment if callable(self.environment) else self._by_id
        try:
            return make(**options)
        except MissingExtra:
            raise
        except Exception as error:  # another package's environment may fail in any way
            reason = str(error) if isinstance(self.environment, str) else repr(error)
            raise ValueError(f"the environment {self.name!r} cannot be made: {reason}") from error

    def _by_id(self, **options: Any) -> Any:
        gymnasium = need("gymnasium", extra="worlds")
        unknown = self.registered is not None and self.environment not in gymnasium.registry
        return gymnasium.make(self.registered if unknown else self.environment, **options)

    def _registered(self) -> Any:
        """What Gymnasium knows of an id, for worker processes in which it is not registered."""
        if not isinstance(self.environment, str):
            return None
        return need("gymnasium", extra="worlds").registry.get(self.environment)

    # --- episodes -----------------------------------------------------------------------------------------

    def episode(self, number: int) -> Episode:
        """Play one episode."""
        self.check_number(number)
        environment = self._made()
        try:
            return self._as_episode(number, list(self._play(environment, number)))
        finally:
            environment.close()

    def _as_episode(self, number: int, transitions: list[Transition]) -> Episode:
        try:
            observed = stack([one.observation for one in transitions])
            states, state_names = side_by_side(observed, "state")
            taken = stack([one.action for one in transitions[:-1]])
            actions, action_names = side_by_side(taken, "action")
        except (TypeError, ValueError, KeyError) as error:
            raise BadEpisode(
                self.ids[number], f"the shape of its observations or actions changes: {error!r}"
            ) from error
        rewards = np.array([one.reward for one in transitions[:-1]], dtype=float)
        return Episode(
            self.ids[number], states, actions, rewards, self.step_seconds, state_names, action_names
        )

    def _play(
        self, environment: Any, number: int, render: Callable[[], Any] = lambda: None
    ) -> Iterator[Transition]:
        """Transition after transition; the last one is the final observation, and has no action."""
        observation, limit = self._reset(environment, number), self.options.max_steps
        over, count = False, 0
        while not over and count != limit:
            if limit is None and count == MOST_STEPS:
                raise ValueError(
                    f"{self.name} has not ended an episode in {MOST_STEPS:,} steps: give --max-steps "
                    "(max_steps)"
                )
            image = render()
            action = self._action(environment, observation, number)
            try:
                after, reward, terminated, truncated, _ = environment.step(action)
                transition = Transition(copied(observation), action, float(reward), image)
            except Exception as error:  # another package's environment may fail in any way
                raise BadEpisode(
                    self.ids[number], f"{self.name} fails at the action {action!r}: {error!r}"
                ) from error
            yield transition
            observation, over, count = after, terminated or truncated, count + 1
        yield Transition(copied(observation), None, 0.0, None)

    def _reset(self, environment: Any, number: int) -> Any:
        seed = self.options.seed
        try:
            environment.action_space.seed(int(np.random.default_rng([seed, number]).integers(2**31)))
            return environment.reset(seed=seed + number)[0]
        except Exception as error:  # another package's environment may fail in any way
            raise BadEpisode(self.ids[number], f"{self.name} fails at the start: {error!r}") from error

    def _action(self, environment: Any, observation: Any, number: int) -> Any:
        if self.policy is None:
            return environment.action_space.sample()
        try:
            return self.policy(observation)
        except Exception as error:  # the user's code may fail in any way
            raise BadEpisode(
                self.ids[number], f"the policy {function_name(self.policy, 'of yours')} fails: {error!r}"
            ) from error

    # --- videos -------------------------------------------------------------------------------------------

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """What the environment renders while the episode is played once more."""
        if not self.renders:
            raise ValueError(f"{self.name} does not render images ({RENDER_MODE}): there are no videos of it")
        return self._render(number, steps), 1 / self.step_seconds

    def _render(self, number: int, steps: StepRange | None) -> Iterator[Image]:
        known = self.episode(number)
        first, last = steps or (0, len(known))
        environment = self._made(render_mode=RENDER_MODE)
        try:
            for step, transition in enumerate(self._play(environment, number, environment.render)):
                self._compare(transition.observation, known.states, number, step)
                if first <= step < last:
                    yield np.asarray(transition.image)
        except BadEpisode:
            raise
        except Exception as error:  # another package's environment may fail in any way
            raise BadEpisode(self.ids[number], f"{self.name} cannot be rendered: {error!r}") from error
        finally:
            environment.close()

    def _compare(self, observation: Any, known: Array, number: int, step: int) -> None:
        state = side_by_side(stack([observation]), "state")[0]
        if step >= len(known) or not np.allclose(state[0], known[step]):
            raise BadEpisode(
                self.ids[number],
                "played again it differs, so its video would show something else: the environment or the "
                "policy draws random numbers that the seed does not determine",
            )
