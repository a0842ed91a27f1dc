"""`prefero` and `python -m prefero`: the command line, or one line that says what it needs."""

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefero._support.files import missing_file
from prefero._support.optional import WRITERS, MissingExtra, message_for, missing_packages, need
from prefero._support.systems import end_like_interrupt, print_unknown_characters
from prefero._support.text import printable

COMMAND_EXTRAS = {  # beside cli, which all need
    "teach": ("server",),
    "study": ("server",),
    "judge": ("server",),
    "features": ("datasets",),
    "score": ("datasets",),
    "push": ("hub",),
    "rerun": ("rerun",),
    "reproduce": ("experiments", "plots", "worlds"),
    "show": ("plots",),
}
WORD_EXTRAS = {"golf": "worlds", "tosser": "worlds"}
NOT_DATASETS = ("driver", *WORD_EXTRAS)


def extras_of(words: Sequence[str]) -> list[str]:
    """The extras that a command line uses, judged by its words, since what parses them may be missing too."""
    command = next((word for word in words if word in COMMAND_EXTRAS), "")
    found = ["cli", *COMMAND_EXTRAS.get(command, ())]
    if command == "teach" and not any(word in NOT_DATASETS or word.endswith(".npz") for word in words):
        found.append("datasets")
    for word in words:
        found += [WORD_EXTRAS.get(word, ""), WRITERS.get(Path(word).suffix.lower(), ("", ""))[1]]
        found += ["postgres"] if word.startswith("postgresql://") else []
    return list(filter(None, dict.fromkeys(found)))


def _all_missing(error: MissingExtra, words: Sequence[str]) -> str:
    """The error, or one that names everything this command lacks, so that one installation is enough."""
    lacks = {extra: missing_packages(extra) for extra in dict.fromkeys([*extras_of(words), *error.extras])}
    extras = [extra for extra, packages in lacks.items() if packages]
    if not error.extras or set(extras) <= set(error.extras):
        return str(error)
    return message_for(list(dict.fromkeys(package for extra in extras for package in lacks[extra])), extras)


def _in_one_line(message: Warning | str, *_: Any, **__: Any) -> str:
    return f"prefero: {printable(str(message))}\n"


def _words(error: Exception) -> str:
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return str(missing_file(error.filename))
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def main() -> None:
    """Run the command line; errors that a user can mend end in one line and exit code 2."""
    warnings.formatwarning = _in_one_line
    print_unknown_characters()
    end_like_interrupt()
    try:
        need("typer", extra="cli")
        need("rich", extra="cli")
        from prefero.cli import app

        app()
    except MissingExtra as error:
        print(f"prefero: {_all_missing(error, sys.argv[1:])}", file=sys.stderr)
        sys.exit(2)
    except (ValueError, OSError, RuntimeError, MemoryError) as error:
        if type(error) is RuntimeError:  # one of nobody's, which a developer wants to see whole
            raise
        print(f"prefero: {printable(_words(error))}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
