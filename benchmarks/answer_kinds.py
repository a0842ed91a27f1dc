"""What answers of each kind bring: bits and accuracy for each answer and each minute; batches of questions.

bits       mutual information of the answer with the reward, of the questions that were asked
seconds    of an answer: watching the trajectories, which play side by side, and deciding. The decision takes
           time in proportion to the logarithm of the number of possible answers (Hick, 1952; Hyman, 1953).
           Both times are free parameters: --watch and --decide
strategy   "active": the search for sets; "random": random sets of the same size
batch      eight questions at once: jointly chosen, one at a time, or the eight of largest value
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from prefero.acquisition.answer_information import information_of
from prefero.acquisition.base import Strategy
from prefero.acquisition.mutual_information import MutualInformation
from prefero.acquisition.predictive_information import PredictiveInformation
from prefero.kernels import RBF
from prefero.learner import Learner
from prefero.models.preference_gp import PreferenceGP
from prefero.plots.style import new_figure, save_figure, style_axis
from prefero.questions import Question
from prefero.questions.answer_kinds import Kind, choices_of
from prefero.simulation.tasks import Task, make_task

KINDS: tuple[Kind, ...] = ("pair", "strength", "best-of-3", "best-of-4", "rank-3", "rank-4")
BATCH = 8
MODEL = PreferenceGP(RBF(0.1), noise=0.1, strong_margin=0.7, learn=False)


class Measured(NamedTuple):
    """One session: bits of each answer, and the accuracy after each."""

    bits: list[float]
    accuracy: list[float]


def seconds_of(kind: Kind, watch: float, decide: float) -> float:
    """The time of one answer."""
    return watch + decide * float(np.log2(len(choices_of(kind, ties=False))))


def session(task: Task, kind: Kind, strategy: Strategy, answers: int, seed: int) -> Measured:
    """A simulated user answers questions of one kind."""
    rng, learner = np.random.default_rng(seed), Learner(task.pool, seed=seed, model=MODEL)
    found = Measured([], [])
    for _ in range(answers):
        question = learner.ask(strategy=strategy, kind=kind)
        items = np.array([question.items])
        bits = information_of(learner.belief(), task.pool, items, kind, MutualInformation(), draws=400)
        found.bits.append(float(bits[0]))
        learner.tell(question, task.user.answer_question(question, task.pool.scaled, rng))
        found.accuracy.append(accuracy_of(learner, task))
    return found


def accuracy_of(learner: Learner, task: Task) -> float:
    """The share of test pairs that are predicted."""
    left, right = task.test_set.sides
    return task.test_set.accuracy(learner.belief().probability(left, right))


def batches(task: Task, how: str, rounds: int, seed: int) -> list[float]:
    """The accuracy after each round of eight answers."""
    rng, learner = np.random.default_rng(seed), Learner(task.pool, seed=seed, model=MODEL)
    found = []
    for _ in range(rounds):
        if how == "one at a time":
            for _ in range(BATCH):
                _tell(learner, task, learner.ask(), rng)
        else:
            asked = learner.ask(count=BATCH) if how == "jointly" else _top(learner, task, rng)
            for question in asked:
                _tell(learner, task, question, rng)
        found.append(accuracy_of(learner, task))
    return found


def _tell(learner: Learner, task: Task, question: Question, rng: np.random.Generator) -> None:
    learner.tell(question, task.user.answer_question(question, task.pool.scaled, rng))


def _top(learner: Learner, task: Task, rng: np.random.Generator) -> list[Question]:
    """The eight pairs of largest value, of a random part of the pool; nothing keeps them apart."""
    some = rng.choice(len(task.pool), min(60, len(task.pool)), replace=False)
    pairs = some[np.column_stack(np.triu_indices(len(some), 1))]
    values = PredictiveInformation().score_questions(learner.belief(), task.pool, pairs)
    return [Question(*pair) for pair in pairs[np.argsort(-values)[:BATCH]].tolist()]


def draw(table: dict[tuple[Kind, str], tuple[float, float]], path: Path) -> None:
    """Bits for each answer and for each minute, by kind."""
    figure, axes = new_figure(2, width=4.6, height=3.2)
    for place, name in enumerate(("bits for each answer", "bits for each minute")):
        for shift, (strategy, color) in enumerate((("active", "#0b6e99"), ("random", "#bbbbbb"))):
            values = [table[kind, strategy][place] for kind in KINDS]
            at = np.arange(len(KINDS)) + 0.4 * (shift - 0.5)
            axes[place].bar(at, values, width=0.38, color=color, label=strategy)
        axes[place].set_xticks(range(len(KINDS)), KINDS, fontsize=7, rotation=30)
        style_axis(axes[place], ylabel=name)
    axes[0].legend(frameon=False, fontsize=8)
    save_figure(figure, path)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=4, help="simulated users")
    parser.add_argument("--answers", type=int, default=10, help="of each kind")
    parser.add_argument("--watch", type=float, default=4.0, help="seconds to watch a question")
    parser.add_argument("--decide", type=float, default=2.0, help="seconds for each bit of the answer")
    parser.add_argument("--trajectories", type=int, default=100)
    parser.add_argument("--figure", type=Path, help="where the figure is written, a .png file")
    options = parser.parse_args(argv)
    tasks = [
        make_task("quadratic", trajectories=options.trajectories, noise=0.1, seed=s)
        for s in range(options.runs)
    ]
    table = {}
    print(f"{'kind':10s} {'strategy':8s} {'s':>5s} {'bits':>6s} {'bits/min':>8s}  accuracy after 1 min, all")
    for kind in KINDS:
        for strategy in ("active", "random"):
            found = [session(t, kind, strategy, options.answers, s) for s, t in enumerate(tasks)]
            seconds, bits = seconds_of(kind, options.watch, options.decide), np.mean([m.bits for m in found])
            after = min(int(60 / seconds), options.answers) - 1
            accuracies = [np.mean([m.accuracy[n] for m in found]) for n in (after, -1)]
            table[kind, strategy] = float(bits), float(60 * bits / seconds)
            rates = f"{bits:6.2f} {60 * bits / seconds:8.1f}  {accuracies[0]:.3f} {accuracies[1]:.3f}"
            print(f"{kind:10s} {strategy:8s} {seconds:5.1f} {rates}", flush=True)
    if options.figure:
        draw(table, options.figure)
    for how in ("jointly", "one at a time", "the top eight"):
        rounds = np.mean([batches(t, how, 2, s) for s, t in enumerate(tasks)], axis=0)
        print(
            f"batches {how:14s} accuracy after 8 and 16 answers {rounds[0]:.3f} {rounds[1]:.3f}", flush=True
        )


if __name__ == "__main__":
    main()
