"""What a teacher sees of the learning: in numbers for charts, and in plain words.

accuracy        the expected share of random questions whose answers the belief predicts
expected gain   by how much the next five answers are likely to raise the accuracy
effect          of a feature: its share of the reward's standard deviation over the pool, varied alone
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from prefero._support.arrays import Array, one_thread
from prefero.learner import Learner
from prefero.pools.pool import Pool
from prefero.questions import Choice, Question
from prefero.reward import Reward
from prefero.studies.event_log import EventLog
from prefero.studies.learner_cache import expected_accuracy

CURVE, MAP = 41, 25  # points along a feature, and along each side of a map
MOST_MAPS = 10
RANKED = 24
AHEAD = 5
MIN_ANSWERS = 8  # before which the expected accuracy is not reliable
SMALL_GAIN = 0.01  # in accuracy, for five answers


@dataclass(frozen=True)
class FeatureLabel:
    """A feature's name and unit, as they are written on an axis."""

    name: str
    unit: str


@dataclass(frozen=True)
class CurvePoint:
    """The reward at one value of a feature: its mean, and one standard deviation below and above."""

    x: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class FeatureEffect:
    """How much a feature matters, and the reward along it with all others at their mean."""

    name: str
    unit: str
    effect: float
    curve: list[CurvePoint]


@dataclass(frozen=True)
class FeatureMap:
    """The reward over two features: mean and std have a row for each of `ys`, a column for each of `xs`."""

    x: str
    y: str
    xs: list[float]
    ys: list[float]
    mean: list[list[float]]
    std: list[list[float]]


@dataclass(frozen=True)
class RankedTrajectory:
    """A trajectory of the pool and its reward; rank 1 is the best, and `id` is null without ids."""

    rank: int
    index: int
    id: str | None
    mean: float
    std: float
    features: dict[str, float]


@dataclass(frozen=True)
class LearningCurvePoint:
    """The expected accuracy after so many answers."""

    answers: int
    accuracy: float


@dataclass(frozen=True)
class LearningSummary:
    """Everything that the page shows of the learning; `best` is the index of the best trajectory."""

    answers: int
    accuracy: float
    learning_curve: list[LearningCurvePoint]
    expected_gain: float
    hint: str
    description: str
    features: list[FeatureEffect]
    feature_maps: list[FeatureMap]
    ranking: list[RankedTrajectory]
    best: int


@one_thread
def learning_summary(
    log: EventLog, learner: Learner, labels: list[FeatureLabel], question: Question | None
) -> LearningSummary:
    """What a learner has learned from a log; `question` is the one that waits for an answer."""
    pool, reward = learner.pool, learner.reward()
    accuracy = expected_accuracy(reward.belief, pool)
    curve = learning_curve(log, len(learner.answers), accuracy)
    gain = likely_gain(curve, expected_gain(learner, question, accuracy) if question else 0.0)
    effects = feature_effects(reward, pool)
    return LearningSummary(
        answers=len(learner.answers),
        accuracy=accuracy,
        learning_curve=curve,
        expected_gain=gain,
        hint=hint(len(learner.answers), accuracy, gain),
        description=sentence(reward.describe()),
        features=[
            FeatureEffect(label.name, label.unit, effect, feature_curve(reward, pool, place))
            for place, (label, effect) in enumerate(zip(labels, effects, strict=True))
        ],
        feature_maps=[feature_map(reward, pool, *pair) for pair in _strongest_pairs(effects)],
        ranking=ranking(reward, pool),
        best=reward.best(pool).index,
    )


def learning_curve(log: EventLog, answers: int, accuracy: float) -> list[LearningCurvePoint]:
    """The expected accuracy after each number of answers, as it was computed then; `accuracy` is today's."""
    then = {q.answered: q.accuracy for q in log.questions if q.accuracy is not None and q.answered < answers}
    return [LearningCurvePoint(n, a) for n, a in sorted((then | {answers: accuracy}).items())]


