"""Learners: active preference learning with ask and tell."""

from prefero.learner.asked_questions import AnswerConflict
from prefero.learner.beliefs import Model
from prefero.learner.learner import Learner, Surprise
from prefero.learner.learner_file import LearnerFileError

__all__ = ["AnswerConflict", "Learner", "LearnerFileError", "Model", "Surprise"]
