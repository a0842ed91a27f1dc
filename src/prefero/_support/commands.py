"""Commands that messages tell a person to type, as they work where the person is.

A virtual environment may not be active, and Prefero may be installed from a checkout instead of PyPI.
"""

import json
import re
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution, metadata
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from prefero._support.systems import program_file, shell_command

NAME = "prefero"
_WITH_EXTRAS = re.compile(r"\b([A-Za-z][\w.-]*)\[([\w.,-]+)\]")


def prefero_command(*words: str) -> str:
    """A command of Prefero's, such as `prefero teach golf`, or `.venv/bin/prefero teach golf`."""
    return shell_command([*_program(), *words])


def install_command(extras: Sequence[str]) -> str:
    """The command that installs these extras, from where Prefero itself came from."""
    wanted, origin = f"[{','.join(extras)}]", _origin()
    if origin is None:
        return shell_command([*_pip_install(), f"{NAME}{wanted}"])
    url, editable = origin
    folder = checkout()
    if editable and folder is not None:
        return shell_command([*_pip_install(), "--editable", f"{_from_here(folder)}{wanted}"])
    return shell_command([*_pip_install(), f"{NAME}{wanted} @ {url}"])


def pip_command(text: str) -> str:
    """A message of another package with its `pip install` as it is typed here, and extras that exist."""
    return _WITH_EXTRAS.sub(_with_declared_extras, text).replace("pip install", shell_command(_pip_install()))


def _with_declared_extras(found: re.Match[str]) -> str:
    """PACKAGE[EXTRA,...] as the installed package spells its extras: an older pip finds no other spelling."""
    package, extras = found.groups()
    try:
        declared = {_canonical(one): one for one in metadata(package).get_all("Provides-Extra") or ()}
    except PackageNotFoundError:
        return found[0]
    return f"{package}[{','.join(declared.get(_canonical(one), one) for one in extras.split(','))}]"


def _canonical(name: str) -> str:
    """A name as PEP 685 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def upgrade_command() -> str:
    """The command that brings a newer version of Prefero."""
    folder = checkout()
    if folder is not None:
        return shell_command(["git", "-C", _from_here(folder), "pull"])
    return shell_command([*_pip_install(), "--upgrade", NAME])


def page_command() -> str:
    """The command that builds the page and the widget in a checkout; a wheel always has them."""
    folder = checkout()
    elsewhere = [] if folder is None or folder == Path.cwd() else ["-C", _from_here(folder)]
    return shell_command(["make", *elsewhere, "page"])


def checkout() -> Path | None:
    """The checkout that this Prefero runs from, if it was installed as editable."""
    origin = _origin()
    if origin is None or not origin[1]:
        return None
    return Path(url2pathname(urlsplit(origin[0]).path))


def _origin() -> tuple[str, bool] | None:
    """The URL that Prefero was installed from, and whether as editable; None if it came from an index."""
    try:
        written = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    if written is None:
        return None
    content = json.loads(written)
    return content["url"], bool(content.get("dir_info", {}).get("editable"))


def _program() -> list[str]:
    """`prefero` if the shell would find this one, or else its path."""
    own = program_file(NAME)
    if _found_by_shell(NAME, own):
        return [NAME]
    return [_from_here(own)] if own.exists() else [_python(), "-m", NAME]


def _pip_install() -> list[str]:
    """pip of this environment; uv where the environment has none, as those that uv makes."""
    if _found_by_shell("pip", program_file("pip")):
        return ["pip", "install"]
    if find_spec("pip") is None and shutil.which("uv"):
        return ["uv", "pip", "install", "--python", _python()]
    return [_python(), "-m", "pip", "install"]


def _python() -> str:
    own = Path(sys.executable)
    return "python" if _found_by_shell("python", own) else _from_here(own)


def _found_by_shell(name: str, own: Path) -> bool:
    found = shutil.which(name)
    return found is not None and Path(found).absolute() == own.absolute()


def _from_here(path: Path) -> str:
    """A path as a person would type it: relative where it is below the working folder."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
