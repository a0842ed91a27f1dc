"""How far each source of what was known before the first question is trusted, and what it was worth.

source      demonstrations, corrections, a direction, a score, or a judge
statement   a pair of trajectories of which the source says which one is better
support     the mean probability, given all answers, that the better one of a statement has the higher reward
worth       how many of the person's answers the source has saved
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array
from prefero._support.pairs import random_pairs
from prefero._support.sentences import capitalize, percent, pluralize
from prefero.models.posterior.gaussian import Distribution
from prefero.models.posterior.mixture import ENOUGH_ANSWERS
from prefero.pools.pool import Pool
from prefero.questions import Answer
from prefero.questions.answer import SCORE
from prefero.questions.prior_knowledge import KnownPart

PAIRS = 1000  # of trajectories, of which a score says which one is better
TRUSTED = 0.55  # the least support of a source that tells more than a coin


@dataclass(frozen=True)
class KnownSource:
    """A source of what was known before the first question, after some answers.

    Args:
        source: "demonstration", "correction", "direction", "score" or "judge".
        name: Of the direction's or the score's feature, or of the judge; "" for the others.
        says: What it says, in words: "5 demonstrations".
        support: The mean probability that what it says is right, given all answers.
        answers: How many answers of the person there are.
        agreeing: Of a score, with how many of the answers its order agrees.
        compared: How many answers that is out of; ties and other kinds of answers than pairs do not count.
    """

    source: str
    name: str
    says: str
    support: float
    answers: int
    agreeing: int = 0
    compared: int = 0

    @property
    def is_early(self) -> bool:
        """Whether there are too few answers to check it."""
        return self.answers < ENOUGH_ANSWERS

    @property
    def trusted(self) -> bool:
        """Whether it probably tells something about the reward; True as long as that is not known."""
        return self.is_early or self.support >= TRUSTED

    def describe(self) -> str:
        """In a sentence: "5 demonstrations: 88% right, as far as your answers tell."."""
        if self.is_early:
            return f"{capitalize(self.says)}: too few answers yet to check this."
        agrees = ""
        if self.compared:
            share = percent(self.agreeing / self.compared)
            agrees = f"; it agrees with {self.agreeing} of {pluralize(self.compared, 'answer')} ({share})"
        right = f"{percent(self.support)} right, as far as your answers tell{agrees}"
        return f"{capitalize(self.says)}: {right}.{'' if self.trusted else ' Not trusted.'}"


def known_source(
    part: KnownPart, pool: Pool, belief: Distribution, answers: tuple[Answer, ...]
) -> KnownSource:
    """One part of a pool's knowledge, given the belief after these answers of one person."""
    agreeing = compared = 0
    if part.source == SCORE:
        score = part.knowledge.directions[0].signed(pool.scaled, pool.names)
        better, worse = _ordered(pool.scaled, score)
        agreeing, compared = _agreement(score, answers)
    else:
        said = part.knowledge.comparisons(pool.scaled, pool.scaling)
        better, worse = (rows[~said.tied] for rows in (said.winners, said.losers))
    support = float(np.mean(_probability_of_order(belief, better, worse))) if len(better) else 0.5
    says = part.knowledge.describe()
    return KnownSource(part.source, part.name, says, support, len(answers), agreeing, compared)


def worth_in_answers(count: int, expected_with: Callable[[int], float], expected_without: float) -> int:
    """How many answers a source has saved.

    Args:
        count: How many answers there are.
        expected_with: The expected accuracy from the source and so many first answers.
        expected_without: That of all answers without the source.

    Returns:
        All answers less the fewest that are as good beside the source; at most `count`.
    """
    low, high = 0, count
    if expected_with(high) <= expected_without:
        return 0
    while low < high:
        middle = (low + high) // 2
        if expected_with(middle) >= expected_without:
            high = middle
        else:
            low = middle + 1
    return count - high


def _probability_of_order(belief: Distribution, better: Array, worse: Array) -> Array:
    """That the reward of the first is higher, row by row."""
    mean, variance = belief.difference(better, worse)
    probability: Array = ndtr(mean / np.sqrt(np.maximum(variance, np.finfo(float).tiny)))
    return probability


def _ordered(x: Array, score: Array) -> tuple[Array, Array]:
    """Random pairs of rows with different scores, the one with the higher score first."""
    pairs = random_pairs(len(x), PAIRS, np.random.default_rng(0))
    first, second = pairs[score[pairs[:, 0]] != score[pairs[:, 1]]].T
    up = score[first] > score[second]
    return x[np.where(up, first, second)], x[np.where(up, second, first)]


def _agreement(score: Array, answers: tuple[Answer, ...]) -> tuple[int, int]:
    """With how many of the compared pairs a score agrees, and of how many."""
    pairs = [pair for answer in answers for pair in answer.pairs if pair.choice != "equal"]
    signs = {"left": 1.0, "right": -1.0}
    gaps = [signs[pair.choice] * (score[pair.left] - score[pair.right]) for pair in pairs]
    return sum(bool(gap > 0) for gap in gaps), sum(bool(gap != 0) for gap in gaps)
