"""Prefero runs on Linux, macOS and Windows: rules that a test on one of them can check for all three."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "benchmarks", "examples", "tools")
SYSTEMS = ROOT / "src" / "prefero" / "_support" / "systems.py"
NOT_EVERYWHERE = {  # what only some systems have, or what says which one this is
    *("fcntl", "grp", "msvcrt", "pwd", "resource", "termios", "winreg"),
    *("sys.platform", "os.name", "os.uname"),
    *("os.chown", "os.fork", "os.getegid", "os.geteuid", "os.getgid", "os.getuid", "os.kill", "os.killpg"),
    *("os.mkfifo", "os.sched_getaffinity", "os.setsid", "signal.SIGBREAK", "signal.SIGHUP", "signal.SIGKILL"),
    *("signal.SIGUSR1", "signal.alarm", "socket.AF_UNIX", "socket.SO_EXCLUSIVEADDRUSE"),
    *("socket.SO_REUSEADDR", "socket.SO_REUSEPORT"),
}
TEXT_MODE = re.compile(r"[rwax+t]+")


def python_files() -> list[Path]:
    return sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))


def calls_without_encoding(tree: ast.AST) -> Iterator[str]:
    """Calls that read or write text in the encoding of the system, which on Windows is not UTF-8."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _handles_text(node) and not _has_encoding(node):
            yield f"line {node.lineno}: {ast.unparse(node)}"


def _has_encoding(call: ast.Call) -> bool:
    return any(keyword.arg == "encoding" for keyword in call.keywords)


def _handles_text(call: ast.Call) -> bool:
    if any(keyword.arg in ("text", "universal_newlines") for keyword in call.keywords):  # of a process
        return ast.unparse(call.func).startswith("subprocess.")
    match call.func:
        case ast.Attribute(attr="read_text"):
            return not call.args
        case ast.Attribute(attr="write_text"):
            return len(call.args) == 1
        case ast.Attribute(attr="open"):  # of a path; others are called av.open, Image.open
            return _is_text_mode(call.args, call.keywords)
        case ast.Name(id="open"):
            return _is_text_mode(call.args[1:], call.keywords)
    return False


def _is_text_mode(args: list[ast.expr], keywords: list[ast.keyword]) -> bool:
    mode = next(iter([*args[:1], *(k.value for k in keywords if k.arg == "mode")]), ast.Constant("r"))
    return isinstance(mode, ast.Constant) and bool(TEXT_MODE.fullmatch(str(mode.value)))


@pytest.mark.parametrize("file", python_files(), ids=lambda file: file.relative_to(ROOT).as_posix())
def test_text_files_have_a_stated_encoding(file: Path) -> None:
    assert list(calls_without_encoding(ast.parse(file.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "code",
    [
        "p.read_text()",
        "p.write_text(t)",
        "p.open()",
        'p.open("w", newline="")',
        "open(p)",
        'open(p, "a")',
        "subprocess.run(c, text=True)",
    ],
)
def test_a_call_without_an_encoding_is_found(code: str) -> None:
    assert len(list(calls_without_encoding(ast.parse(code)))) == 1


@pytest.mark.parametrize(
    "code", ['p.read_text(encoding="utf-8")', 'p.open("rb")', 'open(p, "xb")', "av.open(str(p))"]
)
def test_other_calls_are_not_taken_for_one(code: str) -> None:
    assert list(calls_without_encoding(ast.parse(code))) == []


def differing_names(tree: ast.AST) -> set[str]:
    """What a piece of code uses that is not the same on every system."""
    dotted = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {alias.name for node in imports for alias in node.names}
    members = {f"{n.module}.{a.name}" for n in imports if isinstance(n, ast.ImportFrom) for a in n.names}
    sources = {node.module or "" for node in imports if isinstance(node, ast.ImportFrom)}
    return (dotted | modules | members | sources) & NOT_EVERYWHERE


def test_one_module_knows_what_differs_between_systems() -> None:
    library = [file for file in python_files() if file.is_relative_to(ROOT / "src")]
    found = {f for f in library if differing_names(ast.parse(f.read_text(encoding="utf-8")))}
    assert found == {SYSTEMS}


@pytest.mark.parametrize(
    "code", ["import fcntl", "from sys import platform", "from resource import getrusage", "os.kill(1, 2)"]
)
def test_a_name_that_differs_between_systems_is_found(code: str) -> None:
    assert differing_names(ast.parse(code))
