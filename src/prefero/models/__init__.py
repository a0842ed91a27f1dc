"""Models: from answers to a posterior over rewards.

`PreferenceGP` is Gaussian process preference learning with Bayesian model averaging, `LinearPreference` the
linear baseline. A fitted model has a `posterior_`, which is a `Distribution`: one Gaussian (`Posterior`), a
mixture of them (`MixturePosterior`) or samples of linear weights (`LinearPosterior`). Where several people
have answered, `people_` is the posterior over all their rewards (`PeoplePosterior`). A posterior has what
predicting needs; a `Fit`, which `infer` returns, has what the next inference starts from.
"""

from prefero.models.inference.evidence import (
    Evidence,
    HyperparameterFit,
    fit_hyperparameters,
    log_evidence,
)
from prefero.models.inference.fit import Fit
from prefero.models.inference.infer import Inference, infer
from prefero.models.inference.solution import ConvergenceError, Solution, WarmStart
from prefero.models.likelihood.probit import Likelihood, Probit
from prefero.models.linear import LinearPosterior, LinearPreference
from prefero.models.people.posterior import AnswerStyle, PeoplePosterior
from prefero.models.posterior.gaussian import Distribution, Gaussian, Posterior
from prefero.models.posterior.mixture import MixturePosterior
from prefero.models.preference_gp import NotFittedError, PreferenceGP, PreferenceModel

__all__ = [
    "AnswerStyle",
    "ConvergenceError",
    "Distribution",
    "Evidence",
    "Fit",
    "Gaussian",
    "HyperparameterFit",
    "Inference",
    "Likelihood",
    "LinearPosterior",
    "LinearPreference",
    "MixturePosterior",
    "NotFittedError",
    "PeoplePosterior",
    "Posterior",
    "PreferenceGP",
    "PreferenceModel",
    "Probit",
    "Solution",
    "WarmStart",
    "fit_hyperparameters",
    "infer",
    "log_evidence",
]
