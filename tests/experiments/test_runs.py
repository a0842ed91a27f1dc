"""One run: its rows are those of a loop by hand, and comparisons are paired."""

import dataclasses
import json
from collections.abc import Callable
from itertools import combinations
from math import log
from typing import Any, NamedTuple

import numpy as np
import pytest

from experiments.fake_runs import RIGHT
from prefero import Learner, Pool, PreferenceGP, Reward
from prefero._support.arrays import Array
from prefero.acquisition.functions.best_information import BestInformation
from prefero.acquisition.functions.mutual_information import MutualInformation
from prefero.acquisition.functions.predictive_information import PredictiveInformation
from prefero.experiments import runs
from prefero.experiments.figures.base import TUNED
from prefero.experiments.runs import Run, calibration, execute
from prefero.experiments.settings import Setting
from prefero.kernels import RBF, Anchored, Linear, Quadratic
from prefero.methods import LINEAR_DRAWS, METHODS, full_name
from prefero.models.linear import LinearPreference
from prefero.simulation.tasks import Task, predicted_probabilities
from prefero.simulation.test_sets import TestSet
from prefero.simulation.users import SimulatedUser

DRIVER = Setting("driver", "quadratic", trajectories=24, test_size=6, questions=16)
SHORT = dataclasses.replace(DRIVER, questions=5)
THETA, SIGMA = TUNED
ACTIVE, RANDOM = full_name("ActiveGP", *TUNED), full_name("RandomGP", *TUNED)


# --- by hand ----------------------------------------------------------------------------------------------


class ByHand(NamedTuple):
    """A run as the documentation tells it, without the registry."""

    setting: Setting
    model: Callable[[Array], Any]
    acquisition: Any = MutualInformation()
    strategy: Any = "active"


def the_papers(x: Array) -> PreferenceGP:
    kernel = Anchored(RBF(THETA), (0.0,) * x.shape[1], mode="condition")
    return PreferenceGP(kernel, noise=SIGMA, learn=False, inference="laplace")


def the_oracle(x: Array) -> PreferenceGP:
    """Of a user with a margin of 0.3 and lapses. Every term of a reward adds its variance over the pool."""
    d = x.shape[1]
    terms = np.column_stack([x, *(x[:, i] * x[:, j] for i in range(d) for j in range(i, d))])
    kernel = (1 / terms.var(axis=0).sum()) * (Linear() + Quadratic())
    return PreferenceGP(kernel, 0.1, 0.3, learn=False, lapse=0.2)


BY_HAND = {
    ACTIVE: ByHand(DRIVER, the_papers, MutualInformation("paper")),
    RANDOM: ByHand(DRIVER, the_papers, MutualInformation("paper"), "random"),
    "Oracle": ByHand(dataclasses.replace(DRIVER, margin=0.3, lapse_rate=0.2), the_oracle),
    "ActiveLinear": ByHand(SHORT, lambda _: LinearPreference(0.1, 0.0, draws=LINEAR_DRAWS)),
    "Prefero": ByHand(SHORT, lambda _: PreferenceGP(), PredictiveInformation()),
    "Prefero, best": ByHand(SHORT, lambda _: PreferenceGP(), BestInformation()),
}
SEED = 3


@pytest.fixture(scope="module")
def executed() -> dict[str, Any]:
    return {name: execute(Run(hand.setting, name, SEED)) for name, hand in BY_HAND.items()}


def chance(reward: Reward, task: Task, i: int, j: int) -> float:
    """Of i being the better one, beside that of j: what is called equal is left out on both sides."""
    x = task.test_set.features
    lead = reward.predict_proba(x[[i]], x[[j]])[0] - reward.predict_proba(x[[j]], x[[i]])[0]
    return float(0.5 + 0.5 * lead)


def marks(reward: Reward, task: Task) -> tuple[float, float]:
    """Accuracy and mean log-likelihood, pair by pair."""
    worth = task.user.reward(task.pool.scaling(task.test_set.features))
    found = [
        c if worth[i] > worth[j] else 1 - c
        for i, j in combinations(range(len(worth)), 2)
        for c in [chance(reward, task, i, j)]
    ]
    return float(np.mean([c > 0.5 for c in found])), float(np.mean([log(max(c, 1e-15)) for c in found]))


@pytest.mark.parametrize("name", BY_HAND)
def test_the_rows_of_a_run_are_those_of_a_loop_by_hand(name: str, executed: dict[str, Any]) -> None:
    hand, rows = BY_HAND[name], executed[name]
    task = hand.setting.task(SEED)
    truth = task.user.reward(task.pool.scaled)
    model = hand.model(task.pool.scaled)
    learner = Learner(task.pool, seed=SEED, model=model, acquisition=hand.acquisition)
    rng = np.random.default_rng([SEED, 1])
    for place in range(hand.setting.questions):
        question = learner.ask(strategy=hand.strategy)
        left, right = task.pool.scaled[question.left], task.pool.scaled[question.right]
        choice = task.user.answer(left, right, rng)
        learner.tell(question, choice)
        reward = learner.reward()
        accuracy, log_likelihood = marks(reward, task)
        assert rows["question"][place] == place + 1
        assert (rows["left"][place], rows["choice"][place]) == (question.left, choice)
        assert rows["accuracy"][place] == pytest.approx(accuracy)
        assert rows["log_likelihood"][place] == pytest.approx(log_likelihood, rel=1e-3)  # at the edge of 1
        liked = int(np.argmax(reward(task.pool.features)))
        share = (truth[liked] - truth.min()) / (truth.max() - truth.min())
        assert rows["best_reward"][place] == (pytest.approx(share) if place % 5 == 4 else None)
    assert {len(column) for column in rows.values()} == {hand.setting.questions}


