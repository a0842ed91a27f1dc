"""`prefero push`: a learned reward on the Hugging Face Hub."""

from typing import Annotated

import typer

from prefero._support.commands import prefero_command
from prefero.cli.console import say
from prefero.cli.options import RewardArgument
from prefero.rewards.reward import load_reward

MESSAGE = "Add a reward learned with Prefero"


def push(
    reward: RewardArgument,
    name: Annotated[
        str, typer.Argument(help="OWNER/NAME of a repository of models, which is made if it is not there.")
    ],
    private: Annotated[
        bool, typer.Option("--private", help="Make a new repository private; otherwise your account says.")
    ] = False,
    message: Annotated[str, typer.Option(help="Of the commit.")] = MESSAGE,
) -> None:
    """Upload a learned reward to the Hugging Face Hub, with a model card.

    For example:

        prefero push reward.json me/careful-grasps --private
    """
    address = load_reward(reward).push_to_hub(name, private=private or None, commit_message=message)
    say(f"The reward is on the Hugging Face Hub at {address}, with a model card.")
    say(f'Load it with  prefero.load_reward("{address}")  or  {prefero_command("score", address, "DATASET")}')
