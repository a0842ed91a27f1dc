"""Planning: the actions whose trajectory a learned reward likes best, by an evolution strategy (CMA-ES).

actions      (A,) or (N, A)       what is told to the robot, inside the world's bounds
score        (N, A) -> (N,)       what is to be made large
worth        (N, d) -> (N,)       the same of a trajectory's features
caution                           standard deviations to take off the mean: how little is left to luck
unit         (A,)                 actions as shares of their range, in which the search is at home
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, one_thread
from prefero._support.optional import need
from prefero._support.progress_bar import progress
from prefero.models.posterior import Distribution
from prefero.pools.pool import Pool
from prefero.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from prefero.worlds.base import Actions, World

STEP = 0.2  # the search begins with steps of this share of the range
SETTLED = 1e-6  # a run ends when its last scores differ by less
FIRST_LOOK = 0.1  # without a pool, this share of the evaluations is random actions, the best of which starts

Score = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Plan:
    """What the robot should do, and what the reward says of it."""

    actions: Array
    trajectory: Trajectory
    mean: float
    std: float


class Found(NamedTuple):
    """The best actions of a search."""

    actions: Array
    score: float


def cautious(belief: Distribution, x: Array, caution: float) -> Array:
    """The mean reward of rows of scaled features less `caution` standard deviations, shape (N,)."""
    mean, variance = belief.marginals(x)
    return mean - caution * np.sqrt(variance)


def check_caution(caution: float) -> None:
    """An error unless caution is a number of standard deviations."""
    if not (np.isfinite(caution) and caution >= 0):
        raise ValueError(f"caution is a number of standard deviations, 0 or more, but is {caution!r}")


def plan_actions(
    worth: Score,
    world: "World",
    pool: Pool | None = None,
    *,
    evaluations: int = 2000,
    seed: int = 0,
    show: bool | None = None,
) -> Array:
    """The actions in a world whose trajectory's features are worth most, from the pool's best start."""

    def score(actions: Array) -> Array:
        return worth(world.rollout(actions).features)

    if pool is not None:
        look, start = 0, _best_start(worth, world.actions, pool)
    else:
        look = max(int(FIRST_LOOK * evaluations), 0)
        start = _first_look(score, world.actions, look, seed)
    left = evaluations - look
    return maximise(score, world.actions, start, evaluations=left, seed=seed, show=show).actions


def _first_look(score: Score, actions: "Actions", count: int, seed: int) -> Array:
    """The best of some random actions."""
    tried = actions.sample(max(count, 1), np.random.default_rng([seed, 1]))
    best: Array = tried[np.argmax(score(tried)) if count else 0]
    return best


def _best_start(worth: Score, actions: "Actions", pool: Pool) -> Array:
    if pool.trajectories is None:
        raise ValueError(
            "this pool has only features, so there are no actions to start from: leave the pool out"
        )
    return actions.check(pool.trajectories.actions[np.argmax(worth(pool.features))])


@one_thread
def maximise(
    score: Score,
    actions: "Actions",
    start: npt.ArrayLike,
    *,
    evaluations: int = 2000,
    seed: int = 0,
    show: bool | None = None,
) -> Found:
    """The actions with the highest score that so many evaluations find, never worse than the start.

    A run that settles early is followed by one from a random place, with twice as many actions at a time.
    """
    if evaluations < 1 or seed < 0:
        raise ValueError(
            f"a search takes 1 evaluation or more and a seed of 0 or more, not {evaluations} and {seed}"
        )
    first = np.atleast_2d(actions.check(start))[:1]
    best = Found(first[0], float(_scored(score, first)[0]))
    rng = np.random.default_rng(seed)
    with progress("planning", evaluations, show) as advance:
        advance(1)
        for batch in _batches(score, actions, first[0], evaluations - 1, rng):
            advance(len(batch.scores))
            best = max(best, batch.best, key=lambda found: found.score)
    return best


class _Batch(NamedTuple):
    """Actions that were tried together."""

    actions: Array
    scores: Array

    @property
    def best(self) -> Found:
        top = int(np.argmax(self.scores))
        return Found(self.actions[top], float(self.scores[top]))


def _batches(
    score: Score, actions: "Actions", start: Array, evaluations: int, rng: np.random.Generator
) -> Iterator[_Batch]:
    """Run after run until the evaluations are spent."""
    low, high = actions.low, actions.high
    width = np.where(high > low, high - low, 1.0)  # an action may be fixed
    size = _population(len(actions))
    search = _strategy((start - low) / width, size, rng)
    while evaluations > 0:
        asked = search.ask()
        tried = np.clip(low + width * np.stack(asked)[:evaluations, : len(actions)], low, high)
        scores = _scored(score, tried)
        evaluations -= len(tried)
        yield _Batch(tried, scores)
        if evaluations > 0:
            search.tell(asked, (-scores).tolist())
        if search.stop():
            size *= 2
            search = _strategy(rng.random(len(actions)), size, rng)


def _population(dimensions: int) -> int:
    return 4 + int(3 * np.log(max(dimensions, 2)))  # as the strategy's authors advise


def _strategy(unit: Array, size: int, rng: np.random.Generator) -> Any:
    """CMA-ES in the unit box; it needs two dimensions, so one action gets an idle companion."""
    start = np.append(unit, 0.5) if len(unit) == 1 else unit
    options = {
        "bounds": [0.0, 1.0],
        "popsize": size,
        "randn": lambda *shape: rng.standard_normal(shape),
        "seed": np.nan,  # randomness comes from `randn` alone, and NumPy's own state is left as it was
        "tolfun": SETTLED,
        "tolfunhist": SETTLED,
        "verbose": -10,
    }
    return need("cma", extra="plan").CMAEvolutionStrategy(start, STEP, options)


def _scored(score: Score, actions: Array) -> Array:
    scores = np.asarray(score(actions), dtype=float)
    if scores.shape != (len(actions),) or not np.all(np.isfinite(scores)):
        raise ValueError(
            f"wanted one finite score for each of {len(actions)} actions, but got {np.array2string(scores)}"
        )
    return scores
