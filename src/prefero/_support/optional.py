"""Optional packages: imported when they are needed, and named with their remedy when they are missing."""

import re
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from types import ModuleType

from prefero._support.commands import NAME, install_command

WRITERS = {  # the package that writes files of a suffix, and the extra that installs it
    **dict.fromkeys((".png", ".pdf", ".svg"), ("matplotlib", "plots")),
    ".mp4": ("av", "worlds"),
    ".onnx": ("onnx", "onnx"),
    ".parquet": ("pyarrow", "datasets"),
    ".rrd": ("rerun", "rerun"),
}
REQUIREMENT = re.compile(r"^([\w.-]+)(?:\[([\w,-]+)\])?.*;.*extra == ['\"]([\w-]+)['\"]")


class MissingExtra(ImportError):
    """Something of Prefero was used whose packages are not installed; `extras` would install them."""

    def __init__(self, message: str, *extras: str) -> None:
        super().__init__(message)
        self.extras = extras


def need(module: str, *, extra: str) -> ModuleType:
    """Import `module`, or raise an error that names the extra of Prefero that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(message_for([module.partition(".")[0]], [extra]), extra) from error


def need_writer(path: Path) -> None:
    """An error that names the remedy if the package that writes such a file is missing."""
    if path.suffix.lower() in WRITERS:
        package, extra = WRITERS[path.suffix.lower()]
        need(package, extra=extra)


def message_for(packages: Sequence[str], extras: Sequence[str]) -> str:
    """What is missing, and the one command that installs all of it."""
    listed = ", ".join(map(repr, packages))
    which = f"the package {listed}, which is" if len(packages) == 1 else f"the packages {listed}, which are"
    return f"this needs {which} not installed: type  {install_command(extras)}"


def missing_packages(extra: str) -> list[str]:
    """Those of an extra's packages that are not installed, by the names that an index has them under."""
    found = []
    try:
        declared = requires(NAME) or []
    except PackageNotFoundError:  # Prefero runs from its source, so nothing is known of its extras
        declared = []
    for match in filter(None, map(REQUIREMENT.match, declared)):
        package, inner, its_extra = match.groups()
        if its_extra == extra:
            nested = inner.split(",") if package == NAME and inner else []
            found += [p for e in nested for p in missing_packages(e)] if nested else _absent(package)
    return found


def _absent(package: str) -> list[str]:
    try:
        version(package)
    except PackageNotFoundError:
        return [package]
    return []
