"""How far demonstrations and corrections are trusted: their noise, or whether they say anything at all.

    r        how noisy a source is, as a multiple of the person's noise
    joint    p(answers, source | r): the source is about the person's reward
    apart    p(answers) p(source): it is about another reward, since somebody else gave it or it went wrong

Evidence compares these. A source that is about another reward is consistent in itself, so that no noise
explains it; it is given up as a whole. Both evidences are those of a few typical models, and are compared
anew at milestones of the person's answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from prefero.models.averaging.milestones import last_milestone
from prefero.models.averaging.structures import (
    TYPICAL_SOURCE_NOISE,
    Margins,
    ModelSettings,
    typical_forms,
    typical_kernel,
)
from prefero.questions import Comparisons
from prefero.questions.answer import CORRECTION, DEMONSTRATION, REASON, SOURCES, STATEMENTS

FORMS = ("linear", "quadratic", "rbf")
PEOPLE = ((0.1, 0.0), (0.3, 0.0), (1.0, 0.0), (0.1, 0.05), (0.3, 0.05))  # noise and lapse rate
MILESTONES = (1, 2)
# demonstrators are clumsier than judges: multiples of the person's noise, with prior weights
MULTIPLES = {1.0: 0.3, 2.0: 0.3, 4.0: 0.2, 8.0: 0.12, 16.0: 0.08}
CHECKED = (DEMONSTRATION, CORRECTION, REASON)
KEPT = 0.8  # the least probability with which a source is learned from; later answers may bring it back
ABOUT_ANOTHER = 0.1  # the prior probability that a source is about another reward
SAYS_NOTHING = 1e4  # the multiple of a source that is given up


@dataclass(frozen=True)
class Trust:
    """What the answers say of a source.

    Args:
        probability: That it is about the person's reward.
        noise: If so, as a multiple of the person's.
    """

    probability: float
    noise: float

    @property
    def is_kept(self) -> bool:
        """Whether it is learned from."""
        return self.probability >= KEPT

    @property
    def multiple(self) -> float:
        """With which it is learned from."""
        return self.noise if self.is_kept else SAYS_NOTHING


class SourceTrust:
    """The trust in each source after some answers; the last is kept until the next milestone."""

    def __init__(self) -> None:
        # of what they were found: the rows, and the share of scores in the prior
        self._last: tuple[tuple[bytes, float], dict[str, Trust]] | None = None
        self._alone: dict[tuple[bytes, float], float] = {}  # evidence of sources by themselves

    def of(self, settings: ModelSettings, data: Comparisons) -> dict[str, Trust]:
        """Of the sources that there are, from a person's answers up to the last milestone."""
        sources = [name for name in CHECKED if np.any(data.from_source(name))]
        own = np.unique(data.answer_numbers[~data.known_before])
        known = own[: last_milestone(len(own), *MILESTONES) or 0]
        if not sources or not len(known):
            return {}
        some = in_pairs(data[np.flatnonzero(data.known_before | np.isin(data.answer_numbers, known))])
        content = some.tobytes(), settings.score_share
        if self._last is None or self._last[0] != content:
            answers = some[np.flatnonzero(~some.from_source(*sources))]
            found = {name: self._trust(settings, answers, _part(some, name), name) for name in sources}
            self._last = content, found
        return self._last[1]

    def _trust(self, settings: ModelSettings, answers: Comparisons, source: Comparisons, name: str) -> Trust:
        models = _TypicalModels(settings, SOURCES.index(name))
        both = source.joined(answers)
        log_joint = np.log(list(MULTIPLES.values())) + [
            models.log_evidence(both, multiple) for multiple in MULTIPLES
        ]
        content = source.tobytes(), settings.score_share
        if content not in self._alone:
            each = [models.log_evidence(source, multiple) for multiple in MULTIPLES]
            self._alone[content] = float(logsumexp(each, b=list(MULTIPLES.values())))
        log_apart = np.log(ABOUT_ANOTHER) + models.log_evidence(answers, 1.0) + self._alone[content]
        together = np.log1p(-ABOUT_ANOTHER) + logsumexp(log_joint)
        best = list(MULTIPLES)[int(np.argmax(log_joint))]
        return Trust(float(np.exp(together - np.logaddexp(together, log_apart))), best)


class _TypicalModels:
    """A few models, over which evidence is averaged."""

    def __init__(self, settings: ModelSettings, source: int) -> None:
        self.settings, self.source = settings, source
        reference = settings.reference
        forms = [form for form in typical_forms(reference) if form in FORMS]
        self.kernels = [
            settings.anchored(typical_kernel(form, reference.features, reference.unit)) for form in forms
        ]
        self.people: Sequence[tuple[float, float]] = PEOPLE
        if settings.noise is not None:
            self.people = ((settings.noise, settings.lapse or 0.0),)

    def log_evidence(self, data: Comparisons, multiple: float) -> float:
        """Of data in which the source is so much noisier than the person."""
        noise = list(TYPICAL_SOURCE_NOISE)
        noise[self.source] = multiple
        margins = Margins(source_noise=tuple(noise))
        each = [
            self.settings.log_evidence(kernel, data, self.settings.probit(sigma, margins, lapse))
            for kernel in self.kernels
            for sigma, lapse in self.people
        ]
        return float(logsumexp(each) - np.log(len(each)))


def in_pairs(data: Comparisons) -> Comparisons:
    """What sources say as it is, and all answers as plain pairs, whose evidence needs no margins."""
    said = data.from_source(DEMONSTRATION, CORRECTION, *STATEMENTS)
    return data[np.flatnonzero(said)].joined(data[np.flatnonzero(~said)].as_pairs())


def _part(data: Comparisons, name: str) -> Comparisons:
    return data[np.flatnonzero(data.from_source(name))]


def source_noise(trust: dict[str, Trust], others: tuple[float, ...]) -> tuple[float, ...]:
    """The noises of all sources as multiples: those that are trusted or not, and the others."""
    known = {name: one.multiple for name, one in trust.items()}
    return tuple(known.get(name, other) for name, other in zip(SOURCES, others, strict=True))
