"""A reward that runs where Prefero is not: as one Python file that needs only NumPy, or as an ONNX graph.

    x                 (M, d)      scaled features
    winners, losers   (r, d)      those of the answers that determine what was learned
    cross             (M, r)      k(x, winners) - k(x, losers)
    mean              (M,)        cross @ slope, for each Gaussian of the belief
    variance          (M,)        k(x, x) - |cross @ whitener|^2

Both are made of the same pieces: kernels that broadcast over all axes but the last, so that one expression is
the covariance of two sets (x with an axis in between) and the variance of one.
"""

from collections.abc import Sequence
from dataclasses import fields
from functools import singledispatch
from pathlib import Path
from textwrap import fill, indent
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero.arrays import Array
from prefero.extras import need
from prefero.files import write_whole
from prefero.kernels import RBF, Anchored, Kernel, Linear, Matern, Quadratic, Scaled, Standardised, Sum
from prefero.linear import LinearBelief
from prefero.posterior import Posterior
from prefero.reward import Reward

SUFFIXES = (".py", ".onnx")
OPSET, IR = 17, 8  # of ONNX: what runtimes since 2022 read


def export_reward(reward: Reward, path: str | Path) -> None:
    """Write a reward as a Python file (.py) or as an ONNX graph (.onnx)."""
    place = Path(path)
    if place.suffix not in SUFFIXES:
        raise ValueError(f"a reward is exported as {' or '.join(SUFFIXES)}, but the path is {place}")
    write_whole(place, to_python(reward) if place.suffix == ".py" else to_onnx(reward))


def _gaussians(reward: Reward) -> list[tuple[float, Posterior]]:
    """The parts of a belief, all of whose kernels can be exported."""
    parts = [(weight, part) for weight, part in reward.belief.components if isinstance(part, Posterior)]
    unknown = {kind.__name__ for _, part in parts for kind in _kinds(part.kernel) - set(KERNELS)}
    if unknown or not parts:
        what = f"kernels {', '.join(sorted(unknown))}" if unknown else type(reward.belief).__name__
        known = ", ".join(kind.__name__ for kind in KERNELS)
        raise ValueError(f"a reward of {what} cannot be exported: the kernels that can are {known}")
    return parts


# --- Python -----------------------------------------------------------------------------------------------

HEAD = '''"""A reward that a person taught, in one file that needs only NumPy.

    mean, std = predict(features)    features (M, d): one row a trajectory, one column for each of NAMES

The mean is the expected reward, the standard deviation how unsure it is. Exported from Prefero.
"""

import numpy as np
'''

MIXTURE = '''

def mixture(features):
    """The Gaussians that the reward is a mixture of: weights (K,), means and standard deviations (K, M)."""
    x = np.atleast_2d(np.asarray(features, dtype=float))
    if x.ndim != 2 or x.shape[1] != len(NAMES):
        raise ValueError(f"wanted {len(NAMES)} features ({', '.join(NAMES)}), but got shape {x.shape}")
    x = (x - CENTRE) / SCALE
'''

OF_PARTS = '''    means, variances = zip(*(gaussian(x, **part) for part in PARTS))
    return np.array(WEIGHTS), np.array(means), np.sqrt(np.maximum(variances, 0.0))


def gaussian(x, kernel, winners, losers, slope, whitener):
    """Mean and variance of the rewards of x, from answers: each winner was preferred to its loser."""
    cross = kernel(x[:, None], winners) - kernel(x[:, None], losers)
    return cross @ slope, kernel(x, x) - ((cross @ whitener) ** 2).sum(-1)
'''

OF_DIRECTIONS = """    means = DIRECTIONS @ x.T  # each direction of a linear reward is as likely as any other
    return np.full(len(means), 1.0 / len(means)), means, np.zeros_like(means)
"""

PREDICT = '''

def predict(features):
    """The expected reward (M,) of rows of features (M, d), and its standard deviation (M,)."""
    weights, means, stds = mixture(features)
    mean = weights @ means
    return mean, np.sqrt(weights @ (stds**2 + (means - mean) ** 2))
'''

