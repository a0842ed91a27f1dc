"""PreferenceGP: Gaussian process preference learning as a scikit-learn estimator.

The default (`kernel=None`) is Bayesian model averaging over structures (`prefero.models.averaging.fitter`),
which
needs no choice of kernel, length-scale or noise. With a kernel, it is one Gaussian process, whose
hyper-parameters are learned by maximum marginal likelihood, or fixed with `learn=False`.
"""

import inspect
from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array
from prefero.kernels import Kernel, WithBar
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.learned_margins import TYPICAL_BEYOND
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.score_share import ScoreShare
from prefero.models.averaging.structures import TYPICAL_NOISE, ModelSettings
from prefero.models.inference.evidence import fit_hyperparameters
from prefero.models.inference.infer import Inference, check_inference, infer
from prefero.models.inference.leave_one_out import leave_one_out
from prefero.models.likelihood.probit import Probit
from prefero.models.people.candidates import given_kernel
from prefero.models.people.fitter import PeopleFitter
from prefero.models.people.posterior import posterior_of
from prefero.models.posterior.gaussian import Distribution, predict
from prefero.questions import Answer
from prefero.questions.comparisons import Comparisons, comparisons_of
from prefero.trajectories.features import check_same_shape, feature_matrix


class NotFittedError(ValueError, AttributeError):
    """A model was used before it was fitted."""


