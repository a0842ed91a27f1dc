"""The trajectories that stand for a pool in charts."""

import numpy as np
import pytest

from prefero import Learner, Pool, Question
from prefero.studies.log.event_log import EventLog
from prefero.studies.reports.pool_sample import LEAST, MOST, pool_sample, sampled_rows
from studies.reports.test_learning_summary import log_of


def test_every_trajectory_that_was_judged_is_among_those_that_stand_for_a_large_pool() -> None:
    pool = Pool(np.random.default_rng(0).normal(size=(3 * MOST, 2)), ["speed", "height"])
    learner = Learner(pool)
    learner.tell(Question(3 * MOST - 1, 5), "left")
    rows = sampled_rows(pool, log_of(learner))
    assert {5, 3 * MOST - 1} <= set(rows.tolist())
    assert MOST <= len(rows) <= MOST + 2
    assert np.all(np.diff(rows) > 0)


def test_many_features_mean_fewer_trajectories() -> None:
    pool = Pool(np.random.default_rng(0).normal(size=(MOST, 200)))
    assert len(sampled_rows(pool, EventLog())) == LEAST


def test_rewards_and_values_are_those_of_the_trajectories() -> None:
    pool = Pool(
        np.random.default_rng(1).normal(size=(20, 2)), ["speed", "height"], ids=[f"t{n}" for n in range(20)]
    )
    learner = Learner(pool)
    for number in range(8):
        learner.tell(Question(number, number + 9), "left" if number % 3 else "right")
    reward = learner.reward()
    found = pool_sample(pool, log_of(learner), reward)
    mean, std = reward.standardized(pool.features, pool)
    assert (found.items, found.ids) == (list(range(20)), list(pool.ids or ()))
    assert found.mean == pytest.approx(mean, rel=1e-5, abs=1e-9)
    assert found.std == pytest.approx(std, rel=1e-5)
    assert found.values["height"] == pytest.approx(pool.features[:, 1], rel=1e-5)
    early = pool_sample(pool, EventLog(), None)
    assert early.mean == early.std == []
