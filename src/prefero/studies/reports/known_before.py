"""What was known before the first question of a study, and how far the participants' answers confirm it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import one_thread
from prefero._support.progress_bar import progress
from prefero._support.sentences import capitalize, pluralize
from prefero.learner import Learner
from prefero.learner.sources import KnownSource
from prefero.models.posterior.mixture import ENOUGH_ANSWERS
from prefero.plots.tables import markdown_table, markdown_text
from prefero.questions.answer import JUDGE
from prefero.studies.log.event_log import EventLog
from prefero.studies.storage.store import Store, Study

HEAD = ("source", "right", "agrees with answers", "trusted", "answers saved")
# Up to which it is worked out what sources have saved: that takes seconds for each participant and source.
MOST_PARTICIPANTS, MOST_ANSWERS = 30, 100


class CheckedSource(NamedTuple):
    """A source, given all answers of one participant.

    saved   how many of these answers the source has saved; None where that was not worked out
    """

    source: KnownSource
    saved: int | None


def checked_sources(store: Store, study: Study) -> dict[str, list[CheckedSource]]:
    """The sources of the pool's knowledge, for each participant with enough answers, by label."""
    pool = store.pool(study)
    if not pool.knowledge:
        return {}
    logs = {participant.label: store.event_log(participant) for participant in store.participants(study)}
    counts = {label: len(log.answers) for label, log in logs.items()}
    enough = [label for label, count in counts.items() if count >= ENOUGH_ANSWERS]
    weighed = [label for label in enough if counts[label] <= MOST_ANSWERS][:MOST_PARTICIPANTS]
    found = {}
    with progress("checking what was known before", len(enough)) as advance:
        for label in enough:
            found[label] = _checked(Learner(pool), logs[label], label in weighed)
            advance(1)
    return found


@one_thread
def _checked(learner: Learner, log: EventLog, weighed: bool) -> list[CheckedSource]:
    for active in log.answers:
        learner.tell(active.asked.question, active.choice, because=active.because)
    return [
        CheckedSource(one, learner.worth_in_answers(one.source, one.name) if weighed else None)
        for one in learner.sources()
    ]


def known_section(checked: Mapping[str, list[CheckedSource]]) -> Iterator[str]:
    """A table of the sources, over all participants, and one of the judges; nothing without any."""
    if not checked:
        return
    yield "## What was known before the first question\n"
    yield markdown_table(HEAD, [_cells(of_source) for of_source in zip(*checked.values(), strict=True)])
    yield (
        "How much of what a source says is right, as far as the participants' answers tell; half would be by "
        "chance. A score also agrees or disagrees with each answer. Answers saved are how many fewer "
        "answers of a participant would have predicted as much beside the source. All are means over "
        f"{pluralize(len(checked), 'participant')}.\n"
    )
    left_out = [label for label, each in checked.items() if each[0].saved is None]
    if left_out:
        yield (
            f"Answers saved were not worked out for {markdown_text(', '.join(left_out))}. That takes seconds "
            f"each, so it is done for the first {pluralize(MOST_PARTICIPANTS, 'participant')} with up to "
            f"{MOST_ANSWERS} answers.\n"
        )
    yield from _judges_section(checked)


def _judges_section(checked: Mapping[str, list[CheckedSource]]) -> Iterator[str]:
    """How many answers each judge has saved each participant."""
    of_judges = {
        label: [one for one in each if one.source.source == JUDGE] for label, each in checked.items()
    }
    names = [one.source.name for one in next(iter(of_judges.values()))]
    if not names:
        return
    yield "### What judges were worth\n"
    rows = [
        (
            markdown_text(label),
            each[0].source.answers,
            *("" if one.saved is None else one.saved for one in each),
        )
        for label, each in of_judges.items()
    ]
    yield markdown_table(("participant", "answers", *map(markdown_text, names)), rows)
    yield (
        "How many of a participant's answers each judge has saved: with the judge, that many fewer would "
        f"have predicted as much. Participants with fewer than {ENOUGH_ANSWERS} answers are left out.\n"
    )


def _cells(each: Sequence[CheckedSource]) -> tuple[str, ...]:
    """Under `HEAD`, of one source."""
    sources, saved = [one.source for one in each], [one.saved for one in each if one.saved is not None]
    agreeing, compared = (sum(getattr(one, name) for one in sources) for name in ("agreeing", "compared"))
    return (
        markdown_text(capitalize(sources[0].says)),
        f"{np.mean([one.support for one in sources]):.0%}",
        f"{agreeing / compared:.0%}" if compared else "",
        f"by {sum(one.trusted for one in sources)} of {len(sources)}",
        f"{np.mean(saved):.1f}" if saved else "",
    )
