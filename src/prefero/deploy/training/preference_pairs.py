"""Preference pairs: both trajectories of every answered question, for direct preference optimization.

    choice       "left", "right" or "equal"
    preference   the probability that the left one is better, by the answer alone: 1, 0 or 0.5
    strength     how probably a person would answer so, by the learned reward and all answers: near 1 for a
                 clear difference, near 0.5 for a slight one, and below for what may be a slip
    who          who answered
    because      the feature that was named as the reason; "" if none was

Files are JSON lines, one pair a line, or Parquet. `to_imitation` gives the pairs to the package imitation.
"""

import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.files import write_atomically
from prefero._support.optional import need
from prefero.datasets.base import Dataset, EpisodeDataset
from prefero.datasets.episode import Episode, StepRange
from prefero.pools.pool import Pool
from prefero.questions import Answer, PairChoice
from prefero.questions.kinds.base import ComparedPair
from prefero.rewards.reward import Reward

PREFERENCES: dict[PairChoice, float] = {"left": 1.0, "right": 0.0, "equal": 0.5}
SUFFIXES = (".jsonl", ".parquet")
SEGMENT = re.compile(r"(.*)\[(\d+):(\d+)\]", flags=re.DOTALL)  # as `segment_id` writes it


@dataclass(frozen=True, eq=False)
class PairedTrajectory:
    """One side of a pair.

    Args:
        episode: Its states, actions and rewards.
        terminal: Whether it ends where its episode ends; a window may end before.
    """

    episode: Episode
    terminal: bool = True


@dataclass(frozen=True, eq=False)
class PreferencePair:
    """An answered question with both trajectories.

    Args:
        left: The first trajectory.
        right: The second one.
        choice: What was answered.
        strength: How probably a person would answer so, by the learned reward.
        who: Who answered.
        because: The feature that was named as the reason; "" if none was.
    """

    left: PairedTrajectory
    right: PairedTrajectory
    choice: PairChoice
    strength: float
    who: str = ""
    because: str = ""

    @property
    def preference(self) -> float:
        """The probability that the left one is better, by the answer alone."""
        return PREFERENCES[self.choice]


# --- from answers to pairs --------------------------------------------------------------------------------


def preference_pairs(
    answers: Iterable[Answer], reward: Reward, pool: Pool, dataset: Dataset, who: str = ""
) -> list[PreferencePair]:
    """The trajectories of answered questions, read from the dataset that the pool was made of.

    Args:
        answers: As `Learner.answers` has them.
        reward: What was learned from them: `Learner.reward()`.
        pool: What the questions were about.
        dataset: Where the pool's trajectories are from.
        who: Who answered.

    Returns:
        One pair for each answer about two trajectories; of an answer about more, one for each pair that it
        is told as, the better one on the left.

    Raises:
        ValueError: If a trajectory is not in the dataset, or the dataset has no states.
    """
    find = TrajectoryFinder(dataset, pool.ids or tuple(map(str, range(len(pool)))))
    read = cache(find.read)
    return [
        PreferencePair(
            *(read(pair.left), read(pair.right), pair.choice),
            *(_strength(pair, reward, pool), who, answer.because),
        )
        for answer in answers
        for pair in answer.pairs
    ]


def _strength(pair: ComparedPair, reward: Reward, pool: Pool) -> float:
    """P(this answer), of the two directions; for "about equal", how close they are: 1 if no difference."""
    left, right = pool.features[[pair.left]], pool.features[[pair.right]]
    left_better = float(reward.predict_proba(left, right)[0])
    if pair.choice == "equal":
        return 1.0 - abs(2.0 * left_better - 1.0)
    return left_better if pair.choice == "left" else 1.0 - left_better


@dataclass(frozen=True, eq=False)
class TrajectoryFinder:
    """Finds the trajectories of a pool in their dataset, by their ids."""

    dataset: Dataset
    ids: tuple[str, ...]

    def read(self, index: int) -> PairedTrajectory:
        """The states and actions of one trajectory."""
        source, number, steps = self._place(self.ids[index])
        if not isinstance(source, EpisodeDataset):
            raise ValueError(
                f"{source.name} has features and no states, so its trajectories cannot be written: give the "
                "dataset that the features were computed of"
            )
        episode = source.episode(number)
        if steps is None:
            return PairedTrajectory(episode)
        return PairedTrajectory(episode.segment(steps), terminal=steps[1] == len(episode))

    def _place(self, name: str) -> tuple[Dataset, int, StepRange | None]:
        origin = self.dataset.origin
        if name in self.dataset.ids:
            row = self.dataset.ids.index(name)
            if origin is None:
                return self.dataset, row, None
            return origin.dataset, origin.numbers[row], origin.segments[row]
        segment = SEGMENT.fullmatch(name)
        if segment is None or segment[1] not in self.dataset.ids:
            raise ValueError(
                f"{self.dataset.name} has no trajectory {name!r}, which was compared: give the dataset that "
                "the questions were about"
            )
        return self.dataset, self.dataset.ids.index(segment[1]), (int(segment[2]), int(segment[3]))


