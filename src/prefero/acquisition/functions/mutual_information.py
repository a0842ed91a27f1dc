"""The mutual information between the reward and the answer to a question, in bits (BALD).

    gap            mean_A - mean_B, the expected difference of the two rewards
    gap_variance   Var[f(A) - f(B)] = var_A + var_B - 2 cov_AB
    noise          the paper's sigma; scale = sqrt(2) noise
    x              (f(A) - f(B)) / scale; M = gap / scale and V = gap_variance / scale^2 are its moments
    h(p)           entropy of the answer in bits

The mutual information is the entropy of the answer less what would remain of it if the reward were known,
h(E[p]) - E[h(p)], with p the probability of the answer given the reward. E[p] has a closed form, and so has
E[h(p)] with the entropy written as a sum of Gaussians (`acquisition.entropy`). Under a mixture both terms are
averages over its components.

Everything here is elementwise and follows the array API standard.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal, get_args

import numpy as np

from prefero._support.arrays import AnyArray, Array, namespace_of, ndtr
from prefero.acquisition.base import (
    Box,
    Component,
    PairMoments,
    Scorer,
    check_scores_pairs,
    features_of,
)
from prefero.acquisition.entropy import (
    TINY,
    entropy_bound,
    entropy_of_answers,
    entropy_of_probabilities,
    two_answers,
)
from prefero.acquisition.functions.answer_information import information_scorer
from prefero.acquisition.functions.group_information import GroupScorer
from prefero.acquisition.label_scorers import information_label_scorer
from prefero.acquisition.scorers import MomentScorer
from prefero.models.likelihood.probit import Probit
from prefero.models.people.posterior import PeoplePosterior
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import Kind, items_of

Formula = Literal["exact", "houlsby", "paper"]
PI_LN_2, ONE_OVER_LN_4 = float(np.pi * np.log(2.0)), float(1.0 / np.log(4.0))
# Phi(z) = (1 + tanh(z (LINEAR + CUBIC z^2))) / 2 to 2e-4: in entropy below ALLOWANCE, rounding included
LINEAR, CUBIC, ALLOWANCE = 0.79788456, 0.03567741, 3e-3


def check_formula(formula: str) -> None:
    """An error unless there is such a formula."""
    if formula not in get_args(Formula):
        raise ValueError(f"formula must be one of {', '.join(get_args(Formula))}, but is {formula!r}")


def _check(formula: str, probit: Probit) -> None:
    check_formula(formula)
    _check_answers(formula, bool(probit.margin), bool(probit.lapse))


def _check_answers(formula: str, margin: bool, lapses: bool) -> None:
    if formula != "exact" and (margin or lapses):
        raise ValueError(
            f"formula {formula!r} is for two possible answers without lapses: with a margin or a lapse rate, "
            "use 'exact', or a model without them, such as PreferenceGP(noise=0.1, margin=0.0)"
        )


def expected_entropy(
    gap: AnyArray, gap_variance: AnyArray, probit: Probit, formula: Formula = "exact"
) -> AnyArray:
    """What would remain of the answer's entropy, on average, if the reward were known."""
    _check(formula, probit)
    if formula == "exact":
        return entropy_of_answers(probit).expectation(gap / probit.scale, gap_variance / probit.scale**2)
    xp = namespace_of(gap_variance)
    # "paper" prints pi ln2 / 2 where the substitution x = difference / scale gives pi ln2
    c = (1.0 if formula == "houlsby" else 0.5) * PI_LN_2 * probit.noise**2
    return xp.sqrt(c / (c + gap_variance)) * xp.exp(-0.5 * gap**2 / (c + gap_variance))


def mutual_information(pairs: Sequence[PairMoments], formula: Formula = "exact") -> AnyArray:
    """Bits of questions under a mixture."""
    first, second, remains = 0.0, 0.0, 0.0
    for component in pairs:
        probit, gap = component.probit, component.gap
        root = namespace_of(gap).sqrt(component.gap_variance + probit.scale**2)
        one = probit.with_lapses(ndtr((gap - probit.margin) / root))
        other = probit.with_lapses(ndtr((-gap - probit.margin) / root)) if probit.margin else 1.0 - one
        first = first + component.weight * one
        second = second + component.weight * other
        remains = remains + component.weight * expected_entropy(gap, component.gap_variance, probit, formula)
    bits = entropy_of_probabilities(first, second) - remains
    return _clipped(bits, pairs) if formula == "exact" else bits


def _clipped(bits: AnyArray, pairs: Sequence[PairMoments]) -> AnyArray:
    """Without what the fitted entropy is off by."""
    xp, ternary = namespace_of(bits), any(component.probit.margin for component in pairs)
    bits = xp.clip(bits, min=0.0, max=None if ternary else 1.0)
    if len(pairs) == 1:  # a known difference has no information, not even the fit's error of 2e-7
        bits = xp.where(pairs[0].gap_variance > 0.0, bits, 0.0 * bits)
    return bits


