"""What all commands have that serve the page to one person: the server's flags, and serving until Ctrl+C."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from rich.markup import escape

from prefero.cli.console import console, say
from prefero.cli.options import SERVER, AllowHost, option

if TYPE_CHECKING:
    from prefero.server.auth import Visitor
    from prefero.studies.storage.store import Store

PORT = 8765


@dataclass(frozen=True)
class PageOptions:
    """Where the page is served, and whether the browser is opened."""

    host: Annotated[
        str, option(SERVER, "The address to listen on; other machines need the token that is printed.")
    ] = "127.0.0.1"
    allow_host: AllowHost = None
    port: Annotated[int, option(SERVER, "The port; 0 selects a free one.", min=0, max=65535)] = PORT
    browser: Annotated[bool, option(SERVER, "Open the browser.")] = True

    def listen(self) -> socket.socket:
        """A socket that listens there; a warning, before any work is done, if there is no page to serve."""
        from prefero.server.serve import listen

        say_if_not_built()
        return listen(self.host, self.port)


def say_if_not_built() -> None:
    """Say that there is no page, and how to build it, if so."""
    from prefero.server.app import not_built, page_is_built

    if not page_is_built():
        say(not_built())


def serve_session(
    listener: socket.socket,
    page: PageOptions,
    store: "Store",
    visitor: "Visitor",
    context_of: Mapping[str, Any],
) -> None:
    """Serve until Ctrl+C; without a token on this machine, with one for others."""
    from prefero.server.app import create_app, page_is_built
    from prefero.server.auth import ServerContext
    from prefero.server.first_question import begin_first_question
    from prefero.server.qr_code import qr_text
    from prefero.server.serve import address_of, is_loopback, names_of, network_address, open_browser, serve
    from prefero.studies.storage.store import new_secret

    address, code = address_of(listener, page.host), ""
    if is_loopback(page.host):
        context = ServerContext(store, guest=visitor, **context_of)
    else:
        token = new_secret()
        context = ServerContext(store, token=(token, visitor), **context_of)
        address += f"#{token}"
        reached = network_address(listener, page.host)
        code = f"{reached}#{token}"
        if context.manager is not None:
            context.manager.link = lambda session: (
                f"{reached}{f'?session={session}' if session else ''}#{token}"
            )

    def ready() -> None:
        if visitor.role == "teacher" and visitor.opened is not None:
            begin_first_question(context, visitor)
        opened = page.browser and page_is_built() and open_browser(address)
        what = "The page is open in your browser" if opened else "Open this page in a browser"
        what = what if page_is_built() else "Without a page, the server answers at"
        console.print(f"{what}: [bold]{address}[/]", soft_wrap=True)
        if code and console.is_terminal:
            console.print(f"For a phone in the same network:  {escape(code)}", soft_wrap=True)
            console.file.write(qr_text(code))
        console.print("Press Ctrl+C here to stop; your answers stay stored.")

    serve(create_app(context, **names_of(page.host, page.allow_host or ())), listener, ready)