# --- files ------------------------------------------------------------------------------------------------


def check_pairs_file(path: Path) -> None:
    """An error, before any work is done, if pairs cannot be written to this path."""
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"pairs are written as {' or '.join(SUFFIXES)}, but the path is {path}")


def write_pairs(path: str | Path, pairs: Sequence[PreferencePair]) -> None:
    """Write pairs to a file, whole or not at all: .jsonl or .parquet.

    Args:
        path: The file.
        pairs: The pairs.
    """
    place = Path(path)
    check_pairs_file(place)
    rows = [_row(pair) for pair in pairs]
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.suffix.lower() == ".jsonl":
        lines = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
        write_atomically(place, lines, private=True)
        return
    memory = io.BytesIO()
    table = need("pyarrow", extra="datasets").Table.from_pylist([_flat(row) for row in rows])
    need("pyarrow.parquet", extra="datasets").write_table(table, memory, compression="zstd")
    write_atomically(place, memory.getvalue(), private=True)


def read_pairs(path: str | Path) -> list[PreferencePair]:
    """Read the pairs that `write_pairs` wrote as .jsonl, which needs no other package."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    try:
        return [_pair(json.loads(line)) for line in lines]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path} has no pairs as prefero pairs --out FILE.jsonl writes them: {error!r}"
        ) from error


def _pair(row: dict[str, Any]) -> PreferencePair:
    left, right = (_trajectory(dict(row[side])) for side in ("left", "right"))
    if row["choice"] not in PREFERENCES:
        raise ValueError(f"a choice is left, right or equal, and not {row['choice']!r}")
    texts = str(row["who"]), str(row.get("because", ""))
    return PreferencePair(left, right, row["choice"], float(row["strength"]), *texts)


def _trajectory(side: dict[str, Any]) -> PairedTrajectory:
    terminal = bool(side.pop("terminal"))
    return PairedTrajectory(Episode(**side), terminal)


def _row(pair: PreferencePair) -> dict[str, Any]:
    return {
        "left": _side(pair.left),
        "right": _side(pair.right),
        "choice": pair.choice,
        "preference": pair.preference,
        "strength": pair.strength,
        "who": pair.who,
        "because": pair.because,
    }


def _side(side: PairedTrajectory) -> dict[str, Any]:
    episode = side.episode
    return {
        "id": episode.id,
        "states": episode.states.tolist(),
        "actions": episode.actions.tolist(),
        "rewards": None if episode.rewards is None else episode.rewards.tolist(),
        "state_names": list(episode.state_names),
        "action_names": list(episode.action_names),
        "step_seconds": episode.step_seconds,
        "terminal": side.terminal,
    }


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Columns left_id, left_states, ...: a column of structures is read by fewer tools."""
    sides = {f"{side}_{name}": value for side in ("left", "right") for name, value in row[side].items()}
    return sides | {name: value for name, value in row.items() if name not in ("left", "right")}


# --- imitation --------------------------------------------------------------------------------------------


def to_imitation(pairs: Sequence[PreferencePair]) -> Any:
    """The pairs as a `PreferenceDataset` of the package imitation.

    It requires a Gymnasium older than 1.0, so it is installed in an environment of its own, where
    `read_pairs` reads what `write_pairs` wrote.

    Imitation wants the observation after the last action too; where a dataset does not have it, the last
    action is left out. Where a dataset has no rewards, they are 0: imitation learns from the preferences.

    Args:
        pairs: The pairs.

    Returns:
        The dataset, for `imitation.algorithms.preference_comparisons`; its `save` writes imitation's file.
    """
    try:
        from imitation.algorithms.preference_comparisons import PreferenceDataset
        from imitation.data.types import TrajectoryWithRew
    except ImportError as error:
        raise ImportError(
            f"this needs the package 'imitation' ({error}), which requires a Gymnasium older than 1.0, so "
            "that installing it here would break what Prefero needs: make an environment of its own "
            "(python -m venv imitation), install imitation and Prefero without extras there, and read the "
            "pairs with read_pairs('pairs.jsonl')"
        ) from error
    dataset = PreferenceDataset()
    fragments = [tuple(TrajectoryWithRew(**fragment(side)) for side in (p.left, p.right)) for p in pairs]
    dataset.push(fragments, np.array([pair.preference for pair in pairs], dtype=np.float32))
    return dataset


def fragment(side: PairedTrajectory) -> dict[str, Any]:
    """A trajectory with the names and shapes of imitation: obs (T + 1, s), acts (T, a), rews (T,).

    Args:
        side: The trajectory.

    Returns:
        The arguments of imitation's `TrajectoryWithRew`.
    """
    episode = side.episode
    steps = len(episode.states) - 1
    if steps < 1:
        raise ValueError(
            f"episode {episode.id} has a single state, and imitation needs two or more: leave it out"
        )
    rewards: Array = np.zeros(len(episode)) if episode.rewards is None else episode.rewards
    return {
        "obs": episode.states,
        "acts": episode.actions[:steps],
        "infos": None,
        "terminal": side.terminal,
        "rews": rewards[:steps],
    }
