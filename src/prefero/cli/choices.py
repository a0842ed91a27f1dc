"""The error for a value that is none of an option's choices, with the nearest one."""

import re
from typing import Any

import typer

from prefero._support.names import did_you_mean
from prefero.cli.help import HelpfulGroup

UNKNOWN = re.compile(r"(?:Value error, )?('([^']*)' is not one of (.*))\.$")


class SuggestingGroup(HelpfulGroup):
    """The commands; a misspelt value of an option is an error with the nearest choice."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = with_nearest(error.message)
            raise


def with_nearest(message: str) -> str:
    """The message about a value that is none of the choices, with the nearest; others as they are."""
    found = UNKNOWN.search(message)
    if found is None:
        return message
    choices = re.findall(r"'([^']*)'", found[3])
    return f"{found[1]}{did_you_mean(found[2], choices) or '.'}"