KERNELS: dict[type[Kernel], str] = {
    Linear: """
def linear(x, y):
    return (x * y).sum(-1)
""",
    Quadratic: """
def quadratic(x, y):
    return 0.5 * ((x * y).sum(-1) ** 2 + (x**2 * y**2).sum(-1))
""",
    RBF: """
def rbf(theta):
    return lambda x, y: np.exp(-(theta * (x - y) ** 2).sum(-1))
""",
    Matern: """
def matern(lengthscale, nu):
    def kernel(x, y):
        r = np.sqrt(2 * nu * (((x - y) / lengthscale) ** 2).sum(-1))
        return (1 + r + (r**2 / 3 if nu == 2.5 else 0.0)) * np.exp(-r)

    return kernel
""",
    Scaled: """
def scaled(kernel, variance):
    return lambda x, y: variance * kernel(x, y)
""",
    Sum: """
def added(first, second):
    return lambda x, y: first(x, y) + second(x, y)
""",
    Anchored: """
def anchored(kernel, a, how):
    if how == "condition":
        return lambda x, y: kernel(x, y) - kernel(x, a) * kernel(a, y) / kernel(a, a)
    return lambda x, y: kernel(x, y) - kernel(x, a) - kernel(a, y) + kernel(a, a)
""",
    Standardised: """
def standardised(kernel, centre, scale):
    return lambda x, y: kernel((x - centre) / scale, (y - centre) / scale)
""",
}


def to_python(reward: Reward) -> str:
    """The reward as the text of one Python file that needs only NumPy: predict(features) -> mean, std."""
    names = tuple(map(str, reward.scaling.names))
    units = [
        f"NAMES = {names!r}\n",
        f"CENTRE = {_literal(reward.scaling.centre)}\n",
        f"SCALE = {_literal(reward.scaling.scale)}\n",
        f"ABOUT = {reward.describe()!r}\n",
    ]
    if isinstance(reward.belief, LinearBelief):
        directions = f"DIRECTIONS = {_literal(reward.belief.weights)}\n"
        return "".join([HEAD, MIXTURE, OF_DIRECTIONS, PREDICT, "\n\n", *units, directions])
    parts = _gaussians(reward)
    used = {kind for _, part in parts for kind in _kinds(part.kernel)}
    kernels = ["\n" + code for kind, code in KERNELS.items() if kind in used]
    weights = f"WEIGHTS = {_literal([weight for weight, _ in parts])}\n"
    data = ["PARTS = [\n", *(_part(part) for _, part in parts), "]\n"]
    return "".join([HEAD, *kernels, MIXTURE, OF_PARTS, PREDICT, "\n\n", *units, weights, *data])


def _part(part: Posterior) -> str:
    """One Gaussian, as the arguments of `gaussian`."""
    values = {
        "kernel": source_of(part.kernel),
        "winners": _literal(part.pivots.winners),
        "losers": _literal(part.pivots.losers),
        "slope": _literal(part.slope),
        "whitener": _literal(part.whitener),
    }
    lines = "".join(f"{name}={value},\n" for name, value in values.items())
    return indent(f"dict(\n{indent(lines, '    ')}),\n", "    ")


def _literal(values: npt.ArrayLike) -> str:
    """An array as Python text, to the last digit."""
    array = np.asarray(values, dtype=float)
    if array.ndim == 0:
        return repr(float(array))
    if not array.size:
        return f"np.zeros({array.shape})"
    if array.ndim == 1:
        return f"np.array([{_numbers(array)}])"
    rows = "".join(f"    [{_numbers(row)}],\n" for row in array)
    return f"np.array([\n{rows}])"


def _numbers(row: Array) -> str:
    return fill(", ".join(map(repr, row.tolist())), 90, subsequent_indent="    ", break_on_hyphens=False)


def _kinds(kernel: Kernel) -> set[type[Kernel]]:
    """The kinds of kernels that a kernel is made of."""
    inner = [value for value in vars(kernel).values() if isinstance(value, Kernel)]
    return {type(kernel)}.union(*map(_kinds, inner))


def source_of(kernel: Kernel) -> str:
    """A kernel as an expression: its fields, in their order, are the arguments of its function."""
    name = "added" if isinstance(kernel, Sum) else type(kernel).__name__.lower()
    values = [getattr(kernel, field.name) for field in fields(kernel)]  # type: ignore[arg-type]
    return f"{name}({', '.join(map(_argument, values))})" if values else name


def _argument(value: Any) -> str:
    if isinstance(value, Kernel):
        return source_of(value)
    return repr(value) if isinstance(value, str) else _literal(value)


# --- ONNX -------------------------------------------------------------------------------------------------


