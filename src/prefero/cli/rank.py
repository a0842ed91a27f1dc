"""`prefero rank`: the worst and the best episodes of a dataset, with pictures.

They are ranked by a learned reward and by how unusual they are; without a reward, by the latter alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from prefero._support.arrays import Array
from prefero._support.commands import prefero_command
from prefero._support.names import shortened
from prefero.cli.console import check_apart, check_figure, check_outputs, console, say, say_skipped
from prefero.cli.options import judge_options, known_options, label_column, with_dataset_flags, with_flags
from prefero.cli.scoring import (
    Learning,
    RewardAndTrajectories,
    SessionDatabase,
    SessionName,
    open_trajectories,
    reward_if_taught,
    say_scored,
    say_warnings,
    shown_probability,
    shown_reward,
)
from prefero.datasets import (
    Dataset,
    EpisodeDataset,
    FeatureOptions,
    FeatureTable,
    LabelColumn,
    extract_features,
)
from prefero.datasets.columns import Columns
from prefero.datasets.features.extraction.match_reward import windows_for
from prefero.datasets.scores.table import (
    ACCEPTABLE,
    check_score_table,
    row_columns,
    score_columns,
    write_score_table,
)
from prefero.datasets.scores.write import check_score_copy, write_scores
from prefero.deploy.scoring.quality import EpisodeQuality, rate_episodes
from prefero.judges.named import Consultation
from prefero.learner.known_options import KnownOptions
from prefero.plots.episodes import EpisodeRow, save_episodes
from prefero.rewards.acceptable import check_bar
from prefero.rewards.reward import Reward
from prefero.trajectories.unusualness import Unusualness, unusualness

QUALITY, AMONG_WORST = "quality", "among_worst"
LONGEST_REASON = 28  # letters in a picture
UNUSUALNESS, BECAUSE = "unusualness", "unusual_because"

Acceptable = Annotated[
    float | None,
    typer.Option(
        help="Only episodes that are acceptable with at least this probability, such as 0.8; for a "
        "reward taught with labels, ratings or 'none of these'.",
        min=0.0,
        max=1.0,
    ),
]


@with_dataset_flags(without=("drop",))
@with_flags("judges", judge_options)
@with_flags("known", known_options)
@with_flags("labels", label_column)
def rank(
    words: RewardAndTrajectories,
    worst: Annotated[int, typer.Option(help="How many of the worst episodes are listed.", min=1)] = 20,
    best: Annotated[int, typer.Option(help="How many of the best episodes are listed.", min=0)] = 5,
    acceptable: Acceptable = None,
    picture: Annotated[
        Path | None, typer.Option(help="Save a picture of these episodes to this file (.png, .pdf, .svg).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the quality of all episodes to this file (.parquet, .csv).")
    ] = None,
    copy_to: Annotated[
        Path | None, typer.Option(help="Copy the dataset to this folder with the quality in it.")
    ] = None,
    name: SessionName = None,
    database: SessionDatabase = None,
    *,
    labels: LabelColumn | None,
    judges: Consultation,
    known: KnownOptions,
    features: FeatureOptions,
    opening: Mapping[str, object],
) -> None:
    """List the worst and the best episodes of a dataset, as a learned reward sees them.

    Unusual episodes are taken to be worse, as far as the answers leave it open. Where nobody has answered
    anything, the most unusual episodes are listed, with what makes them unusual. With --acceptable the others
    are left out, of the table, the picture and the file; all are in a copy.

    For example:

        prefero rank pick_and_place --worst 20 --picture worst.png
        prefero rank pick_and_place --acceptable 0.8 --out acceptable.csv
        prefero rank reward.json pick_and_place --out quality.parquet
        prefero rank pick_and_place --labels next.success
    """
    check_figure(picture)
    if out is not None:
        check_score_table(out)
    check_outputs(picture, out)
    learning = Learning(name, database, labels, features, opening, known, judges)
    learned, dataset = reward_if_taught("rank", words, learning)
    if learned is None:
        _check_untaught(dataset, acceptable, copy_to)
    elif acceptable is not None:
        check_bar(learned.belief)
    opened = open_trajectories(dataset, opening, known, videos=picture is not None)
    if out is not None:
        check_apart(out, dataset, opened.files)
    if copy_to is not None and learned is not None:
        check_score_copy(opened, copy_to, windows_for(features, learned.feature_spec))
    ranking = _ranked(learned, opened, features, worst, trust=bool(opening["trust"]))
    listed = _Listed.of(ranking, acceptable, worst, best)
    _print(ranking, listed, dataset, features)
    _write(ranking, listed, out, copy_to)
    if picture is not None and listed.rows:  # last, since a video may be damaged
        save_episodes(picture, ranking.table, _sections(ranking, listed))
        say(f"The picture is in {picture}.")


def _check_untaught(dataset: str, acceptable: float | None, copy_to: Path | None) -> None:
    """An error if an option needs a reward, and there is none."""
    for given, flag in ((acceptable, "--acceptable"), (copy_to, "--copy-to")):
        if given is not None:
            teach = prefero_command("teach", dataset)
            raise ValueError(
                f"{flag} needs a reward: give one, or say what is known (--labels, --demonstrations, "
                f"--prefer, --score, --judge), or answer some questions,  {teach}"
            )


# --- which episodes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Ranking:
    """Episodes, how unusual they are, and how good by a reward, if there is one."""

    table: FeatureTable
    unusual: Unusualness
    learned: Reward | None = None
    rated: EpisodeQuality | None = None

    @property
    def worst_first(self) -> list[int]:
        """The rows of the table."""
        order: list[int] = (self.unusual if self.rated is None else self.rated).order.tolist()
        return order

    @property
    def acceptable(self) -> Array | None:
        return None if self.rated is None else self.rated.acceptable

    @property
    def what(self) -> str:
        """What the rows are, in a word."""
        return "windows" if any(self.table.at_origin().segments) else "episodes"

    def short_reason(self, row: int) -> str:
        """What is most unusual about an episode, for a table."""
        deviation = self.unusual.values[row] * (1 if self.unusual.above[row] else -1)
        return f"{deviation:+.1f} {self.table.names[self.unusual.columns[row]]}"

    def reasons(self) -> list[str]:
        """Why each episode is unusual, in words."""
        return [self.unusual.reason(row, self.table.names) for row in range(len(self.table))]


def _ranked(
    learned: Reward | None, dataset: Dataset, features: FeatureOptions, worst: int, *, trust: bool
) -> _Ranking:
    if learned is None:
        table = extract_features(dataset, features)
        return _Ranking(table, unusualness(table.features))
    table = learned.extract_features(dataset, features, trust=trust)
    rated = rate_episodes(learned, table.features, worst)
    return _Ranking(table, rated.unusual, learned, rated)


@dataclass(frozen=True)
class _Listed:
    """The rows that are wanted, in the order of the dataset, and of these the worst and the best.

    `lowest` begins with the worst, and `highest` with the best; none is in both.
    """

    rows: list[int]
    lowest: list[int]
    highest: list[int]
    least: float | None  # probability of being acceptable

    @classmethod
    def of(cls, ranking: _Ranking, least: float | None, worst: int, best: int) -> Self:
        """Those that are acceptable with at least this probability, or all."""
        kept = np.ones(len(ranking.table), dtype=bool)
        if least is not None and ranking.acceptable is not None:
            kept = ranking.acceptable >= least
        order = [row for row in ranking.worst_first if kept[row]]
        lowest = order[:worst]
        return cls(np.flatnonzero(kept).tolist(), lowest, order[len(lowest) :][::-1][:best], least)


# --- what is said -----------------------------------------------------------------------------------------


def _print(ranking: _Ranking, listed: _Listed, dataset: str, features: FeatureOptions) -> None:
    if listed.rows:
        console.print(_shown(ranking, listed))
    counted = f"{len(ranking.table)} {ranking.what}"
    if ranking.learned is None or ranking.rated is None:
        say(
            f"Nobody has said what is good: {counted} were compared by how unusual they are, in usual "
            "deviations of a feature. Unusual is not always bad; to teach what is:  "
            f"{prefero_command('teach', dataset)}"
        )
        say_skipped(ranking.table.skipped)
    else:
        say_scored(ranking.learned, f"{counted} were compared", ranking.table.skipped)
        say(_how_sure(ranking.rated, listed, counted))
        say_warnings(ranking.table, ranking.learned, features)
    _say_why(ranking, listed)
    _say_deletion(ranking, listed)


def _say_why(ranking: _Ranking, listed: _Listed) -> None:
    """Why the most unusual of the worst episodes is unusual, which explains the last column."""
    row = max(listed.lowest, key=lambda row: ranking.unusual.values[row], default=None)
    if row is not None and (reason := ranking.unusual.reason(row, ranking.table.names)):
        say(f"The most unusual of these is {ranking.table.ids[row]}: {reason}.")


def _shown(ranking: _Ranking, listed: _Listed) -> Table:
    rated = ranking.rated
    heads = [] if rated is None else ["better than", f"among the worst {rated.count}", "reward"]
    heads += [] if ranking.acceptable is None else [ACCEPTABLE]
    shown = Table("", "episode", *heads, "most unusual")
    ends = ("worst", "best") if rated is not None else ("unusual", "usual")
    for rows, what in zip((listed.lowest, listed.highest), ends, strict=True):
        for place, row in enumerate(rows, 1):
            cells = [] if rated is None else _cells(rated, row)
            unusual = escape(ranking.short_reason(row))
            shown.add_row(f"{what} {place}", escape(ranking.table.ids[row]), *cells, unusual)
        shown.add_section()
    return shown


def _cells(rated: EpisodeQuality, row: int) -> list[str]:
    better, among = f"{rated.quality[row]:.0%}", f"{rated.among_worst[row]:.0%}"
    value = shown_reward(rated.standardized[row], rated.standardized_std[row])
    return [better, among, value, *shown_probability(rated.acceptable, row)]


def _how_sure(rated: EpisodeQuality, listed: _Listed, counted: str) -> str:
    if listed.least is not None:
        least = f"with a probability of at least {listed.least:g}"
        return f"{len(listed.rows)} of {counted} are acceptable {least}."
    expected = float(rated.among_worst[listed.lowest].sum())
    return (
        f"About {expected:.0f} of the {len(listed.lowest)} that seem worst are expected to be among the "
        f"worst {rated.count}; more answers make it more certain. Unusual episodes are taken to be worse "
        "where the answers leave it open."
    )


def _say_deletion(ranking: _Ranking, listed: _Listed) -> None:
    """The command that removes the worst episodes, or those that are not acceptable, unless these are all.

    Windows of episodes cannot be removed.
    """
    there = ranking.table.at_origin()
    if not isinstance(there.dataset, EpisodeDataset) or any(there.segments):
        return
    kept = set(listed.rows)
    rows = listed.lowest if listed.least is None else [n for n in range(len(there)) if n not in kept]
    command = there.dataset.deletion_command(there.numbers[row] for row in rows)
    if 0 < len(rows) < len(there) and command is not None:
        which = "other" if listed.least is not None else "worst" if ranking.rated else "most unusual"
        say(f"To remove the {len(rows)} {which} episodes:  {command}")


def _sections(ranking: _Ranking, listed: _Listed) -> list[tuple[str, Sequence[EpisodeRow]]]:
    ends = ("worst", "best") if ranking.rated is not None else ("most unusual", "most usual")
    parts = zip(ends, (listed.lowest, listed.highest), strict=True)
    sections = [(f"The {what} {len(rows)}", rows) for what, rows in parts]
    return [(title, [_row(ranking, row) for row in rows]) for title, rows in sections if rows]


def _row(ranking: _Ranking, row: int) -> EpisodeRow:
    table, rated = ranking.table, ranking.rated
    steps = "" if table.steps is None else f", {table.steps[row]} steps"
    lines = [f"{table.ids[row]}{steps}"]
    if rated is not None:
        lines.append(f"better than {rated.quality[row]:.0%} of the others")
        lines.append(f"among the worst {rated.count}: {rated.among_worst[row]:.0%}")
    lines.append(f"unusual: {shortened(ranking.short_reason(row), LONGEST_REASON)}")
    return EpisodeRow(row, "\n".join(lines))


# --- files ------------------------------------------------------------------------------------------------


def _write(ranking: _Ranking, listed: _Listed, out: Path | None, copy_to: Path | None) -> None:
    rated, table = ranking.rated, ranking.table
    if out is not None:
        columns = _columns(ranking)
        write_score_table(out, {name: values[listed.rows] for name, values in columns.items()})
        what = "all" if listed.least is None else "those that are acceptable"
        say(f"The {'unusualness' if rated is None else 'quality'} of {what} is in {out}.")
    if copy_to is not None and rated is not None:
        write_scores(
            table, rated.mean, rated.std, copy_to, quality=rated.quality, acceptable=rated.acceptable
        )
        say(f"The copy with the quality of all is in {copy_to}.")


def _columns(ranking: _Ranking) -> Columns:
    rated = ranking.rated
    unusual = {UNUSUALNESS: ranking.unusual.values, BECAUSE: np.array(ranking.reasons())}
    if rated is None:
        return row_columns(ranking.table) | unusual
    by_reward = {QUALITY: rated.quality, AMONG_WORST: rated.among_worst}
    return score_columns(ranking.table, rated) | by_reward | unusual
