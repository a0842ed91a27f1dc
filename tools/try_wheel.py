"""Try a release as a user meets it: installed in an empty environment without Node, and serving its page.

    python tools/try_wheel.py dist              the wheel in this folder
    python tools/try_wheel.py dist --sdist      the source distribution
    python tools/try_wheel.py dist --browser    and answer a question of mini-golf in a browser

It needs nothing but Python, and runs on Linux, macOS and Windows. With --browser, it needs Chromium,
Playwright and a checkout, in whose folder it is started with PYTHONPATH=.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

EXTRAS = "cli,server,worlds"  # what `prefero teach golf` takes
LARGEST_WHEEL = 3e6  # bytes; a larger one has files that nobody wants
WANTED = {"prefero/py.typed", "prefero/server/page/index.html", "prefero/notebook/built/widget.js"}
INSIDE = re.compile(r"prefero/|prefero-[^/]+\.dist-info/")
PATIENCE = 120.0  # seconds until the server answers
ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+/)")
ASSET = re.compile(r"(?:src|href)=\"(?:\./|/)?(assets/[^\"]+)\"")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the distribution is")
    parser.add_argument("--sdist", action="store_true", help="try the source distribution, not the wheel")
    parser.add_argument("--browser", action="store_true", help="answer a question in a browser too")
    options = parser.parse_args(arguments)
    (file,) = options.folder.glob("prefero-*.tar.gz" if options.sdist else "prefero-*.whl")
    with tempfile.TemporaryDirectory(prefix="prefero-release-", ignore_cleanup_errors=True) as folder:
        try_release(file.resolve(), Path(folder), browser=options.browser)


def try_release(file: Path, folder: Path, *, browser: bool) -> None:
    if file.suffix == ".whl":
        check_contents(file)
    python = empty_environment(folder / "venv")
    environment = without_node(folder)
    say(f"installing {file.name}[{EXTRAS}]")
    run([python, "-m", "pip", "install", "--quiet", f"{file}[{EXTRAS}]"], folder, environment)
    prefero = python.with_name("prefero").with_suffix(python.suffix)
    for words in (["--version"], ["--help"], ["teach", "--help"]):
        text = run([prefero, *words], folder, environment)
        say(f"prefero {' '.join(words)}: {text.strip().splitlines()[0].strip()}")
    serve([prefero, "teach", "golf", "--trajectories", "25"], folder, environment, browser=browser)


def check_contents(wheel: Path) -> None:
    """The package with its page and types, and nothing beside it."""
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
    strange = [name for name in names if not INSIDE.match(name) or "/tests/" in name or "__pycache__" in name]
    if strange or not set(names) >= WANTED or wheel.stat().st_size > LARGEST_WHEEL:
        missing = sorted(WANTED - set(names))
        sys.exit(
            f"{wheel.name} has {wheel.stat().st_size:,} bytes, lacks {missing} and should lack {strange}"
        )
    say(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size:,} bytes")


def empty_environment(folder: Path) -> Path:
    """A virtual environment with nothing but pip; its Python."""
    venv.create(folder, with_pip=True)
    return next(
        path for path in (folder / "bin" / "python", folder / "Scripts" / "python.exe") if path.exists()
    )


def without_node(folder: Path) -> dict[str, str]:
    """This environment without a Node, without our own sources, and with the data in a folder of its own."""
    kept = [part for part in os.environ["PATH"].split(os.pathsep) if not has_node(Path(part))]
    left_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    inherited = {name: value for name, value in os.environ.items() if name not in left_out}
    own = {"PATH": os.pathsep.join(kept), "PYTHONUTF8": "1", "NO_COLOR": "1", "COLUMNS": "200"}
    return inherited | own | {name: str(folder / name) for name in ("PREFERO_DATA", "PREFERO_CACHE")}


def has_node(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("node", "node.exe", "npm", "npm.cmd"))


def run(command: Sequence[str | Path], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed with {done.returncode}:\n{done.stdout}")
    return done.stdout


def serve(command: Sequence[str | Path], folder: Path, environment: dict[str, str], *, browser: bool) -> None:
    """Start the server, get the page and everything that it names, perhaps answer, and stop the server."""
    log = folder / "server.txt"
    with log.open("w", encoding="utf-8") as output:
        server = subprocess.Popen(
            [*command, "--port", "0", "--no-browser"],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        address = wait_for_address(server, log)
        page = get(address).decode()
        assets = sorted(set(ASSET.findall(page)))
        if not assets:
            sys.exit(f"the page names no scripts and no styles:\n{page}")
        for name in ["", *assets, "licenses.md", "api/me", "api/openapi.json"]:
            say(f"GET /{name}: {len(get(address + name)):,} bytes")
        if browser:
            answer(address)
    finally:
        server.kill()
        server.wait()


def answer(address: str) -> None:
    """In a browser: both clips move, and those of the next question too."""
    from benchmarks.speed.page_latency import open_page, started_browser

    with started_browser() as browser:
        page = open_page(browser, address)
        page.evaluate("pairMoving()")
        say("both clips of the first question move")
        page.keyboard.press("ArrowLeft")
        page.evaluate("pairMoving()")
        say("an answer is taken, and both clips of the next question move")


def wait_for_address(server: "subprocess.Popen[bytes]", log: Path) -> str:
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit and server.poll() is None:
        found = ADDRESS.search(log.read_text(encoding="utf-8"))
        if found:
            return found[1]
        time.sleep(0.1)
    sys.exit(f"the server did not start:\n{log.read_text(encoding='utf-8')}")


def get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=30) as response:
        content: bytes = response.read()
    if not content:
        sys.exit(f"{address} is empty")
    return content


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main()
