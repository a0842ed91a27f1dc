"""Refuse requests whose body is too large, whether it says so or not."""

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from prefero.server.middleware.asgi import Middleware, error, header

BODY_LIMIT = 64 * 1024
UPLOAD_LIMIT = 1024 * 1024  # of a chunk of a file, or the list of the files
UPLOADS = "/api/uploads"
MESSAGE = f"a request may have {BODY_LIMIT // 1024} kB at most"


def limit_of(path: str) -> int:
    """The most bytes that the body of a request may have."""
    return UPLOAD_LIMIT if path == UPLOADS or path.startswith(f"{UPLOADS}/") else BODY_LIMIT


class TooLarge(HTTPException):
    """The body is larger than the limit. FastAPI passes an HTTPException on where it reads the body."""

    def __init__(self) -> None:
        super().__init__(413, MESSAGE)


class BodyLimit(Middleware):
    """Accept bodies up to a limit. Who may upload is checked before the body is read."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse by the length that the header says, or pass on and count."""
        limit = limit_of(scope["path"])
        if int(header(scope, "content-length") or "0") > limit:
            await error(413, "too-large", MESSAGE)(scope, receive, send)
        else:
            await self.app(scope, _counting(receive, limit), send)


def _counting(receive: Receive, limit: int) -> Receive:
    """The same, until more has come than the limit."""
    seen = 0

    async def counting() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise TooLarge
        return message

    return counting
