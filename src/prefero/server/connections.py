"""Limits on connections: time-outs for slow clients, and a largest number of open connections.

A connection is *waiting* if the server has no complete request from it: it was just opened, its request is
incomplete, or it is kept open after a response. One client could open so many waiting connections that nobody
else can connect. When the largest number is exceeded, the server closes a waiting connection: of the client
that has the most, the one that has waited longest.
"""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from prefero._support.systems import open_file_limit

REQUEST_SECONDS = 15.0  # for a whole request, from the opening of the connection or its first byte
STALLED_SECONDS = 60.0  # without a byte read by a client that has more to read
MOST_CONNECTIONS = 1000
FILES_FOR_OTHERS = 0.5  # of the files that a process may open: the fraction that connections leave free


class OpenConnections:
    """The connections of one server."""

    def __init__(self, most: int | None = None) -> None:
        self.most = most or min(MOST_CONNECTIONS, int(open_file_limit() * (1 - FILES_FOR_OTHERS)))
        self._open: dict[GuardedProtocol, str] = {}  # the address of each, oldest first

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: "GuardedProtocol", address: str) -> None:
        """One more; if there are too many, another one is closed, or this one if all are busy."""
        self._open[connection] = address
        if len(self._open) > self.most:
            self._close_one(connection)

    def discard(self, connection: "GuardedProtocol") -> None:
        """It is closed."""
        self._open.pop(connection, None)

    def _close_one(self, newest: "GuardedProtocol") -> None:
        counts = Counter(self._open.values())
        waiting = [one for one in self._open if one.waits and one is not newest]
        last = max(waiting, key=lambda one: counts[self._open[one]], default=newest)  # the oldest of equals
        self.discard(last)
        last.transport.abort()


class GuardedProtocol(H11Protocol):
    """HTTP/1.1 that closes connections which wait too long. `guarded` makes one for a server."""

    open_connections: OpenConnections
    _timer: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    @property
    def waits(self) -> bool:
        """Whether the server has no complete request of it to answer."""
        cycle: Any = self.cycle  # None before the first request
        return cycle is None or bool(cycle.more_body or cycle.response_complete)

    def connection_made(self, transport: Any) -> None:
        """Count it, and wait for its first request."""
        super().connection_made(transport)
        self._start_timer()
        self.open_connections.add(self, self.client[0] if self.client else "")

    def data_received(self, data: bytes) -> None:
        """The time for a request begins with its first byte, and ends with its last."""
        if self._timer is None and self.waits:
            self._start_timer()
        super().data_received(data)
        if not self.waits:
            self._stop_timer()

    def pause_writing(self) -> None:
        """The client does not read as fast as the server writes."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It has read."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed."""
        self.open_connections.discard(self)
        self._stop_timer()
        if self._stalled is not None:
            self._stalled.cancel()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def guarded(connections: OpenConnections) -> type[GuardedProtocol]:
    """The protocol of a server with these connections."""
    return type("Guarded", (GuardedProtocol,), {"open_connections": connections})
