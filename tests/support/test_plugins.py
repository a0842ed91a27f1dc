"""Registries: names, lazy imports, entries of other packages, and what is said when something is wrong."""

import sys
import textwrap
from collections.abc import Callable
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path

import pytest

from prefero._support import plugins
from prefero._support.plugins import PluginError, Registry, UnknownNameError
from support.install_package import install_package

GROUP = "prefero.toys"
Toy = Callable[[str], str]


def ball(owner: str) -> str:
    return f"the ball of {owner}"


def toys() -> Registry[Toy]:
    return Registry[Toy]("toy", GROUP, {"ball": ball, "top": "textwrap:dedent"})


def test_an_entry_is_an_object_or_a_reference_that_is_imported_when_asked_for() -> None:
    registry = toys()
    assert registry.get("ball") is ball
    assert registry.get("top") is textwrap.dedent
    assert registry.names() == tuple(registry) == ("ball", "top")
    assert "ball" in registry
    assert "doll" not in registry


def test_listing_names_imports_nothing() -> None:
    registry = Registry[Toy]("toy", GROUP, {"lazy": "module_that_does_not_exist:x"})
    assert registry.names() == ("lazy",)
    assert "lazy" in repr(registry)
    with pytest.raises(ModuleNotFoundError):
        registry.get("lazy")


def test_an_unknown_name_gets_the_list_and_the_closest_one() -> None:
    with pytest.raises(UnknownNameError, match=r"no toy 'bal'; did you mean .ball."):
        toys().get("bal")


def test_entries_are_registered_once_and_can_be_taken_out() -> None:
    registry = toys()
    registry.register("doll", ball)
    assert registry.get("doll") is ball
    with pytest.raises(ValueError, match="a toy 'doll' already"):
        registry.register("doll", ball)
    registry.unregister("doll")
    assert "doll" not in registry
    with pytest.raises(UnknownNameError):
        registry.unregister("doll")


def test_another_package_adds_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = toys()
    code = "def kite(owner):\n    return f'the kite of {owner}'\n"
    install_package(tmp_path, monkeypatch, "kite_shop", code, {GROUP: {"kite": "kite_shop:kite"}})
    assert registry.names() == ("ball", "top", "kite")
    assert "kite" in registry
    assert "kite_shop" not in sys.modules
    assert registry.get("kite")("Ada") == "the kite of Ada"


def test_names_of_prefero_come_before_those_of_other_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_package(tmp_path, monkeypatch, "ball_shop", "ball = None\n", {GROUP: {"ball": "ball_shop:ball"}})
    assert toys().get("ball") is ball
    assert toys().names() == ("ball", "top")


def test_a_package_that_cannot_be_loaded_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "raise RuntimeError('out of stock')\n"
    install_package(tmp_path, monkeypatch, "empty_shop", code, {GROUP: {"kite": "empty_shop:kite"}})
    with pytest.raises(PluginError, match=r"toy 'kite' of package 'empty_shop'.*RuntimeError: out of stock"):
        toys().get("kite")


def test_a_name_in_two_packages_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for shop in ("east_shop", "west_shop"):
        code = "kite = 1\n"
        install_package(tmp_path / shop, monkeypatch, shop, code, {GROUP: {"kite": f"{shop}:kite"}})
    with pytest.raises(PluginError, match=r"2 packages .*east_shop.*uninstall"):
        toys().get("kite")


def test_installed_packages_are_read_again_only_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []

    def read(group: str) -> EntryPoints:
        reads.append(group)
        return entry_points(group=group)

    monkeypatch.setattr(plugins, "entry_points", read)
    monkeypatch.syspath_prepend(tmp_path / "empty")
    registry = toys()
    assert [registry.names() for _ in range(3)] == [("ball", "top")] * 3
    assert reads == [GROUP]
    points = {GROUP: {"drum": "drum_shop:drum"}}
    install_package(tmp_path / "site", monkeypatch, "drum_shop", "drum = None\n", points)
    assert registry.names() == ("ball", "top", "drum")
    assert reads == [GROUP, GROUP]
