"""From a posterior to the next question: acquisition functions, and the searches that maximize them.

`AcquisitionFunction` and `PoolAcquisitionFunction` are the protocols of your own functions. Prefero's learn
the reward, `PredictiveInformation` (EPIG) and `MutualInformation` (BALD), or find the best trajectory,
`BestInformation`, `ExpectedUtility` (EUBO), `KnowledgeGradient` and `ThompsonDuel`. `best_question` maximizes
one over a pool, for any kind of answer, and `best_continuous_question` the mutual information over a box of
features. `score_questions` says what questions are worth, and `fraction_better` how many may be better than
one that a search has found.
"""

from prefero.acquisition.base import (
    ACQUISITION_FUNCTIONS,
    AcquisitionFunction,
    Component,
    HasAnswerLimits,
    HasGroupScorer,
    HasUpperBound,
    HasVarianceBound,
    PairMoments,
    PoolAcquisitionFunction,
    Scorer,
)
from prefero.acquisition.fraction_better import fraction_better
from prefero.acquisition.functions.best_information import BestInformation
from prefero.acquisition.functions.expected_utility import ExpectedUtility
from prefero.acquisition.functions.knowledge_gradient import KnowledgeGradient
from prefero.acquisition.functions.mutual_information import MutualInformation, information_gain
from prefero.acquisition.functions.predictive_information import PredictiveInformation
from prefero.acquisition.functions.thompson_duel import ThompsonDuel
from prefero.acquisition.scorers import score_questions
from prefero.acquisition.searches.best_question import best_question
from prefero.acquisition.searches.continuous import ContinuousQuestion, best_continuous_question

__all__ = [
    "ACQUISITION_FUNCTIONS",
    "AcquisitionFunction",
    "BestInformation",
    "Component",
    "ContinuousQuestion",
    "ExpectedUtility",
    "HasAnswerLimits",
    "HasGroupScorer",
    "HasUpperBound",
    "HasVarianceBound",
    "KnowledgeGradient",
    "MutualInformation",
    "PairMoments",
    "PoolAcquisitionFunction",
    "PredictiveInformation",
    "Scorer",
    "ThompsonDuel",
    "best_continuous_question",
    "best_question",
    "fraction_better",
    "information_gain",
    "score_questions",
]