class Graph:
    """An ONNX graph in the making; tensors go by their names."""

    def __init__(self) -> None:
        self.helper = need("onnx.helper", extra="onnx")
        self.arrays = need("onnx.numpy_helper", extra="onnx")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: npt.ArrayLike, kind: type = np.float64) -> str:
        """A tensor that is known."""
        name = f"constant {len(self.constants)}"
        self.constants.append(self.arrays.from_array(np.asarray(values, dtype=kind), name))
        return name

    def node(self, operation: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """A tensor that is computed."""
        output = name or f"{operation} {len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operation, list(inputs), [output], **attributes))
        return output

    def total(self, tensor: str, axis: int = -1) -> str:
        """The sum along an axis."""
        return self.node("ReduceSum", tensor, self.constant([axis], np.int64), keepdims=0)

    def with_axis(self, tensor: str, axis: int) -> str:
        """One more axis, of length 1."""
        return self.node("Unsqueeze", tensor, self.constant([axis], np.int64))

    def square(self, tensor: str) -> str:
        """Each number times itself."""
        return self.node("Mul", tensor, tensor)


def to_onnx(reward: Reward) -> bytes:
    """The reward as an ONNX model: features (M, d), double, in; mean (M,) and std (M,) out."""
    onnx = need("onnx", extra="onnx")
    graph, scaling = Graph(), reward.scaling
    centred = graph.node("Sub", "features", graph.constant(scaling.centre))
    x = graph.node("Div", centred, graph.constant(scaling.scale))
    if isinstance(reward.belief, LinearBelief):
        weights, means, variances = _directions(reward.belief, graph, x)
    else:
        weights, means, variances = _parts(_gaussians(reward), graph, x)
    mean = graph.total(graph.node("Mul", weights, means), 0)
    away = graph.square(graph.node("Sub", means, mean))
    variance = graph.total(graph.node("Mul", weights, graph.node("Add", variances, away)), 0)
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
        doc_string=reward.describe(),
    )
    opset = graph.helper.make_opsetid("", OPSET)
    model = graph.helper.make_model(made, opset_imports=[opset], ir_version=IR, producer_name="prefero")
    graph.helper.set_model_props(model, {"features": "\n".join(map(str, reward.scaling.names))})
    onnx.checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString()
    return content


def _directions(belief: LinearBelief, graph: Graph, x: str) -> tuple[str, str, str]:
    """Weights (K, 1), means (K, M) and variances of the draws of a linear reward."""
    count = len(belief.weights)
    turned = graph.node("Transpose", x, perm=[1, 0])
    means = graph.node("MatMul", graph.constant(belief.weights), turned)
    return graph.constant(np.full((count, 1), 1.0 / count)), means, graph.constant(0.0)


def _parts(parts: Sequence[tuple[float, Posterior]], graph: Graph, x: str) -> tuple[str, str, str]:
    """Weights (K, 1), means (K, M) and variances (K, M) of the Gaussians."""
    pairs = [_gaussian(part, graph, x) for _, part in parts]
    means, variances = (
        graph.node("Concat", *(graph.with_axis(tensor, 0) for tensor in tensors), axis=0)
        for tensors in zip(*pairs, strict=True)
    )
    return graph.constant([[weight] for weight, _ in parts]), means, variances


def _gaussian(part: Posterior, graph: Graph, x: str) -> tuple[str, str]:
    """Mean (M,) and variance (M,) of one Gaussian."""
    prior = covariance(part.kernel, graph, x, x)
    if not part.whitener.size:  # nothing was learned yet
        return graph.node("Sub", prior, prior), prior
    each = graph.with_axis(x, 1)
    ends = (graph.constant(side) for side in (part.pivots.winners, part.pivots.losers))
    cross = graph.node("Sub", *(covariance(part.kernel, graph, each, end) for end in ends))
    mean = graph.node("MatMul", cross, graph.constant(part.slope))
    learned = graph.total(graph.square(graph.node("MatMul", cross, graph.constant(part.whitener))))
    variance = graph.node("Sub", prior, learned)
    return mean, graph.node("Max", variance, graph.constant(0.0))


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
    apart = graph.node("Div", graph.node("Sub", x, y), graph.constant(kernel.lengthscale))
    squares = graph.node("Mul", graph.constant(2.0 * kernel.nu), graph.total(graph.square(apart)))
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
    if kernel.how == "condition":
        known = graph.node("Div", graph.node("Mul", with_x, with_y), alone)
        return graph.node("Sub", plain, known)
    known = graph.node("Sub", graph.node("Add", with_x, with_y), alone)
    return graph.node("Sub", plain, known)


@covariance.register
def _(kernel: Standardised, graph: Graph, x: str, y: str) -> str:
    centre, scale = graph.constant(kernel.centre), graph.constant(kernel.scale)
    x, y = (graph.node("Div", graph.node("Sub", tensor, centre), scale) for tensor in (x, y))
    return covariance(kernel.kernel, graph, x, y)
