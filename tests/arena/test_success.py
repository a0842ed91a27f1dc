"""Success labels in an arena: compared with quadrature, weighted prior samples and simulated policies."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import logistic, norm

from prefero.arena import Arena, ArenaPlan, Judgment
from prefero.arena.effects import BAR_VARIANCE, DATASET, STDS, VARIANCE_RATIOS
from prefero.arena.simulate import LOGISTIC_SCALE, SimulatedPolicies, simulate_arena
from prefero.arena.strengths import StrengthFitter
from prefero.questions import Answer, Labels, Question

AB = ArenaPlan.of_policies("AB")


def plan_of(policy_of: tuple[int, ...], labels: tuple[str, ...], tasks: tuple[str, ...] = ()) -> ArenaPlan:
    """Recorded rollouts, some of which a dataset labels."""
    policies = tuple("ABC"[: max(policy_of) + 1])
    return ArenaPlan(policies, policy_of, tasks, labels=Labels.of(labels, "success") if any(labels) else None)


def labels(*counts: tuple[int, int], judge: str = "") -> list[Judgment]:
    """So many passes and fails of each policy, whose rollouts are all new."""
    return [
        Judgment(Answer.label(policy, passed), judge)
        for policy, both in enumerate(counts)
        for passed, count in zip((True, False), both, strict=True)
        for _ in range(count)
    ]


def quadrature(passes: int, fails: int, other_passes: int, other_fails: int) -> tuple[float, float]:
    """E[P(pass)] of the first of two policies, and P(it is better), on a grid of both and the bar."""
    places = np.linspace(-6, 6, 121)
    one, other, bar = np.meshgrid(places, places, places, indexing="ij", sparse=True)
    total, success, better = 0.0, 0.0, 0.0
    for std, weight in STDS.items():
        prior = norm.pdf(one, scale=std) * norm.pdf(other, scale=std) * norm.pdf(bar, scale=BAR_VARIANCE**0.5)
        likelihood = norm.cdf(one - bar) ** passes * norm.cdf(bar - one) ** fails
        likelihood = likelihood * norm.cdf(other - bar) ** other_passes * norm.cdf(bar - other) ** other_fails
        mass = weight * prior * likelihood
        total += mass.sum()
        success += (mass * norm.cdf(one - bar)).sum()
        better += (mass * ((one > other) + 0.5 * (one == other))).sum()
    return success / total, better / total


@pytest.mark.parametrize("counts", [((9, 1), (4, 6)), ((12, 0), (12, 0)), ((3, 1), (0, 0))])
def test_labels_alone_agree_with_quadrature(counts: tuple[tuple[int, int], tuple[int, int]]) -> None:
    found = StrengthFitter(AB).fit(labels(*counts))
    success, better = quadrature(*counts[0], *counts[1])
    assert found.success is not None
    assert found.success[:, 0].mean() == pytest.approx(success, abs=0.012)
    assert found.better[0, 1] == pytest.approx(better, abs=0.012)


def test_a_success_rate_is_near_that_of_a_beta_distribution() -> None:
    """Many labels of each: the prior and the other policy say little."""
    standings = Arena(AB, judgments=labels((160, 40), (100, 100))).standings()
    first = standings.rows[0]
    assert (first.policy, first.passes, first.fails) == ("A", 160, 40)
    assert first.success == pytest.approx(161 / 202, abs=0.01)
    assert first.success_low == pytest.approx(0.751, abs=0.015)  # quantiles of Beta(161, 41)
    assert first.success_high == pytest.approx(0.841, abs=0.015)
    assert standings.is_decided
    assert standings.sentences[0] == "The order is A, B: over 99%, after 400 labels."
    assert standings.sentences[2].startswith("A succeeds in 79% (7")


PLAN = plan_of((0, 0, 0, 1, 1, 1), ("pass", "", "pass", "fail", "", ""), ("x", "x", "y", "x", "x", "y"))
GIVEN = [
    Judgment(Answer(Question(0, 3), "left"), "anna"),
    Judgment(Answer(Question(1, 4), "right"), "anna"),
    Judgment(Answer(Question(2, 5), "left"), "anna"),
    Judgment(Answer.label(4, True), "anna"),
    Judgment(Answer.label(3, False), "ben"),
    Judgment(Answer.label(1, True), "ben"),
]


def weighted_prior(plan: ArenaPlan, given: list[Judgment], count: int = 500_000) -> tuple[float, float]:
    """P(A is better than B) and A's success, both for the people, by prior samples and their likelihoods."""
    rng = np.random.default_rng(1)
    dataset = [Judgment(answer, DATASET) for answer in (plan.labels or Labels.of([True])).answers()]
    judges, people = ("anna", "ben", DATASET), slice(2)
    std = rng.choice(list(STDS), size=count, p=list(STDS.values()))
    task_share, judge_share, rollout_share = (rng.choice(VARIANCE_RATIOS, size=count) for _ in range(3))
    policy = std[:, None] * rng.standard_normal((count, 2))
    task = (std * np.sqrt(task_share))[:, None, None] * rng.standard_normal((count, 2, 2))
    judge = (std * np.sqrt(judge_share))[:, None, None] * rng.standard_normal((count, 2, 3))
    rollout = np.sqrt(rollout_share)[:, None] * rng.standard_normal((count, 6))
    bar = rng.standard_normal((count, 1)) + np.sqrt(judge_share)[:, None] * rng.standard_normal((count, 3))

    def f(item: int, judge_: int) -> np.ndarray:
        p, t = plan.policy_of[item], plan.task_names.index(plan.task_of(item))
        return np.asarray(policy[:, p] + task[:, p, t] + judge[:, p, judge_] + rollout[:, item])

    log_weight = np.zeros(count)
    for judgment in [*dataset, *given]:
        j, items = judges.index(judgment.judge), judgment.items
        better = f(items[0], j) - (f(items[1], j) if len(items) == 2 else bar[:, j])
        sign = 1 if judgment.answer.choice in ("left", "pass") else -1
        log_weight += norm.logcdf(sign * better)
    weight = np.exp(log_weight - log_weight.max())
    strength = policy + task.mean(axis=2) + judge[:, :, people].mean(axis=2)
    above = policy[:, 0, None, None] + task[:, 0, :, None] + judge[:, 0, None, people] - bar[:, None, people]
    success = norm.cdf(above / np.sqrt(1 + rollout_share)[:, None, None]).mean(axis=(1, 2))
    first = strength[:, 0] > strength[:, 1]
    return float(weight @ first / weight.sum()), float(weight @ success / weight.sum())


