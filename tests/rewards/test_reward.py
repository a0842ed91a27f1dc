"""The learned reward: predictions, ranking, descriptions and errors."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from example_rewards import every_reward, example_rewards, new, pool
from prefero import Learner, Pool, PreferenceGP, Question, Reward
from prefero.acquisition.projection import preference_probabilities
from prefero.deploy.scoring.quality import rate_episodes
from prefero.kernels import Linear
from prefero.models.inference.infer import infer
from prefero.models.inference.leave_one_out import leave_one_out
from prefero.models.likelihood.probit import Probit
from prefero.models.posterior.best import probability_of_best
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import Comparisons
from prefero.trajectories.feature_spec import FeatureSpec
from prefero.trajectories.features import Scaling
from taught_learners import taught


@pytest.fixture
def rewards() -> dict[str, Reward]:
    return example_rewards()


@every_reward
def test_calls_and_predictions_agree(rewards: dict[str, Reward], name: str) -> None:
    reward, x = rewards[name], new()
    mean, covariance = reward.predict(x, return_cov=True)
    alone, deviation = reward.predict(x, return_std=True)
    for other in (reward(x), reward.predict(x), alone):
        np.testing.assert_allclose(other, mean, atol=1e-12)
    np.testing.assert_allclose(deviation**2, covariance.diagonal(), atol=1e-9)


def test_it_speaks_of_raw_features(rewards: dict[str, Reward]) -> None:
    reward, shown = rewards["belief"], pool()
    np.testing.assert_allclose(reward(shown.features), reward.belief.marginals(shown.scaled)[0])
    assert np.corrcoef(reward(shown.features), shown.features[:, 0])[0, 1] > 0.8


@every_reward
def test_the_best_is_the_first_of_the_ranking(rewards: dict[str, Reward], name: str) -> None:
    reward, shown = rewards[name], pool(20, seed=8)
    ranking, best = reward.rank(shown), reward.best(shown)
    mean = reward(shown.features)
    above, deviation = reward.standardized(shown.features, shown)
    assert sorted(ranking.tolist()) == list(range(20))
    assert np.all(np.diff(mean[ranking]) <= 0.0)
    assert best.index == ranking[0]
    assert (best.mean, best.std) == pytest.approx((above[best.index], deviation[best.index]))


@every_reward
def test_standardized_rewards_are_those_of_samples(rewards: dict[str, Reward], name: str) -> None:
    reward, shown = rewards[name], pool(20, seed=8)
    drawn = reward.belief.sample(reward.scaling(shown.features), 8000, np.random.default_rng(0))
    above = drawn - drawn.mean(axis=1, keepdims=True)
    unit = np.sqrt(np.mean(above**2))
    mean, std = reward.standardized(shown.features, shown)
    np.testing.assert_allclose(mean, above.mean(axis=0) / unit, atol=0.07)
    np.testing.assert_allclose(std, above.std(axis=0) / unit, atol=0.07)


def test_the_best_ones_are_different_and_among_the_best(rewards: dict[str, Reward]) -> None:
    reward, shown = rewards["belief"], pool(60, seed=8)
    chosen, ranking = reward.diverse_best(shown, 5), reward.rank(shown).tolist()
    assert chosen[0] == ranking[0]
    places = [ranking.index(index) for index in chosen.tolist()]
    assert places == sorted(places)
    assert places[-1] < 10


def test_it_explains_itself_over_a_pool(rewards: dict[str, Reward]) -> None:
    reward, shown = rewards["belief"], pool()
    assert any(shown.names[0] in statement.sentence.lower() for statement in reward.explain(shown))
    early = Learner(shown).reward().explain(shown, whose="the user's")
    assert [one.sentence for one in early] == ["It is too early to say what the user's reward looks like."]


def test_probabilities_are_those_of_the_belief(rewards: dict[str, Reward]) -> None:
    reward, x = rewards["belief"], new(8)
    scaled = reward.scaling(x)
    expected = reward.belief.probability(scaled[:4], scaled[4:])
    np.testing.assert_array_equal(reward.predict_proba(x[:4], x[4:]), expected)


def test_it_describes_itself(rewards: dict[str, Reward]) -> None:
    assert rewards["belief"].describe() == rewards["belief"].diagnostics["looks"]
    assert "the reward" in rewards["belief"].describe()
    assert rewards["linear"].describe() == "the reward was learned by LinearPreference(noise=0.2, draws=25)"


@every_reward
def test_its_representation_fits_on_a_screen(rewards: dict[str, Reward], name: str) -> None:
    assert repr(rewards[name]).startswith("Reward(of speed, distance: the reward")
    assert len(repr(rewards[name])) < 400


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda r: r(np.zeros((2, 3))), r"wanted 2 features \(speed, distance\), .*3"),
        (lambda r: r([[np.nan, 1.0]]), "features must be finite"),
        (lambda r: r([1.0, 2.0]), "features must have shape"),
        (lambda r: r.predict(new(), True, True), "not for both"),
        (
            lambda r: r.best(Pool(new(), ["speed", "height"])),
            "speed, distance, .*speed, height",
        ),
        (lambda r: r.rank(Pool(new())), "speed, distance, .*feature 0"),
    ],
)
def test_other_features_are_refused(rewards: dict[str, Reward], use: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        use(rewards["sum"])


def test_rewards_are_compared_row_by_row_only() -> None:
    features = np.random.default_rng(0).normal(size=(20, 2))
    reward = Learner(Pool(features)).reward()
    with pytest.raises(ValueError, match=r"row by row, .*\(4, 2\) and \(1, 2\)"):
        reward.predict_proba(features[:4], features[:1])


# --- frames -----------------------------------------------------------------------------------------------


def test_the_columns_of_a_frame_are_found_by_name(rewards: dict[str, Reward]) -> None:
    reward, x = rewards["belief"], new()
    names = list(reward.scaling.names)
    frame = pd.DataFrame(x, columns=names)[names[::-1]].assign(operator="anna", extra=7.0)
    np.testing.assert_array_equal(reward(frame), reward(x))
    np.testing.assert_array_equal(reward({name: frame[name] for name in names}), reward(x))
    np.testing.assert_array_equal(
        reward.predict_proba(frame[:2], frame[1:3]), reward.predict_proba(x[:2], x[1:3])
    )


def test_a_frame_that_lacks_a_feature_or_has_another_transformation_is_refused() -> None:
    pool = Pool(np.random.default_rng(0).normal(size=(6, 2)), ["speed", "log(energy)"])
    reward, frame = Learner(pool).reward(), pd.DataFrame(pool.features, columns=pool.names)
    with pytest.raises(ValueError, match=r"lacks 'speed': .*sped, log\(energy\); did you mean 'sped'"):
        reward(frame.rename(columns={"speed": "sped"}))
    with pytest.raises(ValueError, match=r"lacks 'log\(energy\)': .*'energy' itself"):
        reward(frame.rename(columns={"log(energy)": "energy"}))
    with pytest.raises(ValueError, match=r"lacks 'speed': .*'log\(speed\)'"):
        reward(frame.rename(columns={"speed": "log(speed)"}))


def test_a_table_with_two_columns_of_one_name_is_refused() -> None:
    reward = Learner(Pool(np.random.default_rng(0).normal(size=(6, 2)), ["speed", "height"])).reward()
    values, names = np.ones((6, 3)), ["speed", "height", "speed"]
    for table in (pd.DataFrame(values, columns=names), pa.table(list(values.T), names)):
        for use in (reward, Pool.from_table):
            with pytest.raises(ValueError, match="more than one column 'speed'"):
                use(table)


def test_names_that_people_guess_are_hinted_at(rewards: dict[str, Reward]) -> None:
    guesses = {
        "score": r"use reward\(features\)",
        "std": "return_std=True",
        "predct": "did you mean 'predict'",
    }
    for name, hint in guesses.items():
        with pytest.raises(AttributeError, match=f"Reward has no attribute '{name}'.*{hint}"):
            getattr(rewards["belief"], name)


def test_what_is_no_pool_is_refused_with_what_to_pass() -> None:
    reward = taught(2).reward()
    over = partial(reward.standardized, [[0.0, 0.0]])
    uses: list[Any] = [reward.best, reward.rank, reward.diverse_best, reward.explain, reward.plot, over]
    for use in uses:
        with pytest.raises(TypeError, match=r"prefero.Pool, .*str"):
            use("golf")


def test_representations_of_many_features_are_short() -> None:
    names = [f"feature number {number}" for number in range(430)]
    pool = Pool(np.random.default_rng(0).standard_normal((4, 430)), names)
    learner = Learner(pool, model=PreferenceGP(noise=0.1, learn=False))
    learner.tell(Question(0, 1), "left")
    reward = learner.reward()
    spec = FeatureSpec(words=tuple(names))
    component = reward.belief.components[0][1]
    for shown in (reward, pool, pool.scaling, spec, learner, reward.belief, component):
        assert len(repr(shown)) < 400
    assert "feature number 5, and 424 more" in repr(reward)


def test_probabilities_are_at_most_1() -> None:
    """Weights of a mixture add up to 1 but for rounding."""
    many = np.repeat(np.eye(2), 400, axis=0)
    data = Comparisons(many, -many, np.zeros(800, dtype=bool), Scaling.of(np.eye(2)))
    fit = infer(Linear(), data, Probit(2.0))
    weights = [0.1, 0.1, 0.1, 0.7 + 4e-16]
    belief = MixturePosterior(tuple((weight, fit.posterior) for weight in weights), {"linear": 1.0}, 0.0)
    assert sum(weights) > 1
    x = np.array([[50.0, 50.0], [-50.0, -50.0]])
    assert belief.probability(x[:1], x[1:]).tolist() == [1.0]
    assert probability_of_best(belief, x).max() <= 1.0
    assert preference_probabilities(belief, x).max() == 1.0
    assert leave_one_out(belief, data, [fit.solution.sites] * 4).max() <= 1.0
    assert rate_episodes(Reward(belief), x).quality.max() <= 1.0
