"""Kernels as plain values, for files."""

from dataclasses import fields
from typing import Any

from prefero.kernels.anchored import Anchored
from prefero.kernels.base import Kernel
from prefero.kernels.composed import Scaled, Selected, Standardized, Sum
from prefero.kernels.polynomial import Linear, Quadratic
from prefero.kernels.stationary import RBF, Matern

_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (RBF, Matern, Linear, Quadratic, Scaled, Sum, Anchored, Selected, Standardized)
}


def to_json(kernel: Kernel) -> dict[str, Any]:
    """The kernel as plain values, for a file."""
    values = {field.name: getattr(kernel, field.name) for field in fields(kernel)}  # type: ignore[arg-type]
    plain = {name: to_json(v) if isinstance(v, Kernel) else v for name, v in values.items()}
    return {"kind": type(kernel).__name__, **plain}


def from_json(values: dict[str, Any]) -> Kernel:
    """The kernel that `to_json` wrote."""
    kind, rest = values.get("kind"), {name: v for name, v in values.items() if name != "kind"}
    if kind not in _KINDS:
        raise ValueError(f"there is no kernel {kind!r}: the kernels are {', '.join(_KINDS)}")
    made: Kernel = _KINDS[kind](**{n: from_json(v) if isinstance(v, dict) else v for n, v in rest.items()})
    return made
