"""The learning summary: numbers against brute force, and hints at their thresholds."""

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from prefero import Learner, Pool, Question
from prefero._support.arrays import Array
from prefero.models.explain.learning_progress import Progress
from prefero.models.explain.profiles import profiles
from prefero.models.posterior.draws import Estimate
from prefero.models.posterior.standardized import StandardizedRewards, reference_of
from prefero.questions.answer_kinds import Kind
from prefero.studies.log.event_log import AskedQuestion, Event, EventLog
from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.reports.learning_summary import (
    CURVE,
    MAP,
    MOST_AXES,
    MOST_MAPS,
    RANKED,
    FeatureLabel,
    LearningCurvePoint,
    closing_sentences,
    feature_curve,
    feature_map,
    goal_reached,
    hint,
    question_map,
    ranking,
    summary_of,
    surprising_answers,
)
from prefero.trajectories import Categories
from studies.fake_study import preferred_choice


def pool_of(rows: int = 40, columns: int = 3) -> Pool:
    """Features in very different units, so that confusing raw and scaled ones fails."""
    rng = np.random.default_rng(1)
    features = rng.standard_normal((rows, columns)) * 10.0 ** np.arange(columns) + 5.0
    return Pool(features, [f"feature {place}" for place in range(columns)])


def taught(pool: Pool, answers: int = 6, method: str = "ActiveGP 1 0.1") -> Learner:
    learner = StudyMethod("A", method, 1).learner(pool, 0)
    for _ in range(answers):
        question = learner.ask()
        learner.tell(question, preferred_choice(pool, question.left, question.right))
    return learner


@pytest.fixture(scope="module")
def learner() -> Learner:
    return taught(pool_of())


def reward_at(learner: Learner, features: Array) -> tuple[float, float]:
    """Mean and deviation at one point in the user's units, by samples of rewards over the whole pool."""
    pool, belief = learner.pool, learner.belief()
    x = np.concatenate([pool.scaling(features[None]), pool.scaled])
    drawn = belief.sample(x, 20_000, np.random.default_rng(0))
    above = drawn - drawn[:, 1:].mean(axis=1, keepdims=True)
    unit = np.sqrt(np.mean(above[:, 1:] ** 2))
    return float(above[:, 0].mean() / unit), float(above[:, 0].std() / unit)


def effects_of(learner: Learner) -> dict[int, Estimate]:
    return {profile.feature: profile.effect for profile in profiles(learner.belief(), learner.pool.scaled)}


def standardized(learner: Learner) -> StandardizedRewards:
    return StandardizedRewards(learner.belief(), reference_of(learner.pool.scaled))


# --- curves, maps and effects -----------------------------------------------------------------------------


def even(column: Array, count: int) -> Array:
    """Evenly spaced values from the lowest to the highest."""
    low, high = min(column), max(column)
    return np.array([low + (high - low) * place / (count - 1) for place in range(count)])


