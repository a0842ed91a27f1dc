"""Scores written back into copies of LeRobot datasets, judged with pyarrow and JSON alone."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets.write_datasets import LENGTHS, truncate, write_lerobot_2, write_lerobot_3
from prefero._support.arrays import Array
from prefero.datasets import (
    BadEpisode,
    FeatureOptions,
    FeatureTable,
    extract_features,
    open_dataset,
    write_scores,
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


# --- copies -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_every_frame_of_a_copy_has_its_episodes_score_and_nothing_else_changes(
    version: str, tmp_path: Path
) -> None:
    folder, copy = made(tmp_path / "arm", version), tmp_path / "new" / "scored"
    (folder / "README.md").write_text("an arm", encoding="utf-8")
    before = contents(folder)
    write_scores(extracted(folder), MEANS, STDS, copy)
    assert contents(folder) == before
    old, new = frames_in(folder), frames_in(copy)
    assert new.column_names == [*old.column_names, "prefero.mean", "prefero.std"]
    assert new.select(old.column_names).equals(old)
    episode = old["episode_index"].to_numpy()
    for key, scores in (("prefero.mean", MEANS), ("prefero.std", STDS)):
        assert new.schema.field(key).type == pa.float32()
        np.testing.assert_array_equal(new[key].to_numpy(), np.array(scores, np.float32)[episode])
    described, was = read_json(copy / "meta" / "info.json"), read_json(folder / "meta" / "info.json")
    scalar = {"dtype": "float32", "shape": [1], "names": None}
    assert described == was | {"features": was["features"] | {"prefero.mean": scalar, "prefero.std": scalar}}
    after, same = contents(copy), ("videos/", "README.md", "meta/tasks", "meta/episodes.jsonl")
    assert set(after) == set(before)
    assert all(after[name] == before[name] for name in before if name.startswith(same))


@pytest.mark.parametrize("version", VERSIONS)
def test_statistics_of_the_new_columns_stand_beside_the_others(version: str, tmp_path: Path) -> None:
    folder, copy = made(tmp_path / "arm", version, cameras=()), tmp_path / "scored"
    write_scores(extracted(folder), MEANS, STDS, copy, replace_reward=True)
    old, new = frames_in(folder), frames_in(copy)
    episode = old["episode_index"].to_numpy()
    for key in ("prefero.mean", "prefero.std", "next.reward", "original_reward", "timestamp"):
        found = statistics_in(copy, version, key)
        assert set(found) == {"v2.0": {-1}, "v2.1": {0, 1, 2, 3}, "v3.0": {-1, 0, 1, 2, 3}}[version]
        for which, stats in found.items():
            values = values_of(new, key)[episode == which] if which >= 0 else values_of(new, key)
            wanted = summary(values, KEPT[version])
            assert list(stats) == list(wanted)
            for what, numbers in wanted.items():
                np.testing.assert_allclose(stats[what], numbers, rtol=1e-6, atol=1e-6, err_msg=what)


def test_a_schema_tells_hugging_face_of_all_its_columns(tmp_path: Path) -> None:
    folder, copy = made(tmp_path / "arm", "v3.0", cameras=()), tmp_path / "scored"
    write_scores(extracted(folder), MEANS, STDS, copy, replace_reward=True)
    files = sorted(copy.rglob("file-*.parquet"))
    assert len(files) == 3
    for path in files:
        schema, group = pq.read_schema(path), pq.ParquetFile(path).metadata.row_group(0)
        described = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
        assert list(described) == schema.names
        assert schema.metadata[b"mine"] == b"kept"
        assert ("data" in path.parts) == (group.column(0).compression == "GZIP")
        for name, about in described.items():
            if name.startswith(("prefero", "next.reward")):
                assert about == {"dtype": "float32", "_type": "Value"}
            if name.startswith(("stats/prefero", "stats/next.reward")):
                kind = "int64" if name.endswith("count") else "float64"
                assert about == {"feature": {"dtype": kind, "_type": "Value"}, "_type": "Sequence"}
                assert schema.field(name).type == pa.list_(pa.int64() if kind == "int64" else pa.float64())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_learned_reward_takes_the_place_of_the_datasets_own(version: str, tmp_path: Path) -> None:
    folder, copy = made(tmp_path / "arm", version, cameras=()), tmp_path / "scored"
    write_scores(extracted(folder), MEANS, STDS, copy, replace_reward=True)
    old, new = frames_in(folder), frames_in(copy)
    assert new["original_reward"].equals(old["next.reward"])
    given, last = new["next.reward"].to_numpy(), np.cumsum(LENGTHS) - 1
    assert new.schema.field("next.reward").type == pa.float32()
    np.testing.assert_array_equal(given[last], np.array(MEANS, np.float32))
    assert not np.delete(given, last).any()
    features = read_json(copy / "meta" / "info.json")["features"]
    assert features["original_reward"] == read_json(folder / "meta" / "info.json")["features"]["next.reward"]


def rewrite(folder: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    for path in (folder / "data").rglob("*.parquet"):
        pq.write_table(change(pq.read_table(path)), path)


def declare(folder: Path, **features: Any) -> None:
    """Say other things of the columns; None takes one out."""
    about = read_json(folder / "meta" / "info.json")
    kept = {
        key: described for key, described in (about["features"] | features).items() if described is not None
    }
    (folder / "meta" / "info.json").write_text(json.dumps(about | {"features": kept}), encoding="utf-8")


def test_a_reward_in_whole_numbers_does_not_round_the_learned_one(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", cameras=())
    counted = {"dtype": "int64", "shape": [1], "names": None}
    declare(folder, **{"next.reward": counted})
    rewrite(
        folder,
        lambda t: t.set_column(
            t.column_names.index("next.reward"), "next.reward", t["frame_index"].cast("int64")
        ),
    )
    write_scores(extracted(folder), MEANS, STDS, tmp_path / "scored", replace_reward=True)
    new = frames_in(tmp_path / "scored")
    assert new["next.reward"].to_numpy()[LENGTHS[0] - 1] == 0.25
    assert new["original_reward"].to_pylist() == new["frame_index"].to_pylist()
    features = read_json(tmp_path / "scored" / "meta" / "info.json")["features"]
    assert (features["next.reward"]["dtype"], features["original_reward"]) == ("float32", counted)


def test_a_dataset_without_a_reward_gets_one(tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", cameras=())
    declare(folder, **{"next.reward": None})
    rewrite(folder, lambda table: table.drop_columns(["next.reward"]))
    write_scores(extracted(folder), MEANS, STDS, tmp_path / "scored", replace_reward=True)
    new = frames_in(tmp_path / "scored")
    assert "original_reward" not in new.column_names
    np.testing.assert_allclose(new["next.reward"].to_numpy().sum(), sum(MEANS), rtol=1e-6)


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


@pytest.mark.parametrize("version", VERSIONS)
def test_an_episode_that_was_left_out_has_no_score_and_no_part_in_the_statistics(
    version: str, tmp_path: Path
) -> None:
    folder, copy = made(tmp_path / "arm", version, cameras=()), tmp_path / "scored"
    spoil(folder, 1)
    found = extracted(folder, skip_bad=True)
    write_scores(found, [1.0, 2.0, 3.0], [0.1, 0.2, 0.3], copy)
    new = frames_in(copy)
    episode, mean = new["episode_index"].to_numpy(), new["prefero.mean"].to_numpy()
    assert new["prefero.mean"].null_count == 0
    assert np.isnan(mean[episode == 1]).all()
    np.testing.assert_array_equal(mean[episode != 1], np.array([1, 0, 2, 3])[episode[episode != 1]])
    stats = statistics_in(copy, version, "prefero.mean")
    frames = sum(LENGTHS) - LENGTHS[1]
    if -1 in stats:
        wanted = summary(mean[episode != 1], KEPT[version])
        assert all(np.allclose(stats[-1][what], wanted[what]) for what in KEPT[version])
    if version == "v2.1":
        assert set(stats) == {0, 2, 3}
    if version == "v3.0":
        assert stats[1]["count"] == [0]
        counts, means = (np.array([stats[e][w][0] for e in range(4)]) for w in ("count", "mean"))
        assert counts.sum() == frames
        assert np.isfinite(means).all()
        np.testing.assert_allclose(counts @ means / frames, stats[-1]["mean"][0])
    with pytest.raises(BadEpisode, match=r"^episode 1: it has no score, so its reward cannot be replaced"):
        write_scores(found, [1.0, 2.0, 3.0], [0.1, 0.2, 0.3], tmp_path / "other", replace_reward=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm", "scored"]


def test_a_file_that_cannot_be_read_is_copied_as_it_is(tmp_path: Path) -> None:
    folder, copy = made(tmp_path / "arm", "v2.1", cameras=()), tmp_path / "scored"
    damaged = "data/chunk-000/episode_000002.parquet"
    truncate(folder / damaged)
    write_scores(extracted(folder, skip_bad=True), [1.0, 2.0, 3.0], [0.1, 0.2, 0.3], copy)
    assert contents(copy)[damaged] == contents(folder)[damaged]
    others = [pq.read_table(path) for path in sorted(copy.rglob("episode_*.parquet")) if path.stem[-1] != "2"]
    assert [table["prefero.mean"][0].as_py() for table in others] == [1.0, 2.0, 3.0]


# --- what is refused, and leaves nothing ------------------------------------------------------------------


def test_a_copy_never_lies_in_the_way_of_anything(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", cameras=())
    found, before = extracted(folder), contents(tmp_path)
    (tmp_path / "there").mkdir()
    for place, message in [
        (tmp_path / "there", "there exists already, and nothing is overwritten"),
        (folder, "arm exists already"),
        (folder / "data" / "scored", "is inside the dataset that it would be a copy of"),
    ]:
        with pytest.raises(ValueError, match=message):
            write_scores(found, MEANS, STDS, place)
    windows = extract_features(open_dataset(folder), FeatureOptions(["max"], window=5, jobs=1))
    with pytest.raises(ValueError, match="scores of windows, and only those of whole episodes"):
        write_scores(windows, np.ones(len(windows)), np.ones(len(windows)), tmp_path / "scored")
    for mean in ([1.0, 2.0], [1.0, 2.0, 3.0, np.nan]):
        with pytest.raises(ValueError, match="4 episodes need as many finite"):
            write_scores(found, mean, np.ones(len(mean)), tmp_path / "scored")
    assert contents(tmp_path) == before


def test_a_copy_with_scores_is_not_scored_again(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", cameras=())
    write_scores(extracted(folder), MEANS, STDS, tmp_path / "scored")
    with pytest.raises(
        ValueError, match=r"scored has a column 'prefero.mean' already, as a copy with scores does"
    ):
        write_scores(extracted(tmp_path / "scored"), MEANS, STDS, tmp_path / "twice")
    assert not (tmp_path / "twice").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("no space left")])
def test_an_interruption_leaves_nothing(error: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_lerobot_3(tmp_path / "arm")
    found, before = extracted(folder), contents(tmp_path)
    videos = []

    def copyfile(source: Path, target: Path) -> None:
        videos.append(target)
        target.write_bytes(source.read_bytes())
        if len(videos) == 2:
            raise error

    monkeypatch.setattr("prefero.datasets.scores.scores.shutil.copyfile", copyfile)
    with pytest.raises(type(error) if isinstance(error, Exception) else error):
        write_scores(found, MEANS, STDS, tmp_path / "new" / "deep" / "scored")
    assert len(videos) == 2
    assert contents(tmp_path) == before
    assert not (tmp_path / "new").exists()


# --- features that were kept ------------------------------------------------------------------------------


def kept(folder: Path, place: Path, **how: Any) -> FeatureTable:
    """Features as `prefero features` keeps them, opened again."""
    extract_features(open_dataset(folder), FeatureOptions(["max"], cache=place, jobs=1, **how))
    return extract_features(open_dataset(place))


def test_features_that_were_kept_know_whose_they_are(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", cameras=())
    spoil(folder, 0)
    found = kept(folder, tmp_path / "features.parquet", skip_bad=True)
    write_scores(found, MEANS[1:], STDS[1:], tmp_path / "scored")
    mean, episode = (frames_in(tmp_path / "scored")[k].to_numpy() for k in ("prefero.mean", "episode_index"))
    np.testing.assert_array_equal(mean[episode > 0], np.array(MEANS, np.float32)[episode[episode > 0]])
    assert np.isnan(mean[episode == 0]).all()
    windows = kept(folder, tmp_path / "windows.parquet", skip_bad=True, window=5)
    with pytest.raises(ValueError, match="scores of windows are not written into a copy"):
        write_scores(windows, np.ones(len(windows)), np.ones(len(windows)), tmp_path / "again")


def test_a_dataset_that_has_changed_since_is_not_given_scores(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", cameras=())
    extract_features(
        open_dataset(folder), FeatureOptions(["max"], cache=tmp_path / "features.parquet", jobs=1)
    )
    shutil.rmtree(folder)
    write_lerobot_3(folder, (12, 15, 9, 21), cameras=())
    found = extract_features(open_dataset(tmp_path / "features.parquet"))
    with pytest.raises(BadEpisode, match="episode 3: it has 21 steps, but had 20 when its features were"):
        write_scores(found, MEANS, STDS, tmp_path / "scored")
    shutil.rmtree(folder)
    write_lerobot_3(folder, LENGTHS[:3], cameras=())
    with pytest.warns(UserWarning, match="arm, which has changed since they were extracted"):
        found = extract_features(open_dataset(tmp_path / "features.parquet"))
    with pytest.raises(
        ValueError,
        match="features cannot be copied with scores, which only these formats can: lerobot, hub, minari",
    ):
        write_scores(found, MEANS, STDS, tmp_path / "scored")
    assert not (tmp_path / "scored").exists()


def test_a_dataset_that_was_damaged_since_is_not_given_scores(tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", cameras=())
    found = kept(folder, tmp_path / "features.parquet")
    path = next(folder.rglob("episode_000001.parquet"))
    pq.write_table(pq.read_table(path).slice(3), path)
    with pytest.raises(BadEpisode, match="episode 1: it should have 15 frames, but has 12"):
        write_scores(found, MEANS, STDS, tmp_path / "scored")
    truncate(path)
    with pytest.raises(BadEpisode, match=r"episode 1: its file .* is damaged or cut short"):
        write_scores(found, MEANS, STDS, tmp_path / "scored")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm", "features.parquet"]
