"""Answer times in a learner: recorded, through undo, files and forks, and not learned from."""

import json
from pathlib import Path

import numpy as np
import pytest

from prefero import Answer, Learner, Pool, PreferenceGP, Question
from prefero._support.arrays import Array
from prefero.kernels import Linear
from prefero.learner import LearnerFileError

FAST = PreferenceGP(Linear(), noise=0.1, margin=0.05, learn=False)


@pytest.fixture(scope="module")
def pool() -> Pool:
    return Pool(np.random.default_rng(0).standard_normal((30, 2)))


def answers(pool: Pool, count: int = 24) -> list[Answer]:
    rng, value = np.random.default_rng(1), pool.features @ [1.0, -0.5]
    pairs = [rng.choice(len(pool), 2, replace=False).tolist() for _ in range(count)]
    return [
        Answer(Question(a, b, number=n), "left" if value[a] > value[b] else "right", seconds=0.5 * n)
        for n, (a, b) in enumerate(pairs, 1)
    ]


def rewards(learner: Learner) -> Array:
    return learner.belief().marginals(learner.pool.scaled)[0]


def test_times_are_recorded_and_not_learned_from(pool: Pool) -> None:
    told = answers(pool)
    learner = Learner(pool, model=FAST, answers=told)
    assert [one.seconds for one in learner.answers] == [one.seconds for one in told]
    without = Learner(pool, model=FAST, answers=[Answer(one.question, one.choice) for one in told])
    np.testing.assert_array_equal(rewards(learner), rewards(without))


def test_an_answer_that_is_told_again_has_its_new_time(pool: Pool) -> None:
    told = answers(pool)
    learner = Learner(pool, model=FAST, answers=told)
    last = learner.undo()
    assert last == told[-1]
    for seconds in (60.0, None):
        learner.tell(last.question, last.choice, seconds=seconds)
        assert learner.answers[-1].seconds == seconds
        learner.undo()


def test_the_same_answer_twice_keeps_its_first_time(pool: Pool) -> None:
    learner = Learner(pool, model=FAST)
    learner.tell(Question(0, 1, number=1), "left", seconds=2.0)
    learner.tell(Question(0, 1, number=1), "left", seconds=3.0)
    assert [one.seconds for one in learner.answers] == [2.0]


def test_a_loaded_learner_and_a_fork_have_the_times(pool: Pool, tmp_path: Path) -> None:
    told = answers(pool)
    learner = Learner(pool, model=FAST, answers=told, seed=4)
    learner.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json")
    assert loaded.answers == learner.fork().answers == learner.answers == tuple(told)


@pytest.mark.parametrize("answer_times", [True, False])
def test_files_that_were_to_be_learned_from_with_times_open(
    pool: Pool, tmp_path: Path, answer_times: bool
) -> None:
    """As earlier versions wrote them: all answers and times are there, and times are not learned from."""
    path = tmp_path / "learner.json"
    learner = Learner(pool, model=FAST, answers=answers(pool))
    learner.save(path)
    earlier = json.loads(path.read_text(encoding="utf-8")) | {"answer_times": answer_times}
    path.write_text(json.dumps(earlier), encoding="utf-8")
    loaded = Learner.load(path)
    assert loaded.answers == learner.answers
    np.testing.assert_array_equal(rewards(loaded), rewards(learner))


@pytest.mark.parametrize("seconds", [0, 0.0, -1.5, float("nan"), float("inf"), True])
def test_times_are_positive_numbers(pool: Pool, seconds: float) -> None:
    learner = Learner(pool, model=FAST)
    with pytest.raises(ValueError, match=r"seconds must be a positive number"):
        learner.tell(Question(0, 1), "left", seconds=seconds)
    assert learner.answers == ()


def test_a_damaged_file_is_an_error(pool: Pool, tmp_path: Path) -> None:
    path = tmp_path / "learner.json"
    Learner(pool, model=FAST, answers=answers(pool, 3)).save(path)
    whole = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(whole | {"told": [whole["told"][0] | {"seconds": -1}]}), encoding="utf-8")
    with pytest.raises(LearnerFileError, match="damaged"):
        Learner.load(path)
