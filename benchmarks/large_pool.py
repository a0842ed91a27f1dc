"""A pool of 100,000 trajectories: how long it takes to save, load, learn, ask and rank, and how much memory.

    save, load     the pool's file, features and poses
    table          the same features from a Parquet table, every row checked
    learn          the fit after so many answers; it does not depend on the pool
    ask            the exactly best of all pairs: 5,000 million of them
    rank           every trajectory by its reward, and the best

Times are the processor's, of one thread. With --gpu only the search for the question is timed, on a GPU that
torch finds.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.timing import peak_memory, problem
from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero.acquisition.pool_search import best_question
from prefero.datasets import extract_features, open_dataset
from prefero.models.mixture import MixturePosterior
from prefero.models.mixture_fitter import MixtureFitter
from prefero.models.reference import Reference
from prefero.pools.pool import Pool
from prefero.questions import Comparisons
from prefero.reward import Reward
from prefero.trajectories.trajectory import Trajectory

R = TypeVar("R")
STEPS, PARTS = 50, 2  # of a replay


def timed(what: str, work: Callable[[], R]) -> R:
    """Do it, and say how long it took and how large the process has been."""
    start, wall = time.process_time(), time.perf_counter()
    done = work()
    taken, passed = time.process_time() - start, time.perf_counter() - wall
    print(
        f"{what:52s}{taken:10.2f} s{passed:10.2f} s on the clock{peak_memory() / 2**30:9.2f} GiB", flush=True
    )
    return done


def large_pool(features: Array) -> Pool:
    """With something to replay for each."""
    count = len(features)
    poses: Any = np.zeros((count, STEPS, PARTS, 3), dtype=np.float32)
    return Pool(features, trajectories=Trajectory(np.zeros((count, 2)), features, poses))


def written(path: Path, features: Array) -> None:
    arrow = need("pyarrow", extra="datasets")
    columns = {f"feature {i}": values for i, values in enumerate(features.T)}
    need("pyarrow.parquet", extra="datasets").write_table(arrow.table(columns), path)


def files(folder: Path, features: Array) -> Pool:
    """The pool, kept and loaded; and its features from a table."""
    pool = large_pool(features)
    timed("save the pool to a file", lambda: pool.save(folder / "pool.npz"))
    written(folder / "features.parquet", features)
    timed(
        "take the features from a table", lambda: extract_features(open_dataset(folder / "features.parquet"))
    )
    pool = timed("load the pool", lambda: Pool.load(folder / "pool.npz"))
    timed("one trajectory to show", lambda: pool.trajectory(len(pool) // 2))
    return pool


def questions(mixture: MixturePosterior, pool: Pool) -> None:
    one = MixturePosterior(((1.0, mixture.components[0][1]),), mixture.structures, mixture.log_evidence)
    parts = len(mixture.components)
    timed("ask, one Gaussian", lambda: print(" ", best_question(one, pool)))
    timed(f"ask, the mixture of {parts}", lambda: print(" ", best_question(mixture, pool)))


def questions_on_gpu(mixture: MixturePosterior, pool: Pool) -> None:
    torch = need("torch", extra="gpu")
    if not torch.cuda.is_available():
        print("no GPU: torch sees none on this machine")
        return
    x = torch.asarray(pool.scaled, device="cuda")
    best_question(mixture, x[:9000])  # the first time is another time
    timed("ask, the mixture, on the GPU", lambda: print(" ", best_question(mixture, x)))
    print(f"memory of {torch.cuda.get_device_name()}: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.large_pool", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--pool", type=int, default=100_000, help="how many trajectories")
    parser.add_argument("--answers", type=int, default=30)
    parser.add_argument("--features", type=int, default=4)
    parser.add_argument("--gpu", action="store_true", help="ask on the GPU instead of here")
    options = parser.parse_args(argv)
    x, data = problem(options.answers, options.pool, options.features)
    pairs = options.pool * (options.pool - 1) // 2
    print(f"{options.pool:,} trajectories of {options.features} features, {pairs:,} questions")
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        pool = Pool(x) if options.gpu else files(Path(folder), x)
        scale = pool.scaling
        data = Comparisons(scale(data.winners), scale(data.losers), data.tied, scale)
        fitter = MixtureFitter(Reference.normal(options.features))
        mixture = timed(f"learn from {options.answers} answers", lambda: fitter.fit(data))
        (questions_on_gpu if options.gpu else questions)(mixture, pool)
        reward = Reward(mixture)
        timed("rank all, and find the best", lambda: (reward.rank(pool), reward.best(pool)))


if __name__ == "__main__":
    main()
