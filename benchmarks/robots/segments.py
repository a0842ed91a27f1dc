"""Tasks of robot learning that benchmarks share: segments of 50 steps, judged by their true return.

    segment      50 steps of a rollout: states (51, s), of which the last is after the last step, actions
                 (50, a) and true rewards (50,)
    recording    segments of mixed quality, of a few hundred rollouts: of random actions, and of linear
                 policies that a random search has improved for a while, with more or less noise
    teacher      prefers the segment of larger true return
    task         segments to ask about, and pairs of held-out segments, of other rollouts

Recordings are kept in `results/segments`. The teachers of seeds 0 to 999 share one recording of each
environment, and those of seeds from 1000 on, which are for choosing a design, have others.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from prefero._support.arrays import Array, Flags, Indices
from prefero._support.names import no_such
from prefero.datasets.episode import Episode
from prefero.learner import Learner
from prefero.questions import Question

FOLDER = Path("results/segments")
STEPS = 50
SEGMENTS = 1500  # of a recording
POOL, TESTED, PAIRS = 500, 200, 1000  # segments to ask about, held-out segments, pairs of these
RANDOM = 0.25  # share of the rollouts with random actions
NOISES = (0.0, 0.1, 0.3, 1.0)  # of a policy's actions, in half-ranges of the actions
SNAPSHOTS = (0, 5, 15, 30, 60)  # iterations of the random search after which a policy is kept
DIRECTIONS, ELITE, SEARCH_STEPS = 8, 4, 100
WIDTH, RATE = 0.1, 0.1  # of the random search: how far it looks, and how far it goes
GOAL = 0.45  # position of the mountain car at its goal, which ends an episode
TIE = 0.02  # pairs whose returns differ by less, in standard deviations, are left out: nobody sees that

Info = dict[str, Any]
Policy = Callable[[Array], Array]  # from a state to an action, each part between -1 and 1
RewardOf = Callable[[float, Info], float]  # of a step: from the environment's reward and its info
Thoughtful = Callable[[Array, Array], Array]  # states (M, T + 1, s), actions (M, T, a) -> (M, k)


# --- environments -----------------------------------------------------------------------------------------


class Walker(gymnasium.Env[Array, Array]):
    """The task walker-walk of dm_control: its model file, observations and reward, simulated by MuJoCo.

    dm_control itself does not run with every version of MuJoCo.
    """

    SUBSTEPS, STAND, SPEED = 10, 1.2, 1.0

    def __init__(self) -> None:
        self._mujoco: Any = import_module("mujoco")
        model: Any = self._mujoco.MjModel
        self._model = model.from_xml_path(str(files("dm_control").joinpath("suite", "walker.xml")))
        self._data = self._mujoco.MjData(self._model)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (self._model.nu,), dtype=np.float64)
        shape = self._observe().shape
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, shape, dtype=np.float64)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Array, Info]:
        """Limited joints anywhere in their range, and the torso at any angle."""
        super().reset(seed=seed, options=options)
        self._mujoco.mj_resetData(self._model, self._data)
        low, high = np.where(self._model.jnt_limited[:, None], self._model.jnt_range, 0.0).T
        self._data.qpos[:] = self.np_random.uniform(low, high)
        self._data.qpos[2] = self.np_random.uniform(-np.pi, np.pi)
        return self._observe(), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, Info]:
        self._data.ctrl[:] = action
        self._mujoco.mj_step(self._model, self._data, self.SUBSTEPS)
        observation = self._observe()
        torso = self._data.body("torso")
        short = max(0.0, self.STAND - torso.xpos[2]) / (self.STAND / 2)
        standing, upright = 0.1 ** (short**2), (1 + torso.xmat[8]) / 2
        speed = float(self._data.sensor("torso_subtreelinvel").data[0])
        moving = np.clip(0.5 + (speed - self.SPEED / 2) / self.SPEED, 0.0, 1.0)
        return observation, float((3 * standing + upright) / 4 * (5 * moving + 1) / 6), False, False, {}

    def _observe(self) -> Array:
        """The orientations of all bodies, the height of the torso, and all velocities."""
        self._mujoco.mj_forward(self._model, self._data)
        orientations = self._data.xmat[1:][:, [0, 2]].ravel()
        return np.concatenate([orientations, [self._data.body("torso").xpos[2]], self._data.qvel])


@dataclass(frozen=True)
class Source:
    """Where the segments of a task come from, and what a person who knows it would measure."""

    make: Callable[[], gymnasium.Env[Any, Any]]
    horizon: int
    step_seconds: float
    thoughtful: Thoughtful
    reward: RewardOf = lambda reward, _: reward
    scripted: tuple[Policy, ...] = ()  # some that do well, where a linear policy cannot
    pool: int = POOL  # segments to ask about


def _pendulum(states: Array, actions: Array) -> Array:
    angle = np.arctan2(states[:, :STEPS, 1], states[:, :STEPS, 0])
    return np.stack([_mean_square(angle), _mean_square(states[:, :STEPS, 2]), _effort(actions)], axis=1)


def _swing_up(state: Array) -> Array:
    """Brings the energy of the pendulum to that of the upright one, and holds it there."""
    cos, sin, speed = state
    missing = 5.0 * (1.0 - cos) - speed**2 / 6
    balance = -5.0 * np.arctan2(sin, cos) - speed
    action: Array = np.clip([balance if cos > 0.9 else np.sign(speed or 1.0) * np.sign(missing)], -1.0, 1.0)
    return action


def _reacher(states: Array, actions: Array) -> Array:
    return np.stack([np.linalg.norm(states[:, 1:, 8:10], axis=2).mean(axis=1), _effort(actions)], axis=1)


def _half_cheetah(states: Array, actions: Array) -> Array:
    return np.stack([states[:, 1:, 8].mean(axis=1), _effort(actions)], axis=1)


def _hopper(states: Array, actions: Array) -> Array:
    after = states[:, 1:]
    healthy = (after[:, :, 0] > 0.7) & (np.abs(after[:, :, 1]) < 0.2)
    return np.stack([after[:, :, 5].mean(axis=1), healthy.mean(axis=1), _effort(actions)], axis=1)


def _walker(states: Array, actions: Array) -> Array:
    """The uprightness, the height and the speed of the torso: of all three, the product matters."""
    after = states[:, 1:]
    upright, height, speed = after[:, :, 0], after[:, :, 14], after[:, :, 16]
    standing = np.clip((height - 0.6) / 0.6, 0, 1) * (1 + upright) / 2
    parts = [upright, height, standing, standing * np.clip(speed, 0, 1)]
    return np.stack([*(part.mean(axis=1) for part in parts), _effort(actions)], axis=1)


def _mountain_car(states: Array, actions: Array) -> Array:
    return np.stack([states[:, -1, 0] >= GOAL, _effort(actions)], axis=1)


def _pumping(gain: float) -> Policy:
    """Pushes the car where it goes, so that it swings higher: the faster, the larger the gain."""

    def pump(state: Array) -> Array:
        return np.array([gain if state[1] >= 0 else -gain])

    return pump


def _mean_square(values: Array) -> Array:
    found: Array = np.mean(values**2, axis=1)
    return found


def _effort(actions: Array) -> Array:
    found: Array = np.mean(np.sum(actions**2, axis=2), axis=1)
    return found


def _gym(name: str, **options: Any) -> Callable[[], gymnasium.Env[Any, Any]]:
    return partial(gymnasium.make, name, **options)


SOURCES: dict[str, Source] = {
    "pendulum": Source(_gym("Pendulum-v1"), 200, 0.05, _pendulum, scripted=(_swing_up,)),
    "reacher": Source(_gym("Reacher-v5"), 50, 0.02, _reacher),
    "reacher-distance": Source(
        _gym("Reacher-v5"), 50, 0.02, _reacher, lambda _, info: float(info["reward_dist"])
    ),
    "half-cheetah": Source(_gym("HalfCheetah-v5"), 200, 0.05, _half_cheetah),
    # a fall does not end the episode, so that all segments have the same length
    "hopper": Source(_gym("Hopper-v5", terminate_when_unhealthy=False), 200, 0.008, _hopper),
    "mountain-car": Source(
        _gym("MountainCarContinuous-v0"),
        300,
        0.05,
        _mountain_car,
        scripted=tuple(map(_pumping, (0.2, 0.35, 0.5, 0.7, 1.0))),
        pool=300,
    ),
    "walker": Source(Walker, 200, 0.025, _walker),
}


# --- recordings -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Recording:
    """Segments of one environment, and the rollout that each is of."""

    states: Array  # (M, T + 1, s)
    actions: Array  # (M, T, a)
    rewards: Array  # (M, T)
    rollouts: Indices  # (M,)


@cache
def recording_of(name: str, number: int) -> Recording:
    """The segments of an environment; each number gives other policies and other rollouts."""
    path = FOLDER / f"{name}-{number}.npz"
    if path.is_file():
        with np.load(path) as kept:
            return Recording(**{key: kept[key] for key in kept.files})
    made = record(SOURCES[name], np.random.default_rng([number, *name.encode()]), SEGMENTS)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, allow_pickle=False, **vars(made))
    return made


def record(source: Source, rng: np.random.Generator, segments: int) -> Recording:
    """Rollouts of all policies, cut into segments that do not overlap."""
    env = source.make()
    policies = improving_policies(env, source, rng)
    found: list[tuple[Array, Array, Array, int]] = []
    policies += source.scripted
    each = max(1, source.horizon // STEPS - 1)  # fewer than fit, so that they begin at any time
    for number in itertools.count():
        if len(found) >= segments:
            break
        policy = None if rng.random() < RANDOM else _noisy(policies, rng)
        states, actions, rewards = rollout(env, policy, source, source.horizon, rng)
        for start in _starts(len(actions), each, source.horizon, rng):
            end = start + STEPS
            found.append((states[start : end + 1], actions[start:end], rewards[start:end], number))
    parts = [np.array(part) for part in zip(*found[:segments], strict=True)]
    return Recording(*parts)


def _starts(steps: int, each: int, horizon: int, rng: np.random.Generator) -> range:
    """Where the segments of a rollout begin; those of one that ended early end where it did."""
    first = steps % STEPS if steps < horizon else int(rng.integers(horizon - each * STEPS + 1))
    return range(first, min(first + each * STEPS, steps), STEPS)


@dataclass(frozen=True, eq=False)
class LinearPolicy:
    """A linear function of standardized states, cut off at the ends of the actions' range."""

    weights: Array  # (a, s)
    center: Array
    scale: Array

    def __call__(self, state: Array) -> Array:
        action: Array = np.clip(self.weights @ ((state - self.center) / self.scale), -1.0, 1.0)
        return action


