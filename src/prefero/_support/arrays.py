"""Arrays: their types, the library they live in, and how many threads may work on them.

Most of Prefero computes with NumPy. The few functions that score every pair of a pool are written
against the array API standard instead, so that the same lines run on NumPy, on a GPU through torch, or
on any other library that follows the standard. In those, an array is an `AnyArray`.
"""

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import special
from threadpoolctl import ThreadpoolController

from prefero._support.optional import need

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
Image = npt.NDArray[np.uint8]  # (height, width, 3), red, green and blue
AnyArray = Any  # an array of any library that follows the array API standard
Namespace = Any  # such a library

P = ParamSpec("P")
R = TypeVar("R")


def namespace_of(array: AnyArray) -> Namespace:
    """The array library that an array belongs to.

    Args:
        array: An array of any library that follows the array API standard.

    Returns:
        The library, whose functions are those of the standard.
    """
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    return need("array_api_compat", extra="gpu").array_namespace(array)


def like(values: Any, array: AnyArray) -> AnyArray:
    """Numbers as an array of the same library, precision and device as another one.

    Args:
        values: The numbers.
        array: The other array.

    Returns:
        The new array.
    """
    if isinstance(array, np.ndarray):
        return np.asarray(values, dtype=array.dtype if array.dtype.kind == "f" else float)
    return namespace_of(array).asarray(np.array(values), dtype=array.dtype, device=array.device)


def like_indices(values: Indices, array: AnyArray) -> AnyArray:
    """`values` as indices into `array`: of its library, on its device."""
    if isinstance(array, np.ndarray):
        return values
    return namespace_of(array).asarray(values, device=array.device)


def to_numpy(array: AnyArray) -> npt.NDArray[Any]:
    """The values of an array in NumPy, wherever they live."""
    if isinstance(array, np.ndarray):
        return array
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def asinh(x: AnyArray) -> AnyArray:
    """The inverse of sinh, which older versions of NumPy have under another name."""
    return np.arcsinh(x) if isinstance(x, np.ndarray) else namespace_of(x).asinh(x)


def ndtr(x: AnyArray) -> AnyArray:
    """The standard normal distribution function, which the array API standard lacks."""
    if isinstance(x, np.ndarray):
        return special.ndtr(x)
    xp = namespace_of(x)
    if "torch" in xp.__name__:
        return xp.special.ndtr(x)
    return xp.asarray(special.ndtr(to_numpy(x)), device=x.device)


class _OneThread:
    """One BLAS thread while any caller is inside; the limit is the process's, so entries are counted."""

    def __init__(self) -> None:
        self.lock, self.inside = threading.Lock(), 0
        self.blas: ThreadpoolController | None = None
        self.limit: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.blas = self.blas or ThreadpoolController().select(user_api="blas")
                self.limit = self.blas.limit(limits=1)
                self.limit.__enter__()
            self.inside += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                self.limit.__exit__(None, None, None)


ONE_THREAD = _OneThread()


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Run `function` with one BLAS thread: on small matrices a second thread costs more than it gains."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with ONE_THREAD:
            return function(*args, **kwargs)

    return limited


def as_probabilities(sums: npt.ArrayLike) -> Array:
    """Weighted sums that are probabilities but for rounding, which may take them beyond 0 or 1."""
    clipped: Array = np.clip(np.asarray(sums, dtype=float), 0.0, 1.0)
    return clipped
