"""The application: routes, middleware, errors and the page, over a store."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

import prefero
from prefero._support.commands import page_command
from prefero.server.auth import Forbidden, ServerContext
from prefero.server.middleware.asgi import error
from prefero.server.middleware.body_limit import BodyLimit, TooLarge
from prefero.server.middleware.concurrency_limit import ConcurrencyLimit
from prefero.server.middleware.cross_site import SameSiteWrites
from prefero.server.middleware.headers import SecurityHeaders
from prefero.server.middleware.hosts import KnownHosts
from prefero.server.middleware.internal_errors import InternalErrors
from prefero.server.middleware.rate_limit import RateLimit
from prefero.server.models import ErrorBody
from prefero.server.routes import experimenter, insight, pool, session, sessions, teacher
from prefero.studies.storage.database import DatabaseUnavailable
from prefero.studies.storage.store import Refused

PAGE = Path(__file__).parent / "page"
NOT_FOUND = ("no-question", "no-trajectory", "no-study")
INVALID = (
    *("bad-choice", "bad-scores", "bad-rating", "bad-reason", "bad-items", "bad-annotation"),
    *("bad-feature", "bad-place"),
    *("no-consent", "no-ties", "no-targets", "no-reasons"),
    *("bad-name", "bad-settings", "bad-session", "bad-upload", "too-large"),
)


ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorBody, "description": "Refused"},
    "5XX": {"model": ErrorBody, "description": "Not available now"},
}


def create_api() -> FastAPI:
    """The routes alone, as the OpenAPI document describes them."""
    api = FastAPI(
        title="Prefero",
        version=prefero.__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    for routes in (session, sessions, teacher, insight, pool, experimenter):
        api.include_router(routes.router, responses=ERRORS)
    return api


def create_app(
    context: ServerContext,
    hosts: Iterable[str] = (),
    page: Path | None = None,
    *,
    addresses: bool = False,
    proxies: Iterable[str] = (),
) -> FastAPI:
    """Everything that is served.

    `hosts` are the server's names beside those of the loopback address, and `addresses` accepts any address
    in numbers as one. `page` is the folder of the page, if not Prefero's own. `proxies` are the addresses of
    proxies that say truly whom they forward.
    """
    app = create_api()
    app.state.context = context
    _add_middleware(app, context, tuple(hosts), addresses, tuple(proxies))
    _add_errors(app)
    page = page or PAGE
    if page_is_built(page):
        app.mount("/", StaticFiles(directory=page, html=True), name="page")
    else:
        app.add_api_route("/", _not_built, include_in_schema=False, response_model=None)
    return app


def _add_middleware(
    app: FastAPI, context: ServerContext, hosts: tuple[str, ...], addresses: bool, proxies: tuple[str, ...]
) -> None:
    """A request passes the last one first."""
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    app.add_middleware(SameSiteWrites, secure=context.secure, proxies=proxies)
    app.add_middleware(BodyLimit)
    app.add_middleware(ConcurrencyLimit)
    app.add_middleware(RateLimit, identify=context.identify, proxies=proxies)
    app.add_middleware(KnownHosts, hosts=hosts, addresses=addresses)
    app.add_middleware(InternalErrors)
    app.add_middleware(SecurityHeaders)


def page_is_built(page: Path | None = None) -> bool:
    """Is there a page to serve? A checkout has one only after it was built."""
    return ((page or PAGE) / "index.html").is_file()


def not_built() -> str:
    """What is wrong without a page, and what to do."""
    return f"The page was not built, so there is nothing to see. Type  {page_command()}  and start again."


def _not_built() -> Response:
    return PlainTextResponse(f"{not_built()}\n", status_code=503)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(Refused)
    def refused(_: Request, why: Refused) -> Response:
        status = 404 if why.code in NOT_FOUND else 422 if why.code in INVALID else 409
        return error(status, why.code, str(why))

    @app.exception_handler(DatabaseUnavailable)
    def unavailable(_: Request, why: DatabaseUnavailable) -> Response:
        return error(503, why.code, str(why), **{"retry-after": "1"})

    @app.exception_handler(Forbidden)
    def forbidden(_: Request, __: Forbidden) -> Response:
        return error(
            403, "unknown-secret", "this needs another link: ask the person who invited you for yours"
        )

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, why: RequestValidationError) -> Response:
        first = why.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return error(422, "invalid", f"{where}: {first['msg']}")

    @app.exception_handler(TooLarge)
    def too_large(_: Request, why: TooLarge) -> Response:
        return error(413, "too-large", why.detail)

    @app.exception_handler(HTTPException)
    def other(_: Request, why: HTTPException) -> Response:
        return error(why.status_code, "http", str(why.detail), **(dict(why.headers) if why.headers else {}))
