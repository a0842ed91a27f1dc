"""Worlds: simulators of robots, which know nothing of people or models.

`make("driver")` needs nothing but NumPy; "tosser" and "golf" need MuJoCo, which `prefero[worlds]` brings.
Where Gymnasium is installed, importing this package registers `prefero/Driver-v0`, `prefero/Tosser-v0` and
`prefero/Golf-v0`.
"""

import inspect
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from prefero.worlds.base import Actions, Feature, Filmed, World

BUILT_IN = {"driver": "Driver", "tosser": "Tosser", "golf": "Golf"}  # module and class

_registered: dict[str, Callable[..., World]] = {}

__all__ = ["Actions", "Feature", "Filmed", "World", "from_gymnasium", "make", "names", "register"]


def names() -> tuple[str, ...]:
    """The worlds that `make` knows."""
    return (*BUILT_IN, *_registered)


def register(name: str, factory: Callable[..., World]) -> None:
    """Let `make(name, **options)` call `factory(**options)`: a world of one's own."""
    if not name or name in BUILT_IN:
        raise ValueError(f"a world of one's own needs a name of its own, but this is {name!r}")
    _registered[name] = factory


def make(name: str, **options: Any) -> World:
    """A world by its name; its class says which options it takes."""
    factory = _factory(name)
    try:
        inspect.signature(factory).bind(**options)
    except TypeError as error:
        known = ", ".join(inspect.signature(factory).parameters) or "none"
        raise ValueError(f"{name} does not take these options: {error}; its options: {known}") from error
    world = factory(**options)
    if name in _registered:  # so that a pool finds its world again
        world.name, world.options = name, options
    return world


def _factory(name: str) -> Callable[..., World]:
    if name in _registered:
        return _registered[name]
    if name not in BUILT_IN:
        raise ValueError(f"there is no world {name!r}: the worlds are {', '.join(names())}")
    factory: Callable[..., World] = getattr(import_module(f"prefero.worlds.{name}"), BUILT_IN[name])
    return factory


def from_gymnasium(*arguments: Any, **options: Any) -> World:
    """A world made of a Gymnasium environment; the arguments are those of `GymnasiumWorld`."""
    from prefero.worlds.gymnasium_world import GymnasiumWorld

    return GymnasiumWorld(*arguments, **options)


def _register_environments() -> None:
    gymnasium = import_module("gymnasium")
    for module in BUILT_IN.values():
        gymnasium.register(
            id=f"prefero/{module}-v0", entry_point=f"prefero.worlds.gymnasium_envs:{module}Environment"
        )


if find_spec("gymnasium") is not None:
    _register_environments()
