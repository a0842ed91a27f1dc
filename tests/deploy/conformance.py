"""The conformance kit for export targets: what is written predicts what the reward predicts.

`check_target(suffix, load, folder)` exports rewards of every kernel, of mixtures and of the linear model, and
compares. `load` turns the path of an exported file into a function: features (M, d) -> mean (M,), std (M,).
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from prefero import Learner, LinearPreference, Pool, PreferenceGP, Question, Reward
from prefero._support.arrays import Array
from prefero.deploy.export import export_reward
from prefero.kernels import (
    RBF,
    Additive,
    Anchored,
    ItemEffects,
    Kernel,
    Linear,
    Matern,
    Projected,
    Quadratic,
    Selected,
    Standardized,
    Thresholded,
    Warped,
    WithBar,
)
from prefero.models.posterior.gaussian import Posterior
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import PairChoice

Predict = Callable[[Array], Any]

NAMES = ["speed", "distance", "comfort"]
ANCHOR = (0.4, -0.2, 0.1)


def rows(count: int, seed: int, wide: float = 1.0) -> Array:
    drawn = np.random.default_rng(seed).standard_normal((count, 3))
    made: Array = drawn * (wide * np.array([10.0, 0.1, 1.0])) + np.array([5.0, 0.0, 1.0])
    return made


KERNELS: dict[str, Kernel] = {
    "RBF": RBF(theta=0.4),
    "ARD": RBF(theta=(0.1, 0.5, 2.0)),
    "rough Matern": Matern(lengthscale=1.3, nu=1.5),
    "smooth ARD Matern": Matern(lengthscale=(1.0, 2.0, 3.0), nu=2.5),
    "linear": Linear(),
    "quadratic": Quadratic(),
    "scaled": 0.3 * RBF(theta=0.2),
    "sum": 0.3 * Linear() + 2.0 * Quadratic(),
    "subtracted": Anchored(RBF(theta=0.3) + 0.2 * Linear(), ANCHOR),
    "conditioned": Anchored(RBF(theta=1.0), ANCHOR, mode="condition"),
    "selected": Anchored(Selected(RBF(theta=(0.5, 2.0)) + Linear(), (2, 0)), ANCHOR),
    "additive": Anchored(Additive(RBF(0.4)), ANCHOR),
    "warped": Warped(Anchored(Additive(Matern()), ANCHOR), (0.1, 0.2, 0.3), (2.0, 1.0, 0.5)),
    "thresholded": Anchored(
        Thresholded(Linear(), (2, 0, 2), (0.5, -0.3, 1.0), (0.4, 0.2, 1.0)) + 0.5 * Linear(), ANCHOR
    ),
    "item effects": Anchored(Linear() + ItemEffects(tuple(map(tuple, Pool(rows(30, 0)).scaled[:9]))), ANCHOR),
    "projected": Projected(Anchored(RBF(0.4), (0.0, 0.0)), ((1.0, 0.2), (-0.5, 1.0), (0.3, 0.0))),
    "with a bar": WithBar(0.5 * Anchored(RBF(theta=0.6), ANCHOR)),
    "standardized": Standardized(Anchored(Matern(), ANCHOR), (0.1, 0.2, 0.3), (2.0, 1.0, 0.5)),
}
MODELS: dict[str, Any] = {
    "belief": None,
    "linear baseline": LinearPreference(noise=0.2, draws=25),
    **{name: PreferenceGP(kernel, noise=0.1, margin=0.1, learn=False) for name, kernel in KERNELS.items()},
}
REWARDS = [*MODELS, "ties", "labels", "labels of one Gaussian", "mixed", "nothing yet", "nothing at all"]


def assert_close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=0.0, atol=1e-6)


def learn(model: Any, answers: int = 14, ties: bool = False, names: Any = NAMES) -> Reward:
    pool, rng = Pool(rows(30, 0), names), np.random.default_rng(1)
    learner, likes = Learner(pool, model=model), pool.scaled[:, 0] - pool.scaled[:, 1] ** 2
    for number in range(answers):
        left, right = rng.choice(len(pool), 2, replace=False).tolist()
        better: PairChoice = "left" if likes[left] > likes[right] else "right"
        learner.tell(Question(left, right), "equal" if ties and number % 3 == 2 else better)
    return learner.reward()


def learn_labels(model: Any, answers: int = 14) -> Reward:
    """Some pairs, and some labels, which compare a trajectory with the bar."""
    learner = Learner(Pool(rows(30, 0), NAMES), model=model)
    likes = learner.pool.scaled[:, 0] - learner.pool.scaled[:, 1] ** 2
    for item in range(answers):
        if item % 3 == 0:
            learner.tell(Question(item, item + 1), "left" if likes[item] > likes[item + 1] else "right")
        else:
            learner.tell(Question(item, kind="success"), "pass" if likes[item] > -0.7 else "fail")
    return learner.reward()


def mixed(made: dict[str, Reward]) -> Reward:
    """A belief of kernels that differ in everything."""
    weights = {"ARD": 0.4, "linear": 0.3, "sum": 0.2, "subtracted": 0.1}
    parts = [(weight, made[name].belief) for name, weight in weights.items()]
    assert all(isinstance(part, Posterior) for _, part in parts)
    return Reward(MixturePosterior(tuple(parts), {"linear": 1.0}, 0.0))  # type: ignore[arg-type]


@cache
def rewards() -> dict[str, Reward]:
    """One reward for every kernel, and for what else a target must be able to write."""
    made = {name: learn(model) for name, model in MODELS.items()}
    few = {"ties": learn(None, ties=True), "nothing yet": learn(None, 0)}
    few |= {"labels": learn_labels(None), "labels of one Gaussian": learn_labels(MODELS["with a bar"])}
    return {**made, **few, "mixed": mixed(made), "nothing at all": learn(MODELS["sum"], 0)}


def check_target(suffix: str, load: Callable[[Path], Predict], folder: Path) -> None:
    """Check a target with every reward."""
    for name in REWARDS:
        check_reward(name, suffix, load, folder)


def check_reward(name: str, suffix: str, load: Callable[[Path], Predict], folder: Path) -> None:
    """Export one of the rewards, and compare what the file predicts."""
    reward, path = rewards()[name], folder / f"reward{suffix}"
    export_reward(reward, path)
    predict = load(path)
    for count, wide in ((1, 1.0), (200, 1.0), (200, 3.0)):
        x = rows(count, 7, wide)
        mean, std = predict(x)
        assert np.shape(mean) == np.shape(std) == (count,)
        assert_close([mean, std], reward.predict(x, return_std=True))
