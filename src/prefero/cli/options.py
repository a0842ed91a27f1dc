"""Options that several commands have: which features are extracted, and how a dataset is opened.

Flags that belong together are the fields of a dataclass, or the parameters of a function such as
`feature_options`; `with_flags` adds them to a command. Those of the dataset formats come from the formats'
own options, so that a format of another package has its flags too.
"""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from prefero._support.engine import Backend
from prefero.datasets import FeatureOptions, LabelColumn
from prefero.datasets.features.extraction.options import join_words, split_words
from prefero.datasets.features.library.library import FEATURE_WORDS
from prefero.datasets.registry import formats
from prefero.judges.asking import PAIRS, Budget
from prefero.judges.named import Consultation
from prefero.learner.known_options import KnownOptions
from prefero.questions.labels import MOST_LEVELS
from prefero.questions.prior_knowledge import Direction

# headings in the help
SESSION, SERVER = "The session", "The page and its server"
FEATURES, FORMATS = "Features of a dataset", "Opening a dataset, by its format"
LABELS = "Labels that exist already"
JUDGES = "Judges beside you"
KNOWN = "What you already know"

Command = Callable[..., None]
RewardArgument = Annotated[
    str,
    typer.Argument(
        help="A reward file (.json), as Reward.save writes it, a folder with a reward.json, or "
        "hf://OWNER/NAME of one on the Hub."
    ),
]


def option(panel: str, help: str, *names: str, **more: Any) -> Any:
    """An option under a heading of the help."""
    return typer.Option(*names, rich_help_panel=panel, help=help, **more)


AllowHost = Annotated[
    list[str] | None,
    option(SERVER, "A host name by which the page is opened, beside the machine's own; may be repeated."),
]


def with_flags(
    name: str, make: Callable[..., Any], *, without: Collection[str] = ()
) -> Callable[[Command], Command]:
    """A decorator that adds flags to a command: the parameters of `make`, a dataclass or a function.

    The command takes what is made of them as one parameter of this name.
    """
    known = inspect.signature(make).parameters
    return _with_flags(name, {flag: one for flag, one in known.items() if flag not in without}, make)


def _with_flags(
    name: str, flags: Mapping[str, inspect.Parameter], make: Callable[..., Any]
) -> Callable[[Command], Command]:
    added = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in flags.values()]

    def decorate(command: Command) -> Command:
        own = [p for p in inspect.signature(command).parameters.values() if p.name != name]

        def with_them(**values: Any) -> None:
            made = make(**{flag: values.pop(flag) for flag in flags})
            command(**values, **{name: made})

        with_them.__name__, with_them.__doc__ = command.__name__, command.__doc__
        with_them.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
        with_them.__annotations__ = {p.name: p.annotation for p in (*own, *added)}
        return with_them

    return decorate