def likely_gain(curve: list[LearningCurvePoint], one: float) -> float:
    """What the next few answers may add: as much as the next one each, or half of what the last few added.

    Either alone errs: one answer may change nothing where two would, and past gains say little about future
    ones. The larger of the two does not suggest stopping too soon.
    """
    last = curve[-1]
    before = [point.accuracy for point in curve if point.answers <= last.answers - AHEAD]
    added = last.accuracy - before[-1] if before else 0.0
    return max(AHEAD * one, 0.5 * added, 0.0)


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
    """Whether to continue, in words."""
    if answers == 0:
        return "Nothing is known yet. The first answers tell the most."
    now = f"It expects to predict {accuracy:.0%} of your answers"
    if answers < MIN_ANSWERS:
        return f"{now}, but this estimate is not reliable yet after {answers} of them. Continue."
    if gain < SMALL_GAIN:
        return f"{now}, and five more answers would add hardly anything. You may stop here."
    return f"{now}. Five more answers are likely to add about {100 * gain:.1f} points."


def feature_effects(reward: Reward, pool: Pool) -> list[float]:
    """The reward's standard deviation when one feature alone varies as in the pool; they add up to 1."""
    deviations = []
    for place in range(len(pool.names)):
        alone = np.zeros_like(pool.scaled)
        alone[:, place] = pool.scaled[:, place]
        deviations.append(float(np.std(reward.belief.marginals(alone)[0])))
    total = sum(deviations)
    return [std / total if total > 0 else 0.0 for std in deviations]


def feature_curve(reward: Reward, pool: Pool, place: int) -> list[CurvePoint]:
    """The reward along one feature, all others at their mean, with a standard deviation to both sides."""
    at = _along(pool, place, CURVE)
    points = np.zeros((CURVE, len(pool.names)))
    points[:, place] = at
    mean, std = _marginals(reward, points)
    x = pool.scaling.inverse(points)[:, place]
    columns = np.stack([x, mean, mean - std, mean + std], axis=1)
    return [CurvePoint(*row) for row in columns.tolist()]


def feature_map(reward: Reward, pool: Pool, across: int, up: int) -> FeatureMap:
    """The reward over two features, all others at their mean."""
    xs, ys = _along(pool, across, MAP), _along(pool, up, MAP)
    points = np.zeros((MAP * MAP, len(pool.names)))
    points[:, across], points[:, up] = np.tile(xs, MAP), np.repeat(ys, MAP)
    mean, std = _marginals(reward, points)
    raw = pool.scaling.inverse(points)
    return FeatureMap(
        x=pool.names[across],
        y=pool.names[up],
        xs=raw[:MAP, across].tolist(),
        ys=raw[::MAP, up].tolist(),
        mean=mean.reshape(MAP, MAP).tolist(),
        std=std.reshape(MAP, MAP).tolist(),
    )


def ranking(reward: Reward, pool: Pool, count: int = RANKED) -> list[RankedTrajectory]:
    """The trajectories with the highest reward, the best first."""
    mean, std = _marginals(reward, pool.scaled)
    return [
        RankedTrajectory(
            rank=rank,
            index=int(index),
            id=None if pool.ids is None else pool.ids[index],
            mean=float(mean[index]),
            std=float(std[index]),
            features=dict(zip(pool.names, pool.features[index].tolist(), strict=True)),
        )
        for rank, index in enumerate(reward.rank(pool)[:count], 1)
    ]


def _strongest_pairs(effects: list[float]) -> list[tuple[int, int]]:
    """The pairs of features that matter most, at most a few."""
    pairs = sorted(combinations(range(len(effects)), 2), key=lambda p: -effects[p[0]] - effects[p[1]])
    return pairs[:MOST_MAPS]


def _along(pool: Pool, place: int, count: int) -> Array:
    column = pool.scaled[:, place]
    return np.linspace(column.min(), column.max(), count)


def _marginals(reward: Reward, points: Array) -> tuple[Array, Array]:
    mean, variance = reward.belief.marginals(points)
    return mean, np.sqrt(variance)
