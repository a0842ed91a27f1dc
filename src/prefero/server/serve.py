"""Run the server on a free port until it is stopped."""

import errno
import os
import socket
import time
import webbrowser
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import uvicorn
from fastapi import FastAPI

from prefero._support.systems import break_like_interrupt, hold_port_alone
from prefero.server.connections import OpenConnections, guarded
from prefero.server.middleware.hosts import LOOPBACK

GRACE = 5  # seconds for running requests when the server stops
PORT_SECONDS = 3.0  # for the port of a server that was just killed to become free


class CannotServe(ValueError):
    """The server cannot start; the message says why, and what to do."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    return host in LOOPBACK


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on the port; port 0 takes any that is free.

    The system needs a moment to free the port of a server that was killed, so a taken one is tried again.
    """
    end = time.monotonic() + PORT_SECONDS
    while True:
        try:
            return _bound(host, port)
        except (OSError, OverflowError) as error:
            taken = getattr(error, "errno", None) == errno.EADDRINUSE
            if not taken or time.monotonic() > end:
                raise CannotServe(_why(error, host, port)) from error
            time.sleep(0.05)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # so asyncio sets TCP_NODELAY
    hold_port_alone(listener)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except BaseException:
        listener.close()
        raise
    return listener


def _why(error: OSError | OverflowError, host: str, port: int) -> str:
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        return (
            f"port {port} is taken, perhaps by a Prefero that is still running: stop that one, or choose "
            f"another port with --port {port + 1}, or any free one with --port 0"
        )
    if number == errno.EACCES:
        return (
            f"port {port} is reserved for the system, or held by another program: choose another one above "
            "1023 with --port"
        )
    if number in (errno.EADDRNOTAVAIL, None) or isinstance(error, socket.gaierror):
        return f"this machine has no address {host!r} (or no port {port}): check --host and --port"
    return f"the server cannot listen on {host} port {port}: {error}"


def address_of(listener: socket.socket, host: str) -> str:
    """The URL to open in a browser."""
    port = listener.getsockname()[1]
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def network_address(listener: socket.socket, host: str) -> str:
    """The URL for a phone in the same network, which knows this machine's number and not its name."""
    shown = {"0.0.0.0": _own_number(), "::": _own_number()}.get(host, host)
    return address_of(listener, shown)


def _own_number() -> str:
    """The address of this machine in its network, or its name; nothing is sent."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # an address for documentation, in no network
        return str(probe.getsockname()[0])
    return socket.gethostname()


def names_of(host: str, more: Iterable[str] = ()) -> dict[str, Any]:
    """The names that a server on this address answers to, as `create_app` takes them.

    Beyond the loopback address, these are the machine's own names, any address in numbers, and `more`.
    """
    if is_loopback(host):
        return {"hosts": tuple(more)}
    return {"hosts": (host, socket.gethostname(), socket.getfqdn(), *more), "addresses": True}


def configuration(app: FastAPI) -> uvicorn.Config:
    """How uvicorn serves the application. Requests are not logged: links hold secrets."""
    return uvicorn.Config(
        app,
        http=guarded(OpenConnections()),
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE,
        server_header=False,
        proxy_headers=False,
    )


def serve(app: FastAPI, listener: socket.socket, ready: Callable[[], None] = lambda: None) -> None:
    """Serve until the user stops it."""
    server = uvicorn.Server(configuration(app))
    started = server.startup

    async def startup(sockets: list[socket.socket] | None = None) -> None:
        await started(sockets)
        ready()

    server.startup = startup  # type: ignore[method-assign]
    break_like_interrupt()
    with suppress(KeyboardInterrupt):  # uvicorn shuts down, and then raises the interrupt again
        server.run(sockets=[listener])


def open_browser(url: str) -> bool:
    """Open the browser; whether there is one."""
    if os.environ.get("PREFERO_NO_BROWSER"):
        return False
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
