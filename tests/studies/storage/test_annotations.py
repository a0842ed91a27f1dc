"""Notes and tags in both databases: the last note holds, tags come and go, and no row is edited."""

import pytest
from sqlalchemy import text

from prefero.studies.log.annotations import MOST_TAGS, Remarks, tidied
from prefero.studies.storage.store import Store
from studies.fake_study import answer, ask, in_parallel, invited, new_key, refusal, study_of


def test_the_last_note_holds_and_tags_are_added_and_removed(store: Store) -> None:
    person = invited(store)
    for kind, words in [
        ("note", "looks unsafe"),
        ("tag", "collision"),
        ("note", " looks\r\nvery unsafe "),
        ("tag", "  near   miss "),
        ("untag", "Collision"),
        ("tag", "slow"),
    ]:
        log = store.annotate(person, kind, words, new_key(), trajectory=3)  # type: ignore[arg-type]
    assert log.trajectory_remarks == {3: Remarks("looks\nvery unsafe", ("near miss", "slow"))}
    assert log == store.event_log(person)
    assert len(log.annotations) == 6
    for kind, words in [("note", ""), ("untag", "slow"), ("untag", "near miss")]:
        log = store.annotate(person, kind, words, new_key(), trajectory=3)  # type: ignore[arg-type]
    assert log.trajectory_remarks == {}


def test_a_note_of_an_answer_belongs_to_its_question_and_outlives_an_undo(store: Store) -> None:
    person = invited(store)
    question = ask(store, person)
    store.annotate(person, "note", "hard to say", new_key(), question=question)
    answer(store, person, "left")
    store.undo(person, new_key())
    log = store.annotate(person, "tag", "collision", new_key(), question=question)
    assert log.question_remarks == {question: Remarks("hard to say", ("collision",))}
    assert log.trajectory_remarks == {}
    assert log.open_question is not None
    assert log.open_question.id == question  # a note changes nothing else


def test_a_known_key_and_what_holds_already_change_nothing(store: Store) -> None:
    person, key = invited(store), new_key()
    for sent in (key, key, new_key()):
        log = store.annotate(person, "tag", "collision", sent, trajectory=0)
    assert len(log.annotations) == 1
    assert len(store.annotate(person, "tag", "COLLISION", new_key(), trajectory=0).annotations) == 1
    assert len(store.annotate(person, "untag", "slow", new_key(), trajectory=0).annotations) == 1


def test_two_windows_that_tag_at_once_lose_nothing(store: Store) -> None:
    person = invited(store)
    in_parallel(6, lambda number: store.annotate(person, "tag", f"tag {number}", new_key(), trajectory=1))
    assert sorted(store.event_log(person).trajectory_remarks[1].tags) == [f"tag {n}" for n in range(6)]


@pytest.mark.parametrize(
    ("kind", "words", "message"),
    [
        ("note", "x" * 2001, "a note has at most 2000 letters, and this one has 2001: shorten it"),
        ("tag", "x" * 41, "a tag has at most 40 letters"),
        ("tag", " \n", "this one is empty"),
        ("note", "a\0b", "cannot be stored"),
    ],
)
def test_what_cannot_be_stored_is_refused_in_words(
    shared_store: Store, kind: str, words: str, message: str
) -> None:
    person = invited(shared_store, study=study_of(shared_store, f"{kind} {len(words)}"))
    with refusal("bad-annotation", message):
        shared_store.annotate(person, kind, words, new_key(), trajectory=0)  # type: ignore[arg-type]
    assert shared_store.event_log(person).annotations == ()


def test_too_many_tags_and_strange_questions_are_refused(store: Store) -> None:
    person = invited(store)
    for number in range(MOST_TAGS):
        store.annotate(person, "tag", f"tag {number}", new_key(), trajectory=0)
    with refusal("bad-annotation", "at most 20 tags"):
        store.annotate(person, "tag", "one more", new_key(), trajectory=0)
    with refusal("no-question"):
        store.annotate(person, "note", "about nothing", new_key(), question=99)
    with store.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM annotations")).scalar_one() == MOST_TAGS


def test_the_longest_texts_fit(store: Store) -> None:
    person = invited(store)
    store.annotate(person, "note", "ü" * 2000, new_key(), trajectory=0)
    log = store.annotate(person, "tag", "ü" * 40, new_key(), trajectory=0)
    assert log.trajectory_remarks[0] == Remarks("ü" * 2000, ("ü" * 40,))
    assert tidied("note", "two\nlines") == "two\nlines"
