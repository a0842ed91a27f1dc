"""Optional packages: imported when they are needed, and named with their remedy when they are missing."""

from importlib import import_module
from types import ModuleType


class MissingExtra(ImportError):
    """A part of Prefero was used whose packages are not installed."""


def need(module: str, *, extra: str) -> ModuleType:
    """Import `module`, or raise an error that names the extra of Prefero that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"this needs the package {module.partition('.')[0]!r}, which is not installed: "
            f"type  pip install 'prefero[{extra}]'"
        ) from error
