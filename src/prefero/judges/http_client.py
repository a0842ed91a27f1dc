"""One POST request to a judge's server, on the standard library; every failure in words.

What is worth another attempt is a `TryAgain`: too many requests, a server that is overloaded, starting or
gone, and one that is too slow. What is not is a `Refused`. Redirects are not followed: what is sent goes to
the named address only.
"""

import http.client
import ipaddress
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from prefero._support.text import one_line
from prefero.judges.judge import JudgeError, TryAgain

BUSY = (408, 425, 429)  # codes after which another attempt may succeed, beside those from 500 on
LOGIN = (401, 403)
LARGEST = 2**24  # bytes of an answer
CHUNK = 2**16
EXCERPT = 300  # letters of a server's own words
BLOT = b"***"  # in place of a key
TIMEOUT = 120.0  # seconds for one attempt


class Refused(JudgeError):
    """A server does not take a request.

    status    its code
    said      what it said, up to some length
    """

    def __init__(self, message: str, status: int, said: str) -> None:
        super().__init__(message)
        self.status, self.said = status, said


def check_address(address: str) -> str:
    """The address of a server without a slash at its end, or an error if it is none."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            f"the address of a judge's server is http://HOST or https://HOST, but this is {address!r}"
        )
    if parts.username is not None or parts.password is not None:
        raise ValueError(
            f"the address of a judge at {parts.hostname} has a password in it: leave it out, and put the key "
            "into the environment variable PREFERO_JUDGE_KEY"
        )
    if any(letter.isspace() or not letter.isprintable() for letter in address):
        raise ValueError(f"the address {address!r} has characters that no address has")
    return address.rstrip("/")


def is_here(address: str) -> bool:
    """Is this address one of this machine?"""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_private(address: str) -> bool:
    """Can nobody on the way read what is sent there?"""
    return urlsplit(address).scheme == "https" or is_here(address)


def post(
    address: str, body: bytes, headers: Mapping[str, str], timeout: float = TIMEOUT, *, secret: str = ""
) -> bytes:
    """What a server answers to a request; should it repeat the secret, that is blotted out.

    Raises:
        TryAgain: If another attempt may succeed.
        Refused: If not.
    """
    request = urllib.request.Request(address, body, dict(headers), method="POST")
    host, deadline = urlsplit(address).netloc, time.monotonic() + timeout
    try:
        with _opener(address).open(request, timeout=timeout) as response:
            answer = _read(response, host, deadline)
            return answer.replace(secret.encode(), BLOT) if secret else answer
    except urllib.error.HTTPError as error:
        with error:
            raise _problem(error, host, deadline, secret) from None
    except TimeoutError:
        raise _too_slow(host, timeout) from None
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            raise _too_slow(host, timeout) from None
        raise TryAgain(
            f"{host} does not respond ({one_line(str(reason)) or type(reason).__name__})"
        ) from None


def _too_slow(host: str, timeout: float) -> TryAgain:
    return TryAgain(f"{host} did not answer within {timeout:.0f} s", 0.0)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Redirects are errors: a key is sent to the named address only."""

    def redirect_request(self, *_: Any) -> None:
        """None: the redirect is an error of HTTP."""


def _opener(address: str) -> urllib.request.OpenerDirector:
    """Through the proxy of the environment, but for servers on this machine."""
    proxies = urllib.request.ProxyHandler({} if is_here(address) else None)
    return urllib.request.build_opener(proxies, _NoRedirects)


def _read(response: Any, host: str, deadline: float) -> bytes:
    """The body, which may not come drop by drop for ever."""
    found = bytearray()
    while chunk := response.read1(CHUNK):
        found += chunk
        if time.monotonic() > deadline:
            raise TimeoutError
        if len(found) > LARGEST:
            raise JudgeError(f"{host} answers with more than {LARGEST // 2**20} MB, which is no answer")
    wanted = response.headers.get("Content-Length", "")
    if wanted.isdigit() and len(found) < int(wanted):
        raise TryAgain(f"{host} cut its answer off")
    return bytes(found)


def _problem(error: urllib.error.HTTPError, host: str, deadline: float, secret: str) -> Exception:
    """What a code of HTTP means."""
    code = error.code
    if code in LOGIN:  # without its own words, which may repeat a part of the key
        return Refused(
            f"{host} refuses the key (code {code}): put the right one into the environment variable "
            "PREFERO_JUDGE_KEY",
            code,
            "",
        )
    if 300 <= code < 400:
        there = _blotted(error.headers.get("Location", "elsewhere"), secret)
        return Refused(f"{host} redirects to {there}: name that address instead", code, "")
    said = _said(error, host, deadline)
    words = f": {_blotted(said, secret)}" if said.strip() else ""
    if code in BUSY or code >= 500:
        what = "is asked too often" if code == 429 else "is not ready"
        return TryAgain(f"{host} {what} (code {code}){words}", retry_after(error.headers))
    return Refused(f"{host} refuses the request (code {code}){words}", code, said)


def _said(error: urllib.error.HTTPError, host: str, deadline: float) -> str:
    """A server's own words about a problem, as far as they can be read."""
    try:
        return _read(error, host, deadline).decode("utf-8", "replace")
    except (OSError, TryAgain, JudgeError, http.client.HTTPException):
        return ""


def _blotted(text: str, secret: str) -> str:
    """A short part of what a server said, in one line, without the key."""
    return one_line(text.replace(secret, BLOT.decode()) if secret else text)[:EXCERPT]


def retry_after(headers: Message) -> float | None:
    """The seconds that a server wants to be left alone, if it says so: as a number, or as a date."""
    text = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", text):
        return float(text)
    try:
        then = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max((then - datetime.now(UTC)).total_seconds(), 0.0)
