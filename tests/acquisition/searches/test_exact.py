"""The best question of a pool against trying every pair, at every tile size."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import question_reference
from acquisition.searched_pools import (
    KERNELS,
    TILES,
    Mixture,
    belief_of,
    best_of_scores,
    every_function,
    every_tile,
    learned,
    pool,
    score_all,
)
from prefero._support.arrays import Array
from prefero.acquisition.base import AcquisitionFunction
from prefero.acquisition.functions.expected_utility import ExpectedUtility
from prefero.acquisition.functions.mutual_information import MutualInformation
from prefero.acquisition.projection import preference_probabilities
from prefero.acquisition.searches.best_question import best_question
from prefero.acquisition.searches.random_question import random_question
from prefero.kernels import RBF
from prefero.models.likelihood.probit import Probit
from prefero.models.linear import LinearPreference
from prefero.models.preference_gp import PreferenceGP
from prefero.questions import Comparisons, Question


def judge_components(belief: Any, x: Array) -> list[question_reference.Component]:
    rows = [(weight, p.probit, *p(x)) for weight, p in belief.components]
    return [
        question_reference.Component(w, mean, cov, probit.noise, probit.margin)
        for w, probit, mean, cov in rows
    ]


def assert_best(question: Question, pair: tuple[int, int], scores: Array) -> None:
    assert (question.left, question.right) == pair
    assert question.value == pytest.approx(float(scores[pair]), abs=1e-9)


# --- against trying every pair ----------------------------------------------------------------------------


@pytest.mark.rounding
@pytest.mark.parametrize("components", [1, 2, 3])
@every_function
@pytest.mark.parametrize("seed", range(4))
def test_the_best_question_is_the_best_of_all_scores(
    seed: int, acquisition: AcquisitionFunction, components: int
) -> None:
    belief, x = belief_of(seed, components), pool(seed + 100, 50)
    scores = score_all(belief, x, acquisition)
    for tile in TILES:
        question = best_question(belief, x, acquisition=acquisition, tile=tile)
        assert_best(question, best_of_scores(scores), scores)


@pytest.mark.parametrize("margin", [0.0, 0.3])
@pytest.mark.parametrize("components", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_no_pair_is_better_by_quadrature(seed: int, components: int, margin: float) -> None:
    belief, x = belief_of(seed, components, margin), pool(seed + 200, 14)
    question = best_question(belief, x, tile=5)
    judges = judge_components(belief, x)
    _, best = question_reference.best_pair(question_reference.pair_bits, judges)
    assert question.value == pytest.approx(best, abs=1e-6)
    assert question_reference.pair_bits(judges, question.left, question.right) == pytest.approx(
        best, abs=1e-6
    )


@pytest.mark.parametrize("seed", range(6))
def test_no_pair_is_better_by_the_paper_s_equation(seed: int) -> None:
    belief, x = belief_of(seed, 1), pool(seed + 300, 25)
    question = best_question(belief, x, acquisition=MutualInformation("paper"), tile=7)
    pair, best = question_reference.best_pair(question_reference.pair_paper, judge_components(belief, x))
    assert (question.left, question.right) == pair
    assert question.value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("components", [1, 3])
@pytest.mark.parametrize("seed", range(6))
def test_no_pair_is_worth_more_by_the_textbook(seed: int, components: int) -> None:
    belief, x = belief_of(seed, components), pool(seed + 400, 20)
    question = best_question(belief, x, acquisition="expected-utility", tile=7)
    pair, best = question_reference.best_pair(question_reference.pair_utility, judge_components(belief, x))
    assert (question.left, question.right) == pair
    assert question.value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_score_all_is_the_value_of_every_pair(seed: int, margin: float) -> None:
    belief, x = belief_of(seed, 2, margin), pool(seed, 6)
    judges, scores, worth = (
        judge_components(belief, x),
        score_all(belief, x, MutualInformation()),
        score_all(belief, x, ExpectedUtility()),
    )
    for i in range(6):
        for j in range(i + 1, 6):
            assert scores[i, j] == pytest.approx(question_reference.pair_bits(judges, i, j), abs=1e-6)
            assert worth[i, j] == pytest.approx(question_reference.pair_utility(judges, i, j), abs=1e-9)
    np.testing.assert_allclose(scores, scores.T, atol=1e-9)
    np.testing.assert_allclose(worth, worth.T, atol=1e-9)


@pytest.mark.rounding
@pytest.mark.parametrize(("count", "tile"), [(2, 1), (12, 1), (250, 16), (250, 64), (250, 249), (250, 1000)])
def test_any_tile_will_do(count: int, tile: int) -> None:
    belief, x = belief_of(5, 1), pool(5, count)
    scores = score_all(belief, x, MutualInformation())
    assert_best(best_question(belief, x, tile=tile), best_of_scores(scores), scores)


@pytest.mark.parametrize("noise", [1e-3, 1e-2, 10.0, 1e3])
@every_function
def test_any_noise_will_do(acquisition: AcquisitionFunction, noise: float) -> None:
    posterior, x = learned(1, KERNELS[0], Probit(noise)), pool(6, 50)
    scores = score_all(posterior, x, acquisition)
    question = best_question(posterior, x, acquisition=acquisition, tile=16)
    best = np.max(scores[np.triu_indices(50, 1)])
    assert scores[question.left, question.right] == pytest.approx(best, abs=1e-9)


@pytest.mark.rounding
@every_function
def test_before_the_first_answer_there_is_a_best_question_too(acquisition: AcquisitionFunction) -> None:
    prior, x = learned(0, KERNELS[0], Probit(0.2), answers=0), pool(7, 30)
    scores = score_all(prior, x, acquisition)
    question = best_question(prior, x, acquisition=acquisition, tile=7)
    assert_best(question, best_of_scores(scores), scores)


@pytest.mark.rounding
@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(2, 40),
    copies=st.integers(0, 10),
    components=st.integers(1, 3),
    margin=st.sampled_from([0.0, 0.25]),
    acquisition=st.sampled_from([MutualInformation(), ExpectedUtility()]),
    tile=st.sampled_from([4, 7, 33]),
    fraction=st.floats(0.0, 0.9),
)
def test_any_pool_is_searched_exactly(
    seed: int,
    count: int,
    copies: int,
    components: int,
    margin: float,
    acquisition: AcquisitionFunction,
    tile: int,
    fraction: float,
) -> None:
    rng = np.random.default_rng(seed)
    x = np.concatenate([pool(seed, count), pool(seed, count)[:copies]])
    pairs = [(i, j) for i in range(len(x)) for j in range(len(x)) if i != j and rng.random() < 0.5 * fraction]
    belief = belief_of(seed % 7, components, margin)
    scores = np.asarray(score_all(belief, x, acquisition))
    allowed = np.triu(np.ones(scores.shape, dtype=bool), k=1)
    for i, j in pairs:
        allowed[min(i, j), max(i, j)] = False
    if not allowed.any():
        allowed[0, 1], pairs = True, [p for p in pairs if set(p) != {0, 1}]
    question = best_question(belief, x, acquisition=acquisition, exclude=pairs, tile=tile)
    assert allowed[question.left, question.right]
    assert scores[question.left, question.right] == pytest.approx(scores[allowed].max(), abs=1e-9)
    assert question.value == pytest.approx(scores[allowed].max(), abs=1e-9)


# --- exclusions, duplicates, ties -------------------------------------------------------------------------


@every_function
@every_tile
def test_excluded_questions_are_not_asked(acquisition: AcquisitionFunction, tile: int | None) -> None:
    belief, x = belief_of(2, 1), pool(8, 30)
    scores = score_all(belief, x, acquisition)
    banned: list[tuple[int, int]] = []
    for turn in range(8):
        question = best_question(belief, x, acquisition=acquisition, exclude=banned, tile=tile)
        assert_best(question, best_of_scores(scores, banned), scores)
        left, right = question.left, question.right
        banned.append((left, right) if turn % 2 else (right, left))  # either way round


def test_the_last_question_is_found_when_all_others_are_excluded() -> None:
    belief, x = belief_of(2, 1), pool(8, 12)
    for last in [(0, 1), (3, 7), (10, 11)]:
        others = [(i, j) for i in range(12) for j in range(i + 1, 12) if (i, j) != last]
        question = best_question(belief, x, exclude=others, tile=5)
        assert (question.left, question.right) == last


def test_exclusions_may_come_from_a_generator() -> None:
    belief, x = belief_of(2, 1), pool(8, 12)
    first = best_question(belief, x)
    second = best_question(belief, x, exclude=(pair for pair in [(first.left, first.right)]))
    assert (first.left, first.right) != (second.left, second.right)


@pytest.mark.rounding
@every_function
@every_tile
def test_of_equally_good_pairs_the_smallest_indices_are_taken(
    acquisition: AcquisitionFunction, tile: int | None
) -> None:
    belief, x = belief_of(1, 1), pool(9, 20)
    alone = best_question(belief, x, acquisition=acquisition)
    thrice = best_question(belief, np.concatenate([x, x, x]), acquisition=acquisition, tile=tile)
    assert (thrice.left, thrice.right) == (alone.left, alone.right)
    backward = best_question(belief, np.concatenate([x, x[::-1]]), acquisition=acquisition, tile=tile)
    assert (backward.left, backward.right) == (alone.left, alone.right)


@pytest.mark.rounding
@every_tile
def test_where_all_is_alike_the_first_pair_is_asked(tile: int | None) -> None:
    question = best_question(belief_of(1, 1), np.ones((30, 2)), tile=tile)
    assert (question.left, question.right) == (0, 1)
    assert question.value == pytest.approx(0.0, abs=1e-6)


@pytest.mark.rounding
def test_the_order_of_the_pool_does_not_matter() -> None:
    belief, x = belief_of(3, 2), pool(10, 40)
    order = np.random.default_rng(0).permutation(40)
    here, there = best_question(belief, x, tile=7), best_question(belief, x[order], tile=7)
    assert {here.left, here.right} == {int(order[there.left]), int(order[there.right])}
    assert here.value == pytest.approx(there.value, abs=1e-9)


@pytest.mark.rounding
def test_the_same_search_twice_gives_the_same_question() -> None:
    belief, x = belief_of(3, 2), pool(10, 40)
    first, second = best_question(belief, x), best_question(belief, x)
    assert (first, first.value) == (second, second.value)


def test_a_mixture_of_one_is_that_one() -> None:
    posterior, x = learned(4, KERNELS[1], Probit(0.2)), pool(11, 30)
    split: Any = Mixture([(0.5, posterior), (0.5, posterior)])
    whole, halves = best_question(posterior, x), best_question(split, x)
    assert whole == halves
    assert whole.value == pytest.approx(halves.value, abs=1e-6)


def test_the_pool_is_left_as_it_was() -> None:
    belief, x = belief_of(3, 2), pool(10, 40)
    before = x.copy()
    best_question(belief, x, tile=7)
    score_all(belief, x, MutualInformation())
    np.testing.assert_array_equal(x, before)


# --- a random question, and the value of one ----------------------------------------------------------------


def test_a_random_question_is_any_pair_with_the_same_probability() -> None:
    rng = np.random.default_rng(0)
    asked = [random_question(4, rng, exclude=[(2, 0), (1, 3)]) for _ in range(2000)]
    pairs = [tuple(sorted((q.left, q.right))) for q in asked]
    counts = {pair: pairs.count(pair) for pair in set(pairs)}
    assert set(counts) == {(0, 1), (0, 3), (1, 2), (2, 3)}
    assert min(counts.values()) > 400
    assert {q.left < q.right for q in asked} == {True, False}  # no item is always on the left


def test_a_random_question_needs_something_to_ask() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"two trajectories, .*1"):
        random_question(1, rng)
    with pytest.raises(ValueError, match="nothing is left to ask"):
        random_question(2, rng, exclude=[(1, 0)])


def test_a_pair_that_is_no_question_excludes_nothing() -> None:
    question = random_question(2, np.random.default_rng(0), exclude=[(1, 1)])
    assert {question.left, question.right} == {0, 1}
    assert best_question(belief_of(0, 1), pool(0, 2), exclude=[(1, 1)]) == Question(0, 1)


def test_the_value_of_one_question_is_that_of_the_search() -> None:
    belief, x = belief_of(3, 2), pool(10, 20)
    best = best_question(belief, x)
    assert score_all(belief, x, MutualInformation())[best.left, best.right] == pytest.approx(
        best.value, abs=1e-9
    )


# --- errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1])
def test_a_question_needs_two_trajectories(count: int) -> None:
    with pytest.raises(ValueError, match=f"two trajectories, .*{count}"):
        best_question(belief_of(0, 1), np.zeros((count, 2)))


@every_tile
def test_when_everything_is_excluded_the_error_says_so(tile: int | None) -> None:
    every = [(i, j) for i in range(9) for j in range(i)]
    with pytest.raises(ValueError, match="nothing is left to ask"):
        best_question(belief_of(0, 1), pool(0, 9), exclude=every, tile=tile)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no acquisition function 'win'.*: mutual-information, expected"):
        best_question(belief_of(0, 1), pool(0, 5), acquisition="win")


@pytest.mark.parametrize("wrong", [MutualInformation, 3, object()])
def test_what_is_no_acquisition_function_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"acquisition function .*method score"):
        best_question(belief_of(0, 1), pool(0, 5), acquisition=wrong)


def test_three_answers_need_the_exact_formula() -> None:
    with pytest.raises(ValueError, match=r"formula 'paper' .*two possible answers"):
        best_question(belief_of(0, 1, margin=0.2), pool(0, 5), acquisition=MutualInformation("paper"))


def test_whole_numbers_are_features_too() -> None:
    whole = np.random.default_rng(0).integers(-3, 4, (30, 2))
    posterior = PreferenceGP(RBF(0.2), noise=0.3, learn=False).fit(whole, [[0, 1], [2, 3], [4, 5]]).posterior_
    as_numbers = best_question(posterior, whole.astype(float))
    for rows in (whole, whole.tolist()):
        assert best_question(posterior, rows) == as_numbers
        assert best_question(posterior, rows).value == as_numbers.value
    rewards: Any = posterior.marginals(whole)[0]  # type: ignore[arg-type]
    np.testing.assert_array_equal(rewards, posterior.marginals(whole.astype(float))[0])


def test_what_is_no_belief_is_refused() -> None:
    with pytest.raises(TypeError, match=r"model.posterior_"):
        best_question(PreferenceGP(), np.zeros((3, 2)))  # type: ignore[arg-type]


def test_probabilities_of_all_pairs_are_those_of_each_pair() -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((30, 2))
    data = Comparisons.of(x, np.array([[0, 1], [2, 3], [4, 5], [6, 7]]))
    for model in (PreferenceGP(), LinearPreference()):
        belief = model.fit_comparisons(data).posterior_
        every = preference_probabilities(belief, x)
        i, j = np.triu_indices(30, 1)
        np.testing.assert_allclose(every[i, j], belief.probability(x[i], x[j]), atol=1e-12)
        np.testing.assert_allclose(every + every.T, 1.0, atol=1e-12)