def information_gain(
    mean: Array, cov: Array, noise: float, formula: Formula = "exact", margin: float = 0.0, lapse: float = 0.0
) -> Array:
    """Bits of every question about M trajectories.

    Args:
        mean: The rewards' mean, (M,).
        cov: Their covariance, (M, M).
        noise: The paper's sigma.
        formula: "exact", "houlsby" (one Gaussian for the entropy, off by up to 0.003 bits) or "paper" (the
            paper's equation as printed, off by up to 0.25 bits).
        margin: With a margin, "about equal" is an answer too.
        lapse: The lapse rate.

    Returns:
        The bits, (M, M).
    """
    mean, cov = np.asarray(mean, dtype=float), np.asarray(cov, dtype=float)
    if mean.ndim != 1 or cov.shape != (len(mean), len(mean)):
        raise ValueError(
            f"mean must have shape (M,) and cov (M, M), but they have {mean.shape} and {cov.shape}"
        )
    if not (np.isfinite(mean).all() and np.isfinite(cov).all()):
        raise ValueError("mean and cov must be finite, but have nan or infinite entries")
    variance = cov.diagonal()
    gap_variance = np.maximum(variance[:, None] + variance[None, :] - 2 * cov, 0.0)
    pairs = PairMoments(1.0, Probit(noise, margin, lapse), mean[:, None], mean[None, :], gap_variance)
    bits: Array = mutual_information([pairs], formula)
    return bits


@dataclass(frozen=True)
class MutualInformation:
    """The mutual information of reward and answer (BALD): learns the reward everywhere.

    Args:
        formula: "exact", "houlsby" or "paper", see `information_gain`.
    """

    formula: Formula = "exact"
    unit: ClassVar[str] = "bits"

    def __post_init__(self) -> None:
        check_formula(self.formula)

    @property
    def exact(self) -> "MutualInformation":
        """The function whose bits a learner reports, whichever formula chose the question."""
        return self if self.formula == "exact" else MutualInformation()

    def check_answers(self, kind: Kind, *, margin: bool, lapses: bool) -> None:
        """An error if the formula is only for two possible answers without lapses, and there are others."""
        _check_answers(self.formula, margin, lapses)
        if self.formula != "exact":
            check_scores_pairs(self, kind)

    def scorer(self, belief: Distribution, pool: Pool | Array, kind: Kind) -> Scorer:
        """Pairs by their moments; labels in closed form; answers of other kinds by draws."""
        x = features_of(belief, pool)
        if kind == "pair" or self.formula != "exact":
            return MomentScorer(self, belief, x)
        if items_of(kind) == 1:
            return information_label_scorer(belief, x, kind)
        return information_scorer(belief, x, kind)

    def group_scorer(self, people: PeoplePosterior, person: str, x: Array) -> Scorer:
        """Questions to one person by what they tell about the reward that all people share."""
        return GroupScorer(people, person, x)

    def score(self, pairs: Sequence[PairMoments]) -> AnyArray:
        """Bits."""
        return mutual_information(pairs, self.formula)

    def upper_bound(self, pairs: Sequence[PairMoments]) -> AnyArray:
        """With three answers the answer's entropy; with two a bound of both terms, in single precision."""
        if any(component.probit.margin for component in pairs):
            return _entropy_bound(pairs)
        terms = [self.question_terms(one) for one in pairs]
        return self.bound_of_sums([sum(same) for same in zip(*terms, strict=True)])

    def least_variance(self, components: Sequence[Component], value: float) -> float:
        """Bits rise with the gap variance and are highest at gap 0, where they depend on nothing else."""
        probit = components[0].probit
        if len(components) > 1 or self.formula != "exact" or probit.margin or not 0.0 < value < 1.0:
            return 0.0
        allowance = 1e-5 if probit.lapse else 1e-6  # more than the fitted entropy is off by
        return _least_variance(value - allowance, probit.lapse) * probit.scale**2

    def can_bound(self, components: Sequence[Component]) -> bool:
        """With two answers, by the exact formula."""
        return self.formula == "exact" and not any(component.probit.margin for component in components)

    def question_terms(self, pairs: PairMoments) -> list[AnyArray]:
        """Of single questions, in single precision: how far the answer leans to A, and what remains."""
        xp, probit = namespace_of(pairs.gap_variance), pairs.probit
        variance, gap = xp.astype(pairs.gap_variance, xp.float32, copy=False), _single_precision_gap(pairs)
        root = xp.sqrt(variance + probit.scale**2)
        z = gap / root
        if self.formula != "exact":
            remains = expected_entropy(gap, variance, probit, self.formula)
        elif probit.lapse:
            remains = _least_entropy(gap, variance, probit)
        else:  # E[h] is at least this, since h(Phi(x)) >= exp(-x^2 / 2)
            remains = xp.exp(-0.5 * (z * z))
            remains *= probit.scale / root
        remains *= pairs.weight
        lean = _lean(z)
        lean *= pairs.weight * (1.0 - probit.lapse)
        return [lean, remains]

    def box_terms(self, box: Box) -> list[AnyArray]:
        """Of all questions in a box: how far the answer leans to A at least and at most, and what remains.

        Probabilities are monotone in the gap, and the remaining entropy falls with its size. As the variance
        grows, both rise or fall, or the entropy rises and then falls: ends of ranges suffice.
        """
        xp, weight, probit = namespace_of(box.low), box.component.weight, box.component.probit
        narrow, wide = (xp.sqrt(1.0 + variance) for variance in (box.least, box.most))
        lowest = _lean(box.low / xp.where(box.low > 0.0, wide, narrow))
        highest = _lean(box.high / xp.where(box.high > 0.0, narrow, wide))
        far = xp.maximum(xp.abs(box.low), xp.abs(box.high))
        remains = xp.minimum(*(_least_entropy(far, variance, probit) for variance in (box.least, box.most)))
        meant = weight * (1.0 - probit.lapse)
        return [meant * lowest, meant * highest, weight * remains]

    def bound_of_sums(self, questions: Sequence[AnyArray], boxes: Sequence[AnyArray] = ()) -> AnyArray:
        """The most entropy that the answer may have, less what remains at least.

        Args:
            questions: Sums of the terms of single questions, over some components.
            boxes: Sums of the terms of boxes with these questions in them, over the other components.
        """
        lean, remains = questions
        if boxes:
            xp, (low, high, others) = namespace_of(boxes[0]), boxes
            lean = xp.minimum(xp.maximum(lean + low, 0.0 * low), lean + high)
            remains = remains + others
        return _most_entropy(lean) - remains


