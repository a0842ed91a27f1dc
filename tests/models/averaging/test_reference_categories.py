"""The reference of a pool with categories: they keep their common scale, and have no tails."""

import numpy as np

from prefero import Learner, Pool, Question
from prefero.models.averaging.reference import Reference
from prefero.trajectories import Categories

SURFACE = Categories("surface", ("clay", "grass", "sand"))


def pool() -> Pool:
    """Two of a hundred trajectories are on sand."""
    rng = np.random.default_rng(0)
    places = np.array([2.0, 2.0, *rng.integers(0, 2, 98)])
    features = np.column_stack([rng.uniform(size=100), SURFACE.features_at(places)])
    return Pool(features, ("speed", *SURFACE.names), categories=(SURFACE,))


def test_the_levels_of_a_category_stay_equally_far_from_each_other() -> None:
    own = pool()
    found = Reference.of(own.scaled, own.scaling)
    assert found.standardization is None
    np.testing.assert_allclose(found.rows, own.scaled, atol=1e-9)
    raw = Reference.of(own.features, own.scaling)
    np.testing.assert_allclose(raw.rows, own.scaled, atol=1e-9)
    alone = Reference.of(own.scaled)  # without the categories, each level is a feature by itself
    np.testing.assert_allclose(alone.rows.std(axis=0), 1.0)


def test_a_rare_level_is_no_tail_but_an_outlier_beside_it_is() -> None:
    own = pool()
    assert not Reference.of(own.scaled, own.scaling).has_heavy_tails
    assert Reference.of(own.features).has_heavy_tails
    features = own.features.copy()
    features[0, 0] = 50.0
    assert Reference.of(features, own.scaling).has_heavy_tails


def test_a_learner_tells_its_model_about_the_categories() -> None:
    learner = Learner(pool())
    learner.tell(Question(0, 5), "left")
    learner.belief()
    assert learner._beliefs.model._fitter.reference.categories == (SURFACE,)  # type: ignore[attr-defined]
