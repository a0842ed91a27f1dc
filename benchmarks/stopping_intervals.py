"""How often the intervals of `Learner.progress` hold, and what five more answers bring.

Part of `benchmarks.stopping_rule`; `fit` finds the numbers of `prefero.models.learning_progress`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import logit

from benchmarks.rows import Row
from benchmarks.stopping_people import person_of
from prefero._support.arrays import Array, Flags
from prefero.models.learning_progress import AHEAD, Correction


@dataclass(frozen=True, eq=False)
class Checked:
    """Rows at every fifth answer, as columns: the claims, the truth, and what five more answers brought."""

    answers: Array
    share: Array
    claim: Array
    variance: Array
    room: Array
    brought: Array  # NaN after the last answers

    def only(self, chosen: Flags) -> "Checked":
        return Checked(**{name: column[chosen] for name, column in vars(self).items()})

    @property
    def followed(self) -> "Checked":
        """Those where five more answers were given."""
        return self.only(~np.isnan(self.brought))


def checked(rows: Sequence[Row]) -> Checked:
    at = {(row["task"], row["strategy"], row["seed"], row["answers"]): row["share"] for row in rows}
    later = [at.get((row["task"], row["strategy"], row["seed"], row["answers"] + AHEAD)) for row in rows]
    pairs = zip(rows, later, strict=True)
    brought = np.array([np.nan if after is None else after - row["share"] for row, after in pairs])
    names = ("answers", "share", "claim", "variance", "room")
    columns = {name: np.array([row[name] for row in rows], dtype=float) for name in names}
    return Checked(**columns, brought=brought).only(~np.isnan(columns["variance"]))


def interval_of(correction: Correction, rows: Checked) -> tuple[Array, Array]:
    pairs = zip(rows.claim, rows.variance, strict=True)
    low, high = zip(*(correction.interval(float(claim), float(var)) for claim, var in pairs), strict=True)
    return np.array(low), np.array(high)


def expected_gains(correction: Correction, rows: Checked) -> Array:
    return np.array([correction.gain(int(n), r) for n, r in zip(rows.answers, rows.room, strict=True)])


def coverage_line(name: str, rows: Checked, correction: Correction) -> str:
    """How often the interval holds, its width, the error of the expectation, and the gains."""
    low, high = interval_of(correction, rows)
    expected = np.array([correction.accuracy(float(claim)) for claim in rows.claim])
    gains, brought = expected_gains(correction, rows.followed), rows.followed.brought
    return (
        f"{name:20s}{len(rows.share):7d}{np.mean((low <= rows.share) & (rows.share <= high)):9.2f}"
        f"{np.mean(high - low):8.2f}{np.mean(rows.share):8.3f}{np.mean(expected - rows.share):+9.3f}"
        f"{np.mean(np.abs(expected - rows.share)):8.3f}"
        + (f"{np.mean(gains):10.3f}{np.mean(brought):9.3f}" if len(brought) else "")
    )


COVERAGE_HEAD = (
    f"{'':20s}{'claims':>7s}{'covered':>9s}{'width':>8s}{'share':>8s}{'error':>9s}{'|error|':>8s}"
    f"{'expected':>10s}{'brought':>9s}"
)


def coverage_table(rows: Sequence[Row], correction: Correction) -> Iterator[str]:
    """By the number of answers, task, the person's noise and lapse rate, and who chose the questions."""
    yield COVERAGE_HEAD
    found = checked(rows)
    for name, keys in groups(rows).items():
        for key in dict.fromkeys(sorted(keys)):
            own = found.only(np.array([one == key for one in keys]))
            yield coverage_line(f"{name} {key}".strip(), own, correction)
    yield coverage_line("all", found, correction)


def groups(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """What the rows with a whole claim are grouped by, a list of keys each."""
    whole = [row for row in rows if row["variance"] is not None]
    people = [person_of(row["seed"]) for row in whole]
    return {
        "answers": [row["answers"] for row in whole],
        "": [row["task"] for row in whole],
        "noise": [person.noise for person in people],
        "lapses": [person.lapse_rate for person in people],
        "questions": [row["strategy"] for row in whole],
    }


def fit(rows: Checked) -> Correction:
    """The correction under which the shares of these people are most probable, and the gains fit best."""
    z, claimed = logit(rows.share), logit(rows.claim)

    def loss(free: Array) -> float:
        variance = np.exp(2 * free[2]) * rows.variance + np.exp(2 * free[3])
        return float(np.mean((z - free[0] - free[1] * claimed) ** 2 / variance + np.log(variance)))

    shift, slope, stretch, extra = minimize(loss, [0.0, 1.0, 0.0, -1.0], method="Nelder-Mead").x
    return Correction(
        float(shift), float(slope), float(np.exp(stretch)), float(np.exp(extra)), rate_of(rows.followed)
    )


def rate_of(rows: Checked) -> float:
    """The rate with which the expected gains add up to those that five answers brought."""

    def missing(rate: float) -> float:
        return float(np.sum(expected_gains(Correction(0, 1, 1, 0, rate), rows)) - np.sum(rows.brought))

    least, most = 0.01, 3.0
    if missing(least) > 0 or missing(most) < 0:
        return least if missing(least) > 0 else most
    return float(brentq(missing, least, most, xtol=1e-3))


def held_out(rows: Sequence[Row]) -> Iterator[str]:
    """Each task with a correction that was fitted to the people of the other tasks."""
    for task in dict.fromkeys(row["task"] for row in rows):
        others = fit(checked([row for row in rows if row["task"] != task]))
        yield coverage_line(task, checked([row for row in rows if row["task"] == task]), others)
