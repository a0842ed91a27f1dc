"""The margins of a person's answers, learned for the default model before its candidates are fitted.

A margin decides what is "about equal", a strong margin what is "much better". They are the same for all
candidates, relative to each candidate's noise, and are learned with the typical model that explains the
answers best. One answer more changes them little, so they are learned anew at milestones.
"""

from collections.abc import Sequence

import numpy as np

from prefero.kernels import Kernel
from prefero.models.averaging.milestones import last_milestone
from prefero.models.averaging.step_structures import typical_step_kernels
from prefero.models.averaging.structures import (
    TYPICAL_NOISE,
    Margins,
    ModelSettings,
    typical_forms,
    typical_kernel,
)
from prefero.models.inference.evidence import fit_hyperparameters
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons

TYPICAL_BEYOND = 0.7  # from the margin to the strong margin, in units of the reward
GROWTH = 8  # they are learned anew when there are an eighth more answers


class LearnedMargins:
    """The margins after some answers; the last ones are kept until the next milestone."""

    def __init__(self, settings: ModelSettings) -> None:
        self.settings = settings
        self._last: tuple[bytes, Margins] | None = None

    def of(self, data: Comparisons) -> Margins:
        """What the answers need of margins, from those up to the last milestone."""
        some = data.first(last_milestone(data.n_answers, 1, GROWTH) or 0)
        if (some.has_ties, some.has_strengths) != (data.has_ties, data.has_strengths):
            some = data  # the first answer of a kind cannot wait
        content = some.tobytes()
        if self._last is None or self._last[0] != content:
            self._last = content, self._learned(some)
        return self._last[1]

    def _learned(self, data: Comparisons) -> Margins:
        given = self.settings
        learn_margin = given.margin is None and data.has_ties
        learn_strong = given.strong_margin is None and data.has_strengths
        if not learn_margin and not learn_strong:
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
            learn_margin=learn_margin,
            learn_strong_margin=learn_strong,
        ).probit
        return Margins(
            _in_steps(fit.margin / fit.noise) if learn_margin else 0.0,
            _in_steps(fit.strong_margin - fit.margin) if learn_strong else 0.0,
        )


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
