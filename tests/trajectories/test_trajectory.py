"""Trajectories: one and many of them, and what joins and parts them."""

from typing import Any

import numpy as np
import pytest

from prefero.trajectories.trajectory import Trajectory


def batch(rows: int = 5, seed: int = 0) -> Trajectory:
    rng = np.random.default_rng(seed)
    return Trajectory(
        rng.standard_normal((rows, 3)), rng.standard_normal((rows, 2)), rng.standard_normal((rows, 4, 1, 3))
    )


def assert_equal(found: Trajectory, wanted: Trajectory) -> None:
    for array in ("actions", "features", "poses"):
        np.testing.assert_array_equal(getattr(found, array), getattr(wanted, array))


def test_a_batch_has_a_length_and_one_trajectory_has_none() -> None:
    assert len(batch()) == 5
    with pytest.raises(TypeError, match="one trajectory, not a batch"):
        len(batch()[0])


def test_one_index_is_the_trajectory_itself() -> None:
    many = batch()
    one = many[3]
    assert (one.actions.shape, one.features.shape, one.poses.shape) == ((3,), (2,), (4, 1, 3))
    np.testing.assert_array_equal(one.poses, many.poses[3])
    np.testing.assert_array_equal(many[-1].features, many.features[4])


def test_one_trajectory_has_no_parts() -> None:
    with pytest.raises(TypeError, match="not a batch"):
        batch()[0][0]


def test_some_of_a_batch_are_a_batch() -> None:
    many = batch()
    assert len(many[1:4]) == 3
    chosen: Any = np.array([4, 0, 0])
    np.testing.assert_array_equal(many[chosen].actions, many.actions[[4, 0, 0]])
    flags: Any = many.features[:, 0] > 0
    assert len(many[flags]) == flags.sum()


def test_a_batch_is_run_through_one_by_one() -> None:
    many = batch()
    rows = [one.features for one in many]  # type: ignore[attr-defined]
    np.testing.assert_array_equal(rows, many.features)


def test_an_index_out_of_range_is_refused() -> None:
    with pytest.raises(IndexError):
        batch()[5]


def test_what_was_parted_is_joined_again() -> None:
    many = batch(7)
    assert_equal(Trajectory.join([many[:2], many[2:3], many[3:]]), many)
    assert_equal(Trajectory.join([many]), many)


def test_joined_batches_keep_their_order() -> None:
    first, second = batch(2, seed=1), batch(3, seed=2)
    joined = Trajectory.join([second, first])
    assert len(joined) == 5
    assert_equal(joined[:3], second)
    assert_equal(joined[3:], first)


def test_a_trajectory_cannot_be_given_other_arrays() -> None:
    with pytest.raises(AttributeError):
        batch().features = np.zeros((5, 2))  # type: ignore[misc]
