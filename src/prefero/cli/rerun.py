"""`prefero rerun`: a question as a recording for the Rerun viewer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from prefero._support.names import no_such
from prefero.cli.console import check_apart, check_outputs, say
from prefero.cli.options import with_format_flags
from prefero.cli.scoring import (
    Learning,
    RewardAndTrajectories,
    SessionDatabase,
    SessionName,
    open_trajectories,
    reward_and_trajectories,
)
from prefero.datasets import Dataset, FeatureOptions
from prefero.deploy.recording.rerun_file import check_recording, record_question
from prefero.learner.known_options import KnownOptions
from prefero.pools.pool import Pool
from prefero.pools.pool_file import is_pool_file

OUT = Path("question.rrd")


@with_format_flags
def rerun(
    words: RewardAndTrajectories,
    question: Annotated[
        str, typer.Option(help="The trajectories: their ids or numbers, such as 3,17.", metavar="A,B")
    ],
    out: Annotated[Path, typer.Option(help="Write the recording to this file (.rrd).")] = OUT,
    name: SessionName = None,
    database: SessionDatabase = None,
    *,
    opening: Mapping[str, object],
) -> None:
    """Write the trajectories of a question, with their learned rewards, for the Rerun viewer.

    The clips are side by side. Below them are, over time, the rewards with a band of one standard deviation
    to both sides, and the states, actions and features.

    For example:

        prefero rerun reward.json pick_and_place --question 3,17
    """
    check_recording(out)
    check_outputs(out)
    learning = Learning(name, database, None, FeatureOptions(), opening)
    learned, trajectories = reward_and_trajectories("rerun", words, learning)
    source: Pool | Dataset
    if is_pool_file(Path(trajectories)):
        source = Pool.load(trajectories)
        check_apart(out, trajectories)
    else:
        source = open_trajectories(trajectories, opening, KnownOptions(), videos=True)
        check_apart(out, trajectories, source.files)
    items = _items(question, source.ids or [], len(source))
    record_question(learned, source, items, out, trust=bool(opening["trust"]))
    say(f"The recording is in {out}. To look at it:  rerun {out}")


def _items(question: str, ids: Sequence[str], count: int) -> list[int]:
    """The places of trajectories that are named by their ids, or by their numbers from 0."""
    places = {name: place for place, name in enumerate(ids)}
    numbers = {str(place): place for place in range(count)}
    words = [word.strip() for word in question.split(",")]
    unknown = [word for word in words if word not in places and word not in numbers]
    if unknown:
        raise ValueError(no_such("trajectory", unknown[0], tuple(places or numbers), "trajectories"))
    return [places.get(word, numbers.get(word, 0)) for word in words]
