"""Compiled rewards: the same numbers as the model, for every kernel."""

import numpy as np
import pytest

from prefero import Learner, LinearPreference, Pool, PreferenceGP, Question, Reward
from prefero._support.arrays import Array
from prefero.deploy.compiled.compiled_reward import CompiledReward, lower_bound_of
from prefero.kernels import (
    RBF,
    Additive,
    Anchored,
    Kernel,
    Linear,
    Matern,
    Projected,
    Quadratic,
    Selected,
    Standardized,
    Thresholded,
    Warped,
)
from taught_learners import reward_of_pairs

CENTER, SCALE = (0.3, -0.2, 1.0), (0.5, 2.0, 1.5)
EVERY: list[Kernel] = [
    Linear(),
    Quadratic(),
    RBF(0.7),
    RBF((0.1, 0.5, 2.0)),
    Matern(1.3),
    Additive(RBF(0.4)),
    Additive(Matern(0.9)),
    2.0 * Linear() + 0.3 * RBF(0.2),
    Anchored(RBF(0.5) + Quadratic(), (0.1, 0.2, 0.3)),
    Anchored(RBF(0.5), (0.1, 0.2, 0.3), mode="condition"),
    Selected(RBF(0.5) + Linear(), (2, 0)),
    Selected(Standardized(Quadratic() + Linear(), CENTER[:2], SCALE[:2]), (2, 0)),
    Projected(RBF(0.5) + Linear() + Quadratic(), ((0.3, 1.0), (-1.0, 0.2), (0.5, 0.4))),
    Standardized(Anchored(RBF((0.1, 0.2, 0.3)), (0.0, 0.0, 0.0)), CENTER, SCALE),
    Thresholded(Standardized(Linear() + RBF(0.5), CENTER, SCALE), (2, 0, 2), CENTER, SCALE),
    Warped(Standardized(Additive(RBF(1.0)), CENTER, SCALE), CENTER, SCALE),
]


def features(count: int = 40) -> Array:
    return np.random.default_rng(0).normal(size=(count, 3)) * [1.0, 5.0, 0.1] + [0.0, 2.0, -1.0]


def taught(model: PreferenceGP | LinearPreference | None) -> Reward:
    x = features()
    learner = Learner(Pool(x), model=model)
    for left, right in np.random.default_rng(1).permutation(40)[:24].reshape(-1, 2).tolist():
        learner.tell(Question(left, right), "left" if x[left, 0] > x[right, 0] else "right")
    return learner.reward()


@pytest.mark.parametrize("kernel", EVERY, ids=str)
def test_every_kernel_gives_the_models_mean(kernel: Kernel) -> None:
    reward = taught(PreferenceGP(kernel, noise=0.1, learn=False))
    other = features(90)[40:]
    compiled = CompiledReward.of(reward)
    assert compiled(other) == pytest.approx(reward(other), abs=1e-9)
    assert compiled(other[7]) == pytest.approx(reward(other)[7], abs=1e-9)  # one trajectory, without an axis


def test_far_from_all_answers_and_far_from_zero() -> None:
    """Squared distances are computed from products; what is lost to rounding must not count."""
    x = features() * 1e-3 + 1e4
    reward, others = reward_of_pairs(Pool(x), x[:24, 0]), np.concatenate([x, x + 1.0, x - 300.0])
    expected = reward(others)
    assert CompiledReward.of(reward)(others) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    rewards, rows = lower_bound_of(taught(PreferenceGP(RBF(0.7), noise=0.1, learn=False))), features(3)
    rows[1, 2] = bad
    for given in (rows, rows[1]):
        with pytest.raises(ValueError, match="finite"):
            rewards(given)


def test_the_default_mixture_is_compiled() -> None:
    reward = taught(None)
    assert CompiledReward.of(reward)(features(60)) == pytest.approx(reward(features(60)), abs=1e-9)


@pytest.mark.parametrize(
    "model", [None, PreferenceGP(Anchored(RBF(0.4), (0.0,) * 3), noise=0.1, learn=False)]
)
def test_labels_are_compiled(model: PreferenceGP | None) -> None:
    """They compare trajectories with the bar, whose features are infinite."""
    x, learner = features(), Learner(Pool(features()), model=model)
    for item in range(12):
        learner.tell(Question(item, kind="rate-3"), str(1 + int(np.digitize(x[item, 0], [-0.5, 0.5]))))
    learner.tell(Question(13, 14, 15, kind="best-or-none-3"), "none")
    reward = learner.reward()
    assert reward.has_bar
    assert CompiledReward.of(reward)(features(60)) == pytest.approx(reward(features(60)), abs=1e-9)
    cautious = reward.predict(x, return_std=True)
    assert lower_bound_of(reward, 0.5)(x) == pytest.approx(cautious[0] - 0.5 * cautious[1], abs=1e-9)


def test_a_mixture_of_many_features_is_compiled() -> None:
    x = np.random.default_rng(2).normal(size=(40, 30))
    reward = reward_of_pairs(Pool(x), x[:16, 0])
    compiled = CompiledReward.of(reward)
    assert not any(getattr(one, "others", ()) for one in compiled.summands)
    assert compiled(x + 0.1) == pytest.approx(reward(x + 0.1), abs=1e-9)


def test_what_is_not_gaussian_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be compiled"):
        CompiledReward.of(taught(LinearPreference(draws=5)))
