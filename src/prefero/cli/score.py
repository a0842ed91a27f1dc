"""`prefero score`: what a learned reward says of trajectories.

table      a pyarrow table: features by name, and whatever else the trajectories have, as their ids
"""

import io
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from prefero.arrays import Array
from prefero.cli.common import console
from prefero.extras import need
from prefero.features import feature_matrix
from prefero.files import BROKEN, HEADER, write_whole
from prefero.pools import Pool
from prefero.reward import Reward, load_reward

TABLES = (".parquet", ".csv")
SHOWN = 5
ROW, MEAN, STD = "trajectory", "mean", "std"


def score(
    reward: Annotated[Path, typer.Argument(help="A reward file (.json), as Reward.save writes it.")],
    trajectories: Annotated[
        Path, typer.Argument(help="A pool (.npz), or features by name: .npz, .csv or .parquet.")
    ],
    out: Annotated[Path | None, typer.Option(help="Write the scores here (.parquet or .csv).")] = None,
) -> None:
    """Score trajectories with a learned reward: the mean and the standard deviation of each."""
    if out is not None and out.suffix not in TABLES:
        raise ValueError(f"scores are written as {' or '.join(TABLES)}, but --out is {out}")
    learned = load_reward(reward)
    table = read_table(trajectories, learned.scaling.names)
    scores = scored(table, learned)
    console.print(_ends(scores))
    console.print(f"{scores.num_rows} trajectories were scored; {learned.describe()}.", markup=False)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, content_of(scores, out.suffix))
        console.print(f"All scores are in {out}.", soft_wrap=True, markup=False)


def scored(table: Any, reward: Reward) -> Any:
    """The table without its features, with the mean and the standard deviation of each row's reward."""
    names = reward.scaling.names
    mean, std = reward.predict(_matrix(table, names), return_std=True)
    kept = [name for name in table.column_names if name not in (*names, MEAN, STD)]
    columns = {name: table[name] for name in kept} or {ROW: np.arange(table.num_rows)}
    return need("pyarrow", extra="experiments").table({**columns, MEAN: mean, STD: std})


def _matrix(table: Any, names: tuple[str, ...]) -> Array:
    return feature_matrix(np.column_stack([table[name].to_numpy() for name in names]), names)


# --- files ------------------------------------------------------------------------------------------------


def read_table(path: Path, names: tuple[str, ...]) -> Any:
    """The trajectories of a file as a table that has these features."""
    readers = {".npz": _from_archive, ".csv": _from_csv, ".parquet": _from_parquet}
    if path.suffix not in readers:
        raise ValueError(f"trajectories are in a file {', '.join(readers)}, but this is {path}")
    if not path.exists():
        raise ValueError(f"there is no file {path}")
    table = readers[path.suffix](path, names)
    twice = [name for name, count in Counter(table.column_names).items() if count > 1]
    if twice:
        raise ValueError(f"{path} has more than one column {twice[0]!r}: give each its own name")
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise ValueError(
            f"{path} has no column {missing[0]!r}: the reward is about {', '.join(names)}, "
            f"and the columns are {', '.join(table.column_names)}"
        )
    if not table.num_rows:
        raise ValueError(f"{path} has no trajectories")
    return table


def _from_csv(path: Path, _: tuple[str, ...]) -> Any:
    reader = need("pyarrow.csv", extra="experiments")
    return _read(reader.read_csv, path)


def _from_parquet(path: Path, _: tuple[str, ...]) -> Any:
    reader = need("pyarrow.parquet", extra="experiments")
    return _read(reader.read_table, path)


def _read(reader: Any, path: Path) -> Any:
    try:
        return reader(path)
    except need("pyarrow", extra="experiments").ArrowException as error:
        raise ValueError(f"{path} is damaged or is no {path.suffix} file: {error}") from error


def _from_archive(path: Path, names: tuple[str, ...]) -> Any:
    """A pool's file, or an archive with `features` (M, d) and perhaps their `names`."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = dict(file.items())
    except BROKEN as error:
        raise ValueError(f"{path} is damaged or is no .npz file: {error}") from error
    if HEADER in arrays:
        pool = Pool.load(path)
        return _columns(pool.features, pool.names)
    if "features" not in arrays:
        raise ValueError(f"{path} has no array 'features', only {', '.join(arrays) or 'nothing'}")
    return _columns(feature_matrix(arrays["features"]), tuple(map(str, arrays.get("names", names))))


def _columns(features: Array, names: tuple[str, ...]) -> Any:
    feature_matrix(features, names)
    return need("pyarrow", extra="experiments").table(dict(zip(names, features.T, strict=True)))


def content_of(table: Any, suffix: str) -> bytes:
    """A table as the content of a file."""
    memory = io.BytesIO()
    if suffix == ".csv":
        need("pyarrow.csv", extra="experiments").write_csv(table, memory)
    else:
        need("pyarrow.parquet", extra="experiments").write_table(table, memory)
    return memory.getvalue()


def _ends(scores: Any) -> Table:
    """The best few trajectories, and the worst."""
    order = np.argsort(-scores[MEAN].to_numpy(), kind="stable")
    ranked = list(enumerate(order.tolist(), 1))
    first = scores.column_names[0]
    shown = Table("rank", escape(first), MEAN, STD)
    for rank, row in ranked if len(ranked) <= SHOWN + 1 else [*ranked[:SHOWN], ranked[-1]]:
        who, mean, std = (scores[name][row].as_py() for name in (first, MEAN, STD))
        shown.add_row(str(rank), escape(str(who)), f"{mean:.3f}", f"{std:.3f}")
    return shown
