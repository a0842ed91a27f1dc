"""How long a question about a large pool takes under a mixture of eight, and how good it is known to be.

predictive   the default: each side is exchanged for every trajectory (of at most 20,000)
mutual       mutual information, within 0.5 %, by branch and bound over groups of trajectories
gap          how much better another question may be; nan where nothing is proven
"""

import argparse
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.timing import peak_memory, problem
from prefero._support.arrays import AnyArray
from prefero._support.optional import need
from prefero._support.parallel import core_count
from prefero.acquisition.searches.best_question import best_question
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.posterior.gaussian import Distribution

FEATURES = 4
NAMES = {"predictive": "predictive-information", "mutual": "mutual-information"}


def asked(belief: Distribution, pool: AnyArray, name: str) -> str:
    """The time of one question, its value, and the memory at most so far."""
    start, before = time.perf_counter(), time.process_time()
    found = best_question(belief, pool, acquisition=NAMES[name])
    seconds, used = time.perf_counter() - start, time.process_time() - before
    return (
        f"{seconds:7.2f} s on the clock, {used:7.2f} s of the processor, {found.value:.4f} bits, "
        f"gap {found.optimality_gap:.4f}, memory {peak_memory() / 2**30:.1f} GiB"
    )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks large_pool_questions", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--pools", type=int, nargs="+", default=[10_000, 100_000], help="numbers of trajectories")
    add("--answers", type=int, nargs="+", default=[5, 30], help="numbers of answers")
    add("--acquisition", nargs="+", default=list(NAMES), choices=list(NAMES), help="which functions")
    add("--gpu", action="store_true", help="search on the GPU that torch finds")
    options = parser.parse_args(argv)
    torch = need("torch", extra="gpu") if options.gpu else None
    where = torch.cuda.get_device_name() if torch else f"{core_count()} cores"
    for answers in options.answers:
        belief = MixtureFitter(Reference.normal(FEATURES)).fit(problem(answers, 2000, FEATURES)[1])
        for size in options.pools:
            x: AnyArray = np.random.default_rng(7).standard_normal((size, FEATURES))
            pool = torch.asarray(x, device="cuda") if torch else x
            after = f"{size:8,d} trajectories, {len(belief.components)} components after {answers:3d} answers"
            for name in options.acquisition:
                print(f"{where}: {after}, {name:10s} {asked(belief, pool, name)}", flush=True)


if __name__ == "__main__":
    main()
