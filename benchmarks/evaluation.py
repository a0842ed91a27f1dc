"""Teaching by simulated users, and how good the predictions are after some numbers of answers.

accuracy                 share of the test set's pairs whose better trajectory is predicted; noiseless
log_likelihood           mean log probability of the true preference
answer_log_likelihood    expected mean log probability of the user's answers, with noise and lapses
bin_...                  calibration, by predicted probability of the likelier answer from 0.5 to 1:
                         number of pairs, sum of the predicted probabilities, sum of the true ones
"""

from collections.abc import Iterator, Sequence
from pkgutil import resolve_name

import numpy as np
from scipy.special import ndtr

from benchmarks.rows import Row
from prefero._support.arrays import Array
from prefero.acquisition.base import AnyAcquisitionFunction
from prefero.acquisition.searches.random_question import random_question
from prefero.experiments.settings import Setting
from prefero.learner import Learner
from prefero.methods import METHODS, method_named
from prefero.questions import Question
from prefero.simulation.tasks import Task
from prefero.simulation.test_sets import LEAST_PROBABILITY
from prefero.simulation.users import SimulatedUser

BINS = np.linspace(0.5, 1.0, 11)
COIN = -np.log(2.0)  # the log-likelihood of a coin


def learner_for(task: Task, seed: int, model: str = "Prefero", acquisition: str = "default") -> Learner:
    """A learner with the model of a method of `prefero.methods`, and an acquisition function by name.

    The acquisition function is "default", a registered name, that of a method, or MODULE:NAME of a class of
    your own. For "random", see `teach`.
    """
    user = task.user
    known = Setting("", task.kind, user.noise, user.lapse_rate, user.margin)
    built = method_named(model).model(known, task.pool.scaled)
    if acquisition in ("default", "random"):
        return Learner(task.pool, seed=seed, model=built)
    return Learner(task.pool, seed=seed, model=built, acquisition=_acquisition(acquisition))


def _acquisition(name: str) -> AnyAcquisitionFunction | str:
    if name in METHODS:
        return METHODS[name].acquisition
    found: AnyAcquisitionFunction | str = resolve_name(name)() if ":" in name else name
    return found


def teach(
    task: Task, learner: Learner, acquisition: str, checkpoints: Sequence[int], seed: int
) -> Iterator[int]:
    """Let the user answer; yields each number of answers that is a checkpoint, when the learner has them."""
    rng, asking = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    for number in range(1, max(checkpoints) + 1):
        question = random_pair(task, asking) if acquisition == "random" else learner.ask()
        left, right = task.pool.scaled[[question.left, question.right]]
        learner.tell(question, task.user.answer(left, right, rng))
        if number in checkpoints:
            yield number


def random_pair(task: Task, rng: np.random.Generator) -> Question:
    """Two random trajectories with different features: a person would see no difference between others."""
    while True:
        question = random_question(len(task.pool), rng)
        if np.any(task.pool.scaled[question.left] != task.pool.scaled[question.right]):
            return question


def answer_probabilities(user: SimulatedUser, differences: Array) -> Array:
    """P(the first is preferred), with noise and lapses, for differences of the true reward."""
    chosen = ndtr(differences / (np.sqrt(2.0) * user.noise))
    mixed: Array = (1 - user.lapse_rate) * chosen + 0.5 * user.lapse_rate
    return mixed


def evaluate(probability: Array, task: Task) -> Row:
    """Measures of predictions for the pairs of the test set."""
    true = answer_probabilities(task.user, task.test_set.differences)
    share = np.clip(probability, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return {
        "accuracy": task.test_set.accuracy(probability),
        "log_likelihood": task.test_set.log_likelihood(probability),
        "answer_log_likelihood": float(np.mean(true * np.log(share) + (1 - true) * np.log1p(-share))),
        **_bins(probability, true),
    }


def _bins(probability: Array, true: Array) -> Row:
    confidence = np.maximum(probability, 1 - probability)
    right = np.where(probability >= 0.5, true, 1 - true)
    place = np.clip(np.digitize(confidence, BINS) - 1, 0, len(BINS) - 2)
    size = len(BINS) - 1
    return {
        "bin_counts": np.bincount(place, minlength=size).tolist(),
        "bin_predicted": np.bincount(place, confidence, minlength=size).tolist(),
        "bin_right": np.bincount(place, right, minlength=size).tolist(),
    }


def calibration_error(rows: Sequence[Row]) -> float:
    """Mean distance between predicted and true probability over the bins, of all predictions together."""
    counts, predicted, right = (
        np.sum([row[f"bin_{name}"] for row in rows], axis=0) for name in ("counts", "predicted", "right")
    )
    return float(np.sum(np.abs(predicted - right)) / np.sum(counts))
