"""Many people: held-out answers predicted by a pooled, by independent and by a hierarchical model.

The file has what people answered about the same items (`benchmarks.people.crowd_file`):

    features    (M, d)   of the items
    answers     (N, 4)   person, left, right, and 0 for left preferred, 1 for right, 2 for equal

For each repeat some people are drawn, and of each person's answers some to learn from and others to test on.
All models learn from the same answers; only the first 200 people get a model of their own. Without a file,
groups are simulated: rewards that people share to a part, and what each one says with a noise of their own;
or, with `--kind orders`, people who put items into an order, by a common taste, some latent factors, and a
taste of their own for each item. With `--set` the file is a folder of clones of public repositories
(`benchmarks.people.sets`): 5,000 people's orders of ten kinds of sushi. crowdGPPL's published figures
(PUBLISHED) are of 100 people with 5 or 20 pairs each, and of all with 10 each.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.people.crowd_file import Crowd, CrowdFileError, read
from benchmarks.people.judgements import preferred_first
from benchmarks.people.sets import CROWDS, SetNotFoundError, read_set
from benchmarks.people.tables import score
from benchmarks.rows import Row, mean_and_error
from prefero._support.arrays import Array, Indices
from prefero._support.progress_bar import progress
from prefero.models.inference.solution import ConvergenceError
from prefero.models.preference_gp import PreferenceGP
from prefero.plots.tables import markdown_table
from prefero.simulation.users import REWARD_KINDS, with_unit_std

TRAJECTORIES, FEATURES = 60, 4  # of simulated groups
EVALUATED = 25  # of a larger simulated group, whose answers are predicted
HELD_OUT = 60  # answers of each of these
MOST_EACH = 200  # people who get a model of their own
MEASURES = ("accuracy", "log_likelihood", "seconds")
# Accuracy and cross-entropy, by set and pairs of each person (Simpson and Gurevych, Machine Learning 2020).
PUBLISHED = {
    ("sushi-a", 5): {"GPPL, each person alone": (0.67, 0.64), "crowdGPPL": (0.71, 0.56)},
    ("sushi-a", 20): {"GPPL, each person alone": (0.83, 0.40), "crowdGPPL": (0.84, 0.33)},
    ("sushi-b", 10): {"GPPL, each person alone": (0.75, 0.60), "crowdGPPL": (0.76, 0.50)},
}


class Split(NamedTuple):
    """Answers to learn from, and others of some of the same people to test on."""

    features: Array
    learned: Indices
    tested: Indices


def split(crowd: Crowd, people: int | None, train: int, test: int, seed: int) -> Split:
    """So many people, answers of each to learn from, and other answers that are not "equal" to test on.

    People who have not answered more questions than are learned from are left out.
    """
    rng, enough = np.random.default_rng(seed), people_with(crowd, train + 1)
    chosen = enough if people is None else rng.permutation(enough)[:people]
    learned, tested = [], []
    order = rng.permutation(len(crowd.answers))
    by_person = order[np.argsort(crowd.answers[order, 0], kind="stable")]
    who = crowd.answers[by_person, 0]
    for person in chosen:
        rows = by_person[np.searchsorted(who, person) : np.searchsorted(who, person, side="right")]
        rest = rows[train:][crowd.answers[rows[train:], 3] != 2]
        learned.append(rows[:train])
        tested.append(rest[:test])
    return Split(
        crowd.features, crowd.answers[np.concatenate(learned)], crowd.answers[np.concatenate(tested)]
    )


def people_with(crowd: Crowd, fewest: int) -> Indices:
    """The people with so many answers or more."""
    people, counts = np.unique(crowd.answers[:, 0], return_counts=True)
    return people[counts >= fewest]


# --- models -----------------------------------------------------------------------------------------------


def fit(features: Array, answers: Indices, people: Indices | None = None) -> PreferenceGP:
    """The default model; "equal" answers come last."""
    equal = answers[:, 3] == 2
    order = np.concatenate([np.flatnonzero(~equal), np.flatnonzero(equal)])
    who = None if people is None else people[order]
    return PreferenceGP().fit(
        features, preferred_first(answers[~equal]), preferred_first(answers[equal]), people=who
    )


def pooled(data: Split) -> Array:
    pairs = preferred_first(data.tested)
    return fit(data.features, data.learned).predict_proba(
        data.features[pairs[:, 0]], data.features[pairs[:, 1]]
    )


def independent(data: Split) -> Array:
    """nan for all but the first people of many: a model for each of thousands would take an hour."""
    found = np.full(len(data.tested), np.nan)
    for person in np.unique(data.tested[:, 0])[:MOST_EACH]:
        model = fit(data.features, data.learned[data.learned[:, 0] == person])
        rows = np.flatnonzero(data.tested[:, 0] == person)
        pairs = preferred_first(data.tested[rows])
        found[rows] = model.predict_proba(data.features[pairs[:, 0]], data.features[pairs[:, 1]])
    return found


def hierarchical(data: Split) -> Array:
    model = fit(data.features, data.learned, data.learned[:, 0])
    pairs, who = preferred_first(data.tested), [str(person) for person in data.tested[:, 0]]
    return model.people_.probability(who, data.features[pairs[:, 0]], data.features[pairs[:, 1]])


METHODS: dict[str, Callable[[Split], Array]] = {
    "pooled": pooled,
    "independent": independent,
    "hierarchical": hierarchical,
}


def measured(data: Split, methods: Sequence[str]) -> dict[str, Row]:
    """Accuracy, log-likelihood and processor time of each method."""
    found = {}
    for name in methods:
        start = time.process_time()
        try:
            probability = METHODS[name](data)
        except (ConvergenceError, np.linalg.LinAlgError) as error:  # the other methods are still of use
            print(f"{name} could not be fitted: {error}", flush=True)
            probability = np.empty(0)
        probability = probability[np.isfinite(probability)]
        scores = score(probability) if len(probability) else dict.fromkeys(MEASURES, float("nan"))
        found[name] = scores | {"seconds": time.process_time() - start}
    return found


# --- simulated groups -------------------------------------------------------------------------------------


def simulated(share: float, people: int, train: int, seed: int, kind: str = "linear") -> Split:
    """People whose rewards have this part of their variance in common, and whose noises differ."""
    rng = np.random.default_rng([seed, people, train, int(100 * share), *kind.encode()])
    x = rng.standard_normal((TRAJECTORIES, FEATURES))
    reward = [with_unit_std(REWARD_KINDS[kind](FEATURES, rng), x)(x) for _ in range(people + 1)]
    values = np.array([np.sqrt(share) * reward[0] + np.sqrt(1.0 - share) * own for own in reward[1:]])
    noises = np.exp(rng.normal(np.log(0.15), 0.6, people))
    tested = rng.permutation(people)[:EVALUATED]
    learned = [_answers(values[p], noises[p], p, train, rng) for p in range(people)]
    held_out = [_answers(values[p], noises[p], p, HELD_OUT, rng) for p in tested]
    return Split(x, np.concatenate(learned), np.concatenate(held_out))


def _answers(values: Array, noise: float, person: int, count: int, rng: np.random.Generator) -> Indices:
    pairs = np.array([rng.choice(len(values), 2, replace=False) for _ in range(count)])
    seen = values[pairs[:, 0]] - values[pairs[:, 1]] + np.sqrt(2.0) * noise * rng.standard_normal(count)
    return np.column_stack([np.full(count, person), pairs, (seen < 0).astype(np.intp)])


def orders(people: int, items: int, seed: int, parts: tuple[float, float, float] = (0.3, 0.4, 0.3)) -> Crowd:
    """People who put ten items into an order, without contradicting themselves.

    Tastes are a common one, four latent factors and one's own for each item, in these parts. Half of a taste
    is linear in six features, two of them yes or no, and half is the item's own.
    """
    rng = np.random.default_rng([seed, people, items])
    yes = rng.random((items, 2)) < 0.45
    x = np.column_stack(
        [yes, rng.gamma(4, 0.5, (items, 2)), rng.lognormal(0.3, 0.5, items), rng.random(items)]
    )
    z = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-9)

    def taste() -> Array:
        linear = z @ rng.standard_normal(z.shape[1])
        both = linear / linear.std() + rng.standard_normal(items)
        centered: Array = (both - both.mean()) / both.std()
        return centered

    factors = np.stack([taste() / np.sqrt(place) for place in range(1, 5)])
    factors /= np.sqrt(np.mean(np.sum(factors**2, axis=0)))
    common, latent, own = np.sqrt(parts)
    values = common * taste() + latent * rng.standard_normal((people, 4)) @ factors
    values = values + own * rng.standard_normal((people, items))
    popular = rng.dirichlet(np.full(items, 2.0))
    answers = [_order(values[p], p, popular, rng) for p in range(people)]
    return Crowd(x, np.concatenate(answers))


def _order(values: Array, person: int, popular: Array, rng: np.random.Generator) -> Indices:
    """All pairs of ten items, by the person's order."""
    shown = rng.choice(len(values), min(10, len(values)), replace=False, p=popular)
    shown = rng.permutation(shown)
    first, second = (shown[part] for part in np.triu_indices(len(shown), 1))
    choice = (values[second] > values[first]).astype(np.intp)
    return np.column_stack([np.full(len(first), person), first, second, choice])


