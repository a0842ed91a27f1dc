"""Simulated arenas, and how the benchmark counts the comparisons that they need."""

from itertools import product

import numpy as np
import pytest
from benchmarks.robots.arena import Run, needed, run
from benchmarks.robots.two_policies import Ends, outcome
from scipy.stats import logistic, norm

from prefero.arena.simulate import LOGISTIC_SCALE, SimulatedPolicies
from prefero.questions import Question


def test_the_number_needed_is_where_the_share_of_right_orders_stays_high() -> None:
    always = Run((1,), (True,), None, False)
    late = Run((1, 3, 5, 7), (False, True, False, True), 7, True)
    assert needed([always, late], 10) == 7
    assert needed([always, late], 10, share=0.5) == 1
    assert needed([always, Run((1,), (False,), None, False)], 10) is None


def test_a_run_ends_when_it_is_sure() -> None:
    one = run("even", 2, "active", 0, questions=60, until=0.95)
    assert one.stopped == one.answers[-1] <= 60


@pytest.mark.parametrize("judges", ["thurstone", "bradley-terry"])
def test_simulated_judges_err_as_their_model_says(judges: str) -> None:
    policies = SimulatedPolicies(np.array([0.8, 0.0]), judges, margin=0.3)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    given = [policies.answer(Question(0, 1), rng) for _ in range(4000)]
    cdf = norm.cdf if judges == "thurstone" else logistic(scale=LOGISTIC_SCALE).cdf
    assert given.count("left") / 4000 == pytest.approx(cdf(0.8 - 0.3), abs=0.03)
    assert given.count("right") / 4000 == pytest.approx(cdf(-0.8 - 0.3), abs=0.03)


def test_a_careless_judge_answers_at_random() -> None:
    policies = SimulatedPolicies(np.array([50.0, 0.0]), lapse_rate=1.0)
    rng = np.random.default_rng(0)
    given = [policies.answer(Question(0, 1), rng) for _ in range(400)]
    assert 140 < given.count("left") < 260
    assert policies.names == policies.order == ("A", "B")


def test_the_ends_of_two_policies_agree_with_all_sequences_of_answers() -> None:
    limits = Ends(wins=(9, 9, 9, 3, 4, 4, 5, 5, 6), ties=(-1, -1, -1, -1, -1, -1, 3, -1, 4))
    totals = dict.fromkeys(("first", "other", "tie", "open"), 0.0)
    expected = 0.0
    for answers in product((True, False), repeat=8):
        end, after = "open", 8
        for count in range(1, 9):
            won = sum(answers[:count])
            if max(won, count - won) >= limits.wins[count]:
                end, after = ("first" if won > count - won else "other"), count
                break
            if max(won, count - won) <= limits.ties[count]:
                end, after = "tie", count
                break
        weight = np.prod([norm.cdf(0.3) if one else norm.cdf(-0.3) for one in answers])
        totals[end] += weight
        expected += weight * after
    found = outcome(0.3, limits)
    assert {name: getattr(found, name) for name in totals} == pytest.approx(totals)
    assert found.answers == pytest.approx(expected)