def test_curves_are_the_reward_along_one_feature_with_the_others_at_their_mean(learner: Learner) -> None:
    pool = learner.pool
    middle = pool.features.mean(axis=0)
    for place in range(3):
        curve = feature_curve(standardized(learner), pool, place)
        xs = [point.x for point in curve]
        assert len(xs) == CURVE
        np.testing.assert_allclose(np.array(xs), even(pool.features[:, place], CURVE))
        for point in curve[:: CURVE // 2]:
            at = middle.copy()
            at[place] = point.x
            mean, std = reward_at(learner, at)
            assert point.mean == pytest.approx(mean, abs=0.05)
            assert point.high - point.mean == pytest.approx(std, abs=0.05)
            assert point.mean - point.low == pytest.approx(std, abs=0.05)


def test_the_uncertainty_does_not_vanish_at_the_anchor(learner: Learner) -> None:
    """The mean of the features, where every reward is 0 by definition."""
    pool = learner.pool
    assert learner.reward().predict(pool.features.mean(axis=0)[None], return_std=True)[1] == pytest.approx(0)
    widths = [point.high - point.low for point in feature_curve(standardized(learner), pool, 1)]
    assert min(widths) > 0.1


def test_a_category_is_one_row_with_its_levels() -> None:
    rng = np.random.default_rng(2)
    one = Categories("surface", ("clay", "grass", "sand"))
    places = np.arange(30) % 3
    features = np.column_stack([rng.normal(size=(30, 2)), one.features_at(places.astype(float))])
    learner = taught(Pool(features, ("speed", "height", *one.names), categories=(one,)))
    labels = [FeatureLabel("speed", ""), FeatureLabel("height", ""), FeatureLabel("surface", "", one.levels)]
    found = summary_of(learner, EventLog((), ()), labels)
    surface = found.features[2]
    assert (surface.name, surface.levels) == ("surface", ["clay", "grass", "sand"])
    assert [point.x for point in surface.curve] == [0, 1, 2]
    for place, point in enumerate(surface.curve):
        at = features.mean(axis=0)
        at[2:] = np.arange(3) == place
        mean, std = reward_at(learner, at)
        assert point.mean == pytest.approx(mean, abs=0.05)
        assert point.high - point.mean == pytest.approx(std, abs=0.05)
    assert [(one.x, one.y) for one in found.feature_maps] == [("speed", "height")]
    assert found.question_map.axes[-1] == "surface"
    assert set(found.sample.values["surface"]) == {0.0, 1.0, 2.0}
    for ranked in found.ranking:
        assert ranked.features["surface"] == places[ranked.index]


def test_maps_are_the_reward_at_their_points(learner: Learner) -> None:
    pool = learner.pool
    found = feature_map(standardized(learner), pool, 0, 2)
    assert (found.x, found.y) == ("feature 0", "feature 2")
    for side, place in (("xs", 0), ("ys", 2)):
        np.testing.assert_allclose(getattr(found, side), even(pool.features[:, place], MAP))
    mean, std = np.array(found.mean), np.array(found.std)
    assert mean.shape == std.shape == (MAP, MAP)
    for row, column in [(0, MAP - 1), (MAP - 1, 0), (7, 19)]:
        at = pool.features.mean(axis=0)
        at[0], at[2] = found.xs[column], found.ys[row]
        assert (mean[row, column], std[row, column]) == pytest.approx(reward_at(learner, at), abs=0.06)


def test_the_feature_that_matters_has_the_largest_effect() -> None:
    effects = effects_of(taught(pool_of(), 14, "Prefero"))
    assert max(effects, key=lambda place: effects[place].mean) == 0
    assert sum(effect.mean for effect in effects.values()) == pytest.approx(1.0)
    assert all(0 <= effect.low <= effect.mean <= effect.high <= 1 for effect in effects.values())


# --- accuracy and gain ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gain", "low", "words"),
    [
        (0.0099, 0.72, "Five more answers would add hardly anything. You may stop here."),
        (
            0.0,
            0.6,
            "Five more answers are not likely to change this number much, but will make it more certain.",
        ),
        (0.0101, 0.6, "Five more answers are likely to add about 1 percentage point."),
        (0.023, 0.72, "Five more answers are likely to add about 2 percentage points."),
    ],
)
def test_the_hint_says_in_words_whether_to_go_on(gain: float, low: float, words: str) -> None:
    assert hint(Progress(8, accuracy=0.8, low=low, high=0.9, gain=gain)) == words


def test_why_nothing_more_is_asked_is_said_with_the_goal() -> None:
    progress = Progress(12, 0.91, 0.84, 0.95, 0.02)
    learner: Any = SimpleNamespace(progress=lambda: progress)
    wanted = f"It stopped asking after 12 answers, since 90% were wanted: {progress}."
    assert goal_reached(learner, EventLog(), 0.9) == wanted


# --- all of it --------------------------------------------------------------------------------------------


def labels(pool: Pool) -> list[FeatureLabel]:
    return [FeatureLabel(name, "m/s") for name in pool.names]


def asked(
    number: int,
    answered: int,
    accuracy: float | None,
    items: tuple[int, ...] = (0, 1),
    kind: Kind = "pair",
) -> AskedQuestion:
    return AskedQuestion(
        answered, "A", items, kind=kind, accuracy=accuracy, id=100 + number, number=number, based_on=0, at=""
    )


def log_of(learner: Learner) -> EventLog:
    """The log from which a learner with these answers would be built."""
    questions = [
        asked(q.number, q.number - 1, 0.5, q.items, q.kind) for q in (a.question for a in learner.answers)
    ]
    events = [
        Event(q.id, q.id, 0, a.choice, f"key {q.id}", None, "")
        for q, a in zip(questions, learner.answers, strict=True)
    ]
    return EventLog(tuple(questions), tuple(events))