def _lean(z: AnyArray) -> AnyArray:
    """2 Phi(z) - 1, approximately."""
    square = z * z
    square *= CUBIC
    square += LINEAR
    square *= z
    return namespace_of(z).tanh(square)


def _most_entropy(lean: AnyArray) -> AnyArray:
    """An upper bound of the entropy of an answer with probability p, given 2 p - 1 approximately."""
    xp = namespace_of(lean)
    unsure = lean * lean
    unsure *= -1.0
    unsure += 1.0
    entropy = xp.log(xp.clip(unsure, min=TINY))
    entropy *= ONE_OVER_LN_4  # h(p) <= (4 p (1 - p))^(1 / ln 4)
    entropy = xp.exp(entropy)
    entropy += ALLOWANCE
    return entropy


def _least_entropy(gap: AnyArray, gap_variance: AnyArray, probit: Probit) -> AnyArray:
    """A lower bound of the expected entropy of two answers with lapses."""
    xp, (constant, variance) = namespace_of(gap_variance), entropy_bound(probit.lapse)
    narrow = variance * probit.scale**2
    precision = 1.0 / (gap_variance + narrow)
    least = gap * gap
    least *= precision
    least *= -0.5
    least = xp.exp(least)
    precision *= narrow
    least *= xp.sqrt(precision)
    least *= 1.0 - constant
    least += constant
    return least


def _single_precision_gap(pairs: PairMoments) -> AnyArray:
    """A large common mean would drown the differences in single precision, so it is taken off first."""
    xp = namespace_of(pairs.gap_variance)
    near = xp.mean(pairs.left)
    return xp.astype(pairs.left - near, xp.float32) - xp.astype(pairs.right - near, xp.float32)


def _entropy_bound(pairs: Sequence[PairMoments]) -> AnyArray:
    """The entropy of the answer, a little more for rounding."""
    first, second = 0.0, 0.0
    for component in pairs:
        probit, gap = component.probit, component.gap
        root = namespace_of(gap).sqrt(component.gap_variance + probit.scale**2)
        first = first + component.weight * probit.with_lapses(ndtr((gap - probit.margin) / root))
        second = second + component.weight * probit.with_lapses(ndtr((-gap - probit.margin) / root))
    return entropy_of_probabilities(first, second) + 1e-6


@lru_cache(maxsize=256)
def _least_variance(value: float, lapse: float) -> float:
    """The V at which a question with gap 0 has `value` bits, by bisection in its logarithm."""
    low, high = -30.0, 60.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        reached = 1.0 - float(two_answers(lapse).expectation(np.zeros(1), np.full(1, np.exp(middle)))[0])
        low, high = (low, middle) if reached >= value else (middle, high)
    return float(np.exp(low))
