"""Refuse requests that come too often: of one visitor, of one address, and above all tries of a secret."""

import time
from collections import OrderedDict

from starlette.types import ASGIApp, Receive, Scope, Send

from prefero.server.middleware.asgi import header, refuse

RATE, BURST = 40.0, 120.0  # requests of one visitor: a second in the long run, and at once
ADDRESS_RATE, ADDRESS_BURST = 400.0, 1200.0  # of all visitors behind one address: a class, a proxy
SIGN_IN_RATE, SIGN_IN_BURST = 1.0, 60.0  # tries of a secret from one address
SIGN_IN = "/api/enter"
REMEMBERED = 4096  # visitors


class TokenBuckets:
    """A token bucket for each visitor: it fills at a constant rate, and a request takes one token."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._buckets: OrderedDict[str, tuple[float, float]] = (
            OrderedDict()
        )  # tokens, and when they were counted

    def wait(self, visitor: str) -> float:
        """Take a token; 0, or the seconds until there is one."""
        now = time.monotonic()
        tokens, counted = self._buckets.pop(visitor, (self.burst, now))
        tokens = min(self.burst, tokens + (now - counted) * self.rate)
        empty = tokens < 1.0
        self._buckets[visitor] = (tokens if empty else tokens - 1.0, now)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        return (1.0 - tokens) / self.rate if empty else 0.0


class RateLimit:
    """Accept as many requests as people make; a visitor is an address with its cookies."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.visitors = TokenBuckets(RATE, BURST)
        self.addresses = TokenBuckets(ADDRESS_RATE, ADDRESS_BURST)
        self.sign_ins = TokenBuckets(SIGN_IN_RATE, SIGN_IN_BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with the seconds to wait, or pass on."""
        wait = self._wait(scope) if scope["type"] == "http" else 0.0
        if wait:
            seconds = int(wait) + 1
            await refuse(send, 429, "too-many-requests", "too many requests: wait a little", seconds)
        else:
            await self.app(scope, receive, send)

    def _wait(self, scope: Scope) -> float:
        address = scope["client"][0] if scope.get("client") else "unknown"
        wait = self.addresses.wait(address) or self.visitors.wait(f"{address} {header(scope, 'cookie')}")
        return wait or (self.sign_ins.wait(address) if scope["path"] == SIGN_IN else 0.0)
