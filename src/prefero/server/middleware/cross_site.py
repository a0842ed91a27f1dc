"""Refuse writes that another site's page sends, also with the cookies that the browser adds to them.

A site is a scheme, a host and a port: whoever controls the network can show any page at http://, and it must
not write to a server at https://. The server itself speaks HTTP. That browsers use HTTPS it knows from its
options, or from a trusted proxy's `X-Forwarded-Proto`.
"""

from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from prefero.server.middleware.asgi import Middleware, error, header

JSON = "application/json"  # a form of another site cannot send it
BYTES = "application/octet-stream"  # of a file; nor this
CHUNK = "/api/uploads/chunk"  # a part of a file
READING = ("GET", "HEAD")


class SameSiteWrites(Middleware):
    """Accept a write only from this server's own page, and only as JSON, or as bytes of a file."""

    def __init__(self, app: ASGIApp, secure: bool = False, proxies: Iterable[str] = ()) -> None:
        super().__init__(app)
        self.scheme, self.proxies = "https" if secure else "http", frozenset(proxies)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if scope["method"] in READING:
            await self.app(scope, receive, send)
            return
        origin, content_type = header(scope, "origin"), header(scope, "content-type") or ""
        wanted = BYTES if scope["path"] == CHUNK else JSON
        if origin is not None and origin != self._own_origin(scope):
            await error(403, "foreign-page", _why(origin, scope))(scope, receive, send)
        elif content_type.partition(";")[0].strip().lower() != wanted:
            message = f"a write needs the content type {wanted}"
            await error(415, "not-json", message)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _own_origin(self, scope: Scope) -> str:
        """The origin of this server's page, as the browser sees it."""
        trusted = scope.get("client") and scope["client"][0] in self.proxies
        forwarded = header(scope, "x-forwarded-proto") if trusted else None
        return f"{forwarded or self.scheme}://{header(scope, 'host')}"


def _why(origin: str, scope: Scope) -> str:
    if origin == f"https://{header(scope, 'host')}":
        return (
            "this server does not know that it is behind HTTPS: start it with --base https://... or --https"
        )
    return "another site's page may not write here"
