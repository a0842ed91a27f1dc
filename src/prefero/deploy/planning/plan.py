"""Planning: the actions with the highest learned reward in a world.

The search is CMA-ES for numbers, and the cross-entropy method for choices (`cross_entropy.py`).

actions      (A,) or (N, A)       one action sequence, or a batch of them, inside the world's bounds
objective    (N, A) -> (N,)       the function of actions that is maximized
score        (N, d) -> (N,)       the objective as a function of a trajectory's features
caution                           k in the lower confidence bound, mean - k std
unit         (A,)                 actions as fractions of their range, the coordinates of the search
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prefero._support import progress_bar
from prefero._support.arrays import Array, one_thread
from prefero._support.optional import need
from prefero._support.ordering import first_largest
from prefero.deploy.planning.cross_entropy import cross_entropy
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool
from prefero.rewards.reward import Reward
from prefero.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from prefero.worlds.base import ActionSpace, World

INITIAL_STEP = 0.2  # standard deviation of the first population, as a fraction of the range
TOLERANCE = 1e-6  # a run ends when its last values differ by less
RANDOM_FRACTION = 0.1  # without a pool, this fraction of the evaluations is spent on random actions

Objective = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Plan:
    """An action sequence, its trajectory, and its reward.

    Args:
        actions: (A,).
        trajectory: What follows from them.
        mean: The expected reward.
        std: Its standard deviation.
    """

    actions: Array
    trajectory: Trajectory
    mean: float
    std: float


class Optimum(NamedTuple):
    """The best actions that a search found."""

    actions: Array
    value: float


def lower_confidence_bound(belief: Distribution, x: Array, caution: float) -> Array:
    """The mean reward of scaled features x (N, d) minus `caution` standard deviations, shape (N,)."""
    mean, variance = belief.marginals(x)
    return mean - caution * np.sqrt(variance)


def check_caution(caution: float) -> None:
    """Raise an error unless caution is a number of standard deviations."""
    if not (np.isfinite(caution) and caution >= 0):
        raise ValueError(f"caution is a number of standard deviations, 0 or more, but is {caution!r}")


def plan(
    reward: Reward,
    world: "World | str",
    pool: Pool | None = None,
    *,
    caution: float = 0.0,
    evaluations: int = 2000,
    seed: int = 0,
    progress: bool | None = None,
) -> Plan:
    """The actions in a world that maximize the expected reward.

    The search is CMA-ES, from `prefero[plan]`; for discrete actions, the cross-entropy method.

    Args:
        reward: A learned reward of the world's features.
        world: A world, or its name.
        pool: The search starts from its best trajectory; without a pool, from the best of some random
            actions.
        caution: k in mean - k std, the lower confidence bound: what is known to be good is preferred.
        evaluations: How many trajectories are simulated.
        seed: Of the search.
        progress: Show a progress bar; None shows it on a terminal.

    Returns:
        The actions with their trajectory and reward.
    """
    if isinstance(world, str):
        from prefero import worlds

        world = worlds.make(world)
    check_caution(caution)
    reward.scaling.check_names(world.feature_names, f"the world {world.name}")
    if pool is not None:
        reward.scaling.check_names(pool.names, "the pool")
    space, rollout = world.action_space, world.rollout

    def score(features: Array) -> Array:
        return lower_confidence_bound(reward.belief, reward.scaling(features), caution)

    def objective(actions: Array) -> Array:
        return score(rollout(actions).features)

    if pool is not None:
        spent, start = 0, _best_of_pool(score, space, pool)
    else:
        spent = max(int(RANDOM_FRACTION * evaluations), 0)
        start = _best_random(objective, space, spent, seed)
    left = evaluations - spent
    actions, _ = maximize(objective, space, start, evaluations=left, seed=seed, progress=progress)
    trajectory = rollout(actions)
    mean, variance = reward.belief.marginals(reward.scaling(trajectory.features[None]))
    return Plan(actions, trajectory, float(mean[0]), float(np.sqrt(variance[0])))


def _best_random(objective: Objective, space: "ActionSpace", count: int, seed: int) -> Array:
    """The best of `count` random actions."""
    samples = space.sample(max(count, 1), np.random.default_rng([seed, 1]))
    best: Array = samples[first_largest(objective(samples)) if count else 0]
    return best


def _best_of_pool(score: Objective, space: "ActionSpace", pool: Pool) -> Array:
    if pool.actions is None:
        raise ValueError(
            "this pool has only features, so there are no actions to start from: leave the pool out"
        )
    return space.check(pool.actions[first_largest(score(pool.features))])


@one_thread
def maximize(
    objective: Objective,
    space: "ActionSpace",
    start: npt.ArrayLike,
    *,
    evaluations: int = 2000,
    seed: int = 0,
    progress: bool | None = None,
) -> Optimum:
    """The actions with the highest value in this many evaluations, never worse than the start.

    A run that converges early is followed by another from a random start with twice the population.
    """
    if evaluations < 1 or seed < 0:
        raise ValueError(
            f"a search takes 1 evaluation or more and a seed of 0 or more, not {evaluations} and {seed}"
        )
    first = np.atleast_2d(space.check(start))[:1]
    best = Optimum(first[0], float(_evaluate(objective, first)[0]))
    rng = np.random.default_rng(seed)
    with progress_bar.progress("planning", evaluations, progress) as advance:
        advance(1)
        for actions, values in _populations(objective, space, first[0], evaluations - 1, rng):
            advance(len(values))
            index = int(np.argmax(values))
            if values[index] > best.value:
                best = Optimum(actions[index], float(values[index]))
    return best


def _populations(
    objective: Objective, space: "ActionSpace", start: Array, evaluations: int, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """Actions that were evaluated together, with their values, until the evaluations are spent."""
    low, high = space.low, space.high
    if space.discrete:
        yield from cross_entropy(partial(_evaluate, objective), low, high, start, evaluations, rng)
        return
    width = np.where(high > low, high - low, 1.0)  # an action may be fixed
    size = _population_size(len(space))
    search = _strategy((start - low) / width, size, rng)
    while evaluations > 0:
        asked = search.ask()
        candidates = np.clip(low + width * np.stack(asked)[:evaluations, : len(space)], low, high)
        values = _evaluate(objective, candidates)
        evaluations -= len(candidates)
        yield candidates, values
        if evaluations > 0:
            search.tell(asked, (-values).tolist())
        if search.stop():
            size *= 2
            search = _strategy(rng.random(len(space)), size, rng)


def _population_size(dimensions: int) -> int:
    return 4 + int(3 * np.log(max(dimensions, 2)))  # the default of the CMA-ES tutorial (Hansen, 2016)


def _strategy(unit: Array, size: int, rng: np.random.Generator) -> Any:
    """CMA-ES in the unit box; it needs two dimensions, so a single action gets a second that is unused."""
    start = np.append(unit, 0.5) if len(unit) == 1 else unit
    options = {
        "bounds": [0.0, 1.0],
        "popsize": size,
        "randn": lambda *shape: rng.standard_normal(shape),
        "seed": np.nan,  # randomness comes from `randn` alone, and NumPy's global state stays as it was
        "tolfun": TOLERANCE,
        "tolfunhist": TOLERANCE,
        "verbose": -10,
    }
    return need("cma", extra="plan").CMAEvolutionStrategy(start, INITIAL_STEP, options)


def _evaluate(objective: Objective, actions: Array) -> Array:
    values = np.asarray(objective(actions), dtype=float)
    if values.shape != (len(actions),) or not np.all(np.isfinite(values)):
        raise ValueError(
            f"wanted one finite value for each of {len(actions)} actions, but got {np.array2string(values)}"
        )
    return values
