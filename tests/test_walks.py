"""The two walks through the code of docs/architecture.md: what they name is called, and in their order."""

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from datasets.write_datasets import write_lerobot_3
from prefero.server.app import create_app
from prefero.server.auth import ServerContext, Visitor
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from run_here import run_here
from server.served_studies import Client, add_teaching, ok, serving
from studies.fake_study import WithoutPreparations, features_only

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "prefero"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
REFERENCE = re.compile(r"`([\w/-]+\.py)`:\s+`([\w.]+)`")
METHOD = re.compile(r"`([A-Z]\w+\.\w+)`")
ELSEWHERE = {"StudyWorkers"}  # with worker processes, in which no test can look
EARLIER = {"create_app"}  # when the server starts


class Recording:
    """Prefero's functions and classes, in the order in which each was first called or handed on."""

    def __init__(self) -> None:
        self.names: dict[tuple[str, str], int] = {}
        self.active = False
        self._seen: set[object] = set()

    def __call__(self, frame: FrameType, event: str, result: object) -> None:
        """A profiler."""
        code = frame.f_code
        if not self.active or event not in ("call", "return") or (code, event) in self._seen:
            return
        self._seen.add((code, event))
        if code.co_filename.startswith(str(SOURCE)):
            self._add(code.co_filename, code.co_qualname)
            for kind in map(type, [result] if event == "return" else [*frame.f_locals.values()]):
                if kind.__module__.startswith("prefero."):
                    self._add(str(sys.modules[kind.__module__].__file__), kind.__qualname__)

    def _add(self, file: str, name: str) -> None:
        self.names.setdefault((Path(file).relative_to(SOURCE).as_posix(), name), len(self.names))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record what is called meanwhile, in this thread and in those that were begun under `profiled`."""
        self.active = True
        try:
            yield
        finally:
            self.active = False


@pytest.fixture
def recorded() -> Iterator[Recording]:
    """A recording of this thread and of all that begin from now on."""
    recording, before = Recording(), sys.getprofile()
    threading.setprofile(recording)
    sys.setprofile(recording)
    yield recording
    sys.setprofile(before)
    threading.setprofile(None)


def walk(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def check_walk(text: str, recorded: Recording) -> None:
    """Everything that a walk names was called, and its functions in the order in which it names them."""
    found = dict.fromkeys(REFERENCE.findall(text))
    files = {name.split(".")[0]: file for file, name in found}
    found |= dict.fromkeys((files[name.split(".")[0]], name) for name in METHOD.findall(text))
    calls = {}
    for file, name in found:
        if name not in ELSEWHERE:
            own = [at for (place, one), at in recorded.names.items() if place == file and is_of(one, name)]
            assert own, f"{file}: {name} is named, but it was not called"
            calls[file, name] = min(own)
    positions = {(file, name): text.index(f"`{name}`") for file, name in calls}
    functions = [one for one in calls if is_function(one[1]) and one[1] not in EARLIER]
    assert sorted(functions, key=positions.__getitem__) == sorted(functions, key=calls.__getitem__)


def is_of(called: str, name: str) -> bool:
    return called == name or (not is_function(name) and called.startswith(f"{name}."))


def is_function(name: str) -> bool:
    return "." in name or name[0].islower()


def test_an_answer_takes_the_path_that_the_page_walks(recorded: Recording, tmp_path: Path) -> None:
    store, slots = Store(open_database(tmp_path / "teach.db")), WithoutPreparations()
    session = add_teaching(store, features_only())
    with recorded.recording():
        app = create_app(ServerContext(store, guest=session.visitor, computing=slots))
    with serving(app) as address, Client(address) as client:
        question = client.session()["question"]["number"]
        with recorded.recording():
            ok(client.answer("left", question))
    check_walk(walk("The path of one answer"), recorded)
    store.engine.dispose()


def test_an_episode_takes_the_path_that_the_page_walks(
    recorded: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lerobot_3(tmp_path / "pick_and_place", lengths=[15] * 6)
    monkeypatch.chdir(tmp_path)

    def visit(_: object, __: object, store: Store, guest: Visitor, context: dict[str, Any]) -> None:
        """A person who looks at a clip, answers, and takes the reward away."""
        app = create_app(ServerContext(store, guest=guest, **context))
        with serving(app) as address, Client(address) as client:
            for index in client.session()["question"]["items"]:
                assert client.get(f"/api/clips/{index}.mp4").status_code == 200
            ok(client.answer("left"))
            (tmp_path / "reward.json").write_bytes(client.get("/api/export/reward.json").content)

    monkeypatch.setattr(import_module("prefero.cli.teach"), "serve_session", visit)
    with recorded.recording():
        assert run_here(monkeypatch, "teach", "pick_and_place", "--trajectories", "4", "--port", "0") == 0
        words = ("reward.json", "pick_and_place", "--copy-to", "scored")
        assert run_here(monkeypatch, "score", *words) == 0
    check_walk(walk("The path of one dataset episode"), recorded)
