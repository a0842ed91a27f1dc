"""What all middleware has: it handles requests, reads their headers, and refuses some of them."""

from abc import ABC, abstractmethod

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Middleware(ABC):
    """Handles requests; what is no request is passed on."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        handle = self.handle if scope["type"] == "http" else self.app
        await handle(scope, receive, send)

    @abstractmethod
    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on to `app`."""


def header(scope: Scope, name: str) -> str | None:
    """A header of the request."""
    found: list[bytes] = [value for key, value in scope["headers"] if key == name.encode()]
    return found[-1].decode("latin-1") if found else None


def error(status: int, code: str, message: str, **headers: str) -> JSONResponse:
    """What every error looks like."""
    body = {"error": {"code": code, "message": message}}
    return JSONResponse(body, status, {"cache-control": "no-store", **headers})


def too_many_requests(message: str, seconds: int) -> JSONResponse:
    """The error for a request that should be sent again after so many seconds."""
    return error(429, "too-many-requests", message, **{"retry-after": str(seconds)})
