"""Which trajectory is the best: the probability against joint samples of the whole pool."""

import numpy as np
import pytest

from models.taught import pool, taught_mixture
from prefero import Learner, Pool, Question
from prefero.models.posterior.best import CANDIDATES, probability_of_best


@pytest.mark.parametrize("rows", [40, CANDIDATES + 100])
def test_the_probability_is_the_fraction_of_samples_in_which_it_is_the_best(rows: int) -> None:
    belief, _ = taught_mixture()
    x = pool(rows)
    drawn = belief.sample(x, 4000, np.random.default_rng(3))
    wanted = np.bincount(np.argmax(drawn, axis=1), minlength=rows) / len(drawn)
    found = probability_of_best(belief, x)
    assert found.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found, wanted, atol=0.06)


def test_after_one_answer_it_is_open_which_is_best_and_after_many_it_is_not() -> None:
    features = np.linspace(-1, 1, 12)[:, None]
    learner = Learner(Pool(features, ["speed"]))
    learner.tell(Question(3, 2), "left")
    assert learner.reward().best(learner.pool).is_open
    for pair in range(11):
        for _ in range(3):
            learner.tell(Question(pair + 1, pair), "left")
    best = learner.reward().best(learner.pool)
    assert best.index == 11
    assert best.probability > 0.9
    assert not best.is_open
