"""What a teacher sees of the learning: in numbers for charts, and in plain words.

accuracy   how often it expects to foretell the answer to a random question
gain       by how much the next five answers are likely to raise that
effect     of a feature: how much of the reward's spread over the pool goes with it alone
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from prefero._support.arrays import Array, one_thread
from prefero.learner import Learner
from prefero.pools.pool import Pool
from prefero.questions import Choice, Question
from prefero.reward import Reward
from prefero.studies.event_log import Log
from prefero.studies.learner_cache import expected_accuracy

CURVE, MAP = 41, 25  # points along a feature, and along each side of a map
MOST_MAPS = 10
RANKED = 24
AHEAD = 5
FEW = 8  # answers, after which a belief knows itself
LITTLE = 0.01  # a gain in accuracy that is hardly worth five answers


@dataclass(frozen=True)
class Unit:
    """A feature's name and unit, as they are written on an axis."""

    name: str
    unit: str


@one_thread
def insight(log: Log, learner: Learner, units: list[Unit], question: Question | None) -> dict[str, Any]:
    """Everything that the page shows of it."""
    pool, reward = learner.pool, learner.reward()
    accuracy = expected_accuracy(reward.belief, pool)
    accuracies = _accuracies(log, len(learner.answers), accuracy)
    gain = likely_gain(accuracies, expected_gain(learner, question, accuracy) if question else 0.0)
    effects = feature_effects(reward, pool)
    return {
        "answers": len(learner.answers),
        "accuracy": accuracy,
        "accuracies": accuracies,
        "gain": gain,
        "hint": hint(len(learner.answers), accuracy, gain),
        "looks": sentence(reward.describe()),
        "features": [
            {"name": u.name, "unit": u.unit, "effect": effect, "curve": feature_curve(reward, pool, place)}
            for place, (u, effect) in enumerate(zip(units, effects, strict=True))
        ],
        "pairs": [feature_map(reward, pool, *pair) for pair in _pairs(effects)],
        "ranked": ranked(reward, pool),
        "best": reward.best(pool).index,
    }


def _accuracies(log: Log, answers: int, accuracy: float) -> list[dict[str, float]]:
    """Expected accuracy after each number of answers, as it was known then."""
    then = {a.slot: a.accuracy for a in log.questions if a.accuracy is not None and a.slot < answers}
    return [{"answers": n, "accuracy": a} for n, a in sorted((then | {answers: accuracy}).items())]


def likely_gain(accuracies: list[dict[str, float]], one: float) -> float:
    """What the next few answers may add: as much as the next one each, or half of what the last few brought.

    Either alone errs: one answer may change nothing that two would, and what is past says little of what is
    to come. The larger of the two tells nobody to stop too soon.
    """
    last = accuracies[-1]
    before = [point["accuracy"] for point in accuracies if point["answers"] <= last["answers"] - AHEAD]
    brought = last["accuracy"] - before[-1] if before else 0.0
    return max(AHEAD * one, 0.5 * brought, 0.0)


def expected_gain(learner: Learner, question: Question, accuracy: float) -> float:
    """How much accuracy the answer to a question is likely to add."""
    x = learner.pool.scaled
    left, right = x[[question.left]], x[[question.right]]
    belief = learner.belief()
    chances: dict[Choice, float] = {
        "left": float(belief.probability(left, right)[0]),
        "right": float(belief.probability(right, left)[0]),
    }
    total = sum(chances.values())
    after = 0.0
    for choice, chance in chances.items():
        imagined = learner.fork()
        imagined.tell(question, choice)
        after += chance / total * expected_accuracy(imagined.belief(), learner.pool)
    return after - accuracy


def sentence(words: str) -> str:
    """With a capital letter and a full stop."""
    return f"{words[:1].upper()}{words[1:]}."


def hint(answers: int, accuracy: float, gain: float) -> str:
    """Whether to go on, in plain words."""
    if answers == 0:
        return "Nothing is known yet. The first answers tell the most."
    now = f"It expects to foretell {accuracy:.0%} of your answers"
    if answers < FEW:
        return f"{now}, but after {answers} of them it does not know itself well yet. Go on."
    if gain < LITTLE:
        return f"{now}, and five more answers would add hardly anything. You may stop here."
    return f"{now}. Five more answers are likely to add about {100 * gain:.1f} points."


def feature_effects(reward: Reward, pool: Pool) -> list[float]:
    """The spread of the reward when one feature alone varies as it does in the pool; they add up to 1."""
    spreads = []
    for place in range(len(pool.names)):
        alone = np.zeros_like(pool.scaled)
        alone[:, place] = pool.scaled[:, place]
        spreads.append(float(np.std(reward.belief.marginals(alone)[0])))
    total = sum(spreads)
    return [spread / total if total > 0 else 0.0 for spread in spreads]


def feature_curve(reward: Reward, pool: Pool, place: int) -> list[dict[str, float]]:
    """The reward along one feature, all others at their mean, with a standard deviation to both sides."""
    at = _along(pool, place, CURVE)
    points = np.zeros((CURVE, len(pool.names)))
    points[:, place] = at
    mean, std = _marginals(reward, points)
    x = pool.scaling.inverse(points)[:, place]
    return [
        {
            "x": float(x[i]),
            "mean": float(mean[i]),
            "low": float(mean[i] - std[i]),
            "high": float(mean[i] + std[i]),
        }
        for i in range(CURVE)
    ]


def feature_map(reward: Reward, pool: Pool, across: int, up: int) -> dict[str, Any]:
    """The reward over two features, all others at their mean."""
    xs, ys = _along(pool, across, MAP), _along(pool, up, MAP)
    points = np.zeros((MAP * MAP, len(pool.names)))
    points[:, across], points[:, up] = np.tile(xs, MAP), np.repeat(ys, MAP)
    mean, std = _marginals(reward, points)
    raw = pool.scaling.inverse(points)
    return {
        "x": pool.names[across],
        "y": pool.names[up],
        "xs": raw[:MAP, across].tolist(),
        "ys": raw[::MAP, up].tolist(),
        "mean": mean.reshape(MAP, MAP).tolist(),
        "std": std.reshape(MAP, MAP).tolist(),
    }


def ranked(reward: Reward, pool: Pool, count: int = RANKED) -> list[dict[str, Any]]:
    """The trajectories that it likes best."""
    mean, std = _marginals(reward, pool.scaled)
    return [
        {
            "rank": rank,
            "index": int(index),
            "mean": float(mean[index]),
            "std": float(std[index]),
            "features": dict(zip(pool.names, pool.features[index].tolist(), strict=True)),
        }
        for rank, index in enumerate(reward.rank(pool)[:count], 1)
    ]


def _pairs(effects: list[float]) -> list[tuple[int, int]]:
    """The pairs of features that matter most, at most a few."""
    pairs = sorted(combinations(range(len(effects)), 2), key=lambda p: -effects[p[0]] - effects[p[1]])
    return pairs[:MOST_MAPS]


def _along(pool: Pool, place: int, count: int) -> Array:
    column = pool.scaled[:, place]
    return np.linspace(column.min(), column.max(), count)


def _marginals(reward: Reward, points: Array) -> tuple[Array, Array]:
    mean, variance = reward.belief.marginals(points)
    return mean, np.sqrt(variance)
