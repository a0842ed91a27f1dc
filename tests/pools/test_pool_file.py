"""Files of pools: read as they were written, checked to the last bit, and free of pickles."""

import json
import os
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pools.example_pools import assert_same_pool, normal
from prefero import Pool
from prefero._support.unpacking import TooLargeError
from prefero.pools.pool_file import PoolFileError


@pytest.mark.parametrize("world", ["driver", "tosser"])
def test_a_pool_survives_a_file(world: str, tmp_path: Path) -> None:
    pool = Pool.simulate(world, 12, seed=2)
    pool.save(tmp_path / "pool.npz")
    assert_same_pool(Pool.load(tmp_path / "pool.npz"), pool)
    assert_same_pool(Pool.load(str(tmp_path / "pool.npz")), pool)
    assert [file.name for file in tmp_path.iterdir()] == ["pool.npz"]


def test_a_pool_of_features_survives_a_file(tmp_path: Path) -> None:
    pool = Pool(normal() * 1e-3, names=["größe", "speed"])
    pool.save(tmp_path / "pool.npz")
    again = Pool.load(tmp_path / "pool.npz")
    np.testing.assert_array_equal(again.features, pool.features)
    np.testing.assert_array_equal(again.scaled, pool.scaled)
    assert (again.names, again.trajectories, again.source) == (("größe", "speed"), None, None)


def test_a_pools_file_holds_no_pickles(tmp_path: Path) -> None:
    Pool.simulate("driver", 4).save(tmp_path / "pool.npz")
    with np.load(tmp_path / "pool.npz", allow_pickle=False) as file:
        assert {name: file[name].dtype.kind for name in file.files} == {
            "header": "u",
            "features": "f",
            "actions": "f",
            "poses": "f",
        }
        header = json.loads(file["header"].tobytes())
    assert header["kind"] == "prefero pool"
    assert header["format"] == 1
    assert set(header["source"]) == {"world", "options", "physics", "count", "seed", "sampling"}


