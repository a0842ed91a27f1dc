"""Episodes that cannot be used: an error, or their names and reasons where they are skipped."""

from collections.abc import Mapping

from prefero.datasets.episode import BadEpisode
from prefero.datasets.features.tables.cache import FeatureRows

NAMED = 3  # skipped episodes that a message names, at most


def skipped_reasons(skipped: Mapping[str, str]) -> str:
    """Which episodes were skipped and why: the first few of them, and how many more."""
    reasons = [f"{episode}: {reason}" for episode, reason in skipped.items()]
    more = [f"and {len(reasons) - NAMED} more"] if len(reasons) > NAMED else []
    return "; ".join(reasons[:NAMED] + more)


def stop_at_bad(rows: FeatureRows, skip_bad: bool) -> None:
    """An error at the first bad episode, unless bad ones are skipped."""
    if rows.bad and not skip_bad:
        episode, reason = next(iter(rows.bad.items()))
        raise BadEpisode(episode, reason).with_skip_hint()