def test_the_ranking_has_different_ones_by_their_rewards(learner: Learner) -> None:
    pool = learner.pool
    order = np.argsort(-learner.reward()(pool.features), kind="stable").tolist()
    found = ranking(learner.reward(), pool)
    assert [row.index for row in found] == learner.reward().diverse_best(pool, RANKED).tolist()
    assert [order[row.rank - 1] for row in found] == [row.index for row in found]
    assert found[0].rank == 1
    assert len(found) == RANKED
    for row in found[::4]:
        assert (row.mean, row.std) == pytest.approx(reward_at(learner, pool.features[row.index]), abs=0.06)
        assert list(row.features.values()) == pool.features[row.index].tolist()
        assert tuple(row.features) == pool.names


def test_a_small_pool_is_ranked_as_a_whole() -> None:
    small = taught(pool_of(5), answers=2)
    assert [row.rank for row in ranking(small.reward(), small.pool)] == [1, 2, 3, 4, 5]


def test_the_summary_holds_all_parts(learner: Learner) -> None:
    pool, told = learner.pool, log_of(learner)
    log = EventLog((*told.questions, asked(7, 5, 0.6), asked(8, 5, 0.62), asked(9, 5, None)), told.events)
    found, progress = summary_of(learner, log, labels(pool)), learner.progress()
    accuracy = progress.accuracy
    assert found.answers == 6
    assert found.accuracy is not None
    assert found.accuracy.mean == accuracy
    assert found.accuracy.low < accuracy < found.accuracy.high
    assert found.learning_curve == [LearningCurvePoint(5, 0.62), LearningCurvePoint(6, accuracy)]
    assert found.expected_gain == progress.gain
    assert found.hint == hint(progress)
    units = dict.fromkeys(pool.names, "m/s")
    assert found.statements == learner.reward().explain(pool, units=units)
    assert [(f.name, f.unit) for f in found.features] == [(name, "m/s") for name in pool.names]
    assert {p: f.effect for p, f in enumerate(found.features)} == effects_of(learner)
    assert {(p.x, p.y) for p in found.feature_maps} == set(combinations(pool.names, 2))
    assert len(found.question_map.pairs) == 6


@pytest.fixture(scope="module")
def labelled() -> Learner:
    """Ten labels and a comparison; a reward above 0.3 is acceptable."""
    learner = Learner(pool_of())
    liked = learner.pool.scaled[:, 0] - 0.3
    for item in range(10):
        question = Question(item, kind="success", number=item + 1)
        learner.tell(question, "pass" if liked[item] > 0 else "fail")
    learner.tell(Question(11, 12, number=11), "left" if liked[11] > liked[12] else "right")
    return learner


def test_the_summary_says_what_is_acceptable(labelled: Learner) -> None:
    pool, reward = labelled.pool, labelled.reward()
    summary = summary_of(labelled, log_of(labelled), labels(pool))
    found = summary.acceptable
    assert found is not None
    assert (found.count, found.bar) == (reward.count_acceptable(pool), reward.bar(pool))
    assert found.total == 40
    assert found.count.low <= np.sum(pool.scaled[:, 0] > 0.3) <= found.count.high
    assert reward.acceptable_at is not None
    away = np.abs(reward(pool.features) - reward.acceptable_at)
    assert {one.index for one in found.nearest} == set(np.argsort(away)[:6].tolist())
    assert [one.rank for one in found.nearest] == sorted(one.rank for one in found.nearest)
    probabilities = reward.probability_acceptable(pool)
    for one in (*found.nearest, *summary.ranking):
        assert one.acceptable == pytest.approx(probabilities[one.index])
    assert len(summary.question_map.pairs) == 1  # a label compares with no other trajectory


def test_nothing_is_acceptable_where_nobody_said_what_is(learner: Learner) -> None:
    summary = summary_of(learner, log_of(learner), labels(learner.pool))
    assert summary.acceptable is None
    assert all(one.acceptable is None for one in summary.ranking)


def test_the_terminal_says_in_the_end_how_many_are_acceptable(labelled: Learner) -> None:
    said = closing_sentences(labelled, labels(labelled.pool))
    count = labelled.reward().count_acceptable(labelled.pool)
    assert any(sentence.startswith(f"About {round(count.mean)} of 40 traj") for sentence in said)


@pytest.mark.parametrize("answers", [0, 1, 4])
def test_before_there_are_enough_answers_nothing_is_claimed(answers: int) -> None:
    early = taught(pool_of(), answers=answers)
    found = summary_of(early, log_of(early), labels(early.pool))
    assert found.accuracy is None
    assert found.answers == answers < found.enough_answers == 5
    assert [one.sentence for one in found.statements] == [
        "It is too early to say what your reward looks like."
    ]
    for claimed in (found.learning_curve, found.features, found.feature_maps, found.ranking, found.surprises):
        assert claimed == []
    assert found.hint.startswith("Continue: the first" if answers else "Nothing is known yet.")
    assert len(found.question_map.pairs) == answers


