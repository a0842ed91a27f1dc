"""Names that people type: the error for one that is not known, with the nearest that is."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import islice

MOST_LISTED = 20


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like a misspelt one, whatever its case; None if none is like it."""
    by_lower = {one.lower(): one for one in known}
    found = get_close_matches(str(name).lower(), by_lower, n=1)
    return by_lower[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error message: "; did you mean 'speed'?", or nothing."""
    found = nearest(name, known)
    return "" if found is None else f"; did you mean {found!r}?"


def listed(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """Names in a message; of very many only the first."""
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*islice(names, most), *more]) or "none"


def no_such(kind: str, name: object, known: Sequence[str], plural: str | None = None) -> str:
    """The message that there is no `kind` of this name, with the nearest name and all names."""
    guess = did_you_mean(str(name), known)
    all_of_them = f"the {plural or f'{kind}s'} are {listed(known)}"
    rest = f"{guess} {all_of_them[0].upper()}{all_of_them[1:]}" if guess else f": {all_of_them}"
    return f"there is no {kind} {name!r}{rest}"