def test_the_rows_of_a_run_say_both_sides_of_every_question(executed: dict[str, Any]) -> None:
    hand, rows = BY_HAND[ACTIVE], executed[ACTIVE]
    task = hand.setting.task(SEED)
    model = hand.model(task.pool.scaled)
    learner = Learner(task.pool, seed=SEED, model=model, acquisition=hand.acquisition)
    for place in range(hand.setting.questions):
        question = learner.ask(strategy=hand.strategy)
        assert (rows["left"][place], rows["right"][place]) == (question.left, question.right)
        learner.tell(question, rows["choice"][place])


def test_a_user_with_a_margin_teaches_with_ties(executed: dict[str, Any]) -> None:
    assert set(executed["Oracle"]["choice"]) == {"left", "right", "equal"}


@pytest.mark.parametrize("name", [ACTIVE, RANDOM, "Oracle"])
def test_a_run_is_the_same_again(name: str, executed: dict[str, Any]) -> None:
    again = execute(Run(BY_HAND[name].setting, name, SEED))
    assert again == executed[name]
    assert execute(Run(BY_HAND[name].setting, name, SEED + 1)) != again


def test_the_shot_that_is_liked_best_is_a_share_of_the_best(executed: dict[str, Any]) -> None:
    for rows in executed.values():
        found = [best for best in rows["best_reward"] if best is not None]
        assert [
            n for n, best in zip(rows["question"], rows["best_reward"], strict=True) if best is not None
        ] == [n for n in rows["question"] if n % 5 == 0]
        assert all(0.0 <= best <= 1.0 for best in found)


def test_rows_are_plain_values(executed: dict[str, Any]) -> None:
    for rows in executed.values():
        assert json.loads(json.dumps(rows)) == rows


# --- paired comparisons -----------------------------------------------------------------------------------


def test_all_methods_meet_the_same_user_pool_and_test_set_with_one_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    met: list[Any] = []

    class Watched(Learner):
        def __init__(self, pool: Pool, **options: Any) -> None:
            super().__init__(pool, **options)
            met.append(pool)

    def watched(user: SimulatedUser, *words: Any) -> Any:
        met.append(user)
        return answer(user, *words)

    def evaluated(reward: Reward, test_set: TestSet) -> Array:
        met.append(test_set)
        return predicted_probabilities(reward, test_set)

    answer = SimulatedUser.answer
    monkeypatch.setattr(runs, "Learner", Watched)
    monkeypatch.setattr(SimulatedUser, "answer", watched)
    monkeypatch.setattr(runs, "predicted_probabilities", evaluated)
    for name in (ACTIVE, RANDOM, "Oracle", "ActiveLinear"):
        execute(Run(dataclasses.replace(DRIVER, questions=1), name, SEED))
    assert len(met) == 12
    assert len({id(one) for one in met}) == 3


def test_random_questions_are_the_same_for_every_method_that_asks_them() -> None:
    """And so are the answers: what differs is only what is made of them."""
    theirs = execute(Run(SHORT, RANDOM, SEED))
    ours = execute(Run(SHORT, "Prefero, random", SEED))
    for column in ("left", "choice"):
        assert theirs[column] == ours[column]
    assert theirs["log_likelihood"] != ours["log_likelihood"]


# --- keys -------------------------------------------------------------------------------------------------


def other(value: Any) -> Any:
    return f"{value}x" if isinstance(value, str) else value + 1


def test_the_key_changes_with_every_field_of_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(DRIVER, "Prefero", 3)
    changed = [
        dataclasses.replace(DRIVER, **{f.name: other(getattr(DRIVER, f.name))})
        for f in dataclasses.fields(DRIVER)
    ]
    keys = [run.key, Run(DRIVER, "Oracle", 3).key, Run(DRIVER, "Prefero", 4).key]
    keys += [Run(setting, "Prefero", 3).key for setting in changed]
    monkeypatch.setattr(runs, "VERSION", runs.VERSION + 1)
    keys.append(run.key)
    assert len(set(keys)) == len(keys) == len(dataclasses.fields(DRIVER)) + 4


def test_the_key_changes_with_nothing_else() -> None:
    again = Run(Setting(**json.loads(json.dumps(DRIVER.to_json()))), "".join(["Pre", "fero"]), 3)
    assert again.key == Run(DRIVER, "Prefero", 3).key


