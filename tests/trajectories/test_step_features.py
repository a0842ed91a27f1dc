"""Features of steps: products of them are kernels of steps, and products of means are means of kernels."""

import numpy as np
import pytest

from prefero._support.arrays import Array
from prefero.datasets.episode import Episode
from prefero.datasets.features.embeddings.steps import StepEmbedding
from prefero.trajectories.categories import variables_of
from prefero.trajectories.features import Scaling
from prefero.trajectories.step_features import StepFeatures, block_of, step_blocks


def random_episodes(states: int, actions: int, count: int = 6, steps: int = 20) -> list[Episode]:
    rng = np.random.default_rng(states)
    shift = rng.normal(size=(count, 1, states)) * 3 + 5
    return [
        Episode(str(i), rng.normal(size=(steps, states)) * 2 + shift[i], rng.normal(size=(steps, actions)))
        for i in range(count)
    ]


def fitted(states: int = 3, actions: int = 1) -> StepFeatures:
    return StepEmbedding.fit(random_episodes(states, actions), 0).of_steps


def columns(features: StepFeatures, block: str) -> list[int]:
    return list(step_blocks(features.names)[block])


def random_steps(features: StepFeatures, count: int, seed: int = 0) -> Array:
    z = np.random.default_rng(seed).normal(size=(count, len(features.effort)))
    return features.center[:-1] + features.scale[:-1] * z


def standardized(features: StepFeatures, x: Array) -> Array:
    """The steps and their effort, without the library's own functions."""
    actions = features.effort > 0
    effort = np.sum(x[:, actions] ** 2 * features.effort[actions], axis=1)
    z: Array = (np.column_stack([x, effort]) - features.center) / features.scale
    return z


def rbf(features: StepFeatures, x: Array, y: Array, lengthscale: float) -> Array:
    """The kernel itself, by its definition."""
    k = len(features.axes)
    a, b = (standardized(features, some) for some in (x, y))
    squared = np.sum((a[:, None] - b[None]) ** 2, axis=2)
    kernel: Array = np.exp(-squared / (2 * lengthscale**2 * k))
    return kernel


@pytest.mark.parametrize("lengthscale", [0.5, 1.0, 2.0])
def test_the_products_of_random_fourier_features_are_near_the_rbf_kernel(lengthscale: float) -> None:
    features = fitted()
    x = random_steps(features, 40)
    block = features(x)[:, columns(features, f"rbf {lengthscale:g}")]
    error = block @ block.T - rbf(features, x, x, lengthscale)
    assert np.sqrt(np.mean(error**2)) < 0.1
    assert (block**2).sum(axis=1) == pytest.approx(1.0)  # the variance is exact


def test_the_kernel_of_trajectories_is_the_mean_of_the_kernels_of_steps() -> None:
    features = fitted()
    first, second = random_steps(features, 7), random_steps(features, 11, seed=1)
    steps = [[features(x[None]) @ features(y[None]).T for y in second] for x in first]
    means = features(first).mean(axis=0) @ features(second).mean(axis=0)
    assert means == pytest.approx(np.mean(steps), rel=1e-12)


def test_quadratic_features_are_all_products() -> None:
    features = fitted()
    x = random_steps(features, 5)
    z = standardized(features, x)
    found = features(x)[:, columns(features, "quadratic")]
    expected = [[row[i] * row[j] for i in range(5) for j in range(i, 5)] for row in z]
    assert found == pytest.approx(np.array(expected))


def test_curves_are_functions_of_one_number_each() -> None:
    features = fitted()
    x = random_steps(features, 1)
    moved = x.copy()
    moved[0, 2] += 1.0
    changed = np.flatnonzero(features(x)[0] != features(moved)[0])
    curves = [c for c in columns(features, "curves") if c in changed]
    assert len(curves) == 2 * len(features.curve_frequencies)


def test_steps_of_many_numbers_have_principal_components() -> None:
    features = fitted(40, 2)
    assert features.axes.shape == (32, 43)
    assert features.axes @ features.axes.T == pytest.approx(np.eye(32), abs=1e-9)
    assert len(features.names) == features(random_steps(features, 2)).shape[1]


def test_a_block_has_one_scale_and_no_variables() -> None:
    features = fitted()
    means = np.stack([features(random_steps(features, 9, seed)).mean(axis=0) for seed in range(12)])
    scaling = Scaling.of(means, features.names)
    for block in step_blocks(features.names).values():
        assert len({scaling.scale[column] for column in block}) == 1
        assert np.sum(scaling(means)[:, block].var(axis=0)) == pytest.approx(1.0)
    assert variables_of(features.names, ()) == ()


def test_the_effort_of_a_step_is_in_units_of_each_action() -> None:
    episodes = random_episodes(3, 2)
    features = StepEmbedding.fit(episodes, 0).of_steps
    actions = np.concatenate([one.actions for one in episodes])
    x = random_steps(features, 5)
    expected = ((x[:, 3:] / actions.std(axis=0)) ** 2).sum(axis=1)
    assert features.numbers(x)[:, -1] == pytest.approx(expected)
    assert features(x)[:, 5] * features.scale[-1] + features.center[-1] == pytest.approx(expected)


def test_trajectories_that_end_early_count_what_is_missing_as_nothing() -> None:
    episodes = random_episodes(3, 1)
    features = StepEmbedding.fit(episodes, 0, horizon=20).of_steps
    steps = random_steps(features, 5)
    found = features.of_trajectory(steps, True)
    assert found[:-2] == pytest.approx(features(steps)[:, :-2].sum(axis=0) / 20)
    assert found[columns(features, "end")].tolist() == [0.25, 1.0]
    assert features.of_trajectory(steps, False)[-1] == 0.0
    always = StepEmbedding.fit(episodes, 0).of_steps  # the mean, where nothing ends early
    assert always.of_trajectory(steps, True) == pytest.approx(features(steps)[:, :-2].mean(axis=0))


@pytest.mark.parametrize("name", ["steps", "steps linear", "mean steps linear 1", "steps 1", "speed"])
def test_other_names_are_of_no_block(name: str) -> None:
    assert block_of(name) is None
