"""Registries: what Prefero finds by name, and what other packages add to it.

A registry maps names to objects of one kind: dataset formats, worlds, kernels, acquisition functions, export
targets, kinds of answers. An entry is the object itself or a reference, "module:attribute", that is imported
when it is first asked for. A package outside Prefero adds an entry in its own metadata, and nothing in
Prefero changes:

    [project.entry-points."prefero.acquisition_functions"]
    knowledge-gradient = "their_package.module:KnowledgeGradient"

Names of Prefero itself and names given to `register` come before those of other packages.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar, cast

from prefero._support.names import did_you_mean, listed

T = TypeVar("T")


class PluginError(ImportError):
    """An entry of another package cannot be loaded, or two packages give entries of one name."""


class UnknownNameError(ValueError):
    """A registry has no entry of this name."""


class Registry(Generic[T]):
    """Objects of one kind by name.

    kind      what the entries are, in words, for error messages: "acquisition function"
    group     the entry-point group in which other packages add entries
    entries   Prefero's own: an object, or "module:attribute"
    aliases   other names that people know some of them by, in lower case; `get` takes them in any case
    """

    def __init__(
        self,
        kind: str,
        group: str,
        entries: Mapping[str, T | str] | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.kind = kind
        self.group = group
        self._entries: dict[str, T | str] = dict(entries or {})
        self._aliases = dict(aliases or {})

    def __repr__(self) -> str:
        return f"Registry({self.kind!r}, {self.group!r}, {list(self.names())})"

    def __contains__(self, name: object) -> bool:
        return name in self._entries or any(point.name == name for point in self._points())

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def names(self) -> tuple[str, ...]:
        """Every name: Prefero's own and registered ones in their order, then those of other packages, sorted.

        Nothing is imported for this.
        """
        others = {point.name for point in self._points()} - set(self._entries)
        return (*self._entries, *sorted(others))

    def get(self, name: str) -> T:
        """The entry of this name or alias, imported if need be."""
        if name not in self:
            name = self._aliases.get(str(name).lower(), name)
        if name in self._entries:
            return self._load(name)
        points = {point.value: point for point in self._points() if point.name == name}
        if len(points) > 1:
            raise PluginError(
                f"the {self.kind} {name!r} is in {len(points)} packages "
                f"({', '.join(_origin(point) for point in points.values())}): uninstall all but one"
            )
        if not points:
            raise UnknownNameError(self._unknown(name))
        return self._load_point(*points.values())

    def register(self, name: str, entry: T | str) -> None:
        """Add an entry for this process: an object, or "module:attribute"."""
        if name in self._entries:
            raise ValueError(f"there is a {self.kind} {name!r} already: choose another name")
        self._entries[name] = entry

    def unregister(self, name: str) -> None:
        """Take an entry out again."""
        if name not in self._entries:
            raise UnknownNameError(self._unknown(name))
        del self._entries[name]

    def _points(self) -> list[EntryPoint]:
        return _entry_points(self.group, _search_path())

    def _load(self, name: str) -> T:
        entry = self._entries[name]
        if isinstance(entry, str):
            entry = cast(T, EntryPoint(name, entry, self.group).load())
            self._entries[name] = entry
        return entry

    def _load_point(self, point: EntryPoint) -> T:
        try:
            return cast(T, point.load())
        except Exception as error:  # another package's code may fail in any way
            raise PluginError(
                f"the {self.kind} {point.name!r} of {_origin(point)} cannot be loaded from {point.value!r}: "
                f"{type(error).__name__}: {error}"
            ) from error

    def _unknown(self, name: str) -> str:
        names = self.names()
        guess = did_you_mean(str(name), names) or "."
        return f"there is no {self.kind} {name!r}{guess} The names are: {listed(names)}"


@lru_cache(maxsize=16)
def _entry_points(group: str, _: tuple[tuple[str, int], ...]) -> list[EntryPoint]:
    """The entry points of a group, read again only after the search path has changed.

    Reading them opens a file of every installed package: tens of milliseconds.
    """
    return list(entry_points(group=group))


def _search_path() -> tuple[tuple[str, int], ...]:
    """The folders in which Python finds packages, each with the time of its last change."""
    return tuple((folder, _changed(folder)) for folder in sys.path)


def _changed(folder: str) -> int:
    try:
        return os.stat(folder or ".").st_mtime_ns  # noqa: PTH116  a Path costs as much again
    except OSError:
        return 0


def _origin(point: EntryPoint) -> str:
    return f"package {point.dist.name!r}" if point.dist else f"{point.value!r}"
