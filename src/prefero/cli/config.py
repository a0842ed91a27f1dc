"""`--config FILE`: options of commands from a TOML file, with a section for each command.

    [teach]
    what = "pick_and_place"
    features = ["final", "path-length"]
    until = 0.9

    [study.create]
    participants = 10

What is given on the command line wins. Files are never looked for, only read when they are named: an option
may name code that a command imports, and no folder that was downloaded may bring such options by itself.
"""

import tomllib
from pathlib import Path
from typing import Any

from prefero._support.names import did_you_mean, listed, no_such
from prefero.cli.console import say

RECORD = (
    "--config FILE",
    "Take options from the section of this command in a TOML file; see the documentation.",
)
OTHERS = ("loop",)  # sections that are not about commands; their readers check them
HERE_ONLY = ("trust", "config", "help", "version")  # options that no file gives
REFUSED = "{} is given on the command line only, not in a file that somebody else may have written"


def taken_from(arguments: list[str]) -> tuple[str | None, list[str]]:
    """The file that `--config` names on a command line, and the other arguments."""
    rest, path = list[str](), None
    given = iter(arguments)
    for one in given:
        if one == "--":
            return path, [*rest, one, *given]
        if one == "--config":
            path = next(given, "")
        elif one.startswith("--config="):
            path = one.removeprefix("--config=")
        else:
            rest.append(one)
    return path, rest


def use_config(context: Any, path: str) -> None:
    """Make what a file says the defaults of a command's options."""
    names = _command_names(context)
    section = _section(_read(Path(path)), path, names, context)
    known = {name: one for one in context.command.params for name in _names_of(one)}
    found = {key.replace("_", "-"): given for key, given in section.items()}
    where = f"[{'.'.join(names)}] of {path}"
    for key in found:
        _check_known(key, known, where)
    context.default_map = {known[key].name: _as_typed(key, known[key], found[key], where) for key in found}
    say(f"From {where}: {', '.join(found) or 'nothing'}. What the command line says wins.")


def _read(path: Path) -> dict[str, Any]:
    if not path.name:
        raise ValueError("--config needs the path of a TOML file")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # of TOML, or of its encoding
        raise ValueError(f"{path} is no TOML file: {error}") from error


def _command_names(context: Any) -> list[str]:
    """Of the command and the groups that it is in, such as study and create."""
    names: list[str] = []
    while context.parent is not None:
        names.insert(0, context.command.name or context.info_name)
        context = context.parent
    return names


def _section(document: dict[str, Any], path: str, names: list[str], context: Any) -> dict[str, Any]:
    """What the file says about a command; an error that names a section which there cannot be."""
    commands = context.find_root().command
    for name in names:
        known = [*commands.commands, *(OTHERS if commands is context.find_root().command else ())]
        for given in document:
            if given not in known:
                raise ValueError(f"{path}: {no_such('section', given, known)}")
        document, commands = document.get(name, {}), commands.commands[name]
        if not isinstance(document, dict):
            raise ValueError(
                f"{path}: {name} is a section with options, [{'.'.join(names)}], but is {document!r}"
            )
    return document


def _names_of(parameter: Any) -> list[str]:
    """How a file calls an option or an argument: as the command line does, without hyphens before it."""
    if parameter.param_type_name == "argument":
        return [parameter.name.replace("_", "-")]
    return [name.removeprefix("--") for name in parameter.opts if name.startswith("--")]


def _check_known(key: str, known: dict[str, Any], where: str) -> None:
    if key in HERE_ONLY:
        raise ValueError(f"{where}: {REFUSED.format(f'--{key}')}")
    if key not in known:
        names = [name for name in known if name not in HERE_ONLY]
        guess = did_you_mean(key, names) or "."
        raise ValueError(f"{where}: there is no option {key!r}{guess} The options are {listed(names)}")


def _as_typed(key: str, parameter: Any, value: Any, where: str) -> Any:
    """The value as it would be typed, so that it is checked as such: a list is repeated, or has commas."""
    values = value if isinstance(value, list) else [value]
    is_flag = bool(getattr(parameter, "is_flag", False))
    if any(isinstance(one, bool) != is_flag or isinstance(one, dict | list) for one in values):
        wanted = "true or false" if is_flag else "a text, a number, or a list of them"
        raise ValueError(f"{where}: {key} is {wanted}, but here {value!r}")
    if is_flag:
        return value
    texts = [str(one) for one in values]
    return texts if getattr(parameter, "multiple", False) or parameter.nargs == -1 else ",".join(texts)
