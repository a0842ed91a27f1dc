"""What the middleware shares: reading a request's headers, and refusing it."""

import json

from starlette.types import Scope, Send


def header(scope: Scope, name: str) -> str | None:
    """A header of the request."""
    found: list[bytes] = [value for key, value in scope["headers"] if key == name.encode()]
    return found[-1].decode("latin-1") if found else None


async def refuse(send: Send, status: int, code: str, message: str, retry_after: int | None = None) -> None:
    """Answer with an error in the form that every error has."""
    body = json.dumps({"error": {"code": code, "message": message}}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if retry_after is not None:
        headers.append((b"retry-after", str(retry_after).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
