"""The data folder, the pool of a session, and how a teacher's session begins and goes on."""

import sys
from pathlib import Path

import numpy as np
import pytest

from prefero import Pool
from prefero._support.arrays import Array
from prefero._support.files import data_folder
from prefero.datasets import LabelColumn
from prefero.pools.displays import details_of
from prefero.studies.protocol.protocol import teaching_protocol
from prefero.studies.start import begin_teaching, pool_of
from prefero.studies.storage.store import Store
from prefero.worlds.golf import Golf
from studies.fake_study import answer, answered, ask, features_only, new_key, refusal, study_of


@pytest.fixture
def pool_file(tmp_path: Path) -> str:
    path = tmp_path / "mine.npz"
    features_only().save(path)
    return str(path)


# --- folders ----------------------------------------------------------------------------------------------


def test_the_variable_moves_the_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "other"))
    assert data_folder() == tmp_path / "mine"


@pytest.mark.parametrize(
    ("platform", "variables", "wanted"),
    [
        ("linux", {}, ".local/share/prefero"),
        ("linux", {"XDG_DATA_HOME": "elsewhere"}, "elsewhere/prefero"),
        ("linux", {"XDG_DATA_HOME": "", "PREFERO_DATA": ""}, ".local/share/prefero"),
        ("darwin", {"XDG_DATA_HOME": "elsewhere"}, "Library/Application Support/prefero"),
        ("win32", {}, "AppData/Local/prefero"),
        ("win32", {"LOCALAPPDATA": "elsewhere"}, "elsewhere/prefero"),
    ],
)
def test_by_default_the_data_are_where_the_system_keeps_them(
    platform: str, variables: dict[str, str], wanted: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in ("PREFERO_DATA", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value and str(tmp_path / value))
    assert data_folder() == tmp_path / wanted


# --- pools ------------------------------------------------------------------------------------------------


def test_teaching_golf_begins_before_any_shot_is_simulated_and_each_is_when_it_is_shown(
    file_store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path))
    simulated: list[int] = []
    play = Golf.simulate

    def count(world: Golf, actions: Array) -> tuple[Array, Array]:
        simulated.append(len(actions))
        return play(world, actions)

    monkeypatch.setattr(Golf, "simulate", count)
    study, _, _ = begin_teaching(file_store, "golf", None, 30)
    pool, display = file_store.pool(study), file_store.display(study)
    assert (len(pool), simulated) == (400, [])
    assert details_of(pool, display, 17)["replay"]["poses"]
    assert simulated == [1]
    again, _, known = begin_teaching(file_store, "golf", None, 30)
    assert known
    assert file_store.pool(again) is pool


def test_fewer_shots_than_asked_for_are_explained() -> None:
    with pytest.warns(UserWarning, match=r"49 trajectories .*60: .*7 x 7 .*8 x 8: --trajectories 64"):
        assert len(pool_of("golf", 60, simulate="later")) == 49
    assert len(pool_of("golf", 64, simulate="later")) == 64


def test_a_pool_comes_from_a_world_or_a_file(pool_file: str, driver_pool: Pool) -> None:
    np.testing.assert_array_equal(pool_of(pool_file).features, features_only().features)
    simulated = pool_of("driver", 60)
    np.testing.assert_array_equal(simulated.features, driver_pool.features)


