"""How many of the questions that methods asked were the best ones, and how many could not wait for these."""

from collections import Counter
from collections.abc import Iterable

from prefero._support.sentences import percent, pluralize
from prefero.studies.log.event_log import EventLog
from prefero.studies.protocol.protocol import RETEST, TEST


def selection_counts(logs: Iterable[EventLog]) -> Counter[str]:
    """Of the questions that a method chose: how many there are of each selection."""
    questions = (asked for log in logs for asked in log.questions)
    return Counter(asked.selection for asked in questions if asked.method not in (TEST, RETEST))


def selection_sentence(counts: Counter[str]) -> str:
    """The same in words; nothing where no question was chosen."""
    total = counts.total()
    if not total:
        return ""
    chosen = f"Of {pluralize(total, 'question')} that methods chose,"
    if counts["best"] == total:
        return f"{chosen} all were the best ones."
    others = [f"{counts[word]} {word}" for word in ("quick", "random") if counts[word]]
    return (
        f"{chosen} {counts['best']} were the best ones ({percent(counts['best'] / total)}); where these were "
        f"not ready in time, the participants got others ({' and '.join(others)})."
    )
