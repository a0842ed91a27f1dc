"""`prefero export`: the reward for a robot without Prefero."""

from pathlib import Path
from typing import Annotated

import typer

from prefero.cli.console import console
from prefero.deploy.export import export_reward
from prefero.reward import load_reward


def export(
    reward: Annotated[Path, typer.Argument(help="A reward file (.json), as Reward.save writes it.")],
    python: Annotated[
        Path | None, typer.Option(help="Write one Python file here (.py) that needs only NumPy.")
    ] = None,
    onnx: Annotated[Path | None, typer.Option(help="Write an ONNX graph here (.onnx).")] = None,
) -> None:
    """Write a learned reward so that it runs without Prefero: mean and standard deviation of features."""
    wanted = {".py": python, ".onnx": onnx}
    paths = {suffix: path for suffix, path in wanted.items() if path is not None}
    if not paths:
        raise ValueError("nothing was asked for: say --python reward.py, --onnx reward.onnx, or both")
    for suffix, path in paths.items():
        if path.suffix != suffix:
            raise ValueError(f"wanted a path that ends in {suffix}, but got {path}")
    learned = load_reward(reward)
    for path in paths.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        export_reward(learned, path)
        names = ", ".join(learned.scaling.names)
        console.print(f"The reward of {names} is in {path}.", soft_wrap=True, markup=False)
