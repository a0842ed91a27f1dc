"""What is known before the first question, as pairs of trajectories, and as JSON."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero._support.arrays import Array
from prefero.questions.answer import CORRECTION, DEMONSTRATION, DIRECTION, JUDGE, SCORE, SOURCES
from prefero.questions.comparisons import Comparisons
from prefero.questions.prior_knowledge import (
    ALTERNATIVES,
    MOST_DEMONSTRATIONS,
    Direction,
    Judgements,
    PriorKnowledge,
    ends_of,
)
from prefero.trajectories.features import Scaling

NAMES = ("speed", "jerk", "reach")
FEATURES = np.random.default_rng(0).normal(size=(40, 3)) * [1.0, 5.0, 0.2] + [0.0, 10.0, 1.0]
SCALING = Scaling.of(FEATURES, NAMES)
POOL = np.asarray(SCALING(FEATURES))
NOTHING = PriorKnowledge.none(3)


def judged(name: str = "qwen", pairs: int = 4) -> Judgements:
    better, worse = FEATURES[:pairs], FEATURES[pairs : 2 * pairs]
    return Judgements(name, better, worse, np.arange(pairs) % 2 == 1)


def said(known: PriorKnowledge, person: str | None = "") -> Comparisons:
    return known.comparisons(POOL, SCALING, person)


def rows_from(found: Comparisons, source: str) -> Comparisons:
    return found[np.flatnonzero(found.from_source(source))]


# --- demonstrations and corrections -------------------------------------------------------------------------


def test_a_demonstration_is_better_than_other_trajectories_of_the_pool() -> None:
    found = said(NOTHING.demonstrated(FEATURES[[3]]))
    assert len(found) == ALTERNATIVES
    np.testing.assert_array_equal(found.winners, np.repeat(POOL[[3]], ALTERNATIVES, axis=0))
    places = [np.flatnonzero(np.all(row == POOL, axis=1)).tolist() for row in found.losers]
    assert all(len(place) == 1 and place != [3] for place in places)
    assert len({place[0] for place in places}) == ALTERNATIVES
    assert found.rows is not None
    assert found.rows.said == {("best-of-5", "1")}
    assert found.n_answers == 1
    np.testing.assert_array_equal(said(NOTHING.demonstrated(FEATURES[[3]])).losers, found.losers)


def test_trajectories_like_the_demonstrated_one_are_no_alternatives() -> None:
    pool = np.repeat(FEATURES[:3], 5, axis=0)
    pool[5:, 0] = pool[0, 0]  # the others differ in other features
    found = NOTHING.demonstrated(FEATURES[[0]]).comparisons(SCALING(pool), SCALING)
    assert len(found) == ALTERNATIVES
    assert not np.any(np.all(found.losers == found.winners, axis=1))


def test_of_many_demonstrations_some_are_learned_from() -> None:
    rows = np.random.default_rng(1).normal(size=(60, 3))
    found = said(NOTHING.demonstrated(rows))
    assert found.n_answers == MOST_DEMONSTRATIONS
    assert len({tuple(row) for row in found.winners}) == MOST_DEMONSTRATIONS
    assert {tuple(row) for row in found.winners} <= {tuple(row) for row in SCALING(rows)}


def test_what_could_have_been_done_instead_counts_and_differs_from_what_was_done() -> None:
    near = np.stack([FEATURES[[7]] + 0.1, FEATURES[[7]]], axis=1)  # the second is the demonstration itself
    found = said(NOTHING.demonstrated(FEATURES[[7]], near))
    assert len(found) == ALTERNATIVES
    assert any(np.allclose(row, SCALING(FEATURES[[7]] + 0.1)[0]) for row in found.losers)
    both = NOTHING.demonstrated(FEATURES[[7]], near).demonstrated(FEATURES[[8]])
    assert len(said(both)) == 2 * ALTERNATIVES
    assert said(both).n_answers == 2


def test_a_correction_is_one_pair() -> None:
    found = said(NOTHING.corrected(FEATURES[:2], FEATURES[2:4]))
    np.testing.assert_allclose(found.winners, POOL[:2])
    np.testing.assert_allclose(found.losers, POOL[2:4])
    assert np.all(found.from_source(CORRECTION))
    assert np.isnan(found.known_lapses).all()


# --- directions and scores ----------------------------------------------------------------------------------


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_a_direction_compares_two_trajectories_that_differ_in_one_feature(better: Any) -> None:
    found = said(NOTHING.directed(Direction("jerk", better, 0.8)))
    difference = found.winners - found.losers
    assert np.flatnonzero(difference[0]).tolist() == [1]
    assert (difference[0, 1] > 0) == (better == "higher")
    assert found.known_lapses.tolist() == pytest.approx([0.4])
    assert found.from_source(DIRECTION).all()
    # half of all lapses say what is right by chance, so that the statement is right with probability 0.8
    assert 1.0 - found.known_lapses[0] / 2.0 == pytest.approx(0.8)


def test_a_feature_that_is_mostly_the_same_is_compared_between_its_ends() -> None:
    assert ends_of(np.array([0.0] * 19 + [1.0])) == (0.0, 1.0)
    low, high = ends_of(np.arange(101.0))
    assert (low, high) == (10.0, 90.0)


def test_a_score_is_a_direction_of_a_column_that_the_model_finds() -> None:
    found = said(NOTHING.directed(Direction("reach", is_score=True)))
    assert found.from_source(SCORE).all()
    assert found.scores == (2,)
    assert said(NOTHING.directed(Direction("reach"))).scores == ()
    assert NOTHING.directed(Direction("reach", is_score=True)).scores == ("reach",)


def test_a_later_statement_about_a_feature_takes_the_place_of_an_earlier_one() -> None:
    known = NOTHING.directed(Direction("jerk", "lower")).directed(Direction("jerk", "higher"))
    assert [one.better for one in known.directions] == ["higher"]


@pytest.mark.parametrize("confidence", [0.5, 1.0, 0.2, float("nan")])
def test_a_confidence_lies_between_a_coin_and_certainty(confidence: float) -> None:
    with pytest.raises(ValueError, match=r"between 0\.5 and 1"):
        Direction("jerk", "lower", confidence)


def test_misspelt_features_and_ends_get_a_clear_word() -> None:
    with pytest.raises(ValueError, match="did you mean 'jerk'"):
        said(NOTHING.directed(Direction("jerc")))
    with pytest.raises(ValueError, match="'higher' or 'lower'"):
        Direction("jerk", "less")  # type: ignore[arg-type]


# --- judges -------------------------------------------------------------------------------------------------


def test_a_judge_is_another_person_with_ties() -> None:
    found = said(NOTHING.judged(judged()), "ann")
    assert found.people is not None
    assert set(found.people.tolist()) == {"qwen"}
    assert found.from_source(JUDGE).all()
    assert found.tied.tolist() == [False, True, False, True]
    assert found.has_people  # though nobody else has said anything: a judge is never who is learned of


def test_beside_a_judge_what_was_shown_has_a_name_and_a_direction_stays_the_persons() -> None:
    known = NOTHING.demonstrated(FEATURES[[1]]).directed(Direction("jerk")).judged(judged())
    found = said(known, "ann")
    assert found.people is not None
    assert set(rows_from(found, DEMONSTRATION).people.tolist()) == {DEMONSTRATION}  # type: ignore[union-attr]
    assert set(rows_from(found, DIRECTION).people.tolist()) == {"ann"}  # type: ignore[union-attr]


def test_what_a_judge_says_again_takes_the_place_of_what_it_said() -> None:
    known = NOTHING.judged(judged(pairs=4)).judged(judged("other")).judged(judged(pairs=6))
    assert [(one.judge, len(one)) for one in known.judgements] == [("other", 4), ("qwen", 6)]


@pytest.mark.parametrize("name", ["", *SOURCES[1:]])
def test_a_judge_needs_a_name_of_its_own(name: str) -> None:
    with pytest.raises(ValueError, match="a name of its own"):
        judged(name)


def test_judgements_of_other_features_and_of_uneven_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="2 features, but here they have 3"):
        NOTHING.judged(Judgements("qwen", np.zeros((1, 2)), np.ones((1, 2)), np.zeros(1, dtype=bool)))
    with pytest.raises(ValueError, match=r"shapes \(2, 3\), \(1, 3\) and \(1,\)"):
        Judgements("qwen", np.zeros((2, 3)), np.ones((1, 3)), np.zeros(1, dtype=bool))


# --- all of it ----------------------------------------------------------------------------------------------


def test_it_says_what_is_known() -> None:
    known = NOTHING.demonstrated(FEATURES[:2]).corrected(FEATURES[:1], FEATURES[1:2])
    known = known.directed(Direction("jerk", "lower")).judged(judged())
    assert known.describe() == (
        "2 demonstrations, 1 correction, lower jerk is better (90% sure), 4 judgements of qwen"
    )
    assert NOTHING.describe() == "nothing"
    assert not NOTHING
    assert known


rows = st.integers(0, 3)


@given(rows, rows, st.lists(st.sampled_from(NAMES), unique=True), rows, st.integers(0, 2))
def test_json_keeps_all_of_it(shown: int, corrected: int, names: list[str], judges: int, nearby: int) -> None:
    rng = np.random.default_rng(shown)

    def some(*shape: int) -> Array:
        return rng.normal(size=(*shape, 3))

    known = NOTHING.corrected(some(corrected), some(corrected)).demonstrated(some(shown), some(shown, nearby))
    for name in names:
        known = known.directed(Direction(name, "lower", 0.75, is_score=name == "reach"))
    for number in range(judges):
        known = known.judged(Judgements(f"judge {number}", some(2), some(2), np.array([True, False])))
    again = PriorKnowledge.from_json(json.loads(json.dumps(known.to_json())))
    assert again.describe() == known.describe()
    assert said(again, "ann").tobytes() == said(known, "ann").tobytes()


@given(st.permutations(range(3)), st.floats(0.1, 10.0), st.floats(-5.0, 5.0))
def test_units_and_order_of_features_do_not_matter(order: list[int], scale: float, shift: float) -> None:
    """Statements are about trajectories, so the same is said in other units."""
    known = NOTHING.demonstrated(FEATURES[:2]).corrected(FEATURES[:1], FEATURES[1:2])
    known = known.directed(Direction("jerk", "lower")).judged(judged())

    def moved(x: Array) -> Array:
        return np.asarray(scale * x[..., order] + shift)

    features, names = moved(FEATURES), [NAMES[place] for place in order]
    scaling = Scaling.of(features, names)
    other = PriorKnowledge(
        moved(known.demonstrations),
        moved(known.nearby),
        moved(known.better),
        moved(known.worse),
        known.directions,
        tuple(Judgements(j.judge, moved(j.better), moved(j.worse), j.tied) for j in known.judgements),
    )
    found, expected = other.comparisons(scaling(features), scaling, "ann"), said(known, "ann")
    np.testing.assert_allclose(found.winners, expected.winners[:, order], atol=1e-9)
    np.testing.assert_allclose(found.losers, expected.losers[:, order], atol=1e-9)


# --- parts --------------------------------------------------------------------------------------------------


def everything() -> PriorKnowledge:
    known = NOTHING.demonstrated(FEATURES[:2], FEATURES[None, 2:4].repeat(2, axis=0))
    known = known.corrected(FEATURES[4:5], FEATURES[5:6]).directed(Direction("jerk", "lower"))
    return known.directed(Direction("reach", is_score=True)).judged(judged()).judged(judged("gemma", 2))


def test_parts_are_all_of_it() -> None:
    known = everything()
    names = [(part.source, part.name) for part in known.parts]
    assert names == [
        (DEMONSTRATION, ""),
        (CORRECTION, ""),
        (DIRECTION, "jerk"),
        (SCORE, "reach"),
        (JUDGE, "qwen"),
        (JUDGE, "gemma"),
    ]
    again = NOTHING
    for part in known.parts:
        again = again.joined(part.knowledge)
    assert again.to_json() == known.to_json()
    for source, name in names:
        left = known.without(source, name)
        assert [(part.source, part.name) for part in left.parts] == [
            one for one in names if one != (source, name)
        ]
    assert not NOTHING.parts
