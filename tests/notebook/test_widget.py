"""The widget's side in the kernel: messages in, responses out."""

from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from prefero import Learner, Pool, PreferenceGP
from prefero._support import optional
from prefero._support.optional import MissingExtra
from prefero.kernels import RBF
from prefero.notebook import widget as widget_module
from prefero.notebook.widget import LearnerWidget

QUICK = PreferenceGP(RBF(0.5), noise=0.5, margin=0.3)


@pytest.fixture
def learner(tmp_path: Path) -> Learner:
    videos = [tmp_path / f"{number}.mp4" for number in range(4)]
    for video in videos:
        video.write_bytes(video.name.encode())
    return Learner(Pool(np.random.default_rng(0).normal(size=(4, 2)), clips=videos), model=QUICK)


class Browser:
    """Sends messages to a widget, and has those that come back."""

    def __init__(self, widget: LearnerWidget, monkeypatch: pytest.MonkeyPatch) -> None:
        self.widget, self.received, self.came = widget, list[tuple[dict[str, Any], Any]](), Event()
        monkeypatch.setattr(widget, "send", self._receive)

    def _receive(self, content: dict[str, Any], buffers: Any = None) -> None:
        self.received.append((content, buffers))
        self.came.set()

    def ask(self, path: str) -> tuple[dict[str, Any], Any]:
        request = {"id": "an-id", "method": "GET", "path": path, "body": None}
        self.came.clear()
        self.widget._handle_custom_msg(request, [])
        assert self.came.wait(30)
        return self.received[-1]


def test_responses_have_the_id_of_their_request(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(learner.widget(questions=7), monkeypatch)
    content, buffers = browser.ask("/api/session")
    assert (content["id"], content["status"], content["body"]["total"], buffers) == ("an-id", 200, 7, None)
    content, _ = browser.ask("/api/nothing")
    assert (content["id"], content["status"]) == ("an-id", 404)


def test_a_clip_comes_as_bytes(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    content, buffers = Browser(learner.widget(), monkeypatch).ask("/api/clips/2.mp4")
    assert (content["status"], content["body"], buffers) == (200, None, [b"2.mp4"])


def test_the_code_for_the_browser_is_one_module(learner: Learner) -> None:
    code = learner.widget()._esm
    assert isinstance(code, str)
    assert "export" in code[-200:]
    assert "import(" not in code  # the browser could not find what it imports


def test_a_checkout_without_a_page_says_how_to_build_it(
    learner: Learner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(widget_module, "SCRIPT", tmp_path / "widget.js")
    with pytest.raises(FileNotFoundError, match="make page"):
        learner.widget()


def test_without_the_extra_the_error_names_the_line_to_type(
    learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(module: str) -> None:
        raise ImportError(module)

    monkeypatch.setattr(optional, "import_module", missing)
    with pytest.raises(MissingExtra, match=r"'anywidget'.*install.*\[notebook\]"):
        learner.widget()
