"""LeRobot datasets with statistics and described schemas, as LeRobot writes them, and what is in them."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from datasets.write_datasets import write_lerobot_2, write_lerobot_3
from prefero._support.arrays import Array
from prefero.datasets import (
    FeatureOptions,
    FeatureTable,
    extract_features,
    open_dataset,
)

MEANS, STDS = [0.25, -1.5, 2.0, 0.75], [0.1, 0.2, 0.3, 0.4]
BASIC, NEW = ["min", "max", "mean", "std", "count"], ["q01", "q10", "q50", "q90", "q99"]
KEPT = {"v2.0": BASIC[:4], "v2.1": BASIC, "v3.0": BASIC + NEW}  # which statistics a version keeps
VERSIONS = list(KEPT)


# --- datasets with all that LeRobot writes, and what is in them -------------------------------------------


def summary(values: Array, what: list[str]) -> dict[str, Any]:
    """Statistics of a column (T,) or (T, n), as LeRobot has them."""
    table = np.asarray(values, dtype=float).reshape(len(values), -1)
    known = {"min": table.min(0), "max": table.max(0), "mean": table.mean(0), "std": table.std(0)}
    known |= {f"q{q:02d}": np.quantile(table, q / 100, axis=0) for q in (1, 10, 50, 90, 99)}
    return {w: [len(table)] if w == "count" else known[w].tolist() for w in what}


def values_of(table: pa.Table, key: str) -> Array:
    return np.array(table[key].to_pylist(), dtype=float)


def hugging(table: pa.Table) -> pa.Table:
    """With the features that Hugging Face's `datasets` writes into a schema."""
    described = {f.name: {"dtype": str(f.type), "_type": "Value"} for f in table.schema}
    about = json.dumps({"info": {"features": described}}).encode()
    return table.replace_schema_metadata({b"huggingface": about, b"mine": b"kept"})


def finish(folder: Path, version: str) -> Path:
    """Add to a dataset of `recorded` what those do not need: statistics and schemas with metadata."""
    tables = [pq.read_table(path) for path in sorted((folder / "data").rglob("*.parquet"))]
    for path, table in zip(sorted((folder / "data").rglob("*.parquet")), tables, strict=True):
        pq.write_table(hugging(table), path, compression="gzip")
    frames, meta = pa.concat_tables(tables), folder / "meta"
    which = frames["episode_index"].to_numpy()
    about = json.loads((meta / "info.json").read_text(encoding="utf-8")) | {"codebase_version": version}
    (meta / "info.json").write_text(json.dumps(about), encoding="utf-8")
    keys = [key for key in frames.column_names if "index" not in key]
    stats = {
        e: {k: summary(values_of(frames, k)[which == e], KEPT[version]) for k in keys} for e in set(which)
    }
    if version == "v2.1":
        lines = [{"episode_index": int(e), "stats": stats[e]} for e in sorted(stats)]
        (meta / "episodes_stats.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
        )
        return folder
    whole = {k: summary(values_of(frames, k), KEPT[version]) for k in keys}
    (meta / "stats.json").write_text(json.dumps(whole), encoding="utf-8")
    if version == "v3.0":
        (path,) = (meta / "episodes").rglob("*.parquet")
        table = pq.read_table(path)
        for key in keys:
            for what in KEPT[version]:
                column = [stats[e][key][what] for e in table["episode_index"].to_pylist()]
                table = table.append_column(f"stats/{key}/{what}", pa.array(column))
        pq.write_table(hugging(table), path)
    return folder


def made(folder: Path, version: str, **how: Any) -> Path:
    arm = write_lerobot_3(folder, **how) if version == "v3.0" else write_lerobot_2(folder, **how)
    return finish(arm, version)


def frames_in(folder: Path) -> pa.Table:
    return pa.concat_tables([pq.read_table(path) for path in sorted((folder / "data").rglob("*.parquet"))])


def contents(folder: Path) -> dict[str, str]:
    """The hash of every file."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def extracted(folder: Path, **how: Any) -> FeatureTable:
    return extract_features(open_dataset(folder), FeatureOptions(["max"], jobs=1, **how))


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def statistics_in(folder: Path, version: str, key: str) -> dict[int, dict[str, Any]]:
    """What a copy says of a column's frames, by episode; by -1 of all of them."""
    meta, found = folder / "meta", {}
    if version != "v2.1":
        found[-1] = read_json(meta / "stats.json").get(key, {})
    if version == "v2.1":
        lines = [
            json.loads(line)
            for line in (meta / "episodes_stats.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        found |= {line["episode_index"]: line["stats"][key] for line in lines if key in line["stats"]}
    if version == "v3.0":
        for row in pq.read_table(meta / "episodes").to_pylist():
            found[row["episode_index"]] = {w: row[f"stats/{key}/{w}"] for w in KEPT[version]}
    return found


def rewrite(folder: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    for path in (folder / "data").rglob("*.parquet"):
        pq.write_table(change(pq.read_table(path)), path)


# --- episodes without a score -----------------------------------------------------------------------------


def spoil(folder: Path, episode: int) -> None:
    """An episode whose states are not numbers."""

    def change(table: pa.Table) -> pa.Table:
        states = np.array(table["observation.state"].to_pylist())
        states[table["episode_index"].to_numpy() == episode] = np.nan
        column = pa.array(states.tolist(), table.schema.field("observation.state").type)
        return table.set_column(
            table.column_names.index("observation.state"), table.schema.field("observation.state"), column
        )

    rewrite(folder, change)
