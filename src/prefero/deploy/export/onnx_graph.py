"""An ONNX graph that is built by computing with tensors in place of arrays.

What a function calls becomes nodes of the graph. A tensor follows the array API standard as far as kernels
need it; truth values are 1 and 0.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.optional import need

OPSET, IR = 17, 8  # of ONNX: what runtimes since 2022 read


class Graph:
    """An ONNX graph that is being built."""

    def __init__(self) -> None:
        self.helper = need("onnx.helper", extra="onnx")
        self.arrays = need("onnx.numpy_helper", extra="onnx")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: npt.ArrayLike) -> "Tensor":
        """Of whole numbers, or of numbers in double precision."""
        name, array = f"constant {len(self.constants)}", np.asarray(values)
        kind = np.int64 if array.dtype.kind == "i" and array.ndim else np.float64
        self.constants.append(self.arrays.from_array(array.astype(kind), name))
        return Tensor(self, name)

    def node(self, operation: str, *inputs: Any, name: str | None = None, **attributes: Any) -> "Tensor":
        """A computed tensor; inputs are tensors, or numbers."""
        output = name or f"{operation} {len(self.nodes)}"
        tensors = [one if isinstance(one, Tensor) else self.constant(one) for one in inputs]
        names = [one.name for one in tensors]
        self.nodes.append(self.helper.make_node(operation, names, [output], **attributes))
        return Tensor(self, output)


def _binary(operation: str, *, swapped: bool = False) -> Callable[["Tensor", Any], "Tensor"]:
    def method(self: "Tensor", other: Any) -> "Tensor":
        return self.graph.node(operation, *((other, self) if swapped else (self, other)))

    return method


class Tensor:
    """A tensor of a graph, by its name."""

    dtype = device = None
    __array_ufunc__ = None  # so that NumPy leaves operators to it, and refuses it elsewhere

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    def __array_namespace__(self, api_version: str | None = None) -> "Operations":
        del api_version
        return Operations(self.graph)

    __add__ = __radd__ = _binary("Add")
    __sub__, __rsub__ = _binary("Sub"), _binary("Sub", swapped=True)
    __mul__ = __rmul__ = __and__ = _binary("Mul")
    __truediv__, __rtruediv__ = _binary("Div"), _binary("Div", swapped=True)
    __matmul__ = _binary("MatMul")

    def __neg__(self) -> "Tensor":
        return self.graph.node("Neg", self)

    def __pow__(self, exponent: float) -> "Tensor":
        return self * self if exponent == 2 else self.graph.node("Pow", self, float(exponent))

    def __eq__(self, other: object) -> "Tensor":  # type: ignore[override]
        double = self.graph.helper.TensorProto.DOUBLE
        return self.graph.node("Cast", self.graph.node("Equal", self, other), to=double)

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, key: Any) -> "Tensor":
        """With new axes: [..., None], [:, None, :] and the like."""
        keys = key if isinstance(key, tuple) else (key,)
        if not all(one is None or one is ... or one == slice(None) for one in keys):
            raise NotImplementedError("slices of an array")
        from_end = keys[0] is ...
        axes = [place - len(keys) * from_end for place, one in enumerate(keys) if one is None]
        return self.graph.node("Unsqueeze", self, axes)


class Operations:
    """The functions of the array API standard that a graph can compute."""

    ELEMENTWISE = ("exp", "log", "sqrt", "sin", "cos", "tanh", "abs", "sign")  # of ONNX with a capital

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __getattr__(self, name: str) -> Callable[[Tensor], Tensor]:
        if name not in self.ELEMENTWISE:
            raise NotImplementedError(name)
        return lambda x: self._graph.node(name.capitalize(), x)

    def asarray(self, values: npt.ArrayLike, dtype: Any = None, device: Any = None) -> Tensor:
        """A constant."""
        del dtype, device
        return self._graph.constant(values)

    def sum(self, x: Tensor, *, axis: int) -> Tensor:
        """Along an axis."""
        return self._graph.node("ReduceSum", x, [axis], keepdims=0)

    def mean(self, x: Tensor, *, axis: int) -> Tensor:
        """Along an axis."""
        return self._graph.node("ReduceMean", x, axes=[axis], keepdims=0)

    def all(self, x: Tensor, *, axis: int) -> Tensor:
        """Along an axis."""
        return self._graph.node("ReduceMin", x, axes=[axis], keepdims=0)

    def where(self, condition: Tensor, x: Any, y: Any) -> Tensor:
        """Of finite x and y."""
        chosen: Tensor = condition * x + (1.0 - condition) * y
        return chosen

    def take(self, x: Tensor, indices: Tensor, *, axis: int) -> Tensor:
        """Along an axis."""
        return self._graph.node("Gather", x, indices, axis=axis)

    def clip(self, x: Tensor, lowest: float | None = None, highest: float | None = None) -> Tensor:
        """Not below the lowest value, nor above the highest."""
        x = x if lowest is None else self._graph.node("Max", x, lowest)
        return x if highest is None else self._graph.node("Min", x, highest)

    def stack(self, tensors: Sequence[Tensor], *, axis: int = 0) -> Tensor:
        """Along a new axis."""
        each = [self._graph.node("Unsqueeze", tensor, [axis]) for tensor in tensors]
        return self._graph.node("Concat", *each, axis=axis)

    def asinh(self, x: Tensor) -> Tensor:
        """sign(x) log(|x| + sqrt(x^2 + 1)): runtimes lack Asinh in double precision."""
        return self.sign(x) * self.log(self.abs(x) + self.sqrt(x * x + 1.0))


KNOWN = ", ".join([*Operations.ELEMENTWISE, *(name for name in vars(Operations) if name.islower())])
