"""Refuse requests that come too often: of one person, of one address, and above all tries of a secret.

A cookie counts only if it is somebody's: requests with any other are those of their address, and each is a
try of a secret, as a failed entry is. Behind a proxy, the address is the one that the proxy forwards, if it
is one of those that are trusted.
"""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Iterable
from typing import Protocol

from anyio import to_thread
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prefero.server.middleware.asgi import Middleware, header, too_many_requests

RATE, BURST = 40.0, 120.0  # requests of one person: a second in the long run, and at once
ADDRESS_RATE, ADDRESS_BURST = 400.0, 1200.0  # of all people behind one address: a class, a proxy
SIGN_IN_RATE, SIGN_IN_BURST = 1.0, 60.0  # secrets that are nobody's, from one address
SIGN_IN = "/api/enter"
COOKIE = "prefero"
REMEMBERED = 4096  # people, addresses
FORBIDDEN = 403
VISITOR = "prefero.visitor"  # in the scope: who sends the request, for the limits


class TokenBuckets:
    """A token bucket for each visitor: it fills at a constant rate, and a request takes one token."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        # tokens, and when they were counted
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

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

    def give_back(self, visitor: str) -> None:
        """Put a token back that `wait` took."""
        if visitor in self._buckets:
            tokens, counted = self._buckets[visitor]
            self._buckets[visitor] = (tokens + 1.0, counted)


class Identify(Protocol):
    """Whose secret this is, as a short text; empty for guests, None if it is nobody's."""

    def __call__(self, secret: str | None) -> str | None: ...


class RateLimit(Middleware):
    """Accept as many requests as people make."""

    def __init__(self, app: ASGIApp, identify: Identify, proxies: Iterable[str] = ()) -> None:
        super().__init__(app)
        self.identify, self.proxies = identify, frozenset(proxies)
        self.people = TokenBuckets(RATE, BURST)
        self.addresses = TokenBuckets(ADDRESS_RATE, ADDRESS_BURST)
        self.sign_ins = TokenBuckets(SIGN_IN_RATE, SIGN_IN_BURST)
        self._known: OrderedDict[str, str] = OrderedDict()  # people by secret, for these limits alone

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with the seconds to wait, or pass on."""
        address = address_of(scope, self.proxies)
        wait = self.addresses.wait(address) or await self._wait(scope, address)
        if wait:
            refusal = too_many_requests("too many requests: wait a little", int(wait) + 1)
            await refusal(scope, receive, send)
        elif scope["path"] == SIGN_IN:
            await self.app(scope, receive, self._giving_back(send, address))
        else:
            await self.app(scope, receive, send)

    async def _wait(self, scope: Scope, address: str) -> float:
        """The seconds to wait for the person who sends it; their name goes into the scope."""
        scope[VISITOR] = address
        if not scope["path"].startswith("/api/"):
            return 0.0
        if scope["path"] == SIGN_IN:
            return self.sign_ins.wait(address)
        person, wait = await self._person(cookie_parser(header(scope, "cookie") or "").get(COOKIE), address)
        scope[VISITOR] = person
        return wait or self.people.wait(person)

    async def _person(self, secret: str | None, address: str) -> tuple[str, float]:
        """Who it is, and the seconds to wait if it is one more secret that is nobody's."""
        if secret is None:
            return address, 0.0
        if secret in self._known:
            self._known.move_to_end(secret)
            return self._known[secret], 0.0
        if wait := self.sign_ins.wait(address):
            return address, wait
        try:
            person = await to_thread.run_sync(self.identify, secret)
        except Exception:  # the database does not answer, which the route reports
            person = ""
        if person is not None:
            self.sign_ins.give_back(address)
        if person:
            self._remember(secret, person)
        return person or address, 0.0

    def _remember(self, secret: str, person: str) -> None:
        self._known[secret] = person
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    async def _remember_cookies(self, response: Message) -> None:
        """Who has just signed in is not taken for a guesser at their next request."""
        for name, value in response["headers"]:
            secret = cookie_parser(value.decode("latin-1")).get(COOKIE) if name == b"set-cookie" else None
            person = await to_thread.run_sync(self.identify, secret) if secret else None
            if secret and person:
                self._remember(secret, person)

    def _giving_back(self, send: Send, address: str) -> Send:
        """The same; an entry that was no guess costs nothing, so a guesser keeps nobody else out."""

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] != FORBIDDEN:
                self.sign_ins.give_back(address)
                await self._remember_cookies(message)
            await send(message)

        return watched


def address_of(scope: Scope, proxies: frozenset[str]) -> str:
    """Where a request comes from: of IPv6 the network, since one client has all addresses of it."""
    address: str = scope["client"][0] if scope.get("client") else "unknown"
    forwarded = (header(scope, "x-forwarded-for") or "").split(",") if address in proxies else []
    while address in proxies and forwarded:
        address = forwarded.pop().strip() or address
    return _network(address)


def _network(address: str) -> str:
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    mapped = found.ipv4_mapped
    return str(mapped) if mapped else str(ipaddress.ip_network((found, 64), strict=False))
