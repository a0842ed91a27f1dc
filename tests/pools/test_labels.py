"""Pools keep their labels: in files, in selections, and when they are extended."""

from pathlib import Path

import numpy as np
import pytest

from prefero import Labels, Pool
from prefero.pools.pool_file import PoolFileError, from_json, to_json

FEATURES = np.random.default_rng(0).normal(size=(30, 2))
LABELS = Labels.of([None, *(FEATURES[1:, 0] > 0)], "success")
POOL = Pool(FEATURES, labels=LABELS)


def test_a_file_keeps_the_labels(tmp_path: Path) -> None:
    POOL.save(tmp_path / "pool.npz")
    assert Pool.load(tmp_path / "pool.npz").labels == LABELS
    assert Pool.from_bytes(POOL.to_bytes()).labels == LABELS
    assert from_json(Pool, to_json(POOL, tmp_path), tmp_path).labels == LABELS
    assert Pool.from_bytes(Pool(FEATURES).to_bytes()).labels is None


def test_a_file_of_earlier_versions_has_none_and_a_damaged_one_says_so(tmp_path: Path) -> None:
    values = to_json(POOL, tmp_path)
    assert from_json(Pool, {k: v for k, v in values.items() if k != "labels"}, tmp_path).labels is None
    with pytest.raises(PoolFileError, match="damaged pool"):
        from_json(Pool, values | {"labels": {"name": "x"}}, tmp_path)


def test_extended_and_diverse_pools_have_them() -> None:
    assert POOL.extended([0.0, 0.0]).labels == LABELS
    some = POOL.diverse(10)
    assert some.ids is not None
    assert some.labels is not None
    said = {str(item): choice for item, choice in zip(LABELS.items, LABELS.choices, strict=True)}
    assert {some.ids[i]: c for i, c in zip(some.labels.items, some.labels.choices, strict=True)} == {
        one: said[one] for one in some.ids if one in said
    }


def test_labels_can_be_replaced() -> None:
    other = Labels.of(FEATURES[:, 1] > 0, "other")
    assert POOL.labelled(other).labels == other
    assert POOL.labelled(None).labels is None
    assert POOL.labels == LABELS


def test_the_pool_says_how_many_and_checks_whose_they_are() -> None:
    assert "with 29 labels" in repr(POOL)
    with pytest.raises(ValueError, match="2 of 30 labels are of others, the first is 28"):
        Pool(FEATURES[:28], labels=Labels.of(FEATURES[:, 0] > 0))
    with pytest.raises(TypeError, match=r"Labels.of\(values\)"):
        Pool(FEATURES, labels=[True] * 30)  # type: ignore[arg-type]
