"""The guard at the door: what is too large, too often or from elsewhere does not come in.

It answers before any route is looked at, and gives every answer the headers that keep a browser strict.
"""

import json
import logging
import time
from collections import OrderedDict
from collections.abc import Iterable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOGGER = logging.getLogger("prefero")
BODY_LIMIT = 64 * 1024
RATE, BURST = 40.0, 120.0  # requests a second in the long run, and at once, of one visitor
CROWD_RATE, CROWD_BURST = 400.0, 1200.0  # of all visitors behind one address: a class, a proxy
ENTRY_RATE, ENTRY_BURST = 1.0, 60.0  # tries of a secret, from one address
VISITORS = 4096
CACHED = ("/api/trajectories/", "/api/display", "/api/clips/")  # what a browser may keep for a while
LOOPBACK = ("127.0.0.1", "localhost", "::1")

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self'",
        "connect-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Buckets:
    """A bucket of requests for each visitor: it fills slowly, and an empty one makes them wait."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, visitor: str) -> float:
        """Take one; 0, or the seconds until there is one to take."""
        now = time.monotonic()
        left, then = self._left.pop(visitor, (self.burst, now))
        left = min(self.burst, left + (now - then) * self.rate)
        short = left < 1.0
        self._left[visitor] = (left if short else left - 1.0, now)
        if len(self._left) > VISITORS:
            self._left.popitem(last=False)
        return (1.0 - left) / self.rate if short else 0.0


class TooLarge(HTTPException):
    """The body goes on past the limit. Of all that a reader of bodies meets, this is what it lets through."""

    def __init__(self) -> None:
        super().__init__(413, _TOO_LARGE)


class Guard:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = ()) -> None:
        self.app = app
        self.hosts = {*LOOPBACK, *hosts}
        self.requests, self.crowds = Buckets(RATE, BURST), Buckets(CROWD_RATE, CROWD_BURST)
        self.entries = Buckets(ENTRY_RATE, ENTRY_BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with a bounded body and strict headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _answer(send, *refusal)
            return
        started = False

        async def strict(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message.get("headers", []), *_strict_headers(scope["path"])]
            await send(message)

        try:
            await self.app(scope, _bounded(receive), strict)
        except Exception:
            if started:
                raise
            LOGGER.exception("a request could not be answered")
            await _answer(send, 500, "our-error", _OUR_ERROR)

    def _refusal(self, scope: Scope) -> tuple[int, str, str, int] | tuple[int, str, str] | None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        if "*" not in self.hosts and _name_of(host) not in self.hosts:
            return 421, "unknown-host", "this server does not go by that name: start it with --host"
        address = scope["client"][0] if scope.get("client") else "unknown"
        wait = self.crowds.wait(address) or self.requests.wait(f"{address} {headers.get('cookie', '')}")
        if scope["path"] == "/api/enter" and not wait:
            wait = self.entries.wait(address)
        if wait:
            return 429, "too-many-requests", "too many requests: wait a little", int(wait) + 1
        if int(headers.get("content-length", "0") or "0") > BODY_LIMIT:
            return 413, "too-large", _TOO_LARGE
        if scope["method"] not in ("GET", "HEAD"):
            return _foreign(headers, host)
        return None


_TOO_LARGE = f"a request may have {BODY_LIMIT // 1024} kB at most"
_OUR_ERROR = "something went wrong here, and was written down: try again, or tell whoever runs this server"


def _foreign(headers: dict[str, str], host: str) -> tuple[int, str, str] | None:
    """A page of somebody else's cannot write here, whatever cookies the browser adds."""
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != host:
        return 403, "foreign-page", "another site's page may not write here"
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return 415, "not-json", "what is sent here is application/json"
    return None


def _name_of(host: str) -> str:
    """Without the port."""
    return host[1 : host.index("]")] if host.startswith("[") and "]" in host else host.partition(":")[0]


def _strict_headers(path: str) -> list[tuple[bytes, bytes]]:
    headers = dict(HEADERS)
    if path.startswith("/api/") and not path.startswith(
        ("/api/trajectories/", "/api/display", "/api/clips/")
    ):
        headers["cache-control"] = "no-store"
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def _bounded(receive: Receive) -> Receive:
    """A body that is longer than it said ends here."""
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > BODY_LIMIT:
            raise TooLarge
        return message

    return bounded


async def _answer(send: Send, status: int, code: str, message: str, retry: int | None = None) -> None:
    body = json.dumps({"error": {"code": code, "message": message}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if retry is not None:
        headers.append((b"retry-after", str(retry).encode()))
    headers += _strict_headers("/api/")
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
