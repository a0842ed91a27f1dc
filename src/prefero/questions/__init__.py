"""Questions and answers, and the comparisons that a model learns from.

Question       trajectories of a pool, by index, shown side by side; a pair has a left and a right one
Answer         a question with what the person said to it, a choice of its kind (`answer_kinds.py`)
Labels         what a dataset says already about its trajectories, such as their success
Comparisons    the answers as features: rows of two trajectories, the first preferred or "about equal"
"""

from prefero.questions.answer import Answer
from prefero.questions.comparisons import Comparisons
from prefero.questions.kinds.base import PairChoice
from prefero.questions.kinds.pair import CHOICES
from prefero.questions.labels import Labels
from prefero.questions.question import Question

__all__ = ["CHOICES", "Answer", "Comparisons", "Labels", "PairChoice", "Question"]
