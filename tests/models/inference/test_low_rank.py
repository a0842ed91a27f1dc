"""The basis of bounded rank: against the dense covariance, dense EP and Laplace, and central differences."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored, Kernel, Linear, Matern, Quadratic
from prefero.models.algebra.linalg import PivotedCholesky, pivoted_cholesky
from prefero.models.algebra.tall_matrix import CHUNK, TallMatrix, row_chunks
from prefero.models.inference.evidence import fit_hyperparameters, log_evidence
from prefero.models.inference.growing_basis import basis_of_pivots, low_rank_basis
from prefero.models.inference.infer import Inference, infer
from prefero.models.inference.low_rank import FROM, LowRank
from prefero.models.inference.solution import WarmStart
from prefero.models.inference.update import UpdatedSolution, UpdatePolicy, updated_solution
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import layout_of
from prefero.models.posterior.gaussian import Posterior, covariance_of_differences
from prefero.questions import Comparisons

KERNELS: list[Kernel] = [
    RBF(0.3),
    Anchored(RBF(0.2), (0.1, 0.2, 0.0), mode="condition"),
    Linear() + Quadratic(),
    0.5 * Linear() + 0.5 * Matern(2.0),
]
PERSON = Probit(0.2)


def answers(count: int, features: int = 3, seed: int = 0, ties: float = 0.0) -> Comparisons:
    """Noisy answers about a curved reward."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, count, features))
    gap = np.sin(a).sum(1) - np.sin(b).sum(1) + 0.2 * rng.standard_normal(count)
    won = (gap > 0)[:, None]
    return Comparisons(np.where(won, a, b), np.where(won, b, a), rng.random(count) < ties)


def dense(
    kernel: Kernel,
    data: Comparisons,
    probit: Probit,
    inference: Inference = "ep",
    start: WarmStart | None = None,
) -> Posterior:
    """The posterior that neglects nothing, however many answers there are."""
    whole = pivoted_cholesky(covariance_of_differences(kernel, data), probit.noise)
    return infer(kernel, data, probit, inference, start, cholesky=whole).posterior


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_basis_and_what_it_neglects_make_up_the_variances(kernel: Kernel) -> None:
    data = answers(150)
    low, C = low_rank_basis(kernel, data, 0.2, tolerance=5.0), covariance_of_differences(kernel, data)
    rows = low.basis.rows
    np.testing.assert_allclose(np.sum(rows**2, axis=1) + low.neglected, C.diagonal(), atol=1e-8)
    rest = C - rows @ rows.T
    assert np.linalg.eigvalsh(rest).min() > -1e-7  # a covariance is left
    np.testing.assert_allclose(rows[low.pivots], np.tril(rows[low.pivots]), atol=1e-7)
    assert low.neglected.sum() <= 5.0 * 2.0 * 0.2**2


@given(st.integers(2, 120), st.floats(0.01, 3.0), st.floats(0.01, 100.0), st.integers(0, 5))
@settings(max_examples=15, deadline=None)
def test_no_more_is_neglected_than_allowed(count: int, theta: float, tolerance: float, seed: int) -> None:
    data = answers(count, seed=seed)
    low = low_rank_basis(RBF(theta), data, 0.2, tolerance=tolerance)
    assert low.neglected.min() >= 0.0
    assert low.neglected.sum() <= tolerance * 0.08 + 1e-9 or len(low.pivots) == count
    fewer = len(low.pivots) - 1
    if fewer > 0 and low.neglected.sum() > 0:  # one column less would neglect too much
        assert low.of_rank(fewer).neglected.sum() > tolerance * 0.08 - 1e-9


def test_a_rank_that_is_bounded_keeps_the_rest_as_variance() -> None:
    data = answers(200)
    low = low_rank_basis(RBF(3.0), data, 0.01, max_rank=20)
    assert low.basis.shape == (200, 20)
    posterior = infer(RBF(3.0), data, PERSON, cholesky=low).posterior
    far = data[np.argsort(-low.neglected)[:1]]  # this difference is nearly independent of the pivots
    _, variance = posterior.difference(far.winners, far.losers)
    assert variance[0] > 0.9 * low.neglected.max()