# --- the table --------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A row: what people have in common, each one's answers to learn from, and the data of a seed."""

    share: str
    train: int
    draw: Callable[[int], Split]


def cases_of(options: argparse.Namespace) -> list[Case]:
    """Of a file, of simulated orders or of simulated groups."""
    if options.file is None and options.kind != "orders":
        groups = product(options.shares, options.groups, options.train)
        return [
            Case(f"{share:g}", train, partial(simulated, share, people, train, kind=options.kind))
            for share, people, train in groups
        ]
    crowd = _crowd_of(options)
    possible = [train for train in options.train if len(people_with(crowd, train + 1)) > 0]
    for train in sorted({*options.train} - {*possible}):
        print(f"{train} pairs each: left out, since nobody has answered more than {train}", flush=True)
    if not possible:
        raise CrowdFileError("nobody has answered more than are learned from: give a smaller --train")
    return [Case("", train, partial(split, crowd, options.people, train, options.test)) for train in possible]


def _crowd_of(options: argparse.Namespace) -> Crowd:
    if options.file is None:
        return orders(options.people or 100, options.items, options.seed)
    if options.set is None:
        return read(options.file)
    judgements = read_set(options.set, options.file)
    return Crowd(judgements.features, judgements.answers)


def published_lines(name: str, train: Sequence[int]) -> list[str]:
    """What crowdGPPL's authors measured on as many pairs of the same set."""
    return [
        f"published, {pairs} pairs each: {method} {accuracy:.2f}, log-likelihood {-entropy:.2f}"
        for pairs in train
        for method, (accuracy, entropy) in PUBLISHED.get((name, pairs), {}).items()
    ]


