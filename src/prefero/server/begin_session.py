"""Begins a teaching session in a process of its own: `python -m prefero.server.begin_session`.

Files that somebody dropped onto the page are read here, so that the page is alive meanwhile, and that a file
which breaks a video decoder breaks nothing else. The request is one line of JSON on the input, a
`BeginRequest`; the process ends when the input does. On the output is one JSON object a line: how far it is,
and at the end the session's name or the error.
"""

import json
import os
import sys
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefero._support.progress_bar import report_progress
from prefero.datasets.episode import SKIP_HINT
from prefero.studies.start import begin_teaching
from prefero.studies.storage.database import attach_database
from prefero.studies.storage.store import Store

DROP_HINT = "Repair it and drop the files again, or drop the others without it"  # the page has no options


@dataclass(frozen=True)
class BeginRequest:
    """What a new session is about, and what it asks; `database` is its address."""

    database: str
    what: str
    name: str
    questions: int
    trajectories: int | None = None
    task_description: str = ""
    answers: str | None = None

    def begin(self, store: Store) -> str:
        """Begin it; the session's name. No file is trusted, so none of them runs code."""
        study, _, _ = begin_teaching(
            store,
            self.what,
            self.name,
            self.questions,
            self.trajectories,
            task_description=self.task_description or None,
            answers=self.answers,
        )
        return study.name

    def without_folder(self, message: str) -> str:
        """A message with the names of files alone: the folder is one that nobody knows."""
        folder = Path(self.what) if Path(self.what).is_dir() else Path(self.what).parent
        return message.replace(f"{folder}{os.sep}", "").replace(str(folder), "this folder")


def main() -> None:
    """Read the request, begin the session, and say how that ended."""
    warnings.simplefilter("ignore")
    request = BeginRequest(**json.loads(sys.stdin.readline()))
    threading.Thread(target=_end_with_input, daemon=True).start()
    report_progress(lambda text, done, total: _say(text=text, done=done, total=total))
    try:
        _say(session=request.begin(Store(attach_database(request.database))))
    except Exception as error:  # any package may be behind a file
        told = (str(error) or repr(error)).replace(SKIP_HINT, DROP_HINT)
        _say(error=request.without_folder(told))


def _say(**told: Any) -> None:
    print(json.dumps(told), flush=True)


def _end_with_input() -> None:
    """The server has ended, or nobody waits for the session any more."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
