"""NumPy archives: of features and of states, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefero.datasets import BadEpisode, FeatureDataset, FeatureOptions, extract_features, open_dataset
from prefero.datasets.formats.archives import ArchiveDataset, archive_in_memory, in_memory
from prefero.pools.pool_file import is_pool_file


def states(count: int = 3, steps: int = 6) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"states": rng.normal(size=(count, steps + 1, 2)), "actions": rng.normal(size=(count, steps, 1))}


def test_an_archive_of_features_keeps_names_and_ids(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, features=np.arange(6.0).reshape(3, 2), names=["u", "v"], ids=["a", "b", "c"])
    found = open_dataset(path)
    assert isinstance(found, FeatureDataset)
    assert (found.name, found.names, found.ids) == ("mine", ("u", "v"), ("a", "b", "c"))
    assert extract_features(found, ["v"]).features.tolist() == [[1.0], [3.0], [5.0]]


def test_an_archive_of_states_is_a_dataset_of_episodes(tmp_path: Path) -> None:
    path, made = tmp_path / "mine.npz", states()
    np.savez(
        path, **made, rewards=np.ones((3, 6)), step_seconds=0.5, lengths=[6, 3, 5], state_names=["x", "y"]
    )
    found = open_dataset(path)
    assert isinstance(found, ArchiveDataset)
    second = found.episode(1)
    np.testing.assert_array_equal(second.states, made["states"][1, :4])
    np.testing.assert_array_equal(second.actions, made["actions"][1, :3])
    assert (second.duration, second.state_names) == (1.5, ("x", "y"))
    assert extract_features(found, FeatureOptions(["return", "duration"], jobs=1)).features.tolist() == [
        [6, 3.0],
        [3, 1.5],
        [5, 2.5],
    ]


def test_states_alone_will_do() -> None:
    found = in_memory({"states": np.zeros((2, 5, 3))})
    assert isinstance(found, ArchiveDataset)
    assert (len(found.episode(0)), found.episode(0).actions.shape) == (5, (5, 0))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"poses": np.zeros(3)}, "features or states, .*poses"),
        ({"features": np.zeros(3)}, r"\(trajectories, features\), .*\(3,\)"),
        ({"features": np.zeros((3, 2)), "names": ["a"]}, "have 1 names and 3 ids"),
        ({"states": np.zeros((3, 2))}, "numbers of shape"),
        ({"states": np.array([[["a"]]])}, "numbers of shape"),
        (states() | {"lengths": [6, 6]}, "3 episodes, .*lengths of 2"),
        (states() | {"actions": np.zeros((2, 6, 1))}, "3 episodes, .*actions of 2"),
        (
            states() | {"step_seconds": -1.0},
            r"positive time, .*archive .*-1\.0 s",
        ),
    ],
)
def test_an_archive_that_makes_no_sense_is_refused(arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        archive_in_memory(arrays)


def test_a_length_beyond_the_arrays_is_the_episodes_fault() -> None:
    with pytest.raises(BadEpisode, match=r"episode 1: .*length .*9.* 6 steps"):
        ArchiveDataset("mine", states() | {"lengths": np.array([6, 9, 6])}).episode(1)


@pytest.mark.parametrize(
    "key", ["states", "actions", "rewards", "lengths", "step_seconds", "ids", "state_names"]
)
def test_arrays_in_memory_are_told_apart_by_all_that_they_hold(key: str) -> None:
    made = states() | {"rewards": np.ones((3, 6)), "lengths": np.array([6, 6, 6]), "step_seconds": 0.5}
    made |= {"ids": np.array(["a", "b", "c"]), "state_names": np.array(["x", "y"])}
    there = np.asarray(made[key])
    other = made | {key: there * 0.5 if there.dtype.kind in "fi" else np.char.add(there, "+")}
    assert in_memory(made).version == in_memory(dict(made)).version
    assert in_memory(made).version != in_memory(other).version


def test_an_archive_may_hold_no_code(tmp_path: Path) -> None:
    np.savez(tmp_path / "bad.npz", features=np.array([object()]))
    with pytest.raises(ValueError, match=r"damaged.* NumPy archive"):
        open_dataset(tmp_path / "bad.npz")


def test_a_pool_is_told_from_an_archive(tmp_path: Path) -> None:
    np.savez(tmp_path / "archive.npz", features=np.zeros((2, 2)))
    np.savez(tmp_path / "pool.npz", header=np.zeros(3), features=np.zeros((2, 2)))
    assert not is_pool_file(tmp_path / "archive.npz")
    assert is_pool_file(tmp_path / "pool.npz")
    with pytest.raises(ValueError, match=r"pool file.* Pool\.load"):
        open_dataset(tmp_path / "pool.npz")


def test_a_misspelt_array_is_refused_and_other_arrays_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", **states(), step_second=0.1)
    with pytest.raises(ValueError, match=r"'step_second'.* did you mean 'step_seconds'"):
        open_dataset(tmp_path / "mine.npz")
    with pytest.raises(ValueError, match=r"'name'.* did you mean 'names'"):
        archive_in_memory({"features": np.eye(3), "name": ["a", "b", "c"]})
    with pytest.warns(UserWarning, match=r"not used: weather;.* states, actions"):
        assert len(archive_in_memory({**states(), "weather": np.ones(3)})) == 3
