"""The margins and cut points of a person's answers, learned for the default model before its candidates.

A margin decides what is "about equal", a strong margin what is "much better", and cut points which level a
rating is. Labels that a dataset had have a noise of their own. All of this is the same for all candidates,
relative to each candidate's noise, and is learned with the typical model that explains the answers best. One
answer more changes it little, so it is learned anew at milestones.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from prefero.kernels import Kernel
from prefero.models.averaging.milestones import last_milestone
from prefero.models.averaging.step_structures import typical_step_kernels
from prefero.models.averaging.structures import (
    TYPICAL_NOISE,
    TYPICAL_SOURCE_NOISE,
    Margins,
    ModelSettings,
    typical_forms,
    typical_kernel,
)
from prefero.models.inference.evidence import fit_hyperparameters
from prefero.models.likelihood import cut_points
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons
from prefero.questions.answer import LABELS, SOURCES

TYPICAL_BEYOND = 0.7  # from the margin to the strong margin, in units of the reward
ITERATIONS = 8
LABEL_NOISES = (0.5, 1.0, 2.0, 4.0, 8.0)  # of labels that a dataset had, in multiples of the person's
MOST_LABELS = 80  # of very many, so many are enough to learn this from
MILESTONES = (1, 8)
MILESTONES_OF_RATINGS = (6, 3)  # few ratings say little about so many cut points
MILESTONES_WITH_LABELS = (3, 2)  # of a person's answers beside labels, of which there may be many


class LearnedMargins:
    """The margins after some answers; the last ones are kept until the next milestone."""

    def __init__(self, settings: ModelSettings) -> None:
        self.settings = settings
        self._last: tuple[bytes, Margins] | None = None

    def of(self, data: Comparisons) -> Margins:
        """What the answers need of margins, from those up to the last milestone."""
        some = _up_to_milestone(data)
        if _needs(some) != _needs(data):
            some = data  # the first answer of a kind cannot wait
        some = _with_few_labels(some)
        content = some.tobytes()
        if self._last is None or self._last[0] != content:
            self._last = content, self._learned(some)
        return self._last[1]

    def _learned(self, data: Comparisons) -> Margins:
        given = self.settings
        learn_margin = given.margin is None and data.has_ties
        learn_strong = given.strong_margin is None and data.has_strengths
        if not learn_margin and not learn_strong and not data.has_ratings and not _has_both(data):
            return Margins()
        noise = given.noise or TYPICAL_NOISE
        margin = noise if learn_margin else given.margin or 0.0
        strong = margin + TYPICAL_BEYOND if learn_strong else given.strong_margin or 0.0
        guess = Probit(noise, margin, strong_margin=strong)
        kernel = max(_typical_kernels(given), key=lambda kernel: given.log_evidence(kernel, data, guess))
        fit = fit_hyperparameters(
            kernel,
            data,
            guess,
            given.inference,
            learn_kernel=False,
            # levels say how large the noise is; without them, a margin is a multiple of it
            learn_noise=given.noise is None and (data.has_ratings or _has_both(data)),
            learn_margin=learn_margin,
            learn_strong_margin=learn_strong,
            learn_cut_points=data.rated_levels,
            iterations=ITERATIONS,
        ).probit
        return Margins(
            _in_steps(fit.margin / fit.noise) if learn_margin else 0.0,
            _in_steps(fit.strong_margin - fit.margin) if learn_strong else 0.0,
            _relative_cut_points(fit, data.rated_levels),
            self._source_noise(kernel, data, fit),
        )

    def _source_noise(self, kernel: Kernel, data: Comparisons, probit: Probit) -> tuple[float, ...]:
        """With the noise of labels by the evidence; a typical one, unless there are other answers too."""
        if not _has_both(data):
            return TYPICAL_SOURCE_NOISE
        place = SOURCES.index(LABELS)
        before, after = TYPICAL_SOURCE_NOISE[:place], TYPICAL_SOURCE_NOISE[place + 1 :]
        tried = [(*before, factor, *after) for factor in LABEL_NOISES]
        likelihoods = [replace(probit, source_noise=one) for one in tried]
        evidence = [self.settings.log_evidence(kernel, data, one) for one in likelihoods]
        return tried[int(np.argmax(evidence))]


def _needs(data: Comparisons) -> tuple[object, ...]:
    """What there is to learn for which there is no typical value."""
    return data.has_ties, data.has_strengths


def _with_few_labels(data: Comparisons) -> Comparisons:
    """All answers, and of very many labels evenly chosen ones."""
    labels = np.flatnonzero(data.from_source(LABELS))
    if len(labels) <= MOST_LABELS:
        return data
    chosen = labels[np.linspace(0, len(labels) - 1, MOST_LABELS).astype(np.intp)]
    return data[np.union1d(chosen, np.flatnonzero(~data.from_source(LABELS)))]


def _up_to_milestone(data: Comparisons) -> Comparisons:
    """All that was known before, and a person's answers up to the last milestone of their number."""
    before = data.known_before
    own = np.unique(data.answer_numbers[~before])
    known = own[: last_milestone(len(own), *_milestones(data)) or 0]
    return data[np.flatnonzero(before | np.isin(data.answer_numbers, known))]


def _milestones(data: Comparisons) -> tuple[int, int]:
    """The first one, and how many answers there are for one more until the next one."""
    if data.n_labels:
        return MILESTONES_WITH_LABELS
    return MILESTONES_OF_RATINGS if data.has_ratings else MILESTONES


def _has_both(data: Comparisons) -> bool:
    """Whether there are labels that a dataset had, and answers of a person too."""
    return data.n_labels > 0 and not data.known_before.all()


def _relative_cut_points(probit: Probit, rated: Sequence[int]) -> tuple[float, ...]:
    """In standard deviations of impressions over the pool, with gaps in steps; none if nothing was rated."""
    found = np.array(probit.cut_points) / cut_points.impression_std(probit.noise)
    for levels in rated:
        gaps = [_in_steps(gap) for gap in cut_points.gaps_of(found, levels)]
        found = cut_points.with_gaps(found, levels, np.array(gaps))
    return tuple(found.tolist()) if rated else ()


def _typical_kernels(settings: ModelSettings) -> Sequence[Kernel]:
    """A kernel of each structure on the grid."""
    reference = settings.reference
    if reference.step_blocks:
        return typical_step_kernels(settings)
    forms = typical_forms(reference)
    return [settings.anchored(typical_kernel(form, reference.features, reference.unit)) for form in forms]


def _in_steps(value: float) -> float:
    """In steps of a tenth of the logarithm, so that most answers change no candidate's likelihood."""
    return float(np.exp(0.1 * np.round(10 * np.log(value))))