@pytest.mark.parametrize("name", ["pool", "pool.txt", "pool.json"])
def test_a_pool_is_only_saved_as_npz(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.npz file"):
        Pool(normal()).save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Pool.load(tmp_path / "pool.npz")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A small pool in a file."""
    path = tmp_path / "pool.npz"
    Pool.simulate("driver", 3, cache=False).save(path)
    return path


def assert_refused(path: Path, *words: str) -> None:
    with pytest.raises(PoolFileError) as caught:
        Pool.load(path)
    assert isinstance(caught.value, ValueError)
    assert str(path) in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_a_file_that_was_cut_off_is_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for length in [0, 1, 3, 4, 30, *range(100, len(content), 251), len(content) - 1]:
        saved.write_bytes(content[:length])
        assert_refused(saved, "damaged or is another kind of file", "a pool is what Pool.save writes")


def test_a_flipped_byte_in_the_middle_is_noticed(saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    content[len(content) // 2] ^= 0xFF
    saved.write_bytes(content)
    assert_refused(saved, "damaged")


def outcome(path: Path, wanted: Pool) -> str:
    """What becomes of a file that may be damaged."""
    try:
        assert_same_pool(Pool.load(path), wanted)
    except (PoolFileError, TooLargeError):  # a flipped bit of a size
        return "refused"
    except AssertionError:
        return "another pool"
    except Exception as error:
        return repr(error)
    return "the same pool"


def test_any_flipped_bit_is_noticed_or_does_no_harm(saved: Path) -> None:
    """Some bytes of a zip file, such as its dates, mean nothing to us; its end is the table of contents."""
    wanted, content, rng = Pool.load(saved), saved.read_bytes(), np.random.default_rng(0)
    tail = np.repeat(np.arange(len(content) - 300, len(content)), 2)
    found: Counter[str] = Counter()
    for place in [*range(0, len(content), 11), *tail]:
        changed = bytearray(content)
        changed[place] ^= 1 << int(rng.integers(8))
        saved.write_bytes(changed)
        found[outcome(saved, wanted)] += 1
    assert set(found) == {"refused", "the same pool"}
    assert found["refused"] > found["the same pool"]


@pytest.mark.parametrize("content", [b"", b"hello\n", b"PK\x03\x04 and no more", b"\x80\x04K\x01.", b"{}"])
def test_a_file_that_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "pool.npz").write_bytes(content)
    assert_refused(tmp_path / "pool.npz", "damaged or is another kind of file")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert_refused(tmp_path)


def test_a_single_array_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", normal())
    assert_refused(tmp_path / "array.npy", "another kind of file")


def test_a_zip_file_of_something_else_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "pool.npz", "w") as file:
        file.writestr("readme.txt", "hello")
    assert_refused(tmp_path / "pool.npz", "another kind of file")


def test_somebody_elses_arrays_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "pool.npz", features=normal(), weights=np.ones(3))
    assert_refused(tmp_path / "pool.npz", "another kind of file")


def write(path: Path, header: Any, **arrays: Any) -> None:
    """An archive with any header."""
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    np.savez(path, header=np.frombuffer(content, dtype=np.uint8), **arrays)


SCALING = {"names": ["a", "b"], "center": [0.0, 0.0], "scale": [1.0, 1.0], "categories": []}
GOOD: dict[str, Any] = {
    "kind": "prefero pool",
    "format": 1,
    "scaling": SCALING,
    "source": None,
    "clips": None,
    "ids": None,
    "no_video": "",
}


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (b"not json", "damaged or is another kind of file"),
        (b"\xff\xfe", "damaged or is another kind of file"),
        ([1, 2], "its header is no JSON object"),
        ("pool", "its header is no JSON object"),
        ({}, "is not a pool"),
        ({**GOOD, "kind": "prefero session"}, "is not a pool: a pool is what Pool.save writes"),
        ({**GOOD, "format": 2}, "of format 2, and this version of Prefero reads format 1: upgrade with  "),
        ({**GOOD, "format": None}, "of format None"),
        ({**GOOD, "scaling": {**SCALING, "names": ["a"]}}, "is a damaged pool: every feature needs a name"),
        (
            {**GOOD, "scaling": {"names": ["a"], "center": [0.0], "scale": [1.0], "categories": []}},
            "is a damaged pool: there are 2 features, but 1 names",
        ),
        ({**GOOD, "scaling": {**SCALING, "names": ["a", "a"]}}, "is a damaged pool: feature names"),
        ({**GOOD, "scaling": {**SCALING, "names": 3}}, "is a damaged pool"),
        ({**GOOD, "scaling": None}, "is a damaged pool"),
        ({**GOOD, "source": {"world": "driver"}}, "is a damaged pool"),
        ({**GOOD, "source": "driver"}, "is a damaged pool"),
        ({key: value for key, value in GOOD.items() if key != "scaling"}, "is a damaged pool"),
        ({key: value for key, value in GOOD.items() if key != "source"}, "is a damaged pool"),
    ],
)
def test_headers_that_are_not_a_pools_are_refused(header: Any, words: str, tmp_path: Path) -> None:
    write(tmp_path / "pool.npz", header, features=normal())
    assert_refused(tmp_path / "pool.npz", words)


ACTIONS, POSES = np.zeros((8, 3)), np.zeros((8, 4, 2, 3), dtype=np.float32)


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"actions": ACTIONS, "poses": POSES},
        {"features": normal(), "actions": ACTIONS},
        {"features": normal(), "poses": POSES},
        {"features": normal(), "actions": ACTIONS[:7], "poses": POSES},
        {"features": normal(), "actions": ACTIONS, "poses": POSES[:7]},
        {"features": normal(7), "actions": ACTIONS, "poses": POSES},
        {"features": normal(), "actions": ACTIONS, "poses": POSES[0]},
        {"features": normal(), "actions": np.array(3.0), "poses": POSES},
        {"features": normal(1)},
        {"features": normal()[:, 0]},
        {"features": np.full((8, 2), np.nan)},
        {"features": np.array([["fast", "slow"]] * 8)},
    ],
    ids=lambda arrays: " ".join(f"{name} {value.shape}" for name, value in arrays.items()) or "nothing",
)
def test_arrays_that_are_missing_or_do_not_fit_are_refused(arrays: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path / "pool.npz", GOOD, **arrays)
    assert_refused(tmp_path / "pool.npz", "is a damaged pool")


class Harm:
    """What a stranger's pickle might do."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (exec, ("import os; os.environ['PREFERO_HARMED'] = 'yes'",))


@pytest.mark.parametrize("array", ["features", "header"])
def test_pickles_are_refused_and_not_run(array: str, tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"header": np.frombuffer(json.dumps(GOOD).encode(), dtype=np.uint8)}
    arrays |= {"features": normal(), array: np.array([[Harm(), 1.0]], dtype=object)}
    np.savez(tmp_path / "pool.npz", **arrays)
    assert_refused(tmp_path / "pool.npz", "damaged or is another kind of file")
    assert "PREFERO_HARMED" not in os.environ


@pytest.mark.filterwarnings("ignore:.* clips are missing")
def test_clips_beside_the_file_move_with_it(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    elsewhere = tmp_path / "elsewhere.mp4"
    Pool([[1.0], [2.0]], clips=[tmp_path / "here" / "a.mp4", elsewhere]).save(tmp_path / "here" / "p.npz")
    (tmp_path / "here").rename(tmp_path / "there")
    clips = Pool.load(tmp_path / "there" / "p.npz").clips
    assert clips == (str(tmp_path.resolve() / "there" / "a.mp4"), str(elsewhere.resolve()))


@pytest.mark.filterwarnings("ignore:.* clips are missing")
def test_a_pool_is_the_same_as_bytes() -> None:
    pool = Pool([[1.0, 2.0], [3.0, 5.0]], names=["a", "b"], clips=["x.mp4", "y.mp4"])
    again = Pool.from_bytes(pool.to_bytes())
    assert again.names == pool.names
    assert again.clips == pool.clips
    assert np.array_equal(again.features, pool.features)
