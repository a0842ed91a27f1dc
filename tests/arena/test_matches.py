"""Which rollouts are compared: the information about the goal, and the balance of tasks, starts and sides."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero.arena import Arena, ArenaPlan
from prefero.arena.matches import Shown, information
from prefero.arena.simulate import SimulatedPolicies, simulate_arena
from prefero.questions import Question


def information_by_counting(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """I(answer; goal) from the joint table of answers and goals, term by term."""
    answers, samples = probabilities.shape
    joint: dict[tuple[int, int], float] = defaultdict(float)
    for sample in range(samples):
        for answer in range(answers):
            joint[answer, int(labels[sample])] += probabilities[answer, sample] / samples
    by_answer: dict[int, float] = defaultdict(float)
    by_goal: dict[int, float] = defaultdict(float)
    for (answer, goal), p in joint.items():
        by_answer[answer] += p
        by_goal[goal] += p
    terms = ((p, by_answer[a] * by_goal[g]) for (a, g), p in joint.items() if p > 0)
    return float(sum(p * np.log2(p / apart) for p, apart in terms))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_information_is_that_of_the_joint_table(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = np.unique(rng.integers(4, size=40), return_inverse=True)[1]
    probabilities = rng.dirichlet(np.ones(3), (3, 40)).transpose(2, 0, 1)
    expected = [information_by_counting(probabilities[:, q], labels) for q in range(3)]
    np.testing.assert_allclose(information(probabilities, labels), expected, atol=1e-12)


def test_who_is_ahead_is_asked_and_not_how_far() -> None:
    """A is far ahead; only B and C are not in order yet."""
    arena = Arena("ABC")
    for left, right, times in ((0, 1, 12), (0, 2, 12), (1, 2, 1)):
        question = arena.ask()
        for _ in range(times):
            arena.tell(type(question)(left, right), "left")
    assert set(arena.policies_of(arena.ask())) == {"B", "C"}


def test_with_the_goal_best_the_last_places_do_not_matter() -> None:
    arena = Arena(ArenaPlan.of_policies("ABCD", goal="best"))
    question = arena.ask()
    for winner, loser, times in ((0, 2, 9), (1, 3, 9), (0, 3, 9), (1, 2, 9), (0, 1, 1)):
        for _ in range(times):
            arena.tell(type(question)(winner, loser), "left")
    assert set(arena.policies_of(arena.ask())) == {"A", "B"}


@pytest.fixture(scope="module")
def plan() -> ArenaPlan:
    """Three policies, two tasks, and starts that two of the three share."""
    rows = [(p, task, s) for p in range(3) for task in ("lift", "push") for s in range(4)]
    starts = [f"s{s}" if p < 2 else "" for p, _, s in rows]
    return ArenaPlan(
        ("A", "B", "C"), tuple(p for p, _, _ in rows), tuple(t for _, t, _ in rows), tuple(starts)
    )


@pytest.mark.parametrize("strategy", ["active", "round-robin"])
def test_tasks_and_starts_are_matched(plan: ArenaPlan, strategy: str) -> None:
    arena, rng = Arena(plan, seed=3), np.random.default_rng(0)
    asked = []
    for number in range(14):
        question = arena.ask(strategy=strategy)  # type: ignore[arg-type]
        assert question.number == number + 1
        asked.append(question.items)
        arena.tell(question, "left" if rng.random() < 0.5 else "right")
    for left, right in asked:
        assert plan.task_of(left) == plan.task_of(right)
        assert plan.start_of(left) == plan.start_of(right) or "C" in arena.policies_of(
            type(question)(left, right)
        )
    assert len(set(map(frozenset, asked))) == len(asked)  # no two rollouts are compared twice
    tasks = Counter((frozenset((plan.policy_of[i], plan.policy_of[j])), plan.task_of(i)) for i, j in asked)
    for pair in {pair for pair, _ in tasks}:
        assert abs(tasks[pair, "lift"] - tasks[pair, "push"]) <= 1


def test_sides_are_balanced_and_a_judge_who_counts_cannot_predict_them() -> None:
    """The judge guesses that the policy is on the left which was there less often, and else the other one."""
    plan, rng = ArenaPlan(("A", "B"), (0, 1)), np.random.default_rng(0)
    asked: list[tuple[int, ...]] = []
    right = 0
    for _ in range(300):
        lead = sum(1 if items[0] == 0 else -1 for items in asked)
        guess = 1 if lead > 0 else 0 if lead < 0 else 1 - asked[-1][0] if asked else 0
        asked.append(Shown(plan, tuple(asked)).with_sides(Question(0, 1), rng).items)
        right += asked[-1][0] == guess
    assert abs(sum(items[0] for items in asked) - 150) <= 5
    assert right / len(asked) < 0.7


def test_a_skipped_pair_of_rollouts_is_not_the_next_one(plan: ArenaPlan) -> None:
    arena = Arena(plan)
    first = arena.ask()
    arena.skip(first)
    again = arena.ask()
    assert frozenset(again.items) != frozenset(first.items)
    assert arena.standings().answers == 0


def test_the_same_start_matters_more_than_new_rollouts_unless_they_were_skipped() -> None:
    arena = Arena(ArenaPlan(("A", "B"), (0, 0, 1, 1), (), ("s", "t", "s", "u")))
    for _ in range(2):
        question = arena.ask()
        assert set(question.items) == {0, 2}  # the only start that both have
        arena.tell(question, "equal")
    arena.skip(arena.ask())
    assert set(arena.ask().items) != {0, 2}


def test_a_round_robin_asks_every_pair_equally_often() -> None:
    arena = Arena("ABCD")
    for _ in range(12):
        arena.tell(arena.ask(strategy="round-robin"), "left")
    counts = Counter(frozenset(judgment.answer.question.items) for judgment in arena.judgments)
    assert set(counts.values()) == {2}


def test_a_pair_of_policies_without_a_common_task_is_not_compared() -> None:
    plan = ArenaPlan(("A", "B", "C"), (0, 1, 1, 2), ("x", "x", "y", "y"))
    assert plan.pairs == ((0, 1), (1, 2))
    assert set(Shown(plan, ()).candidates(np.random.default_rng(0))) == {(0, 1), (1, 2)}


def test_a_simulated_arena_finds_the_order() -> None:
    policies = SimulatedPolicies(np.array([0.0, 5.0, 2.5]))
    standings = next(one for one in simulate_arena(policies, questions=80) if one.is_finished)
    assert standings.is_decided
    assert standings.order == policies.order == ("B", "C", "A")
    assert standings.sentences[1].startswith("B is better than C: ")
    assert policies.is_right(standings)
