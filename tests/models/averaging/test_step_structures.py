"""Structures of rewards of steps: which columns they are of, their scale, and what answers make of them."""

import numpy as np
import pytest

from prefero._support.arrays import Array
from prefero.datasets.episode import Episode
from prefero.datasets.features.embeddings.steps import StepEmbedding
from prefero.kernels import Kernel
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.step_structures import (
    STEP_GRID,
    STEP_SEARCHED,
    StepColumns,
    search_step_sparse,
    step_candidates,
)
from prefero.models.averaging.structures import Margins, ModelSettings
from prefero.questions import Comparisons
from prefero.trajectories.features import Scaling

STATES, ACTIONS, TRAJECTORIES = 3, 1, 60


@pytest.fixture(scope="module")
def steps() -> Array:
    """(M, T, 4): states that stay near a place of each trajectory, and actions."""
    rng = np.random.default_rng(0)
    places = rng.normal(size=(TRAJECTORIES, 1, STATES + ACTIONS))
    return places + 0.5 * rng.normal(size=(TRAJECTORIES, 12, STATES + ACTIONS))


@pytest.fixture(scope="module")
def embedding(steps: Array) -> StepEmbedding:
    return StepEmbedding.fit([Episode(str(i), x[:, :3], x[:, 3:]) for i, x in enumerate(steps)], 0)


@pytest.fixture(scope="module")
def scaled(steps: Array, embedding: StepEmbedding) -> tuple[Array, Scaling]:
    means = np.stack([embedding.of_steps(x).mean(axis=0) for x in steps])
    scaling = Scaling.of(means, embedding.of_steps.names)
    return scaling(means), scaling


def settings_of(scaled: tuple[Array, Scaling]) -> ModelSettings:
    return ModelSettings(Reference.of(*scaled), None, None, "ep")


def answers(scaled: tuple[Array, Scaling], returns: Array, count: int, tied: int = 0) -> Comparisons:
    x, scaling = scaled
    pairs = np.random.default_rng(1).permutation(len(x))[: 2 * count].reshape(-1, 2)
    winners = np.where(returns[pairs[:, 0]] > returns[pairs[:, 1]], pairs[:, 0], pairs[:, 1])
    losers = pairs.sum(axis=1) - winners
    return Comparisons(x[winners], x[losers], np.arange(count) < tied, scaling)


def test_columns_are_found_by_the_names_of_features(
    steps: Array, embedding: StepEmbedding, scaled: tuple[Array, Scaling]
) -> None:
    columns, features = StepColumns.of(Reference.of(*scaled)), embedding.of_steps
    assert columns.numbers == 5  # the last is the effort
    z = (steps[0] - features.center[:-1]) / features.scale[:-1]
    values = features(steps[0])
    assert values[:, columns.squares([2])] == pytest.approx(np.stack([z[:, 2], z[:, 2] ** 2], axis=1))
    assert values[:, columns.products([0, 3])[-1]] == pytest.approx(z[:, 0] * z[:, 3])
    moved = steps[0].copy()
    moved[:, [0, 2, 3]] += 1.0  # all but the second
    assert features(moved)[:, columns.curves([1])] == pytest.approx(values[:, columns.curves([1])])


def test_every_kernel_has_a_reward_that_varies_by_1(scaled: tuple[Array, Scaling]) -> None:
    settings = settings_of(scaled)
    kernels: set[Kernel] = {candidate.kernel for candidate in step_candidates(settings)}
    assert len(kernels) == len(STEP_GRID) + 2  # three lengthscales
    for kernel in kernels:
        covariance = kernel(scaled[0], scaled[0])
        assert np.mean(covariance.diagonal()) - np.mean(covariance) == pytest.approx(1.0)


def test_prior_weights_add_up_to_1(scaled: tuple[Array, Scaling]) -> None:
    total = sum(np.exp(candidate.log_prior) for candidate in step_candidates(settings_of(scaled)))
    assert total == pytest.approx(1.0)


def test_the_number_that_matters_is_selected(steps: Array, scaled: tuple[Array, Scaling]) -> None:
    data = answers(scaled, -np.mean(steps[:, :, 1] ** 2, axis=1), 25)
    squares = search_step_sparse(settings_of(scaled), data, Margins())[0].kernel
    columns = StepColumns.of(Reference.of(*scaled))
    assert squares == step_kernel_of(scaled, columns.squares([1]))


def step_kernel_of(scaled: tuple[Array, Scaling], columns: tuple[int, ...]) -> Kernel:
    from prefero.models.averaging.step_structures import step_kernel

    return step_kernel(settings_of(scaled), columns)


@pytest.mark.parametrize("tied", [0, 4])
def test_the_mixture_learns_a_reward_of_steps(steps: Array, scaled: tuple[Array, Scaling], tied: int) -> None:
    returns = np.mean(np.abs(steps[:, :, 0]) - 0.5 * steps[:, :, 3], axis=1)
    posterior = MixtureFitter(Reference.of(*scaled)).fit(answers(scaled, returns, 25, tied))
    known = {*STEP_GRID, *(kind.structure for kind in STEP_SEARCHED)}
    assert set(posterior.structures) == known
    assert np.corrcoef(posterior.marginals(scaled[0])[0], returns)[0, 1] > 0.8
    assert "mean over time" in posterior.describe() or "open" in posterior.describe()


def test_raw_features_give_the_same_predictions(steps: Array, scaled: tuple[Array, Scaling]) -> None:
    x, scaling = scaled
    raw, returns = scaling.inverse(x), np.mean(steps[:, :, 0], axis=1)
    data = answers(scaled, returns, 12)
    fitted = MixtureFitter(Reference.of(x, scaling), searched=False).fit(data)
    winners, losers = scaling.inverse(data.winners), scaling.inverse(data.losers)
    other = Comparisons(winners, losers, data.tied, scaling)
    again = MixtureFitter(Reference.of(raw, scaling), searched=False).fit(other)
    assert again.marginals(raw)[0] == pytest.approx(fitted.marginals(x)[0], abs=1e-6)
