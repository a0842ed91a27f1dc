"""Refuse requests that name another host.

A site whose name leads to this machine could otherwise read with the permissions of the person who visits it
here (DNS rebinding). An address in numbers is nobody's name, so it is accepted where others may connect.
"""

import ipaddress
from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from prefero.server.middleware.asgi import Middleware, error, header

LOOPBACK = ("127.0.0.1", "localhost", "::1")
UNKNOWN = "this server does not have that name: start it with --allow-host and the name in your link"


class KnownHosts(Middleware):
    """Accept the names of the loopback address and those in `hosts`, and with `addresses` any in numbers."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = (), addresses: bool = False) -> None:
        super().__init__(app)
        self.addresses = addresses
        self.hosts = {*LOOPBACK, *(host.lower() for host in hosts)}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if self._known(host_name(header(scope, "host") or "")):
            await self.app(scope, receive, send)
        else:
            await error(421, "unknown-host", UNKNOWN)(scope, receive, send)

    def _known(self, name: str) -> bool:
        return name in self.hosts or (self.addresses and _is_address(name))


def host_name(host: str) -> str:
    """A Host header without its port, in small letters."""
    name = host[1 : host.index("]")] if host.startswith("[") and "]" in host else host.partition(":")[0]
    return name.lower().rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
