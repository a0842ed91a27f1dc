"""Many people: the time to fit 5,000 of them, and whether the probability of carelessness is calibrated.

The time is that of 50,000 answers about 100 items with six features, beside that of a bare product of the
same size: the (N, r) matrix of answered differences with an (r, r) matrix. Carelessness is judged in groups
with 20 answers each, of whom some answer at random.
"""

import argparse
import time
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from benchmarks.people.crowd import fit, orders, split
from benchmarks.timing import peak_memory, seconds
from prefero._support.arrays import Array, Flags
from prefero.models.preference_gp import PreferenceGP
from prefero.plots.tables import markdown_table

ITEMS, ANSWERS = 100, 10
EDGES = (0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0)
CARELESS, TRAJECTORIES, FEATURES = 0.15, 30, 3


def timed(people: int) -> str:
    """Seconds, the ratio to the bare product, and memory."""
    data = split(orders(people, ITEMS, 0), None, ANSWERS, 1, 0)
    product = np.random.default_rng(0).standard_normal((people * ANSWERS, ITEMS)), np.eye(ITEMS)
    bare = seconds(lambda: product[0] @ product[1], repeats=5)[0]
    start, clock = time.process_time(), time.perf_counter()
    fit(data.features, data.learned, data.learned[:, 0])
    spent, wall = time.process_time() - start, time.perf_counter() - clock
    return (
        f"{people} people x {ANSWERS} answers: {spent:.1f} s of the processor ({wall:.1f} s by the clock), "
        f"{spent / bare:.0f} times a bare product, {peak_memory() / 2**20:.0f} MiB at most"
    )


def careless_group(seed: int, people: int = 12, answers: int = 20) -> tuple[Array, Flags]:
    """Of simulated people: the probability of carelessness, and whether they are, (P,)."""
    rng = np.random.default_rng([seed, 7])
    x = rng.standard_normal((TRAJECTORIES, FEATURES))
    careless = rng.random(people) < CARELESS
    common = rng.standard_normal(FEATURES)
    weights = np.sqrt(0.6) * common + np.sqrt(0.4) * rng.standard_normal((people, FEATURES))
    noises = np.exp(rng.normal(np.log(0.2), 0.7, people))
    who = np.repeat(np.arange(people), answers)
    pairs = np.array([rng.choice(TRAJECTORIES, 2, replace=False) for _ in who])
    gap = np.sum((x[pairs[:, 0]] - x[pairs[:, 1]]) * weights[who], axis=1) / np.sqrt(FEATURES)
    seen = gap + np.sqrt(2.0) * noises[who] * rng.standard_normal(len(who))
    left = np.where(careless[who], rng.random(len(who)) < 0.5, seen > 0)
    model = PreferenceGP().fit(x, np.where(left[:, None], pairs, pairs[:, ::-1]), people=who)
    found = np.array([model.people_.style(str(person)).careless for person in range(people)])
    return found, careless


def calibration(groups: int) -> str:
    """The share of careless people by the probability that was stated."""
    found, true = (np.concatenate(part) for part in zip(*map(careless_group, range(groups)), strict=True))
    rows = []
    for low, high in pairwise(EDGES):
        here = (found >= low) & ((found < high) | (high == 1.0))
        if here.any():
            stated, share = found[here].mean(), true[here].mean()
            rows.append([f"{low:g} to {high:g}", int(here.sum()), f"{stated:.3f}", f"{share:.3f}"])
    return markdown_table(["probability", "people", "stated on average", "were careless"], rows)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks crowd_time", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--people", type=int, nargs="*", default=[625, 1250, 2500, 5000], help="to fit")
    parser.add_argument("--groups", type=int, default=30, help="with careless people; 0 leaves them out")
    options = parser.parse_args(argv)
    for people in options.people:
        print(timed(people), flush=True)
    if options.groups:
        print(calibration(options.groups))


if __name__ == "__main__":
    main()
