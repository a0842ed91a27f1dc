"""Callbacks of `RewardLoop` that send its numbers to a tracker, round by round.

Each needs the tracker's own package, which is no extra of Prefero: who uses a tracker has it. The steps of
training are the horizontal axis. A callback of your own is any function of a `RoundRecord`: for a run that is
under way, `lambda record: wandb.log(record.metrics())`.
"""

from importlib import import_module
from typing import Any

from prefero._support.optional import MissingExtra
from prefero.deploy.training.loop_report import RoundRecord

PREFIX = "prefero/"  # of all names, in runs that track the training itself too


def _tracker(module: str) -> Any:
    """A tracker's package; an error that names the line to type if it is missing."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtra(
            f"this needs the package {package!r}, which is not installed: type  pip install {package}"
        ) from error


class TensorBoardCallback:
    """Writes the numbers of each round where TensorBoard finds them.

    Args:
        folder: Of the log, as in `tensorboard --logdir FOLDER`.
    """

    def __init__(self, folder: str) -> None:
        self._writer: Any = _tracker("tensorboard.summary").Writer(folder)

    def __call__(self, record: RoundRecord) -> None:
        """Write the numbers of a round."""
        for name, value in record.metrics().items():
            self._writer.add_scalar(PREFIX + name, value, record.steps)
        self._writer.flush()


class _RunCallback:
    """Logs the numbers of each round to a run of its own, which ends with the program."""

    package: str

    def __init__(self, project: str = "prefero", **options: Any) -> None:
        self._run = _tracker(self.package).init(project=project, **options)

    def __call__(self, record: RoundRecord) -> None:
        """Log the numbers of a round."""
        metrics = {PREFIX + name: value for name, value in record.metrics().items()}
        self._run.log(metrics, step=record.steps)


class TrackioCallback(_RunCallback):
    """Logs the numbers of each round with trackio, Hugging Face's tracker.

    Args:
        project: The project of the run.
        **options: Others of `trackio.init`, such as `name` and `space_id`.
    """

    package = "trackio"


class WandbCallback(_RunCallback):
    """Logs the numbers of each round with Weights & Biases.

    Args:
        project: The project of the run.
        **options: Others of `wandb.init`, such as `name` and `mode="offline"`.
    """

    package = "wandb"