@pytest.mark.parametrize("inference", ["ep", "laplace"])
@pytest.mark.parametrize("probit", [Probit(0.2), Probit(0.3, 0.2, 0.05)])
@pytest.mark.parametrize("kernel", [KERNELS[1], KERNELS[2]])
def test_the_posterior_is_the_dense_one(kernel: Kernel, probit: Probit, inference: Inference) -> None:
    data = answers(300, ties=0.1 if probit.margin else 0.0)
    low = infer(
        kernel, data, probit, inference, cholesky=low_rank_basis(kernel, data, probit.noise)
    ).posterior
    assert_close(low, dense(kernel, data, probit, inference))


def assert_close(found: Posterior, wanted: Posterior, within: float = 0.01) -> None:
    """Means and deviations agree within a fraction of the posterior's deviations, all over a test set."""
    x = np.random.default_rng(9).standard_normal((300, wanted.n_features))
    (mean, variance), (own_mean, own_variance) = wanted.marginals(x), found.marginals(x)
    std = np.sqrt(variance)
    assert np.max(np.abs(own_mean - mean) / std) < within
    assert np.max(np.abs(np.sqrt(own_variance) - std) / std) < within
    assert found.log_evidence == pytest.approx(wanted.log_evidence, abs=0.05)


def test_a_thousand_answers_take_the_low_rank_and_agree_with_the_dense_posterior() -> None:
    data, kernel = answers(1000, features=4), Anchored(RBF(0.15), (0.0,) * 4)
    fit = infer(kernel, data, PERSON)
    assert isinstance(fit.cholesky, LowRank)
    assert len(fit.cholesky.pivots) < 600
    assert_close(fit.posterior, dense(kernel, data, PERSON, start=WarmStart(*fit.solution.sites)))


def test_fewer_answers_take_the_whole_covariance() -> None:
    data = answers(FROM - 1)
    assert isinstance(infer(Linear(), data, PERSON).cholesky, PivotedCholesky)


def test_a_basis_continues_with_more_answers() -> None:
    data, kernel = answers(400), RBF(0.2)
    start = low_rank_basis(kernel, data[:300], 0.2)
    whole = low_rank_basis(kernel, data, 0.2, start=start)
    assert whole.pivots[: len(start.pivots)].tolist() == start.pivots.tolist()
    np.testing.assert_allclose(whole.basis.rows[:300, : len(start.pivots)], start.basis.rows)
    assert_close(infer(kernel, data, PERSON, cholesky=whole).posterior, dense(kernel, data, PERSON))


def test_a_basis_is_rebuilt_from_its_pivots() -> None:
    data, kernel = answers(200), RBF(0.2)
    low = low_rank_basis(kernel, data, 0.2)
    again = basis_of_pivots(kernel, data, low.pivots)
    np.testing.assert_allclose(
        again.basis.rows @ again.basis.rows.T, low.basis.rows @ low.basis.rows.T, atol=1e-7
    )


