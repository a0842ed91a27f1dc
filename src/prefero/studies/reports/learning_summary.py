"""What a teacher sees of the learning: in numbers for charts, and in plain words.

accuracy        the fraction of random questions whose answers are expected to be predicted
expected gain   by how much the next five answers are likely to raise the accuracy
effect          of a feature: its fraction of the reward's standard deviation over the pool, varied alone
rewards         differences from the pool's average trajectory, in standard deviations over the pool
bar             what is just acceptable, in the same unit; known if answers were labels or could be "none"
source          of what was known before the first question: demonstrations, a score, a judge

Before there are enough answers (`ENOUGH_ANSWERS`) everything would rest on the prior, so the summary has only
the questions.

Functions of a learner and the log of its answers are computed where the learner is (`Session.of_learner`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from prefero._support.arrays import Array, Indices, one_thread
from prefero._support.sentences import capitalize, percent, pluralize
from prefero.learner import Learner
from prefero.models.explain.explanation import Statement, statements_about
from prefero.models.explain.learning_progress import SMALL_GAIN, Progress
from prefero.models.explain.profiles import level_points, profiles
from prefero.models.posterior.draws import Estimate
from prefero.models.posterior.mixture import ENOUGH_ANSWERS
from prefero.models.posterior.standardized import StandardizedRewards, reference_of
from prefero.pools.displays import variable_values
from prefero.pools.pool import Pool
from prefero.questions import PairChoice
from prefero.questions.answer_kinds import Kind, kind_named
from prefero.questions.kinds.label import levels_of
from prefero.questions.kinds.or_none import NONE
from prefero.questions.labels import count_evidence
from prefero.rewards.acceptable import nearest_to_bar
from prefero.rewards.reward import BestTrajectory, Reward
from prefero.studies.log.event_log import ActiveAnswer, EventLog
from prefero.studies.reports.pool_sample import PoolSample, pool_sample
from prefero.trajectories.components import Ends, component_ends
from prefero.trajectories.diversity import diverse_best

CURVE, MAP = 41, 25  # points along a feature, and along each side of a map
MOST_MAPS = 10
RANKED = 9
NEAREST = 6  # trajectories around the bar
FIRST_HINT = "Nothing is known yet. The first answers tell the most."
EARLY_HINT = "Continue: the first answers tell the most."
NARROW = 0.2  # width of the interval of the accuracy up to which nobody is told that it is uncertain
MOST_AXES = 6  # features that a picture of the questions can show
MOST_WORST = 3  # different trajectories among the worst


@dataclass(frozen=True)
class FeatureLabel:
    """A feature's name and unit, as they are written on an axis, and the levels of a category."""

    name: str
    unit: str
    levels: tuple[str, ...] = ()


def labels_of(display: dict[str, Any]) -> list[FeatureLabel]:
    """Names and units of the features, from the display of a pool."""
    return [
        FeatureLabel(feature["name"], feature["unit"], tuple(feature["levels"]))
        for feature in display["features"]
    ]


@dataclass(frozen=True)
class CurvePoint:
    """The reward at one value of a feature: its mean, and one standard deviation below and above."""

    x: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class FeatureEffect:
    """How much a feature matters, and the reward along it with all others at their mean.

    `ends` are the trajectories that show what a component of an embedding is; null for other features.
    `effect` is null for features that are left out, where there are many. A category has `levels`, and a
    point of the curve for each, whose x is the place of the level.
    """

    name: str
    unit: str
    levels: list[str]
    effect: Estimate | None
    curve: list[CurvePoint]
    ends: Ends | None


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
    """A trajectory of the pool and its reward; rank 1 is the best, and `id` is null without ids.

    The feature of a category is the place of its level. `acceptable` is the probability of that, and null
    where no answer has said what is.
    """

    rank: int
    index: int
    id: str | None
    mean: float
    std: float
    acceptable: float | None
    features: dict[str, float]


@dataclass(frozen=True)
class AcceptableTrajectories:
    """How many of `total` trajectories are acceptable, where the bar lies, and which are nearest to it."""

    count: Estimate
    total: int
    bar: Estimate
    nearest: list[RankedTrajectory]


@dataclass(frozen=True)
class LearningCurvePoint:
    """The expected accuracy after so many answers."""

    answers: int
    accuracy: float


@dataclass(frozen=True)
class AnsweredPair:
    """Two trajectories that were compared; `places` are theirs on the axes of the picture.

    An answer about more than two is several pairs, the better one on the left.
    """

    question: int
    number: int
    items: list[int]
    choice: PairChoice
    places: list[list[float]]


