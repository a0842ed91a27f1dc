"""Methods: each builds a model that can be taught, and those of the paper are exactly the paper's."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from prefero import Learner, Pool, PreferenceGP, worlds
from prefero._support.arrays import Array
from prefero.acquisition.functions.best_information import BestInformation
from prefero.acquisition.functions.mutual_information import Formula, MutualInformation
from prefero.acquisition.functions.predictive_information import PredictiveInformation
from prefero.acquisition.taste import TASTE
from prefero.experiments.figures.base import TUNED
from prefero.experiments.settings import Setting
from prefero.learner import Model
from prefero.methods import METHODS, NAMES, SIGMAS, THETAS, full_name, method_named
from prefero.models.linear import LinearPreference
from prefero.questions import Comparisons

COUNTS = sorted({len(worlds.make(world).features) for world in worlds.BUILT_IN})
FAMILIES = ("ActiveGP", "RandomGP", "CorrectedGP", "ActiveGP+EP")
SETTING = Setting("driver", "quadratic", noise=0.2)


def normal(features: int, count: int = 1000) -> Array:
    return np.random.default_rng(7).standard_normal((count, features))


def gp(name: str, setting: Setting = SETTING, x: Array | None = None) -> PreferenceGP:
    model = method_named(name).model(setting, normal(3) if x is None else x)
    assert isinstance(model, PreferenceGP)
    return model


# --- all of them ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_taught_in_every_world(name: str) -> None:
    method = METHODS[name]
    assert method.name == name
    for features in COUNTS:
        pool = Pool(np.random.default_rng(features).standard_normal((8, features)))
        model = method.model(SETTING, pool.scaled)
        learner = Learner(pool, model=model, acquisition=method.acquisition)
        for choice in ("left", "right"):
            learner.tell(learner.ask(strategy=method.strategy), choice)
        assert np.all(np.isfinite(learner.reward()(pool.features)))


def test_every_method_of_the_paper_is_there_at_every_theta_and_sigma() -> None:
    wanted = {full_name(family, t, s) for family in FAMILIES for t in THETAS for s in SIGMAS}
    assert wanted <= set(METHODS)
    assert len(wanted) == len(FAMILIES) * len(THETAS) * len(SIGMAS)
    prefero = {f"Prefero{what}" for what in ("", ", random", ", best", ", good ones", ", mutual information")}
    assert set(METHODS) == wanted | prefero | {"ActiveLinear", "Oracle", "Oracle, Laplace"}


def test_a_model_is_built_anew_for_every_run() -> None:
    for name in ("Prefero", "ActiveLinear", "Oracle", full_name("ActiveGP", *TUNED)):
        method = method_named(name)
        assert method.model(SETTING, normal(2)) is not method.model(SETTING, normal(2))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_name_without_numbers_has_the_default_theta_and_sigma(family: str) -> None:
    assert method_named(family) == METHODS[full_name(family, 1.0, 0.1)]


def test_theta_and_sigma_may_be_any_positive_numbers() -> None:
    found = method_named("RandomGP 0.25 0.07")
    assert (found.name, found.strategy) == ("RandomGP 0.25 0.07", "random")
    model = gp("RandomGP 0.25 0.07")
    assert (model.noise, "theta=0.25" in repr(model)) == (0.07, True)


@pytest.mark.parametrize("name", ["ActiveGP 0 0.1", "ActiveGP 1 -2", "ActiveGP 1 nan", "ActiveGP one 0.1"])
def test_theta_and_sigma_that_are_not_positive_numbers_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"theta and sigma are positive"):
        method_named(name)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("prefero", "Prefero"),
        ("activegp", "ActiveGP"),
        ("Random GP", "RandomGP"),
        ("ActiveGp+EP 1 0.1", "ActiveGP+EP"),
        ("linear", "ActiveLinear"),
        ("Prefero random", "Prefero, random"),
        ("ActiveGP 1", "ActiveGP"),
        ("", ""),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_and_all(name: str, nearest: str) -> None:
    with pytest.raises(ValueError, match=f"^there is no method '{re.escape(name)}'") as error:
        method_named(name)
    message, listed = str(error.value).split("The methods are: ")
    assert re.findall(r"'([^']+)'", listed) == list(NAMES)
    assert f"did you mean {nearest!r}?" in message or not nearest


def test_every_documented_name_is_a_method() -> None:
    page = (Path(__file__).parent.parent / "docs" / "experiments.md").read_text(encoding="utf-8")
    table = page.split("## The methods")[1].split("##")[0]
    documented = {
        name for row in re.findall(r"^\| (`.*?`) \|", table, re.M) for name in re.findall("`(.*?)`", row)
    }
    assert documented == set(NAMES)
    for name in documented:
        assert method_named(name).name.startswith(name)


# --- the paper's ------------------------------------------------------------------------------------------


def conditioned(theta: float, x: Array, y: Array) -> Array:
    """exp(-theta |x - y|^2), given that the reward is 0 at the origin."""
    apart = np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=2)
    ends = np.exp(-theta * np.sum(x**2, axis=1)), np.exp(-theta * np.sum(y**2, axis=1))
    covariance: Array = np.exp(-theta * apart) - ends[0][:, None] * ends[1][None, :]
    return covariance


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_papers_kernel_is_the_papers(family: str, theta: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    kernel = gp(full_name(family, theta, SIGMAS[0])).kernel
    assert kernel is not None
    np.testing.assert_allclose(kernel(x, y), conditioned(theta, x, y), atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(x), np.diag(conditioned(theta, x, x)), atol=1e-14)
    assert kernel.diagonal(np.zeros((1, 3)))[0] == 0.0


@pytest.mark.parametrize(
    ("family", "inference", "formula", "strategy"),
    [
        ("ActiveGP", "laplace", "paper", "active"),
        ("RandomGP", "laplace", "exact", "random"),
        ("CorrectedGP", "laplace", "exact", "active"),
        ("ActiveGP+EP", "ep", "exact", "active"),
    ],
)
def test_the_papers_methods_differ_as_they_say(
    family: str, inference: str, formula: Formula, strategy: str
) -> None:
    for theta, sigma in ((THETAS[0], SIGMAS[-1]), TUNED):
        method = method_named(full_name(family, theta, sigma))
        model = gp(method.name)
        assert (method.acquisition, method.strategy) == (MutualInformation(formula), strategy)
        assert (model.inference, model.noise, model.learn) == (inference, sigma, False)


def test_active_gp_believes_in_the_mode_of_the_papers_posterior() -> None:
    """The mode over rewards of six trajectories, found by an optimizer from the definition alone."""
    theta, sigma = THETAS[3], SIGMAS[1]
    rng = np.random.default_rng(1)
    x = rng.standard_normal((6, 3))
    pairs = np.array([(0, 1), (2, 3), (4, 5), (0, 2), (3, 1), (4, 0)])
    precision = np.linalg.inv(conditioned(theta, x, x))

    def loss(rewards: Array) -> float:
        z = (rewards[pairs[:, 0]] - rewards[pairs[:, 1]]) / (np.sqrt(2) * sigma)
        return float(0.5 * rewards @ precision @ rewards - norm.logcdf(z).sum())

    mode = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-6}).x
    model = gp(full_name("ActiveGP", theta, sigma)).fit_comparisons(Comparisons.of(x, pairs))
    np.testing.assert_allclose(model.predict(x), mode, rtol=1e-3, atol=1e-4)


def test_what_the_paper_fixed_stays_fixed() -> None:
    theta, sigma = THETAS[1], SIGMAS[-1]
    rng = np.random.default_rng(2)
    items = rng.standard_normal((10, 3))
    pairs = [(i, j) if items[i, 0] > items[j, 0] else (j, i) for i, j in rng.integers(10, size=(15, 2))]
    model = gp(full_name("ActiveGP", theta, sigma)).fit(items, [p for p in pairs if p[0] != p[1]])
    assert model.kernel_ == model.kernel
    assert model.noise_ == sigma


# --- the others -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "strategy", "acquisition"),
    [
        ("Prefero", "active", PredictiveInformation()),
        ("Prefero, mutual information", "active", MutualInformation()),
        ("Prefero, random", "random", MutualInformation()),
        ("Prefero, best", "active", BestInformation()),
        ("Prefero, good ones", "active", PredictiveInformation(taste=TASTE)),
    ],
)
def test_prefero_is_the_default_with_nothing_chosen(name: str, strategy: str, acquisition: object) -> None:
    method = method_named(name)
    assert (method.strategy, method.acquisition) == (strategy, acquisition)
    assert gp(name).get_params() == PreferenceGP().get_params()


def test_the_linear_baseline_knows_the_noise_and_the_margin() -> None:
    model = method_named("ActiveLinear").model(Setting("driver", "linear", noise=0.3, margin=0.2), normal(4))
    assert isinstance(model, LinearPreference)
    assert (model.noise, model.margin) == (0.3, 0.2)


# --- the oracle -----------------------------------------------------------------------------------


def drawn_variances(model: Model, x: Array, draws: int) -> Array:
    """Draws of the reward before any answer: their variances over the pool."""
    prior = model.fit_comparisons(Comparisons.none(x.shape[1])).posterior_
    rewards = prior.sample(x, draws, np.random.default_rng(0))
    variances: Array = rewards.var(axis=1)
    return variances


@pytest.mark.parametrize("truth", ["linear", "quadratic"])
@pytest.mark.parametrize("features", [1, *COUNTS])
def test_a_reward_of_the_oracle_has_variance_1_over_normal_features(truth: str, features: int) -> None:
    x = np.random.default_rng(5).standard_normal((150, features))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    found = drawn_variances(gp("Oracle", Setting("driver", truth), x), x, 3000)
    assert np.mean(found) == pytest.approx(1.0, rel=0.15)


@pytest.mark.parametrize("truth", ["linear", "quadratic"])
@pytest.mark.parametrize("world", ["driver", "tosser"])
def test_a_reward_of_the_oracle_has_variance_1_over_a_pool(world: str, truth: str) -> None:
    """On average, whatever the tails of the features; users' rewards have exactly 1."""
    setting = Setting(world, truth, trajectories=50, test_size=4)
    x = setting.task(0).pool.scaled
    assert np.mean(drawn_variances(gp("Oracle", setting, x), x, 4000)) == pytest.approx(1.0, rel=0.15)


