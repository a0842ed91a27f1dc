"""The methods that are compared, by name: each is a model with an acquisition function.

ActiveGP, RandomGP     the paper's: an RBF kernel with a fixed theta and sigma, conditioned to be 0 at the
                       anchor, Laplace's approximation, the mutual information as printed
CorrectedGP            ActiveGP with the exact mutual information
ActiveGP+EP            CorrectedGP with expectation propagation
ActiveLinear           the paper's linear baseline
Prefero, ...           the default: Bayesian model averaging over structures, nothing to choose
Oracle                 a model that is told the reward's family, its prior and the noise: what can be reached

The first four have theta 1 and sigma 0.1, the values that are best for golf, unless two numbers follow the
name: "ActiveGP 0.3 0.1".
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from prefero._support.arrays import Array
from prefero._support.names import did_you_mean
from prefero.acquisition.base import AnyAcquisitionFunction, Strategy, acquisition_for, check_answers
from prefero.acquisition.functions.mutual_information import MutualInformation
from prefero.acquisition.functions.predictive_information import PredictiveInformation
from prefero.acquisition.taste import TASTE
from prefero.kernels import RBF, Anchored, Kernel, Linear, Quadratic
from prefero.learner import Model
from prefero.models.inference.infer import Inference
from prefero.models.linear import LinearPreference
from prefero.models.preference_gp import PreferenceGP

THETAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
SIGMAS = (0.03, 0.1, 0.3, 1.0)
DEFAULT_THETA, DEFAULT_SIGMA = 1.0, 0.1
MUTUAL_INFORMATION = MutualInformation()
LINEAR_DRAWS = 25  # of the linear baseline's weights; each costs as much as a Gaussian process


class GroundTruth(Protocol):
    """What is known about a simulated user. Only the oracle and the linear baseline look at it."""

    @property
    def truth(self) -> str:
        """The family of the reward: "linear", "quadratic", "bumpy" or "targets"."""

    @property
    def noise(self) -> float:
        """Of the answers."""

    @property
    def margin(self) -> float:
        """Below which differences are called "about equal"."""

    @property
    def lapse_rate(self) -> float:
        """The probability of an answer at random."""


@dataclass(frozen=True)
class RealPerson:
    """A ground truth for real people: nothing is known, and noise, margin and lapse rate are assumed."""

    truth: str = "unknown"
    noise: float = 0.1
    margin: float = 0.0
    lapse_rate: float = 0.0


Builder = Callable[[GroundTruth, Array], Model]  # of the ground truth and the pool's scaled features


@dataclass(frozen=True)
class Method:
    """How questions are chosen, and what learns from the answers.

    Args:
        name: Its name.
        model: Makes the model; None is the default.
        strategy: "active" or "random".
        acquisition: The acquisition function.
    """

    name: str
    model: Builder
    strategy: Strategy = "active"
    acquisition: AnyAcquisitionFunction = MUTUAL_INFORMATION

    @property
    def asks_with_ties(self) -> bool:
        """Whether its questions take "about equal" into account: other formulas know only two answers."""
        try:
            check_answers(self.acquisition, "pair", margin=True)
        except ValueError:
            return self.strategy == "random"
        return True


def full_name(method: str, theta: float, sigma: float) -> str:
    """The name of a method with fixed hyper-parameters."""
    return f"{method} {theta:g} {sigma:g}"


def _fixed(theta: float, sigma: float, inference: Inference) -> Builder:
    def build(_: GroundTruth, x: Array) -> Model:
        kernel = Anchored(RBF(theta), (0.0,) * x.shape[1], mode="condition")
        return PreferenceGP(kernel, noise=sigma, learn=False, inference=inference)

    return build


def _fixed_methods(theta: float, sigma: float) -> list[Method]:
    laplace, ep = _fixed(theta, sigma, "laplace"), _fixed(theta, sigma, "ep")
    printed = MutualInformation("paper")
    return [
        Method(full_name("ActiveGP", theta, sigma), laplace, acquisition=printed),
        Method(full_name("RandomGP", theta, sigma), laplace, "random"),
        Method(full_name("CorrectedGP", theta, sigma), laplace),
        Method(full_name("ActiveGP+EP", theta, sigma), ep),
    ]


def _linear(known: GroundTruth, _: Array) -> Model:
    return LinearPreference(noise=known.noise, margin=known.margin, draws=LINEAR_DRAWS)


def _oracle(inference: Inference) -> Builder:
    """The right kernel, scaled to rewards of variance 1 over the pool, and the right likelihood."""

    def build(known: GroundTruth, x: Array) -> Model:
        families: dict[str, Kernel] = {"linear": Linear(), "quadratic": Linear() + Quadratic()}
        if known.truth not in families:
            raise ValueError(
                f"the oracle is told the reward's family, linear or quadratic, but this is {known.truth}"
            )
        kernel = families[known.truth]
        variance = float(np.mean(kernel.diagonal(x)) - np.mean(kernel(x, x)))
        return PreferenceGP(
            (1 / variance) * kernel,
            known.noise,
            known.margin,
            learn=False,
            inference=inference,
            lapse=known.lapse_rate,
        )

    return build


def _prefero(_: GroundTruth, __: Array) -> Model:
    return PreferenceGP()


METHODS: dict[str, Method] = {
    method.name: method
    for method in [
        Method("Prefero", _prefero, acquisition=acquisition_for("learn")),
        Method("Prefero, random", _prefero, "random"),
        Method("Prefero, best", _prefero, acquisition=acquisition_for("best")),
        Method("Prefero, good ones", _prefero, acquisition=PredictiveInformation(taste=TASTE)),
        Method("Prefero, mutual information", _prefero),
        Method("ActiveLinear", _linear),
        Method("Oracle", _oracle("ep")),
        Method("Oracle, Laplace", _oracle("laplace")),
        *(m for theta in THETAS for sigma in SIGMAS for m in _fixed_methods(theta, sigma)),
    ]
}


FIXED = tuple(method.name.split()[0] for method in _fixed_methods(DEFAULT_THETA, DEFAULT_SIGMA))
NAMES = (*FIXED, *(name for name in METHODS if name.split()[0] not in FIXED))  # as documented


def method_named(name: str, among: Sequence[str] = NAMES) -> Method:
    """The method of a name.

    Args:
        name: A documented name, such as "Prefero" or "ActiveGP"; theta and sigma may follow those that have
            them, as in "ActiveGP 0.3 0.1".
        among: The names that the error for an unknown one lists.

    Returns:
        The method.

    Raises:
        ValueError: There is no such method; the message has the nearest name, and all names.
    """
    if name in METHODS:
        return METHODS[name]
    family, *numbers = name.split() or [""]
    if family in FIXED and len(numbers) in (0, 2):
        theta, sigma = map(_positive, numbers) if numbers else (DEFAULT_THETA, DEFAULT_SIGMA)
        wanted = full_name(family, theta, sigma)
        return METHODS.get(wanted) or {m.name: m for m in _fixed_methods(theta, sigma)}[wanted]
    guess, names = did_you_mean(name, among) or ".", ", ".join(map(repr, among))
    raise ValueError(f"there is no method {name!r}{guess} The methods are: {names}")


def _positive(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not (number > 0 and math.isfinite(number)):
        raise ValueError(
            f"theta and sigma are positive numbers, as in 'ActiveGP {DEFAULT_THETA:g} {DEFAULT_SIGMA:g}', "
            f"but one of them is {word!r}"
        )
    return number
