"""Install packages into a virtual environment, which is made if it is not there, and say what is being done.

    python tools/install.py .venv --editable ".[cli,server,worlds]"
    python tools/install.py .venv --constraint constraints.txt --editable ".[all]" --group dev

uv does it, in a fifth of the time that pip needs. Where there is no uv, pip installs it into the environment
first; where that or uv fails, pip does it all. The arguments after the folder are those of `pip install`. It
needs nothing but Python, and runs on Linux, macOS and Windows.
"""

from __future__ import annotations  # so that an older Python gets as far as the message for it

import ast
import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

OLDEST = (3, 11)
LONG = ": half a minute or so, and as long as the download of some hundred MB the first time"
GROUPS = "pip>=25.1"  # the first that knows --group
DOWNLOAD = re.compile(r"^\s*Downloading (\S+?)-\d\S* \((\d+(?:\.\d+)? [MG]B)\)")
INSTALL = re.compile(r"^Installing collected packages: (.*)")
SETTING = re.compile(r"^[^.]*\.([a-z-]+)=(.*)")  # a line of `pip config list`
FOR_UV = {  # uv's variable, and what is between two values of it; pip has white space there
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
}


def main(arguments: Sequence[str]) -> int:
    folder, wanted = Path(arguments[0]), list(arguments[1:])
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    uv = installed_uv(python)
    if reason := hindrance(uv):
        say(reason)
        return 1
    if not python.exists():
        say(f"making the virtual environment {folder}")
        make = [uv, "venv", "--quiet", "--python", sys.executable] if uv else [sys.executable, "-m", "venv"]
        subprocess.run([*make, str(folder)], check=True)
    if uv:
        say(f"installing {described(wanted)} with uv{LONG}")
        return install_with_uv(uv, python, wanted)
    if uv := own_uv(python, wanted):
        say(f"installing {described(wanted)} with uv, which pip installed{LONG}")
        if not install_with_uv(uv, python, wanted, settings_of_pip(python)):
            return 0
        say("uv failed: what follows is pip's attempt")
    say(f"installing {described(wanted)} with pip{LONG}")
    return install_with_pip(python, wanted)


def installed_uv(python: Path) -> str | None:
    """The uv that this machine has, other than the environment's own."""
    found = shutil.which("uv")
    return found if found and Path(found).parent.absolute() != python.parent.absolute() else None


def hindrance(uv: str | None) -> str | None:
    """Why this Python cannot make the environment, and what to do; None if it can."""
    if sys.version_info < OLDEST:
        here = ".".join(map(str, sys.version_info[:3]))
        return f"Python 3.11 or newer is needed, and this is {here}: say  make PYTHON=/path/to/python3"
    if uv or (importlib.util.find_spec("ensurepip") and importlib.util.find_spec("venv")):
        return None
    return (
        "this Python cannot make virtual environments: install its venv package "
        "(Debian: apt-get install python3-venv), or uv"
    )


def install_with_uv(
    uv: str, python: Path, wanted: Sequence[str], settings: dict[str, str] | None = None
) -> int:
    """Without a list of all packages; an error is shown whole."""
    command = [uv, "pip", "install", "--quiet", "--python", str(python), *wanted]
    began = time.monotonic()
    failed = subprocess.run(command, env={**(settings or {}), **os.environ}, check=False).returncode
    if not failed:
        say(f"installed in {time.monotonic() - began:.0f} s")
    return failed


def own_uv(python: Path, wanted: Sequence[str]) -> str | None:
    """The environment's own uv, which pip installs if it is not there; None if pip cannot."""
    uv = python.with_name("uv" + python.suffix)
    if not uv.exists():
        pairs = itertools.pairwise(wanted)
        constraints = [word for pair in pairs if pair[0] == "--constraint" for word in pair]
        run_quietly([python, "-m", "pip", "install", "--no-compile", *constraints, "uv"])
    return str(uv) if uv.exists() else None


def settings_of_pip(python: Path) -> dict[str, str]:
    """Where pip looks for packages, as variables for uv, which reads no settings of pip's."""
    listed = subprocess.run(
        [python, "-m", "pip", "config", "list"], capture_output=True, encoding="utf-8", check=False
    )
    return translated(listed.stdout.splitlines())


def translated(lines: Iterable[str]) -> dict[str, str]:
    """Lines of `pip config list` as variables for uv. Of two places, pip prefers its own variables."""
    settings: dict[str, str] = {}
    for line in sorted(lines, key=lambda line: line.startswith(":env:")):
        found = SETTING.match(line)
        if found and found[1] in FOR_UV:
            name, between = FOR_UV[found[1]]
            settings[name] = between.join(ast.literal_eval(found[2]).split())
    # As pip does, the best version of all places; otherwise uv takes those of the first that has any.
    return {**settings, "UV_INDEX_STRATEGY": "unsafe-best-match"} if settings else {}


def install_with_pip(python: Path, wanted: Sequence[str]) -> int:
    """pip prints hundreds of lines: only large downloads are shown, and after a failure everything."""
    if run_quietly([python, "-m", "pip", "--version"]):  # uv made this environment, and is gone
        run_quietly([python, "-m", "ensurepip"])
    if "--group" in wanted:
        run_quietly([python, "-m", "pip", "install", "--upgrade", GROUPS])
    # Modules are compiled when they are first imported, which most never are.
    command = [str(python), "-m", "pip", "install", "--no-compile", "--progress-bar", "off", *wanted]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace"
    ) as pip:
        assert pip.stdout is not None
        lines = list(showing(pip.stdout))
    if pip.returncode:
        print("".join(lines), file=sys.stderr)
    return pip.returncode


def run_quietly(command: Sequence[str | Path]) -> int:
    return subprocess.run(command, capture_output=True, check=False).returncode


def showing(lines: Iterable[str]) -> Iterator[str]:
    """pip's lines; those that tell of progress are printed in short."""
    for line in lines:
        if text := progress(line):
            print(f"  {text}", flush=True)
        yield line


def progress(line: str) -> str | None:
    """What a person who waits wants to know of a line of pip's."""
    if found := DOWNLOAD.match(line):
        return f"{found[1]}, {found[2]}"
    if found := INSTALL.match(line):
        count = found[1].count(",") + 1
        return f"{count} {'package is' if count == 1 else 'packages are'} being unpacked"
    return None


def described(wanted: Sequence[str]) -> str:
    """The packages and groups among pip's arguments."""
    named = [word for before, word in zip(["", *wanted], wanted, strict=False) if before != "--constraint"]
    return " and ".join(
        f"Prefero{word[1:]}" if word.startswith(".") else word for word in named if word[0] != "-"
    )


def say(text: str) -> None:
    print(f"prefero: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
