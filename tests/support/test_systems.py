"""What differs by system, each way of it tried here on whatever system this is."""

import io
import os
import shlex
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from prefero._support import systems

PLATFORMS = ("linux", "darwin", "win32")
On = Callable[[str], None]


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> On:
    """Pretend that this is another system."""
    return lambda platform: monkeypatch.setattr(sys, "platform", platform)


# --- replacing a file ---------------------------------------------------------------------------------------


class HeldOpen:
    """`os.replace` of a file that somebody has open during the first attempts."""

    def __init__(self, attempts: int) -> None:
        self.left, self.replace = attempts, os.replace

    def __call__(self, source: Path, target: Path) -> None:
        self.left -= 1
        if self.left >= 0:
            raise PermissionError(13, "Access is denied", str(target))
        self.replace(source, target)


@pytest.fixture
def new_and_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    new, old = tmp_path / "new", tmp_path / "old"
    new.write_text("new", encoding="utf-8")
    old.write_text("old", encoding="utf-8")
    monkeypatch.setattr(time, "sleep", lambda _: None)
    return new, old


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_file_is_replaced(platform: str, on: On, new_and_old: tuple[Path, Path]) -> None:
    on(platform)
    systems.replace_file(*new_and_old)
    assert new_and_old[1].read_text(encoding="utf-8") == "new"
    assert not new_and_old[0].exists()


@pytest.mark.parametrize("attempts", [1, len(systems.REPLACE_PAUSES)])
def test_on_windows_we_wait_for_a_reader(
    attempts: int, on: On, new_and_old: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    on("win32")
    monkeypatch.setattr(os, "replace", HeldOpen(attempts))
    systems.replace_file(*new_and_old)
    assert new_and_old[1].read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize(("platform", "attempts"), [("win32", 100), ("linux", 1), ("darwin", 1)])
def test_a_file_that_stays_open_is_an_error(
    platform: str, attempts: int, on: On, new_and_old: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    on(platform)
    monkeypatch.setattr(os, "replace", HeldOpen(attempts))
    with pytest.raises(PermissionError):
        systems.replace_file(*new_and_old)
    assert new_and_old[1].read_text(encoding="utf-8") == "old"


# --- cores and drawing --------------------------------------------------------------------------------------


def test_a_process_uses_the_cores_that_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= systems.usable_cores() <= (os.cpu_count() or 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3}, raising=False)
    assert systems.usable_cores() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    assert systems.usable_cores() == (os.cpu_count() or 1)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert systems.usable_cores() == 1


@pytest.mark.parametrize(
    ("platform", "wanted"), [("linux", ("egl", "osmesa")), ("darwin", ()), ("win32", ())]
)
def test_only_linux_chooses_among_gl_libraries(platform: str, wanted: tuple[str, ...], on: On) -> None:
    on(platform)
    assert systems.gl_libraries() == wanted


# --- ports --------------------------------------------------------------------------------------------------


class Options:
    """A socket that keeps what it is told."""

    def __init__(self) -> None:
        self.set: list[int] = []

    def setsockopt(self, level: int, option: int, value: int) -> None:
        assert (level, value) == (socket.SOL_SOCKET, 1)
        self.set.append(option)


@pytest.mark.parametrize(
    ("platform", "option"),
    [("linux", "SO_REUSEADDR"), ("darwin", "SO_REUSEADDR"), ("win32", "SO_EXCLUSIVEADDRUSE")],
)
def test_a_port_is_held_alone(platform: str, option: str, on: On, monkeypatch: pytest.MonkeyPatch) -> None:
    on(platform)
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", -5, raising=False)
    listener = Options()
    systems.hold_port_alone(listener)  # type: ignore[arg-type]
    assert listener.set == [getattr(socket, option)]


def test_a_second_server_does_not_get_the_port() -> None:
    with socket.socket() as first, socket.socket() as second:
        for listener in (first, second):
            systems.hold_port_alone(listener)
        first.bind(("127.0.0.1", 0))
        first.listen()
        with pytest.raises(OSError, match=r"in use|normally permitted"):
            second.bind(first.getsockname())


# --- signals, shells and terminals --------------------------------------------------------------------------


@pytest.mark.parametrize("platform", PLATFORMS)
def test_break_ends_a_program_like_an_interrupt(
    platform: str, on: On, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(platform)
    handlers: dict[int, object] = {}
    monkeypatch.setattr(signal, "SIGBREAK", 21, raising=False)
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    systems.break_like_interrupt()
    assert handlers == ({21: signal.default_int_handler} if platform == "win32" else {})


WORDS = ["prefero", "teach", "my data.csv", "--name", "it's"]


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_command_can_be_typed_into_a_unix_shell(platform: str, on: On) -> None:
    on(platform)
    assert systems.shell_command(WORDS) == "prefero teach 'my data.csv' --name 'it'\"'\"'s'"
    assert shlex.split(systems.shell_command(WORDS)) == WORDS


def test_a_command_can_be_typed_into_a_windows_shell(on: On) -> None:
    on("win32")
    assert systems.shell_command(WORDS) == 'prefero teach "my data.csv" --name it\'s'


@pytest.mark.parametrize(
    ("encoding", "wanted"), [("cp1252", b"noise ? 0.1"), ("utf-8", "noise σ 0.1".encode())]
)
def test_a_character_that_the_output_cannot_hold_is_no_error(
    encoding: str, wanted: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(memory, encoding=encoding))
    systems.print_unknown_characters()
    print("noise σ 0.1", end="", flush=True)
    assert memory.getvalue() == wanted


def test_output_that_goes_to_another_object_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.StringIO()
    monkeypatch.setattr(sys, "stdout", text)
    systems.print_unknown_characters()
    print("σ")
    assert text.getvalue() == "σ\n"
