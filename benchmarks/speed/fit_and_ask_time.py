"""Speed of fitting and asking, as ratios to a bare Cholesky factorization or a bare matrix product."""

import itertools
import subprocess
import sys
import time

import numpy as np
from scipy.linalg import cholesky
from threadpoolctl import threadpool_limits

from benchmarks.timing import peak_memory, problem, row, seconds
from prefero.acquisition.searches.best_question import best_question
from prefero.kernels import RBF
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.inference.infer import Inference, infer
from prefero.models.inference.solution import WarmStart
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons

NOISE = Probit(0.1)


def first(data: Comparisons, count: int) -> Comparisons:
    return data[:count]


def fitting(answers: int = 200) -> None:
    _, data = problem(answers, 1000, 4)
    matrix = np.random.default_rng(0).standard_normal((answers, answers))
    matrix = matrix @ matrix.T + answers * np.eye(answers)
    kernel = RBF(0.3)
    # the time of a warm start depends on how surprising the last answer is: take turns to be the last
    turns = [data[np.roll(np.arange(answers), turn)] for turn in range(0, answers, answers // 10)]
    before = [infer(kernel, first(turn, answers - 1), NOISE).solution for turn in turns]
    starts = [WarmStart.from_solution(solution, answers) for solution in before]
    lasts = itertools.cycle(zip(turns, starts, strict=True))

    def warm_start() -> object:
        turn, start = next(lasts)
        return infer(kernel, turn, NOISE, "ep", start)

    def cold(inference: Inference) -> object:
        return infer(kernel, data, NOISE, inference)

    unit, laplace, ep, warm = seconds(
        lambda: cholesky(matrix, lower=True),
        lambda: cold("laplace"),
        lambda: cold("ep"),
        warm_start,
        repeats=30,
    )
    print(f"\nfit, {answers} answers, 4 features, fixed hyper-parameters, beside one Cholesky factorization")
    print(row("one Cholesky factorization", unit, unit))
    print(row("Laplace", laplace, unit, 40))
    print(row("EP", ep, unit, 80))
    print(row("EP, warm after one new answer", warm, unit, 30))


def asking(pool: int = 1000, answers: int = 200) -> None:
    x, data = problem(answers, pool, 4)
    V = np.random.default_rng(0).standard_normal((answers, pool))
    kernel, known = RBF(0.3), first(data, answers - 1)
    before = infer(kernel, known, NOISE).solution
    start = WarmStart.from_solution(before, answers)
    fitter = MixtureFitter(Reference.normal(4))
    fitter.fit(known)

    def mixture_after_one() -> object:
        fitter.fit(known)
        return best_question(fitter.fit(data), x)

    unit, one, both, back = seconds(
        lambda: V.T @ V,
        lambda: best_question(infer(kernel, data, NOISE, "ep", start).posterior, x),
        mixture_after_one,
        lambda: (fitter.fit(known), fitter.fit(first(data, answers - 2))),
        repeats=7,
    )
    mixture = both - back / 2  # stepping back for the next repeat is not part of the answer
    print(f"\nfrom an answer to the next question, pool of {pool}, {answers} answers, beside V.T @ V")
    print(row("V.T @ V", unit, unit))
    print(row("one structure", one, unit, 6))
    print(row(f"mixture of {len(fitter.fit(data).components)} components", mixture, unit, 20))
    for count, limit in ((50, 0.2), (200, 1.0)):
        fresh, warm = _refit(data, count)
        print(
            f"all hyper-parameters again at {count} answers: {warm:.3f} s (wanted {limit}), "
            f"from nothing {fresh:.3f} s"
        )


def _refit(data: Comparisons, count: int) -> tuple[float, float]:
    """A fit from nothing, and a refit of every candidate after one more answer, ARD parameters included."""
    some, fewer = first(data, count), first(data, count - 1)

    def warm() -> object:
        fitter._found, fitter._mixture = {}, None
        fitter._average.begin(0, None, True)  # so that every candidate is fitted again
        return fitter.fit(some)

    fitter = MixtureFitter(Reference.normal(4))
    fitter.fit(fewer)
    fresh, again = seconds(lambda: MixtureFitter(Reference.normal(4)).fit(some), warm, repeats=5)
    return fresh, again


def large_pool(pool: int = 10_000, answers: int = 200) -> None:
    x, data = problem(answers, pool, 4)
    V = np.random.default_rng(0).standard_normal((answers, pool))
    one, mixture = infer(RBF(0.3), data, NOISE).posterior, MixtureFitter(Reference.normal(4)).fit(data)
    small = peak_memory()
    best_question(one, x)
    best_question(mixture, x)
    grown = (peak_memory() - small) / 2**20
    unit, alone, mixed = seconds(
        lambda: V.T @ V, lambda: best_question(one, x), lambda: best_question(mixture, x), repeats=3
    )
    print(f"\nthe exactly best of {pool * (pool - 1) // 2:,} questions, {answers} answers, beside V.T @ V")
    print(row("V.T @ V", unit, unit))
    print(row("one structure", alone, unit, 5))
    print(row(f"mixture of {len(mixture.components)} components", mixed, unit, 25))
    print(f"memory added by both searches: {grown:.0f} MB (wanted below 1000)")


def importing() -> None:
    def start(code: str) -> object:
        return subprocess.run([sys.executable, "-c", code], check=True)

    base = "import numpy, scipy.linalg, scipy.special"
    bare, full = seconds(
        lambda: start(base), lambda: start(base + ", prefero"), repeats=7, clock=time.perf_counter
    )
    print(f"\nimport prefero: {full - bare:.3f} s more than {base!r} ({bare:.3f} s) (wanted below 0.4)")


def main() -> None:
    with threadpool_limits(1):
        fitting()
        asking()
        large_pool()
    importing()


if __name__ == "__main__":
    main()
