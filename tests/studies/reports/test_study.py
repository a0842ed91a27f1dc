"""A study's report: a tiny study's numbers, worked out by hand, its files and its text."""

import csv
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefero import Pool
from prefero.plots.user_study import StudyOutcome, study_table
from prefero.pools.displays import display_of
from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.reports.study import outcomes_of, write_study_report
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Participant, Store, Study, new_secret
from studies.fake_study import FAST_METHOD, answer, ask, invited, new_key, proposal, protocol_of

METHODS = (StudyMethod("ActiveGP", FAST_METHOD, 1), StudyMethod("Other", FAST_METHOD, 1))


def line() -> Pool:
    """Six trajectories along one feature."""
    return Pool(np.arange(6.0)[:, None], ["height"])


def study_of(store: Store, name: str = "tiny", **changed: Any) -> Study:
    plain = {"methods": METHODS, "tests": 2, "rate": True, "world": "golf"}
    protocol, pool = protocol_of(**{**plain, **changed}), line()
    return store.add_study(name, "study", protocol.to_json(), pool, display_of(pool), new_secret())


def rate(store: Store, person: Participant, ratings: tuple[int, int]) -> None:
    for method, rating in zip(METHODS, ratings, strict=True):
        store.add_stage_event(person, "rate", method.label, {"trajectory": 0, "rating": rating}, new_key())


def take_part(
    store: Store, study: Study, label: str, tests: str, ratings: tuple[int, int] | None
) -> Participant:
    """ActiveGP learns that 5 is better than 0, and Other the contrary; the tests are about the same two."""
    person = invited(store, label, study)
    answer(store, person, "left", proposal(1, "ActiveGP", items=(5, 0)))
    answer(store, person, "right", proposal(2, "Other", items=(5, 0)))
    for number, choice in enumerate(tests):
        items = (5, 0) if number == 0 else (0, 5)
        kind = {"l": "left", "r": "right", "e": "equal"}[choice]
        answer(store, person, kind, proposal(3, "test", items=items))
    if ratings:
        rate(store, person, ratings)
    return person


def tiny_study(store: Store) -> Study:
    """Two participants who finished, one who is not done, and one who never came."""
    study = study_of(store)
    take_part(store, study, "P1", "lr", (9, 4))  # likes 5 both times: ActiveGP predicts it, Other never
    take_part(store, study, "P2", "ll", (6, 5))  # likes 5, then 0: each of them predicts one
    answer(store, invited(store, "P3", study), "left", proposal(1, "ActiveGP", items=(5, 0)))
    invited(store, "P4", study)
    return study


