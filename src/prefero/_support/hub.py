"""Repositories of the Hugging Face Hub: their files, each downloaded when it is needed, and new ones.

    address    hf://OWNER/NAME, hf://datasets/OWNER/NAME, and either with @REVISION at its end
    commit     what a revision, such as a branch, is at the moment
    snapshot   the files of a repository at one commit, in the cache of Hugging Face's tools

The names of the files of a commit are kept in Prefero's cache, so that without network, what was downloaded
before is used again. `HF_ENDPOINT`, `HF_HUB_CACHE` and `HF_TOKEN` mean what they mean to the package
huggingface_hub, which does the work.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from prefero._support.files import cache_folder, inside, write_atomically
from prefero._support.optional import MissingExtra, need

Kind = Literal["dataset", "model"]
T = TypeVar("T")

PREFIX = "hf://"
MAIN = "main"
REFS = "refs.json"
_ADDRESS = re.compile(r"(?:(datasets|models)/)?(\w[\w.-]*/\w[\w.-]*)(?:@([\w./-]+))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_FORBIDDEN = (401, 403)  # codes of HTTP: nobody is logged in, or this may not be written
_NO_NETWORK = {  # classes of errors, by their names, of httpx, requests and huggingface_hub
    "ConnectError",
    "ConnectTimeout",
    "ConnectionError",
    "LocalEntryNotFoundError",
    "NetworkError",
    "OfflineModeIsEnabled",
    "ReadTimeout",
    "TimeoutException",
}


class HubError(ValueError):
    """Something is not on the Hub, or the Hub cannot be reached; the message is one line."""


@dataclass(frozen=True)
class HubAddress:
    """A repository, and which revision of it."""

    kind: Kind
    repository: str
    revision: str = MAIN

    @classmethod
    def of(cls, text: str, kind: Kind) -> "HubAddress":
        """From hf://OWNER/NAME or OWNER/NAME, perhaps with @REVISION; `kind` is what is wanted."""
        parsed = _ADDRESS.fullmatch(text.removeprefix(PREFIX).rstrip("/"))
        if parsed is None or parsed[1] not in (None, f"{kind}s"):
            raise HubError(f"a {kind} on the Hub is {PREFIX}OWNER/NAME, but this is {text!r}")
        return cls(kind, parsed[2], parsed[3] or MAIN)

    @classmethod
    def fits(cls, text: str) -> bool:
        """Can this be an address?"""
        return _ADDRESS.fullmatch(text.removeprefix(PREFIX)) is not None

    def __str__(self) -> str:
        return f"{PREFIX}{self.repository}{'' if self.revision == MAIN else f'@{self.revision}'}"

    @property
    def folder_name(self) -> str:
        """The name of its folder in caches."""
        return f"{self.kind}s--{self.repository.replace('/', '--')}"

    @property
    def notes(self) -> Path:
        """The folder in Prefero's cache for what is known of it."""
        return cache_folder() / "hub" / self.folder_name

    def listing(self, commit: str) -> Path:
        """The file with the names of the files of a commit."""
        return self.notes / f"{commit}.json"


@dataclass(frozen=True)
class HubSnapshot:
    """The files of a repository at one commit, by their names; `folder` has those that were fetched."""

    address: HubAddress  # with the commit as its revision
    files: frozenset[str]

    @classmethod
    def open(cls, address: HubAddress) -> "HubSnapshot":
        """Ask the Hub for the commit and the names of the files; without network, use what was known."""
        known = _read_json(address.listing(address.revision)) if _is_commit(address) else None
        if known is None:
            try:
                commit, files = _listing(address)
            except HubError:
                commit = str((_read_json(address.notes / REFS) or {}).get(address.revision))
                known = _read_json(address.listing(commit))
                if known is None:
                    raise
                files = known["files"]
            else:
                _remember(address, commit, files)
            return cls(replace(address, revision=commit), frozenset(files))
        return cls(address, frozenset(known["files"]))

    @property
    def folder(self) -> Path:
        """The folder of this snapshot in the cache of Hugging Face's tools."""
        return _cache() / self.address.folder_name / "snapshots" / self.address.revision

    def fetch(self, name: str) -> Path:
        """A file of the repository, downloaded unless it is there."""
        path = inside(self.folder, name, "a file")
        if path.is_file():
            return path
        if name not in self.files:
            raise HubError(f"{self.address.repository} has no file {name} on the Hub")
        download = need("huggingface_hub", extra="hub").hf_hub_download
        with _without_bars():
            _asked(
                self.address,
                lambda: download(
                    self.address.repository,
                    name,
                    repo_type=self.address.kind,
                    revision=self.address.revision,
                    cache_dir=_cache(),
                    endpoint=_endpoint(),
                ),
            )
        return path


