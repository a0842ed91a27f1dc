"""Answer an unexpected exception in the form that every error has, and log it."""

import asyncio
import logging

from starlette.types import Message, Receive, Scope, Send

from prefero.server.middleware.asgi import Middleware, error

LOGGER = logging.getLogger("prefero")
STOPPING = "the server is stopping: try again when it has been started"
MESSAGE = "an error on the server, which was logged: try again, or tell the person who runs this server"


class InternalErrors(Middleware):
    """Turn exceptions into status 500, and what a server that stops does not wait for into status 503."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and answer if that failed before it answered itself."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except asyncio.CancelledError:
            if not started:
                await error(503, "stopping", STOPPING)(scope, receive, send)
        except Exception:
            if started:
                raise
            LOGGER.exception("a request failed")
            await error(500, "internal-error", MESSAGE)(scope, receive, send)