OUTCOMES = [
    StudyOutcome("P1", "ActiveGP", 1.0, 9.0),
    StudyOutcome("P1", "Other", 0.0, 4.0),
    StudyOutcome("P2", "ActiveGP", 0.5, 6.0),
    StudyOutcome("P2", "Other", 0.5, 5.0),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of that study's report."""
    folder = tmp_path_factory.mktemp("tiny")
    engine = open_database(folder / "studies.db")
    store = Store(engine)
    report = write_study_report(store, tiny_study(store), folder / "new" / "report")
    assert report.outcomes == OUTCOMES
    engine.dispose()
    return folder / "new" / "report"


def cells(folder: Path, first: str) -> list[str]:
    """The row of a table of the report, by its first cell."""
    found = re.search(
        rf"^\| {first} \|(.*)\|$", (folder / "report.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert found is not None
    return [cell.strip() for cell in found.group(1).split("|")]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_outcomes_are_shares_of_a_participants_own_test_questions(store: Store) -> None:
    assert outcomes_of(store, tiny_study(store)) == OUTCOMES


def test_a_bar_counts_the_participants_while_methods_learn_again(
    file_store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tiny_study(file_store)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    outcomes_of(file_store, study)
    assert "learning as each method did" in (told := capsys.readouterr().err)
    assert "2/2" in told


def test_the_table_holds_means_standard_errors_and_the_papers_numbers(report: Path) -> None:
    """Accuracies 1 and 0.5, ratings 9 and 6: the standard error of two values is half their distance."""
    assert cells(report, "ActiveGP") == ["0.75 ± 0.25", "0.74 ± 0.04", "7.5 ± 1.5", "6.9 ± 0.6"]
    assert cells(report, "Other") == ["0.25 ± 0.25", "", "4.5 ± 0.5", ""]
    assert "A test between methods needs 6 or more" in (report / "report.md").read_text(encoding="utf-8")


def test_the_participants_are_listed_with_their_progress(report: Path) -> None:
    assert "4 invited, 3 began, 2 finished." in (report / "report.md").read_text(encoding="utf-8")
    assert cells(report, "P1") == ["done", "4 of 4", "1.5", "50%"]
    assert cells(report, "P2") == ["done", "4 of 4", "1.5", "75%"]
    assert cells(report, "P3") == ["compare", "1 of 4", "1.5", "100%"]
    assert cells(report, "P4") == ["invited", "0 of 4", "", ""]


def test_the_folder_holds_page_tables_and_pictures(report: Path) -> None:
    assert {path.name for path in report.iterdir()} == {
        *("outcomes.csv", "participants.csv", "report.md", "report.html", "study.png", "times.png")
    }
    assert [
        (row["participant"], row["method"], float(row["accuracy"]), float(row["rating"]))
        for row in table(report / "outcomes.csv")
    ] == [(o.participant, o.method, o.accuracy, o.rating) for o in OUTCOMES]
    assert [(row["label"], row["stage"], row["answered"]) for row in table(report / "participants.csv")] == [
        ("P1", "done", "4"),
        ("P2", "done", "4"),
        ("P3", "compare", "1"),
        ("P4", "", "0"),
    ]
    for name in ("study.png", "times.png"):
        assert (report / name).read_bytes().startswith(b"\x89PNG")
    html = (report / "report.html").read_text(encoding="utf-8")
    assert "0.75 ± 0.25" in html
    assert "<table" in html


def test_participants_without_ratings_do_not_count_in_the_means(file_store: Store) -> None:
    study = tiny_study(file_store)
    take_part(file_store, study, "P5", "lr", None)
    outcomes = outcomes_of(file_store, study)
    assert "7.5 ± 1.5" in study_table(outcomes).markdown
    assert np.isfinite([outcome.rating for outcome in outcomes]).all()


def test_about_equal_does_not_count_as_a_test_answer(file_store: Store) -> None:
    study = study_of(
        file_store, ties=True, methods=tuple(StudyMethod(a.label, "Prefero, random", 1) for a in METHODS)
    )
    take_part(file_store, study, "P1", "le", (9, 4))
    assert [outcome.accuracy for outcome in outcomes_of(file_store, study)] == [1.0, 0.0]


def test_labels_are_predicted_by_the_order_of_their_trajectories(file_store: Store) -> None:
    study = study_of(
        file_store, answers="rate-3", methods=(StudyMethod("Prefero", "Prefero, random", 2),), rate=False
    )
    person = invited(file_store, "P1", study)
    for method, item, level in [("Prefero", 0, "1"), ("Prefero", 5, "3"), ("test", 1, "1"), ("test", 4, "2")]:
        answer(file_store, person, level, proposal(1, method, items=(item,), kind="rate-3"))
    (outcome,) = outcomes_of(file_store, study)
    assert outcome.accuracy == 1.0


def test_an_answer_that_was_undone_does_not_count(file_store: Store) -> None:
    study = study_of(file_store)
    person = invited(file_store, "P1", study)
    first = answer(file_store, person, "right", proposal(1, "ActiveGP", items=(5, 0)))
    file_store.undo(person, new_key())
    file_store.add_event(person, first, "left", new_key())
    answer(file_store, person, "right", proposal(2, "Other", items=(5, 0)))
    for _ in range(2):
        answer(file_store, person, "left", proposal(3, "test", items=(5, 0)))
    rate(file_store, person, (9, 4))
    assert [outcome.accuracy for outcome in outcomes_of(file_store, study)] == [1.0, 0.0]


@pytest.mark.parametrize("begun", [False, True])
def test_before_anybody_is_done_the_report_says_so(file_store: Store, tmp_path: Path, begun: bool) -> None:
    study = study_of(file_store)
    person = invited(file_store, "P1", study)
    if begun:
        file_store.add_event(person, ask(file_store, person), "left", new_key())
    folder = tmp_path / "report"
    assert write_study_report(file_store, study, folder).outcomes == []
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "methods cannot be compared" in text
    assert f"1 invited, {int(begun)} began, 0 finished." in text
    assert not (folder / "study.png").exists()
    assert (folder / "times.png").exists() == begun
    assert table(folder / "outcomes.csv") == []


def test_without_tests_and_ratings_the_report_does_not_say_that_nobody_is_done(
    file_store: Store, tmp_path: Path
) -> None:
    study = study_of(file_store, tests=0, rate=False)
    take_part(file_store, study, "P1", "", None)
    assert write_study_report(file_store, study, tmp_path / "report").outcomes == []
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "1 finished" in text
    assert "No participant has answered" not in text


@pytest.mark.parametrize("people", [["P1"], ["P1", "P2"]], ids=len)
@pytest.mark.parametrize("changed", [{}, {"tests": 0}, {"rate": False}], ids=str)
def test_missing_measurements_are_not_shown_as_numbers(
    file_store: Store, changed: dict[str, Any], people: list[str]
) -> None:
    study = study_of(file_store, **changed)
    for label in people:
        tests, ratings = "" if "tests" in changed else "lr", None if "rate" in changed else (8, 8)
        take_part(file_store, study, label, tests, ratings)
    outcomes = outcomes_of(file_store, study)
    assert len(outcomes) == 2 * len(people)
    assert "nan" not in study_table(outcomes).markdown


def test_retest_agreement_is_in_the_report(file_store: Store, tmp_path: Path) -> None:
    study = study_of(file_store, tests=0, retests=1)
    for label, said in (("P1", "right"), ("P2", "left"), ("P3", "right")):
        person = take_part(file_store, study, label, "", None)
        answer(file_store, person, said, proposal(3, "retest", items=(0, 5)))
        rate(file_store, person, (5, 5))
    write_study_report(file_store, study, tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "67% were answered as before" in text
    assert cells(tmp_path / "report", "P2")[-1] == "0%"


def hurry(store: Store, study: Study, label: str) -> None:
    """All answers within half a second, on alternating sides."""
    person = invited(store, label, study)
    for number in range(24):
        method = "test" if number > 1 else METHODS[number].label
        question = ask(store, person, proposal(number, method, items=(5, 0)))
        store.add_event(person, question, ("left", "right")[number % 2], new_key(), 0.5)
    rate(store, person, (1, 9))


def test_careless_participants_are_flagged_and_the_table_is_there_without_them(
    file_store: Store, tmp_path: Path
) -> None:
    study = study_of(file_store, tests=22)
    for label in ("P1", "P3"):
        take_part(file_store, study, label, "lrrllrlllrrrlrrllrlrrl", (9, 4))
    hurry(file_store, study, "P2")
    folder = tmp_path / "report"
    report = write_study_report(file_store, study, folder)
    assert [participant.label for participant in report.careless] == ["P2"]
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert cells(folder, "P2")[-1] == "fast, alternating"
    assert cells(folder, "P1")[-1] == ""
    assert "- P2, fast: 24 of 24 answers" in text
    assert "less than 1 second" in text  # the rule itself
    assert "standard error of 3 participants" in text
    careful = text.split("Without the participants who show signs of carelessness:")[1]
    assert "9.0 ± 0.0" in careful
    assert "standard error of 2 participants" in careful
    rows = {row["label"]: row["careless_signs"] for row in table(folder / "participants.csv")}
    assert rows == {"P1": "", "P2": "fast, alternating", "P3": ""}


def test_without_careless_participants_nothing_is_said_of_carelessness(report: Path) -> None:
    text = (report / "report.md").read_text(encoding="utf-8")
    assert "careless" not in text
    assert {row["careless_signs"] for row in table(report / "participants.csv")} == {""}


def test_the_papers_numbers_are_beside_those_of_golf_alone(file_store: Store, tmp_path: Path) -> None:
    study = study_of(file_store, world="driver")
    take_part(file_store, study, "P1", "lr", (9, 4))
    write_study_report(file_store, study, tmp_path / "report")
    assert "in the paper" not in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")


def test_a_report_does_not_overwrite_another_unless_told_to(file_store: Store, tmp_path: Path) -> None:
    study, folder = study_of(file_store), tmp_path / "report"
    take_part(file_store, study, "P1", "lr", (9, 4))
    write_study_report(file_store, study, folder)
    before = (folder / "report.md").read_text(encoding="utf-8")
    take_part(file_store, study, "P2", "lr", (9, 4))
    with pytest.raises(ValueError, match=r"exists already: .*--out, .* --overwrite"):
        write_study_report(file_store, study, folder)
    assert (folder / "report.md").read_text(encoding="utf-8") == before
    write_study_report(file_store, study, folder, overwrite=True)
    assert "2 finished" in (folder / "report.md").read_text(encoding="utf-8")


def test_names_cannot_break_the_page(file_store: Store, tmp_path: Path) -> None:
    study = study_of(file_store, "<script>alert(1)</script>")
    take_part(file_store, study, "<img src=x onerror=alert(1)>", "lr", (9, 4))
    write_study_report(file_store, study, tmp_path / "report")
    html = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert "<img src=x" not in html
