"""What features cost and bring: rewards of robot learning tasks from features that nobody chose.

The tasks are those of `benchmarks.segments`: segments of 50 steps, answers by the true return, held-out
pairs. For each number of answers the accuracy on the held-out pairs is shown, of

    statistics          the default features
    former default      path length, smoothness, control effort and duration
    moments             means and mean squares of states and actions
    pca, random network, time contrastive    embeddings, with 16 features each
    thoughtful          what a person who knows the true reward would measure

with random questions and with chosen ones. Every method gets the same random questions. Seeds from 1000 on
are for choosing a design.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.rows import Job, Row, labelled, mean_and_error, measured, row_parser, seeds_of, values
from benchmarks.segments import SegmentTask, add_segment_options, segment_task
from prefero._support.arrays import Array, Indices
from prefero.datasets.features.embeddings.embedding import Embedding
from prefero.datasets.features.library.library import extractor_for, features_of
from prefero.learner import Learner
from prefero.pools.pool import Pool

CHECKPOINTS = (10, 20, 50, 100, 200)
EXAMPLES = 512
FORMER = ("path-length", "log-dimensionless-jerk", "control-effort", "duration")
WORDS: dict[str, tuple[str, ...]] = {
    "statistics": ("statistics",),
    "former default": FORMER,
    "pca": ("pca(16)",),
    "random network": ("random-network(16)",),
    "time contrastive": ("time-contrastive(16)",),
}
OTHERS: dict[str, Callable[[SegmentTask, Indices], Array]] = {
    "moments": SegmentTask.moments,
    "thoughtful": SegmentTask.thoughtful,
}
FEATURES = (*WORDS, *OTHERS)
QUESTIONS = ("random", "chosen")


def features(task: SegmentTask, name: str) -> tuple[Array, Array]:
    """Of the pool and of the held-out segments; embeddings are fitted on the pool."""
    if name in OTHERS:
        every = OTHERS[name](task, np.arange(len(task.recording.states)))
        return _varying(every[task.pool], every[task.tested])
    pool, tested = task.episodes(task.pool), task.episodes(task.tested)
    found = [Embedding.of(word) for word in WORDS[name]]
    pairs = zip(found, WORDS[name], strict=True)
    made = [extractor_for(word) if one is None else one.fit(pool[:EXAMPLES]) for one, word in pairs]
    sides = ([list(features_of(made, one).values()) for one in side] for side in (pool, tested))
    return _varying(*map(np.array, sides))


def _varying(pool: Array, tested: Array) -> tuple[Array, Array]:
    """Without what is the same for all segments of the pool."""
    varies = pool.std(axis=0) > 1e-9 * (1 + np.abs(pool).max(axis=0))
    return pool[:, varies], tested[:, varies]


def work(job: Job) -> list[Row]:
    """The accuracies of one teacher."""
    task = segment_task(job["task"], job["seed"])
    pool, tested = features(task, job["features"])
    learner = Learner(Pool(pool), seed=job["seed"])
    return list(_taught(task, learner, tested, job["questions"], job["seed"], job["most"]))


def _taught(
    task: SegmentTask, learner: Learner, tested: Array, questions: str, seed: int, most: int
) -> Iterator[Row]:
    longest = 0.0
    for answers, seconds in task.teach(learner, most, seed, chosen=questions == "chosen"):
        longest = max(longest, seconds)
        if answers in CHECKPOINTS:
            accuracy = task.accuracy(learner.reward()(tested))
            yield {"answers": answers, "accuracy": accuracy, "d": tested.shape[1], "seconds": longest}


def table(rows: Sequence[Row], tasks: Sequence[str]) -> Iterator[str]:
    """A line for each task, features and questions: the mean accuracy after each number of answers."""
    for task in (*tasks, "mean of all"):
        yield f"\n{task:42s}" + "".join(f"{answers:>16d}" for answers in CHECKPOINTS)
        for name in FEATURES:
            for questions in QUESTIONS:
                mine = [r for r in rows if r["features"] == name and r["questions"] == questions]
                mine = [r for r in mine if task in (r["task"], "mean of all")]
                if mine:
                    label = f"{name} ({np.mean([r['d'] for r in mine]):.0f}), {questions} questions"
                    yield f"{label:42s}" + "".join(_cells(mine, task))


def _cells(rows: Sequence[Row], task: str) -> Iterator[str]:
    for answers in CHECKPOINTS:
        mine = [r for r in rows if r["answers"] == answers]
        if not mine:
            continue
        if task == "mean of all":
            yield f"{np.mean([r['accuracy'] for r in mine]):>16.3f}"
            continue
        mean, error = mean_and_error(values(mine, "accuracy").values())
        yield f"{f'{mean:.3f}±{error:.3f}':>16s}"


def _parser() -> argparse.ArgumentParser:
    parser = row_parser("segment_features", __doc__, people=5)
    add_segment_options(parser, CHECKPOINTS)
    add: Any = parser.add_argument
    add("--features", nargs="+", choices=FEATURES, default=FEATURES, metavar="FEATURES", help="only these")
    add("--questions", nargs="+", choices=QUESTIONS, default=QUESTIONS, help="only these")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(argv)
    wanted = [
        {"label": options.label, "task": task, "features": name, "questions": questions, "seed": seed}
        | {"most": options.answers}
        for seed in seeds_of(options)
        for questions in options.questions
        for name in options.features
        for task in options.tasks
    ]
    rows = labelled(options, measured(options, wanted, work).rows)
    print("\n".join(table(rows, options.tasks)))


if __name__ == "__main__":
    main()
