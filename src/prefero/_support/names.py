"""Names that people type: the error for one that is not known, with the nearest that is."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

MOST_LISTED = 20
MOST_SHOWN = 6  # in the repr of an object


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known name that is most like a misspelt one, whatever its case; None if none is like it."""
    by_lower = {one.lower(): one for one in known}
    found = get_close_matches(str(name).lower(), by_lower, n=1, cutoff=likeness)
    return by_lower[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """The end of an error message: "; did you mean 'speed'?", or nothing."""
    found = nearest(name, known, likeness)
    return "" if found is None else f"; did you mean {found!r}?"


def listed(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """Names in a message; of very many only the first."""
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*islice(names, most), *more]) or "none"


def repeated(names: Sequence[str]) -> list[str]:
    """The names that are there more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def no_attribute(owner: str, name: str, known: Iterable[str], meant: Mapping[str, str]) -> AttributeError:
    """The error for an attribute that is not there: what is meant, the nearest name, or all names."""
    public = [one for one in known if not one.startswith("_")]
    near = did_you_mean(name, public, 0.65) or f": it has {', '.join(public)}"
    hint = f": use {meant[name]}" if name in meant else near
    return AttributeError(f"{owner} has no attribute {name!r}{hint}")


class _HintsOfClass(type):
    _meant_by: ClassVar[Mapping[str, str]] = {}

    if not TYPE_CHECKING:  # to a type checker, any attribute would be there

        def __getattr__(cls, name: str) -> Any:
            """Called only for what the class does not have."""
            raise no_attribute(cls.__name__, name, dir(cls), cls._meant_by)


class HintsAtNames(metaclass=_HintsOfClass):
    """For an attribute that the class or the object lacks, the error says what is meant.

    _meant_by   names of other libraries that are unlike the right one, with what to write instead
    """

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Called only for what the object does not have."""
            raise no_attribute(type(self).__name__, name, dir(self), type(self)._meant_by)


def shortened(name: str, most: int = 24) -> str:
    """A long name by its beginning and its end."""
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-half:]}"


def shortened_apart(names: Sequence[str], most: int = 24) -> list[str]:
    """Long names by their beginnings and ends; as they are if some could not be told apart otherwise."""
    short = [shortened(name, most) for name in names]
    return short if len(set(short)) == len(set(names)) else list(names)


def no_such(kind: str, name: object, known: Sequence[str], plural: str | None = None) -> str:
    """The message that there is no `kind` of this name, with the nearest name and all names."""
    guess = did_you_mean(str(name), known)
    all_of_them = f"the {plural or f'{kind}s'} are {listed(known)}"
    rest = f"{guess} {all_of_them[0].upper()}{all_of_them[1:]}" if guess else f": {all_of_them}"
    return f"there is no {kind} {name!r}{rest}"
