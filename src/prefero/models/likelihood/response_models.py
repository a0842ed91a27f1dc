"""Response models: how people answer. Every person has one noise, one lapse rate and one scale of ratings."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from prefero.models.likelihood.cut_points import of_impressions
from prefero.models.likelihood.probit import Probit


@dataclass(frozen=True)
class ResponseModel:
    """How a person answers: with noise and lapses, or carelessly, which is always at random."""

    noise: float
    lapse: float = 0.0
    width: float = 1.0  # of the person's scale of ratings, as a multiple of the common one

    @property
    def is_careless(self) -> bool:
        """Whether all answers are lapses."""
        return self.lapse >= 1.0


@dataclass(frozen=True)
class Margin:
    """Of "about equal", and from there to "much better".

    Args:
        size: Of "about equal": in units of each person's noise, or of the reward if it is fixed; 0: no ties.
        fixed: Whether it is the same for everybody.
        beyond: From there to "much better", in units of the reward; 0 where nobody is asked by how much.
        cut_points: Of ratings, in standard deviations of impressions over the pool; () for the typical ones.
    """

    size: float = 0.0
    fixed: bool = False
    beyond: float = 0.0
    cut_points: tuple[float, ...] = ()

    def probit(self, response: ResponseModel) -> Probit:
        """The likelihood of answers under a response model of people who attend."""
        margin = self.size if self.fixed else self.size * response.noise
        strong = margin + self.beyond if self.beyond else 0.0
        cut_points = of_impressions(self.cut_points, response.noise, response.width)
        return Probit(response.noise, margin, response.lapse, strong, cut_points)

    @property
    def n_answers(self) -> int:
        """How many answers are possible."""
        return 3 if self.size else 2


NO_TIES = Margin()


def average_response_model(chances: Mapping[ResponseModel, float]) -> ResponseModel:
    """How people answer on average if they attend: with the geometric mean of their noises."""
    attentive = [(response, chance) for response, chance in chances.items() if not response.is_careless]
    total = sum(chance for _, chance in attentive) or 1.0
    noise = float(np.exp(sum(chance * np.log(response.noise) for response, chance in attentive) / total))
    return ResponseModel(noise, sum(chance * response.lapse for response, chance in attentive) / total)