@pytest.mark.parametrize("inference", ["ep", "laplace"])
@pytest.mark.parametrize("probit", [Probit(0.3), Probit(0.3, 0.2, 0.05)])
@pytest.mark.parametrize("kernel", [0.7 * RBF((0.2, 0.4, 0.3)), KERNELS[1], KERNELS[3]])
def test_the_gradient_of_the_evidence_is_that_of_central_differences(
    kernel: Kernel, probit: Probit, inference: Inference
) -> None:
    data = answers(150, ties=0.1 if probit.margin else 0.0)
    pivots = low_rank_basis(kernel, data, 0.3, tolerance=40.0).pivots  # so that much is neglected

    def value(kernel: Kernel, probit: Probit) -> float:
        return log_evidence(kernel, data, probit, inference, low=basis_of_pivots(kernel, data, pivots)).value

    step, logs = 1e-3, kernel.log_parameters
    moves = step * np.eye(len(logs))
    by_kernel = [
        value(kernel.with_log_parameters(logs + m), probit)
        - value(kernel.with_log_parameters(logs - m), probit)
        for m in moves
    ]
    up, down = (value(kernel, replace(probit, noise=probit.noise * np.exp(s))) for s in (step, -step))
    found = log_evidence(kernel, data, probit, inference, low=basis_of_pivots(kernel, data, pivots))
    np.testing.assert_allclose(found.kernel_gradient, np.array(by_kernel) / (2 * step), rtol=1e-3, atol=2e-3)
    assert found.noise_gradient == pytest.approx((up - down) / (2 * step), rel=1e-3, abs=2e-3)
    if probit.margin:
        up, down = (value(kernel, replace(probit, margin=probit.margin * np.exp(s))) for s in (step, -step))
        assert found.margin_gradient == pytest.approx((up - down) / (2 * step), rel=1e-3, abs=2e-3)


def test_hyperparameters_of_many_answers_are_those_of_the_dense_evidence() -> None:
    data = answers(FROM, features=2)
    fit = fit_hyperparameters(1.0 * RBF(0.5), data, PERSON, learn_noise=False)
    low = basis_of_pivots(fit.kernel, data, np.arange(FROM))
    gradient = log_evidence(fit.kernel, data, PERSON, low=low).kernel_gradient
    z = (fit.kernel.log_parameters - np.log([1.0, 0.5])) / 1.5
    assert np.max(np.abs(1.5 * gradient - z)) < 0.3  # the log posterior is flat there


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_the_work_can_be_done_by_another_array_library(library: str) -> None:
    xp = pytest.importorskip(library)
    data, kernel = answers(200), RBF(0.2)
    here, there = (low_rank_basis(kernel, data, 0.2, device=d) for d in (None, xp.empty(0, dtype=xp.float64)))
    assert here.pivots.tolist() == there.pivots.tolist()
    one, other = (infer(kernel, data, PERSON, cholesky=low).posterior for low in (here, there))
    x: Array = np.random.default_rng(1).standard_normal((20, 3))
    np.testing.assert_allclose(one(x)[0], other(x)[0], atol=1e-6)
    np.testing.assert_allclose(one(x)[1], other(x)[1], atol=1e-6)


