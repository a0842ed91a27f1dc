"""The exactly best of five thousand million questions on a GPU, beside the bare product that it contains."""

import time

import numpy as np

from benchmarks.timing import problem, row
from prefero._support.arrays import AnyArray
from prefero._support.optional import need
from prefero.acquisition.pool_search import best_question, score_all
from prefero.kernels import RBF
from prefero.models.inference import infer
from prefero.models.likelihood import Probit

TILE = 8192


def main(pool: int = 100_000, answers: int = 200, part: int = 4000) -> None:
    torch = need("torch", extra="gpu")
    if not torch.cuda.is_available():
        print("no GPU: torch sees none on this machine, so there is nothing to measure")
        return
    x, data = problem(answers, pool, 4)
    posterior = infer(RBF(0.3), data, Probit(0.1))[0]
    on_gpu = torch.asarray(x, device="cuda")
    V = torch.randn(answers, pool, dtype=torch.float64, device="cuda")
    unit, search = (
        _seconds(torch, work) for work in (lambda: _bare(V), lambda: best_question(posterior, on_gpu))
    )
    print(f"{torch.cuda.get_device_name()}, float64, {answers} answers, {pool * (pool - 1) // 2:,} questions")
    print(row("V.T @ V, in tiles", unit, unit))
    print(row("the best question", search, unit, 5))
    print(f"memory at its highest: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
    print("the whole pool:", best_question(posterior, on_gpu))
    scores = np.triu(score_all(posterior, x[:part]), 1)
    left, right = divmod(int(np.argmax(scores)), part)
    found = best_question(posterior, on_gpu[:part])
    same = (found.left, found.right) == (left, right)
    print(
        f"of the first {part}: GPU {found.left, found.right}, brute force on the CPU {left, right}: "
        f"{'the same' if same else 'NOT THE SAME'}, bits apart {abs(found.value - scores.max()):.1e}"
    )


def _bare(V: AnyArray) -> None:
    """V.T @ V a tile at a time, since the whole of it may not fit."""
    for i in range(0, V.shape[1], TILE):
        for j in range(0, V.shape[1], TILE):
            V[:, i : i + TILE].T @ V[:, j : j + TILE]


def _seconds(torch: AnyArray, work: AnyArray, repeats: int = 5) -> float:
    times = []
    for _ in range(repeats + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))


if __name__ == "__main__":
    main()
