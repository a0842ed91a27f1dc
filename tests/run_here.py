"""Run `prefero` commands in the process of the test, where it can replace parts of the program."""

import sys
import warnings

import pytest

from prefero.__main__ import main


def run_here(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run a command; its exit code."""
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)  # the command has its own
    monkeypatch.setattr(sys, "argv", ["prefero", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)
