"""Profiles of features: shapes of known curves, and effects and probabilities against joint samples."""

import numpy as np
import pytest

from models.taught import answers_about, pool, taught_mixture
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.explain.explanation import statements_about
from prefero.models.explain.profiles import MOST, VALUES, Shape, profiles, shape_masks
from prefero.questions import Comparisons
from prefero.trajectories import Categories, Scaling

t = np.linspace(-1.0, 1.0, VALUES)


@pytest.mark.parametrize(
    ("curve", "shape"),
    [
        (t, "rising"),
        (np.exp(2 * t), "rising"),
        (t - 0.05 * np.sin(9 * t), "rising"),  # small drops do not count
        (-t, "falling"),
        (-((t - 0.2) ** 2), "peak"),
        (-np.abs(t), "peak"),
        (-((t - 0.95) ** 2), "rising"),  # the best value is at the end
        (t**2, "valley"),
        (np.sin(6 * t), "other"),
        (np.zeros(VALUES), "other"),
    ],
)
def test_the_shape_of_a_curve(curve: np.ndarray, shape: Shape) -> None:
    masks = shape_masks(curve[None])
    assert [name for name, mask in masks.items() if mask[0]] == [shape]


def test_every_curve_has_one_shape() -> None:
    curves = np.random.default_rng(0).standard_normal((500, VALUES)).cumsum(axis=1)
    masks = shape_masks(curves)
    assert np.all(np.sum(list(masks.values()), axis=0) == 1)
    assert all(mask.any() for mask in masks.values())
    for shape, mirrored in (("rising", "falling"), ("peak", "valley"), ("other", "other")):
        np.testing.assert_array_equal(masks[shape], shape_masks(-curves)[mirrored])  # type: ignore[index]
    for shape in ("peak", "valley", "other"):  # seen from the other end
        np.testing.assert_array_equal(masks[shape], shape_masks(curves[:, ::-1])[shape])  # type: ignore[index]


def test_effects_and_shapes_are_those_of_samples() -> None:
    """The judge draws whole rewards at all rows of the pool, one feature varied at a time."""
    belief, _ = taught_mixture()
    x, middle = pool(), pool().mean(axis=0)
    points = np.tile(middle, (2, len(x), 1))
    for feature in range(2):
        points[feature, :, feature] = x[:, feature]
    drawn = belief.sample(points.reshape(-1, 2), 4000, np.random.default_rng(5)).reshape(-1, 2, len(x))
    stds = drawn.std(axis=2)
    fractions = stds / stds.sum(axis=1, keepdims=True)
    found = profiles(belief, x)
    for place, profile in enumerate(found):
        effect = profile.effect
        assert effect.mean == pytest.approx(fractions[:, place].mean(), abs=0.04)
        wanted = np.quantile(fractions[:, place], [0.05, 0.95])
        np.testing.assert_allclose((effect.low, effect.high), wanted, atol=0.07)
        assert profile.largest == pytest.approx(np.mean(fractions.argmax(axis=1) == place), abs=0.06)
        assert profile.matters == pytest.approx(np.mean(fractions[:, place] >= 0.25), abs=0.06)
        order = np.argsort(x[:, place])
        inner = slice(len(x) // 30, -len(x) // 30)  # as far out as the quantiles
        masks = shape_masks(drawn[:, place, order][:, inner])
        for shape, probability in profile.shapes.items():
            assert probability == pytest.approx(masks[shape].mean(), abs=0.08)
    assert sum(profile.effect.mean for profile in found) == pytest.approx(1.0)


def test_a_best_value_is_found() -> None:
    belief, _ = taught_mixture(30)
    first, _second = profiles(belief, pool())
    assert first.shape == "peak"
    assert first.shapes["peak"] > 0.9
    assert first.extreme is not None
    low, at, high = first.extreme
    assert low <= 0.3 <= high
    assert at == pytest.approx(0.3, abs=0.35)
    assert low < at < high


def test_under_the_prior_no_shape_is_probable() -> None:
    for features in (1, 2, 5):
        prior = MixtureFitter(Reference.normal(features)).fit(Comparisons.none(features))
        for profile in profiles(prior, pool(80, features)):
            assert max(profile.shapes.values()) < 0.4
            assert profile.effect.low < 1 / features + 1e-9 < profile.effect.high + 2e-9


def test_of_many_features_those_that_matter_most_are_looked_at() -> None:
    x = pool(80, MOST + 5)
    belief = MixtureFitter(Reference.normal(MOST + 5), searched=False).fit(
        answers_about(x, 3.0 * x[:, 22], 25)
    )
    found = profiles(belief, x)
    assert len(found) == MOST
    assert max(found, key=lambda profile: profile.effect.mean).feature == 22


# --- categories -------------------------------------------------------------------------------------------


def test_the_profile_of_a_category_is_that_of_samples_at_its_levels() -> None:
    rng = np.random.default_rng(4)
    surface = Categories("surface", ("clay", "grass", "sand"))
    places = rng.choice(3, 60, p=[0.6, 0.3, 0.1])
    raw = np.column_stack([rng.normal(size=60), surface.features_at(places.astype(float))])
    scaling = Scaling.of(raw, ("speed", *surface.names), (surface,))
    x = scaling(raw)
    belief = MixtureFitter(Reference.of(x), searched=False).fit(
        answers_about(x, 0.5 * raw[:, 0] + places, 15)
    )
    speed, found = profiles(belief, x, scaling)
    levels = np.tile(x.mean(axis=0), (3, 1))
    for level in range(3):
        levels[level, 1:] = x[np.flatnonzero(places == level)[0], 1:]
    along = np.tile(x.mean(axis=0), (len(x), 1))
    along[:, 0] = x[:, 0]
    drawn = belief.sample(np.concatenate([levels[places], along, levels]), 4000, np.random.default_rng(5))
    stds = np.stack([drawn[:, :60].std(axis=1), drawn[:, 60:120].std(axis=1)], axis=1)
    fraction = (stds[:, 0] / stds.sum(axis=1)).mean()
    assert found.effect.mean == pytest.approx(fraction, abs=0.04)
    assert speed.effect.mean == pytest.approx(1 - fraction, abs=0.04)
    best = [np.mean(drawn[:, 120:].argmax(axis=1) == level) for level in range(3)]
    np.testing.assert_allclose(found.best, best, atol=0.06)
    assert sum(found.worst) == pytest.approx(1.0)
    (said,) = [one for one in statements_about([found], scaling, "your", {}) if "surface" in one.sentence]
    assert said.sentence.startswith("For surface, sand seems best (")
    assert "are highest where surface is sand" in said.meaning
