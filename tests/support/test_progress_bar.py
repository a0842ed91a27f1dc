"""The progress bar: seen where somebody looks, and silent elsewhere."""

import sys
from importlib.machinery import ModuleSpec

import pytest

from prefero._support import progress_bar as module
from prefero._support.optional import MissingExtra
from prefero._support.progress_bar import progress


def run(show: bool | None, total: int = 4) -> None:
    with progress("counting sheep", total, show) as advance:
        for _ in range(total):
            advance(1)


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, yes: bool = True) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: yes)


@pytest.mark.parametrize("show", [None, False])
def test_it_is_silent_where_nobody_looks(show: bool | None, capsys: pytest.CaptureFixture[str]) -> None:
    run(show)
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "")


def test_it_is_shown_when_asked_for_and_on_the_error_stream(capsys: pytest.CaptureFixture[str]) -> None:
    run(show=True)
    told = capsys.readouterr()
    assert told.out == ""
    assert "counting sheep" in told.err
    assert "4/4" in told.err


def test_it_is_shown_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_terminal(monkeypatch)
    run(show=None)
    assert "4/4" in capsys.readouterr().err


def test_it_is_silent_on_a_terminal_when_asked_to(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_terminal(monkeypatch)
    run(show=False)
    assert capsys.readouterr().err == ""


def nothing_found(_: str) -> ModuleSpec | None:
    return None


def test_without_rich_a_terminal_sees_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_terminal(monkeypatch)
    monkeypatch.setattr(module, "find_spec", nothing_found)
    run(show=None)
    assert capsys.readouterr().err == ""


def test_without_rich_it_says_what_to_install_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(MissingExtra, match=r"'rich', which is not installed.*\[cli\]'"):
        run(show=True)


def test_steps_of_any_size_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("counting sheep", 10, show=True) as advance:
        advance(3)
        advance(7)
    assert "10/10" in capsys.readouterr().err


@pytest.mark.parametrize("show", [True, False])
def test_an_error_passes_through(show: bool) -> None:
    with pytest.raises(ZeroDivisionError), progress("counting sheep", 3, show):
        raise ZeroDivisionError
