"""Export targets: files with which a learned reward runs where Prefero is not installed.

An export target is a function of a reward that returns the content of a file, text or bytes; its name is the
file's suffix. Prefero's own are `py`, one Python file that needs only NumPy, and `onnx`, an ONNX graph.
Another package adds a target by an entry point of the group `prefero.export_targets`:

    [project.entry-points."prefero.export_targets"]
    c = "their_package.module:to_c"
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from prefero._support.files import write_atomically
from prefero._support.plugins import Registry
from prefero.deploy.export.onnx import to_onnx
from prefero.rewards.reward import Reward

Target = Callable[[Reward], str | bytes]

TARGETS: Registry[Target] = Registry(
    "export target",
    "prefero.export_targets",
    {"py": "prefero.deploy.export.python:to_python", "onnx": "prefero.deploy.export.onnx:to_onnx"},
)

__all__ = ["TARGETS", "Target", "export_reward", "target_for"]


def export_reward(reward: Reward, path: str | Path, inputs: str = "features") -> None:
    """Write a reward as a file that runs without Prefero.

    Args:
        reward: The reward.
        path: A Python file (.py), an ONNX graph (.onnx), or another registered suffix.
        inputs: What an ONNX graph begins with: `features`; `trajectory`, the states and actions of
            trajectories, if the reward was taught with the default features; or `step`, the state and the
            action of single steps, if it was taught with `steps`.
    """
    target = target_for(path, inputs)
    write_atomically(Path(path), target(reward))


def target_for(path: str | Path, inputs: str = "features") -> Target:
    """The export target that the path's suffix names.

    Args:
        path: The file to write.
        inputs: What an ONNX graph begins with, see `export_reward`.

    Returns:
        The target.

    Raises:
        ValueError: If there is none for this suffix, or it cannot begin with these inputs.
    """
    suffix = Path(path).suffix
    if suffix[1:] not in TARGETS:
        known = ", ".join(f".{name}" for name in TARGETS)
        raise ValueError(f"a reward is exported as one of {known}, but the path is {path}")
    if inputs == "features":
        return TARGETS.get(suffix[1:])
    if suffix != ".onnx":
        raise ValueError(
            f"only an ONNX graph begins with a {inputs}, but the path is {path}: leave out the inputs. A "
            "Python file has functions for features, trajectories and steps"
        )
    return partial(to_onnx, inputs=inputs)
