"""Which features are extracted, and how: one value from the command line to the extractor."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from prefero._support.engine import Backend, Engine
from prefero.datasets.features.extraction.windows import Length, Windows
from prefero.datasets.features.library.library import Feature
from prefero.trajectories.categories import Categories

if TYPE_CHECKING:
    from prefero.datasets.base import Dataset

_WORD = re.compile(r'(?:"[^"]*"|\((?:[^()]|\([^()]*\))*\)|[^,])+')  # to the next comma outside of "" and ()


def split_words(text: str) -> tuple[str, ...]:
    """The words between commas: `speed,max(x, y)` are two. A name with a comma in it is in double quotes."""
    words = (word.strip() for word in _WORD.findall(text))
    return tuple(word[1:-1] if word[:1] == word[-1:] == '"' else word for word in words if word)


def join_words(words: Sequence[str]) -> str:
    """The text that `split_words` splits into these words."""
    return ",".join(word if split_words(word) == (word,) else f'"{word}"' for word in words)


def ordered_categories(
    given: "str | Sequence[str | Categories] | Mapping[str, Sequence[str]]",
) -> tuple[Categories, ...]:
    """Ordered categories as users write them: texts such as `size:small<medium<large`, or a mapping."""
    if isinstance(given, Mapping):
        columns = given.items()
        return tuple(
            Categories(name, tuple(str(level) for level in levels), ordered=True) for name, levels in columns
        )
    words = split_words(given) if isinstance(given, str) else given or ()
    return tuple(word if isinstance(word, Categories) else Categories.parse(word) for word in words)


@dataclass(frozen=True)
class FeatureOptions:
    """Which features of a dataset's trajectories are extracted, and how.

    Args:
        features: Words of the library, functions of your own or "module:function", or columns of a table;
            none is the default. "A,B,C" is the same as ["A", "B", "C"].
        window: Cut episodes into windows of this length, "2s" or 50 (steps).
        stride: The distance between the starts of windows.
        fit_embeddings_on: A dataset, or the path of one, to fit embeddings such as pca(n) on; None is this
            one.
        drop: Features to leave out.
        log_transform: Features to take the logarithm of; they are called log(NAME).
        categories: Columns that hold categories without an order: each value has a feature, as surface=sand.
        ordered: Columns of categories with an order, which become their places 0, 1, 2, ...:
            "size:small<medium<large", or {"size": ["small", "medium", "large"]}.
        skip_bad: Leave out bad episodes instead of stopping at the first.
        cache: A Parquet file to keep the features in, or True for one in Prefero's cache.
        jobs: How many processes work; None is all cores.
        backend: Where they work: "local", or a "dask" or "ray" cluster, whose machines find the dataset at
            the same path.
        address: The address of the cluster's scheduler; None begins one on this machine.
        progress: Show a progress bar; None shows it on a terminal.
    """

    features: Sequence[Feature] = ()
    window: str | float | Length | None = None
    stride: str | float | Length | None = None
    fit_embeddings_on: "Dataset | str | Path | None" = None
    drop: Sequence[str] = ()
    log_transform: Sequence[str] = ()
    categories: Sequence[str] = ()
    ordered: "str | Sequence[str | Categories] | Mapping[str, Sequence[str]]" = ()
    skip_bad: bool = False
    cache: bool | str | Path = False
    jobs: int | None = None
    backend: Backend = "local"
    address: str | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        for name in ("features", "drop", "log_transform", "categories"):
            given = getattr(self, name)
            object.__setattr__(
                self, name, split_words(given) if isinstance(given, str) else tuple(given or ())
            )
        object.__setattr__(self, "ordered", ordered_categories(self.ordered))
        both = [one.column for one in self.ordered_levels if one.column in self.categories]
        if both:
            raise ValueError(f"the categories of {both[0]!r} have an order or they have none, but not both")
        if isinstance(self.cache, str | Path) and Path(self.cache).suffix.lower() != ".parquet":
            raise ValueError(f"features are kept in a .parquet file, but the path is {self.cache}")
        _ = self.windows, self.engine(1)  # which are errors if they make no sense

    @classmethod
    def of(cls, features: "FeatureOptions | Sequence[Feature] | None") -> "FeatureOptions":
        """Options as they are; or the default ones with these features."""
        return features if isinstance(features, FeatureOptions) else cls(features or ())

    @property
    def ordered_levels(self) -> tuple[Categories, ...]:
        """The columns of ordered categories with their levels."""
        return ordered_categories(self.ordered)

    @cached_property
    def windows(self) -> Windows | None:
        """How episodes are cut into windows; None: not at all."""
        return Windows.maybe(self.window, self.stride)

    def engine(self, processes: int) -> Engine:
        """Where the work is done, by so many processes of this machine."""
        return Engine(self.backend, self.address, processes)

    def changed(self) -> list[str]:
        """The names of the options that are not the default ones."""
        return [one.name for one in fields(self) if getattr(self, one.name) != one.default]


Features = FeatureOptions | Sequence[Feature] | None  # as functions take them: options, or features alone
