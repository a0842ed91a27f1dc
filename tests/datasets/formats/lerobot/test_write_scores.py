"""Scores written back into copies of LeRobot datasets, judged with pyarrow and JSON alone."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets.lerobot_with_statistics import (
    KEPT,
    MEANS,
    STDS,
    VERSIONS,
    contents,
    extracted,
    frames_in,
    made,
    read_json,
    rewrite,
    spoil,
    statistics_in,
    summary,
    values_of,
)
from datasets.write_datasets import LENGTHS, truncate, write_lerobot_2, write_lerobot_3
from prefero.datasets import (
    BadEpisode,
    write_scores,
)

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
    with pytest.raises(BadEpisode, match=r"^episode 1: .*no score"):
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
