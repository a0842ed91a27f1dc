"""Statistics of states and actions over time: the features of any dataset for which none are chosen.

    control effort, duration       see the library
    mean X                         the mean over time of a state or an action
    mean square X                  the mean squared distance from its mean over the examples, the center
    path length, log dimensionless jerk
    final X                        a state at the end
    mean rate X                    the mean absolute change of a state per second
    first X                        a state at the beginning
    trend X                        the slope of a state or an action over time, per second, by least squares
    min X, max X

They are listed from simple to special, and each is kept only if it is not redundant: if the examples differ
in it, and the ones that are kept before it do not explain it. A linear function of these may explain nearly
all of its variance and still order the examples otherwise: the last position hardly differs from what the
first one and the trend say, but it alone shows who has reached the goal. So the order counts too.

    explained   (C,)   of each, the fraction of its variance over the examples that a linear function of those
                       kept before it explains, corrected for their number; the squared rank correlation of
                       both, where they order the examples differently; 1 where it does not vary
    closest     (C,)   the one kept before it that is most correlated with it; -1: none
    kept        (C,)   1 or 0
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from prefero._support.arrays import Array
from prefero._support.names import listed
from prefero._support.ordering import first_largest
from prefero.datasets.episode import Episode
from prefero.datasets.features.embeddings.fitted import (
    FittedEmbedding,
    numbers_in,
    sizes_array,
    steps_of,
    with_same_numbers,
)
from prefero.datasets.features.library.library import (
    NamedValues,
    control_effort,
    duration,
    log_dimensionless_jerk,
    path_length,
)
from prefero.trajectories.feature_spec import FeatureSpec
from prefero.trajectories.features import location_and_scale

MOST = 300  # features that are kept
REDUNDANT = 0.98  # of the variance is explained
SAME_ORDER = 0.97  # squared rank correlation from which on two statistics order the examples alike
ROUNDED = 9  # decimals, after which values are equal
NAMED = 12  # features that a reason lists by name


@dataclass(frozen=True, eq=False)
class Statistics(FittedEmbedding):
    """The statistics that are not redundant.

    sizes       (2,)      how many states and actions there are
    center      (s + a,)  their means over the steps of the examples
    explained, closest, kept   (C,)  of every candidate, see above
    """

    sizes: Array
    center: Array
    explained: Array
    closest: Array
    kept: Array

    @classmethod
    def fit(cls, examples: Sequence[Episode], count: int = MOST) -> Self:
        """Keep at most so many of them."""
        sizes = sizes_array(with_same_numbers(examples)[0])
        center = np.concatenate([steps_of(one) for one in examples]).mean(axis=0)
        rows = np.array([list(candidates(one, center).values()) for one in examples])
        return cls(sizes, center, *thinned(rows, count))

    def features(self, episode: Episode) -> NamedValues:
        """Those that are kept."""
        pairs = zip(candidates(episode, self.center).items(), self.kept.tolist(), strict=True)
        return {name: value for (name, value), kept in pairs if kept}

    def shapes(self, count: int) -> dict[str, tuple[int, ...]]:
        """By the numbers of states and actions."""
        states, actions = numbers_in(self.sizes)
        each = (4 + 5 * (states + actions) + 3 * states,)
        arrays = dict.fromkeys(("explained", "closest", "kept"), each)
        return {"sizes": (2,), "center": (states + actions,), **arrays} if self.kept.sum() <= count else {}

    def running(self, spec: FeatureSpec, count: int | None, wanted: Sequence[str]) -> Any:
        """`RunningStatistics`, where the wanted ones are statistics in their order."""
        from prefero.datasets.features.embeddings.running_statistics import RunningStatistics

        names = spec.state_names, spec.action_names
        if tuple(wanted) != tuple(name for name in candidate_names(*names) if name in wanted):
            return None
        return RunningStatistics(*names, self.center, spec.step_seconds, count, wanted)


# --- the candidates ---------------------------------------------------------------------------------------


def candidates(episode: Episode, center: Array) -> dict[str, float]:
    """All statistics of an episode, in their order; they are defined from the first step on."""
    states, steps = episode.states, steps_of(episode)
    labels = step_labels(episode.state_names, episode.action_names)
    seconds = episode.step_seconds
    rate = np.abs(np.diff(states, axis=0)).sum(axis=0) / max(len(states) - 1, 1) / seconds
    return {
        **control_effort(episode),
        **duration(episode),
        **each_of("mean", labels, steps.mean(axis=0)),
        **each_of("mean square", labels, np.mean((steps - center) ** 2, axis=0)),
        **path_length(episode),
        **log_dimensionless_jerk(episode),
        **each_of("final", episode.state_names, states[-1]),
        **each_of("mean rate", episode.state_names, rate),
        **each_of("first", episode.state_names, states[0]),
        **each_of("trend", labels, trend(steps, seconds)),
        **each_of("min", labels, steps.min(axis=0)),
        **each_of("max", labels, steps.max(axis=0)),
    }


def step_labels(state_names: Sequence[str], action_names: Sequence[str]) -> list[str]:
    """Names of states and actions that all differ, though a joint may be both."""
    labels = list(state_names)
    for name in action_names:
        label = name if name.startswith("action") else f"action {name}"
        while label in labels:
            label = f"action {label}"
        labels.append(label)
    return labels


def each_of(word: str, names: Sequence[str], values: Array) -> dict[str, float]:
    """A feature for each name."""
    return {f"{word} {name}": value for name, value in zip(names, values.tolist(), strict=True)}


def trend(steps: Array, step_seconds: float) -> Array:
    """The slope of each column over time, by least squares; 0 while there is only one step."""
    times = (np.arange(len(steps)) - (len(steps) - 1) / 2) * step_seconds
    slopes: Array = times @ (steps - steps.mean(axis=0)) / max(float(times @ times), 1e-300)
    return slopes


# --- thinning ---------------------------------------------------------------------------------------------


def thinned(rows: Array, most: int = MOST) -> tuple[Array, Array, Array]:
    """Of candidates (M, C): how far each is explained, the closest of those before it, and which are kept.

    What is kept is an orthonormal basis (Gram and Schmidt), so that each candidate is projected once.
    """
    count, columns = rows.shape
    center, scale, varies = location_and_scale(rows)
    unit = (rows - center) / np.where(varies, scale, 1.0) / np.sqrt(count)
    explained, closest, kept = np.ones(columns), np.full(columns, -1.0), np.zeros(columns)
    basis = np.zeros((count, 0))
    for column in np.flatnonzero(varies).tolist():
        rest = unit[:, column] - basis @ (basis.T @ unit[:, column])
        rest -= basis @ (basis.T @ rest)  # once more, against rounding
        free = max(count - 1 - basis.shape[1], 0)
        explained[column] = 1.0 - min(rest @ rest * (count - 1) / free, 1.0) if free > 0 else 1.0
        before = np.flatnonzero(kept)
        if explained[column] >= REDUNDANT and free > 0:
            alike = order_in_common(unit[:, column], unit[:, column] - rest)
            explained[column] = explained[column] if alike >= SAME_ORDER else alike
        if len(before):
            closest[column] = before[first_largest(np.abs(unit[:, before].T @ unit[:, column]))]
        if explained[column] < REDUNDANT and len(before) < most:
            kept[column] = 1.0
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
    return explained, closest, kept


def order_in_common(column: Array, fit: Array) -> float:
    """The squared rank correlation of a column (M,) of about unit length and its fit.

    The order of equal values does not count: they have the order of the fit.
    """
    by_fit = np.argsort(np.argsort(fit, kind="stable"), kind="stable")
    by_column = np.argsort(np.lexsort((by_fit, np.round(column, ROUNDED))), kind="stable")
    correlation = np.corrcoef(by_fit, by_column)[0, 1]
    return float(correlation**2)


def left_out(fitted: Statistics, state_names: Sequence[str], action_names: Sequence[str]) -> Iterator[str]:
    """Which statistics were left out, and why, in a few lines."""
    names = candidate_names(state_names, action_names)
    out = [place for place in range(len(names)) if not fitted.kept[place]]
    same = [names[place] for place in out if fitted.closest[place] < 0 and fitted.explained[place] >= 1]
    if same:
        yield f"the same for all trajectories: {listed(same, NAMED)}"
    redundant = [place for place in out if names[place] not in same and fitted.explained[place] >= REDUNDANT]
    if redundant:
        texts = [
            f"{names[place]} ({fitted.explained[place]:.1%}, most like {names[int(fitted.closest[place])]})"
            for place in redundant
        ]
        yield f"explained by a linear function of others before them: {listed(texts, NAMED)}"
    rest = [names[place] for place in out if names[place] not in same and place not in redundant]
    if rest:
        yield f"beyond the first {int(fitted.kept.sum())}: {listed(rest, NAMED)}"


def candidate_names(state_names: Sequence[str], action_names: Sequence[str]) -> list[str]:
    """The names of all statistics, in their order."""
    one = Episode(
        "",
        np.zeros((1, len(state_names))),
        np.zeros((1, len(action_names))),
        state_names=tuple(state_names),
        action_names=tuple(action_names),
    )
    return list(candidates(one, np.zeros(len(state_names) + len(action_names))))