@pytest.mark.parametrize("truth", ["linear", "quadratic"])
@pytest.mark.parametrize(("name", "inference"), [("Oracle", "ep"), ("Oracle, Laplace", "laplace")])
def test_the_oracle_has_the_right_family_and_the_right_noise(name: str, inference: str, truth: str) -> None:
    """Its kernel is that of users' rewards: the mean of products of drawn ones, but for one factor."""
    model = gp(name, Setting("driver", truth, noise=0.3, margin=0.2), normal(2))
    assert (model.noise, model.margin, model.learn, model.inference) == (0.3, 0.2, False, inference)
    x = np.random.default_rng(6).standard_normal((6, 2))
    terms = x if truth == "linear" else np.column_stack([x, x[:, 0] ** 2, x[:, 0] * x[:, 1], x[:, 1] ** 2])
    assert model.kernel is not None
    ratio = model.kernel(x, x) / (terms @ terms.T)
    np.testing.assert_allclose(ratio, ratio[0, 0])


@pytest.mark.parametrize("name", ["Oracle", "Oracle, Laplace"])
@pytest.mark.parametrize("truth", ["targets", "bumpy"])
def test_the_oracle_is_told_no_other_families(name: str, truth: str) -> None:
    with pytest.raises(ValueError, match=f"linear or quadratic, .*{truth}"):
        method_named(name).model(Setting("golf", truth), normal(2))
