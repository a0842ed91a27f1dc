"""Answer times in a learner: what it learns from them, through undo, files and forks, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefero import Answer, Learner, LinearPreference, Pool, PreferenceGP, Question
from prefero._support.arrays import Array
from prefero.kernels import Linear
from prefero.learner import LearnerFileError

FAST = PreferenceGP(Linear(), noise=0.1, margin=0.05, learn=False)


@pytest.fixture(scope="module")
def pool() -> Pool:
    return Pool(np.random.default_rng(0).standard_normal((30, 2)))


def answers(pool: Pool, count: int = 24) -> list[Answer]:
    """Of a person who takes longer the closer two trajectories are."""
    rng, value = np.random.default_rng(1), pool.features @ [1.0, -0.5]
    found = []
    for number in range(1, count + 1):
        a, b = rng.choice(len(pool), 2, replace=False).tolist()
        gap = value[a] - value[b]
        seconds = float(np.exp(rng.normal(1.5 - 0.8 * abs(gap), 0.2)))
        found.append(Answer(Question(a, b, number=number), "left" if gap > 0 else "right", seconds=seconds))
    return found


def rewards(learner: Learner) -> Array:
    return learner.belief().marginals(learner.pool.scaled)[0]


def by_model(pool: Pool, told: list[Answer], model: PreferenceGP) -> Array:
    """What the model itself learns from pairs and seconds."""
    times = [np.nan if one.seconds is None else one.seconds for one in told]
    model.fit(pool.scaled, [one.pair for one in told], seconds=times)
    return model.posterior_.marginals(pool.scaled)[0]


def test_a_learner_with_times_is_the_model_with_seconds(pool: Pool) -> None:
    told = answers(pool)
    learner = Learner(pool, answers=told, answer_times=True)
    np.testing.assert_allclose(rewards(learner), by_model(pool, told, PreferenceGP()), rtol=1e-9)
    assert np.abs(rewards(learner) - rewards(Learner(pool, answers=told))).max() > 0.01


def test_times_are_kept_and_left_out_by_default(pool: Pool) -> None:
    told = answers(pool)
    learner = Learner(pool, model=FAST, answers=told)
    assert not learner.answer_times
    assert [one.seconds for one in learner.answers] == [one.seconds for one in told]
    without = Learner(pool, model=FAST, answers=[Answer(one.question, one.choice) for one in told])
    np.testing.assert_array_equal(rewards(learner), rewards(without))


def test_an_answer_that_is_told_again_in_another_time_is_learned_anew(pool: Pool) -> None:
    told = answers(pool)
    learner = Learner(pool, model=FAST, answers=told, answer_times=True)
    before = rewards(learner).copy()
    last = learner.undo()
    assert last == told[-1]
    learner.tell(last.question, last.choice, seconds=60.0)
    slow = [*told[:-1], Answer(last.question, last.choice, seconds=60.0)]
    np.testing.assert_allclose(rewards(learner), by_model(pool, slow, FAST), rtol=1e-9)
    learner.undo()
    learner.tell(last.question, last.choice)  # and in a time that nobody knows
    unknown = [*told[:-1], Answer(last.question, last.choice)]
    np.testing.assert_allclose(rewards(learner), by_model(pool, unknown, FAST), rtol=1e-9)
    learner.undo()
    learner.tell(last.question, last.choice, seconds=last.seconds)
    np.testing.assert_allclose(rewards(learner), before, rtol=1e-9)


def test_the_same_answer_twice_keeps_its_first_time(pool: Pool) -> None:
    learner = Learner(pool, model=FAST, answer_times=True)
    learner.tell(Question(0, 1, number=1), "left", seconds=2.0)
    learner.tell(Question(0, 1, number=1), "left", seconds=3.0)
    assert [one.seconds for one in learner.answers] == [2.0]


def test_a_loaded_learner_has_the_times_and_asks_the_same_question(pool: Pool, tmp_path: Path) -> None:
    told = answers(pool)
    learner = Learner(pool, model=FAST, answers=told, answer_times=True, seed=4)
    learner.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json")
    assert loaded.answer_times
    assert loaded.answers == learner.answers == tuple(told)
    np.testing.assert_array_equal(rewards(loaded), rewards(learner))
    asked, fork = loaded.ask(), learner.fork()
    assert asked == learner.ask() == fork.ask()
    assert asked.value == pytest.approx(learner.open_questions[-1].value, rel=1e-12)


def test_imagined_answers_have_no_times(pool: Pool) -> None:
    learner = Learner(Pool(pool.features[:12]), model=FAST, answer_times=True)
    for one in answers(learner.pool):
        learner.tell(one.question, one.choice, seconds=one.seconds)
    assert len({frozenset(question.items) for question in learner.ask(count=2)}) == 2
    assert np.isfinite(rewards(learner)).all()


def test_surprises_and_rewards_have_the_times(pool: Pool, tmp_path: Path) -> None:
    told = answers(pool)
    learner = Learner(pool, model=FAST, answers=told, answer_times=True)
    learner.reward().save(tmp_path / "reward.json")
    assert learner.surprises() == []
    reloaded = json.loads((tmp_path / "reward.json").read_text(encoding="utf-8"))
    assert reloaded["diagnostics"]["answers"] == len(told)


@pytest.mark.parametrize("seconds", [0, 0.0, -1.5, float("nan"), float("inf"), True])
def test_times_are_positive_numbers(pool: Pool, seconds: float) -> None:
    learner = Learner(pool, model=FAST, answer_times=True)
    with pytest.raises(ValueError, match=r"seconds must be a positive number, or None .* but is"):
        learner.tell(Question(0, 1), "left", seconds=seconds)
    assert learner.answers == ()


@pytest.mark.parametrize("model", [PreferenceGP(inference="laplace"), LinearPreference()])
def test_models_without_times_are_refused(pool: Pool, model: Any) -> None:
    with pytest.raises(ValueError, match=r"cannot learn from answer times.*PreferenceGP with inference='ep'"):
        Learner(pool, model=model, answer_times=True)


def test_other_kinds_and_several_people_are_refused(pool: Pool) -> None:
    learner = Learner(pool, model=FAST, answer_times=True)
    with pytest.raises(ValueError, match="learns from pairs, not from 'rank-3'"):
        learner.ask(kind="rank-3")
    with pytest.raises(ValueError, match="learns from pairs, not from 'best-of-3'"):
        learner.tell(Question(0, 1, 2), "1", seconds=4.0)
    learner.tell(Question(0, 1), "left", person="anna", seconds=4.0)
    with pytest.raises(ValueError, match="one person, here 'anna', but 'ben' is another one"):
        learner.tell(Question(1, 2), "left", person="ben")
    learner.tell(Question(1, 2), "left", person="anna")
    assert np.isfinite(rewards(learner)).all()


def test_a_damaged_file_is_an_error(pool: Pool, tmp_path: Path) -> None:
    path = tmp_path / "learner.json"
    Learner(pool, model=FAST, answers=answers(pool, 3), answer_times=True).save(path)
    whole = json.loads(path.read_text(encoding="utf-8"))
    for damage in ({"answer_times": "yes"}, {"told": [whole["told"][0] | {"seconds": -1}]}):
        path.write_text(json.dumps(whole | damage), encoding="utf-8")
        with pytest.raises(LearnerFileError, match="damaged"):
            Learner.load(path)
