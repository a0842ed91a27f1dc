"""A small stand-in for the Hugging Face Hub: its HTTP interface as far as Prefero uses it.

`requests` lists what was asked for, so that tests can say what was downloaded and what was not.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

API = re.compile(r"/api/(dataset|model)s/([\w.-]+/[\w.-]+)(?:/(revision|preupload|commit)/(\w+))?")
FILE = re.compile(r"/(datasets/)?([\w.-]+/[\w.-]+)/resolve/(\w+)/(.+)")


class FakeHub:
    """Repositories by kind and name, with the content of their files."""

    def __init__(self) -> None:
        self.repositories: dict[tuple[str, str], dict[str, bytes]] = {}
        self.requests: list[str] = []
        self.private: dict[str, bool] = {}
        self.messages: list[str] = []  # of commits
        self.token: str | None = None  # without which nothing may be written
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def add_folder(self, repository: str, folder: Path) -> None:
        paths = (path for path in folder.rglob("*") if path.is_file())
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        self.repositories["dataset", repository] = files

    def commit(self, kind: str, repository: str) -> str:
        files = self.repositories[kind, repository]
        return hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()

    def downloaded(self) -> list[str]:
        """The names of the files whose content was sent."""
        found = (FILE.fullmatch(path) for method, path in map(str.split, self.requests) if method == "GET")
        return [match[4] for match in found if match is not None]


@contextmanager
def running_hub() -> Iterator[FakeHub]:
    hub = FakeHub()
    thread = Thread(target=hub.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        hub.server.shutdown()
        hub.server.server_close()
        thread.join()


def handler_of(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    return type("HandlerOfHub", (Handler,), {"hub": hub})


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of the Hub's client."""

    hub: FakeHub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.hub.requests.append(f"{self.command} {self.path}")
        if (match := FILE.fullmatch(self.path)) is not None:
            return self.send_file("dataset" if match[1] else "model", match[2], match[4])
        return self.send_repository()

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self.hub.requests.append(f"POST {self.path}")
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.hub.token and self.headers.get("Authorization") != f"Bearer {self.hub.token}":
            return self.send_json({"error": "Invalid username or password."}, 401)
        if self.path == "/api/repos/create":
            return self.create(json.loads(sent))
        if self.path == "/api/validate-yaml":  # of a model card
            return self.send_json({"errors": [], "warnings": []})
        match = API.fullmatch(self.path)
        assert match is not None, self.path
        if match[3] == "preupload":
            return self.accept([one["path"] for one in json.loads(sent)["files"]])
        return self.add_commit(match[2], [json.loads(line) for line in sent.splitlines()])

    # --- what is written ------------------------------------------------------------------------------------

    def create(self, about: dict[str, Any]) -> None:
        name = f"{about.get('organization') or 'me'}/{about['name']}"
        self.hub.repositories.setdefault(("model", name), {})
        self.hub.private[name] = bool(about.get("private")) or about.get("visibility") == "private"
        self.send_json({"url": f"{self.hub.url}/{name}"})

    def accept(self, names: list[str]) -> None:
        modes = [{"path": name, "uploadMode": "regular", "shouldIgnore": False} for name in names]
        self.send_json({"files": modes})

    def add_commit(self, repository: str, lines: list[dict[str, Any]]) -> None:
        for value in (line["value"] for line in lines if line["key"] == "file"):
            self.hub.repositories["model", repository][value["path"]] = base64.b64decode(value["content"])
        self.hub.messages += [line["value"]["summary"] for line in lines if line["key"] == "header"]
        commit = self.hub.commit("model", repository)
        url = f"{self.hub.url}/{repository}/commit/{commit}"
        self.send_json({"success": True, "commitOid": commit, "commitUrl": url, "hookOutput": ""})

    # --- what is read ---------------------------------------------------------------------------------------

    def send_repository(self) -> None:
        match = API.fullmatch(self.path)
        if match is None or (match[1], match[2]) not in self.hub.repositories:
            return self.send_error_code("RepoNotFound")
        files, commit = self.hub.repositories[match[1], match[2]], self.hub.commit(match[1], match[2])
        if match[4] not in (None, "main", commit):
            return self.send_error_code("RevisionNotFound")
        siblings = [{"rfilename": name} for name in files]
        return self.send_json({"id": match[2], "sha": commit, "siblings": siblings, "tags": []})

    def send_file(self, kind: str, repository: str, name: str) -> None:
        content = self.hub.repositories[kind, repository].get(name)
        if content is None:
            return self.send_error_code("EntryNotFound")
        etag = hashlib.sha1(content).hexdigest()
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": self.hub.commit(kind, repository)}
        return self.send(content, 200, "application/octet-stream", headers)

    def send_error_code(self, code: str) -> None:
        self.send_json({"error": "not found"}, 404, {"X-Error-Code": code})

    def send_json(self, values: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send(json.dumps(values).encode(), status, "application/json", headers or {})

    def send(self, content: bytes, status: int, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass
