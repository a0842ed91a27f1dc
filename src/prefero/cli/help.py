"""Commands whose help fits a terminal of any width: plain text, with whole names of options and an example.

Lines of a docstring that are indented, such as examples, are printed as they are. What is wrong with the
words of a command is said in one line, as any other error is; for a value that is none of an option's choices
it names the nearest one.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from prefero._support.commands import prefero_command
from prefero._support.names import did_you_mean
from prefero.cli.config import RECORD, taken_from, use_config

ANY = 1000  # characters of a sentence about a command
UNKNOWN = re.compile(r"(?:Value error, )?('([^']*)' is not one of (.*))\.$")
UsageError: Any = typer.BadParameter.__mro__[1]  # of click, which some versions of Typer have inside


class HelpfulCommand(TyperCommand):
    """A command; its options are listed under the headings that they were given."""

    def __init__(self, *names: Any, help: str | None = None, **settings: Any) -> None:
        super().__init__(*names, help=_with_literal_lines(help or ""), **settings)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What is typed, and what a file says that `--config` names."""
        path, rest = taken_from(args)
        if path is not None:
            use_config(ctx, path)
        return super().parse_args(ctx, rest)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What follows the name of the command."""
        return ["[OPTIONS]", *(_usage_name(one) for one in self.get_params(ctx) if _is_argument(one))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The arguments, and the options under their headings."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is not None and _is_argument(one):
                sections.setdefault("Arguments", []).append((_usage_name(one), record[1]))
            elif record is not None:
                heading = getattr(one, "rich_help_panel", None) or "Options"
                sections.setdefault(heading, []).append(record)
        sections.setdefault("Options", []).append(RECORD)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


class HelpfulGroup(TyperGroup):
    """Commands under one name, which are listed with whole sentences."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands, and what each is for."""
        known = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(ANY)) for name, one in known.items() if one])


class WrongWords(typer.BadParameter):
    """What is wrong with the words of a command, and where to read which it takes."""

    def show(self, file: Any = None) -> None:
        """One line, without the command's usage."""
        typer.echo(f"prefero: {self.message}", file=file, err=file is None)


@contextmanager
def said_in_one_line() -> Iterator[None]:
    """Errors about what was typed become one line; the help of a group without a command stays help."""
    try:
        yield
    except UsageError as error:
        if isinstance(error, WrongWords) or type(error).__name__ == "NoArgsIsHelpError":
            raise
        raise WrongWords(_one_line(error), error.ctx) from error


class SuggestingGroup(HelpfulGroup):
    """The commands; a misspelt value of an option is an error with the nearest choice."""

    def make_context(self, *args: Any, **settings: Any) -> Any:
        """Parse what stands before a command's own words."""
        with said_in_one_line():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with said_in_one_line():
            return super().invoke(ctx)


class Commands(typer.Typer):
    """Such commands; the class that lists them may be given."""

    def __init__(self, cls: type[HelpfulGroup] = HelpfulGroup, **settings: Any) -> None:
        super().__init__(cls=cls, rich_markup_mode=None, no_args_is_help=True, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[..., Any]:
        """A decorator that adds a command."""
        return super().command(name, cls=HelpfulCommand, **settings)


def with_nearest(message: str) -> str:
    """The message about a value that is none of the choices, with the nearest; others as they are."""
    found = UNKNOWN.search(message)
    if found is None:
        return message
    choices = re.findall(r"'([^']*)'", found[3])
    return f"{found[1]}{did_you_mean(found[2], choices) or '.'}"


def _one_line(error: Any) -> str:
    error.message = with_nearest(error.message).replace("Input should", "it should")
    what = error.format_message().rstrip(".")
    what = f"{what[:1].lower()}{what[1:]}{_value_of(error)}"
    if error.ctx is None:
        return what
    _, *command = error.ctx.command_path.split()
    return f"{what}{'' if what.endswith('?') else '.'} See  {prefero_command(*command, '--help')}"


def _value_of(error: Any) -> str:
    """What came, where the message does not say so: Typer has it from pydantic."""
    errors = getattr(error.__cause__, "errors", None)
    given = repr(errors()[0]["input"]) if errors is not None else ""
    return "" if given in str(error.message) else f", but is {given}"


def _is_argument(one: Any) -> bool:
    return bool(one.param_type_name == "argument")


def _usage_name(argument: Any) -> str:
    if argument.metavar:
        return str(argument.metavar)
    name = argument.name.upper()
    return name if argument.required else f"[{name}]"


def _with_literal_lines(text: str) -> str:
    """The text with a mark before indented paragraphs, which click then does not wrap."""
    return "\n\n".join(f"\b\n{p}" if p.startswith(" ") else p for p in re.split(r"\n\s*?\n", text))
