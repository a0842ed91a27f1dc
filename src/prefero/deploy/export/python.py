"""The export target `py`: a reward as one readable Python file that needs only NumPy."""

from dataclasses import fields
from textwrap import fill, indent
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.deploy.compiled.step_reward import StepReward, is_of_steps
from prefero.deploy.export import prediction, steps, trajectory
from prefero.deploy.export.components import ExportedGaussian, gaussian_components
from prefero.deploy.export.python_features import add_features
from prefero.deploy.export.source import Source
from prefero.kernels import Kernel
from prefero.kernels.base import kernel_types
from prefero.models.linear import LinearPosterior
from prefero.rewards.reward import Reward

HEAD = '''"""A reward learned from preferences, in one file that needs only NumPy.

    mean, std = predict(features)    features (M, d): one row a trajectory, one column for each of NAMES

The mean is the expected reward, std its standard deviation. Exported from Prefero. If there is a function
`features`, it computes the features of a trajectory from its states and actions:

    mean, std = predict([features(states, actions)])

If there is a function `step_reward`, the reward of a trajectory is the mean of the rewards of its steps:

    mean = step_reward(state, action)    of one step (s,), (a,), or of n steps (n, s), (n, a)

ACCEPTABLE_AT is the expected reward of what is just acceptable, or None if nobody said what is.
"""

import numpy as np


'''


def to_python(reward: Reward) -> str:
    """The reward as the text of one Python file that needs only NumPy: predict(features) -> mean, std.

    Where the reward says how its features are computed, the file computes them too.
    """
    source = Source(given=(*prediction.CONSTANTS, *trajectory.CONSTANTS, *steps.CONSTANTS))
    constants = [
        f"NAMES = {tuple(map(str, reward.scaling.names))!r}\n",
        f"CENTER = {_literal(reward.scaling.center)}\n",
        f"SCALE = {_literal(reward.scaling.scale)}\n",
        f"ABOUT = {reward.describe()!r}\n",
        f"ACCEPTABLE_AT = {reward.acceptable_at!r}\n",
    ]
    if isinstance(reward.belief, LinearPosterior):
        source.add(prediction.directions)
        constants += ["COMPONENTS = directions\n", f"DIRECTIONS = {_literal(reward.belief.weights)}\n"]
    else:
        components = gaussian_components(reward)
        _add_kernels(source, [one.kernel for _, one in components])
        source.add(prediction.gaussians)
        constants += ["COMPONENTS = gaussians\n", *_gaussians(components)]
    source.add(prediction.predict)
    spec = reward.feature_spec
    if spec is not None and not spec.columns and not reward.scaling.categories:
        constants += add_features(source, spec, _literal)
    if is_of_steps(reward):
        constants += _steps(source, StepReward.of(reward))
    return "".join([HEAD, str(source), "\n\n", *constants])


def _steps(source: Source, reward: StepReward) -> list[str]:
    """The constants of `step_reward`, which is added."""
    source.add(steps.step_reward)
    values = "".join(f"{name}={_literal(value)},\n" for name, value in steps.constants_of(reward).items())
    return [f"STEP_END = {reward.end!r}\n", f"STEP = dict(\n{indent(values, '    ')})\n"]


def _add_kernels(source: Source, kernels: list[Kernel]) -> None:
    """The classes of kernels, or an error that names the one whose code cannot be written."""
    kinds = set[type[Kernel]]().union(*map(kernel_types, kernels))
    for kind in sorted(kinds, key=lambda kind: kind.__name__):
        try:
            source.add(kind)
        except ValueError as error:
            raise ValueError(
                f"a reward of kernels {kind.__name__} cannot be exported to Python: {error}"
            ) from error


def _gaussians(components: list[tuple[float, ExportedGaussian]]) -> list[str]:
    """The constants of all Gaussians, after those of their kernels."""
    kernels: dict[str, str] = {}
    written = [_gaussian(one, _kernel(one.kernel, kernels)) for _, one in components]
    lines = [f"{name} = {text}\n" for text, name in kernels.items()]
    weights = f"WEIGHTS = {_literal([weight for weight, _ in components])}\n"
    return [*lines, weights, "GAUSSIANS = [\n", *written, "]\n"]


def _gaussian(component: ExportedGaussian, kernel: str) -> str:
    """One Gaussian, as the arguments of `gaussian`."""
    arrays = {name: _literal(array) for name, array in component.arrays.items()}
    values = {"kernel": kernel, **arrays}
    lines = "".join(f"{name}={value},\n" for name, value in values.items())
    return indent(f"dict(\n{indent(lines, '    ')}),\n", "    ")


def _kernel(kernel: Kernel, known: dict[str, str]) -> str:
    """The name of a kernel. Each has a line of its own: Python reads only some 100 brackets in each other."""
    values = {one.name: getattr(kernel, one.name) for one in fields(kernel)}  # type: ignore[arg-type]
    texts = {
        name: _kernel(value, known) if isinstance(value, Kernel) else _argument(value)
        for name, value in values.items()
    }
    written = f"{type(kernel).__name__}({', '.join(f'{name}={text}' for name, text in texts.items())})"
    return known.setdefault(written, f"KERNEL_{len(known) + 1}")


def _argument(value: Any) -> str:
    """A field of a kernel as Python text; many numbers are several lines."""
    text = repr(value)
    return text if "'" in text or '"' in text else _wrapped(text)


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
    return _wrapped(", ".join(map(repr, row.tolist())))


def _wrapped(text: str) -> str:
    return fill(text, 90, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False)
