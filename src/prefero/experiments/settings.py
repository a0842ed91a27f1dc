"""What is taught: a world, a simulated user's reward, and the sizes of a run.

Features are standardized on the training pool, to mean 0 and standard deviation 1. The user's reward has
independent standard normal coefficients on those, and is then divided by its standard deviation over the
training pool, so that a noise of 0.1 is a tenth of the rewards' standard deviation in every setting. Answers
go through the probit model. The test set's trajectories come from a pool with another seed; its answers are
noiseless. Users like people ("like-people") have a noise and a lapse rate of their own, which no method is
told.
"""

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from prefero import worlds
from prefero.simulation.tasks import LIKE_PEOPLE, Task, world_task
from prefero.worlds import World


@dataclass(frozen=True)
class Setting:
    """Everything about the teaching but the method and the seed.

    Users like people have their own noise and lapse rate; those given here are what methods assume.
    """

    world: str
    truth: str
    noise: float = 0.1
    lapse_rate: float = 0.0
    margin: float = 0.0
    trajectories: int = 1000
    test_size: int = 40
    questions: int = 200

    def task(self, seed: int) -> Task:
        """The pool, the simulated user and the test set; the seed decides all three."""
        return _task(self, seed)

    def to_json(self) -> dict[str, Any]:
        """Plain values for a file."""
        numbers = ("noise", "lapse_rate", "margin")
        return asdict(self) | {name: float(getattr(self, name)) for name in numbers}


@lru_cache
def _world(name: str) -> World:
    """Once a process: golf takes seconds to learn how far its shots go."""
    return worlds.make(name)


@lru_cache(maxsize=4)
def _task(setting: Setting, seed: int) -> Task:
    """The seed decides a pool of random actions; a grid is the same for every seed."""
    world, has_own_errors = _world(setting.world), setting.truth == LIKE_PEOPLE
    return world_task(
        world,
        setting.truth,
        trajectories=setting.trajectories,
        noise=None if has_own_errors else setting.noise,
        margin=setting.margin,
        lapse_rate=None if has_own_errors else setting.lapse_rate,
        test_size=setting.test_size,
        seed=seed,
        sampling=world.pool_sampling,
        pool_seed=0 if world.pool_sampling == "grid" else seed,
        progress=False,
    )
