"""Which policy is better? Comparisons of rollouts, chosen so that the order is known soon."""

from prefero.arena.arena import Arena
from prefero.arena.plan import ArenaPlan
from prefero.arena.standings import Standing, Standings
from prefero.arena.strengths import Judgment

__all__ = ["Arena", "ArenaPlan", "Judgment", "Standing", "Standings"]
