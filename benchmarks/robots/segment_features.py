"""Rewards of robot learning tasks by the number of answers: features compared, and reward networks.

The tasks are those of `benchmarks.robots.segments`: segments of 50 steps, answers by the true return, and
held-out pairs. For each number of answers the accuracy on the held-out pairs is shown, of

    statistics    the default features
    steps         rewards of single steps
    moments       means and mean squares of states and actions
    thoughtful    what a person who knows the true reward would measure
    network       three small networks of state and action (needs torch; only by name)

or of any other word of the feature library, such as "pca(16)". Features have random questions and chosen
ones, networks random ones. All methods get the same random questions. Seeds from 1000 on are for choosing a
design.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.robots.segments import SOURCES, STEPS, SegmentTask, segment_task
from benchmarks.rows import Job, Row, labelled, mean_and_error, measured, row_parser, seeds_of
from prefero._support.arrays import Array, Indices
from prefero.datasets.features.embeddings.embedding import Embedding
from prefero.datasets.features.embeddings.steps import StepEmbedding
from prefero.datasets.features.library.library import extractor_for, features_of
from prefero.learner import Learner
from prefero.pools.pool import Pool

CHECKPOINTS = (10, 20, 50, 100, 200)
EXAMPLES = 512  # segments that an embedding is fitted to
FEATURES = ("statistics", "steps", "moments", "thoughtful")
NETWORK = "network"
QUESTIONS = ("random", "chosen")
MEMBERS, WIDTH, DECAY, ITERATIONS = 3, 64, 1e-2, 300  # of the networks; other settings do as well
OTHERS: dict[str, Callable[[SegmentTask, Indices], Array]] = {
    "moments": SegmentTask.moments,
    "thoughtful": SegmentTask.thoughtful,
}


# --- features ---------------------------------------------------------------------------------------------


def features(task: SegmentTask, name: str) -> tuple[Pool, Array]:
    """Of the pool and of the held-out segments; embeddings are fitted on the pool."""
    if name in OTHERS:
        every = OTHERS[name](task, np.arange(len(task.recording.states)))
        return _varying(every[task.pool], every[task.tested])
    pool, tested = task.episodes(task.pool), task.episodes(task.tested)
    if name == "steps":
        steps = StepEmbedding.fit(pool, 0)
        rows, held_out = (np.stack([list(steps(one).values()) for one in side]) for side in (pool, tested))
        return Pool(rows, steps.of_steps.names), held_out
    embedding = Embedding.of(name)
    made = [extractor_for(name) if embedding is None else embedding.fit(pool[:EXAMPLES])]
    sides = ([list(features_of(made, one).values()) for one in side] for side in (pool, tested))
    return _varying(*map(np.array, sides))


def _varying(pool: Array, tested: Array) -> tuple[Pool, Array]:
    """Without what is the same for all segments of the pool."""
    varies = pool.std(axis=0) > 1e-9 * (1 + np.abs(pool).max(axis=0))
    return Pool(pool[:, varies]), tested[:, varies]


def prefero(task: SegmentTask, name: str, questions: str, seed: int, most: int) -> Iterator[Row]:
    """The default model; `seconds` is the longest processor time of a question."""
    pool, tested = features(task, name)
    learner, longest = Learner(pool, seed=seed), 0.0
    for answers, seconds in task.teach(learner, most, seed, chosen=questions == "chosen"):
        longest = max(longest, seconds)
        if answers in CHECKPOINTS:
            accuracy = task.accuracy(learner.reward()(tested))
            yield {"answers": answers, "accuracy": accuracy, "seconds": longest}


# --- networks ---------------------------------------------------------------------------------------------


def steps_of(task: SegmentTask, places: Indices) -> Array:
    """States and actions of segments, standardized over the pool: (M, T, s + a)."""
    kept = task.recording
    every = np.concatenate([kept.states[:, :STEPS], kept.actions], axis=2)
    pool = every[task.pool].reshape(-1, every.shape[2])
    scale = pool.std(axis=0)
    scaled: Array = (every[places] - pool.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    return scaled


def winners_and_losers(task: SegmentTask, count: int, seed: int) -> tuple[Indices, Indices]:
    pairs = task.random_pairs(count, seed)
    first = task.prefers_first(pairs)
    return np.where(first, pairs[:, 0], pairs[:, 1]), np.where(first, pairs[:, 1], pairs[:, 0])


def network(task: SegmentTask, seed: int, most: int) -> Iterator[Row]:
    """An ensemble of small networks of state and action; each is trained on all answers at once."""
    tested = steps_of(task, task.tested)
    for count in (answers for answers in CHECKPOINTS if answers <= most):
        won, lost = (steps_of(task, side) for side in winners_and_losers(task, count, seed))
        members = [_member(won, lost, tested, 100 * seed + member) for member in range(MEMBERS)]
        yield {"answers": count, "accuracy": task.accuracy(np.mean(members, axis=0))}


def _member(winners: Array, losers: Array, tested: Array, seed: int) -> Array:
    """The standardized returns of held-out segments under one network."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    layers = [torch.nn.Linear(winners.shape[2], WIDTH), torch.nn.Tanh(), torch.nn.Linear(WIDTH, WIDTH)]
    model = torch.nn.Sequential(*layers, torch.nn.Tanh(), torch.nn.Linear(WIDTH, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=DECAY)
    both = torch.tensor(np.stack([winners, losers]), dtype=torch.float32)
    for _ in range(ITERATIONS):
        won, lost = model(both).squeeze(-1).sum(dim=2)
        loss = torch.nn.functional.softplus(lost - won).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        returns = (
            model(torch.tensor(tested, dtype=torch.float32)).squeeze(-1).sum(dim=1).numpy().astype(float)
        )
    standardized: Array = (returns - returns.mean()) / (returns.std() + 1e-9)
    return standardized


# --- measuring --------------------------------------------------------------------------------------------


def work(job: Job) -> list[Row]:
    """The accuracies of one teacher."""
    task, seed, most = segment_task(job["task"], job["seed"]), job["seed"], job["most"]
    if job["method"] == NETWORK:
        return list(network(task, seed, most))
    return list(prefero(task, job["method"], job["questions"], seed, most))


def table(rows: Sequence[Row], tasks: Sequence[str]) -> Iterator[str]:
    """A line for each task, method and kind of questions: the mean accuracy after each number of answers."""
    methods = dict.fromkeys((row["method"], row["questions"]) for row in rows)
    for task in (*tasks, "mean of all"):
        yield f"\n{task:32s}" + "".join(f"{answers:>16d}" for answers in CHECKPOINTS)
        here = [row for row in rows if task in (row["task"], "mean of all")]
        for method, questions in methods:
            mine = [row for row in here if (row["method"], row["questions"]) == (method, questions)]
            if mine:
                yield f"{f'{method}, {questions} questions':32s}" + "".join(_cells(mine))


def _cells(rows: Sequence[Row]) -> Iterator[str]:
    for answers in CHECKPOINTS:
        mine = [row["accuracy"] for row in rows if row["answers"] == answers]
        if mine:
            mean, error = mean_and_error(mine)
            yield f"{f'{mean:.3f}±{error:.3f}':>16s}"


def _parser() -> argparse.ArgumentParser:
    parser = row_parser("segment_features", __doc__, people=5)
    add: Any = parser.add_argument
    add("--tasks", nargs="+", choices=SOURCES, default=list(SOURCES), metavar="TASK", help="only these")
    add("--answers", type=int, choices=CHECKPOINTS, default=max(CHECKPOINTS), help="at most so many")
    add("--methods", nargs="+", default=FEATURES, metavar="METHOD", help="features, or network")
    add("--questions", nargs="+", choices=QUESTIONS, default=QUESTIONS, help="only these")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(argv)
    wanted = [
        {"label": options.label, "task": task, "method": method, "questions": questions, "seed": seed}
        | {"most": options.answers}
        for seed in seeds_of(options)
        for questions in options.questions
        for method in options.methods
        for task in options.tasks
        if questions == "random" or method != NETWORK
    ]
    rows = labelled(options, measured(options, wanted, work).rows)
    print("\n".join(table(rows, options.tasks)))


if __name__ == "__main__":
    main()
