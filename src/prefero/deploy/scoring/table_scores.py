"""The scores of a table that is larger than the memory: read, scored and written a chunk of rows at a time.

What is said of all rows needs few of them: the standardized reward is relative to a sample, and the terminal
shows the best and the worst. The table of scores is the same as if all rows had been read at once.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from prefero._support.progress_bar import progress as progress_bar
from prefero.datasets import Dataset, FeatureOptions, FeatureTable
from prefero.datasets.columns import Columns
from prefero.datasets.formats.table_chunks import TableChunks
from prefero.datasets.scores.table import score_columns, score_table_writer
from prefero.deploy.scoring.scores import score_trajectories
from prefero.models.posterior.standardized import StandardizedRewards, reference_rows
from prefero.rewards.reward import Reward


@dataclass
class TableScores:
    """What is known of all scores of a large table.

    sample    (300 rows)   the table's rows that stand for all of them
    extreme                the columns of scores of the best and the worst rows, best first
    count                  of the rows that were scored
    skipped                rows that were left out, by id, with the reason
    """

    sample: FeatureTable
    extreme: Columns = field(default_factory=dict)
    count: int = 0
    skipped: dict[str, str] = field(default_factory=dict)

    def add(self, columns: Columns, shown: int) -> None:
        """Take in the scores of some more rows."""
        self.count += len(columns["mean"])
        together = {name: np.concatenate([self.extreme.get(name, v[:0]), v]) for name, v in columns.items()}
        order = np.argsort(-together["mean"], kind="stable")
        kept = order if len(order) <= shown + 1 else np.append(order[:shown], order[-1])
        self.extreme = {name: values[kept] for name, values in together.items()}


def score_table(
    reward: Reward,
    table: TableChunks,
    features: FeatureOptions,
    out: Path | None = None,
    *,
    trust: bool = False,
    shown: int = 5,
) -> TableScores:
    """Score all rows of a table, and write the scores to a .parquet or .csv file, whole or not at all.

    `features` say which columns are the reward's features, if their names do not; `shown` of the best rows
    are returned.
    """
    extracted = _extractor(reward, features, trust)
    # a bad row of the sample is named with its number in the table when its chunk is read
    sampled = _extractor(reward, replace(features, skip_bad=True), trust)
    found = TableScores(sampled(table.take(reference_rows(table.count))))
    standardized = StandardizedRewards(reward.belief, reward.scaling(found.sample.features))
    with ExitStack() as opened:
        write = opened.enter_context(score_table_writer(out, table.types)) if out else None
        advance = opened.enter_context(progress_bar("scores", table.count))
        for chunk in table:
            rows = extracted(chunk)
            columns = score_columns(rows, score_trajectories(reward, rows.features, standardized))
            found.add(columns, shown)
            found.skipped |= rows.skipped
            if write:
                write(columns)
            advance(len(chunk))
    return found


def _extractor(reward: Reward, features: FeatureOptions, trust: bool) -> Callable[[Dataset], FeatureTable]:
    """A function that finds the reward's features in a chunk of a table."""

    def extracted(chunk: Dataset) -> FeatureTable:
        return reward.extract_features(chunk, replace(features, progress=False), trust=trust)

    return extracted
