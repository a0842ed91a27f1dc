"""Which policy is better? Comparisons of rollouts, chosen so that the order is known soon."""

from prefero.arena.arena import Arena
from prefero.arena.effects import Judgment
from prefero.arena.plan import ArenaPlan
from prefero.arena.standings import Standing, Standings

__all__ = ["Arena", "ArenaPlan", "Judgment", "Standing", "Standings"]
