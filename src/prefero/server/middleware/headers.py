"""Give every response the headers that keep a browser strict, and keep private ones out of caches."""

from starlette.types import Message, Receive, Scope, Send

from prefero.server.middleware.asgi import Middleware

CACHED = ("/api/trajectories/", "/api/display", "/api/clips/")  # with headers of their own
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


class SecurityHeaders(Middleware):
    """Add the headers."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and add the headers to the response."""

        async def strict(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _with_headers(message.get("headers", []), scope["path"])
            await send(message)

        await self.app(scope, receive, strict)


def _with_headers(headers: list[tuple[bytes, bytes]], path: str) -> list[tuple[bytes, bytes]]:
    added = dict(HEADERS)
    if path.startswith("/api/") and not path.startswith(CACHED):
        added["cache-control"] = "no-store"
    there = {name for name, _ in headers}
    return [*headers, *((n.encode(), v.encode()) for n, v in added.items() if n.encode() not in there)]