@dataclass(frozen=True)
class AnsweredLabel:
    """A trajectory that was labelled; `place` is its place on the axes of the picture.

    level   from 0, the lowest level, to 1, the highest; of "none is acceptable", 0 for each trajectory
    """

    question: int
    number: int
    item: int
    level: float
    place: list[float]


@dataclass(frozen=True)
class QuestionMap:
    """Where the questions were asked, on axes by the names of features."""

    axes: list[str]
    pairs: list[AnsweredPair]
    labels: list[AnsweredLabel]


@dataclass(frozen=True)
class SurprisingAnswer:
    """An answer that is improbable given all others."""

    question: int
    number: int
    items: list[int]
    kind: Kind
    choice: str
    probability: float


@dataclass(frozen=True)
class KnownBefore:
    """What a source says, in words, and how far the answers confirm it.

    support    the mean probability that what it says is right; null while it is too early to say
    agreeing   of a score, with how many of `compared` answers its order agrees; both are 0 for other sources
    trusted    whether it probably tells something about the reward; true while it is too early to say
    """

    source: str
    says: str
    support: float | None
    agreeing: int
    compared: int
    trusted: bool


@dataclass(frozen=True)
class LearningSummary:
    """Everything that the page shows of the learning; `accuracy` is null while it is too early to say.

    `acceptable` is null too, and where no answer has said what is. `known` is empty where nothing was known
    before the first question. `worst` are different trajectories among those with the lowest reward, the
    worst first, and `sample` are those that stand for the pool in charts.
    """

    answers: int
    enough_answers: int
    accuracy: Estimate | None
    learning_curve: list[LearningCurvePoint]
    expected_gain: float
    hint: str
    statements: list[Statement]
    features: list[FeatureEffect]
    feature_maps: list[FeatureMap]
    ranking: list[RankedTrajectory]
    worst: list[RankedTrajectory]
    acceptable: AcceptableTrajectories | None
    sample: PoolSample
    question_map: QuestionMap
    surprises: list[SurprisingAnswer]
    known: list[KnownBefore]


@one_thread
def summary_of(learner: Learner, log: EventLog, labels: list[FeatureLabel]) -> LearningSummary:
    """What a learner has learned from a log."""
    if len(learner.answers) < ENOUGH_ANSWERS:
        return _early_summary(log, learner)
    pool, reward, progress = learner.pool, learner.reward(), learner.progress()
    found = profiles(reward.belief, pool.scaled, pool.scaling)
    effects = {profile.feature: profile.effect for profile in found}
    units = {label.name: label.unit for label in labels}
    rewards = StandardizedRewards(reward.belief, reference_of(pool.scaled))
    ends = component_ends(pool.names, pool.features, pool.ids)
    return LearningSummary(
        answers=progress.answers,
        enough_answers=ENOUGH_ANSWERS,
        accuracy=Estimate(progress.accuracy, progress.low, progress.high),
        learning_curve=learning_curve(log, progress.answers, progress.accuracy),
        expected_gain=progress.gain,
        hint=hint(progress),
        statements=statements_about(found, pool.scaling, "your", units, ends),
        features=[
            FeatureEffect(
                label.name,
                label.unit,
                list(label.levels),
                effects.get(place),
                feature_curve(rewards, pool, place),
                ends.get(label.name),
            )
            for place, label in enumerate(labels)
        ],
        feature_maps=[feature_map(rewards, pool, *pair) for pair in _strongest_pairs(effects, pool)],
        ranking=ranking(reward, pool),
        worst=worst(reward, pool),
        acceptable=acceptable_trajectories(reward, pool) if reward.has_bar else None,
        sample=pool_sample(pool, log, reward),
        question_map=question_map(log, pool, effects),
        surprises=surprising_answers(log, learner),
        known=known_before(learner),
    )


def _early_summary(log: EventLog, learner: Learner) -> LearningSummary:
    answers = len(learner.answers)
    return LearningSummary(
        answers=answers,
        enough_answers=ENOUGH_ANSWERS,
        accuracy=None,
        learning_curve=[],
        expected_gain=0.0,
        hint=FIRST_HINT if answers == 0 else EARLY_HINT,
        statements=learner.reward().explain(learner.pool),
        features=[],
        feature_maps=[],
        ranking=[],
        worst=[],
        acceptable=None,
        sample=pool_sample(learner.pool, log, None),
        question_map=question_map(log, learner.pool, {}),
        surprises=[],
        known=known_before(learner),
    )


def known_before(learner: Learner) -> list[KnownBefore]:
    """Each source of what was known before the first question, given the answers."""
    return [
        KnownBefore(
            source=one.source,
            says=capitalize(one.says),
            support=None if one.is_early else one.support,
            agreeing=one.agreeing,
            compared=one.compared,
            trusted=one.trusted,
        )
        for one in learner.sources()
    ]