def test_pairs_and_labels_of_people_and_of_a_dataset_agree_with_weighted_prior_samples() -> None:
    found = StrengthFitter(PLAN).fit(GIVEN)
    assert found.effects.active == (True, True, True)
    assert found.effects.shown == (0, 1, 2, 3, 4, 5)
    better, success = weighted_prior(PLAN, GIVEN)
    assert found.better[0, 1] == pytest.approx(better, abs=0.015)
    assert found.success is not None
    assert found.success[:, 0].mean() == pytest.approx(success, abs=0.015)


def test_a_rollout_that_was_labelled_once_needs_no_effect_of_its_own() -> None:
    plan = plan_of((0, 1) * 6, ("pass", "fail", "pass", "pass") * 3)
    given = [Judgment(Answer(Question(0, 1), "left"), "anna")]
    folded, whole = StrengthFitter(plan).fit(given), StrengthFitter(plan).fit(given, also=range(12))
    assert (len(folded.effects.shown), len(whole.effects.shown)) == (2, 12)
    np.testing.assert_allclose(folded.better, whole.better, atol=2e-3)
    assert folded.success is not None
    assert whole.success is not None
    np.testing.assert_allclose(folded.success.mean(axis=0), whole.success.mean(axis=0), atol=2e-3)


def test_people_decide_who_is_better_and_labels_help_them() -> None:
    """If a dataset disagrees, a person's word counts; if it agrees, that makes it surer."""
    pairs = [Judgment(Answer(Question(2 * i, 2 * i + 1), "left"), "anna") for i in range(3)]
    alone, agreed, contradicted = (
        StrengthFitter(plan_of((0, 1) * 8, some)).fit(pairs).better[0, 1]
        for some in ((), ("pass", "fail") * 8, ("fail", "pass") * 8)
    )
    assert 0.8 < alone < agreed - 0.05
    assert 0.8 < contradicted < agreed - 0.03


def test_labels_that_are_all_the_same_or_missing_are_named() -> None:
    plan = plan_of((0, 1, 2) * 4, ("pass", "pass", "") * 4)
    standings = Arena(plan).standings()
    assert not standings.is_finished  # nobody has looked
    assert standings.sentences[-2:] == [
        "Every rollout that was labelled passed (8 of 8), which tells little about which policy is better.",
        "No rollout of C is labelled.",
    ]
    assert standings.order[2] == "C"  # of which nothing is known
    assert standings.better[0, 1] == pytest.approx(standings.better[1, 0])
    assert standings.rows[0].success is not None
    assert standings.rows[0].success > 0.75
    Arena(plan).tell(Arena(plan).ask(), "left")


