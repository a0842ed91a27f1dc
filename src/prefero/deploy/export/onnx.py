"""The export target `onnx`: a reward as an ONNX graph, whose tensors are referred to by their names."""

import json
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.optional import need
from prefero.deploy.export.components import gaussian_components
from prefero.kernels import (
    RBF,
    Additive,
    Anchored,
    ItemEffects,
    Kernel,
    Linear,
    Matern,
    Projected,
    Quadratic,
    Scaled,
    Selected,
    Standardized,
    Sum,
    Warped,
)
from prefero.models.linear import LinearPosterior
from prefero.models.posterior import Posterior
from prefero.rewards.reward import Reward

OPSET, IR = 17, 8  # of ONNX: what runtimes since 2022 read
NOT_CHECKED = (
    "Of features that are not finite, which a graph cannot refuse, std is NaN and mean has no meaning."
)


class Graph:
    """An ONNX graph that is being built; tensors are referred to by their names."""

    def __init__(self) -> None:
        self.helper = need("onnx.helper", extra="onnx")
        self.arrays = need("onnx.numpy_helper", extra="onnx")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: npt.ArrayLike, kind: type = np.float64) -> str:
        """A constant tensor; returns its name."""
        name = f"constant {len(self.constants)}"
        self.constants.append(self.arrays.from_array(np.asarray(values, dtype=kind), name))
        return name

    def node(self, operation: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """A computed tensor; returns its name."""
        output = name or f"{operation} {len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operation, list(inputs), [output], **attributes))
        return output

    def total(self, tensor: str, axis: int = -1) -> str:
        """The sum along an axis."""
        return self.node("ReduceSum", tensor, self.constant([axis], np.int64), keepdims=0)

    def average(self, tensor: str) -> str:
        """The mean along the last axis."""
        return self.node("ReduceMean", tensor, axes=[-1], keepdims=0)

    def with_axis(self, tensor: str, axis: int) -> str:
        """The tensor with a new axis of length 1."""
        return self.node("Unsqueeze", tensor, self.constant([axis], np.int64))

    def square(self, tensor: str) -> str:
        """The elementwise square."""
        return self.node("Mul", tensor, tensor)


def to_onnx(reward: Reward) -> bytes:
    """The reward as an ONNX model: features (M, d), double, in; mean (M,) and std (M,) out."""
    onnx = need("onnx", extra="onnx")
    graph, scaling = Graph(), reward.scaling
    centered = graph.node("Sub", "features", graph.constant(scaling.center))
    x = graph.node("Div", centered, graph.constant(scaling.scale))
    if isinstance(reward.belief, LinearPosterior):
        weights, means, variances = _directions(reward.belief, graph, x)
    else:
        weights, means, variances = _gaussians(gaussian_components(reward, exportable()), graph, x)
    mean = graph.total(graph.node("Mul", weights, means), 0)
    deviation = graph.square(graph.node("Sub", means, mean))
    variance = graph.total(graph.node("Mul", weights, graph.node("Add", variances, deviation)), 0)
    graph.node("Identity", mean, name="mean")
    graph.node("Sqrt", variance, name="std")
    return _model(onnx, graph, reward)


def _model(onnx: Any, graph: Graph, reward: Reward) -> bytes:
    def double(name: str, *shape: int | str) -> Any:
        return graph.helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, shape)

    made = graph.helper.make_graph(
        graph.nodes,
        "reward",
        [double("features", "M", len(reward.scaling.names))],
        [double("mean", "M"), double("std", "M")],
        graph.constants,
        doc_string=f"{reward.describe()}\n{NOT_CHECKED}",
    )
    opset = graph.helper.make_opsetid("", OPSET)
    model = graph.helper.make_model(made, opset_imports=[opset], ir_version=IR, producer_name="prefero")
    graph.helper.set_model_props(model, _properties(reward))
    onnx.checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString()
    return content


def _properties(reward: Reward) -> dict[str, str]:
    """The names of the features, and how they are computed, where that is known: the graph starts at them."""
    names = {"features": "\n".join(map(str, reward.scaling.names))}
    spec = reward.feature_spec
    return names if spec is None else names | {"feature_spec": json.dumps(spec.to_json())}


def _directions(belief: LinearPosterior, graph: Graph, x: str) -> tuple[str, str, str]:
    """Weights (K, 1), means (K, M) and variances of the draws of a linear reward."""
    count = len(belief.weights)
    transposed = graph.node("Transpose", x, perm=[1, 0])
    means = graph.node("MatMul", graph.constant(belief.weights), transposed)
    return graph.constant(np.full((count, 1), 1.0 / count)), means, graph.constant(0.0)


def _gaussians(components: Sequence[tuple[float, Posterior]], graph: Graph, x: str) -> tuple[str, str, str]:
    """Weights (K, 1), means (K, M) and variances (K, M) of the components."""
    pairs = [_gaussian(component, graph, x) for _, component in components]
    means, variances = (
        graph.node("Concat", *(graph.with_axis(tensor, 0) for tensor in tensors), axis=0)
        for tensors in zip(*pairs, strict=True)
    )
    return graph.constant([[weight] for weight, _ in components]), means, variances


def _gaussian(component: Posterior, graph: Graph, x: str) -> tuple[str, str]:
    """Mean (M,) and variance (M,) of one component."""
    prior = covariance(component.kernel, graph, x, x)
    if not component.whitener.size:  # there are no answers yet
        return graph.node("Sub", prior, prior), prior
    each = graph.with_axis(x, 1)
    ends = (graph.constant(side) for side in (component.pivots.winners, component.pivots.losers))
    cross = graph.node("Sub", *(covariance(component.kernel, graph, each, end) for end in ends))
    mean = graph.node("MatMul", cross, graph.constant(component.alpha))
    learned = graph.total(graph.square(graph.node("MatMul", cross, graph.constant(component.whitener))))
    variance = graph.node("Sub", prior, learned)
    return mean, graph.node("Max", variance, graph.constant(0.0))