def rollout(
    env: gymnasium.Env[Any, Any], policy: Policy | None, source: Source, steps: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """States (steps + 1, s), actions in the environment's units, and true rewards; None acts at random.

    There are fewer steps where the environment ends the episode.
    """
    space: Any = env.action_space
    middle, half = (space.high + space.low) / 2, (space.high - space.low) / 2
    states, actions, rewards = [env.reset(seed=int(rng.integers(2**31)))[0]], [], []
    for _ in range(steps):
        chosen = rng.uniform(-1.0, 1.0, space.shape) if policy is None else policy(states[-1])
        actions.append(middle + half * chosen)
        state, reward, ended, _, info = env.step(actions[-1].astype(space.dtype))
        states.append(state)
        rewards.append(source.reward(float(reward), info))
        if ended:
            break
    return np.array(states), np.array(actions), np.array(rewards)


def _noisy(policies: list[Policy], rng: np.random.Generator) -> Policy:
    """One of the policies, with one of the noises."""
    policy, noise = policies[rng.integers(len(policies))], float(rng.choice(NOISES))

    def noisy(state: Array) -> Array:
        action = policy(state)
        return np.clip(action + noise * rng.standard_normal(len(action)), -1.0, 1.0)

    return noisy


def improving_policies(
    env: gymnasium.Env[Any, Any], source: Source, rng: np.random.Generator
) -> list[Policy]:
    """Linear policies, from a random one to one that augmented random search has improved for a while.

    Mania, Guy and Recht (2018), "Simple random search of static linear policies is competitive for
    reinforcement learning", algorithm 1 with their two augmentations: states are standardized, and the step
    is divided by the standard deviation of the returns.
    """
    seen = np.concatenate([rollout(env, None, source, SEARCH_STEPS, rng)[0] for _ in range(5)])
    center, scale = seen.mean(axis=0), seen.std(axis=0) + 1e-3
    shape = (int(np.prod(env.action_space.shape or ())), len(center))
    weights, kept = 0.3 * rng.standard_normal(shape), list[Policy]()

    def returns(tried: Array) -> float:
        policy = LinearPolicy(tried, center, scale)
        return float(rollout(env, policy, source, min(SEARCH_STEPS, source.horizon), rng)[2].sum())

    for iteration in range(max(SNAPSHOTS) + 1):
        if iteration in SNAPSHOTS:
            kept.append(LinearPolicy(weights, center, scale))
        directions = rng.standard_normal((DIRECTIONS, *shape))
        found = np.array([[returns(weights + sign * WIDTH * d) for sign in (1, -1)] for d in directions])
        best = np.argsort(-found.max(axis=1))[:ELITE]
        slope = np.tensordot(found[best, 0] - found[best, 1], directions[best], axes=1)
        weights = weights + RATE / (ELITE * (found[best].std() + 1e-9)) * slope
    return kept


# --- tasks ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SegmentTask:
    """Segments to ask about, held-out segments, and the teacher's preferences.

    Args:
        name: Of the environment.
        recording: All segments of the environment.
        pool: The segments to ask about, (M,): their places in the recording.
        tested: The held-out segments, (H,), of other rollouts.
        pairs: Pairs of held-out segments with different returns, (P, 2): places in `tested`.
    """

    name: str
    recording: Recording
    pool: Indices
    tested: Indices
    pairs: Indices

    @cached_property
    def returns(self) -> Array:
        """The true return of every segment of the recording."""
        returns: Array = self.recording.rewards.sum(axis=1)
        return returns

    def prefers_first(self, pairs: Indices) -> Flags:
        """The teacher's answers: is the first of two segments, by their places in the recording, better?"""
        answers: Flags = self.returns[pairs[:, 0]] > self.returns[pairs[:, 1]]
        return answers

    def accuracy(self, values: Array) -> float:
        """The share of the held-out pairs whose better segment these values (H,) of `tested` predict.

        Where two values are equal, half of it is right.
        """
        true = self.returns[self.tested][self.pairs]
        right = np.sign(true[:, 0] - true[:, 1]) * np.sign(values[self.pairs] @ [1.0, -1.0])
        return float(np.mean((1 + right) / 2))

    def teach(self, learner: Learner, count: int, seed: int, *, chosen: bool) -> Iterator[tuple[int, float]]:
        """Answer the learner's own questions, or random ones that are the same for every learner.

        Yields after each answer how many there are, and the processor time that the question took.
        """
        place = {int(at): number for number, at in enumerate(self.pool)}
        for number, pair in enumerate(self.random_pairs(count, seed), 1):
            started = time.process_time()
            question = learner.ask() if chosen else Question(*(place[int(at)] for at in pair))
            seconds = time.process_time() - started
            asked = self.pool[[question.left, question.right]]
            learner.tell(question, "left" if self.prefers_first(asked[None])[0] else "right")
            yield number, seconds

    def random_pairs(self, count: int, seed: int) -> Indices:
        """Random questions, (count, 2): places in the recording of segments of the pool that differ."""
        rng = np.random.default_rng([seed, 1])
        return _pairs(self.returns, self.pool, count, rng)

    def episodes(self, places: Indices) -> list[Episode]:
        """Segments of the recording as episodes, without their rewards."""
        kept, seconds = self.recording, SOURCES[self.name].step_seconds
        return [Episode(str(i), kept.states[i], kept.actions[i], None, seconds) for i in places.tolist()]

    def thoughtful(self, places: Indices) -> Array:
        """What a person who knows the true reward would measure, (M, k)."""
        return SOURCES[self.name].thoughtful(self.recording.states[places], self.recording.actions[places])

    def moments(self, places: Indices) -> Array:
        """Means and mean squares of states and actions, (M, 2 (s + a)), those that vary."""
        kept = self.recording
        steps = np.concatenate([kept.states[:, :STEPS], kept.actions], axis=2)
        found = np.concatenate([steps.mean(axis=1), (steps**2).mean(axis=1)], axis=1)
        return found[places][:, found.std(axis=0) > 1e-9]


def segment_task(name: str, seed: int) -> SegmentTask:
    """The task of a teacher: seeds from 1000 on are for choosing a design, and have other recordings."""
    if name not in SOURCES:
        raise ValueError(no_such("task", name, tuple(SOURCES), "tasks"))
    kept, rng = recording_of(name, seed // 1000), np.random.default_rng([seed, 0])
    order = rng.permutation(len(np.unique(kept.rollouts)))
    rank = order[kept.rollouts]  # of a segment's rollout, so that no rollout is in both parts
    by_rank = np.argsort(rank, kind="stable")
    held_out = rank[by_rank] < rank[by_rank[TESTED]]
    tested, pool = by_rank[held_out], rng.permutation(by_rank[~held_out])[: SOURCES[name].pool]
    returns = kept.rewards.sum(axis=1)
    return SegmentTask(name, kept, pool, tested, _pairs(returns[tested], np.arange(len(tested)), PAIRS, rng))


def _pairs(returns: Array, places: Indices, count: int, rng: np.random.Generator) -> Indices:
    """Random pairs of places with different returns, (count, 2)."""
    drawn = rng.choice(places, (4 * count, 2))
    differ = np.abs(returns[drawn[:, 0]] - returns[drawn[:, 1]]) > TIE * returns.std()
    pairs: Indices = drawn[differ][:count]
    return pairs
