"""Unusual episodes are worse a priori: without information, as answers arrive, and against the answers."""

import numpy as np
import pytest

from prefero import Learner, Pool, PreferenceGP, Question, Reward
from prefero._support.arrays import Array
from prefero.deploy.scoring.quality import rate_episodes
from prefero.deploy.scoring.unusual_prior import TRUST, unusual_shift
from prefero.kernels import RBF, Anchored, Linear
from prefero.trajectories.unusualness import unusualness

OUTLIERS = 8


def pool_with_outliers(rows: int = 60) -> Pool:
    """The first ones are far away, in the second feature."""
    features = np.random.default_rng(0).normal(size=(rows, 2))
    features[:OUTLIERS, 1] = 12.0 + 0.1 * np.arange(OUTLIERS)
    return Pool(features, ["speed", "jerk"])


def taught(pool: Pool, true: Array, answers: int, kernel: RBF | Linear | None = None) -> Reward:
    given = Anchored(kernel or Linear(), (0.0, 0.0))
    learner, rng = Learner(pool, model=PreferenceGP(given, noise=0.1, learn=False)), np.random.default_rng(1)
    for _ in range(answers):
        left, right = (int(i) for i in rng.choice(len(pool), 2, replace=False))
        learner.tell(Question(left, right), "left" if true[left] > true[right] else "right")
    return learner.reward()


def shift_of(reward: Reward, pool: Pool) -> Array:
    x = reward.scaling(pool.features)
    return unusual_shift(reward.belief, x, unusualness(x).values)


def test_without_answers_the_order_is_that_of_unusualness() -> None:
    pool = pool_with_outliers()
    shift = shift_of(taught(pool, pool.features[:, 0], 0), pool)
    values = unusualness(pool.scaled).values
    assert set(np.argsort(shift)[:OUTLIERS].tolist()) == set(range(OUTLIERS))
    assert np.all(np.diff(shift[np.argsort(values)]) <= 1e-12)


def test_the_unit_of_the_trust_is_the_standard_deviation_of_the_reward() -> None:
    """Between an outlier and usual episodes: the logarithm of its unusualness over the usual one."""
    pool = pool_with_outliers()
    values = unusualness(pool.scaled).values
    for factor in (1.0, 9.0):
        reward = taught(pool, pool.features[:, 0], 0, factor * RBF(0.5))  # type: ignore[arg-type]
        x = pool.scaled
        centered = np.eye(len(x)) - 1 / len(x)
        unit = np.sqrt(np.trace(centered @ (factor * RBF(0.5)(x, x)) @ centered) / len(x))
        usual = max(1.6 * float(np.median(values)), 3.0)
        shift = shift_of(reward, pool)
        expected = -TRUST * unit * np.log(values[3] / usual)
        assert shift[3] - shift[np.argmin(values)] == pytest.approx(expected, rel=0.25)


def test_answers_take_the_prior_away() -> None:
    pool = pool_with_outliers()
    changes = []
    for answers in (1, 8, 200):
        reward = taught(pool, pool.features[:, 0], answers)
        plain, rated = (rate_episodes(reward, pool.features, prior=which).quality for which in (False, True))
        changes.append(float(np.abs(rated - plain).max()))
    assert changes == sorted(changes, reverse=True)
    assert changes[0] > 0.1
    assert changes[-1] < 0.05


def test_answers_that_unusual_ones_are_good_overrule_it() -> None:
    pool = pool_with_outliers()
    reward = taught(pool, pool.features[:, 1], 12)
    rated = rate_episodes(reward, pool.features, OUTLIERS)
    assert set(rated.order[-OUTLIERS:].tolist()) == set(range(OUTLIERS))


def test_few_answers_find_the_unusual_ones_with_it_and_not_without() -> None:
    pool = pool_with_outliers()
    true = pool.features @ [0.3, -1.0]
    reward = taught(pool, true, 1, RBF(2.0))
    with_prior = rate_episodes(reward, pool.features, OUTLIERS)
    without = rate_episodes(reward, pool.features, OUTLIERS, prior=False)
    bad = set(range(OUTLIERS))
    assert set(with_prior.order[:OUTLIERS].tolist()) == bad
    assert set(without.order[:OUTLIERS].tolist()) != bad


def test_where_nothing_is_unusual_nothing_changes() -> None:
    pool = Pool(np.random.default_rng(2).uniform(size=(50, 2)), ["speed", "jerk"])
    reward = taught(pool, pool.features[:, 0], 3)
    assert not shift_of(reward, pool).any()
    plain, rated = (rate_episodes(reward, pool.features, 5, prior=which) for which in (False, True))
    np.testing.assert_array_equal(plain.quality, rated.quality)


def test_labels_overrule_it_too() -> None:
    pool = pool_with_outliers()
    learner = Learner(pool)
    for item in range(0, 30, 2):
        learner.tell(Question(item, kind="success"), "pass" if item < OUTLIERS else "fail")
    rated = rate_episodes(learner.reward(), pool.features, OUTLIERS)
    assert set(rated.order[-OUTLIERS:].tolist()) == set(range(OUTLIERS))