@pytest.mark.parametrize("kind", ["success", "pair-or-none"])
def test_intervals_of_success_hold_in_simulated_arenas(kind: str) -> None:
    inside = []
    for seed in range(24):
        rng = np.random.default_rng([seed, 7])
        std = rng.choice(list(STDS), p=list(STDS.values()))
        policies = SimulatedPolicies(std * rng.standard_normal(3), bar=float(rng.standard_normal()))
        *_, found = simulate_arena(policies, "round-robin", questions=24, every=24, seed=seed, kind=kind)
        true = dict(zip(policies.names, policies.success, strict=True))
        for row in found.rows:
            assert row.success_low is not None
            assert row.success_high is not None
            inside.append(row.success_low <= true[row.policy] <= row.success_high)
    assert 0.8 < np.mean(inside) < 0.98  # of 72, of which 90 % should be


def test_a_label_is_asked_of_the_policies_whose_order_is_not_known() -> None:
    arena = Arena("ABC", judgments=labels((40, 0), (8, 8), (9, 8)))
    question = arena.ask(kind="success")
    assert question.kind == "success"
    assert arena.policies_of(question)[0] in ("B", "C")
    assert 0 < question.value < 1


def test_rollouts_and_tasks_are_labelled_equally_often() -> None:
    arena = Arena(ArenaPlan(("A", "B"), (0, 1) * 8, tasks=("x", "x", "y", "y") * 4))
    arena.skip(Question(0))
    for _ in range(14):
        arena.tell(arena.ask(kind="success", strategy="round-robin"), "pass")
    asked = Counter(judgment.items[0] for judgment in arena.judgments)
    assert set(asked.values()) == {1}
    assert 0 not in asked
    tasks = Counter((arena.plan.policy_of[item], arena.plan.task_of(item)) for item in (0, *asked))
    assert max(tasks.values()) - min(tasks.values()) <= 1


def test_none_is_a_failure_of_both_and_a_choice_a_success_of_one() -> None:
    arena = Arena("AB")
    question = arena.ask(kind="pair-or-none")
    arena.tell(question, "none")
    arena.tell(Question(0, 1, kind="pair-or-none"), "left")
    rows = {row.policy: row for row in arena.standings().rows}
    assert (rows["A"].passes, rows["A"].fails, rows["A"].wins) == (1, 1, 1)
    assert (rows["B"].passes, rows["B"].fails, rows["B"].losses) == (0, 1, 1)
    assert arena.standings().evidence == "2 comparisons"


@pytest.mark.parametrize("judges", ["thurstone", "bradley-terry"])
def test_simulated_judges_pass_what_is_above_their_bar(judges: str) -> None:
    policies = SimulatedPolicies(np.array([0.8, 0.0]), judges, bar=0.3)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    given = [policies.answer(Question(0), rng) for _ in range(4000)]
    cdf = norm.cdf if judges == "thurstone" else logistic(scale=LOGISTIC_SCALE).cdf
    assert given.count("pass") / 4000 == pytest.approx(cdf(0.5), abs=0.03)
    np.testing.assert_allclose(policies.success, cdf(np.array([0.5, -0.3])))
    either = [policies.answer(Question(0, 1, kind="pair-or-none"), rng) for _ in range(200)]
    assert set(either) == {"left", "right", "none"}


def test_wrong_labels_and_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="'stars' has 3 levels: take a column of two"):
        ArenaPlan(("A", "B"), (0, 1, 1), labels=Labels.of([1, 2, 3], "stars"))
    with pytest.raises(ValueError, match="2 rollouts, but a label is of number 2"):
        ArenaPlan(("A", "B"), (0, 1), labels=Labels.of([True, False, True]))
    with pytest.raises(ValueError, match=r"pair, success, pair-or-none, but not for 'rate-5'"):
        Arena("AB").ask(kind="rate-5")
    with pytest.raises(ValueError, match="not for 'rate-5'"):
        Arena("AB").tell(Question(0, kind="rate-5"), "4")
    plan = plan_of((0, 1), ("pass", ""))
    assert ArenaPlan.from_json(plan.to_json()) == plan
    with pytest.raises(ValueError, match="labels of an arena are not what they should be"):
        ArenaPlan.from_json({**plan.to_json(), "labels": {"name": "success"}})
