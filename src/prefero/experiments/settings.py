"""What is taught: a world, a person's reward, and how the teaching is done.

Features are standardised on the training pool, to mean 0 and standard deviation 1. The person's reward has
independent standard normal coefficients on those, and is then divided by its standard deviation over the
training pool, so that a noise of 0.1 is a tenth of the spread of rewards in every setting. Answers go through
the probit model. The exam's trajectories come from a pool with another seed; its answers are noiseless.
"""

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from prefero import worlds
from prefero.simulation.tasks import Task, world_task
from prefero.worlds import World


@dataclass(frozen=True)
class Setting:
    """Everything about the teaching but the method and the seed."""

    world: str
    truth: str
    noise: float = 0.1
    lapses: float = 0.0
    margin: float = 0.0
    trajectories: int = 1000
    tests: int = 40
    questions: int = 200

    def task(self, seed: int) -> Task:
        """The pool, the person and the exam; the seed decides all three."""
        return _task(self, seed)

    def to_json(self) -> dict[str, Any]:
        """Plain values for a file."""
        numbers = ("noise", "lapses", "margin")
        return asdict(self) | {name: float(getattr(self, name)) for name in numbers}


@lru_cache
def _world(name: str) -> World:
    """Once a process: golf takes seconds to learn how far its shots go."""
    return worlds.make(name)


@lru_cache(maxsize=4)
def _task(setting: Setting, seed: int) -> Task:
    """The seed decides a pool of random actions; a grid is the same for every seed."""
    world = _world(setting.world)
    return world_task(
        world,
        setting.truth,
        trajectories=setting.trajectories,
        noise=setting.noise,
        margin=setting.margin,
        lapses=setting.lapses,
        tests=setting.tests,
        seed=seed,
        sampling=world.pool_sampling,
        pool_seed=0 if world.pool_sampling == "grid" else seed,
        progress=False,
    )