def closing_sentences(learner: Learner, labels: list[FeatureLabel]) -> list[str]:
    """What was learned, for the terminal: the accuracy, what the reward seems to be, and what is best."""
    reward, progress = learner.reward(), learner.progress()
    given = count_evidence(progress.answers, len(learner.pool.labels or ()))
    trust = [source.describe() for source in learner.sources()]
    if progress.is_early:
        return [f"After {given} it is too early to say what was learned.", *trust]
    statements = reward.explain(learner.pool, units={label.name: label.unit for label in labels})
    best = reward.best(learner.pool)
    name = f"number {best.index}" if best.id is None else f"{best.id} (number {best.index})"
    return [
        f"After {given}, {progress}.",
        *(statement.sentence for statement in statements),
        f"The best trajectory is {name}: {best.mean:.1f} ± {best.std:.1f} standard deviations (of the reward "
        f"over all trajectories) above the average one. {best_sentence(best)}",
        *trust,
    ]


@one_thread
def worth_sentence(learner: Learner, judge: str) -> str:
    """How many of the answers so far a judge has saved, in words; the model is fitted several times."""
    worth = learner.worth_in_answers("judge", judge)
    if worth == 0:
        return f"{judge} has saved no answer: without it, your answers alone would tell as much."
    count = len(learner.answers)
    enough = (
        f"with it, {pluralize(count - worth, 'answer')} would have told"
        if worth < count
        else "alone, it tells"
    )
    return f"{judge} was worth {pluralize(worth, 'answer')}: {enough} as much as all {count} without it."


def goal_reached(learner: Learner, _: EventLog, goal: float) -> str:
    """That as many answers are predicted as the teacher wanted, and why nothing more is asked."""
    progress = learner.progress()
    given = pluralize(progress.answers, "answer")
    return f"It stopped asking after {given}, since {percent(goal)} were wanted: {progress}."


@one_thread
def reward_facts(
    learner: Learner, _: EventLog, units: Mapping[str, str]
) -> tuple[BestTrajectory, int, list[Statement]]:
    """The best trajectory, the number of answers, and statements about the reward."""
    reward = learner.reward()
    return reward.best(learner.pool), len(learner.answers), reward.explain(learner.pool, units=units)


def reward_file_text(learner: Learner, _: EventLog) -> str:
    """The learned reward as its file has it."""
    return learner.reward().to_json()


def best_sentence(best: BestTrajectory) -> str:
    """How sure it is that a trajectory is the best of all, in words."""
    if best.is_open:
        return (
            "Which one is best is still open: this one is with a probability of "
            f"{percent(best.probability)}, and more answers may bring another one to the top."
        )
    return f"It is the best of all with a probability of {percent(best.probability)}."


def learning_curve(log: EventLog, answers: int, accuracy: float) -> list[LearningCurvePoint]:
    """The expected accuracy after each number of answers, as it was computed then; `accuracy` is today's."""
    then = {
        q.answered: q.accuracy
        for q in log.questions
        if q.accuracy is not None and ENOUGH_ANSWERS <= q.answered < answers
    }
    return [LearningCurvePoint(n, a) for n, a in sorted((then | {answers: accuracy}).items())]


def hint(progress: Progress) -> str:
    """Whether to continue, in words."""
    if progress.gain >= SMALL_GAIN:
        return f"{capitalize(progress.outlook)}."
    if progress.high - progress.low > NARROW:
        return "Five more answers are not likely to change this number much, but will make it more certain."
    return f"{capitalize(progress.outlook)}. You may stop here."


def feature_curve(rewards: StandardizedRewards, pool: Pool, place: int) -> list[CurvePoint]:
    """The reward along one variable, all others at their mean, with a standard deviation to both sides."""
    variable = pool.scaling.variables[place]
    if variable.categories is not None:
        points = level_points(np.zeros(len(pool.names)), variable, pool.scaling)
    else:
        points = np.zeros((CURVE, len(pool.names)))
        points[:, variable.features[0]] = _along(pool, variable.features[0], CURVE)
    mean, std = rewards(points)
    x = variable.values(pool.scaling.inverse(points))
    columns = np.stack([x, mean, mean - std, mean + std], axis=1)
    return [CurvePoint(*row) for row in columns.tolist()]


def feature_map(rewards: StandardizedRewards, pool: Pool, across: int, up: int) -> FeatureMap:
    """The reward over two variables that are numbers, all others at their mean."""
    across, up = (pool.scaling.variables[place].features[0] for place in (across, up))
    xs, ys = _along(pool, across, MAP), _along(pool, up, MAP)
    points = np.zeros((MAP * MAP, len(pool.names)))
    points[:, across], points[:, up] = np.tile(xs, MAP), np.repeat(ys, MAP)
    mean, std = rewards(points)
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
    """Different trajectories among the best, the best first."""
    return _ranked(reward, pool, reward.diverse_best(pool, count))


