"""The quality of episodes: expected ranks under the posterior, checked by closed forms and counting."""

import numpy as np
import pytest
from scipy.stats import norm

from prefero import Learner, Pool, PreferenceGP, Question, Reward
from prefero._support.arrays import Array
from prefero.deploy.scoring import quality
from prefero.deploy.scoring.quality import rate_episodes
from prefero.kernels import RBF, Anchored
from prefero.questions import PairChoice


def better_of(pool: Pool, question: Question) -> PairChoice:
    """A user who likes speed and dislikes jerk."""
    left, right = pool.scaled[[question.left, question.right]] @ [1.0, -0.5]
    return "left" if left > right else "right"


@pytest.fixture(scope="module")
def pool() -> Pool:
    return Pool(np.random.default_rng(0).normal(size=(30, 2)), ["speed", "jerk"])


@pytest.fixture(scope="module")
def reward(pool: Pool) -> Reward:
    learner = Learner(pool)
    for left, right in [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11)]:
        question = Question(left, right)
        learner.tell(question, better_of(pool, question))
    return learner.reward()


def probability_of_being_better(reward: Reward, x: Array) -> Array:
    """P(f(i) > f(j)) for all pairs, in closed form: a mixture of Gaussian differences."""
    total = np.zeros((len(x), len(x)))
    for weight, part in reward.belief.components:
        mean, learned_part = part.project(x)
        covariance = part.kernel(x, x) - learned_part @ learned_part.T
        variance = np.diag(covariance)[:, None] + np.diag(covariance)[None] - 2 * covariance
        std = np.sqrt(np.maximum(variance, 1e-12))
        total += weight * norm.cdf((mean[:, None] - mean[None]) / std)
    return total


def test_quality_is_the_mean_probability_of_being_better_than_another(pool: Pool, reward: Reward) -> None:
    better = probability_of_being_better(reward, pool.scaled)
    np.fill_diagonal(better, 0.0)
    rated = rate_episodes(reward, pool.features, 5, prior=False)
    np.testing.assert_allclose(rated.quality, better.sum(axis=1) / (len(pool) - 1), atol=0.03)


def test_probabilities_of_being_among_the_worst_add_up_to_their_number(pool: Pool, reward: Reward) -> None:
    rated = rate_episodes(reward, pool.features, 5)
    assert rated.among_worst.sum() == pytest.approx(5.0)
    assert ((rated.among_worst >= 0) & (rated.among_worst <= 1)).all()
    assert set(rated.order) == set(range(30))
    mean, std = reward.predict(pool.features, return_std=True)
    np.testing.assert_allclose(rated.mean, mean)
    np.testing.assert_allclose(rated.std, std)


def test_one_of_two_is_among_the_worst_one_as_probably_as_the_other_is_better(
    pool: Pool, reward: Reward
) -> None:
    two = pool.features[[3, 7]]
    better = probability_of_being_better(reward, pool.scaled[[3, 7]])
    rated = rate_episodes(reward, two, 1)
    np.testing.assert_allclose(rated.among_worst, [better[1, 0], better[0, 1]], atol=0.04)
    np.testing.assert_allclose(rated.quality, [better[0, 1], better[1, 0]], atol=0.04)


def test_a_large_dataset_is_compared_with_a_part_of_itself(
    pool: Pool, reward: Reward, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = rate_episodes(reward, pool.features, 6)
    monkeypatch.setattr(quality, "MOST_JOINT", 28)
    monkeypatch.setattr(quality, "REFERENCE", 20)
    parts = rate_episodes(reward, pool.features, 6)
    assert np.abs(parts.quality - whole.quality).mean() < 0.05
    assert np.corrcoef(parts.among_worst, whole.among_worst)[0, 1] > 0.95


def test_a_single_episode_has_no_quality(pool: Pool, reward: Reward) -> None:
    with pytest.raises(ValueError, match="two or more, not 1"):
        rate_episodes(reward, pool.features[:1])


def test_planted_bad_episodes_are_found_after_fifteen_answers() -> None:
    rng = np.random.default_rng(1)
    good, bad = rng.normal(size=(24, 2)) * 0.4, rng.normal(size=(8, 2)) * 0.4 + [-1.5, 1.5]
    mixed = Pool(np.concatenate([good, bad]), ["speed", "jerk"])
    learner = Learner(mixed, model=PreferenceGP(Anchored(RBF(0.3), (0.0, 0.0)), noise=0.1, learn=False))
    for _ in range(15):
        question = learner.ask()
        learner.tell(question, better_of(mixed, question))
    rated = rate_episodes(learner.reward(), mixed.features, 8)
    assert set(rated.order[:8].tolist()) == set(range(24, 32))
