"""What differs between Linux, macOS and Windows. No other module asks which system it runs on."""

import io
import multiprocessing
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Literal

MOST_FILES = 4096  # that a server needs
SOCKETS = "prefero-sockets-"
REPLACE_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # seconds between attempts, on Windows


def replace_file(source: Path, target: Path) -> None:
    """Move a finished file to its final name, over the old one if there is one.

    Windows refuses while another program has the old file open, which a reader or a virus scanner soon ends.
    """
    for pause in REPLACE_PAUSES if sys.platform == "win32" else ():
        try:
            os.replace(source, target)  # noqa: PTH105
        except PermissionError:
            time.sleep(pause)
        else:
            return
    os.replace(source, target)  # noqa: PTH105


def program_folder(kind: Literal["cache", "data"]) -> Path:
    """Prefero's folder where this system keeps programs' caches, or users' data."""
    if sys.platform == "win32":
        local = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "prefero"
        folder = local / "cache" if kind == "cache" else local
    elif sys.platform == "darwin":
        library = Path.home() / "Library"
        folder = library / {"cache": "Caches", "data": "Application Support"}[kind] / "prefero"
    else:  # the XDG base directories
        usual = Path.home() / {"cache": ".cache", "data": ".local/share"}[kind]
        folder = Path(os.environ.get(f"XDG_{kind.upper()}_HOME") or usual) / "prefero"
    return folder


def program_file(name: str) -> Path:
    """Where a program of this Python's environment is, whether or not it is there."""
    return Path(sys.executable).parent / (f"{name}.exe" if sys.platform == "win32" else name)


def usable_cores() -> int:
    """How many threads of this process can run at once; Linux may allow it fewer cores than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def screenless() -> bool:
    """Is this a Linux without a screen? Other systems always have one."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform.startswith("linux") and not any(map(os.environ.get, screens))


def gl_libraries() -> tuple[str, ...]:
    """Values of MUJOCO_GL that draw without a screen, best first; other systems have no choice."""
    return ("egl", "osmesa") if sys.platform.startswith("linux") else ()


def open_file_limit() -> int:
    """How many files and connections this process may have open; the limit is raised as far as allowed."""
    if sys.platform == "win32":
        return 8192  # sockets are no files there
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # macOS has a lower limit that it does not tell
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft


def hold_port_alone(listener: socket.socket) -> None:
    """Let no second server listen on the same port, and the next one at once after this one.

    SO_REUSEADDR does that everywhere but on Windows, where it lets both listen.
    """
    if sys.platform == "win32":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)


def break_like_interrupt() -> None:
    """Make Ctrl+Break end a program as Ctrl+C does; only Windows has it, and other programs can send it."""
    if sys.platform == "win32":
        signal.signal(signal.SIGBREAK, signal.default_int_handler)


def end_like_interrupt() -> None:
    """Make a command that is asked to end (SIGTERM) end as Ctrl+C does, so that it leaves nothing behind."""
    with suppress(ValueError):  # outside of the main thread
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def kill_process(process: int) -> None:
    """End a process that may not listen any more; nothing happens if it has ended."""
    with suppress(OSError):
        os.kill(process, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)


def fork_server_process() -> int | None:
    """The id of multiprocessing's fork server; None where there is none, or it has not started."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return None
    from multiprocessing import forkserver

    found: int | None = getattr(getattr(forkserver, "_forkserver", None), "_forkserver_pid", None)
    return found


def use_own_socket_folder() -> None:
    """Put the sockets of multiprocessing's fork server into a folder of this process, and remove old ones.

    multiprocessing removes its own folder at the end, but not after a kill, and nobody can tell later whose
    it was. The name of this one has the id of its process.
    """
    temporary, config = Path(tempfile.gettempdir()), getattr(multiprocessing.current_process(), "_config", {})
    for folder in temporary.glob(f"{SOCKETS}*"):
        owner = folder.name.removeprefix(SOCKETS).partition("-")[0]
        if owner.isdecimal() and not _is_running(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)
    if "tempdir" not in config:
        config["tempdir"] = tempfile.mkdtemp(prefix=f"{SOCKETS}{os.getpid()}-")
        Finalize(None, shutil.rmtree, [config["tempdir"], True], exitpriority=-100)  # not in a forked process


def _is_running(process: int) -> bool:
    """Is there a process of this id, perhaps somebody else's? Not for Windows, where asking would end it."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        pass
    return True


def end_with_parent(seconds: float = 1.0) -> None:
    """End this worker process soon after the process that started it, which may have been killed."""
    if multiprocessing.parent_process() is None or _WATCHES:
        return
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(seconds)
        os._exit(1)

    _WATCHES.append(threading.Thread(target=watch, name="prefero-parent", daemon=True))
    _WATCHES[0].start()


_WATCHES: list[threading.Thread] = []  # of this process: one, or none


def shell_command(words: Sequence[str]) -> str:
    """A command as it is typed, with the quotes that this system's shell understands."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def print_unknown_characters() -> None:
    """Print a question mark in place of a character that the terminal or file cannot hold, and go on.

    Windows gives redirected output an old code page, and Python would stop at the first Greek letter.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")
