"""A reward that runs where Prefero is not: as one Python file that needs only NumPy, or as an ONNX graph.

    x                 (M, d)      scaled features
    winners, losers   (r, d)      those of the answers that determine what was learned
    cross             (M, r)      k(x, winners) - k(x, losers)
    mean              (M,)        cross @ slope, for each Gaussian of the belief
    variance          (M,)        k(x, x) - |cross @ whitener|^2

Both are made of the same pieces: kernels that broadcast over all axes but the last, so that one expression is
the covariance of two sets (x with an axis in between) and the variance of one.
"""

from pathlib import Path

from prefero._support.files import write_whole
from prefero.deploy.export.onnx import to_onnx
from prefero.deploy.export.python import to_python
from prefero.reward import Reward

__all__ = ["export_reward", "to_onnx", "to_python"]

SUFFIXES = (".py", ".onnx")


def export_reward(reward: Reward, path: str | Path) -> None:
    """Write a reward as a Python file (.py) or as an ONNX graph (.onnx)."""
    place = Path(path)
    if place.suffix not in SUFFIXES:
        raise ValueError(f"a reward is exported as {' or '.join(SUFFIXES)}, but the path is {place}")
    write_whole(place, to_python(reward) if place.suffix == ".py" else to_onnx(reward))
