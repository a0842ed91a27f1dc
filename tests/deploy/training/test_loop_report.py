"""What a loop reports: how probable it is that the final policy is good, and its warnings."""

import numpy as np
import pytest

from prefero import StepReward
from prefero._support.arrays import Array
from prefero.datasets.episode import Episode
from prefero.deploy.training.loop_report import LEAST_KNOWN, Gain, LoopReport, RoundRecord, left_the_answers
from prefero.deploy.training.segments import Segment, Segments
from prefero.learner import Learner
from prefero.questions import Question

GOOD = Gain(2.0, 0.3, 0.999, 0.9)


def record(number: int, gain: Gain = GOOD, segments: int = 20) -> RoundRecord:
    return RoundRecord(number, 10 * number, 500 * number, segments, 0, -1.0, 4, gain)


def report(*gains: Gain, won: int = 0, lost: int = 0, stopped: str = "") -> LoopReport:
    return LoopReport(tuple(record(n, gain) for n, gain in enumerate(gains, 1)), won, lost, stopped)


@pytest.mark.parametrize(("won", "lost"), [(9, 0), (5, 4), (2, 7), (1, 0)])
def test_checks_say_how_probable_it_is_that_the_policy_is_better(won: int, lost: int) -> None:
    """Against draws: which chances of winning above a half, uniform before, lead to these checks."""
    rng = np.random.default_rng(0)
    chance = rng.uniform(size=2_000_000)
    alike = rng.binomial(won + lost, chance) == won
    assert report(GOOD, won=won, lost=lost).better == pytest.approx(np.mean(chance[alike] > 0.5), abs=0.005)


def test_without_checks_the_reward_says_it() -> None:
    assert report(GOOD).better == GOOD.better


def test_all_is_well_without_warnings() -> None:
    assert report(GOOD, won=9).warnings == ()
    text = report(GOOD, won=9).describe()
    assert "9 of 9 comparisons" in text
    assert "Warning" not in text


def test_what_the_user_should_know_is_a_warning() -> None:
    (unsure,) = report(GOOD, won=3, lost=5).warnings
    assert "better than random actions with a probability of only 25%" in unsure
    (unknown,) = report(Gain(2.0, 0.3, 0.999, 0.2), won=9).warnings
    assert unknown == left_the_answers(0.2)
    (stopped,) = report(GOOD, won=9, stopped="it left").warnings
    assert stopped == "it left"
    (too_far,) = report(Gain(4.0, 0.3, 0.999, 0.9), GOOD, won=9).warnings
    assert "round 1 has a higher reward than the final one (4.00 against 2.00)" in too_far
    assert "Warning: the policy of round 1" in report(Gain(4.0, 0.3, 0.999, 0.9), GOOD, won=9).describe()


def test_a_round_has_numbers_for_trackers() -> None:
    metrics = record(3).metrics()
    assert metrics["gain/mean"] == 2.0
    assert metrics["steps"] == 1500.0
    assert all(isinstance(value, float) for value in metrics.values())


def test_the_figure_shows_each_round() -> None:
    figure = report(GOOD, Gain(3.0, 0.4, 0.999, 0.4)).plot()
    above, below = figure.axes
    assert [list(line.get_ydata()) for line in above.lines if line.get_marker() == "o"] == [[2.0, 3.0]]
    assert list(below.lines[0].get_ydata()) == [0.9, 0.4]


# --- the gain of a policy ---------------------------------------------------------------------------------


def walk(place: float, seed: int, effort: float = 0.1) -> Episode:
    rng = np.random.default_rng(seed)
    states = place + 0.3 * rng.normal(size=(11, 2))
    return Episode(str(seed), states, effort * rng.normal(size=(10, 1)), np.zeros(10), 1.0)


@pytest.fixture(scope="module")
def taught() -> tuple[StepReward, list[Episode]]:
    """A reward that likes small states, and the segments it was taught with."""
    episodes = [walk(place, seed) for seed, place in enumerate(np.linspace(-2.0, 2.0, 40).tolist())]
    learner = Learner(Segments(10, [Segment(one, 0) for one in episodes]).pool(()))
    better = [-float(np.mean(one.states**2)) for one in episodes]
    for left, right in np.random.default_rng(1).permutation(40).reshape(-1, 2).tolist():
        learner.tell(Question(left, right), "left" if better[left] > better[right] else "right")
    return StepReward.of(learner.reward()), episodes


def rewards_of(reward: StepReward, episodes: list[Episode]) -> Array:
    return np.array([np.mean(reward.of_episode(one)) for one in episodes])


def test_the_gain_is_the_difference_of_mean_rewards(taught: tuple[StepReward, list[Episode]]) -> None:
    reward, episodes = taught
    good, others = [walk(0.0, seed) for seed in (50, 51, 52)], episodes[:10]
    gain = Gain.of(reward, good, others)
    means = [rewards_of(reward, some).mean() for some in (good, others)]
    assert gain.mean == pytest.approx(means[0] - means[1], abs=1e-9)
    assert gain.better > 0.95
    backwards = Gain.of(reward, others, good)
    assert backwards.better == pytest.approx(1.0 - gain.better)
    assert backwards.std == pytest.approx(gain.std)


def test_far_from_the_answers_little_is_known(taught: tuple[StepReward, list[Episode]]) -> None:
    reward, episodes = taught
    near = Gain.of(reward, episodes[15:25], episodes[:10])
    far = Gain.of(reward, [walk(0.0, seed, effort=5.0) for seed in (60, 61)], episodes[:10])
    assert far.known < LEAST_KNOWN < 0.7 < near.known
    assert far.std > 10 * near.std
    assert Gain.of(reward, episodes[:3], episodes[:3]).better == pytest.approx(0.5)
