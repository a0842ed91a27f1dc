"""Files that would become much larger than they are: refused before anything of them is unpacked."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from datasets.write_datasets import write_lerobot_3
from prefero import Pool
from prefero._support import files
from prefero._support.files import read_archive
from prefero._support.unpacking import LIMIT, RATIO, VARIABLE, TooLargeError, check_unpacked
from prefero.datasets import open_dataset
from prefero.datasets.formats.tables import read_table

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
ROWS = 200_000


def zipped(path: Path) -> Path:
    np.savez_compressed(path, observations=np.zeros((ROWS, 2)), actions=np.zeros((ROWS, 2)))
    return path


def table(path: Path) -> Path:
    parquet.write_table(arrow.table({"speed": np.zeros(ROWS), "effort": np.zeros(ROWS)}), path)
    return path


def episode_index(path: Path) -> Path:
    """A LeRobot dataset whose index of episodes has many rows."""
    folder = write_lerobot_3(path)
    (index,) = (folder / "meta" / "episodes").rglob("*.parquet")
    many = parquet.read_table(index).take(np.zeros(ROWS, dtype=int))
    parquet.write_table(many, index)
    return folder


@pytest.mark.parametrize(
    ("make", "read", "name"),
    [
        (zipped, open_dataset, "steps.npz"),
        (zipped, read_archive, "steps.npz"),
        (zipped, Pool.load, "steps.npz"),
        (table, read_table, "walks.parquet"),
        (table, open_dataset, "walks.parquet"),
        (episode_index, open_dataset, "arm"),
    ],
)
def test_what_would_become_too_large_is_refused_and_the_error_says_how_to_allow_it(
    make: Callable[[Path], Path],
    read: Callable[[Path], object],
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = make(tmp_path / name)
    monkeypatch.setenv(VARIABLE, "1000000")
    with pytest.raises(TooLargeError, match=rf"{name}.* MB .*limit of 1 MB: .* {VARIABLE}=[0-9]+"):
        read(path)


def test_large_archives_that_stay_in_the_file_are_checked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGE", 0)
    monkeypatch.setenv(VARIABLE, "1000000")
    with pytest.raises(TooLargeError, match="limit of 1 MB"):
        read_archive(zipped(tmp_path / "steps.npz"))


def test_a_file_that_is_hardly_compressed_may_be_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    check_unpacked("small", 1, LIMIT)
    check_unpacked("large", LIMIT, RATIO * LIMIT)
    with pytest.raises(TooLargeError, match=f"set {VARIABLE}={LIMIT + 1} "):
        check_unpacked("bomb", LIMIT // RATIO, LIMIT + 1)
    monkeypatch.setenv(VARIABLE, str(LIMIT + 1))
    check_unpacked("bomb", LIMIT // RATIO, LIMIT + 1)
    monkeypatch.setenv(VARIABLE, "2 GB")
    with pytest.raises(ValueError, match=f"{VARIABLE} .*'2 GB'"):
        check_unpacked("bomb", 1, 1)