def test_the_question_map_shows_the_features_that_matter_most_first() -> None:
    learner = taught(pool_of(30, MOST_AXES + 2), answers=6)
    effects = effects_of(learner)
    found = question_map(log_of(learner), learner.pool, effects)
    means = [effects[learner.pool.names.index(name)].mean for name in found.axes]
    assert means == sorted((effect.mean for effect in effects.values()), reverse=True)[:MOST_AXES]
    columns = [learner.pool.names.index(name) for name in found.axes]
    for pair, answer in zip(found.pairs, learner.answers, strict=True):
        assert (tuple(pair.items), pair.choice) == (answer.question.items, answer.choice)
        assert pair.number == answer.question.number
        np.testing.assert_array_equal(pair.places, learner.pool.features[pair.items][:, columns])


def test_labels_are_dots_of_the_question_map() -> None:
    learner = StudyMethod("A", "Prefero", 1).learner(pool_of(), 0)
    learner.tell(Question(3, kind="rate-5"), "4")
    learner.tell(Question(7, kind="success"), "fail")
    learner.tell(Question(1, 2, kind="pair-or-none"), "none")
    learner.tell(Question(5, 6, kind="pair-or-none"), "left")
    found = question_map(log_of(learner), learner.pool, {})
    assert [(one.number, one.item, one.level) for one in found.labels] == [
        *((1, 3, 0.75), (2, 7, 0.0)),
        *((3, 1, 0.0), (3, 2, 0.0)),
    ]
    assert [pair.items for pair in found.pairs] == [[5, 6]]


def test_a_slip_is_among_the_surprising_answers() -> None:
    pool, rng = pool_of(), np.random.default_rng(2)
    pairs = [tuple(rng.choice(40, 2, replace=False).tolist()) for _ in range(20)]
    gaps = [pool.scaled[left, 0] - pool.scaled[right, 0] for left, right in pairs]
    slip = int(np.argmax(np.abs(gaps)))
    learner = StudyMethod("A", "Prefero", 1).learner(pool, 0)
    for place, ((left, right), gap) in enumerate(zip(pairs, gaps, strict=True)):
        learner.tell(Question(left, right), "left" if (gap > 0) != (place == slip) else "right")
    first, *_ = surprising_answers(log_of(learner), learner)
    assert (first.question, first.number) == (101 + slip, 1 + slip)
    assert first.choice == learner.answers[slip].choice
    assert tuple(first.items) == pairs[slip]
    assert first.probability == learner.surprises()[0].probability < 0.2


def test_of_many_features_the_pairs_that_matter_most_are_mapped() -> None:
    learner = taught(pool_of(30, 6), answers=8)
    found = summary_of(learner, EventLog(), labels(learner.pool))
    effects = {feature.name: feature.effect.mean for feature in found.features if feature.effect}
    shown = [effects[pair.x] + effects[pair.y] for pair in found.feature_maps]
    every = sorted((effects[a] + effects[b] for a, b in combinations(effects, 2)), reverse=True)
    assert len(every) == 15
    np.testing.assert_allclose(shown, every[:MOST_MAPS])


def test_the_belief_over_structures_can_be_looked_into_as_well() -> None:
    learner = taught(pool_of(12, 2), answers=6, method="Prefero")
    found = summary_of(learner, log_of(learner), labels(learner.pool))
    assert sum(feature.effect.mean for feature in found.features if feature.effect) == pytest.approx(1.0)
    assert found.accuracy is not None
    assert 0.5 < found.accuracy.mean <= 1.0


def test_the_terminals_closing_sentences_say_the_same(learner: Learner) -> None:
    pool, progress = learner.pool, learner.progress()
    first, *middle, last = closing_sentences(learner, labels(pool))
    assert first == f"After 6 answers, {progress}."
    wanted = learner.reward().explain(pool, units=dict.fromkeys(pool.names, "m/s"))
    assert middle == [statement.sentence for statement in wanted]
    best = learner.reward().best(pool)
    assert last.startswith(
        f"The best trajectory is number {best.index}: {best.mean:.1f} ± {best.std:.1f} standard"
    )
    early = closing_sentences(taught(pool_of(), answers=1), labels(pool))
    assert early == ["After 1 answer it is too early to say what was learned."]
