"""Commands whose help fits a terminal of any width: plain text, with whole names of options and an example.

Lines of a docstring that are indented, such as examples, are printed as they are. The error for a value that
is none of an option's choices names the nearest one.
"""

import re
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from prefero._support.names import did_you_mean
from prefero.cli.config import RECORD, taken_from, use_config

ANY = 1000  # characters of a sentence about a command
UNKNOWN = re.compile(r"(?:Value error, )?('([^']*)' is not one of (.*))\.$")


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


class SuggestingGroup(HelpfulGroup):
    """The commands; a misspelt value of an option is an error with the nearest choice."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = with_nearest(error.message)
            raise


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
