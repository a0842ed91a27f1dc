"""Let one person's requests wait for each other, so that they do not keep others waiting.

A request that computes holds a thread. Without a limit, one person who sends many at once would hold all; and
there are more threads than computations, so that a request which computes nothing need not wait for one.
"""

import asyncio

from anyio import to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

from prefero.server.middleware.asgi import Middleware, too_many_requests
from prefero.server.middleware.rate_limit import VISITOR

THREADS = 200
AT_ONCE = 6  # requests of one person: as many as a browser sends
WAITING = 60  # that may wait for these


class PersonalLimit:
    """The requests of one person: a semaphore for those that run, and the number of all, waiting ones too."""

    def __init__(self) -> None:
        self.running, self.count = asyncio.Semaphore(AT_ONCE), 0


class ConcurrencyLimit(Middleware):
    """At most `AT_ONCE` requests of one person at once; others wait in order, up to a number."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self._limits: dict[str, PersonalLimit] = {}
        self._started = False

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait, or refuse if too many wait already."""
        if not scope["path"].startswith("/api/"):
            await self.app(scope, receive, send)
            return
        if not self._started:  # the number of threads belongs to the running event loop
            to_thread.current_default_thread_limiter().total_tokens = THREADS
            self._started = True
        person = scope.get(VISITOR, "")
        limit = self._limits.setdefault(person, PersonalLimit())
        if limit.count >= AT_ONCE + WAITING:
            await too_many_requests("too many requests at once: wait a little", 1)(scope, receive, send)
            return
        limit.count += 1
        try:
            async with limit.running:
                await self.app(scope, receive, send)
        finally:
            limit.count -= 1
            if not limit.count:
                del self._limits[person]