def table(cases: Sequence[Case], options: argparse.Namespace) -> str:
    """Means over repeats, with standard errors of the accuracies; each row is printed when it is there."""
    columns = [f"{name}: {measure}" for name in options.methods for measure in ("accuracy", "log-lik.", "s")]
    rows: list[list[str]] = []
    with progress("measuring", len(cases) * options.repeats) as advance:
        for case in cases:
            found: list[dict[str, Row]] = []
            for repeat in range(options.repeats):
                data = case.draw(options.seed + repeat)
                found.append(measured(data, options.methods))
                advance(1)
            people = len(np.unique(data.learned[:, 0]))
            cells = (cell for name in options.methods for cell in _cells([one[name] for one in found]))
            rows.append([case.share, str(people), str(case.train), str(len(data.tested)), *cells])
            print(*rows[-1], sep="  ", flush=True)
    return markdown_table(["share", "people", "answers each", "answers predicted", *columns], rows)


def _cells(found: Sequence[Row]) -> list[str]:
    accuracy, error = mean_and_error(row["accuracy"] for row in found)
    log, seconds = (mean_and_error(row[name] for row in found)[0] for name in MEASURES[1:])
    shown = f"{accuracy:.3f}" if np.isnan(error) else f"{accuracy:.3f} ± {error:.3f}"
    return [shown, f"{log:.3f}", f"{seconds:.1f}"]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks crowd", description=(__doc__ or "").splitlines()[0]
    )
    add: Any = parser.add_argument
    add("file", type=Path, nargs="?", help="NPZ file with features and answers; without it, simulated groups")
    add("--set", choices=CROWDS, help="a public set; the file is then the folder with its clone")
    add("--people", type=int, help="of a file: so many, drawn anew in each repeat (default: all)")
    add("--train", type=int, nargs="+", default=[5, 20], help="answers of each person to learn from")
    add("--test", type=int, default=25, help="other answers of each person to test on (default: 25)")
    add("--repeats", type=int, default=5, help="random divisions into answers to learn from and to test on")
    add("--methods", nargs="+", choices=METHODS, default=list(METHODS), help="what to compare")
    add("--seed", type=int, default=0, help="of the first repeat; from 1000 on: for choosing a design")
    add("--kind", default="linear", choices=[*REWARD_KINDS, "orders"], help="of simulated rewards")
    add("--shares", type=float, nargs="+", default=[0.0, 0.5, 0.9], help="of simulated groups")
    add("--groups", type=int, nargs="+", default=[5, 50, 500], help="sizes of simulated groups")
    add("--items", type=int, default=10, help="of simulated orders")
    options = parser.parse_args(argv)
    if options.set is not None and options.file is None:
        parser.error(
            "--set needs the folder with the clones: python -m benchmarks.people --list says how to make it"
        )
    try:
        print(table(cases_of(options), options))
        for line in published_lines(options.set, options.train):
            print(line)
    except (CrowdFileError, SetNotFoundError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
