"""How fitting and asking grow with the answers, the pool and the features, beside bare matrix work.

    fit       EP and Laplace with fixed hyper-parameters, beside one Cholesky factorization (N x N)
    ask       the exactly best question of the pool, from one posterior and from a mixture of several,
              beside the bare product V.T @ V with V (N, M)
    mixture   its fit, once; while answers grow it goes on from half as many, else it starts from nothing

What is not being varied stays at 100 answers, a pool of 1000 and 4 features. The user's reward is
quadratic, so with many answers the mixture settles on that structure and asking becomes cheaper: the table
says how many components it has.
"""

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky
from threadpoolctl import threadpool_limits

from benchmarks.timing import problem, seconds
from prefero._support.optional import need
from prefero.acquisition.pool_search import best_question
from prefero.kernels import RBF
from prefero.models.inference import infer
from prefero.models.likelihood import Probit
from prefero.models.mixture_fitter import MixtureFitter
from prefero.models.reference import Reference
from prefero.questions import Comparisons

ANSWERS = (25, 50, 100, 200, 400, 800, 1600)
POOLS = (250, 500, 1000, 2000, 4000, 8000, 16000)
FEATURES = (1, 2, 4, 8, 16, 32, 64)
HELD = {"answers": 100, "pool": 1000, "features": 4}
NOISE = Probit(0.1)
WORDS = {"answers": "answers", "pool": "trajectories in the pool", "features": "features"}


class Times(NamedTuple):
    """Seconds, each beside the bare work of the same size."""

    factorization: float
    laplace: float
    ep: float
    product: float
    ask: float
    ask_mixture: float
    mixture: float
    components: int


LINES = {
    "factorization": ("one Cholesky factorization", "#8a8a8a", ":"),
    "laplace": ("fit, Laplace", "#d1662c", "-"),
    "ep": ("fit, EP", "#0b6e99", "-"),
    "product": ("V.T @ V", "#8a8a8a", "--"),
    "ask": ("ask, one posterior", "#4c9f70", "-"),
    "ask_mixture": ("ask, mixture", "#7b4fa3", "-"),
    "mixture": ("fit of the mixture", "#7b4fa3", "--"),
}


def measured(fitter: MixtureFitter, answers: int, pool: int, features: int) -> Times:
    x, data = problem(max(ANSWERS), max(POOLS), features)
    x, data = x[:pool], Comparisons(data.winners[:answers], data.losers[:answers], data.tied[:answers])
    kernel, rng = RBF(1.2 / features), np.random.default_rng(0)
    V, A = rng.standard_normal((answers, pool)), rng.standard_normal((answers, answers))
    A = A @ A.T + answers * np.eye(answers)
    start = time.process_time()
    mixture = fitter.fit(data)
    fitting = time.process_time() - start
    posterior, _ = infer(kernel, data, NOISE)
    bare_fit, laplace, ep = seconds(
        lambda: cholesky(A, lower=True),
        lambda: infer(kernel, data, NOISE, "laplace"),
        lambda: infer(kernel, data, NOISE, "ep"),
        repeats=repeats(answers, 400),
    )
    bare_ask, one, mixed = seconds(
        lambda: V.T @ V,
        lambda: best_question(posterior, x),
        lambda: best_question(mixture, x),
        repeats=repeats(pool, 4000),
    )
    return Times(bare_fit, laplace, ep, bare_ask, one, mixed, fitting, len(mixture.components))


def repeats(size: int, large: int) -> int:
    """Nine for the small, one for the large."""
    return 9 if size < large / 2 else 3 if size <= large else 1


def growing(what: str, sizes: Sequence[int]) -> Iterator[Times]:
    fitter = MixtureFitter(Reference.normal(HELD["features"]))
    for size in sizes:
        at = HELD | {what: size}
        yield measured(fitter if what == "answers" else MixtureFitter(Reference.normal(at["features"])), **at)


def table(what: str, sizes: Sequence[int]) -> list[Times]:
    held = ", ".join(f"{name} {number}" for name, number in HELD.items() if name != what)
    print(f"\ngrowing {what}, with {held}: ms, and beside the bare work (x)")
    print(
        f"{what:>9s}{'Cholesky':>10s}{'Laplace':>18s}{'EP':>18s}{'V.T @ V':>10s}{'ask, one':>18s}"
        f"{'ask, mixture of':>21s}{'mixture fit':>12s}"
    )
    found = []
    for size, t in zip(sizes, growing(what, sizes), strict=True):
        found.append(t)
        fit = f"{beside(t.laplace, t.factorization)}{beside(t.ep, t.factorization)}"
        ask = f"{beside(t.ask, t.product)}{t.components:3d}{beside(t.ask_mixture, t.product)}"
        print(
            f"{size:9d}{1e3 * t.factorization:10.2f}{fit}{1e3 * t.product:10.2f}{ask}{1e3 * t.mixture:12.0f}",
            flush=True,
        )
    powers(sizes, found)
    return found


def beside(taken: float, unit: float) -> str:
    return f"{1e3 * taken:9.1f}{taken / unit:7.1f} x"


def powers(sizes: Sequence[int], found: Sequence[Times]) -> None:
    """By which power of the size each time grows, over the larger half of the sizes."""
    half = len(sizes) // 2
    powers = {
        words: np.polyfit(np.log(sizes[half:]), np.log([getattr(t, name) for t in found[half:]]), 1)[0]
        for name, (words, _, _) in LINES.items()
    }
    print("grows with the power: " + ", ".join(f"{words} {power:.1f}" for words, power in powers.items()))


def draw(path: Path, panels: Mapping[str, tuple[Sequence[int], list[Times]]]) -> None:
    need("matplotlib", extra="plots").use("Agg")
    pyplot = need("matplotlib.pyplot", extra="plots")
    figure, axes = pyplot.subplots(1, 3, figsize=(13.0, 4.4), layout="constrained", sharey=True)
    for axis, (what, (sizes, found)) in zip(axes, panels.items(), strict=True):
        for name, (words, color, style) in LINES.items():
            times = [getattr(t, name) for t in found]
            axis.loglog(sizes, times, style, marker="o", markersize=3, color=color, label=words)
        axis.set(xlabel=WORDS[what], xticks=sizes, xticklabels=sizes)
        axis.minorticks_off()
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set(ylabel="seconds, one thread")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=7, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=140)
    pyplot.close(figure)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.time_by_size", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results/time-by-size.png"), help="where the plot goes"
    )
    parser.add_argument("--most", type=int, default=7, help="how many of the seven sizes, from the smallest")
    options = parser.parse_args(argv)
    sweeps = {"answers": ANSWERS, "pool": POOLS, "features": FEATURES}
    with threadpool_limits(1):
        panels = {what: (s[: options.most], table(what, s[: options.most])) for what, s in sweeps.items()}
    draw(options.out, panels)
    print(f"\nsaved {options.out}")


if __name__ == "__main__":
    main()
