"""From a posterior to the next question: acquisition functions, and the searches that maximize them.

`AcquisitionFunction` is the protocol that your own functions implement; `MutualInformation` (BALD) and
`ExpectedUtility` (EUBO) are Prefero's. `best_question` maximizes one exactly over the pairs of a pool, and
`best_continuous_question` the mutual information over a box of features.
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
)
from prefero.acquisition.continuous import ContinuousQuestion, best_continuous_question
from prefero.acquisition.expected_utility import ExpectedUtility
from prefero.acquisition.mutual_information import MutualInformation, information_gain
from prefero.acquisition.pool_search import best_question

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
    "best_continuous_question",
    "best_question",
    "information_gain",
]
