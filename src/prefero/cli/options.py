"""Options that several commands have: which features are extracted, and how a dataset is opened.

The flags of `FeatureOptions` are listed here. Those of the dataset formats come from the formats' own
options, so that a format of another package brings its flags along.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from prefero.datasets import FeatureOptions
from prefero.datasets.features.library import FEATURE_WORDS
from prefero.datasets.registry import formats

# --- features ---------------------------------------------------------------------------------------------

FeatureWords = Annotated[
    list[str] | None,
    typer.Option(
        "--feature",
        help=f"A feature to extract, repeated for several: {', '.join(FEATURE_WORDS)}, or module:function.",
    ),
]
Window = Annotated[
    str | None, typer.Option(help="Cut episodes into windows of this length: 2s, or 50 (steps).")
]
Stride = Annotated[str | None, typer.Option(help="The distance between the starts of windows.")]
FitEmbeddingsOn = Annotated[
    str | None,
    typer.Option(help="The dataset that pca(n) and random-network(n) are fitted on, if not this one."),
]
Drop = Annotated[list[str] | None, typer.Option(help="A feature to leave out, repeated for several.")]
LogTransform = Annotated[
    list[str] | None, typer.Option(help="A feature to take the logarithm of, repeated for several.")
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out bad episodes instead of stopping.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="How many processes work; all cores.")]


# --- formats ----------------------------------------------------------------------------------------------


def with_format_flags(command: Callable[..., None]) -> Callable[..., None]:
    """The command with a flag for every option of every dataset format.

    The command itself takes them as one parameter, `opening`: values by name, None or False if not given.
    """
    flags = {flag.name: flag for flag in _format_flags()}
    signature = inspect.signature(command)
    own = [parameter for name, parameter in signature.parameters.items() if name != "opening"]

    def with_flags(**values: Any) -> None:
        opening = {name: values.pop(name) for name in flags}
        command(**values, opening=opening)

    with_flags.__name__, with_flags.__doc__ = command.__name__, command.__doc__
    parameters = [*own, *flags.values()]
    with_flags.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_flags.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_flags


def _format_flags() -> Iterator[inspect.Parameter]:
    """A parameter for each option that a format has made a flag, once where several formats have it."""
    known = set[str]()
    for kind in sorted(formats(), key=lambda one: one.format_name):
        types = get_type_hints(kind.options_type)
        for one in fields(kind.options_type):
            if "help" in one.metadata and one.name not in known:
                known.add(one.name)
                yield _flag(one, types[one.name])


def _flag(one: "Field[Any]", annotation: Any) -> inspect.Parameter:
    """Not given, it is None, or False for a switch; so the format's own default holds."""
    name, keyword = f"--{one.name.replace('_', '-')}", inspect.Parameter.KEYWORD_ONLY
    if annotation is bool:
        switch = Annotated[bool, typer.Option(name, help=one.metadata["help"])]
        return inspect.Parameter(one.name, keyword, default=False, annotation=switch)
    kind = next(kind for kind in (int, float, Path, str) if kind in (annotation, *get_args(annotation)))
    option = typer.Option(name, help=one.metadata["help"], min=one.metadata["minimum"])
    return inspect.Parameter(one.name, keyword, default=None, annotation=Annotated[kind | None, option])


# --- the same options as they are typed -------------------------------------------------------------------


def typed(features: FeatureOptions, opening: Mapping[str, object]) -> Iterator[str]:
    """The words of a command line that give these options."""
    chosen = {name: getattr(features, name) for name in features.changed() if name != "cache"}
    chosen = {"feature" if name == "features" else name: value for name, value in chosen.items()}
    for name, value in (chosen | dict(opening)).items():
        flag = f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, tuple) else [value]:
            if one is not None and one is not False:
                yield from [flag] if one is True else [flag, str(one)]
