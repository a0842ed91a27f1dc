"""The file of a learner: the same next question after a round trip, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefero import ExpectedUtility, Learner, LinearPreference, MutualInformation, Pool, PreferenceGP, kernels
from prefero.learner import LearnerFileError, Model

MODELS: dict[str, Any] = {
    "default": lambda: None,
    "kernel": lambda: PreferenceGP(kernels.RBF(np.float64(0.4)), noise=0.2, margin=0.1, learn=False),
    "linear": lambda: LinearPreference(noise=0.2, margin=0.1, draws=30),
}


def features_pool(rows: int = 16) -> Pool:
    rng = np.random.default_rng(1)
    return Pool(
        rng.normal(size=(rows, 2)) * [1, 100], ["speed", "height"], ids=[f"r{n}" for n in range(rows)]
    )


def taught(model: Model | None = None, **options: Any) -> Learner:
    """With answers of every kind, a skipped question, an open one, and an undone answer."""
    learner = Learner(features_pool(), seed=3, model=model, **options)
    for choice in ("left", "equal", "right"):
        learner.tell(learner.ask(), choice)
    learner.skip(learner.ask())
    learner.tell(learner.ask(), "right")
    learner.undo()
    learner.ask()
    return learner


@pytest.mark.parametrize("model", MODELS)
def test_the_next_question_is_exactly_the_same(model: str, tmp_path: Path) -> None:
    learner = taught(MODELS[model]())
    learner.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json")
    assert (loaded.answers, loaded.open_questions) == (learner.answers, learner.open_questions)
    assert (loaded.pool.ids, loaded.pool.scaling) == (learner.pool.ids, learner.pool.scaling)
    np.testing.assert_array_equal(loaded.pool.features, learner.pool.features)
    for _ in range(2):
        asked, again = learner.ask(), loaded.ask()
        assert (asked, asked.value, asked.unit) == (again, again.value, again.unit)
        learner.tell(asked, "left")
        loaded.tell(again, "left")
    assert loaded.undo() == learner.undo()
    loaded.save(tmp_path / "again.json")
    learner.save(tmp_path / "learner.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "learner.json").read_bytes()


def test_a_learner_knows_its_file(tmp_path: Path) -> None:
    learner = Learner(Pool(np.random.default_rng(0).standard_normal((6, 2))))
    files = [learner.file]
    learner.save(str(tmp_path / "one.json"))
    files.append(learner.file)
    assert files == [None, tmp_path / "one.json"]
    assert Learner.load(tmp_path / "one.json").file == tmp_path / "one.json"
    assert learner.fork().file is None  # another learner, which must not overwrite it


@pytest.mark.parametrize("acquisition", ["expected-utility", ExpectedUtility(), MutualInformation("paper")])
def test_the_acquisition_function_is_kept(acquisition: Any, tmp_path: Path) -> None:
    learner = Learner(features_pool(), model=PreferenceGP(noise=0.1), acquisition=acquisition)
    learner.save(tmp_path / "learner.json")
    assert Learner.load(tmp_path / "learner.json").acquisition == learner.acquisition


@pytest.mark.filterwarnings("ignore:.* clips are missing")
def test_simulated_trajectories_and_clips_are_kept(tmp_path: Path) -> None:
    driver = Pool.simulate("driver", 4, progress=False)
    clips = Pool([[1.0], [2.0]], clips=[tmp_path / "a.mp4", tmp_path / "b.mp4"])
    for pool in (driver, clips):
        Learner(pool).save(tmp_path / "learner.json")
        loaded = Learner.load(tmp_path / "learner.json").pool
        assert (loaded.source, loaded.clips) == (pool.source, pool.clips)
    Learner(driver).save(tmp_path / "learner.json")
    same = Learner.load(tmp_path / "learner.json").pool.trajectory(2)
    np.testing.assert_array_equal(same.poses, driver.trajectory(2).poses)


class OwnAcquisition:
    unit = "luck"

    def score(self, pairs: Any) -> Any:
        return sum(part.gap_variance for part in pairs)


def test_parts_of_your_own_are_given_again(tmp_path: Path) -> None:
    learner = Learner(features_pool(), acquisition=OwnAcquisition())
    learner.save(tmp_path / "learner.json")
    with pytest.raises(LearnerFileError, match=r"your own acquisition: .*acquisition="):
        Learner.load(tmp_path / "learner.json")
    assert Learner.load(tmp_path / "learner.json", acquisition=OwnAcquisition()).ask() == learner.ask()


def test_a_file_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, learner = tmp_path / "learner.json", Learner(features_pool())
    learner.save(path)
    before = path.read_bytes()
    learner.tell(learner.ask(), "left")

    def no_space(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("prefero._support.files.replace_file", no_space)
    with pytest.raises(OSError, match="no space"):
        learner.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "prefero reward"}, "not a learner file: .*'prefero learner'"),
        ({"version": 2}, "version 2, .*version 1"),
        ({"seed": "x"}, "is damaged: ValueError"),
        ({"model": {"kind": "Oracle"}}, "is damaged: KeyError"),
        ({"model": {"kind": "PreferenceGP", "noise": -1.0}}, "is damaged: ValueError"),
        ({"acquisition": {"kind": "os:system"}}, "is damaged: UnknownNameError"),
        (
            {
                "told": [
                    {
                        "items": [0, 99],
                        "number": 1,
                        "value": None,
                        "unit": "",
                        "choice": "left",
                        "kind": "pair",
                    }
                ]
            },
            "damaged.* 0 to 15",
        ),
        ({"pool": {}}, "is damaged: KeyError 'arrays'"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "learner.json"
    Learner(features_pool()).save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(document | change), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        Learner.load(path)


def test_files_that_are_not_there_or_no_json_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"^no such file: "):
        Learner.load(tmp_path / "learner.json")
    (tmp_path / "learner.json").write_text("{NaN", encoding="utf-8")
    with pytest.raises(LearnerFileError, match="damaged or no learner file"):
        Learner.load(tmp_path / "learner.json")


def test_names_that_people_guess_are_hinted_at() -> None:
    learner = Learner(features_pool())
    guesses = {"fit": r"use learner\.tell\(", "query": r"use learner\.ask\(\)", "asc": "did you mean 'ask'"}
    for name, hint in guesses.items():
        with pytest.raises(AttributeError, match=f"Learner has no attribute '{name}'.*{hint}"):
            getattr(learner, name)


def test_a_file_keeps_who_was_asked(tmp_path: Path) -> None:
    learner = Learner(features_pool())
    learner.tell(learner.ask(person="ann"), "left")
    asked = learner.ask(person="bob")
    learner.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json")
    loaded.tell(asked, "right")
    assert [answer.person for answer in loaded.answers] == ["ann", "bob"]


def test_a_file_with_two_answers_to_one_question_is_refused(tmp_path: Path) -> None:
    path, learner = tmp_path / "learner.json", Learner(features_pool())
    learner.tell(learner.ask(), "left")
    learner.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["told"].append({**document["told"][0], "choice": "right"})
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(LearnerFileError, match="damaged: AnswerConflict question 1"):
        Learner.load(path)
