"""The first question is there before the page asks for it, and its clips are."""

from pathlib import Path

import numpy as np
import pytest

from prefero import Pool
from prefero.server.auth import ServerContext, Visitor
from prefero.server.first_question import begin_first_question
from prefero.studies.storage.clip_folders import remember_folder
from prefero.studies.storage.store import Store
from server.served_studies import add_teaching
from waiting import TIMEOUT, wait_until


def prepared(store: Store, visitor: Visitor) -> ServerContext:
    context = ServerContext(store, guest=visitor)
    begin_first_question(context, visitor).join(TIMEOUT)
    return context


def test_a_new_session_has_its_question_and_asks_for_its_clips(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clips = [tmp_path / f"{number}.mp4" for number in range(3)]
    for clip in clips:
        clip.write_bytes(b"a video")
    remember_folder(tmp_path)
    visitor, asked = add_teaching(store, Pool(np.eye(3), clips=clips)).visitor, set[Path]()
    monkeypatch.setattr(
        "prefero.datasets.media.clip_preparation.ClipPreparation.prepare", lambda _, path: asked.add(path)
    )
    prepared(store, visitor)
    assert visitor.participant is not None
    question = store.event_log(visitor.participant).open_question
    assert question is not None
    wait_until(lambda: asked == {clips[item].resolve() for item in question.items}, "both clips")


def test_an_open_question_stays_as_an_answer_to_it_may_wait_in_a_browser(
    store: Store, driver_pool: Pool
) -> None:
    visitor = add_teaching(store, driver_pool).visitor
    assert visitor.participant is not None
    prepared(store, visitor)
    before = store.event_log(visitor.participant)
    prepared(store, visitor)
    assert store.event_log(visitor.participant) == before
    assert len(before.questions) == 1
