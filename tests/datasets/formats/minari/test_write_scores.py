"""Scores written back into copies of Minari datasets, read by Minari itself."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import minari
import numpy as np
import pytest
from gymnasium import spaces
from minari.data_collector import EpisodeBuffer

from prefero.datasets import (
    BadEpisode,
    FeatureOptions,
    FeatureTable,
    extract_features,
    open_dataset,
    write_scores,
)
from systems import posix_only

FORMATS = ["hdf5", "arrow", "parquet"]
LENGTHS, MEANS, STDS = (7, 4, 9), [0.25, -1.5, 2.0], [0.1, 0.2, 0.3]
SEEN = spaces.Dict(arm=spaces.Box(-9, 9, (2,), np.float64), eye=spaces.Box(0, 255, (40, 40, 3), np.uint8))
BUTTON = spaces.Box(-1, 1, (1,), np.float32)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Minari keeps its datasets, in these tests."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    return tmp_path / "minari"


def buffer(episode: int, steps: int, **changes: Any) -> EpisodeBuffer:
    rng = np.random.default_rng(episode)
    seen = {
        "arm": np.cumsum(rng.uniform(-0.1, 0.1, (steps + 1, 2)), axis=0),
        "eye": rng.integers(0, 255, (steps + 1, 40, 40, 3), dtype=np.uint8),
    }
    given: dict[str, Any] = {
        "observations": seen,
        "actions": rng.uniform(-1, 1, (steps, 1)).astype(np.float32),
        "rewards": rng.normal(size=steps),
        "terminations": np.arange(steps) == steps - 1,
        "truncations": np.zeros(steps, dtype=bool),
        "infos": {"height": list(rng.normal(size=steps + 1)), "place": rng.normal(size=(steps + 1, 2, 3))},
        "seed": 40 + episode,
    }
    return EpisodeBuffer(id=episode, **(given | changes))


def made(name: str, storage: str, **changes: Any) -> Any:
    buffers = [buffer(episode, steps, **changes) for episode, steps in enumerate(LENGTHS)]
    return minari.create_dataset_from_buffers(
        name, buffers, data_format=storage, observation_space=SEEN, action_space=BUTTON, author="somebody"
    )


def extracted(place: str | Path, **how: Any) -> FeatureTable:
    return extract_features(open_dataset(place), FeatureOptions(["max"], jobs=1, **how))


def contents(folder: Path) -> dict[str, str]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def assert_same(old: Any, new: Any) -> None:
    """Whatever is in dictionaries is equal, with nothing more and nothing less."""
    if isinstance(old, dict):
        assert set(old) == set(new)
        for key in old:
            assert_same(old[key], new[key])
    else:
        np.testing.assert_array_equal(old, new)
        assert np.asarray(old).dtype == np.asarray(new).dtype


@pytest.mark.parametrize("storage", FORMATS)
def test_minari_reads_every_steps_score_and_all_else_as_it_was(storage: str, root: Path) -> None:
    made("mine/walks-v0", storage)
    before = contents(root)
    write_scores(extracted("mine/walks-v0"), MEANS, STDS, root / "scored" / "walks-v3")
    assert {name: content for name, content in contents(root).items() if "scored" not in name} == before
    old, new = minari.load_dataset("mine/walks-v0"), minari.load_dataset("scored/walks-v3")
    assert (new.id, new.total_steps, len(new)) == ("scored/walks-v3", sum(LENGTHS), 3)
    assert set(minari.list_local_datasets()) == {"mine/walks-v0", "scored/walks-v3"}
    now, was = new.storage.metadata, old.storage.metadata
    assert now["dataset_size"] == new.storage.get_size()
    for about in (now, was):
        about.pop("dataset_size")
    assert now == was | {"dataset_id": "scored/walks-v3"}
    for number, (a, b) in enumerate(zip(old.iterate_episodes(), new.iterate_episodes(), strict=True)):
        infos = dict(b.infos)
        for key, scores in (("prefero_mean", MEANS), ("prefero_std", STDS)):
            assert_same(np.full(LENGTHS[number] + 1, scores[number]), infos.pop(key))
        assert_same(vars(a) | {"infos": a.infos}, vars(b) | {"infos": infos})
    told_of = (dataset.storage.get_episode_metadata(range(3)) for dataset in (old, new))
    for a, b, mean, std in zip(*told_of, MEANS, STDS, strict=True):
        assert b == a | {"prefero_mean": mean, "prefero_std": std}


@pytest.mark.parametrize("storage", FORMATS)
@pytest.mark.parametrize("kind", [float, np.float32, int])
def test_a_learned_reward_takes_the_place_of_the_datasets_own(
    storage: str, kind: Any, tmp_path: Path
) -> None:
    own = np.arange(4).astype(kind)
    one = [buffer(0, 4, rewards=own, infos={})]
    minari.create_dataset_from_buffers(
        "walks-v0", one, data_format=storage, observation_space=SEEN, action_space=BUTTON
    )
    write_scores(extracted("walks-v0"), [0.3], [0.1], tmp_path / "scored", replace_reward=True)
    (new,) = minari.MinariDataset(tmp_path / "scored" / "data")
    exact = np.float32 if kind is np.float32 else np.float64
    assert_same(np.array([0, 0, 0, 0.3], dtype=exact), new.rewards)
    assert_same(np.array([0, 0, 1, 2, 3], dtype=kind), new.infos["original_reward"])
    assert_same(np.full(5, 0.3), new.infos["prefero_mean"])


@pytest.mark.parametrize("storage", FORMATS)
def test_a_copy_can_be_made_of_any_folder_and_goes_anywhere(storage: str, root: Path, tmp_path: Path) -> None:
    made("walks-v0", storage)
    bare = Path(shutil.copytree(root / "walks-v0" / "data", tmp_path / "bare"))
    write_scores(extracted(bare), MEANS, STDS, tmp_path / "new" / "anywhere")
    found = minari.MinariDataset(tmp_path / "new" / "anywhere" / "data")
    assert found.id == "walks-v0"
    assert [e.infos["prefero_mean"][0] for e in found] == MEANS
    again = open_dataset(tmp_path / "new" / "anywhere")
    assert again.ids == ("0", "1", "2")


@pytest.mark.parametrize("storage", FORMATS)
def test_an_episode_that_was_left_out_has_no_score(storage: str, root: Path, tmp_path: Path) -> None:
    made("walks-v0", storage)
    with_gap = buffer(3, 5)
    with_gap.observations["arm"][2] = np.nan
    minari.load_dataset("walks-v0").storage.update_episodes([with_gap, buffer(4, 5)])
    lose(root / "walks-v0" / "data", storage, 0)
    found = extracted("walks-v0", skip_bad=True)
    assert found.ids == ("1", "2", "4")
    write_scores(found, MEANS, STDS, tmp_path / "scored")
    new = minari.MinariDataset(tmp_path / "scored" / "data")
    assert [new[n].infos["prefero_mean"][0] for n in (1, 2, 4)] == MEANS
    assert np.isnan(new[3].infos["prefero_mean"]).all()
    assert len(new[3].infos["prefero_std"]) == 6
    assert "prefero_mean" not in next(iter(new.storage.get_episode_metadata([3])))
    with pytest.raises(BadEpisode, match=r"^episode 0: .*no score"):
        write_scores(found, MEANS, STDS, tmp_path / "other", replace_reward=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["minari", "scored"]


def lose(data: Path, storage: str, episode: int) -> None:
    if storage != "hdf5":
        shutil.rmtree(data / str(episode))
        return
    import h5py

    with h5py.File(data / "main_data.hdf5", "a") as file:
        del file[f"episode_{episode}"]


@pytest.mark.parametrize("storage", FORMATS)
def test_what_cannot_be_leaves_nothing(storage: str, root: Path, tmp_path: Path) -> None:
    made("walks-v0", storage)
    kept = tmp_path / "features.parquet"
    extract_features(open_dataset("walks-v0"), FeatureOptions(["max"], cache=kept, jobs=1))
    found, before = extract_features(open_dataset(kept)), contents(tmp_path)
    with pytest.raises(ValueError, match=r"version, .*'mine/scored'"):
        write_scores(found, MEANS, STDS, root / "mine" / "scored")
    write_scores(found, MEANS, STDS, tmp_path / "scored")
    with pytest.raises(ValueError, match="has a column 'prefero_mean' already"):
        write_scores(extracted(tmp_path / "scored"), MEANS, STDS, tmp_path / "twice")
    shutil.rmtree(tmp_path / "scored")
    assert contents(tmp_path) == before
    lose(root / "walks-v0" / "data", storage, 1)
    with pytest.raises(BadEpisode, match=r"episode 1: .*cannot be read .*walks-v0"):
        write_scores(found, MEANS, STDS, tmp_path / "scored")
    shutil.rmtree(root / "walks-v0")
    minari.create_dataset_from_buffers(
        "walks-v0",
        [buffer(e, 5) for e in range(3)],
        data_format=storage,
        observation_space=SEEN,
        action_space=BUTTON,
    )
    with pytest.raises(BadEpisode, match=r"episode 0: .*5 steps, .* 7 "):
        write_scores(found, MEANS, STDS, tmp_path / "scored")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["features.parquet", "minari"]


@posix_only
def test_links_are_followed(root: Path, tmp_path: Path) -> None:
    """As a cache has them, in which files are kept once."""
    made("walks-v0", "hdf5")
    store = Path(
        shutil.move(root / "walks-v0" / "data" / "main_data.hdf5", root / "walks-v0" / "data" / "blob")
    )
    (root / "walks-v0" / "data" / "main_data.hdf5").symlink_to(store)
    before = store.read_bytes()
    write_scores(extracted("walks-v0"), MEANS, STDS, tmp_path / "scored")
    assert store.read_bytes() == before
    assert not (tmp_path / "scored" / "data" / "main_data.hdf5").is_symlink()
    assert (
        json.loads((tmp_path / "scored" / "data" / "metadata.json").read_text(encoding="utf-8"))[
            "total_episodes"
        ]
        == 3
    )
