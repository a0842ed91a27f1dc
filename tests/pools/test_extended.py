"""Pools that grow: `Pool.extended` and `Learner.add`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefero import Learner, LinearPreference, Pool, PreferenceGP, Question
from prefero.kernels import Anchored, Linear, Quadratic
from prefero.trajectories.trajectory import Trajectory
from worlds.toy_world import Toy


def quick(features: int) -> PreferenceGP:
    """A model with a fixed kernel, which is fitted in milliseconds."""
    kernel = Anchored(0.5 * Linear() + 0.2 * Quadratic(), (0.0,) * features)
    return PreferenceGP(kernel=kernel, noise=0.1, learn=False)


def answered(learner: Learner, answers: int = 6) -> Learner:
    for _ in range(answers):
        question = learner.ask()
        learner.tell(question, "left" if question.left > question.right else "right")
    return learner


def test_a_pool_grows_at_its_end_and_keeps_its_scaling() -> None:
    pool = Pool.simulate(Toy(), 20, progress=False)
    more = Toy().rollout([[1.0, 3.0], [-1.0, 0.0]])
    grown = pool.extended(more)
    assert (len(grown), grown.names, grown.scaling, grown.source) == (
        22,
        pool.names,
        pool.scaling,
        pool.source,
    )
    np.testing.assert_array_equal(grown.scaled[:20], pool.scaled)
    np.testing.assert_allclose(
        grown.scaled[20:], (more.features - pool.features.mean(0)) / pool.features.std(0)
    )
    np.testing.assert_array_equal(grown.trajectory(21).actions, [-1.0, 0.0])
    np.testing.assert_array_equal(pool.extended(more[1]).features, grown.features[[*range(20), 21]])
    assert len(pool) == 20


def test_a_grown_pool_is_the_same_from_its_file(tmp_path: Any) -> None:
    grown = Pool.simulate(Toy(), 20, progress=False).extended(Toy().rollout([1.0, 3.0]))
    grown.save(tmp_path / "pool.npz")
    for again in (Pool.load(tmp_path / "pool.npz"), Pool.from_bytes(grown.to_bytes())):
        assert again.scaling == grown.scaling
        np.testing.assert_array_equal(again.scaled, grown.scaled)


def test_a_pool_of_features_alone_grows_by_rows() -> None:
    pool = Pool([[0.0, 1.0], [2.0, 5.0]], ["speed", "distance"])
    np.testing.assert_array_equal(pool.extended([4.0, 9.0]).scaled[2], [3.0, 3.0])
    np.testing.assert_array_equal(pool.extended([[4.0, 9.0]] * 3).features[4], [4.0, 9.0])


@pytest.mark.parametrize(
    ("pool", "more", "message"),
    [
        (Pool(np.eye(2)), Toy().rollout([0.0, 0.0]), "cannot be extended by Trajectory"),
        (
            Pool.simulate(Toy(), 3, progress=False),
            [0.0, 0.0],
            "cannot be extended by list",
        ),
        (Pool(np.eye(2), ["a", "b"]), [0.0, np.nan], "row 0 has nan in column 'b'"),
        (Pool(np.eye(2)), [0.0, 0.0, 0.0], "3 features, .*2 names"),
        (
            Pool.simulate(Toy(), 3, progress=False),
            Trajectory(np.zeros(5), np.zeros(2), np.zeros((1, 0, 3))),
            r"another world.* \(\(5,\)",
        ),
    ],
)
def test_what_does_not_fit_a_pool_is_not_added(pool: Pool, more: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pool.extended(more)


def test_a_pool_of_clips_does_not_grow(tmp_path: Path) -> None:
    clips = [tmp_path / "a.mp4", tmp_path / "b.mp4"]
    for clip in clips:
        clip.touch()
    with pytest.raises(ValueError, match="cannot be extended by list"):
        Pool(np.eye(2), clips=clips).extended([0.0, 0.0])


def test_new_trajectories_have_ids_of_their_own() -> None:
    grown = Pool(np.eye(2), ids=["7", "3"]).extended([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]])
    assert grown.ids == ("7", "3", "2", "4", "5")


@pytest.mark.parametrize("model", [quick(2), LinearPreference(noise=0.2, draws=20)], ids=["GP", "linear"])
def test_growing_changes_neither_answers_nor_belief(model: Any) -> None:
    learner = answered(Learner(Pool.simulate(Toy(), 20, progress=False), model=model))
    before, answers = learner.reward(), learner.answers
    indices = learner.add(Toy().rollout([[1.0, 3.0], [-1.0, 3.0]]))
    assert indices.tolist() == [20, 21]
    assert learner.answers == answers
    x = learner.pool.features
    np.testing.assert_array_equal(learner.reward()(x), before(x))
    rebuilt = Learner(learner.pool, model=model, answers=answers)
    np.testing.assert_allclose(rebuilt.reward()(x), before(x), atol=1e-9)


def test_a_new_trajectory_can_be_asked_about() -> None:
    learner = answered(Learner(Pool(np.random.default_rng(0).normal(size=(20, 2))), model=quick(2)))
    (index,) = learner.add([9.0, -9.0]).tolist()  # far from all others, so little is known of it
    question = learner.ask()
    assert index in (question.left, question.right)
    learner.tell(question, "left")
    learner.tell(Question(index, 3), "right")
    assert len(learner.answers) == 8


def test_a_fork_does_not_grow_with_its_origin() -> None:
    learner = answered(Learner(Pool.simulate(Toy(), 20, progress=False), model=quick(2)))
    other = learner.fork()
    learner.add(Toy().rollout([1.0, 3.0]))
    assert (len(learner.pool), len(other.pool)) == (21, 20)
