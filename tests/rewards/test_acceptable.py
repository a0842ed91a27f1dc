"""What is acceptable: probabilities, counts and the bar against joint samples of rewards and bar."""

import numpy as np
import pytest

from example_rewards import example_rewards, learn_labels, new, pool
from prefero import Learner, Pool, Question, Reward
from prefero._support.arrays import Array
from prefero.models.posterior.bar import probability_mean_acceptable
from prefero.questions.comparisons import bar_features
from prefero.rewards import acceptable

DRAWS = 40_000


def sampled(reward: Reward, x: Array) -> tuple[Array, Array]:
    """Rewards (DRAWS, M) and bars (DRAWS, 1), drawn together from each Gaussian of the mixture."""
    rows = np.concatenate([x, bar_features(x.shape[1])])
    drawn = reward.belief.sample(rows, DRAWS, np.random.default_rng(5))
    return drawn[:, :-1], drawn[:, -1:]


@pytest.fixture(scope="module")
def reward() -> Reward:
    return example_rewards()["labels"]


def test_probabilities_are_those_of_samples(reward: Reward) -> None:
    shown = pool(40, seed=3)
    rewards, bars = sampled(reward, reward.scaling(shown.features))
    found = reward.probability_acceptable(shown)
    np.testing.assert_allclose(found, np.mean(rewards > bars, axis=0), atol=0.02)
    assert found.max() > 0.8
    assert found.min() < 0.2
    np.testing.assert_array_equal(found, reward.probability_acceptable(shown.features))
    table = dict(zip(shown.names, shown.features.T, strict=True))
    np.testing.assert_array_equal(found, reward.probability_acceptable(table))


def test_the_bar_is_that_of_samples(reward: Reward) -> None:
    """The row of infinite features works in the unit of the plots, with the covariance of bar and rewards."""
    shown = pool(40, seed=3)
    rewards, bars = sampled(reward, reward.scaling(shown.features))
    middle = rewards.mean(axis=1, keepdims=True)
    unit = np.sqrt(np.mean((rewards - middle) ** 2))
    above = ((bars - middle) / unit)[:, 0]
    found = reward.bar(shown)
    assert found.mean == pytest.approx(above.mean(), abs=0.03)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(above, [0.05, 0.95])), abs=0.12)
    mean, std = reward._standardizer(shown)(bar_features(2))
    assert (mean[0], std[0]) == pytest.approx((above.mean(), above.std()), abs=0.03)
    assert reward.acceptable_at == pytest.approx(bars.mean(), abs=0.02)


@pytest.mark.parametrize("rows", [40, 700])  # all are drawn, or those that stand for the pool
def test_the_count_is_that_of_samples(reward: Reward, rows: int) -> None:
    shown = pool(rows, seed=3)
    rewards, bars = sampled(reward, reward.scaling(shown.features))
    counts = np.sum(rewards > bars, axis=1)
    found = reward.count_acceptable(shown)
    assert found.mean == pytest.approx(counts.mean(), abs=0.01 * rows)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(counts, [0.05, 0.95])), abs=0.06 * rows)
    assert 0.0 <= found.low < found.mean < found.high <= rows


def test_several_windows_are_acceptable_together(reward: Reward) -> None:
    x = reward.scaling(new(4))
    rewards, bars = sampled(reward, x)
    together = probability_mean_acceptable(reward.belief, x)
    assert together == pytest.approx(np.mean(rewards.mean(axis=1) > bars[:, 0]), abs=0.02)
    alone = probability_mean_acceptable(reward.belief, x[:1])
    assert alone == pytest.approx(reward.probability_acceptable(new(4))[0])


def test_more_labels_find_what_is_acceptable() -> None:
    rng = np.random.default_rng(0)
    learner = Learner(Pool(rng.standard_normal((60, 2)), ["speed", "distance"]))
    liked = learner.pool.scaled @ [1.0, -0.6] - 0.5
    for item in range(30):
        learner.tell(Question(item, kind="success"), "pass" if liked[item] > 0 else "fail")
    reward = learner.reward()
    right = (reward.probability_acceptable(learner.pool) > 0.5) == (liked > 0)
    assert np.mean(right[30:]) > 0.85
    count = reward.count_acceptable(learner.pool)
    assert count.low <= np.sum(liked > 0) <= count.high
    nearest = acceptable.nearest_to_bar(reward.belief, learner.pool.scaled, 6)
    assert np.abs(liked[nearest]).max() < np.median(np.abs(liked))


@pytest.mark.parametrize("name", ["belief", "sum", "linear", "nothing yet"])
def test_a_reward_that_nobody_told_what_is_acceptable_says_how_to(name: str) -> None:
    reward = example_rewards()[name]
    assert not reward.has_bar
    assert reward.acceptable_at is None
    for ask in (reward.probability_acceptable, reward.bar, reward.count_acceptable):
        with pytest.raises(ValueError, match=r'nobody has said what is acceptable.*kind="success".*rate-5'):
            ask(pool())
    assert not any("acceptable" in one.sentence for one in reward.explain(pool()))


def test_it_is_explained_how_many_are_acceptable(reward: Reward) -> None:
    *_, last = reward.explain(pool())
    count = reward.count_acceptable(pool())
    assert last.sentence.startswith(
        f"About {round(count.mean)} of 15 trajectories are acceptable (90% sure: "
    )
    early = learn_labels(answers=2).explain(pool())
    assert not any("acceptable" in one.sentence for one in early)


def test_a_pool_of_other_features_is_refused(reward: Reward) -> None:
    with pytest.raises(ValueError, match="height"):
        reward.probability_acceptable(Pool(new(), ["speed", "height"]))


def test_people_have_bars_of_their_own() -> None:
    rng = np.random.default_rng(0)
    learner = Learner(Pool(rng.standard_normal((60, 2)), ["speed", "distance"]))
    liked, bars = learner.pool.scaled @ [1.0, -0.7], {"anna": 0.8, "ben": -0.8}
    for item in range(30):
        person = "anna" if item % 2 else "ben"
        learner.tell(
            Question(item, kind="success"), "pass" if liked[item] > bars[person] else "fail", person=person
        )
    rewards = {person: learner.reward(person) for person in bars}
    assert rewards["anna"].bar(learner.pool).low > rewards["ben"].bar(learner.pool).high
    for person, reward in rewards.items():
        right = (reward.probability_acceptable(learner.pool) > 0.5) == (liked > bars[person])
        assert np.mean(right) > 0.85
        x = learner.pool.scaled
        above, bar = sampled(reward, x)
        np.testing.assert_allclose(
            reward.probability_acceptable(learner.pool), np.mean(above > bar, axis=0), atol=0.02
        )
