"""What coding agents read is true: every command of the documentation is one that the command line takes.

Those of the page for coding agents run where its Python blocks ran, unless they wait for people.
"""

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import typer
from tools.write_llms import DOCS, all_pages, links, map_of_pages

from prefero.cli import app
from prefero.cli.help import UsageError
from run_prefero import run_prefero
from test_code_blocks import is_same_output

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "coding-agents.md"
AGENTS = ROOT / "AGENTS.md"
PAGES = [ROOT / "README.md", AGENTS, *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = ("&", "&&", "|", ">")  # what follows is not of the command
WAITING = ("teach", "arena")  # these serve a page until they are stopped
BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)

PRODUCTS = re.compile(r"\b(?:claude|copilot|cursor|codex|gemini|devin|openai|anthropic)\b", re.IGNORECASE)


def commands_in(console: str) -> Iterator[list[str]]:
    """The words of each `prefero` command of a block; a line that ends in a backslash goes on in the next."""
    for line in console.replace("\\\n", " ").splitlines():
        found = re.fullmatch(r"\$ (?:\.venv/bin/)?prefero (.*)", line)
        if found and "..." not in line:
            words = shlex.split(found[1], comments=True)
            yield list(takewhile(lambda word: word not in SHELL, words))


def commands_of(page: Path) -> list[list[str]]:
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [words for kind, code in blocks if kind == "console" for words in commands_in(code)]


def parse(words: list[str]) -> None:
    """Parse a command as the command line does, without running it; an error if it would be refused."""
    command: Any = typer.main.get_command(app)
    context, rest = None, words
    try:
        while hasattr(command, "resolve_command"):
            context = command.make_context(command.name, list(rest), parent=context)
            name, found, rest = command.resolve_command(context, [*context._protected_args, *context.args])
            assert found is not None, name
            command = found
        command.make_context(command.name, list(rest), parent=context)
    except typer.Exit:  # --help and --version end here
        return


def test_every_command_of_the_documentation_is_taken() -> None:
    commands = [(page.stem, words) for page in PAGES for words in commands_of(page)]
    commands = [one for one in commands if "--config" not in one[1]]  # which reads the file that it names
    assert len(commands) > 100
    assert [(page, words, said) for page, words in commands if (said := refusal(words))] == []


def refusal(words: list[str]) -> str:
    """Why the command line would not take a command; empty if it does."""
    try:
        parse(words)
    except UsageError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("line", ["score --nothing", "nothing", "simulate --questions many"])
def test_a_wrong_command_is_refused(line: str) -> None:
    assert refusal(line.split())


def test_the_recipes_for_coding_agents_run_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    printed, ran = "", 0
    for kind, code in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(code, PAGE.name, "exec"), names)
            printed = capsys.readouterr().out
        elif kind == "text":
            assert is_same_output(code, printed), printed
        for words in commands_in(code) if kind == "console" else ():
            if words[0] not in WAITING:
                done = run_prefero(*words, folder=tmp_path)
                assert done.returncode == 0, (words, done.stderr)
                ran += 1
    assert ran >= 8
    assert {"scores.csv", "quality.csv", "by-labels.csv", "robot.py"} <= {p.name for p in tmp_path.iterdir()}


def test_an_error_that_can_be_corrected_exits_with_2_and_says_how(tmp_path: Path) -> None:
    done = run_prefero("score", "missing.json", "throws.csv", folder=tmp_path)
    assert done.returncode == 2
    assert "missing.json" in done.stderr


def test_agents_md_is_short_names_no_product_and_only_what_exists() -> None:
    text = AGENTS.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 80
    assert PRODUCTS.search(text + PAGE.read_text(encoding="utf-8")) is None
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    named = {word for line in re.findall(r"make ([a-z][a-z -]*)", text) for word in line.split()[:1]}
    assert named <= {*targets, "and", "it"}
    paths = re.findall(r"`((?:src|tests|web|docs|examples|benchmarks|plugins)/[\w./-]*)`", text)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_map_of_the_pages_is_up_to_date() -> None:
    text = (DOCS / "llms.txt").read_text(encoding="utf-8")
    assert text == map_of_pages(), "run  python -m tools.write_llms"
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(lines) == len(list(links())) > 30
    assert all(re.fullmatch(r"- \[[^]]+\]\(\S+\): \S.{10,}", line) for line in lines)


def test_the_text_for_language_models_has_every_page() -> None:
    text = all_pages()
    assert all((DOCS / link.page).read_text(encoding="utf-8").strip() in text for link in links())
