"""The lower bound of the reward of steps, and trajectories that end early."""

from typing import Any

import numpy as np
import pytest

from prefero import Learner, Question, StepReward
from prefero._support.arrays import Array
from prefero.datasets.episode import Episode
from prefero.deploy.compiled.cautious_steps import DRAWS, CautiousSteps
from prefero.deploy.export.python import to_python
from prefero.deploy.training.segments import Segment, Segments

COUNT, LENGTH = 60, 10


def episodes(*, ending: bool) -> list[Episode]:
    rng = np.random.default_rng(5)
    found = []
    for number in range(COUNT):
        steps = int(rng.integers(3, LENGTH)) if ending and number % 2 else LENGTH
        states = rng.normal(size=2) + 0.4 * rng.normal(size=(steps + 1, 2))
        actions = rng.normal(size=(steps, 1))
        found.append(Episode(str(number), states, actions, np.zeros(steps), 1.0, terminated=steps < LENGTH))
    return found


def true_return(episode: Episode) -> float:
    """Surviving is good, and so is a small first state."""
    return float(np.sum(1.0 - episode.states[:-1, 0] ** 2))


def learned(found: list[Episode]) -> StepReward:
    learner = Learner(Segments(LENGTH, [Segment(one, 0) for one in found]).pool(()))
    for left, right in np.random.default_rng(0).permutation(COUNT).reshape(-1, 2).tolist():
        better = true_return(found[left]) > true_return(found[right])
        learner.tell(Question(left, right), "left" if better else "right")
    return StepReward.of(learner.reward())


@pytest.fixture(scope="module", params=[False, True], ids=["all as long", "some end early"])
def reward(request: pytest.FixtureRequest) -> StepReward:
    return learned(episodes(ending=request.param))


@pytest.fixture(scope="module")
def steps() -> tuple[Array, Array]:
    rng = np.random.default_rng(1)
    return rng.normal(size=(300, 2)), rng.normal(size=(300, 1))


def numbers(reward: StepReward, steps: tuple[Array, Array]) -> Array:
    return reward.features.numbers(np.concatenate(steps, axis=1))


def test_the_bound_is_the_mean_less_the_standard_deviation(
    reward: StepReward, steps: tuple[Array, Array]
) -> None:
    mean, std = reward.predict(*steps)
    some = numbers(reward, steps)
    assert CautiousSteps.of(reward, 0.0)(some) == pytest.approx(mean, abs=1e-9)
    error = 1 / np.sqrt(2 * DRAWS)
    two = np.stack([mean - CautiousSteps.of(reward, 1.0, seed)(some) for seed in (0, 1)]) / std
    assert two.mean(axis=1) == pytest.approx(1.0, abs=2 * error)
    assert (two.std(axis=1) < 2 * error).all()
    assert not np.allclose(two[0], two[1])


def test_one_step_gets_what_many_get(reward: StepReward, steps: tuple[Array, Array]) -> None:
    bound, some = CautiousSteps.of(reward, 1.0).within(numbers(reward, steps)), numbers(reward, steps)
    assert bound(some[7]) == pytest.approx(bound(some)[7], abs=1e-12)


def test_no_step_is_better_than_most_that_were_taught(reward: StepReward, steps: tuple[Array, Array]) -> None:
    taught = numbers(reward, steps)
    for caution in (0.0, 1.0):
        bound = CautiousSteps.of(reward, caution)
        values, far = np.sort(bound(taught)), bound.within(taught)(100.0 * taught)
        assert np.ptp(bound(100.0 * taught)) > 10 * np.ptp(values)
        assert values[0] <= far.min() <= far.max() <= values[-1]


# --- trajectories that end early --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def survival() -> tuple[StepReward, list[Episode]]:
    found = episodes(ending=True)
    return learned(found), found


def test_rewards_of_steps_add_up_to_those_of_trajectories(
    survival: tuple[StepReward, list[Episode]],
) -> None:
    reward, found = survival
    rows = np.stack([list(reward.reward.episode_features()(one)) for one in found])
    whole = reward.reward(rows)
    summed = np.array([reward.of_episode(one).sum() for one in found]) / LENGTH
    assert summed - summed.mean() == pytest.approx(whole - whole.mean(), abs=1e-9)


def test_what_a_step_adds_by_lasting_counts(survival: tuple[StepReward, list[Episode]]) -> None:
    """A constant of all steps matters where episodes may end: who survives gets it more often."""
    reward, found = survival
    summed = np.array([reward.of_episode(one).sum() for one in found])
    assert np.corrcoef(summed, [true_return(one) for one in found])[0, 1] > 0.9
    assert reward([[0.0, 0.0]], [[0.0]])[0] > 0
    assert reward([[0.0, 0.0]], [[0.0]], [True])[0] == pytest.approx(
        reward([[0.0, 0.0]], [[0.0]])[0] + reward.end
    )


def test_an_exported_file_knows_what_an_end_adds(survival: tuple[StepReward, list[Episode]]) -> None:
    reward, found = survival
    python: dict[str, Any] = {}
    exec(to_python(reward.reward), python)
    for one in found[:6]:
        ended = one.terminated & (np.arange(len(one)) == len(one) - 1)
        each = python["step_reward"](one.states[:-1], one.actions, ended)
        assert each == pytest.approx(reward.of_episode(one), abs=1e-9)
        row = python["features"](one.states, one.actions, terminated=one.terminated)
        assert row == pytest.approx(reward.reward.episode_features()(one), abs=1e-12)


def test_predicted_means_are_those_of_the_compiled_function(
    survival: tuple[StepReward, list[Episode]], steps: tuple[Array, Array]
) -> None:
    reward, _ = survival
    assert reward(*steps) == pytest.approx(reward.predict(*steps)[0], abs=1e-9)
