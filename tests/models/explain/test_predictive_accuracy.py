"""The accuracy that a posterior expects of itself: against brute force, and against simulated users."""

import numpy as np
import pytest

from models.taught import answers_about, pool, taught_mixture
from prefero._support.arrays import Array
from prefero.kernels import Linear
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.explain import predictive_accuracy as module
from prefero.models.explain.predictive_accuracy import accuracy_draws, expected_accuracy
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.models.posterior.draws import interval
from prefero.models.posterior.gaussian import Distribution
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import Comparisons


def simulated_accuracies(belief: MixturePosterior, x: Array, count: int) -> Array:
    """The judge: people drawn from the posterior answer every pair once, and the answers are counted."""
    rng = np.random.default_rng(9)
    first, second = np.triu_indices(len(x), 1)
    lean = np.zeros(len(first))
    for weight, component in belief.components:
        without_margin = Probit(component.probit.noise).probabilities(
            *component.difference(x[first], x[second])
        )[0]
        lean += weight * (1 - component.probit.lapse) * (without_margin - 0.5)
    found = []
    counts = rng.multinomial(count, [weight for weight, _ in belief.components])
    for (_, component), number in zip(belief.components, counts, strict=True):
        for f in component.sample(x, number, rng):
            turned = np.sqrt(2) * component.probit.noise * rng.standard_normal((8, len(first)))
            lapses = rng.random(turned.shape) < component.probit.lapse
            said = np.where(lapses, rng.random(turned.shape) < 0.5, f[first] - f[second] + turned > 0)
            found.append(np.mean(said == (lean > 0)))
    return np.array(found)


def test_the_estimate_is_that_of_people_drawn_from_the_posterior() -> None:
    belief, _ = taught_mixture()
    x = pool()[:25]
    found, wanted = accuracy_draws(belief, x), simulated_accuracies(belief, x, 2000)
    assert found.mean == pytest.approx(wanted.mean(), abs=0.01)
    assert found.mean == pytest.approx(expected_accuracy(belief, x), abs=1e-12)
    ends = interval(found.accuracies, found.weights)
    np.testing.assert_allclose(ends, np.quantile(wanted, [0.05, 0.95]), atol=0.03)


def test_the_attainable_accuracy_is_what_each_drawn_persons_own_reward_would_predict() -> None:
    """By counting the answers of people drawn from one posterior, who lapse in every fifth answer."""
    _, data = taught_mixture()
    x, rng = pool()[:20], np.random.default_rng(3)
    belief = infer(Linear(), data, Probit(0.3, lapse=0.2), "ep").posterior
    first, second = np.triu_indices(len(x), 1)
    likelier = belief.probability(x[first], x[second]) > 0.5
    accuracies, attainable = [], []
    for f in belief.sample(x, 1500, rng):
        gap = f[first] - f[second]
        said = gap + np.sqrt(2) * 0.3 * rng.standard_normal((4, len(gap))) > 0
        said = np.where(rng.random(said.shape) < 0.2, rng.random(said.shape) < 0.5, said)
        accuracies.append(np.mean(said == likelier))
        attainable.append(np.mean(said == (gap > 0)))
    found = accuracy_draws(belief, x)
    assert found.mean == pytest.approx(np.mean(accuracies), abs=0.006)
    assert found.accuracies @ found.weights == pytest.approx(np.mean(accuracies), abs=0.012)
    assert found.attainable @ found.weights == pytest.approx(np.mean(attainable), abs=0.012)
    assert found.room == pytest.approx(np.mean(attainable) - np.mean(accuracies), abs=0.012)
    assert np.all(found.attainable >= found.accuracies - 1e-12)


def test_random_pairs_stand_for_all_of_a_large_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    belief, _ = taught_mixture()
    x = np.random.default_rng(8).standard_normal((500, 2))
    some = expected_accuracy(belief, x)
    monkeypatch.setattr(module, "TRAJECTORIES", 500)
    monkeypatch.setattr(module, "PAIRS", 500 * 500)
    assert some == pytest.approx(expected_accuracy(belief, x), abs=0.02)


def test_before_any_answer_half_is_expected() -> None:
    nothing = MixtureFitter(Reference.normal(2)).fit(Comparisons.none(2))
    assert expected_accuracy(nothing, pool()) == pytest.approx(0.5)


def test_ties_do_not_lower_it() -> None:
    """A person who has to choose is meant, so a margin does not matter."""
    _, data = taught_mixture()
    plain, wide = (infer(Linear(), data, Probit(0.3, margin), "ep").posterior for margin in (0.0, 1e-9))
    assert expected_accuracy(plain, pool()) == pytest.approx(expected_accuracy(wide, pool()), abs=1e-6)
    tied = infer(Linear(), data, Probit(0.3, 2.0), "ep").posterior
    assert expected_accuracy(tied, pool()) > 0.7


def true_accuracy(belief: Distribution, x: Array, truth: Array, noise: float) -> float:
    """By simulation: many noisy answers to every pair."""
    rng, total = np.random.default_rng(4), 0.0
    first, second = np.triu_indices(len(x), 1)
    lean = belief.probability(x[first], x[second]) > 0.5
    for _ in range(20):
        seen = truth[first] - truth[second] + np.sqrt(2) * noise * rng.standard_normal(len(first))
        total += float(np.mean((seen > 0) == lean))
    return total / 20


def test_intervals_hold_for_users_drawn_from_the_prior() -> None:
    """For users as the model assumes them, nine of ten intervals hold (exactly so, but for EP)."""
    kernel, noise, x = 0.5 * Linear(), 0.2, pool(20)
    inside = []
    for seed in range(50):
        truth = x @ np.random.default_rng([7, seed]).standard_normal(2) * np.sqrt(0.5)
        belief = infer(kernel, answers_about(x, truth, 8, seed, noise), Probit(noise), "ep").posterior
        found = accuracy_draws(belief, x)
        low, high = interval(found.accuracies, found.weights)
        inside.append(low <= true_accuracy(belief, x, truth, noise) <= high)
    assert 0.8 <= np.mean(inside) <= 0.98
