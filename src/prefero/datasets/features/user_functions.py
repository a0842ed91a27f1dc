"""Functions of one's own, by their place: found, imported anew once they are edited, and told apart."""

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

IMPORTED: dict[str, str] = {}  # modules, and what was written in them then


def import_function(place: str) -> Callable[..., Any]:
    """The function that `module:function` names; the module may be a file, and is looked for here too."""
    module, _, name = place.rpartition(":")
    if not module or not name:
        raise ValueError(f"a function of your own is named module:function, but this is {place!r}")
    try:
        function = getattr(_imported(module), name)
    except (ImportError, OSError, AttributeError) as error:
        raise ValueError(f"{place!r} was not found: {error}") from error
    except (Exception, SystemExit) as error:  # a module of others fails in ways of its own
        raise ValueError(f"{place!r} cannot be had, since {module} fails: {error!r}") from error
    if not callable(function):
        raise ValueError(f"{place!r} is not a function, but {type(function).__name__}")
    return function  # type: ignore[no-any-return]


def function_name(function: Callable[..., Any], otherwise: str) -> str:
    """What a function is called, if it is called anything."""
    return str(getattr(function, "__name__", otherwise))


def _imported(module: str) -> ModuleType:
    here = str(Path.cwd())
    if module.endswith(".py"):
        spec = importlib.util.spec_from_file_location(Path(module).stem, module)
        assert spec is not None
        made = importlib.util.module_from_spec(spec)
        code = compile(Path(module).read_bytes(), module, "exec")  # and not what Python keeps of it,
        exec(code, vars(made))  # which for an edit of the same size within a second is the old one
        return made
    if here not in sys.path:
        sys.path.append(here)
    made = importlib.import_module(module)
    written = _written(getattr(made, "__file__", None))
    if IMPORTED.setdefault(module, written) != written:  # it was edited since
        importlib.reload(made)
        IMPORTED[module] = written
    return made


def _written(path: str | None) -> str:
    """The digest of a file of code, or nothing where there is none."""
    try:
        return hashlib.sha256(Path(path or "").read_bytes()).hexdigest()
    except OSError:
        return ""


def described(function: str | Callable[..., Any]) -> str:
    """A text that is another for another function, and once it was rewritten.

    What its name and its files do not decide, such as a lambda or what closes over something, is like nothing
    that was there before.
    """
    if isinstance(function, str):
        found, module = import_function(function), function.rpartition(":")[0]
        home = module if module.endswith(".py") else getattr(sys.modules[module], "__file__", None)
        return " ".join([function, _written(home), _written(_source(found))])
    written = _written(_source(function)) if _in_its_module(function) else ""
    return f"{function.__module__}:{function.__qualname__} {written}" if written else secrets.token_hex()


def _source(function: Callable[..., Any]) -> str | None:
    try:
        return inspect.getsourcefile(function)
    except TypeError:
        return None


def _in_its_module(function: Callable[..., Any]) -> bool:
    """Does its module have it under its own name, so that its file decides what it does?"""
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for name in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, name, None)
    return found is function
