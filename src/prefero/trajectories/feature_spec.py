"""How features are computed from episodes, as values that the files of pools and rewards hold.

words        what extracts the features: words of the library, or `module:function` for the user's own
fitted       the arrays of each fitted embedding, by its word and their names
bounds       (2, s + a)   the smallest and the largest value of each state and action, in all episodes
wrappers     the wrappers of the environment that change observations or actions, the outermost first
functions    the words of code that this process named, with the function where no word can import it; in
             no file
columns      the features that a dataset has as columns of its own, such as a score: no states compute them

A spec holds no code: a function of the user's own is stored by its name. `prefero.datasets` computes what a
spec describes.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from prefero._support.arrays import Array
from prefero._support.names import MOST_SHOWN, listed

Fitted = Mapping[str, Mapping[str, Array]]
TEXTS = ("words", "log_transform", "state_names", "action_names", "wrappers")  # fields of several texts
DTYPE = "<f8"  # of arrays in files: 8 bytes a number, the same on every machine


@dataclass(frozen=True, eq=False)
class FeatureSpec:
    """What computes the features of an episode again, elsewhere and without the dataset.

    Args:
        words: Words of the library, or `module:function`; `:function` for one that no module has.
        window: The length of windows, "2s" or "50 steps"; None for whole episodes.
        stride: The distance between the starts of windows.
        log_transform: The features whose logarithm is taken.
        fitted: The arrays of fitted embeddings, by word.
        state_names: Of the states that the features were computed of.
        action_names: Of the actions.
        step_seconds: How long a step lasted.
        bounds: Of the states and actions, (2, s + a); None where they are not known.
        wrappers: The names of the environment's wrappers that change observations or actions.
        functions: The words of code that this process named, and their functions where no module has them;
            they are in no file.
        columns: The features that are columns of a dataset, such as a score; an episode alone does not have
            them.
    """

    words: tuple[str, ...] = ()
    window: str | None = None
    stride: str | None = None
    log_transform: tuple[str, ...] = ()
    fitted: Fitted = field(default_factory=dict)
    state_names: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()
    step_seconds: float = 1.0
    bounds: Array | None = None
    wrappers: tuple[str, ...] = ()
    functions: Mapping[str, Callable[..., Any] | None] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"FeatureSpec({listed(self.words, MOST_SHOWN)})"

    def __getstate__(self) -> dict[str, Any]:
        """For pickle, which does not have every function."""
        return {**vars(self), "functions": {}}

    def to_json(self) -> dict[str, Any]:
        """Plain values for a file."""
        return {
            **{name: list(getattr(self, name)) for name in TEXTS},
            "window": self.window,
            "stride": self.stride,
            "fitted": {
                word: {name: array_to_json(array) for name, array in arrays.items()}
                for word, arrays in self.fitted.items()
            },
            "step_seconds": self.step_seconds,
            "bounds": None if self.bounds is None else array_to_json(self.bounds),
            **({"columns": list(self.columns)} if self.columns else {}),
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """What `to_json` wrote, or a ValueError that says what is wrong with it."""
        fitted = {
            str(word): {str(name): array_from_json(array) for name, array in arrays.items()}
            for word, arrays in values["fitted"].items()
        }
        texts: dict[str, Any] = {name: _texts(values, name) for name in TEXTS}
        seconds = values["step_seconds"]
        if not isinstance(seconds, int | float) or not 0 < seconds < np.inf:
            raise ValueError(f"a step lasts a positive time, but here {seconds!r}")
        return cls(
            **texts,
            window=_text_or_none(values, "window"),
            stride=_text_or_none(values, "stride"),
            fitted=fitted,
            step_seconds=float(seconds),
            bounds=None if values["bounds"] is None else array_from_json(values["bounds"]),
            columns=_texts(values, "columns") if "columns" in values else (),
        )


def of_both(first: FeatureSpec | None, second: FeatureSpec | None) -> FeatureSpec | None:
    """The first spec, with the bounds of the episodes of both."""
    if first is None or second is None:
        return first or second
    a, b = first.bounds, second.bounds
    if a is None or b is None or a.shape != b.shape:
        return replace(first, bounds=None)
    return replace(first, bounds=np.stack([np.minimum(a[0], b[0]), np.maximum(a[1], b[1])]))


def spec_to_json(spec: FeatureSpec | None) -> dict[str, Any] | None:
    """A spec, or none, for a file."""
    return None if spec is None else spec.to_json()


def spec_from_json(values: dict[str, Any] | None) -> FeatureSpec | None:
    """What `spec_to_json` wrote, or a ValueError that says what is wrong with it."""
    try:
        return None if values is None else FeatureSpec.from_json(values)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"what says how features are computed is damaged: {error!r}") from error


def array_to_json(array: Array) -> dict[str, Any]:
    """An array to the last bit: its shape, and its numbers in base 64."""
    numbers = np.ascontiguousarray(array, dtype=DTYPE)
    return {"shape": list(numbers.shape), "float64": base64.b64encode(numbers.tobytes()).decode("ascii")}


def array_from_json(values: dict[str, Any]) -> Array:
    """What `array_to_json` wrote; the numbers are finite."""
    content = base64.b64decode(values["float64"], validate=True)
    array = np.frombuffer(content, dtype=DTYPE).astype(float).reshape(values["shape"])
    if not np.isfinite(array).all():
        raise ValueError("the arrays of an embedding must be finite, but some are not")
    return array


def _texts(document: dict[str, Any], name: str) -> tuple[str, ...]:
    values = document[name]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{name} is a list of texts, but here {values!r}")
    return tuple(values)


def _text_or_none(document: dict[str, Any], name: str) -> str | None:
    value = document[name]
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} is a text, but here {value!r}")
    return value
