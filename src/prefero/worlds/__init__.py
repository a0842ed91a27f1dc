"""Worlds: simulators of robots, found by name.

`make("driver")` needs only NumPy; "tosser" and "golf" need MuJoCo, which `prefero[worlds]` installs. Another
package adds a world by an entry point of the group `prefero.worlds`: a name, and a subclass of `World` or a
function that returns one.

Where Gymnasium is installed, importing this package registers the environments `prefero/Driver-v0`,
`prefero/Tosser-v0` and `prefero/Golf-v0`.
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from prefero._support.plugins import Registry, UnknownNameError
from prefero.worlds.base import ActionSpace, Feature, RendersVideo, World
from prefero.worlds.gymnasium_world import GymnasiumWorld

Factory = Callable[..., World]

BUILT_IN = {
    "driver": "prefero.worlds.driver:Driver",
    "tosser": "prefero.worlds.tosser:Tosser",
    "golf": "prefero.worlds.golf:Golf",
}
REGISTRY: Registry[Factory] = Registry("world", "prefero.worlds", BUILT_IN)

from_gymnasium = GymnasiumWorld

__all__ = ["ActionSpace", "Feature", "RendersVideo", "World", "from_gymnasium", "make", "names", "register"]


def names() -> tuple[str, ...]:
    """The worlds that `make` knows: Prefero's, registered ones, and those of other packages."""
    return REGISTRY.names()


def register(name: str, factory: Factory) -> None:
    """Make a world known by a name in this process; a later call replaces it.

    Args:
        name: A new name, not one of Prefero's own worlds.
        factory: What `make(name, **options)` calls with the options.
    """
    if not name or name in BUILT_IN:
        raise ValueError(
            f"a world is registered under a new name, not one of {', '.join(BUILT_IN)}, but this is {name!r}"
        )
    with suppress(UnknownNameError):
        REGISTRY.unregister(name)
    REGISTRY.register(name, factory)


def make(name: str, **options: Any) -> World:
    """A world by its name.

    Args:
        name: One of `names()`.
        **options: Those of its class or factory.

    Returns:
        The world.

    Raises:
        ValueError: If there is no such world or option.
    """
    factory = REGISTRY.get(name)
    try:
        inspect.signature(factory).bind(**options)
    except TypeError as error:
        known = ", ".join(inspect.signature(factory).parameters) or "none"
        raise ValueError(f"{name} does not take these options: {error}; its options: {known}") from error
    world = factory(**options)
    if name not in BUILT_IN:  # so that a pool finds its world again
        world.name, world.options = name, options
    return world


def _register_environments() -> None:
    gymnasium = import_module("gymnasium")
    for reference in BUILT_IN.values():
        name = reference.partition(":")[2]
        gymnasium.register(id=f"prefero/{name}-v0", entry_point=f"prefero.worlds.gymnasium_envs:{name}Env")


if find_spec("gymnasium") is not None:
    _register_environments()