def test_what_is_neither_a_world_nor_a_file_is_refused_with_the_worlds_there_are() -> None:
    with pytest.raises(FileNotFoundError, match=r"'drivver'; did you mean 'driver'\?$"):
        pool_of("drivver")
    with pytest.raises(FileNotFoundError, match=r"(?s)'q'.*a world \(driver, .*a pool file"):
        pool_of("q")


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("folder", "is not recognized.* a pool file"),
        ("letter.txt", "is not recognized.* a pool file"),
        ("letter.npz", "a pool .*Pool.save"),
    ],
)
def test_a_file_that_is_not_a_pool_is_refused_by_its_name(what: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / what
    if what == "folder":
        path.mkdir()
    else:
        path.write_text("Dear robot,", encoding="utf-8")
    with pytest.raises(ValueError, match=f"(?s){what}.*{why}"):
        pool_of(str(path))


# --- sessions ---------------------------------------------------------------------------------------------


def test_what_to_do_is_said_by_the_teacher_and_can_be_changed(store: Store, pool_file: str) -> None:
    def described(text: str | None) -> str:
        study, *_ = begin_teaching(store, pool_file, None, 3, task_description=text)
        return str(study.protocol["task_description"])

    assert described("Drive\n  calmly.") == "Drive calmly."
    assert described(None) == "Drive calmly."
    assert described("Drive fast.") == "Drive fast."


def test_a_session_begins_with_one_teacher(store: Store, driver_pool: Pool) -> None:
    study, person, known = begin_teaching(store, "driver", None, 25, 60)
    assert not known
    assert (study.name, study.kind, person.label) == ("driver", "teach", "teacher")
    assert store.participants(study) == [person]
    assert len(store.pool(study)) == len(driver_pool)
    assert store.display(study)["kind"] == "scene"
    wanted = teaching_protocol("Driver", 25).to_json()
    assert study.protocol == wanted | {"methods": list(wanted["methods"])}


def test_a_session_goes_on_where_it_was_left(store: Store) -> None:
    study, person, _ = begin_teaching(store, "driver", None, 25, 60)
    questions = [answer(store, person), answer(store, person)]
    waiting = ask(store, person)
    again = begin_teaching(store, "driver", None, 25)
    assert again == (study, person, True)
    log = store.event_log(again[1])
    assert answered(log) == [(question, "left") for question in questions]
    assert log.open_question is not None
    assert log.open_question.id == waiting
    assert len(store.studies()) == 1


def test_another_name_makes_another_session(file_store: Store, pool_file: str) -> None:
    first, _, _ = begin_teaching(file_store, pool_file, None, 10)
    second, person, known = begin_teaching(file_store, pool_file, "evening", 10)
    assert (first.name, second.name, known) == ("mine", "evening", False)
    assert second.protocol["title"] == "evening"
    answer(file_store, person)
    assert begin_teaching(file_store, pool_file, "evening", 10) == (second, person, True)
    assert file_store.event_log(file_store.participants(first)[0]).events == ()


def test_other_trajectories_under_the_same_name_are_refused(file_store: Store, tmp_path: Path) -> None:
    """Answers name trajectories by index, which would mean others."""
    path = tmp_path / "mine.npz"
    features_only().save(path)
    _, person, _ = begin_teaching(file_store, str(path), None, 10)
    answer(file_store, person)
    for other in (features_only(seed=1), features_only(rows=11)):
        other.save(path)
        with refusal(
            "another-pool", "the session 'mine' was begun with other trajectories: choose another --name"
        ):
            begin_teaching(file_store, str(path), None, 10)
    for what in ("driver", "tosser"):
        with refusal("another-pool"):
            begin_teaching(file_store, what, "mine", 10)
    features_only().save(path)
    assert begin_teaching(file_store, str(path), None, 10)[2]


def test_a_feature_of_a_session_cannot_become_its_labels(file_store: Store, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = "".join(f"run {row},{row / 10},{(7 * row) % 12},{row % 2}\n" for row in range(12))
    path.write_text(f"id,speed,distance,ok\n{rows}", encoding="utf-8")
    begin_teaching(file_store, str(path), None, 10)
    with refusal("another-pool", "the session 'runs' has 'ok' as a feature, which cannot be its labels too"):
        begin_teaching(file_store, str(path), None, 10, labels=LabelColumn("ok"))
    study, *_ = begin_teaching(file_store, str(path), "labelled", 10, labels=LabelColumn("ok"))
    assert file_store.pool(study).names == ("speed", "distance")


def test_the_same_numbers_of_other_features_or_trajectories_are_another_pool(
    file_store: Store, tmp_path: Path
) -> None:
    numbers = features_only().features
    begun = Pool(numbers, ["speed", "distance"], ids=[f"run {row}" for row in range(12)])
    others = [Pool(numbers, ["height", "effort"]), Pool(numbers, begun.names, ids=[*map(str, range(12))])]
    for folder, pool in zip("abc", (begun, *others), strict=True):
        (tmp_path / folder).mkdir()
        pool.save(tmp_path / folder / "run.npz")
    study, *_ = begin_teaching(file_store, str(tmp_path / "a" / "run.npz"), None, 10)
    for folder in "bc":
        with refusal("another-pool", "the session 'run' was begun with other trajectories"):
            begin_teaching(file_store, str(tmp_path / folder / "run.npz"), None, 10)
    assert begin_teaching(file_store, str(tmp_path / "a" / "run.npz"), None, 10)[0] == study
    assert file_store.pool(study).has_same_trajectories(begun)


def test_a_study_cannot_be_opened_as_a_teaching_session(file_store: Store, pool_file: str) -> None:
    study = study_of(file_store, "mine")
    with refusal("study-exists", "'mine' is a study, not a session: choose another --name"):
        begin_teaching(file_store, pool_file, None, 10)
    assert file_store.studies() == [study]
    assert file_store.participants(study) == []


def test_a_session_without_its_participant_is_completed(file_store: Store, pool_file: str) -> None:
    """The program was killed after it added the session, and before it added the teacher."""
    protocol = teaching_protocol("mine", 10).to_json()
    file_store.add_study("mine", "teach", protocol, features_only(), {"kind": "features"}, new_key())
    study, person, _ = begin_teaching(file_store, pool_file, None, 10)
    assert file_store.participants(study) == [person]


@pytest.mark.filterwarnings("ignore:.* clips are missing")
def test_no_session_is_left_behind_by_a_pool_that_cannot_be_shown(file_store: Store, tmp_path: Path) -> None:
    videos = [tmp_path / f"{number}.mp4" for number in range(12)]
    path = tmp_path / "videos.npz"
    Pool(features_only().features, clips=videos).save(path)
    with pytest.raises(ValueError, match=r"12 clips .*missing"):
        begin_teaching(file_store, str(path), None, 10)
    assert file_store.studies() == []


def test_questions_are_about_all_trajectories_or_about_those_that_differ_most(
    file_store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "mine.npz"
    Pool(np.random.default_rng(0).standard_normal((60, 2))).save(path)
    assert len(pool_of(str(path))) == 60
    study, _, known = begin_teaching(file_store, str(path), None, 5, 20)
    kept = file_store.pool(study)
    assert (len(kept), known) == (20, False)
    np.testing.assert_array_equal(kept.features, pool_of(str(path), 20).features)
    assert begin_teaching(file_store, str(path), None, 5)[2]
