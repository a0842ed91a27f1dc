"""Candidates of the model of many people: kernels of rewards, and how much of a reward people share.

    share           the fraction of the prior variance that is common to all people: f_p = g + h_p with
                    Var[g] = share, Var[h_p] = 1 - share
    item effects    what is particular to an item and not explained by its features; only where few items are
                    compared again and again

A kernel is a structure of `prefero.models.averaging.structures`, perhaps with item effects.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array
from prefero.kernels import Anchored, ItemEffects, Kernel, WithBar
from prefero.kernels.bar import is_bar
from prefero.models.averaging.structures import ModelSettings, grid_weights, kernel_grid
from prefero.models.likelihood.response_models import ResponseModel
from prefero.models.posterior.structure_names import GIVEN
from prefero.questions import Comparisons

SHARES = {0.0: 0.1, 0.15: 0.1, 0.3: 0.15, 0.5: 0.2, 0.7: 0.15, 0.85: 0.1, 0.95: 0.1, 1.0: 0.1}  # with priors
TYPICAL_SHARE = 0.5
TYPICAL_ITEM_FRACTION = 0.5
ITEM_FRACTIONS = {0.0: 0.4, 0.5: 0.4, 0.9: 0.2}  # item effects in the prior variance, with priors
RESPONSE_MODELS = {  # noise and lapse rate of a person, with prior weights
    ResponseModel(0.03): 0.15,
    ResponseModel(0.1): 0.26,
    ResponseModel(0.3): 0.26,
    ResponseModel(1.0): 0.07,
    ResponseModel(0.1, 0.1): 0.09,
    ResponseModel(0.3, 0.1): 0.07,
    ResponseModel(1.0, 1.0): 0.1,  # careless: 10 to 12 % of participants (Meade and Craig, 2012)
}


WIDTHS = {0.6: 0.25, 1.0: 0.5, 1.6: 0.25}  # of a person's scale of ratings, with prior weights


class PeopleCandidate(NamedTuple):
    """A kernel and a share, with their log prior probability."""

    structure: str
    kernel: Kernel
    share: float
    log_prior: float


class KernelCandidate(NamedTuple):
    """A kernel, with its log prior probability; `place` is the same without and with item effects."""

    structure: str
    kernel: Kernel
    log_prior: float
    place: int = 0
    item_fraction: float = 0.0

    def shared(self, share: float) -> PeopleCandidate:
        """With a share."""
        log_prior = self.log_prior + float(np.log(SHARES[share]))
        return PeopleCandidate(self.structure, self.kernel, share, log_prior)


def kernel_candidates(settings: ModelSettings, data: Comparisons) -> list[KernelCandidate]:
    """The structures' kernels, without and with item effects."""
    shown = np.concatenate([data.winners, data.losers])
    shown = shown[~is_bar(shown)]
    items = np.unique(shown, axis=0)
    fractions = ITEM_FRACTIONS if _come_again(items, shown) else {0.0: 1.0}
    plain = [
        (structure, settings.anchored(kernel), weight * chance)
        for structure, weight in grid_weights(settings.reference).items()
        for kernel, chance in kernel_grid(structure, settings.reference)
    ]
    return [
        KernelCandidate(
            structure, _mixed(kernel, items, fraction), float(np.log(prior * chance)), place, fraction
        )
        for place, (structure, kernel, prior) in enumerate(plain)
        for fraction, chance in fractions.items()
    ]


def given_kernel(settings: ModelSettings, kernel: Kernel) -> KernelCandidate:
    """The user's own kernel, pinned to 0 where the structures' kernels are, which changes no difference."""
    by = settings.whole.standardization
    anchor = (0.0,) * settings.whole.features if by is None else tuple(by.center)
    anchored = Anchored(kernel, anchor)
    return KernelCandidate(GIVEN, WithBar(anchored) if settings.bar else anchored, 0.0)


def _come_again(items: Array, shown: Array) -> bool:
    """Whether there are few items, and each was shown at least three times on average."""
    return len(items) <= 300 and len(shown) >= 3.0 * len(items)


def _mixed(kernel: Kernel, items: Array, fraction: float) -> Kernel:
    if not fraction:
        return kernel
    if isinstance(kernel, WithBar):  # the bar is no item that others see too
        return replace(kernel, kernel=_mixed(kernel.kernel, items, fraction))
    return (1.0 - fraction) * kernel + fraction * ItemEffects(tuple(map(tuple, items.tolist())))


def response_model_grid(noise: float | None, lapse: float | None) -> dict[ResponseModel, float]:
    """The response models with their prior weights; with a given noise, that one, and carelessness."""
    careless = {response: weight for response, weight in RESPONSE_MODELS.items() if response.is_careless}
    if noise is not None:
        return {ResponseModel(noise, lapse or 0.0): 1.0 - sum(careless.values()), **careless}
    if lapse is None:
        return RESPONSE_MODELS
    chances: dict[ResponseModel, float] = {}
    for response, weight in RESPONSE_MODELS.items():
        if not response.is_careless:
            given = ResponseModel(response.noise, lapse)
            chances[given] = chances.get(given, 0.0) + weight
    return {**chances, **careless}


def with_widths(response_models: dict[ResponseModel, float]) -> dict[ResponseModel, float]:
    """The same for people who rate, each on a scale of their own; who is careless has none."""
    careless = {response: weight for response, weight in response_models.items() if response.is_careless}
    attentive = {
        replace(response, width=width): weight * chance
        for response, weight in response_models.items()
        if not response.is_careless
        for width, chance in WIDTHS.items()
    }
    return {**attentive, **careless}
