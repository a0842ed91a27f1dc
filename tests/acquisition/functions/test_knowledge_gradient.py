"""The knowledge gradient against sampling, against a refitted model, and its properties."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acquisition.searched_pools import scored_by
from prefero._support.arrays import Array
from prefero.acquisition import KnowledgeGradient
from prefero.acquisition.searches.best_question import best_question
from prefero.kernels import RBF, Anchored, Linear
from prefero.models.linear import LinearPreference
from prefero.models.posterior.mixture import MixturePosterior
from prefero.models.preference_gp import PreferenceGP

POINTS = np.random.default_rng(0).standard_normal((6, 2))
PAIRS = np.column_stack(np.triu_indices(len(POINTS), 1))
WINS = np.array([[0, 1], [2, 3]])


def gp(theta: float, noise: float = 0.3, margin: float = 0.0, lapse: float = 0.0) -> Any:
    kernel = Anchored(Linear() + RBF(theta), (0.5, 0.0))
    model = PreferenceGP(kernel, noise=noise, margin=margin, lapse=lapse, learn=False)
    return model.fit(POINTS, WINS).posterior_


def mixture(margin: float = 0.0, lapse: float = 0.0) -> MixturePosterior:
    """Two Gaussians that disagree."""
    components = ((0.3, gp(0.05, 0.1, margin)), (0.7, gp(2.0, 0.5, margin, lapse)))
    return MixturePosterior(components, {"rbf": 1.0}, 0.0)


def sampled(belief: Any, question: tuple[int, int], count: int = 200_000) -> float:
    """Draw rewards and answers; after each answer, the best trajectory by the mean of its draws."""
    rng, draws, answers = np.random.default_rng(1), [], []
    for weight, component in belief.components:
        n = round(weight * count)
        rewards, person = component.sample(POINTS, n, rng), component.probit
        seen = rewards[:, question[0]] - rewards[:, question[1]] + person.scale * rng.standard_normal(n)
        choice = np.where(np.abs(seen) < person.margin, 0.0, np.sign(seen))
        at_random = rng.choice([-1.0, 0.0, 1.0] if person.margin else [-1.0, 1.0], n)
        answers.append(np.where(rng.random(n) < person.lapse, at_random, choice))
        draws.append(rewards)
    rewards, answer = np.concatenate(draws), np.concatenate(answers)
    means = [np.mean(answer == y) * rewards[answer == y].mean(axis=0).max() for y in np.unique(answer)]
    return float(np.sum(means) - rewards.mean(axis=0).max())


@pytest.mark.parametrize(("margin", "lapse"), [(0.0, 0.0), (0.4, 0.0), (0.0, 0.2), (0.4, 0.2)])
def test_it_is_the_gain_of_the_best_mean_over_sampled_answers(margin: float, lapse: float) -> None:
    belief, question = mixture(margin, lapse), (2, 5)
    score = scored_by(KnowledgeGradient(), belief, POINTS, np.array([question]))[0]
    assert score == pytest.approx(sampled(belief, question), abs=0.006)
    assert score > 0.02


def test_it_is_the_gain_after_refitting_with_either_answer() -> None:
    """EP of one answer is exact in mean and variance, so that a refitted model is a judge."""
    model = PreferenceGP(RBF(0.5), noise=0.3, learn=False)
    nothing = np.empty((0, 2), dtype=int)
    prior = model.fit(POINTS, nothing).posterior_
    score = scored_by(KnowledgeGradient(), prior, POINTS, np.array([[1, 4]]))[0]
    best = [np.max(model.fit(POINTS, np.array([won])).predict(POINTS)) for won in ((1, 4), (4, 1))]
    assert score == pytest.approx(np.mean(best), abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    noise=st.floats(0.05, 1.0),
    margin=st.sampled_from([0.0, 0.3]),
    lapse=st.sampled_from([0.0, 0.1]),
)
def test_no_answer_is_expected_to_make_the_report_worse(
    seed: int, noise: float, margin: float, lapse: float
) -> None:
    """It is never negative, never more than the answer could bring, and does not depend on the sides."""
    x = np.random.default_rng(seed).standard_normal((8, 2))
    model = PreferenceGP(RBF(0.5), noise=noise, margin=margin, lapse=lapse, learn=False)
    belief = model.fit(x, np.array([[0, 1], [2, 3], [4, 1]])).posterior_
    pairs = np.column_stack(np.triu_indices(len(x), 1))
    scores = scored_by(KnowledgeGradient(), belief, x, pairs)
    assert (scores >= 0.0).all()
    swapped = scored_by(KnowledgeGradient(), belief, x, pairs[:, ::-1])
    np.testing.assert_allclose(swapped, scores, atol=1e-12)
    mean, covariance = belief(x)
    perfect = np.random.default_rng(0).multivariate_normal(mean, covariance, 4000).max(axis=1)
    assert scores.max() <= perfect.mean() - mean.max() + 4.0 * perfect.std() / np.sqrt(4000)


def test_known_rewards_are_told_apart_by_the_answer() -> None:
    """Under equally likely known rewards only the weights change."""
    belief = LinearPreference(noise=0.2, draws=200, seed=1).fit(POINTS, WINS).posterior_
    rewards: Array = np.stack([component.project(POINTS)[0] for _, component in belief.components])
    seen = belief.components[0][1].probit.probabilities(rewards[:, 0] - rewards[:, 4], 0.0)
    after = sum(float(np.max(p @ rewards)) / len(rewards) for p in seen)
    score = scored_by(KnowledgeGradient(), belief, POINTS, np.array([[0, 4]]))[0]
    assert score == pytest.approx(after - rewards.mean(axis=0).max(), abs=1e-12)


def test_of_a_large_pool_the_most_promising_may_be_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("functions.knowledge_gradient.REPORTED", "base.LARGE_POOL", "plausible_best.DRAWN"):
        monkeypatch.setattr(f"prefero.acquisition.{name}", 4)
    for function in ("knowledge-gradient", "best-information", "thompson-duel"):
        question = best_question(mixture(), POINTS, acquisition=function)
        assert question.left != question.right
