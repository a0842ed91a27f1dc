"""`prefero export`: a learned reward as a file that runs without Prefero."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from prefero._support.names import listed
from prefero.cli.console import check_outputs, say
from prefero.cli.options import RewardArgument
from prefero.deploy.export import export_reward, target_for
from prefero.rewards.reward import load_reward

Inputs = Literal["features", "trajectory", "step"]


def export(
    reward: RewardArgument,
    out: Annotated[
        list[Path],
        typer.Option(
            help="Write this file; its suffix names the target: .py (needs only NumPy), .onnx, or that of an "
            "installed package. Repeat it for several."
        ),
    ],
    inputs: Annotated[
        Inputs,
        typer.Option(
            help="What an .onnx graph begins with: features; a trajectory, its states and actions, for a "
            "reward of the default features; or a step, its state and action, for a reward of steps."
        ),
    ] = "features",
) -> None:
    """Write a learned reward for a robot on which Prefero is not installed.

    For example:

        prefero export reward.json --out reward.py --out reward.onnx

        prefero export reward.json --out robot.onnx --inputs trajectory
    """
    for path in out:
        target_for(path, inputs)
    check_outputs(*out)
    learned = load_reward(reward)
    for path in out:
        export_reward(learned, path, inputs)
        say(f"The reward of {listed(learned.scaling.names)} is in {path}.")
