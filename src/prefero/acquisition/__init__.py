"""From a posterior to the next question: acquisition functions, and the searches that maximize them.

`AcquisitionFunction` is the protocol that your own functions implement; `MutualInformation` (BALD),
`PredictiveInformation` (EPIG) and `ExpectedUtility` (EUBO) are Prefero's. `best_question` maximizes one over
the pairs of a pool, and `best_continuous_question` the mutual information over a box of features.
"""

from prefero.acquisition.base import (
    ACQUISITION_FUNCTIONS,
    AcquisitionFunction,
    Component,
    HasMomentBound,
    HasUpperBound,
    HasVarianceBound,
    MomentLimits,
    PairMoments,
    PoolAcquisitionFunction,
)
from prefero.acquisition.continuous import ContinuousQuestion, best_continuous_question
from prefero.acquisition.expected_utility import ExpectedUtility
from prefero.acquisition.mutual_information import MutualInformation, information_gain
from prefero.acquisition.pool_search import best_question
from prefero.acquisition.predictive_information import PredictiveInformation

__all__ = [
    "ACQUISITION_FUNCTIONS",
    "AcquisitionFunction",
    "Component",
    "ContinuousQuestion",
    "ExpectedUtility",
    "HasMomentBound",
    "HasUpperBound",
    "HasVarianceBound",
    "MomentLimits",
    "MutualInformation",
    "PairMoments",
    "PoolAcquisitionFunction",
    "PredictiveInformation",
    "best_continuous_question",
    "best_question",
    "information_gain",
]
