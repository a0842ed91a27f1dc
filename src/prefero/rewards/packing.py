"""Values and arrays as one short text: the part of a reward's file that nobody reads by eye.

A document of plain values, in which arrays are `Numbers`, becomes JSON, compressed by zlib, in base 64.
Equal arrays are written once, in the table `arrays`, to which the document refers by {"array": place}. An
array has its shape, the type of its numbers, and their bytes as hexadecimal digits, the first bytes of all
numbers before the second ones: so zlib finds what numbers of one size have in common.

    type     int16, with a step for each column (the number is a multiple of it); float32; or float64
"""

import base64
import json
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from prefero._support.arrays import Array

TYPES = {"int16": "<i2", "float32": "<f4", "float64": "<f8"}  # the same on every machine
LARGEST = 2**15 - 1  # of int16
MOST_BYTES = 2**30  # of an unpacked text: a short one could stand for very many
BROKEN = "what was packed is damaged"


@dataclass(frozen=True, eq=False)
class Numbers:
    """An array with the type of its numbers in a file.

    Args:
        array: The numbers.
        kind: int16, float32 or float64.
    """

    array: Array
    kind: str = "float64"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        array, extra = np.asarray(self.array, dtype=float), dict[str, Any]()
        if self.kind == "int16":
            exponents = steps_of(array)
            array, extra = np.rint(array / 2.0**exponents), {"step": exponents.tolist()}
        written = np.ascontiguousarray(array, dtype=TYPES[self.kind])
        by_place = written.reshape(-1).view(np.uint8).reshape(-1, written.itemsize).T
        return {"shape": list(written.shape), "type": self.kind, **extra, "hex": by_place.tobytes().hex()}


def steps_of(array: Array) -> Array:
    """The steps in which int16 holds each column, as exponents of two."""
    largest = np.abs(array).max(axis=0, initial=0.0)
    exponents: Array = np.frexp(largest / LARGEST)[1]
    return np.where(largest > 0, exponents, 0)


def numbers_from_json(values: dict[str, Any]) -> Array:
    """The array that `Numbers.to_json` wrote; its numbers are finite."""
    dtype = np.dtype(TYPES[values["type"]])
    by_place = np.frombuffer(bytes.fromhex(values["hex"]), dtype=np.uint8).reshape(dtype.itemsize, -1)
    array = np.ascontiguousarray(by_place.T).view(dtype).astype(float).reshape(values["shape"])
    if "step" in values:
        array = array * 2.0 ** np.array(values["step"], dtype=float)
    if not np.isfinite(array).all():
        raise ValueError("the arrays of a reward must be finite, but some are not")
    return array


@dataclass
class Table:
    """The arrays of a document, each once."""

    arrays: list[dict[str, Any]] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    def referring(self, value: Any) -> Any:
        """The document with references in place of its arrays, which are added."""
        if isinstance(value, Numbers):
            written = value.to_json()
            place = self.places.setdefault(json.dumps(written), len(self.arrays))
            self.arrays[place:] = self.arrays[place:] or [written]
            return {"array": place}
        if isinstance(value, dict):
            return {key: self.referring(one) for key, one in value.items()}
        return [self.referring(one) for one in value] if isinstance(value, list | tuple) else value


def pack(document: dict[str, Any]) -> str:
    """The text that stands for a document."""
    table = Table()
    whole = {**table.referring(document), "arrays": table.arrays}
    text = json.dumps(whole, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def unpack(text: str) -> dict[str, Any]:
    """The document that `pack` made a text of, with its arrays; a ValueError if it is damaged."""
    unpacking = zlib.decompressobj()
    try:
        content = unpacking.decompress(base64.b64decode(text, validate=True), MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"{BROKEN}: {error}") from error
    if not unpacking.eof:
        raise ValueError(f"{BROKEN}: it is cut, or longer than {MOST_BYTES} bytes")
    document = json.loads(content)
    if not isinstance(document, dict):
        raise ValueError(f"{BROKEN}: wanted a JSON object, but this is {document!r}")
    arrays = [numbers_from_json(one) for one in document.pop("arrays")]
    return {key: _with_arrays(value, arrays) for key, value in document.items()}


def _with_arrays(value: Any, arrays: list[Array]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"array"}:
            return arrays[value["array"]]
        return {key: _with_arrays(one, arrays) for key, one in value.items()}
    return [_with_arrays(one, arrays) for one in value] if isinstance(value, list) else value
