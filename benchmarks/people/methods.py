"""What predicts a person's answers: Prefero, logistic regression, BoTorch and a network.

Each method learns from the first answers of a split, and gives the probabilities of what the person chose in
the tested ones.

    Prefero                the default model
    Prefero, chosen        the same; of the recorded answers that are left it learns next from the one whose
                           question has the largest predictive information (replay)
    logistic regression    on differences of standardized features, with scikit-learn's default C = 1
    BoTorch                PairwiseGP: one RBF kernel with automatic relevance determination, Laplace's method
    network                five networks with two hidden layers of 32, as in deep preference learning: the
                           cross-entropy of the Bradley-Terry model, and their average probability
"""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

from benchmarks.learning.baselines import logistic_weights
from benchmarks.people.splits import Split
from benchmarks.speed.botorch_comparison import botorch
from prefero._support.arrays import Array, Indices
from prefero._support.ordering import first_largest
from prefero.acquisition.scorers import score_questions
from prefero.learner import Learner
from prefero.questions import Question

DEFAULT, CHOSEN, LOGISTIC, BOTORCH, NETWORK = (
    *("Prefero", "Prefero, chosen", "logistic regression"),
    *("BoTorch", "network"),
)
STRENGTH = 1.0  # the regression's C; chosen by cross-validation, it is worse until 40 answers
MOST_CHOSEN = 20  # answers that are chosen one by one
NETWORKS, HIDDEN, STEPS, RATE, DECAY = 5, 32, 100, 0.003, 3.0  # AdamW's learning rate and weight decay

Curve = Iterator[tuple[int, Array]]  # a number of answers, and probabilities of the tested ones
Method = Callable[[Split, Sequence[int]], Curve]


def prefero(split: Split, checkpoints: Sequence[int]) -> Curve:
    learner = Learner(split.pool)
    for number, pair in enumerate(split.learned[: max(checkpoints)].tolist(), 1):
        learner.tell(Question(*pair), "left")
        if number in checkpoints:
            yield number, learner.reward().predict_proba(*split.sides)


def replayed(split: Split, checkpoints: Sequence[int]) -> Curve:
    """Only while at least half of the recorded answers are left to choose from."""
    learner, left = Learner(split.pool), split.learned
    most = min(MOST_CHOSEN, len(split.learned) // 2)
    for number in range(1, max((count for count in checkpoints if count <= most), default=0) + 1):
        best = _most_informative(learner, left)
        learner.tell(Question(*left[best].tolist()), "left")
        left = np.delete(left, best, axis=0)
        if number in checkpoints:
            yield number, learner.reward().predict_proba(*split.sides)


def _most_informative(learner: Learner, pairs: Indices) -> int:
    values = score_questions(learner.belief(), learner.pool, pairs, acquisition=learner.acquisition)
    return first_largest(values)


def logistic(split: Split, checkpoints: Sequence[int]) -> Curve:
    tested = _differences(split, split.tested)
    for number in checkpoints:
        winning = _differences(split, split.learned[:number])
        yield number, expit(tested @ logistic_weights(winning, STRENGTH))


def _differences(split: Split, pairs: Indices) -> Array:
    """Of standardized features, from the preferred item to the other one."""
    difference: Array = split.pool.scaled[pairs[:, 0]] - split.pool.scaled[pairs[:, 1]]
    return difference


def pairwise_gp(split: Split, checkpoints: Sequence[int]) -> Curve:
    """Its likelihood is a probit of the difference divided by the square root of 2."""
    fit, items, count = botorch(unit_cube=True), split.pool.scaled, len(split.tested)
    for number in checkpoints:
        mean, cov = fit(items, split.learned[:number])(items[split.tested.T.ravel()])
        variances = np.diag(cov)
        variance = variances[:count] + variances[count:] - 2.0 * np.diag(cov[:count, count:])
        yield number, ndtr((mean[:count] - mean[count:]) / np.sqrt(2.0 + np.maximum(variance, 0.0)))


def network(split: Split, checkpoints: Sequence[int]) -> Curve:
    torch: Any = import_module("torch")
    x = torch.tensor(split.pool.scaled, dtype=torch.float32)
    tested = torch.tensor(split.tested)
    for number in checkpoints:
        learned = torch.tensor(split.learned[:number])
        found = [_network_probability(torch, x, learned, tested, seed) for seed in range(NETWORKS)]
        yield number, np.mean(found, axis=0)


def _network_probability(torch: Any, x: Any, learned: Any, tested: Any, seed: int) -> Array:
    """Of the tested answers, by one network from a start of its own."""
    torch.manual_seed(seed)
    nn = torch.nn
    layers = (nn.Linear(x.shape[1], HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU())
    reward = nn.Sequential(*layers, nn.Linear(HIDDEN, 1, bias=False))
    optimizer = torch.optim.AdamW(reward.parameters(), lr=RATE, weight_decay=DECAY)
    for _ in range(STEPS):
        optimizer.zero_grad()
        gaps = reward(x[learned[:, 0]]) - reward(x[learned[:, 1]])
        nn.functional.softplus(-gaps).mean().backward()
        optimizer.step()
    with torch.no_grad():
        gaps = reward(x[tested[:, 0]]) - reward(x[tested[:, 1]])
        return np.asarray(torch.sigmoid(gaps).numpy().ravel(), dtype=float)


METHODS: dict[str, Method] = {
    DEFAULT: prefero,
    CHOSEN: replayed,
    LOGISTIC: logistic,
    BOTORCH: pairwise_gp,
    NETWORK: network,
}
NEEDS = {BOTORCH: "botorch", NETWORK: "torch", LOGISTIC: "sklearn"}
