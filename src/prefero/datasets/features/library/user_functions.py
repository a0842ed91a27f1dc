"""The user's own functions: imported by module:function, again after an edit, and identified by digests."""

import hashlib
import importlib
import importlib.util
import inspect
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

IMPORTED: dict[str, str] = {}  # modules, and the digest of their file when they were imported


def import_function(place: str) -> Callable[..., Any]:
    """The function that `module:function` names; the module may be a file, or in the working folder."""
    module, _, name = place.rpartition(":")
    if not module or not name:
        raise ValueError(f"a function of your own is given as module:function, but this is {place!r}")
    try:
        function = getattr(_imported(module), name)
    except (ImportError, OSError, AttributeError) as error:
        raise ValueError(f"{place!r} was not found: {error}") from error
    except (Exception, SystemExit) as error:  # the user's module may fail in any way
        raise ValueError(f"{place!r} cannot be imported, since {module} fails: {error!r}") from error
    if not callable(function):
        raise ValueError(f"{place!r} is not a function, but {type(function).__name__}")
    return function  # type: ignore[no-any-return]


def function_name(function: Callable[..., Any], default: str) -> str:
    """The name of a function, or the default for one that has none."""
    return str(getattr(function, "__name__", default))


def module_name(function: Callable[..., Any]) -> str:
    """The module that has a function under its own name; empty where none has that can be imported again."""
    module = str(getattr(function, "__module__", "") or "")
    top = getattr(function, "__qualname__", None) == getattr(function, "__name__", "")
    return module if top and module != "__main__" and _in_its_module(function) else ""


def find_modules_here() -> None:
    """Let modules in the working folder be imported, as those of a script are that is run there."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)


def _imported(module: str) -> ModuleType:
    if module.endswith(".py"):
        spec = importlib.util.spec_from_file_location(Path(module).stem, module)
        assert spec is not None
        made = importlib.util.module_from_spec(spec)
        code = compile(Path(module).read_bytes(), module, "exec")  # not from Python's cache, which does not
        exec(code, vars(made))  # notice an edit of the same size within a second
        return made
    find_modules_here()
    made = importlib.import_module(module)
    digest = _file_digest(getattr(made, "__file__", None))
    if IMPORTED.setdefault(module, digest) != digest:  # it was edited since
        importlib.reload(made)
        IMPORTED[module] = digest
    return made


def _file_digest(path: str | None) -> str:
    """The digest of a file of code, or an empty text where there is none."""
    try:
        return hashlib.sha256(Path(path or "").read_bytes()).hexdigest()
    except OSError:
        return ""


def function_digest(function: str | Callable[..., Any]) -> str:
    """A text that differs between functions, and after a function was edited.

    For a function that its name and its file do not determine, such as a lambda or a closure, the text is
    another one each time.
    """
    if isinstance(function, str):
        return " ".join([function, *(_file_digest(path) for path in source_files(function))])
    written = _file_digest(_source(function)) if _in_its_module(function) else ""
    return f"{function.__module__}:{function.__qualname__} {written}" if written else secrets.token_hex()


def source_files(place: str) -> tuple[str, str]:
    """The file of the module that `module:function` names, and the one that defines the function."""
    found, module = import_function(place), place.rpartition(":")[0]
    home = module if module.endswith(".py") else getattr(sys.modules[module], "__file__", None)
    return str(home or ""), _source(found) or ""


def _source(function: Callable[..., Any]) -> str | None:
    try:
        return inspect.getsourcefile(function)
    except TypeError:
        return None


def _in_its_module(function: Callable[..., Any]) -> bool:
    """Is it in its module under its own name, so that its file determines what it does?"""
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for name in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, name, None)
    return found is function
