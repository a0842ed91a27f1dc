"""Prefero runs on Linux, macOS and Windows: rules that a test on one of them can check for all three."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "benchmarks", "examples", "tools")
TEXT_MODE = re.compile(r"[rwax+t]+")


def python_files() -> list[Path]:
    return sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))


def calls_without_encoding(tree: ast.AST) -> Iterator[str]:
    """Calls that read or write text in the encoding of the system, which on Windows is not UTF-8."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _handles_text(node):
            given = {keyword.arg for keyword in node.keywords}
            if "encoding" not in given:
                yield f"line {node.lineno}: {ast.unparse(node)}"


def _handles_text(call: ast.Call) -> bool:
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
    ["p.read_text()", "p.write_text(t)", "p.open()", 'p.open("w", newline="")', "open(p)", 'open(p, "a")'],
)
def test_a_call_without_an_encoding_is_found(code: str) -> None:
    assert len(list(calls_without_encoding(ast.parse(code)))) == 1


@pytest.mark.parametrize(
    "code", ['p.read_text(encoding="utf-8")', 'p.open("rb")', 'open(p, "xb")', "av.open(str(p))"]
)
def test_other_calls_are_not_taken_for_one(code: str) -> None:
    assert list(calls_without_encoding(ast.parse(code))) == []
