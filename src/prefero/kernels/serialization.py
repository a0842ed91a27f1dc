"""Kernels as plain values, for files; and the registry of kernels, which other packages can extend.

The name of a kernel is that of its class. A kernel of another package is saved and loaded like Prefero's own
once it is registered, by the decorator `register` or by an entry point:

    [project.entry-points."prefero.kernels"]
    Periodic = "their_package.module:Periodic"

Such a kernel is a frozen dataclass whose fields are numbers, texts, sequences of them, and other kernels.
"""

from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from prefero._support.plugins import Registry
from prefero.kernels.anchored import Anchored
from prefero.kernels.bar import WithBar
from prefero.kernels.base import Kernel
from prefero.kernels.composed import (
    Additive,
    Projected,
    Scaled,
    Selected,
    Standardized,
    Sum,
    Thresholded,
    Warped,
)
from prefero.kernels.items import ItemEffects
from prefero.kernels.polynomial import Linear, Quadratic
from prefero.kernels.stationary import RBF, Matern

OWN = (
    *(RBF, Matern, Linear, Quadratic, Scaled, Sum),
    *(Anchored, Additive, Selected, Standardized, Warped, Thresholded, Projected, ItemEffects, WithBar),
)
KERNELS: Registry[type[Any]] = Registry("kernel", "prefero.kernels", {kind.__name__: kind for kind in OWN})

K = TypeVar("K", bound=type[Kernel])


def register(kind: K) -> K:
    """Register a kernel class for this process, so that rewards with it can be saved and loaded.

    Args:
        kind: A dataclass that is a `Kernel`.

    Returns:
        The class itself, so that this is a decorator too.

    Raises:
        TypeError: If it is no such class.
    """
    if not _is_kernel_class(kind):
        raise TypeError(f"a kernel is a dataclass derived from prefero.kernels.Kernel, but this is {kind!r}")
    KERNELS.register(kind.__name__, kind)
    return kind


def _is_kernel_class(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Kernel) and is_dataclass(kind)


def to_json(kernel: Kernel) -> dict[str, Any]:
    """The kernel as plain values, for a file.

    Args:
        kernel: A kernel of a registered class.

    Returns:
        Its class and its parameters.
    """
    name = type(kernel).__name__
    if name not in KERNELS or KERNELS.get(name) is not type(kernel):
        raise ValueError(
            f"the kernel {name} cannot be saved, because no file could be read with it: register it with "
            f"@prefero.kernels.register, or by an entry point {name!r} of the group {KERNELS.group!r}"
        )
    values = {field.name: getattr(kernel, field.name) for field in fields(kernel)}  # type: ignore[arg-type]
    return {"kind": name, **{key: to_json(v) if isinstance(v, Kernel) else v for key, v in values.items()}}


def from_json(values: dict[str, Any]) -> Kernel:
    """The kernel that `to_json` wrote.

    Args:
        values: What `to_json` returned.

    Returns:
        The kernel.

    Raises:
        UnknownNameError: If its class is not registered.
    """
    rest = {name: from_json(v) if isinstance(v, dict) else v for name, v in values.items() if name != "kind"}
    kernel: Kernel = KERNELS.get(values["kind"])(**rest)
    return kernel
