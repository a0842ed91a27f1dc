"""The reward at a place that sliders set, compared with naive computations."""

import numpy as np
import pytest

from prefero import Learner, Pool
from prefero.studies.log.event_log import EventLog
from prefero.studies.reports.what_if import PlaceError, average_features, what_if
from prefero.trajectories.categories import Categories

SURFACE = Categories("surface", ("clay", "grass", "sand"), ordered=False)


def taught(pool: Pool, answers: int = 12) -> Learner:
    learner = Learner(pool)
    for _ in range(answers):
        question = learner.ask(strategy="random")
        left, right = pool.scaled[[question.left, question.right], 0]
        learner.tell(question, "left" if left > right else "right")
    return learner


@pytest.fixture(scope="module")
def learner() -> Learner:
    return taught(Pool(np.random.default_rng(2).normal(size=(60, 2)), ["speed", "height"]))


def test_the_reward_and_the_nearest_trajectory_at_a_place(learner: Learner) -> None:
    pool = learner.pool
    found = what_if(learner, EventLog(), None, {"speed": 0.3, "height": -0.2})
    mean, std = learner.reward().standardized([[0.3, -0.2]], pool)
    assert (found.mean, found.std) == pytest.approx((mean[0], std[0]))
    distances = [np.hypot(*(row - pool.scaling([[0.3, -0.2]])[0])) for row in pool.scaled]
    assert found.nearest.index == int(np.argmin(distances))
    assert found.nearest.values == pytest.approx(
        dict(zip(pool.names, pool.features[found.nearest.index], strict=True))
    )
    assert not found.far


def test_a_place_starts_at_a_trajectory_or_at_the_average_one(learner: Learner) -> None:
    pool = learner.pool
    at = what_if(learner, EventLog(), 7, {})
    assert at.nearest.index == 7
    assert at.values == pytest.approx(dict(zip(pool.names, pool.features[7], strict=True)))
    average = what_if(learner, EventLog(), None, {})
    assert average.values == pytest.approx(
        {"speed": pool.features[:, 0].mean(), "height": pool.features[:, 1].mean()}
    )
    assert average.mean == pytest.approx(0.0, abs=0.3)


def test_more_of_what_was_preferred_is_better_than_more_trajectories(learner: Learner) -> None:
    low, high = (what_if(learner, EventLog(), None, {"speed": value}).better_than for value in (-2.0, 2.0))
    assert low.low <= low.mean <= low.high < high.low <= high.mean <= high.high <= 1.0
    speeds = learner.pool.features[:, 0]
    assert high.mean == pytest.approx(np.mean(speeds < 2.0), abs=0.1)


def test_a_place_far_from_everything_is_said_to_be(learner: Learner) -> None:
    assert what_if(learner, EventLog(), None, {"speed": 9.0}).far


def test_a_category_starts_at_its_most_frequent_level_and_takes_places_of_levels() -> None:
    places = np.array([0.0, 1, 1, 2, 1, 0] * 5)
    numbers = np.random.default_rng(0).normal(size=(30, 1))
    pool = Pool(
        np.hstack([numbers, SURFACE.features_at(places)]), ["speed", *SURFACE.names], categories=[SURFACE]
    )
    assert average_features(pool)[0, 1:].tolist() == [0.0, 1.0, 0.0]
    found = what_if(taught(pool, 6), EventLog(), None, {"surface": 2})
    assert found.values["surface"] == 2
    with pytest.raises(PlaceError, match="levels 0 to 2"):
        what_if(taught(pool, 6), EventLog(), None, {"surface": 2.5})


@pytest.mark.parametrize(
    ("start", "changed", "message"),
    [
        (None, {"sped": 1.0}, "speed"),
        (60, {}, "trajectories 0 to 59"),
        (None, {"speed": 1e30}, "must be a number near"),
        (None, {"speed": float("nan")}, "must be a number near"),
    ],
)
def test_a_place_that_cannot_be_is_refused(
    learner: Learner, start: int | None, changed: dict[str, float], message: str
) -> None:
    with pytest.raises(PlaceError, match=message):
        what_if(learner, EventLog(), start, changed)
