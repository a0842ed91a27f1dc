"""From a posterior to the next question: acquisition functions, and the searches that maximize them.

`AcquisitionFunction` is the protocol that your own functions implement. Prefero's learn the reward,
`PredictiveInformation` (EPIG) and `MutualInformation` (BALD), or find the best trajectory, `BestInformation`,
`ExpectedUtility` (EUBO), `KnowledgeGradient` and `ThompsonDuel`. `best_question` maximizes one over the pairs
of a pool, and `best_continuous_question` the mutual information over a box of features. `share_better` says
how many questions may be better than one that a search has found.
"""

from prefero.acquisition.base import (
    ACQUISITION_FUNCTIONS,
    AcquisitionFunction,
    Component,
    HasAnswerLimits,
    HasMomentBound,
    HasUpperBound,
    HasVarianceBound,
    MomentLimits,
    PairMoments,
    PoolAcquisitionFunction,
)
from prefero.acquisition.best_information import BestInformation
from prefero.acquisition.continuous import ContinuousQuestion, best_continuous_question
from prefero.acquisition.expected_utility import ExpectedUtility
from prefero.acquisition.knowledge_gradient import KnowledgeGradient
from prefero.acquisition.mutual_information import MutualInformation, information_gain
from prefero.acquisition.pool_search import best_question
from prefero.acquisition.predictive_information import PredictiveInformation
from prefero.acquisition.share_better import share_better
from prefero.acquisition.thompson import ThompsonDuel

__all__ = [
    "ACQUISITION_FUNCTIONS",
    "AcquisitionFunction",
    "BestInformation",
    "Component",
    "ContinuousQuestion",
    "ExpectedUtility",
    "HasAnswerLimits",
    "HasMomentBound",
    "HasUpperBound",
    "HasVarianceBound",
    "KnowledgeGradient",
    "MomentLimits",
    "MutualInformation",
    "PairMoments",
    "PoolAcquisitionFunction",
    "PredictiveInformation",
    "ThompsonDuel",
    "best_continuous_question",
    "best_question",
    "information_gain",
    "share_better",
]
