"""Let one person's requests wait for each other, so that they do not keep others waiting.

A request that computes holds a thread. Without a limit, one person who sends many at once would hold all; and
there are more threads than computations, so that a request which computes nothing need not wait for one.
"""

import asyncio
from collections import deque

from anyio import to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

from prefero.server.middleware.asgi import refuse
from prefero.server.middleware.rate_limit import VISITOR

THREADS = 200
AT_ONCE = 6  # requests of one person: as many as a browser sends
WAITING = 60  # that may wait for these


class Turns:
    """The requests of one person: how many run, and who waits, in order."""

    def __init__(self) -> None:
        self.running = 0
        self.waiting: deque[asyncio.Future[None]] = deque()

    async def take(self) -> None:
        """Wait for one's turn."""
        if self.running < AT_ONCE:
            self.running += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give()  # it was this one's turn just now
            raise

    def give(self) -> None:
        """Let the next one run."""
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.running -= 1


class FairShare:
    """At most `AT_ONCE` requests of one person at once; others wait in order, up to a number."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._turns: dict[str, Turns] = {}
        self._started = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait, or refuse if too many wait already."""
        if scope["type"] != "http" or not scope["path"].startswith("/api/"):
            await self.app(scope, receive, send)
            return
        if not self._started:  # the number of threads belongs to the running event loop
            to_thread.current_default_thread_limiter().total_tokens = THREADS
            self._started = True
        person = scope.get(VISITOR, "")
        turns = self._turns.setdefault(person, Turns())
        if len(turns.waiting) >= WAITING:
            await refuse(send, 429, "too-many-requests", "too many requests at once: wait a little", 1)
            return
        await turns.take()
        try:
            await self.app(scope, receive, send)
        finally:
            turns.give()
            if not turns.running:
                self._turns.pop(person, None)
