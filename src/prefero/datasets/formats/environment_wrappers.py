"""The wrappers of an environment that change the observations or actions that a reward sees."""

from collections.abc import Iterator
from typing import Any

from prefero._support.optional import need

SAME_NUMBERS = {"ClipAction", "FlattenObservation", "ReshapeObservation"}  # within the bounds of the actions


def changing_wrappers(env: Any) -> tuple[str, ...]:
    """The names of the wrappers that change observations or actions, the outermost first.

    Args:
        env: An environment, or a vector environment; of the latter, also the wrappers in its environments,
            which are taken to have the same ones.

    Returns:
        Their names, without those that leave the numbers as they are.
    """
    return tuple(name for name in _names(env) if name not in SAME_NUMBERS)


def _names(env: Any) -> Iterator[str]:
    gymnasium = need("gymnasium", extra="worlds")
    vector = gymnasium.vector
    changing = (
        gymnasium.ObservationWrapper,
        gymnasium.ActionWrapper,
        vector.VectorObservationWrapper,
        vector.VectorActionWrapper,
    )
    while isinstance(env, (gymnasium.Wrapper, vector.VectorWrapper)):
        if isinstance(env, changing) or _spaces(env) != _spaces(env.env):
            yield type(env).__name__
        env = env.env
    if isinstance(env, vector.SyncVectorEnv):
        yield from _names(env.envs[0])
    elif isinstance(env, vector.AsyncVectorEnv):
        one = env.env_fns[0]()  # the others are in other processes
        yield from _names(one)
        one.close()


def _spaces(env: Any) -> tuple[Any, Any]:
    """The spaces of one environment."""
    if hasattr(env, "single_action_space"):
        return env.single_observation_space, env.single_action_space
    return env.observation_space, env.action_space
