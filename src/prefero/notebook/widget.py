"""The widget: the page's player, keys and answers in the output of a notebook's cell."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anywidget

from prefero._support.commands import page_command
from prefero.notebook.requests import CLIP, Requests
from prefero.notebook.teaching import Teaching

SCRIPT = Path(__file__).with_name("built") / "widget.js"
CLIPS_AT_ONCE = 2


class LearnerWidget(anywidget.AnyWidget):
    """Shows a learner's questions in a notebook, and tells it the answers; `Learner.widget` makes one."""

    def __init__(self, teaching: Teaching) -> None:
        super().__init__(_esm=script())
        self._requests = Requests(teaching)
        self._threads = ThreadPoolExecutor(CLIPS_AT_ONCE, thread_name_prefix="prefero-clips")
        self.on_msg(self._receive)

    def _receive(self, _: object, request: dict[str, Any], __: object) -> None:
        """A clip may have to be cut first, so a thread sends it; the learner is used in this one only."""
        if CLIP.fullmatch(request["path"]):
            self._threads.submit(self._respond, request)
        else:
            self._respond(request)

    def _respond(self, request: dict[str, Any]) -> None:
        response = self._requests.respond(request["method"], request["path"], request["body"])
        content = {"id": request["id"], "status": response.status, "body": response.body}
        self.send(content, buffers=None if response.file is None else [response.file])


def script() -> str:
    """The widget's code for the browser, which is built from `web/`."""
    try:
        return SCRIPT.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileNotFoundError(
            f"this checkout has no widget yet: type  {page_command()}  which builds the widget too"
        ) from None
