"""Learners: active preference learning with ask and tell."""

from prefero.learner.asked_questions import AnswerConflict
from prefero.learner.beliefs import Model
from prefero.learner.learner import Learner
from prefero.learner.learner_file import LearnerFileError
from prefero.learner.surprises import Surprise

__all__ = ["AnswerConflict", "Learner", "LearnerFileError", "Model", "Surprise"]
