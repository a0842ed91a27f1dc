"""How far the participants of a study are, and whether they pay attention."""

from dataclasses import dataclass
from statistics import median

from prefero.studies.asking.arena_schedule import arena_of
from prefero.studies.asking.stage_rules import stage_of
from prefero.studies.log.attention import CarelessSign, careless_signs, retest_agreements, side_of
from prefero.studies.log.event_log import EventLog
from prefero.studies.protocol.protocol import Protocol
from prefero.studies.storage.store import Store, Study
from prefero.views.stages import Stage


@dataclass(frozen=True)
class ParticipantProgress:
    """One participant's.

    stage              None until the participant opens the link
    answered           active answers, of the `total` that the protocol asks for
    left_fraction      the fraction of the answers that preferred the left trajectory, ties aside
    retest_agreement   the fraction of retest questions that were answered as the first time
    careless_signs     reasons to doubt that the participant looked: see `attention`
    """

    label: str
    stage: Stage | None
    answered: int
    total: int
    started: str | None
    last_seen: str | None
    median_seconds: float | None
    left_fraction: float | None
    retest_agreement: float | None
    careless_signs: list[CarelessSign]


def progress_of(store: Store, study: Study) -> list[ParticipantProgress]:
    """Every participant's, in the order of their invitations."""
    protocol = Protocol.from_json(study.protocol)
    over = protocol.arena is not None and arena_of(store, study).standings().is_finished
    return [
        progress_in(participant.label, store.event_log(participant), protocol, over)
        for participant in store.participants(study)
    ]


def progress_in(label: str, log: EventLog, protocol: Protocol, over: bool = False) -> ParticipantProgress:
    """One participant's; `over`: whether this is an arena that has ended."""
    times = sorted(row.at for rows in (log.questions, log.events, log.stage_events) for row in rows)
    seconds = [active.event.seconds for active in log.answers if active.event.seconds is not None]
    agreed = retest_agreements(log)
    sides = [side_of(active) == "left" for active in log.answers if side_of(active) is not None]
    return ParticipantProgress(
        label=label,
        stage=None if not times else "done" if over else stage_of(log, protocol),
        answered=len(log.answers),
        total=protocol.total_questions,
        started=times[0] if times else None,
        last_seen=times[-1] if times else None,
        median_seconds=median(seconds) if seconds else None,
        left_fraction=sum(sides) / len(sides) if sides else None,
        retest_agreement=sum(agreed) / len(agreed) if agreed else None,
        careless_signs=careless_signs(log),
    )
