"""How good a question is among all questions about a pool, by a random sample of them.

A search that is not exhaustive, such as that for predictive information, proves nothing. A random sample
gives a statistical guarantee instead: if k of n random questions are better, then with a stated confidence no
larger fraction of all questions is better than the upper limit of Clopper and Pearson (1934). For k = 0 and
95 % it is about 3 / n.
"""

import numpy as np
from scipy.special import betaincinv

from prefero._support.arrays import Array, one_thread
from prefero._support.pairs import random_pairs
from prefero.acquisition.base import AnyAcquisitionFunction, features_of
from prefero.acquisition.scorers import score_questions
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool
from prefero.questions import Question


@one_thread
def fraction_better(
    belief: Distribution,
    pool: Pool | Array,
    question: Question,
    *,
    acquisition: AnyAcquisitionFunction | str = "predictive-information",
    questions: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> float:
    """The largest fraction of all questions about a pool that may be better than this one.

    Args:
        belief: The posterior over rewards that the question was chosen by.
        pool: The trajectories; an array (M, d) is in the units of the belief.
        question: Its value is compared.
        acquisition: What it is the value of.
        questions: How many random questions are scored.
        confidence: The probability that the fraction is no larger.
        seed: Of the random questions.

    Returns:
        The fraction, from 0 to 1.
    """
    if questions < 1 or not 0.0 < confidence < 1.0:
        raise ValueError(
            f"one random question or more and a confidence between 0 and 1 are needed, "
            f"but there are {questions} and {confidence}"
        )
    size = len(features_of(belief, pool))
    random = random_pairs(size, questions, np.random.default_rng(seed))
    scores = score_questions(belief, pool, random, acquisition=acquisition)
    better = int(np.count_nonzero(scores > question.value))
    if better == questions:
        return 1.0
    return float(betaincinv(better + 1, questions - better, confidence))  # a quantile of a beta distribution
