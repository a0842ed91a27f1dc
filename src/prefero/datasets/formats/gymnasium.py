"""Episodes of a Gymnasium environment, played with a policy or with random actions, and rendered to films.

    environment   an id, or a function that makes the environment and takes render_mode
    policy        a function of an observation that returns an action, or its module:function; None: random
    seed          episode n starts from the seed + n, and its random actions come from both

An episode is played whenever it is read, always the same; to film it, it is played once more.
"""

import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from prefero._support.arrays import Array, Image
from prefero._support.optional import MissingExtra, need
from prefero.datasets.base import BadEpisode, Episode, EpisodeDataset, StepRange
from prefero.datasets.features.user_functions import described, function_name, import_function
from prefero.datasets.formats.minari.dataset import first_image, side_by_side

Policy = Callable[[Any], Any]
RATE = 30.0  # steps a second, where the environment does not say
RENDERED = "rgb_array"
ENDLESS = 10_000  # an episode of so many steps is said to have no end


class Transition(NamedTuple):
    """What was seen at a step, what was done then, what reward that brought, and how it looked."""

    seen: Any
    action: Any
    reward: float
    picture: Any


class Gymnasium(EpisodeDataset):
    """Episodes that are played when they are read."""

    def __init__(
        self,
        environment: str | Callable[..., Any],
        *,
        episodes: int = 100,
        policy: str | Policy | None = None,
        steps: int | None = None,
        seed: int = 0,
    ) -> None:
        if episodes < 1 or seed < 0 or (steps is not None and steps < 1):
            raise ValueError(
                f"there are 1 or more episodes and steps, and a seed of 0 or more, but they are {episodes}, "
                f"{steps} and {seed}"
            )
        self.environment, self.steps, self.seed = environment, steps, seed
        self.policy = import_function(policy) if isinstance(policy, str) else policy
        self.name = environment if isinstance(environment, str) else function_name(environment, "own")
        self.ids = tuple(map(str, range(episodes)))
        made = self._made()
        self.seconds = 1.0 / float(made.metadata.get("render_fps") or RATE)
        self.renders = RENDERED in made.metadata.get("render_modes", [])
        made.close()
        told = isinstance(environment, str) and (policy is None or isinstance(policy, str))
        options = {"episodes": episodes, "policy": policy, "steps": steps, "seed": seed}
        self.recipe = {"kind": "gymnasium", "path": environment, **options} if told else None
        player = [] if policy is None else [described(policy)]
        place = environment if isinstance(environment, str) else described(environment)
        self.decided = player if told else [place, steps, seed, *player]

    def contents(self) -> list[Any]:
        """One's own code that plays it, and all that a recipe would say."""
        return self.decided

    @cached_property
    def has_video(self) -> bool:  # type: ignore[override]  # not before somebody asks
        """Can it render videos? A picture is rendered to see, since what does so may not be installed."""
        if not self.renders:
            return False
        try:
            made = self._made(render_mode=RENDERED)
            try:
                first_image(made)
            finally:
                made.close()
        except Exception as error:  # environments of others fail in ways of their own
            why = str(error).rstrip(".") or repr(error)
            way_out = "Mend that to see films; until then, its features are shown"
            warnings.warn(f"{self.name} cannot be rendered: {why}. {way_out}", stacklevel=2)
            return False
        return True

    def _made(self, **options: Any) -> Any:
        make = self.environment if callable(self.environment) else self._by_id
        try:
            return make(**options)
        except MissingExtra:
            raise
        except Exception as error:  # environments of others fail in ways of their own
            why = str(error) if isinstance(self.environment, str) else repr(error)
            raise ValueError(f"the environment {self.name!r} cannot be made: {why}") from error

    def _by_id(self, **options: Any) -> Any:
        return need("gymnasium", extra="worlds").make(self.environment, **options)

    def episode(self, number: int) -> Episode:
        """Play one episode."""
        self.check_number(number)
        environment = self._made()
        try:
            return self._noted(number, list(self._played(environment, number)))
        finally:
            environment.close()

    def _noted(self, number: int, course: list[Transition]) -> Episode:
        try:
            states, state_names = side_by_side(_stacked([moment.seen for moment in course]), "state")
            actions, action_names = side_by_side(_stacked([one.action for one in course[:-1]]), "action")
        except (TypeError, ValueError, KeyError) as error:
            raise BadEpisode(
                self.ids[number], f"what was seen or done changes its shape: {error!r}"
            ) from error
        rewards = np.array([moment.reward for moment in course[:-1]], dtype=float)
        return Episode(self.ids[number], states, actions, rewards, self.seconds, state_names, action_names)

    def _played(
        self, environment: Any, number: int, look: Callable[[], Any] = lambda: None
    ) -> Iterator[Transition]:
        """Step by step what was seen, what was done and what came of it; at the end nothing is done."""
        seen = self._start(environment, number)
        over, count = False, 0
        while not over and count != self.steps:
            if self.steps is None and count == ENDLESS:
                raise ValueError(
                    f"{self.name} has not ended an episode in {ENDLESS:,} steps: say how many one may have"
                )
            picture = look()
            action = self._action(environment, seen, number)
            try:
                after, reward, terminated, truncated, _ = environment.step(action)
                moment = Transition(_copied(seen), action, float(reward), picture)
            except Exception as error:  # environments of others fail in ways of their own
                raise BadEpisode(
                    self.ids[number], f"{self.name} fails at the action {action!r}: {error!r}"
                ) from error
            yield moment
            seen, over, count = after, terminated or truncated, count + 1
        yield Transition(_copied(seen), None, 0.0, None)

    def _start(self, environment: Any, number: int) -> Any:
        try:
            environment.action_space.seed(int(np.random.default_rng([self.seed, number]).integers(2**31)))
            return environment.reset(seed=self.seed + number)[0]
        except Exception as error:  # environments of others fail in ways of their own
            raise BadEpisode(self.ids[number], f"{self.name} fails at the start: {error!r}") from error

    def _action(self, environment: Any, seen: Any, number: int) -> Any:
        if self.policy is None:
            return environment.action_space.sample()
        try:
            return self.policy(seen)
        except Exception as error:  # code of others fails in ways of its own
            raise BadEpisode(
                self.ids[number], f"the policy {function_name(self.policy, 'of yours')} fails: {error!r}"
            ) from error

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """What the environment renders while the episode is played once more."""
        if not self.renders:
            raise ValueError(f"{self.name} does not render pictures ({RENDERED}): it cannot be has_video")
        return self._filmed(number, steps), 1 / self.seconds

    def _filmed(self, number: int, steps: StepRange | None) -> Iterator[Image]:
        known = self.episode(number)
        first, last = steps or (0, len(known))
        environment = self._made(render_mode=RENDERED)
        try:
            for step, moment in enumerate(self._played(environment, number, environment.render)):
                self._compare(moment.seen, known.states, number, step)
                if first <= step < last:
                    yield np.asarray(moment.picture)
        except BadEpisode:
            raise
        except Exception as error:  # environments of others fail in ways of their own
            raise BadEpisode(self.ids[number], f"{self.name} cannot be has_video: {error!r}") from error
        finally:
            environment.close()

    def _compare(self, seen: Any, known: Array, number: int, step: int) -> None:
        state = side_by_side(_stacked([seen]), "state")[0]
        if step >= len(known) or not np.allclose(state[0], known[step]):
            raise BadEpisode(
                self.ids[number],
                "played again it went another way, so that its film would show something else: "
                "the environment or the policy draws numbers that the seed does not decide",
            )


def _copied(value: Any) -> Any:
    """Some environments give the same array again and again."""
    if isinstance(value, dict):
        return {key: _copied(part) for key, part in value.items()}
    return tuple(map(_copied, value)) if isinstance(value, tuple) else np.array(value)


def _stacked(values: list[Any]) -> Any:
    """A course of observations or actions: of arrays an array, of dictionaries a dictionary of arrays."""
    if isinstance(values[0], dict):
        return {key: _stacked([value[key] for value in values]) for key in values[0]}
    if isinstance(values[0], tuple):
        return tuple(_stacked(list(parts)) for parts in zip(*values, strict=True))
    return np.stack([np.asarray(value) for value in values])