@pytest.mark.parametrize("probit", [Probit(0.2), Probit(0.3, 0.2, 0.05)])
def test_a_few_more_answers_update_the_solution_as_sweeps_would(
    probit: Probit, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = UpdatePolicy(steps=60, moved=320, eager=320)
    monkeypatch.setattr("prefero.models.inference.update.POLICY", patient)
    data, kernel = answers(320, ties=0.1 if probit.margin else 0.0), RBF(0.2)
    first = low_rank_basis(kernel, data[:305], probit.noise)
    old = infer(kernel, data[:305], probit, cholesky=first).solution
    low = low_rank_basis(kernel, data, probit.noise, start=first)
    assert len(low.pivots) > len(first.pivots)  # so that new columns are tested too
    found = updated_solution(low, layout_of(data), probit, old, 2e-6)
    assert isinstance(found, UpdatedSolution)
    wanted = infer(kernel, data, probit, cholesky=low, tolerance=1e-5).solution
    assert found.log_evidence == pytest.approx(wanted.log_evidence, abs=1e-3)
    inverse, own = np.linalg.inv(wanted.factor), np.linalg.inv(found.factor)
    np.testing.assert_allclose(own.T @ own, inverse.T @ inverse, atol=1e-3)
    std = np.sqrt(np.diag(inverse.T @ inverse))
    assert np.max(np.abs(found.u_mean - wanted.u_mean) / std) < 5e-3


def test_answer_after_answer_the_updates_stay_with_a_fit_from_nothing() -> None:
    data, kernel = surprising_answers(560), RBF(0.2)
    low = low_rank_basis(kernel, data[:500], 0.2)
    fit = infer(kernel, data[:500], PERSON, cholesky=low)
    found, solution = fit.posterior, fit.solution
    updates = 0
    for count in range(501, 561):
        low = low_rank_basis(kernel, data[:count], 0.2, start=low)
        start = replace(WarmStart.from_solution(solution, count), solution=solution)
        fit = infer(kernel, data[:count], PERSON, start=start, cholesky=low)
        found, solution = fit.posterior, fit.solution
        updates += isinstance(solution, UpdatedSolution)
    assert updates > 50  # few of them led to sweeps
    assert_close(found, infer(kernel, data, PERSON).posterior)


def surprising_answers(count: int) -> Comparisons:
    """Answers of which the last sixty are about trajectories that are hard to tell apart."""
    data, rng = answers(4 * count), np.random.default_rng(1)
    gap = np.abs(np.sin(data.winners).sum(1) - np.sin(data.losers).sum(1))
    return data[np.concatenate([rng.permutation(np.argsort(-gap))[: count - 60], np.argsort(gap)[:60]])]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 6), st.sampled_from([0.1, 0.2, 0.4])), max_size=8)
)
@settings(max_examples=20, deadline=None)
def test_however_bases_are_continued_the_earlier_ones_stay(steps: list[tuple[int, int, float]]) -> None:
    kernel, some = RBF(0.3), answers(60)
    bases = [(some, low_rank_basis(kernel, some, 0.2))]
    before = [np.array(bases[0][1].basis.rows)]
    for number, (place, more, noise) in enumerate(steps):
        data, start = bases[place % len(bases)]
        further = answers(more, seed=number + 1)
        winners, losers = (
            np.concatenate(both) for both in ((data.winners, further.winners), (data.losers, further.losers))
        )
        longer = Comparisons(winners, losers, np.zeros(len(winners), dtype=bool))
        bases.append((longer, low_rank_basis(kernel, longer, noise, start=start)))
        before.append(np.array(bases[-1][1].basis.rows))
    for (data, low), rows in zip(bases, before, strict=True):
        np.testing.assert_array_equal(low.basis.rows, rows)
        again = basis_of_pivots(kernel, data, low.pivots).basis.rows
        np.testing.assert_allclose(rows @ rows.T, again @ again.T, atol=1e-6)


def test_a_basis_that_was_sent_elsewhere_is_continued_there() -> None:
    data, kernel = answers(120), RBF(0.2)
    start = pickle.loads(pickle.dumps(low_rank_basis(kernel, data[:100], 0.2)))
    here, there = (low_rank_basis(kernel, data, 0.2, start=start) for _ in range(2))
    np.testing.assert_array_equal(here.basis.rows, there.basis.rows)


@given(st.integers(1, 300), st.integers(1, 250), st.integers(0, 3))
@settings(max_examples=20, deadline=None)
def test_products_of_a_tall_matrix_in_chunks_are_those_of_the_whole(count: int, rank: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, lower = rng.standard_normal((count, rank)), np.tril(rng.standard_normal((rank, rank)))
    weights, right = rng.random(count), rng.standard_normal((rank, 3))
    matrix = TallMatrix(rows)
    np.testing.assert_allclose(matrix.squared_norms(lower), np.sum((rows @ lower.T) ** 2, axis=1), rtol=1e-4)
    np.testing.assert_allclose(matrix.gram(weights), rows.T @ (weights[:, None] * rows), atol=1e-9)
    np.testing.assert_allclose(matrix.times(right), rows @ right, atol=1e-9)


@pytest.mark.parametrize(("count", "cores"), [(1, 2), (10_000, 2), (4097, 3), (0, 2), (2, 8)])
def test_cores_get_equally_many_rows(count: int, cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefero.models.algebra.tall_matrix.core_count", lambda: cores)
    sizes = [b.stop - b.start for b in row_chunks(np.empty((count, 1)))]
    assert sum(sizes) == count
    assert max(sizes, default=0) <= CHUNK["cpu"]
    assert len(sizes) % cores == 0 or count < 2 * cores
    assert max(sizes, default=0) - min(sizes, default=0) <= len(sizes)
