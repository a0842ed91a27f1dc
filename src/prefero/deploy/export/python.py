"""The export target `py`: a reward as one readable Python file that needs only NumPy."""

from dataclasses import fields
from itertools import accumulate
from textwrap import fill, indent
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.deploy.export.components import gaussian_components
from prefero.deploy.export.python_features import features_source
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
from prefero.kernels.base import kernel_types
from prefero.models.linear import LinearPosterior
from prefero.models.posterior import Posterior
from prefero.rewards.reward import Reward

MOST_NESTED = 80  # brackets: Python's parser gives up at 100 to 200, depending on its version
HEAD = '''"""A reward learned from preferences, in one file that needs only NumPy.

    mean, std = predict(features)    features (M, d): one row a trajectory, one column for each of NAMES

The mean is the expected reward, std its standard deviation. Exported from Prefero. If there is a function
`features`, it computes the features of a trajectory from its states and actions:

    mean, std = predict([features(states, actions)])
"""

import numpy as np
'''

MIXTURE = '''

def mixture(features):
    """The Gaussians that the reward is a mixture of: weights (K,), means and standard deviations (K, M)."""
    x = np.atleast_2d(np.asarray(features, dtype=float))
    if x.ndim != 2 or x.shape[1] != len(NAMES):
        raise ValueError(f"wanted {len(NAMES)} features ({', '.join(NAMES)}), but got shape {x.shape}")
    if not np.isfinite(x).all():
        raise ValueError("features must be finite, but some are not")
    x = (x - CENTER) / SCALE
'''

GAUSSIAN_BODY = '''    means, variances = zip(*(gaussian(x, **part) for part in PARTS))
    return np.array(WEIGHTS), np.array(means), np.sqrt(np.maximum(variances, 0.0))


def gaussian(x, kernel, winners, losers, alpha, whitener):
    """Mean and variance of the rewards of x, from answers: each winner was preferred to its loser."""
    cross = kernel(x[:, None], winners) - kernel(x[:, None], losers)
    return cross @ alpha, kernel(x, x) - ((cross @ whitener) ** 2).sum(-1)
'''

LINEAR_BODY = """    means = DIRECTIONS @ x.T  # each direction of a linear reward is as likely as any other
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
def added(*kernels):
    return lambda x, y: sum(kernel(x, y) for kernel in kernels)
""",
    Anchored: """
def anchored(kernel, a, mode):
    if mode == "condition":
        return lambda x, y: kernel(x, y) - kernel(x, a) * kernel(a, y) / kernel(a, a)
    return lambda x, y: kernel(x, y) - kernel(x, a) - kernel(a, y) + kernel(a, a)
""",
    Selected: """
def selected(kernel, columns):
    return lambda x, y: kernel(x[..., columns], y[..., columns])
""",
    Standardized: """
def standardized(kernel, center, scale):
    return lambda x, y: kernel((x - center) / scale, (y - center) / scale)
""",
    Additive: """
def additive(kernel):
    return lambda x, y: kernel(x[..., None], y[..., None]).mean(-1)
""",
    Warped: """
def warped(kernel, center, scale):
    return lambda x, y: kernel(np.arcsinh((x - center) / scale), np.arcsinh((y - center) / scale))
""",
    ItemEffects: """
def itemeffects(items):
    def which(x):
        return (x[..., None, :] == items).all(-1)

    return lambda x, y: (which(x) & which(y)).sum(-1).astype(float)
""",
    Projected: """
def projected(kernel, axes):
    return lambda x, y: kernel(x @ axes, y @ axes)
""",
}


def to_python(reward: Reward) -> str:
    """The reward as the text of one Python file that needs only NumPy: predict(features) -> mean, std.

    Where the reward says how its features are computed, the file computes them too.
    """
    spec = None if reward.scaling.categories else reward.feature_spec
    written = None if spec is None else features_source(spec, _literal)
    functions, constants = ("", "") if written is None else written
    return _reward_source(reward, functions) + constants


def _reward_source(reward: Reward, features: str) -> str:
    names = tuple(map(str, reward.scaling.names))
    constants = [
        f"NAMES = {names!r}\n",
        f"CENTER = {_literal(reward.scaling.center)}\n",
        f"SCALE = {_literal(reward.scaling.scale)}\n",
        f"ABOUT = {reward.describe()!r}\n",
    ]
    if isinstance(reward.belief, LinearPosterior):
        directions = f"DIRECTIONS = {_literal(reward.belief.weights)}\n"
        return "".join([HEAD, MIXTURE, LINEAR_BODY, PREDICT, features, "\n\n", *constants, directions])
    parts = gaussian_components(reward, KERNELS)
    used = {kind for _, part in parts for kind in kernel_types(part.kernel)}
    kernels = ["\n" + code for kind, code in KERNELS.items() if kind in used]
    weights = f"WEIGHTS = {_literal([weight for weight, _ in parts])}\n"
    data = ["PARTS = [\n", *(_part(part) for _, part in parts), "]\n"]
    body = [*kernels, MIXTURE, GAUSSIAN_BODY, PREDICT, features]
    return "".join([HEAD, *body, "\n\n", *constants, weights, *data])


def _part(part: Posterior) -> str:
    """One Gaussian, as the arguments of `gaussian`."""
    kernel = source_of(part.kernel)
    if _nested(kernel) > MOST_NESTED:
        raise ValueError(
            f"a kernel of {_nested(kernel)} kernels inside each other cannot be exported to Python, which "
            f"reads {MOST_NESTED} of them: export to .onnx, or write nested products and sums as one"
        )
    values = {
        "kernel": kernel,
        "winners": _literal(part.pivots.winners),
        "losers": _literal(part.pivots.losers),
        "alpha": _literal(part.alpha),
        "whitener": _literal(part.whitener),
    }
    lines = "".join(f"{name}={value},\n" for name, value in values.items())
    return indent(f"dict(\n{indent(lines, '    ')}),\n", "    ")


def _nested(expression: str) -> int:
    """How many brackets are open at once."""
    return max(accumulate((letter in "([") - (letter in ")]") for letter in expression))


def _literal(values: Any) -> str:
    """An array as Python text, to the last digit."""
    array = np.asarray(values, dtype=float)
    if not np.isfinite(array).all():
        raise ValueError("a reward with numbers that are not finite cannot be exported: teach it again")
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


def source_of(kernel: Kernel) -> str:
    """A kernel as an expression: its fields, in their order, are the arguments of its function."""
    if isinstance(kernel, Sum):
        return f"added({', '.join(map(source_of, _summands(kernel)))})"
    name = type(kernel).__name__.lower()
    values = [getattr(kernel, field.name) for field in fields(kernel)]  # type: ignore[arg-type]
    return f"{name}({', '.join(map(_argument, values))})" if values else name


def _summands(kernel: Kernel) -> list[Kernel]:
    """The kernels that a sum adds, however they are nested: a long sum is one call."""
    waiting, found = [kernel], []
    while waiting:
        one = waiting.pop()
        if isinstance(one, Sum):
            waiting += [one.second, one.first]
        else:
            found.append(one)
    return found


def _argument(value: Any) -> str:
    if isinstance(value, Kernel):
        return source_of(value)
    whole = isinstance(value, tuple) and all(isinstance(number, int) for number in value)
    return repr(list(value) if whole else value) if whole or isinstance(value, str) else _literal(value)
