"""Refuse writes that another site's page sends, also with the cookies that the browser adds to them."""

from starlette.types import ASGIApp, Receive, Scope, Send

from prefero.server.middleware.asgi import header, refuse

JSON = "application/json"  # a form of another site cannot send it
READING = ("GET", "HEAD")


class SameSiteWrites:
    """Accept a write only from this server's own page, and only as JSON."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if scope["type"] != "http" or scope["method"] in READING:
            await self.app(scope, receive, send)
            return
        origin, content_type = header(scope, "origin"), header(scope, "content-type") or ""
        if origin is not None and origin.partition("://")[2] != header(scope, "host"):
            await refuse(send, 403, "foreign-page", "another site's page may not write here")
        elif content_type.partition(";")[0].strip().lower() != JSON:
            await refuse(send, 415, "not-json", f"a write needs the content type {JSON}")
        else:
            await self.app(scope, receive, send)
