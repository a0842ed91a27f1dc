"""The benchmark of the stopping rule: its fit on people whose correction is known, and its rules by hand."""

import numpy as np
import pytest
from benchmarks.learning.stopping import (
    CHOSEN,
    checked,
    coverage_table,
    fit,
    held_out,
    person_of,
    rule_table,
    runs_of,
    stop_at_gain,
    stop_at_goal,
    stop_at_number,
)
from benchmarks.rows import Row
from scipy.special import expit, logit

from prefero.models.explain.learning_progress import Correction


def row(seed: int, answers: int, claim: float, share: float, **more: float) -> Row:
    base = {"task": "bumps", "strategy": CHOSEN, "seed": seed, "answers": answers}
    return base | {"claim": claim, "share": share, "variance": 0.0, "room": 0.1} | more


def people() -> list[Row]:
    """Shares as the correction says, after 5 and after 10 answers."""
    rng, rows = np.random.default_rng(5), []
    for seed in range(1500):
        claim, variance, room = rng.uniform(0.6, 0.9), rng.uniform(0.0, 0.3), rng.uniform(0.05, 0.3)
        deviation = np.sqrt(1.5**2 * variance + 0.2**2)
        share = float(expit(0.3 + 0.8 * logit(claim) + deviation * rng.standard_normal()))
        later = share + room * (1 - 0.5**0.7) + 0.05 * rng.standard_normal()
        rows.append(row(seed, 5, claim, share, variance=variance, room=room))
        rows.append(row(seed, 10, 0.5, min(max(later, 0.01), 0.99)) | {"variance": None, "room": None})
    return rows


def test_the_fit_finds_a_correction_that_is_known_and_its_intervals_hold() -> None:
    rows = people()
    found = fit(checked(rows))
    assert (found.shift, found.slope, found.stretch) == pytest.approx((0.3, 0.8, 1.5), abs=0.12)
    assert (found.extra, found.rate) == pytest.approx((0.2, 0.7), abs=0.12)
    last = list(coverage_table(rows, found))[-1].split()
    assert last[:2] == ["all", "1500"]
    assert float(last[2]) == pytest.approx(0.9, abs=0.03)
    assert float(last[-2]) == pytest.approx(float(last[-1]), abs=0.005)


def test_a_task_is_held_out_of_the_fit_that_it_is_judged_by() -> None:
    """The people of one task know less than the posterior claims, and the others cannot tell."""
    rows = people()
    odd = [row | {"task": "golf", "share": float(expit(logit(row["share"]) - 2.0))} for row in rows[:600]]
    bumps, golf = (line.split() for line in held_out([*rows[600:], *odd]))
    assert (bumps[0], golf[0]) == ("bumps", "golf")
    assert float(golf[2]) < 0.4


def test_rules_stop_at_the_first_answer_that_suffices_or_at_the_last() -> None:
    plain = Correction(0.0, 1.0, 1.0, 0.0, 1.0)
    claims = {0: (0.6, 0.85, 0.7, 0.9), 1: (0.6, 0.6, 0.7, 0.7)}
    rows = [
        row(seed, 5 + place, claim, 0.6 + 0.1 * place, room=0.1 * (4 - place))
        for seed, own in claims.items()
        for place, claim in enumerate(own)
    ]
    runs = runs_of(rows[::-1])
    assert stop_at_goal(runs, 0.8, plain)[1:] == pytest.approx(((6 + 8) / 2, (0.7 + 0.9) / 2, 0.5, 0.7, 0.9))
    assert stop_at_number(runs, 7)[1:] == pytest.approx((7, 0.8, 1.0, 0.8, 0.9))
    # expected gains: 0.4 * 5 / 10, 0.3 * 5 / 11, 0.2 * 5 / 12, ...
    assert stop_at_gain(runs, 0.14, plain)[1:] == pytest.approx((6, 0.7, 1.0, 0.7, 0.9))
    line = next(line for line in rule_table(runs, plain) if line.startswith("until 0.8 "))
    assert [float(cell) for cell in line.split()[2:]] == pytest.approx(
        [7, 1, 0.8, 0.1, 0.8, 0, 0.5, 0.7, 0.9]
    )


def test_any_twelve_people_in_a_row_differ() -> None:
    for first in (0, 5, 1000):
        assert len({person_of("golf", seed) for seed in range(first, first + 12)}) == 12
