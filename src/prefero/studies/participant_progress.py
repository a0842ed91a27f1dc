"""How far the participants of a study are, and whether they pay attention."""

from dataclasses import dataclass
from statistics import median

from prefero.studies.event_log import ActiveAnswer, EventLog
from prefero.studies.protocol import RETEST, Protocol
from prefero.studies.stage_rules import stage_of
from prefero.studies.stages import Stage
from prefero.studies.storage.store import Store, Study


@dataclass(frozen=True)
class ParticipantProgress:
    """One participant's.

    stage              None until the participant opens the link
    answered           active answers, of the `total` that the protocol asks for
    left_share         the share of the answers that preferred the left trajectory, ties aside
    retest_agreement   the share of retest questions that were answered as the first time
    """

    label: str
    stage: Stage | None
    answered: int
    total: int
    started: str | None
    last_seen: str | None
    median_seconds: float | None
    left_share: float | None
    retest_agreement: float | None


def progress_of(store: Store, study: Study) -> list[ParticipantProgress]:
    """Every participant's, in the order of their invitations."""
    protocol = Protocol.from_json(study.protocol)
    return [
        _progress(participant.label, store.event_log(participant), protocol)
        for participant in store.participants(study)
    ]


def _progress(label: str, log: EventLog, protocol: Protocol) -> ParticipantProgress:
    times = sorted(row.at for rows in (log.questions, log.events, log.stage_events) for row in rows)
    seconds = [active.event.seconds for active in log.answers if active.event.seconds is not None]
    sides = [active.choice == "left" for active in log.answers if active.choice in ("left", "right")]
    return ParticipantProgress(
        label=label,
        stage=stage_of(log, protocol) if times else None,
        answered=len(log.answers),
        total=protocol.total_questions,
        started=times[0] if times else None,
        last_seen=times[-1] if times else None,
        median_seconds=median(seconds) if seconds else None,
        left_share=sum(sides) / len(sides) if sides else None,
        retest_agreement=retest_agreement(log),
    )


def retest_agreement(log: EventLog) -> float | None:
    """The share of retests that were answered in the same way as the first time."""
    first: dict[frozenset[int], ActiveAnswer] = {}
    agreed = []
    for active in log.answers:
        items = frozenset(active.asked.items)
        if active.asked.method == RETEST and items in first:
            agreed.append(preferred(active) == preferred(first[items]))
        else:
            first.setdefault(items, active)
    return sum(agreed) / len(agreed) if agreed else None


def preferred(active: ActiveAnswer) -> int | None:
    """The trajectory that the participant preferred; None for "about equal"."""
    left, right = active.asked.items
    return {"left": left, "right": right}.get(active.choice)
