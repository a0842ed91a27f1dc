"""Models: from answers to a posterior over rewards.

`PreferenceGP` is Gaussian process preference learning with Bayesian model averaging, `LinearPreference` the
linear baseline. A fitted model has a `posterior_`, which is a `Distribution`: one Gaussian (`Posterior`), a
mixture of them (`MixturePosterior`) or samples of linear weights (`LinearPosterior`). Where several people
have answered, `people_` is the posterior over all their rewards (`PeoplePosterior`).
"""

from prefero.models.inference import Inference, infer
from prefero.models.likelihood import Likelihood, Probit
from prefero.models.linear import LinearPosterior, LinearPreference
from prefero.models.marginal_likelihood import (
    Evidence,
    HyperparameterFit,
    fit_hyperparameters,
    log_evidence,
)
from prefero.models.mixture import MixturePosterior
from prefero.models.people import AnswerStyle, PeoplePosterior, PersonPosterior
from prefero.models.posterior import Distribution, Gaussian, Posterior
from prefero.models.preference_gp import NotFittedError, PreferenceGP, PreferenceModel
from prefero.models.solution import ConvergenceError, Solution, WarmStart

__all__ = [
    "AnswerStyle",
    "ConvergenceError",
    "Distribution",
    "Evidence",
    "Gaussian",
    "HyperparameterFit",
    "Inference",
    "Likelihood",
    "LinearPosterior",
    "LinearPreference",
    "MixturePosterior",
    "NotFittedError",
    "PeoplePosterior",
    "PersonPosterior",
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
