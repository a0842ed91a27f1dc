"""How many of the questions that methods asked were the best ones, and how many could not wait for these."""

from collections import Counter
from collections.abc import Iterable

from prefero._support.sentences import capitalize, percent, pluralize
from prefero.studies.log.event_log import BY_HAND, EventLog
from prefero.studies.protocol.protocol import RETEST, TEST


def selection_counts(logs: Iterable[EventLog]) -> Counter[str]:
    """Of the questions but tests and retests: how many there are of each selection."""
    questions = (asked for log in logs for asked in log.questions)
    return Counter(asked.selection for asked in questions if asked.method not in (TEST, RETEST))


def selection_sentence(counts: Counter[str]) -> str:
    """The same in words; nothing where no question was chosen."""
    total = counts.total() - counts[BY_HAND]
    by_hand = _by_hand_sentence(counts[BY_HAND])
    return " ".join(filter(None, (_chosen_sentence(counts, total), by_hand)))


def _by_hand_sentence(count: int) -> str:
    if not count:
        return ""
    return f"{capitalize(pluralize(count, 'question'))} {'was' if count == 1 else 'were'} chosen by hand."


def _chosen_sentence(counts: Counter[str], total: int) -> str:
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
