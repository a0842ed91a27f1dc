"""Refuse requests whose body is too large, whether it says so or not."""

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prefero.server.middleware.asgi import header, refuse

BODY_LIMIT = 64 * 1024
MESSAGE = f"a request may have {BODY_LIMIT // 1024} kB at most"


class TooLarge(HTTPException):
    """The body is larger than the limit. FastAPI passes an HTTPException on where it reads the body."""

    def __init__(self) -> None:
        super().__init__(413, MESSAGE)


class BodyLimit:
    """Accept bodies up to a limit."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse by the length that the header says, or pass on and count."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif int(header(scope, "content-length") or "0") > BODY_LIMIT:
            await refuse(send, 413, "too-large", MESSAGE)
        else:
            await self.app(scope, _counting(receive), send)


def _counting(receive: Receive) -> Receive:
    """The same, until more has come than the limit."""
    seen = 0

    async def counting() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > BODY_LIMIT:
            raise TooLarge
        return message

    return counting
