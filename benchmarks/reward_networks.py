"""Rewards of steps beside reward networks: accuracy by the number of answers on robot learning tasks.

The tasks are those of `benchmarks.segments`: segments of 50 steps, answers by the true return, held-out
pairs.

    steps, random       Prefero with the features `steps`, and random questions
    steps, chosen       the same with its own questions
    network             three small networks of state and action; `--tune` compares their settings
    imitation           the reward ensemble of the package `imitation`, as its documentation sets it up

All but the second learn from the same random questions. Networks need torch, and the last row `imitation`.
Seeds from 1000 on are for choosing these settings.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks.rows import (
    Job,
    Row,
    RowFile,
    labelled,
    mean_and_error,
    measure,
    measured,
    row_parser,
    seeds_of,
)
from benchmarks.segments import STEPS, SegmentTask, add_segment_options, segment_task
from prefero._support.arrays import Array, Indices
from prefero.datasets.features.embeddings.steps import StepEmbedding
from prefero.learner import Learner
from prefero.pools.pool import Pool

CHECKPOINTS = (10, 20, 50, 100, 200)
METHODS = ("steps, random", "steps, chosen", "network", "imitation")
MEMBERS = 3
CHOICES = {"width": (32, 64), "decay": (1e-3, 1e-2, 1e-1), "iterations": (100, 300)}
SETTINGS: dict[str, Any] = {"width": 64, "decay": 1e-2, "iterations": 300}


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


# --- Prefero ----------------------------------------------------------------------------------------------


def prefero(task: SegmentTask, seed: int, most: int, chosen: bool) -> Iterator[Row]:
    pool, tested = task.episodes(task.pool), task.episodes(task.tested)
    embedding = StepEmbedding.fit(pool, 0)
    rows, held_out = (np.stack([list(embedding(one).values()) for one in side]) for side in (pool, tested))
    learner = Learner(Pool(rows, embedding.of_steps.names), seed=seed)
    for answers, _ in task.teach(learner, most, seed, chosen=chosen):
        if answers in CHECKPOINTS:
            yield {"answers": answers, "accuracy": task.accuracy(learner.reward()(held_out))}


# --- networks ---------------------------------------------------------------------------------------------


def network(task: SegmentTask, seed: int, most: int, **tuned: Any) -> Iterator[Row]:
    """An ensemble; each member is trained on all answers at once."""
    tested = steps_of(task, task.tested)
    for count in (answers for answers in CHECKPOINTS if answers <= most):
        won, lost = (steps_of(task, side) for side in winners_and_losers(task, count, seed))
        members = [
            _member(won, lost, tested, 100 * seed + member, **{**SETTINGS, **tuned})
            for member in range(MEMBERS)
        ]
        yield {"answers": count, "accuracy": task.accuracy(np.mean(members, axis=0))}


def _member(
    winners: Array, losers: Array, tested: Array, seed: int, width: int, decay: float, iterations: int
) -> Array:
    """The standardized returns of held-out segments under one network."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    layers = [torch.nn.Linear(winners.shape[2], width), torch.nn.Tanh(), torch.nn.Linear(width, width)]
    model = torch.nn.Sequential(*layers, torch.nn.Tanh(), torch.nn.Linear(width, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=decay)
    both = torch.tensor(np.stack([winners, losers]), dtype=torch.float32)
    for _ in range(iterations):
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


def imitation(task: SegmentTask, seed: int, most: int) -> Iterator[Row]:
    """Five networks of 32 and 32 units with running normalization, three epochs in each of a few rounds."""
    kept, tested = task.recording, task.tested
    for count in (answers for answers in CHECKPOINTS if answers <= most):
        members = _trained_by_imitation(task, count, seed)
        flat = (kept.states[tested, :STEPS], kept.actions[tested], kept.states[tested, 1:])
        parts = [part.reshape(-1, part.shape[2]).astype(np.float32) for part in flat]
        rewards = members.predict_processed(*parts, np.zeros(len(parts[0]), dtype=bool))
        yield {"answers": count, "accuracy": task.accuracy(rewards.reshape(len(tested), STEPS).sum(axis=1))}


def _trained_by_imitation(task: SegmentTask, count: int, seed: int) -> Any:
    import torch
    from gymnasium.spaces import Box
    from imitation.algorithms import preference_comparisons as comparisons
    from imitation.data.types import TrajectoryWithRew
    from imitation.rewards.reward_nets import BasicRewardNet, RewardEnsemble
    from imitation.util import logger
    from imitation.util.networks import RunningNorm

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    kept, rng = task.recording, np.random.default_rng(seed)
    spaces = [Box(-np.inf, np.inf, (part.shape[2],), np.float32) for part in (kept.states, kept.actions)]
    members = [BasicRewardNet(*spaces, normalize_input_layer=RunningNorm) for _ in range(5)]
    ensemble = RewardEnsemble(*spaces, members)
    trainer = comparisons.EnsembleTrainer(
        comparisons.PreferenceModel(ensemble), comparisons.CrossEntropyRewardLoss(), epochs=3, rng=rng
    )
    trainer.logger = logger.configure(format_strs=[])
    dataset = comparisons.PreferenceDataset()

    def fragment(at: int) -> Any:
        states, actions = kept.states[at].astype(np.float32), kept.actions[at].astype(np.float32)
        return TrajectoryWithRew(states, actions, None, terminal=False, rews=kept.rewards[at])

    won, lost = winners_and_losers(task, count, seed)
    dataset.push(
        [(fragment(a), fragment(b)) for a, b in zip(won, lost, strict=True)], np.ones(count, np.float32)
    )
    for round_ in range(8):  # in its loop, the networks are trained after each of some rounds of questions
        trainer.train(dataset, epoch_multiplier=4.0 if round_ == 0 else 1.0)
    return ensemble


# --- measuring --------------------------------------------------------------------------------------------


def work(job: Job) -> list[Row]:
    """The accuracies of one teacher."""
    task, seed, most = segment_task(job["task"], job["seed"]), job["seed"], job["most"]
    if job["method"] == "network":
        return list(network(task, seed, most, **{name: job[name] for name in CHOICES if name in job}))
    if job["method"] == "imitation":
        return list(imitation(task, seed, most))
    return list(prefero(task, seed, most, chosen=job["method"] == "steps, chosen"))


def table(rows: Sequence[Row], tasks: Sequence[str]) -> Iterator[str]:
    """A line for each task and method: the mean accuracy after each number of answers."""
    for task in (*tasks, "mean of all"):
        yield f"\n{task:20s}" + "".join(f"{answers:>16d}" for answers in CHECKPOINTS)
        for method in METHODS:
            mine = [r for r in rows if r["method"] == method and task in (r["task"], "mean of all")]
            if mine:
                yield f"{method:20s}" + "".join(_cells(mine))


def _cells(rows: Sequence[Row]) -> Iterator[str]:
    for answers in CHECKPOINTS:
        mine = [r for r in rows if r["answers"] == answers]
        if mine:
            mean, error = mean_and_error(row["accuracy"] for row in mine)
            yield f"{f'{mean:.3f}±{error:.3f}':>16s}"


def tune(options: argparse.Namespace, seeds: Sequence[int]) -> None:
    """The mean accuracy of each choice of hyper-parameters, the best last."""
    file = RowFile(options.rows)
    choices = [dict(zip(CHOICES, chosen, strict=True)) for chosen in product(*CHOICES.values())]
    wanted = [
        {"label": f"tune {choice}", "task": task, "method": "network", "seed": 1000 + seed}
        | {"most": options.answers, **choice}
        for seed in seeds
        for task in options.tasks
        for choice in choices
    ]
    measure(file, wanted, work, options.jobs, "teachers")
    found = {
        label: [r["accuracy"] for r in file.rows if r["label"] == label]
        for label in {w["label"] for w in wanted}
    }
    for label, accuracies in sorted(found.items(), key=lambda item: np.mean(item[1])):
        print(f"{np.mean(accuracies):.4f}  {label}")


def _parser() -> argparse.ArgumentParser:
    parser = row_parser("reward_networks", __doc__, people=5)
    add_segment_options(parser, CHECKPOINTS)
    add: Any = parser.add_argument
    add("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD", help="only these")
    add("--tune", action="store_true", help="choose the hyper-parameters of the network")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(argv)
    seeds = seeds_of(options)
    if options.tune:
        tune(options, seeds)
        return
    wanted = [
        {"label": options.label, "task": task, "method": method, "seed": seed, "most": options.answers}
        for seed in seeds
        for method in options.methods
        for task in options.tasks
    ]
    rows = labelled(options, measured(options, wanted, work).rows)
    print("\n".join(table(rows, options.tasks)))


if __name__ == "__main__":
    main()
