"""How a dataset is opened.

FormatOptions    how a dataset is opened; a format extends it by options of its own
DatasetSpec      format, path and options: what opens the same dataset again
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

T = TypeVar("T")


def option(default: T, help: str, *, minimum: int | None = None) -> T:
    """A field of a format's options that the command line offers as a flag.

    Args:
        default: Its default.
        help: What the help says.
        minimum: The smallest number that is allowed.

    Returns:
        The field of a dataclass.
    """
    made: T = field(default=default, metadata={"help": help, "minimum": minimum})
    return made


@dataclass(frozen=True, kw_only=True)
class FormatOptions:
    """How a dataset is opened. A format with more options extends this class; `option` makes a field a flag.

    Args:
        videos: "use" has them shown, "check" also counts an episode whose video is damaged as a bad one, and
            "ignore" opens the dataset as if it had none.
        trust: Whether code may run that the dataset names: environments and policies.
    """

    videos: Literal["use", "check", "ignore"] = "use"
    trust: bool = option(False, "Run the code that the opened file names: environments and policies.")

    def for_comparing(self) -> Self:
        """For a person who compares: a question whose video cannot be shown has no answer."""
        return replace(self, videos="check") if self.videos == "use" else self


@dataclass(frozen=True)
class DatasetSpec:
    """What opens a dataset again; it can be written as JSON.

    Args:
        format: The name of its format.
        path: Its path or id.
        options: The options, as JSON has them.
    """

    format: str
    path: str
    options: Mapping[str, Any]

    @classmethod
    def of(cls, format_name: str, path: str | Path, options: FormatOptions) -> "DatasetSpec":
        """With the options as JSON has them: texts for paths, lists for tuples. Trust is never stored.

        Args:
            format_name: The name of its format.
            path: Its path or id.
            options: The options.

        Returns:
            What opens it again.
        """
        values = {name: value for name, value in asdict(options).items() if name != "trust"}
        return cls(format_name, str(path), json.loads(json.dumps(values, default=str)))

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)
