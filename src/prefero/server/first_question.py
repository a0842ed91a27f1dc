"""The first question of a teacher, computed while the browser opens, and its clips cut.

An open question stays as it is: an answer to it may wait in a browser. What fails here is done again, and
reported, when the page asks for it.
"""

import logging
import threading
from collections.abc import Sequence

from prefero.server.auth import ServerContext, Visitor
from prefero.server.routes.session import file_of_clip

LOGGER = logging.getLogger("prefero")


def begin_first_question(context: ServerContext, visitor: Visitor) -> threading.Thread:
    """In a thread, which is returned."""
    thread = threading.Thread(
        target=_prepare, args=(context, visitor), name="prefero-first-question", daemon=True
    )
    thread.start()
    return thread


def _prepare(context: ServerContext, visitor: Visitor) -> None:
    try:
        for item in _items(context, visitor):
            threading.Thread(target=_cut, args=(context, visitor, item), daemon=True).start()
    except Exception:  # the page's request says why
        LOGGER.debug("the first question was not prepared", exc_info=True)


def _items(context: ServerContext, visitor: Visitor) -> Sequence[int]:
    """The trajectories of the open question, which is computed if there is none, where they are clips."""
    session = context.session(visitor)
    if session.event_log().open_question is None:
        session.state()
    asked = session.event_log().open_question
    shown = context.store.display(visitor.study)["kind"]
    return asked.items if asked is not None and shown == "clips" else ()


def _cut(context: ServerContext, visitor: Visitor, item: int) -> None:
    pool, shown = context.store.pool(visitor.study), context.store.display(visitor.study)
    try:
        context.clips.prepare(file_of_clip(pool, shown, item, context))
    except Exception:  # as above
        LOGGER.debug("a clip of the first question was not prepared", exc_info=True)