class Estimator:
    """Scikit-learn's conventions: parameters are the constructor's, and fitted attributes end in `_`."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return {n: p.default for n, p in inspect.signature(cls).parameters.items()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """The constructor's parameters."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Change constructor's parameters; the next `fit` uses them."""
        for name, value in params.items():
            if name not in self._defaults():
                known = ", ".join(self._defaults())
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}: it has {known}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = {n: v for n, v in self.get_params().items() if v != self._defaults()[n]}
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in changed.items())})"

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_"):
            raise NotFittedError(
                f"this {type(self).__name__} has no {name!r} yet: call fit(items, pairs) first"
            )
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")


class PreferenceModel(Estimator):
    """What every fitted model of a reward can do; `posterior_` is its posterior over rewards."""

    n_features_in_: int
    posterior_: Distribution

    def predict(
        self, x: npt.ArrayLike, return_std: bool = False, return_cov: bool = False
    ) -> Array | tuple[Array, Array]:
        """The expected reward of rows of features.

        Args:
            x: Features, (M, d).
            return_std: Also return the standard deviation, (M,).
            return_cov: Also return the covariance, (M, M).

        Returns:
            The mean (M,), or a pair of the mean and what was asked for.

        Raises:
            NotFittedError: Before `fit`.
        """
        return predict(self.posterior_, self._features(x), return_std, return_cov)

    def predict_proba(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
        """P(a preferred to b), row by row.

        Args:
            a: Features, (M, d).
            b: Features of the others, (M, d).

        Returns:
            The probabilities, (M,).
        """
        first, second = self._features(a), self._features(b)
        check_same_shape(first, second)
        return self.posterior_.probability(first, second)

    def sample(self, x: npt.ArrayLike, count: int = 1, seed: int = 0) -> Array:
        """Joint samples of the reward at rows of features.

        Args:
            x: Features, (M, d).
            count: How many samples.
            seed: Of the samples.

        Returns:
            The samples, (count, M).
        """
        return self.posterior_.sample(self._features(x), count, np.random.default_rng(seed))

    def _features(self, x: npt.ArrayLike) -> Array:
        wanted, matrix = self.n_features_in_, feature_matrix(x)
        if matrix.shape[1] != wanted:
            raise ValueError(f"the model was fitted to {wanted} features, but these have {matrix.shape[1]}")
        return matrix


class PreferenceGP(PreferenceModel):
    """Learns a reward from pairwise comparisons.

    Args:
        kernel: The prior covariance of the reward, of the features as they are given. None means Bayesian
            model averaging over structures, which standardizes the features itself.
        noise: The paper's sigma: P(a preferred to b) = Phi((f(a) - f(b)) / (sqrt(2) noise)), for rewards with
            a prior standard deviation of about 1. None means that it is learned.
        margin: Differences that look smaller than this are answered "about equal". None means 0 without ties,
            and learned where there are some.
        learn: With a kernel: whether its hyper-parameters, and a noise of None, are learned. Without one:
            whether the ARD and sparse structures take part. A margin of None is learned from ties in any
            case.
        inference: "ep" (expectation propagation) or "laplace" (the paper's).
        lapse: The lapse rate: the probability that an answer is at random. None means 0 with a kernel or a
            noise; model averaging averages over lapse rates as over the noise.
        strong_margin: Differences that look larger than this are answered "much better", where the strength
            of a preference is asked. None means that it is learned where it was.

    Attributes:
        posterior_: The posterior over rewards; call it with features for a mean and a covariance.
        log_evidence_: The log marginal likelihood of the answers.
        noise_: The learned noise.
        margin_: The learned margin.
        lapse_: The lapse rate.
        strong_margin_: The learned strong margin.
        kernel_: With a kernel: the same with learned hyper-parameters.
        structures_: Without one: the posterior probability of each structure.
        people_: Where several people answered: the posterior over all their rewards; `posterior_` is then
            that over the reward that they share.
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        noise: float | None = None,
        margin: float | None = None,
        learn: bool = True,
        inference: Inference = "ep",
        lapse: float | None = None,
        strong_margin: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.noise = noise
        self.margin = margin
        self.learn = learn
        self.inference = inference
        self.lapse = lapse
        self.strong_margin = strong_margin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """An independent model: what was learned is replaced by the next fit, and never changed."""
        other = copy(self)
        for name in ("_fitter", "_people_fitter"):
            if name in self.__dict__:
                setattr(other, name, deepcopy(getattr(self, name), memo))
        return other

    def fit(
        self,
        items: npt.ArrayLike,
        pairs: npt.ArrayLike = (),
        ties: npt.ArrayLike | None = None,
        *,
        people: Sequence[object] | npt.NDArray[Any] | None = None,
        answers: Sequence[Answer] = (),
    ) -> Self:
        """Learn from answers about rows of features.

        Args:
            items: The features, (M, d).
            pairs: For each answer the index of the winner, then of the loser, (N, 2).
            ties: Pairs that were answered "about equal", (T, 2).
            people: Who gave each answer, those of `pairs` and then those of `ties`: names or numbers. Several
                people are learned together: what they share, and what is each one's own.
            answers: Further answers of any kind, such as `Answer.best_of([0, 3, 5], best=3)`.

        Returns:
            The model itself.

        Raises:
            ConvergenceError: If the inference does not converge.
        """
        matrix = feature_matrix(items)
        return self.fit_comparisons(comparisons_of(matrix, pairs, ties, people, answers), matrix)

    @property
    def learns_from_all_kinds(self) -> bool:
        """Whether it can learn from answers other than plain pairs."""
        return self.inference == "ep"

    @property
    def learns_from_people(self) -> bool:
        """Whether it can learn what several people share, and what is each one's own."""
        return self.inference == "ep"

    @property
    def has_lapses(self) -> bool:
        """Whether some answers may be at random."""
        averaged = self.kernel is None and self.noise is None
        return averaged if self.lapse is None else self.lapse > 0

    def fit_comparisons(self, data: Comparisons, reference: Array | None = None) -> Self:
        """Learn from comparisons of features; refitting is quick when they continue the last ones.

        Args:
            data: The comparisons.
            reference: Features of the trajectories that the reward is for, (M, d): model averaging
                standardizes features and scales its priors by them. Without it, the features of the
                comparisons are taken to be standardized and normal.

        Returns:
            The model itself.
        """
        self._check()
        self.n_features_in_ = data.winners.shape[1]
        self.__dict__.pop("people_", None)
        if data.has_people:
            self._fit_people(data, reference)
        elif self.kernel is None:
            self._fit_mixture(data, reference)
        else:
            self._fit_kernel(self.kernel, data)
        self.log_evidence_ = self.posterior_.log_evidence
        probit = self.posterior_.probit
        self.noise_, self.margin_, self.lapse_ = probit.noise, probit.margin, probit.lapse
        self.strong_margin_ = probit.strong_margin
        return self

    def leave_one_out(self, data: Comparisons) -> Array:
        """The probability of each answer given all others.

        Args:
            data: The comparisons that it was fitted to last.

        Returns:
            The probabilities, (answers,).
        """
        if "people_" in self.__dict__:
            return self.people_.leave_one_out(data)
        return leave_one_out(self.posterior_, data, self._sites)

    def _check(self) -> None:
        if self.kernel is not None and not isinstance(self.kernel, Kernel):
            raise ValueError(f"kernel must be a prefero.kernels.Kernel or None, but is {self.kernel!r}")
        noise = TYPICAL_NOISE if self.noise is None else self.noise
        Probit(noise, self.margin or 0.0, self.lapse or 0.0, self.strong_margin or 0.0)
        check_inference(self.inference)

    def _fit_mixture(self, data: Comparisons, reference: Array | None) -> None:
        settings = (self.noise, self.margin, self.inference, self.learn, self.lapse, self.strong_margin)
        last: tuple[object, Array | None] = self.__dict__.get("_fitted_with", (None, None))
        if last[0] != (self.n_features_in_, settings) or not _same(last[1], reference):
            self._fitter = MixtureFitter(self._reference(data, reference), *settings)
            self._fitted_with = (self.n_features_in_, settings), reference
        posterior = self._fitter.fit(data)
        self.posterior_, self.structures_ = posterior, posterior.structures
        self._sites = self._fitter.sites

    def _fit_people(self, data: Comparisons, reference: Array | None) -> None:
        """What people share is `posterior_`; a given kernel is taken as it is."""
        if self.inference != "ep":
            raise ValueError("several people are learned together by expectation propagation: inference='ep'")
        given = self.noise, self.margin, self.inference, self.lapse, self.strong_margin
        needed = data.has_bar, data.scores
        settings = ModelSettings(self._reference(data, reference), *given, *needed)
        if data.scores:
            of_scores = self.__dict__.setdefault("_score_share", ScoreShare())
            share = of_scores.of(settings, replace(data, people=None))  # as one person would have said it
            settings = replace(settings, score_share=share)
        last = self.__dict__.get("_people_fitter")
        key = self.kernel, *given, *needed, settings.score_share
        if last is None or last[0] != key or not _same(last[1], reference):
            kernels = [] if self.kernel is None else [given_kernel(settings, self.kernel)]
            last = self._people_fitter = key, reference, PeopleFitter(settings, kernels)
        self.people_ = posterior_of(last[2], data)
        self.posterior_, self.structures_ = self.people_.group, self.people_.structures

    def _reference(self, data: Comparisons, reference: Array | None) -> Reference:
        if reference is None:
            return Reference.normal(self.n_features_in_)
        return Reference.of(reference, data.scaling)

    def _fit_kernel(self, kernel: Kernel, data: Comparisons) -> None:
        noise = TYPICAL_NOISE if self.noise is None else self.noise
        learn_margin = self.margin is None and data.has_ties
        margin = (noise if learn_margin else 0.0) if self.margin is None else self.margin
        learn_strong = self.strong_margin is None and data.has_strengths
        strong = margin + TYPICAL_BEYOND if learn_strong else self.strong_margin or 0.0
        probit = Probit(noise, margin, self.lapse or 0.0, strong)
        kernel = WithBar(kernel) if data.has_bar else kernel
        if self.learn or learn_margin or learn_strong or data.has_ratings:
            learned = fit_hyperparameters(
                kernel,
                data,
                probit,
                self.inference,
                learn_kernel=self.learn,
                learn_noise=self.learn and self.noise is None,
                learn_margin=learn_margin,
                learn_strong_margin=learn_strong,
                learn_cut_points=data.rated_levels,
                restarts=1 if self.learn else 0,
            )
            kernel, probit = learned.kernel, learned.probit
        self.kernel_ = kernel
        fit = infer(kernel, data, probit, self.inference)
        self.posterior_, self._sites = fit.posterior, [fit.solution.sites]


def _same(one: Array | None, other: Array | None) -> bool:
    """Whether two references are equal; usually they are the same object."""
    return one is other or (one is not None and other is not None and np.array_equal(one, other))
