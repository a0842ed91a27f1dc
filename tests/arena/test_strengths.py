"""The posterior over strengths, compared with brute-force integration and with weighted prior samples."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from prefero.arena import Arena, ArenaPlan, Judgment
from prefero.arena.effects import STDS, VARIANCE_RATIOS, effects_of
from prefero.arena.strengths import MARGINS, StrengthFitter
from prefero.questions import Answer, PairChoice, Question

Answers = list[tuple[int, int, Any]]
ABC = ArenaPlan.of_policies("ABC")
ANSWERS: Answers = [
    *[(0, 1, "left")] * 5,
    *[(1, 0, "left")] * 2,
    *[(1, 2, "left")] * 3,
    *[(1, 2, "right")] * 1,
    *[(0, 2, "left")] * 4,
]
TIES: Answers = [*ANSWERS, *[(0, 1, "equal")] * 3, *[(1, 2, "equal")] * 2]


def judgments(answers: Answers, judge: str = "") -> list[Judgment]:
    return [Judgment(Answer(Question(one, other), choice), judge) for one, other, choice in answers]


def quadrature(answers: Answers, margin: float) -> tuple[np.ndarray, float]:
    """P(better) and P(A before B before C) on a grid of the two differences, with scipy's normal alone."""
    d = np.linspace(-7, 7, 200)  # without 0, so that every cell is on one side
    ab, bc = np.meshgrid(d, d, indexing="ij")
    gaps = {(0, 1): ab, (1, 2): bc, (0, 2): ab + bc}
    gaps |= {(b, a): -gap for (a, b), gap in gaps.items()}
    total = np.zeros_like(ab)
    for std, weight in STDS.items():
        # a - b and b - c of three independent normals have this covariance
        covariance = std**2 * np.array([[2.0, -1.0], [-1.0, 2.0]])
        precision = np.linalg.inv(covariance)
        square = precision[0, 0] * ab**2 + 2 * precision[0, 1] * ab * bc + precision[1, 1] * bc**2
        prior = weight * np.exp(-0.5 * square) / np.sqrt(np.linalg.det(covariance))
        for one, other, choice in answers:
            gap = gaps[one, other] if choice != "right" else gaps[other, one]
            if choice == "equal":
                prior = prior * (norm.cdf(margin - gap) - norm.cdf(-margin - gap))
            else:
                prior = prior * norm.cdf(gap - margin)
        total += prior
    total /= total.sum()
    better = np.full((3, 3), 0.5)
    for (one, other), gap in gaps.items():
        better[one, other] = total[gap > 1e-9].sum() + 0.5 * total[np.abs(gap) <= 1e-9].sum()
    return better, float(total[(ab > 0) & (bc > 0)].sum())


@pytest.mark.parametrize("answers", [ANSWERS, TIES], ids=["two answers", "with ties"])
def test_three_policies_agree_with_brute_force(answers: Answers) -> None:
    strengths = StrengthFitter(ABC).fit(judgments(answers))
    margin = round(strengths.posterior.probit.margin, 9)
    assert (margin in MARGINS) == (answers is TIES)
    better, order = quadrature(answers, margin)
    np.testing.assert_allclose(strengths.better, better, atol=0.015)
    found = np.mean((np.diff(strengths.draws, axis=1) < 0).all(axis=1))
    assert found == pytest.approx(order, abs=0.025)  # 4096 draws have a standard error of 0.008


