"""A real HTTP server on loopback that plays judges of any character, and remembers what it was asked."""

import base64
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WEIGHTS = {"speed": 1.0, "jerk": -2.0, "reach": 0.0}
LINE = re.compile(r"^(\w+): ([-\d.]+) \| ([-\d.]+) \|", flags=re.MULTILINE)


@dataclass(frozen=True)
class Reply:
    """What the server answers."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0  # seconds before it answers
    sent: int | None = None  # bytes after which the connection breaks


@dataclass
class Asked:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)  # type: ignore[no-any-return]

    @property
    def text(self) -> str:
        """All texts of the messages."""
        parts = self.json["messages"][1]["content"]
        return "\n".join(part["text"] for part in parts if part["type"] == "text")

    @property
    def images(self) -> list[bytes]:
        parts = self.json["messages"][1]["content"]
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        return [base64.b64decode(url.partition("base64,")[2], validate=True) for url in urls]


Character = Callable[[Asked, int], Reply]  # of the request and its number from 0


def chat(content: object, *, tokens: int = 100, reason: str = "stop") -> Reply:
    """An answer of an OpenAI-compatible API."""
    text = content if isinstance(content, str) else json.dumps(content)
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text}}
    return Reply(json.dumps({"choices": [choice], "usage": {"total_tokens": tokens}}).encode())


def says(word: str) -> Reply:
    return chat({"a": "it goes", "b": "it goes too", "better": word})


def good(asked: Asked, _: int) -> Reply:
    """Whoever knows the weights of the features."""
    rows = LINE.findall(asked.text)
    gap = sum(WEIGHTS[name] * (float(a) - float(b)) for name, a, b in rows)
    return says("A" if gap > 0 else "B")


def adversarial(asked: Asked, number: int) -> Reply:
    """Says the opposite of the good one."""
    better = json.loads(json.loads(good(asked, number).body)["choices"][0]["message"]["content"])["better"]
    return says("B" if better == "A" else "A")


def always(word: str) -> Character:
    return lambda *_: says(word)


def error(status: int, text: str = "", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(json.dumps({"error": {"message": text}}).encode(), status, named)


class JudgeServer:
    """The server, with all requests that came."""

    def __init__(self, character: Character) -> None:
        self.character, self.asked = character, list[Asked]()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def _handler(outer) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                asked = Asked(self.path, dict(self.headers), body)
                with outer._lock:
                    number = len(outer.asked)
                    outer.asked.append(asked)
                self.respond(outer.character(asked, number))

            def respond(self, reply: Reply) -> None:
                time.sleep(reply.delay)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body[: reply.sent])
                self.close_connection = True

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler


@contextmanager
def serving(character: Character) -> Iterator[JudgeServer]:
    """A server of this character, as long as the block runs."""
    server = JudgeServer(character)
    thread = threading.Thread(target=server._server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server._server.shutdown()
        server._server.server_close()
        thread.join()
