"""Answer an unexpected exception in the form that every error has, and log it."""

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prefero.server.middleware.asgi import refuse

LOGGER = logging.getLogger("prefero")
MESSAGE = "an error on the server, which was logged: try again, or tell the person who runs this server"


class InternalErrors:
    """Turn exceptions into status 500."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and answer if that failed before it answered itself."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception:
            if started or scope["type"] != "http":
                raise
            LOGGER.exception("a request failed")
            await refuse(send, 500, "internal-error", MESSAGE)