def with_dataset_flags(*, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """A decorator that adds the flags of `feature_options`, and one for every option of every format.

    The command itself takes them as two parameters: `features`, FeatureOptions, and `opening`, the options of
    formats by name, None or False where they were not given.
    """
    with_features = with_flags("features", feature_options, without=without)
    return lambda command: with_format_flags(with_features(command))


def with_format_flags(command: Command) -> Command:
    """A decorator that adds a flag for every option of every format; the command takes them as `opening`."""
    return _with_flags("opening", {flag.name: flag for flag in _format_flags()}, dict)(command)


# --- features ---------------------------------------------------------------------------------------------


def _words_option(help: str, metavar: str = "A,B,C") -> Any:
    return option(FEATURES, help, metavar=metavar)


Words = list[str] | None
LIBRARY = ", ".join(FEATURE_WORDS)


def feature_options(
    *,
    features: Annotated[
        Words,
        _words_option(
            f"The features: columns of a table; or, to extract them from episodes, {LIBRARY}, or "
            "module:function of your own."
        ),
    ] = None,
    window: Annotated[
        str | None, option(FEATURES, "Cut episodes into windows of this length: 2s, or 50 (steps).")
    ] = None,
    stride: Annotated[str | None, option(FEATURES, "The distance between the starts of windows.")] = None,
    fit_embeddings_on: Annotated[
        str | None,
        option(FEATURES, "The dataset that embeddings and statistics are fitted on, if not this one."),
    ] = None,
    drop: Annotated[Words, _words_option("Features to leave out.")] = None,
    log_transform: Annotated[Words, _words_option("Features to take the logarithm of.")] = None,
    categories: Annotated[
        Words,
        _words_option(
            "Columns that hold categories: each of their values becomes a feature, such as surface=sand. "
            "Columns of few different texts are found by themselves."
        ),
    ] = None,
    ordered: Annotated[
        Words,
        _words_option(
            "A column of categories that have an order, in quotes: 'size:small<medium<large'.",
            metavar="COLUMN:A<B<C",
        ),
    ] = None,
    skip_bad: Annotated[
        bool, option(FEATURES, "Leave out bad episodes instead of stopping.", "--skip-bad")
    ] = False,
    jobs: Annotated[
        int | None, option(FEATURES, "The number of processes; by default all cores.", min=1)
    ] = None,
    backend: Annotated[Backend, option(FEATURES, "Extract features here, or on a cluster.")] = "local",
    address: Annotated[
        str | None, option(FEATURES, "The address of the dask scheduler or the ray cluster.")
    ] = None,
) -> FeatureOptions:
    """The options as the command line has them."""
    return FeatureOptions(
        _words(features),
        window=window,
        stride=stride,
        fit_embeddings_on=fit_embeddings_on,
        drop=_words(drop),
        log_transform=_words(log_transform),
        categories=_words(categories),
        ordered=_words(ordered),
        skip_bad=skip_bad,
        jobs=jobs,
        backend=backend,
        address=address,
    )


def _words(given: list[str] | None) -> tuple[str, ...]:
    return tuple(word for text in given or () for word in split_words(text))


# --- labels -----------------------------------------------------------------------------------------------


def label_column(
    *,
    labels: Annotated[
        str | None,
        option(
            LABELS,
            "What is known already about the trajectories: a column, such as next.success or "
            "sum(next.reward); or a file of ids and labels (.csv, .parquet), FILE:COLUMN if it has several.",
            metavar="COLUMN|FILE",
        ),
    ] = None,
    label_levels: Annotated[
        int | None,
        option(LABELS, "How many levels labels that are numbers are cut into.", min=2, max=MOST_LEVELS),
    ] = None,
    label_order: Annotated[
        Words,
        option(LABELS, "Labels that are texts, from the lowest to the highest.", metavar="BAD,OKAY,GOOD"),
    ] = None,
) -> LabelColumn | None:
    """The labels that the command line names, if any."""
    if labels is not None:
        return LabelColumn(labels, label_levels, _words(label_order))
    for flag, given in (("--label-levels", label_levels), ("--label-order", label_order)):
        if given:
            raise ValueError(f"{flag} is for labels: say which with --labels COLUMN")
    return None


def typed_labels(column: LabelColumn | None) -> dict[str, object]:
    """The values of these flags, by name."""
    if column is None:
        return {}
    order = tuple(column.order) or None
    return {"labels": column.name, "label_levels": column.levels, "label_order": order}


# --- what is known ----------------------------------------------------------------------------------------


def known_options(
    *,
    demonstrations: Annotated[
        str | None,
        option(
            KNOWN,
            "Trajectories that somebody showed: a dataset, a table of features, a pool file, an archive of "
            "actions in a world; or a file of ids of the trajectories themselves.",
            metavar="DATASET|FILE",
        ),
    ] = None,
    corrections: Annotated[
        str | None,
        option(
            KNOWN,
            "A dataset that says where a person took over from a policy, such as those of lerobot-rollout; "
            "or a table of ids with the columns better and worse.",
            metavar="DATASET|FILE",
        ),
    ] = None,
    prefer: Annotated[
        list[str] | None,
        option(
            KNOWN,
            "That lower or higher values of a feature are better, such as lower:jerk, or lower:jerk:0.8 if "
            "you are 80 % sure; may be repeated.",
            metavar="lower|higher:FEATURE",
        ),
    ] = None,
    score: Annotated[
        str | None,
        option(
            KNOWN,
            "What says already how good trajectories are: a column of numbers, such as sum(next.reward); a "
            "table of ids and scores (.csv, .parquet), FILE:COLUMN if it has several; or a reward file "
            "(.json).",
            metavar="COLUMN|FILE",
        ),
    ] = None,
) -> KnownOptions:
    """What the command line says is known before the first question."""
    return KnownOptions(demonstrations, corrections, tuple(map(Direction.parse, prefer or ())), score)


def typed_known(known: KnownOptions) -> Iterator[str]:
    """The words of a command line that say the same."""
    places = {"demonstrations": known.demonstrations, "corrections": known.corrections, "score": known.score}
    for name, place in places.items():
        yield from [] if place is None else [f"--{name}", place]
    for one in known.directions:
        yield from ["--prefer", f"{one.better}:{one.feature}:{one.confidence:g}"]


# --- judges -----------------------------------------------------------------------------------------------


def judge_options(
    *,
    judge: Annotated[
        list[str] | None,
        option(
            JUDGES,
            "Who says which of two trajectories is better, beside you: a model behind an OpenAI-compatible "
            "API, http://HOST/v1#MODEL, with its key in PREFERO_JUDGE_KEY; robometer=http://HOST; "
            "module:function; or a file that prefero judge wrote. May be repeated.",
            metavar="JUDGE",
        ),
    ] = None,
    task_description: Annotated[
        str | None,
        option(
            JUDGES,
            "What makes a trajectory better, in a sentence or two, as the judge is told; by default that of "
            "the world.",
            metavar="TEXT",
        ),
    ] = None,
    pairs: Annotated[int, option(JUDGES, "How many pairs each judge is asked about.", min=1)] = PAIRS,
    budget_calls: Annotated[
        int | None, option(JUDGES, "The most requests to each judge, repeated ones too.", min=1)
    ] = None,
    budget_tokens: Annotated[
        int | None, option(JUDGES, "The most tokens of each judge, sent and received.", min=1)
    ] = None,
) -> Consultation:
    """The judges that the command line names, if any."""
    budget = Budget(budget_calls, budget_tokens)
    return Consultation(tuple(judge or ()), task_description or "", pairs, budget)


# --- formats ----------------------------------------------------------------------------------------------


def _format_flags() -> Iterator[inspect.Parameter]:
    """A parameter for each option that a format has made a flag, once where several formats have it."""
    found: dict[str, tuple[Field[Any], Any, list[str]]] = {}
    for kind in sorted(formats(), key=lambda one: one.format_name):
        types = get_type_hints(kind.options_type)
        for one in fields(kind.options_type):
            if "help" in one.metadata:
                known = found.setdefault(one.name, (one, types[one.name], []))
                known[2].append(kind.format_name)
    return (_flag(one, annotation, names) for one, annotation, names in found.values())


def _flag(one: "Field[Any]", annotation: Any, format_names: list[str]) -> inspect.Parameter:
    """Not given, it is None, or False for a switch; so the format's own default holds."""
    name, keyword = f"--{one.name.replace('_', '-')}", inspect.Parameter.KEYWORD_ONLY
    every = len(format_names) == len(list(formats()))
    text = one.metadata["help"] if every else f"{one.metadata['help']} ({', '.join(format_names)})"
    if annotation is bool:
        switch = Annotated[bool, typer.Option(name, help=text, rich_help_panel=FORMATS)]
        return inspect.Parameter(one.name, keyword, default=False, annotation=switch)
    kind = next(kind for kind in (int, float, Path, str) if kind in (annotation, *get_args(annotation)))
    option = typer.Option(name, help=text, min=one.metadata["minimum"], rich_help_panel=FORMATS)
    return inspect.Parameter(one.name, keyword, default=None, annotation=Annotated[kind | None, option])


# --- the same options as they are typed -------------------------------------------------------------------


def typed(features: FeatureOptions, opening: Mapping[str, object]) -> Iterator[str]:
    """The words of a command line that give these options."""
    chosen = {name: getattr(features, name) for name in features.changed()}
    for name, value in (chosen | dict(opening)).items():
        flag = f"--{name.replace('_', '-')}"
        if value is not None and value is not False:
            text = join_words([str(one) for one in value]) if isinstance(value, tuple) else str(value)
            yield from [flag] if value is True else [flag, text]
