"""JSON documents with a format and a version, which people keep and send to each other."""

import json
from pathlib import Path
from typing import Any

from prefero._support.commands import upgrade_command
from prefero._support.files import missing_file


def read_document(
    path: Path, what: str, document_format: str, version: int, error: type[ValueError], remedy: str
) -> dict[str, Any]:
    """The document of a file of this format and version, or an error that says what is wrong with the file.

    `what` it is, in words, and the `remedy` are for the message; a missing file is a `FileNotFoundError`.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except FileNotFoundError as missing:
        raise missing_file(path) from missing
    except (ValueError, RecursionError) as wrong:
        raise error(f"{path} is damaged or no {what} file ({wrong}): {remedy}") from wrong
    if not isinstance(document, dict) or document.get("format") != document_format:
        raise error(f"{path} is not a {what} file: wanted JSON with format {document_format!r}: {remedy}")
    found = document.get("version")
    if found != version:
        is_older = isinstance(found, int) and found < version
        raise error(
            f"{path} is a {what} file of version {found}, and this Prefero reads version {version}: "
            + (remedy if is_older else f"upgrade with  {upgrade_command()}")
        )
    return document


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number")
