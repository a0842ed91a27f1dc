"""The registry of dataset formats: which format a path or an id is of, and how datasets are opened.

A format is one class, a `DatasetFormat`. Other packages add theirs by the entry point
`prefero.dataset_formats`; these are asked first whether they recognize a path, since Prefero's own accept
some broad ones, such as any folder with videos. FORMAT:PATH names the format where that is not to be guessed.

A file from somebody else may say how a dataset is opened (a `DatasetSpec`). No code runs by that, unless the
user named the same dataset in this process, or trusts the file.
"""

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import fields, replace
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from prefero._support.files import contents, missing_file, paths_beside
from prefero._support.names import did_you_mean, no_such
from prefero._support.plugins import PluginError, Registry
from prefero._support.systems import end_with_parent
from prefero.datasets.base import Dataset, DatasetFormat, file_stats
from prefero.datasets.format_options import DatasetSpec, FormatOptions

BUILT_IN = {
    "lerobot": "prefero.datasets.formats.lerobot.dataset:LeRobotDataset",
    "hub": "prefero.datasets.formats.lerobot.hub:HubDataset",
    "minari": "prefero.datasets.formats.minari.dataset:MinariDataset",
    "video-folder": "prefero.datasets.formats.video_folder:VideoFolder",
    "table": "prefero.datasets.formats.tables:TableDataset",
    "archive": "prefero.datasets.formats.archives:ArchiveDataset",
    "gymnasium": "prefero.datasets.formats.gymnasium:GymnasiumDataset",
}
FORMATS: Registry[type[DatasetFormat]] = Registry("dataset format", "prefero.dataset_formats", BUILT_IN)
KEPT_OPEN = 4  # datasets
DEEPEST = 4  # files that name each other
_SUFFIX = re.compile(r"\.[A-Za-z]\w{1,7}$")  # of a file; no id of an environment or dataset has one


class Untrusted(ValueError):
    """A file names code, and nobody has allowed that it runs."""


# --- formats ----------------------------------------------------------------------------------------------


def formats() -> Iterator[type[DatasetFormat]]:
    """Every format that can be loaded, those of other packages first; a warning for one that cannot."""
    others = [name for name in FORMATS.names() if name not in BUILT_IN]
    for name in (*others, *BUILT_IN):
        try:
            yield FORMATS.get(name)
        except PluginError as error:
            warnings.warn(str(error), stacklevel=2)


def describe_formats() -> str:
    """What can be opened, as a list in words."""
    descriptions = [one.description for one in formats()]
    return f"{', '.join(descriptions[:-1])} or {descriptions[-1]}"


def recognize(path: str | Path) -> tuple[type[DatasetFormat] | None, str]:
    """The format of a path or an id, and the path without the format's name in front of it."""
    name, _, rest = str(path).partition(":")
    if rest and name in FORMATS:
        return FORMATS.get(name), rest
    return next((one for one in formats() if one.recognizes(str(path))), None), str(path)


def format_at(path: str | Path) -> tuple[type[DatasetFormat], str]:
    """The same, or an error that says what can be opened."""
    found, place = recognize(path)
    if found is None:
        raise not_recognized(place)
    return found, place


def not_recognized(place: str, *, worlds: Sequence[str] = ()) -> Exception:
    """The error for what is no dataset: a missing file, a misspelt name, or a file of another kind.

    `worlds` are names that could have been meant as well.
    """
    if Path(place).exists():
        found = f": it holds {contents(Path(place))}" if Path(place).is_dir() else ""
        return ValueError(f"{place!r} is not recognized{found}.{_accepted(worlds)}")
    if _SUFFIX.search(place):
        return missing_file(place)
    names = [*worlds, *paths_beside(place), *(name for one in formats() for name in one.known_ids())]
    rest = did_you_mean(place, names) or f".{_accepted(worlds)}"
    return FileNotFoundError(f"no such file{', world' if worlds else ''} or dataset: {place!r}{rest}")


def _accepted(worlds: Sequence[str]) -> str:
    """The rest of that error: what can be opened, one a line, and how the format is named."""
    others = [f"a world ({', '.join(worlds)})", "a pool file (.npz)"] if worlds else []
    lines = [f"  {one}" for one in (*others, *(one.description for one in formats()))]
    first = f"\n{'It can be' if worlds else 'A dataset is'} one of"
    last = "To name its format, write FORMAT:PATH. The formats: " + ", ".join(FORMATS.names())
    return "\n".join([first, *lines, last])


def options_for(path: str | Path, given: Mapping[str, object]) -> FormatOptions:
    """A format's options from values by name, as the command line has them; None and False are not given."""
    kind, place = format_at(path)
    chosen = {name: value for name, value in given.items() if value is not None and value is not False}
    known = [one.name for one in fields(kind.options_type) if "help" in one.metadata]
    unknown = [name for name in chosen if name not in known]
    if unknown:
        guess = did_you_mean(unknown[0], known) or ":"
        raise ValueError(
            f"{place} is opened as {kind.format_name}, which has no option {unknown[0]!r}{guess} "
            f"its options are {', '.join(known) or 'none'}"
        )
    values: dict[str, Any] = chosen
    return kind.options_type(**values)