def push(repository: str, files: Mapping[str, bytes], message: str, *, private: bool | None = None) -> str:
    """Commit files to a repository of models, which is made if it is not there; its address."""
    address = HubAddress.of(repository, "model")
    hub = need("huggingface_hub", extra="hub")
    api = hub.HfApi(endpoint=_endpoint())
    added = [hub.CommitOperationAdd(name, content) for name, content in files.items()]
    _sent(address, lambda: api.create_repo(address.repository, private=private, exist_ok=True))
    with _without_bars():
        _sent(address, lambda: api.create_commit(address.repository, added, commit_message=message))
    return str(address)


# --- asking the Hub ---------------------------------------------------------------------------------------


def _endpoint() -> str | None:
    """huggingface_hub reads it when it is imported; here it may be set later too."""
    return os.environ.get("HF_ENDPOINT")


def _cache() -> Path:
    """The folder of the cache of Hugging Face's tools; it, too, may be set later."""
    constants = need("huggingface_hub.constants", extra="hub")
    return Path(os.environ.get("HF_HUB_CACHE") or constants.HF_HUB_CACHE)


def _is_commit(address: HubAddress) -> bool:
    return _COMMIT.fullmatch(address.revision) is not None


def _listing(address: HubAddress) -> tuple[str, list[str]]:
    api = need("huggingface_hub", extra="hub").HfApi(endpoint=_endpoint())
    ask = api.dataset_info if address.kind == "dataset" else api.model_info
    found = _asked(address, lambda: ask(address.repository, revision=address.revision))
    commit = str(found.sha)
    if _COMMIT.fullmatch(commit) is None:  # it becomes the name of a folder
        raise HubError(
            f"the Hub names {commit!r} as the commit of {address}, but a commit has 40 hexadecimal digits"
        )
    return commit, [str(one.rfilename) for one in found.siblings or []]


def _remember(address: HubAddress, commit: str, files: list[str]) -> None:
    address.notes.mkdir(parents=True, exist_ok=True)
    write_atomically(address.listing(commit), json.dumps({"files": files}))
    refs = {**(_read_json(address.notes / REFS) or {}), address.revision: commit}
    write_atomically(address.notes / REFS, json.dumps(refs))


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def _asked(address: HubAddress, ask: Callable[[], T]) -> T:
    """What the Hub answers, or an error in one line."""
    try:
        return ask()
    except MissingExtra:
        raise
    except Exception as error:  # its client raises errors of several packages
        raise HubError(_reason(address, error)) from error


def _sent(address: HubAddress, send: Callable[[], T]) -> T:
    """What the Hub answers to what is written there, or an error in one line."""
    try:
        return send()
    except Exception as error:
        raise HubError(_reason_not_sent(address, error)) from error


def _reason_not_sent(address: HubAddress, error: Exception) -> str:
    if any(
        getattr(getattr(one, "response", None), "status_code", None) in _FORBIDDEN for one in _chain(error)
    ):
        return (
            f"the Hugging Face Hub does not let you write to {address}: log in with  hf auth login  and a "
            "token that may write, and give a repository of your own or of your organization"
        )
    if _kinds(error) & _NO_NETWORK:
        return (
            f"the Hugging Face Hub cannot be reached, so nothing was uploaded to {address}: check the network"
        )
    return _reason(address, error)


def _kinds(error: Exception) -> set[str]:
    """The names of the classes of an error, and of what it was raised from."""
    return {kind.__name__ for one in _chain(error) for kind in type(one).__mro__}


def _reason(address: HubAddress, error: Exception) -> str:
    kinds = _kinds(error)
    if "RepositoryNotFoundError" in kinds or "GatedRepoError" in kinds:
        return (
            f"there is no {address.kind} {address.repository!r} on the Hugging Face Hub that you may see: "
            "check the name; for a private or gated one, log in with  hf auth login"
        )
    if "RevisionNotFoundError" in kinds:
        return f"{address.repository} has no revision {address.revision!r} on the Hugging Face Hub"
    if kinds & _NO_NETWORK:
        return (
            f"the Hugging Face Hub cannot be reached, so {address} was not opened: check the network, or "
            "give a folder or file on this machine"
        )
    said = str(error).strip().splitlines() or [type(error).__name__]
    return f"the Hugging Face Hub refused {address}: {said[0]}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it was raised from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@contextmanager
def _without_bars() -> Iterator[None]:
    """Prefero shows its own progress, and many files are small."""
    bars = need("huggingface_hub.utils", extra="hub")
    hidden = bars.are_progress_bars_disabled()
    bars.disable_progress_bars()
    try:
        yield
    finally:
        if not hidden:
            bars.enable_progress_bars()