def test_equal_configurations_have_one_key() -> None:
    whole, decimal = (Run(dataclasses.replace(DRIVER, noise=noise), "Prefero", 0) for noise in (1, 1.0))
    assert whole == decimal
    assert whole.key == decimal.key


def test_a_key_is_a_name_for_a_file() -> None:
    key = Run(DRIVER, "Prefero, best", 0).key
    assert key.isalnum()
    assert len(key) >= 16


# --- calibration ------------------------------------------------------------------------------------------


def counted(chances: Array, differences: Array) -> tuple[list[int], list[int]]:
    """Bin by bin, prediction by prediction: ten steps of 0.05 from a half, the last one closed."""
    bins, right = [0] * 10, [0] * 10
    for chance, difference in zip(chances.tolist(), differences.tolist(), strict=True):
        sure = chance if chance >= 0.5 else 1 - chance
        place = next(k for k in range(10) if sure < 0.55 + 0.05 * k or k == 9)
        bins[place] += 1
        right[place] += (chance > 0.5 and difference > 0) or (chance < 0.5 and difference < 0)
    return bins, right


def test_calibration_counts_every_prediction_once_and_where_it_belongs() -> None:
    rng = np.random.default_rng(0)
    chances = np.concatenate([rng.random(500), [0.0, 1.0, 0.5]])
    differences = rng.standard_normal(len(chances))
    test_set = TestSet(np.zeros((2, 1)), np.zeros((len(chances), 2), dtype=np.intp), differences)
    bins, right = calibration(chances, test_set)
    assert (bins, right) == counted(chances, differences)
    assert sum(bins) == len(chances)


def test_a_run_is_calibrated_after_ten_questions(executed: dict[str, Any]) -> None:
    rows, task = executed[ACTIVE], DRIVER.task(SEED)
    model, printed = the_papers(task.pool.scaled), MutualInformation("paper")
    learner = Learner(task.pool, seed=SEED, model=model, acquisition=printed)
    for choice in rows["choice"][:10]:
        learner.tell(learner.ask(), choice)
    reward = learner.reward()
    chances = [chance(reward, task, i, j) for i, j in combinations(range(6), 2)]
    assert (rows["bin_counts"][9], rows[RIGHT][9]) == counted(np.array(chances), task.test_set.differences)
    assert [bins is None for bins in rows["bin_counts"]] == [n != 10 for n in rows["question"]]


# --- the five questions of the test -----------------------------------------------------------------------


class Guess:
    """Believes in a reward by hand, and notes what it is asked."""

    def __init__(self, worth: Callable[[Array], Array], margin: float = 0.0) -> None:
        self.worth, self.margin = worth, margin
        self.asked: list[tuple[tuple[float, ...], ...]] = []

    def predict_proba(self, a: Array, b: Array) -> Array:
        self.asked.append((tuple(a[0].tolist()), tuple(b[0].tolist())))
        lead = self.worth(a) - self.worth(b)
        return 1 / (1 + np.exp(-np.clip(20 * (lead - self.margin), -50, 50)))


def test_the_test_has_the_same_five_questions_for_everybody() -> None:
    task = dataclasses.replace(DRIVER, lapse_rate=0.3).task(SEED)
    one, opposite = Guess(lambda x: x[:, 0]), Guess(lambda x: -x[:, 0])
    shares = [runs.answer_accuracy(guess, task, SEED) for guess in (one, opposite)]  # type: ignore[arg-type]
    assert one.asked == opposite.asked
    assert len(one.asked) == 10  # both ways round
    rows = {tuple(row) for row in task.pool.features.tolist()}
    assert all({left, right} <= rows and left != right for left, right in one.asked)
    assert shares[0] + shares[1] == pytest.approx(1.0)
    another = Guess(lambda x: x[:, 0])
    runs.answer_accuracy(another, task, SEED + 1)  # type: ignore[arg-type]
    assert another.asked != one.asked


def test_who_knows_the_truth_predicts_what_a_sure_person_says() -> None:
    task = dataclasses.replace(DRIVER, noise=1e-9).task(SEED)
    truth = Guess(lambda x: task.user.reward(task.pool.scaling(x)))
    assert runs.answer_accuracy(truth, task, SEED) == 1.0  # type: ignore[arg-type]


def test_with_a_margin_the_likelier_side_is_predicted_though_neither_has_half() -> None:
    task = dataclasses.replace(DRIVER, noise=1e-9).task(SEED)
    careful = Guess(lambda x: task.user.reward(task.pool.scaling(x)), margin=1.5)
    assert runs.answer_accuracy(careful, task, SEED) == 1.0  # type: ignore[arg-type]


def test_the_test_comes_once_and_is_a_share_of_five(executed: dict[str, Any]) -> None:
    for name, rows in executed.items():
        found = {
            n: test
            for n, test in zip(rows["question"], rows["answer_accuracy"], strict=True)
            if test is not None
        }
        assert list(found) == ([15] if BY_HAND[name].setting.questions >= 15 else [])
        assert all(round(5 * test, 9) in range(6) for test in found.values())


def test_every_method_by_hand_is_one_of_the_registry() -> None:
    assert set(BY_HAND) <= set(METHODS)