def worst(reward: Reward, pool: Pool, count: int = MOST_WORST) -> list[RankedTrajectory]:
    """Different trajectories among the worst, the worst first."""
    mean, _ = reward.standardized(pool.features, pool)
    return _ranked(reward, pool, diverse_best(pool.scaled, -mean, count))


def _ranked(reward: Reward, pool: Pool, chosen: Indices) -> list[RankedTrajectory]:
    """Some trajectories with their rewards, and with their ranks in the whole pool."""
    ranks = np.argsort(reward.rank(pool), kind="stable")[chosen] + 1
    mean, std = reward.standardized(pool.features[chosen], pool)
    probability = reward.probability_acceptable(pool.features[chosen]) if reward.has_bar else None
    return [
        RankedTrajectory(
            rank=int(ranks[place]),
            index=int(index),
            id=None if pool.ids is None else pool.ids[index],
            mean=float(mean[place]),
            std=float(std[place]),
            acceptable=None if probability is None else float(probability[place]),
            features=variable_values(pool, int(index)),
        )
        for place, index in enumerate(chosen)
    ]


def acceptable_trajectories(reward: Reward, pool: Pool) -> AcceptableTrajectories:
    """What is acceptable in the pool; those nearest to the bar are listed with the best first."""
    nearest = nearest_to_bar(reward.belief, pool.scaled, NEAREST)
    listed = sorted(_ranked(reward, pool, nearest), key=lambda one: one.rank)
    return AcceptableTrajectories(reward.count_acceptable(pool), len(pool), reward.bar(pool), listed)


def question_map(log: EventLog, pool: Pool, effects: dict[int, Estimate]) -> QuestionMap:
    """The answered questions among the pool's trajectories; the axes that matter most come first.

    Numbers come before categories, on whose few values many trajectories lie.
    """
    variables = pool.scaling.variables
    strongest = sorted(
        range(len(variables)),
        key=lambda place: (variables[place].categories is not None, -_mean_effect(effects, place)),
    )
    shown = [variables[place] for place in strongest[:MOST_AXES]]
    values = np.stack([np.empty(len(pool)), *(one.values(pool.features) for one in shown)], axis=1)[:, 1:]
    pairs = [pair for answer in log.answers for pair in _answered_pairs(log, answer, values)]
    labels = [label for answer in log.answers for label in _answered_labels(log, answer, values)]
    return QuestionMap([one.name for one in shown], pairs, labels)


def _answered_pairs(log: EventLog, answer: ActiveAnswer, values: Array) -> list[AnsweredPair]:
    number = log.answer_numbers[answer.asked.id]
    return [
        AnsweredPair(answer.asked.id, number, [left, right], choice, values[[left, right]].tolist())
        for left, right, choice in answer.answer.pairs
    ]


def _answered_labels(log: EventLog, answer: ActiveAnswer, values: Array) -> list[AnsweredLabel]:
    asked, kind = answer.asked, kind_named(answer.asked.kind)
    if answer.choice == NONE:
        level = 0.0
    elif levels_of(kind):
        level = kind.choices.index(answer.choice) / (len(kind.choices) - 1)
    else:
        return []
    number = log.answer_numbers[asked.id]
    return [AnsweredLabel(asked.id, number, item, level, values[item].tolist()) for item in asked.items]


def surprising_answers(log: EventLog, learner: Learner) -> list[SurprisingAnswer]:
    """The answers that surprise the model most."""
    by_number = {answer.asked.number: answer.asked for answer in log.answers}
    found = [(surprise, by_number.get(surprise.answer.question.number)) for surprise in learner.surprises()]
    return [
        SurprisingAnswer(
            question=asked.id,
            number=log.answer_numbers[asked.id],
            items=list(asked.items),
            kind=asked.kind,
            choice=surprise.answer.choice,
            probability=surprise.probability,
        )
        for surprise, asked in found
        if asked is not None
    ]


def _strongest_pairs(effects: dict[int, Estimate], pool: Pool) -> list[tuple[int, int]]:
    """The pairs of numbers that matter most, at most a few."""
    numbers = [place for place in sorted(effects) if pool.scaling.variables[place].categories is None]
    pairs = combinations(numbers, 2)
    return sorted(pairs, key=lambda pair: -effects[pair[0]].mean - effects[pair[1]].mean)[:MOST_MAPS]


def _mean_effect(effects: dict[int, Estimate], place: int) -> float:
    return effects[place].mean if place in effects else 0.0


def _along(pool: Pool, place: int, count: int) -> Array:
    column = pool.scaled[:, place]
    return np.linspace(column.min(), column.max(), count)
