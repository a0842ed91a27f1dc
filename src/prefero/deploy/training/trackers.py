"""Callbacks of `RewardLoop` that send its numbers to a tracker, round by round.

Each needs the tracker's own package, and is an extra of the same name: `pip install 'prefero[trackio]'`. The
steps of training are the horizontal axis. A callback of your own is any function of a `RoundRecord`.
"""

from typing import Any

from prefero._support.optional import need
from prefero.deploy.training.loop_report import RoundRecord

PREFIX = "prefero/"  # of all names, in runs that track the training itself too


class TensorBoardCallback:
    """Writes the numbers of each round where TensorBoard finds them.

    Args:
        folder: Of the log, as in `tensorboard --logdir FOLDER`.
    """

    def __init__(self, folder: str) -> None:
        self._writer: Any = need("tensorboard.summary", extra="tensorboard").Writer(folder)

    def __call__(self, record: RoundRecord) -> None:
        """Write the numbers of a round."""
        for name, value in record.metrics().items():
            self._writer.add_scalar(PREFIX + name, value, record.steps)
        self._writer.flush()


class _RunCallback:
    """Logs to a run of a package with Weights & Biases' interface: to the one under way, or to a new one."""

    package: str

    def __init__(self, project: str = "prefero", **options: Any) -> None:
        tracker = need(self.package, extra=self.package)
        self._log = tracker.log
        if not _under_way(tracker):
            tracker.init(project=project, **options)

    def __call__(self, record: RoundRecord) -> None:
        """Log the numbers of a round."""
        self._log({PREFIX + name: value for name, value in record.metrics().items()}, step=record.steps)


class TrackioCallback(_RunCallback):
    """Logs the numbers of each round with trackio, Hugging Face's tracker.

    Args:
        project: Of a new run; where one is under way, that one is taken.
        options: Others of `trackio.init`, such as `name` and `space_id`.
    """

    package = "trackio"


class WandbCallback(_RunCallback):
    """Logs the numbers of each round with Weights & Biases.

    Args:
        project: Of a new run; where one is under way, that one is taken.
        options: Others of `wandb.init`, such as `name` and `mode="offline"`.
    """

    package = "wandb"


def _under_way(tracker: Any) -> bool:
    """Whether the user's program has started a run already."""
    if hasattr(tracker, "run"):
        return tracker.run is not None
    return tracker.context_vars.current_run.get() is not None
