"""Refuse requests that name another host.

A site whose name leads to this machine could otherwise read with the permissions of the person who visits it
here (DNS rebinding).
"""

from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from prefero.server.middleware.asgi import header, refuse

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class KnownHosts:
    """Accept this machine's own names and those in `hosts`; "*" accepts every name."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = ()) -> None:
        self.app, self.hosts = app, {*LOOPBACK, *hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        known = (
            scope["type"] != "http"
            or "*" in self.hosts
            or host_name(header(scope, "host") or "") in self.hosts
        )
        if known:
            await self.app(scope, receive, send)
        else:
            await refuse(
                send,
                421,
                "unknown-host",
                "this server does not have that name: start it with --host or --name",
            )


def host_name(host: str) -> str:
    """A Host header without its port."""
    return host[1 : host.index("]")] if host.startswith("[") and "]" in host else host.partition(":")[0]
