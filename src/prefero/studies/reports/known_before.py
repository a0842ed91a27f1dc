"""What was known before the first question of a study, and how far the participants' answers confirm it."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import one_thread
from prefero._support.progress_bar import progress
from prefero._support.sentences import capitalize, pluralize
from prefero.learner import Learner
from prefero.learner.sources import KnownSource
from prefero.models.posterior.mixture import ENOUGH_ANSWERS
from prefero.plots.tables import markdown_table, markdown_text
from prefero.studies.log.event_log import EventLog
from prefero.studies.storage.store import Store, Study

HEAD = ("source", "right", "agrees with answers", "trusted", "answers saved")


class CheckedSource(NamedTuple):
    """A source, given all answers of one participant.

    saved   how many of these answers the source has saved
    """

    source: KnownSource
    saved: int


def checked_sources(store: Store, study: Study) -> list[list[CheckedSource]]:
    """The sources of the pool's knowledge, for each participant with enough answers."""
    pool = store.pool(study)
    if not pool.knowledge:
        return []
    logs = [store.event_log(participant) for participant in store.participants(study)]
    enough = [log for log in logs if len(log.answers) >= ENOUGH_ANSWERS]
    found = []
    with progress("checking what was known before", len(enough)) as advance:
        for log in enough:
            found.append(_checked(Learner(pool), log))
            advance(1)
    return found


@one_thread
def _checked(learner: Learner, log: EventLog) -> list[CheckedSource]:
    for active in log.answers:
        learner.tell(active.asked.question, active.choice, because=active.because)
    return [CheckedSource(one, learner.worth_in_answers(one.source, one.name)) for one in learner.sources()]


def known_section(checked: list[list[CheckedSource]]) -> Iterator[str]:
    """A table of the sources, over all participants; nothing without any."""
    if not checked:
        return
    yield "## What was known before the first question\n"
    yield markdown_table(HEAD, [_cells(list(of_source)) for of_source in zip(*checked, strict=True)])
    yield (
        "How much of what a source says is right, as far as the participants' answers tell; half would be by "
        "chance. A score also agrees or disagrees with each answer. Answers saved are how many fewer "
        "answers of a participant would have predicted as much beside the source. All are means over "
        f"{pluralize(len(checked), 'participant')}.\n"
    )


def _cells(each: list[CheckedSource]) -> tuple[str, ...]:
    """Under `HEAD`, of one source."""
    sources = [one.source for one in each]
    agreeing, compared = (sum(getattr(one, name) for one in sources) for name in ("agreeing", "compared"))
    return (
        markdown_text(capitalize(sources[0].says)),
        f"{np.mean([one.support for one in sources]):.0%}",
        f"{agreeing / compared:.0%}" if compared else "",
        f"by {sum(one.trusted for one in sources)} of {len(sources)}",
        f"{np.mean([one.saved for one in each]):.1f}",
    )