# --- opening ----------------------------------------------------------------------------------------------


def open_dataset(path: str | Path, options: FormatOptions | None = None) -> Dataset:
    """Open a dataset by its path or id.

    Args:
        path: The path or id. FORMAT:PATH names the format where it is not to be guessed, as in
            gymnasium:CartPole-v1.
        options: The options of its format.

    Returns:
        The dataset.

    Raises:
        ValueError: If no format recognizes it.
    """
    kind, place = format_at(path)
    if options is not None and type(options) is not kind.options_type:
        raise ValueError(
            f"{place} is opened as {kind.format_name}, which takes {kind.options_type.__name__}, "
            f"but these are {type(options).__name__}"
        )
    options = kind.options_type() if options is None else options
    dataset = kind.open(place, options)
    if dataset.spec is not None and (options.trust or kind.code_run(place, options)):
        allow(dataset.spec)
    for notice in dataset.notices:
        warnings.warn(notice, stacklevel=2)
    return dataset


_ALLOWED: set[str] = set()  # specs whose code the user named in this process
_DEPTH: ContextVar[int] = ContextVar("depth", default=0)


def allow(spec: DatasetSpec) -> None:
    """Let `open_spec` run the code of this spec: the user named it in this process."""
    _ALLOWED.add(_key(spec))


def is_allowed(spec: DatasetSpec) -> bool:
    """Did the user name the code of this spec in this process?"""
    return _key(spec) in _ALLOWED


def open_spec(spec: DatasetSpec, *, trust: bool = False) -> Dataset:
    """Open a dataset that was open before; `Untrusted` if that would run code that nobody has allowed."""
    trust = trust or is_allowed(spec)
    kind = FORMATS.get(spec.format)
    options = replace(spec_options(spec), trust=trust)
    code = "" if trust else kind.code_run(spec.path, options)
    if code:
        raise Untrusted(f"that would run {code}: add --trust if you trust the file that names it")
    if _DEPTH.get() == DEEPEST:
        raise ValueError(f"{spec.path} is named by a file that names itself, or by too many files in turn")
    depth = _DEPTH.set(_DEPTH.get() + 1)
    try:
        return kind.open(spec.path, options)
    finally:
        _DEPTH.reset(depth)


def spec_options(spec: DatasetSpec) -> FormatOptions:
    """The options of a spec, which may come from somebody else's file."""
    kind = FORMATS.get(spec.format).options_type
    known = [one.name for one in fields(kind)]
    unknown = [name for name in spec.options if name not in known]
    if unknown:
        raise ValueError(no_such(f"{spec.format} option", unknown[0], known))
    try:
        return kind(**spec.options)
    except TypeError as error:
        raise ValueError(f"{spec.format} cannot be opened with these options: {error}") from error


def spec_from_json(values: object) -> DatasetSpec:
    """A spec that a file holds, or an error that says what is wrong with it."""
    wanted = {"format": str, "path": str, "options": dict}
    if not isinstance(values, dict) or set(values) != set(wanted):
        raise ValueError(f"a dataset is described by its {', '.join(wanted)}, but here by {values!r}")
    wrong = [name for name, kind in wanted.items() if not isinstance(values[name], kind)]
    if wrong:
        raise ValueError(f"the {wrong[0]} of a dataset is not {values[wrong[0]]!r}")
    return DatasetSpec(**values)


def code_named_by(path: str | Path) -> str:
    """The code that opening a path or an id without options runs, in words; empty if none."""
    kind, place = recognize(path)
    return "" if kind is None else kind.code_run(place, kind.options_type())


def _key(spec: DatasetSpec) -> str:
    return json.dumps(spec.to_json(), sort_keys=True)


# --- datasets that stay open ------------------------------------------------------------------------------


class _Opened(NamedTuple):
    dataset: Dataset
    files: list[tuple[int, int] | None]  # sizes and times of its index files when it was opened


_OPEN: dict[str, _Opened] = {}
_LOCK = Lock()


def open_once(spec: DatasetSpec, *, trust: bool = False) -> Dataset:
    """The dataset, opened once for many calls; again only if a file that opening reads has changed."""
    trust = trust or is_allowed(spec)
    key = f"{trust} {_key(spec)}"
    with _LOCK:
        known = _OPEN.pop(key, None)
        if known is None or known.files != file_stats(known.dataset.index_files):
            dataset = open_spec(spec, trust=trust)
            known = _Opened(dataset, file_stats(dataset.index_files))
        _OPEN[key] = known  # the one used last is the last
        for oldest in list(_OPEN)[:-KEPT_OPEN]:
            del _OPEN[oldest]
    return known.dataset


def for_workers(dataset: Dataset, *, here: bool) -> Dataset | DatasetSpec:
    """What worker processes are sent: a spec, which opens the dataset there, since a dataset may be large."""
    return dataset if here or dataset.send_whole or dataset.spec is None else dataset.spec


def in_worker(sent: Dataset | DatasetSpec) -> Dataset:
    """The dataset that was sent, by the process whose user named it."""
    end_with_parent()
    return open_once(sent, trust=True) if isinstance(sent, DatasetSpec) else sent
