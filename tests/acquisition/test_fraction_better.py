"""The fraction of better questions by a random sample, against the fraction among all of a small pool."""

import numpy as np
import pytest

from acquisition.searched_pools import KERNELS, learned, pool, score_all
from prefero.acquisition.fraction_better import fraction_better
from prefero.acquisition.functions.mutual_information import MutualInformation
from prefero.acquisition.searches.best_question import best_question
from prefero.models.likelihood.probit import Probit
from prefero.questions import Question

BELIEF, POOL = learned(1, KERNELS[2], Probit(0.3)), pool(2, 40)


def test_of_the_best_question_only_what_the_sample_leaves_open_may_be_better() -> None:
    best = best_question(BELIEF, POOL)
    fraction = fraction_better(BELIEF, POOL, best, acquisition="mutual-information", questions=200)
    assert fraction == pytest.approx(1.0 - 0.05 ** (1 / 200))  # no success in 200 trials, at 95 %


def test_the_limit_is_above_the_true_fraction_as_often_as_it_says() -> None:
    values = score_all(BELIEF, POOL, MutualInformation())[np.triu_indices(40, 1)]
    question = Question(0, 1, value=float(np.quantile(values, 0.9)))
    true = np.mean(values > question.value)
    limits = [
        fraction_better(
            BELIEF, POOL, question, acquisition="mutual-information", questions=60, confidence=0.8, seed=seed
        )
        for seed in range(200)
    ]
    assert np.mean(np.array(limits) >= true) > 0.76  # 80 %, and two standard errors less


def test_a_function_that_scores_pools_is_asked_for_the_scores() -> None:
    found = best_question(BELIEF, POOL, acquisition="predictive-information")
    assert fraction_better(BELIEF, POOL, found, questions=50) < 0.1
    assert fraction_better(BELIEF, POOL, Question(0, 1, value=-1.0), questions=50) == 1.0


def test_a_fraction_needs_questions_and_a_confidence() -> None:
    with pytest.raises(ValueError, match="one random question"):
        fraction_better(BELIEF, POOL, Question(0, 1, value=0.1), questions=0)