def weighted_prior(plan: ArenaPlan, given: list[Judgment], count: int = 100_000) -> float:
    """P(the first policy is better than the second), by prior samples weighted with their likelihood."""
    rng = np.random.default_rng(1)
    shape = (2, len(plan.task_names))
    judges = sorted({judgment.judge for judgment in given})
    std = rng.choice(list(STDS), size=count, p=list(STDS.values()))
    share = {name: rng.choice(VARIANCE_RATIOS, size=count) for name in ("task", "judge", "rollout")}
    policy = std[:, None] * rng.standard_normal((count, 2))
    task = (std * np.sqrt(share["task"]))[:, None, None] * rng.standard_normal((count, *shape))
    judge = (std * np.sqrt(share["judge"]))[:, None, None] * rng.standard_normal((count, 2, len(judges)))
    rollout = np.sqrt(share["rollout"])[:, None] * rng.standard_normal((count, len(plan.policy_of)))
    log_weight = np.zeros(count)
    for judgment in given:
        f = []
        for item in judgment.answer.pair:
            p, t, j = (
                plan.policy_of[item],
                plan.task_names.index(plan.task_of(item)),
                judges.index(judgment.judge),
            )
            f.append(policy[:, p] + task[:, p, t] + judge[:, p, j] + rollout[:, item])
        log_weight += norm.logcdf(f[0] - f[1])
    weight = np.exp(log_weight - log_weight.max())
    strength = policy + task.mean(axis=2) + judge.mean(axis=2)
    return float(weight @ (strength[:, 0] > strength[:, 1]) / weight.sum())


def test_effects_of_tasks_judges_and_rollouts_agree_with_weighted_prior_samples() -> None:
    plan = ArenaPlan(("A", "B"), (0, 0, 1, 1, 0, 1), ("x", "x", "x", "x", "y", "y"))
    given = judgments([(0, 2, "left")] * 3 + [(1, 3, "left"), (4, 5, "right"), (0, 3, "left")], "anna")
    given += judgments([(0, 2, "left"), (4, 5, "right"), (1, 2, "right")], "ben")
    strengths = StrengthFitter(plan).fit(given)
    assert strengths.effects.active == (True, True, True)
    assert strengths.better[0, 1] == pytest.approx(weighted_prior(plan, given), abs=0.015)


def test_the_same_two_rollouts_again_and_again_say_less_than_new_ones() -> None:
    repeated = ArenaPlan(("A", "B"), (0, 1))
    fresh = ArenaPlan.of_policies("AB")
    given = judgments([(0, 1, "left")] * 8)
    same, new = (StrengthFitter(plan).fit(given).better[0, 1] for plan in (repeated, fresh))
    assert 0.5 < same < new - 0.03


@settings(max_examples=6, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([(0, 1), (1, 2), (2, 0)]), st.sampled_from(["left", "right", "equal"])),
        min_size=1,
        max_size=8,
    )
)
def test_exchanged_answers_negate_the_strengths(pairs: list[tuple[tuple[int, int], PairChoice]]) -> None:
    other: dict[PairChoice, PairChoice] = {"left": "right", "right": "left", "equal": "equal"}
    one = StrengthFitter(ABC).fit(judgments([(*pair, choice) for pair, choice in pairs]))
    two = StrengthFitter(ABC).fit(judgments([(*pair, other[choice]) for pair, choice in pairs]))
    np.testing.assert_allclose(one.mean, -two.mean, atol=1e-4)
    np.testing.assert_allclose(one.better, two.better.T, atol=1e-4)
    np.testing.assert_allclose(one.better + one.better.T, 1.0)


def test_a_fit_continues_from_the_last_one_with_the_same_result() -> None:
    fitter = StrengthFitter(ABC)
    for count in range(1, len(TIES) + 1):
        continued = fitter.fit(judgments(TIES[:count]))
    np.testing.assert_allclose(continued.better, StrengthFitter(ABC).fit(judgments(TIES)).better, atol=2e-3)


def test_effects_that_cannot_be_told_from_noise_are_left_out() -> None:
    plan = ArenaPlan(("A", "B"), (0, 1, 0, 1))
    once = effects_of(plan, judgments([(0, 1, "left"), (2, 3, "left")], "anna"))
    twice = effects_of(plan, judgments([(0, 1, "left"), (0, 3, "left")], "anna"))
    assert once.active == (False, False, False)
    assert twice.active == (False, False, True)


def test_nothing_is_known_before_the_first_answer() -> None:
    standings = Arena("ABC").standings()
    np.testing.assert_allclose(standings.better, (1 - np.eye(3)) / 3, atol=1e-6)  # or equal, or worse
    assert standings.confidence == pytest.approx(1 / 3)
    assert standings.sentences == ["Nothing has been compared yet."]
