"""Speed of the worlds on all cores, beside bare loops that run in the same minute."""

import time
from collections.abc import Callable

import mujoco
import numpy as np

from prefero._support.systems import usable_cores
from prefero.pools.pool import Pool
from prefero.worlds.driver import Driver
from prefero.worlds.golf import Golf
from prefero.worlds.tosser import STEPS, Tosser


def clock(work: Callable[[], object], repeats: int = 3) -> float:
    """The shortest wall time; the worlds use all cores, so the processor's time would say nothing."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def driver(count: int = 100_000) -> None:
    world = Driver()
    size = count * world.horizon
    values = np.random.default_rng(0).standard_normal(size)
    unit = clock(lambda: np.cos(values) + np.sin(values))
    taken = clock(lambda: Pool.simulate(world, count, cache=False, progress=False))
    print(f"\n{count:,} trajectories of driver with features: {taken:.2f} s (wanted below 10 on two cores)")
    print(f"{taken / unit:.1f} times one sine and one cosine of every state")


def single_steps(world: Tosser) -> None:
    """One rollout in a plain Python loop."""
    data = mujoco.MjData(world.model)
    for _ in range(STEPS):
        mujoco.mj_step(world.model, data)


def tosser(count: int = 1000) -> None:
    world = Tosser()
    unit = clock(lambda: single_steps(world), 5)
    taken = clock(lambda: Pool.simulate(world, count, cache=False, progress=False), 1)
    print(
        f"\n{count} trajectories of tosser: {taken:.2f} s on {usable_cores()} cores (wanted below 15 on two)"
    )
    print(f"a trajectory takes {taken / count / unit:.2f} times {STEPS} bare steps in one Python loop")


def golf(count: int = 64) -> None:
    world = Golf()
    taken = clock(lambda: Pool.simulate(world, count, cache=False, progress=False), 1)
    each = 1e3 * taken / count
    print(f"\n{count} shots of golf: {each:.0f} ms a shot of {world.duration:g} s on {usable_cores()} cores")


def main() -> None:
    driver()
    tosser()
    golf()


if __name__ == "__main__":
    main()
