"""The probability of each answer given the others: against fitting without it."""

import numpy as np
import pytest

from models.taught import pool, taught_mixture
from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored, Linear
from prefero.models.inference.infer import Inference, infer
from prefero.models.inference.leave_one_out import leave_one_out
from prefero.models.likelihood.probit import Probit
from prefero.models.linear import LinearPosterior, LinearPreference
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import Comparisons

Sites = list[tuple[Array, Array]]

PROBIT = Probit(0.3, 0.2)
KERNELS = (0.5 * Linear(), Anchored(RBF(0.3), (0.0, 0.0)))


def with_ties() -> Comparisons:
    data = taught_mixture()[1]
    return Comparisons(data.winners, data.losers, np.arange(len(data)) % 4 == 3)


def fitted(data: Comparisons, inference: Inference = "ep") -> tuple[MixturePosterior, Sites]:
    """Two models, weighted by their evidence, and the sites of the answers."""
    fits = [infer(kernel, data, PROBIT, inference) for kernel in KERNELS]
    weights = np.exp([fit.log_evidence for fit in fits])
    components = zip((weights / weights.sum()).tolist(), (fit.posterior for fit in fits), strict=True)
    return MixturePosterior(tuple(components), {}, 0.0), [fit.solution.sites for fit in fits]


def left_out(data: Comparisons, inference: Inference = "ep") -> Array:
    belief, sites = fitted(data, inference)
    return leave_one_out(belief, data, sites)


def probability_of(belief: MixturePosterior, answer: Comparisons) -> float:
    total = 0.0
    for weight, component in belief.components:
        gap, variance = component.difference(answer.winners, answer.losers)
        total += weight * float(np.exp(component.probit(gap, answer.tied, variance).log[0]))
    return total


@pytest.mark.parametrize(("inference", "tolerance"), [("ep", 0.03), ("laplace", 0.1)])
def test_it_is_the_probability_without_the_answer(inference: Inference, tolerance: float) -> None:
    data = with_ties()
    found = left_out(data, inference)
    for place in range(len(data)):
        others, this = np.arange(len(data)) != place, np.array([place])
        wanted = probability_of(fitted(data[np.flatnonzero(others)], inference)[0], data[this])
        assert found[place] == pytest.approx(wanted, abs=tolerance)


def test_it_is_the_ratio_of_evidences() -> None:
    """P(answer | others) = P(all answers) / P(others), of the whole mixture."""
    data = with_ties()
    found = left_out(data)
    all_of_it = sum(np.exp(infer(kernel, data, PROBIT, "ep").posterior.log_evidence) for kernel in KERNELS)
    for place in (0, 3, 7):
        rest = data[np.flatnonzero(np.arange(len(data)) != place)]
        others = sum(np.exp(infer(kernel, rest, PROBIT, "ep").posterior.log_evidence) for kernel in KERNELS)
        assert found[place] == pytest.approx(all_of_it / others, abs=0.01)


def test_for_samples_it_is_the_harmonic_mean() -> None:
    data = taught_mixture()[1]
    belief = LinearPreference(noise=0.3, draws=40).fit_comparisons(data).posterior_
    assert isinstance(belief, LinearPosterior)
    gaps = belief.weights @ (data.winners - data.losers).T
    each = belief.probit.probabilities(gaps, 0.0)[0]
    np.testing.assert_allclose(leave_one_out(belief, data), 1 / np.mean(1 / each, axis=0))


def test_an_answer_against_all_others_is_improbable() -> None:
    data, x = taught_mixture(30)[1], pool()
    best, worst = np.argmin((x[:, 0] - 0.3) ** 2), np.argmax((x[:, 0] - 0.3) ** 2)
    slip = Comparisons.of(x, [[worst, best]])
    both = Comparisons(
        np.concatenate([data.winners, slip.winners]),
        np.concatenate([data.losers, slip.losers]),
        np.append(data.tied, False),
    )
    found = left_out(both)
    assert np.argmin(found) == len(data)
    assert found[-1] < 0.2
