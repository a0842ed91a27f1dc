"""How good a question is among all questions about a pool, by a random sample of them.

A search that is not exhaustive, such as that for predictive information, proves nothing. What can be said
afterwards is statistical: if k of n random questions are better, then with a stated confidence no larger
share of all questions is better than the upper limit of Clopper and Pearson (1934); for k = 0 and 95 % it is
about 3 / n.
"""

import numpy as np
from scipy.special import betaincinv

from prefero._support.arrays import Array, Indices, one_thread
from prefero.acquisition.base import AnyAcquisitionFunction, PoolAcquisitionFunction, acquisition_named
from prefero.acquisition.exchange_search import features_of
from prefero.acquisition.projection import moments_of, projections
from prefero.models.posterior import Distribution
from prefero.pools.pool import Pool
from prefero.questions import Question


@one_thread
def share_better(
    belief: Distribution,
    pool: Pool | Array,
    question: Question,
    *,
    acquisition: AnyAcquisitionFunction | str = "predictive-information",
    questions: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> float:
    """The largest share of all questions about a pool that may be better than this one.

    Args:
        belief: The posterior over rewards that the question was chosen by.
        pool: The trajectories; an array (M, d) is in the units of the belief.
        question: Its value is compared.
        acquisition: What it is the value of.
        questions: How many random questions are scored.
        confidence: The probability that the share is no larger.
        seed: Of the random questions.

    Returns:
        The share, from 0 to 1.
    """
    if questions < 1 or not 0.0 < confidence < 1.0:
        raise ValueError(
            f"one random question or more and a confidence between 0 and 1 are needed, "
            f"but there are {questions} and {confidence}"
        )
    x = features_of(belief, pool)
    random = _random_questions(len(x), questions, np.random.default_rng(seed))
    function = acquisition_named(acquisition)
    if isinstance(function, PoolAcquisitionFunction):
        scores = function.score_questions(belief, pool, random)
    else:
        used, places = np.unique(random, return_inverse=True)
        scores = function.score(moments_of(projections(belief, x[used]), places.reshape(random.shape)))
    better = int(np.count_nonzero(np.asarray(scores) > question.value))
    if better == questions:
        return 1.0
    return float(betaincinv(better + 1, questions - better, confidence))  # a quantile of a beta distribution


def _random_questions(size: int, count: int, rng: np.random.Generator) -> Indices:
    """Pairs of different trajectories, (Q, 2)."""
    first = rng.integers(size, size=count)
    return np.column_stack([first, (first + rng.integers(1, size, size=count)) % size])
