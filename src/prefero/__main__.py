"""`prefero` and `python -m prefero`: the command line, or one line that says what it needs."""

import sys
import warnings
from typing import Any

from prefero._support.optional import MissingExtra, need
from prefero._support.systems import print_unknown_characters


def _in_one_line(message: Warning | str, *_: Any, **__: Any) -> str:
    return f"prefero: {message}\n"


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def main() -> None:
    """Run the command line; errors that a user can mend end in one line and exit code 2."""
    warnings.formatwarning = _in_one_line
    print_unknown_characters()
    try:
        need("typer", extra="cli")
        need("rich", extra="cli")
        from prefero.cli import app

        app()
    except (MissingExtra, ValueError, OSError) as error:
        print(f"prefero: {_words(error)}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
