"""How well people answer: levels of noise and lapses, of which every person has one."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from prefero.models.likelihood import Probit


@dataclass(frozen=True)
class Level:
    """How a person answers: with noise and lapses, or carelessly, which is always at random."""

    noise: float
    lapse: float = 0.0

    @property
    def is_careless(self) -> bool:
        """Whether all answers are lapses."""
        return self.lapse >= 1.0


@dataclass(frozen=True)
class Margin:
    """Of "about equal": in units of each person's noise, or fixed in units of the reward; 0 without ties."""

    size: float = 0.0
    fixed: bool = False

    def probit(self, level: Level) -> Probit:
        """The likelihood of answers at a level of people who attend."""
        return Probit(level.noise, self.size if self.fixed else self.size * level.noise, level.lapse)

    @property
    def n_answers(self) -> int:
        """How many answers are possible."""
        return 3 if self.size else 2


NO_TIES = Margin()


def average_level(chances: Mapping[Level, float]) -> Level:
    """How people of these levels answer on average if they attend: the geometric mean of their noises."""
    attentive = [(level, chance) for level, chance in chances.items() if not level.is_careless]
    total = sum(chance for _, chance in attentive) or 1.0
    noise = float(np.exp(sum(chance * np.log(level.noise) for level, chance in attentive) / total))
    return Level(noise, sum(chance * level.lapse for level, chance in attentive) / total)