def exportable() -> list[type[Kernel]]:
    """The kernels for which there is a `covariance`."""
    return [kind for kind in covariance.registry if kind is not object]


@singledispatch
def covariance(kernel: Kernel, graph: Graph, x: str, y: str) -> str:
    """The tensor k(x, y), for tensors that broadcast over all axes but the last."""
    raise NotImplementedError(type(kernel).__name__)


@covariance.register
def _(kernel: Linear, graph: Graph, x: str, y: str) -> str:  # noqa: ARG001
    return graph.total(graph.node("Mul", x, y))


@covariance.register
def _(kernel: Quadratic, graph: Graph, x: str, y: str) -> str:  # noqa: ARG001
    products = graph.node("Mul", x, y)
    both = graph.node("Add", graph.square(graph.total(products)), graph.total(graph.square(products)))
    return graph.node("Mul", graph.constant(0.5), both)


@covariance.register
def _(kernel: RBF, graph: Graph, x: str, y: str) -> str:
    squares = graph.square(graph.node("Sub", x, y))
    distances = graph.total(graph.node("Mul", graph.constant(kernel.theta), squares))
    return graph.node("Exp", graph.node("Neg", distances))


@covariance.register
def _(kernel: Matern, graph: Graph, x: str, y: str) -> str:
    difference = graph.node("Div", graph.node("Sub", x, y), graph.constant(kernel.lengthscale))
    squares = graph.node("Mul", graph.constant(2.0 * kernel.nu), graph.total(graph.square(difference)))
    r = graph.node("Sqrt", squares)
    polynomial = graph.node("Add", graph.constant(1.0), r)
    if kernel.nu == 2.5:
        third = graph.node("Div", squares, graph.constant(3.0))
        polynomial = graph.node("Add", polynomial, third)
    return graph.node("Mul", polynomial, graph.node("Exp", graph.node("Neg", r)))


@covariance.register
def _(kernel: Scaled, graph: Graph, x: str, y: str) -> str:
    return graph.node("Mul", graph.constant(kernel.variance), covariance(kernel.kernel, graph, x, y))


@covariance.register
def _(kernel: Sum, graph: Graph, x: str, y: str) -> str:
    return graph.node("Add", *(covariance(k, graph, x, y) for k in (kernel.first, kernel.second)))


@covariance.register
def _(kernel: Anchored, graph: Graph, x: str, y: str) -> str:
    a, inner = graph.constant(kernel.anchor), kernel.kernel
    plain, with_x, with_y, alone = (
        covariance(inner, graph, *pair) for pair in ((x, y), (x, a), (a, y), (a, a))
    )
    if kernel.mode == "condition":
        known = graph.node("Div", graph.node("Mul", with_x, with_y), alone)
        return graph.node("Sub", plain, known)
    known = graph.node("Sub", graph.node("Add", with_x, with_y), alone)
    return graph.node("Sub", plain, known)


@covariance.register
def _(kernel: ItemEffects, graph: Graph, x: str, y: str) -> str:
    items = graph.constant(kernel.items)
    return graph.total(graph.node("Mul", *(_which_item(graph, tensor, items) for tensor in (x, y))))


def _which_item(graph: Graph, x: str, items: str) -> str:
    """1 where a row is an item, along a last axis of all items."""
    same = graph.node("Equal", graph.with_axis(x, -2), items)
    return graph.node("ReduceMin", graph.node("CastLike", same, items), axes=[-1], keepdims=0)


@covariance.register
def _(kernel: Projected, graph: Graph, x: str, y: str) -> str:
    axes = graph.constant(kernel.axes)
    return covariance(kernel.kernel, graph, *(graph.node("MatMul", tensor, axes) for tensor in (x, y)))


@covariance.register
def _(kernel: Selected, graph: Graph, x: str, y: str) -> str:
    columns = graph.constant(kernel.columns, np.int64)
    x, y = (graph.node("Gather", tensor, columns, axis=-1) for tensor in (x, y))
    return covariance(kernel.kernel, graph, x, y)


@covariance.register
def _(kernel: Standardized, graph: Graph, x: str, y: str) -> str:
    center, scale = graph.constant(kernel.center), graph.constant(kernel.scale)
    x, y = (graph.node("Div", graph.node("Sub", tensor, center), scale) for tensor in (x, y))
    return covariance(kernel.kernel, graph, x, y)


@covariance.register
def _(kernel: Additive, graph: Graph, x: str, y: str) -> str:
    # an axis more, so that every feature becomes a trajectory of one feature
    each = covariance(kernel.kernel, graph, graph.with_axis(x, -1), graph.with_axis(y, -1))
    return graph.average(each)


@covariance.register
def _(kernel: Warped, graph: Graph, x: str, y: str) -> str:
    return covariance(kernel.kernel, graph, *(_compressed(kernel, graph, tensor) for tensor in (x, y)))


def _compressed(kernel: Warped, graph: Graph, x: str) -> str:
    """asinh(u) = sign(u) log(|u| + sqrt(u^2 + 1)): runtimes lack Asinh in double precision."""
    u = graph.node("Div", graph.node("Sub", x, graph.constant(kernel.center)), graph.constant(kernel.scale))
    root = graph.node("Sqrt", graph.node("Add", graph.square(u), graph.constant(1.0)))
    logarithm = graph.node("Log", graph.node("Add", graph.node("Abs", u), root))
    return graph.node("Mul", graph.node("Sign", u), logarithm)
