"""How far the people of a study are, and whether they pay attention."""

from dataclasses import dataclass
from statistics import median

from prefero.studies.event_log import Live, Log
from prefero.studies.protocol import RETEST, Protocol
from prefero.studies.session_state import Stage
from prefero.studies.storage.store import Store, Study


@dataclass(frozen=True)
class ParticipantProgress:
    """One participant's.

    stage              None until the participant opens the link
    answered           answers in force, of the `total` that the protocol asks for
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
    """Everybody's, in the order of invitations."""
    protocol = Protocol.from_json(study.protocol)
    return [_progress(person.label, store.log(person), protocol) for person in store.people(study)]


def _progress(label: str, log: Log, protocol: Protocol) -> ParticipantProgress:
    moments = sorted(row.at for rows in (log.questions, log.told, log.steps) for row in rows)
    seconds = [live.told.seconds for live in log.live if live.told.seconds is not None]
    sides = [live.told.said == "left" for live in log.live if live.told.said != "equal"]
    return ParticipantProgress(
        label=label,
        stage=stage_of(log, protocol) if moments else None,
        answered=len(log.live),
        total=protocol.slots,
        started=moments[0] if moments else None,
        last_seen=moments[-1] if moments else None,
        median_seconds=median(seconds) if seconds else None,
        left_share=sum(sides) / len(sides) if sides else None,
        retest_agreement=retest_agreement(log),
    )


def stage_of(log: Log, protocol: Protocol) -> Stage:
    """What a person is at: the first thing that is wanted and not done."""
    wanted: dict[Stage, bool] = {
        "consent": bool(protocol.consent),
        "instructions": bool(protocol.instructions),
        "target_scores": protocol.target_scores,
        "practice": protocol.practice,
    }
    for stage, there in wanted.items():
        if there and log.step(stage) is None:
            return stage
    if compares(log, protocol):
        return "compare"
    return "rate" if protocol.rate and unrated(log, protocol) else "done"


def compares(log: Log, protocol: Protocol) -> bool:
    """Are there questions left?"""
    return protocol.endless or len(log.live) < protocol.slots


def unrated(log: Log, protocol: Protocol) -> list[str]:
    """Methods whose best trajectory is not rated yet."""
    return [asker.label for asker in protocol.methods if log.step("rate", asker.label) is None]


def retest_agreement(log: Log) -> float | None:
    """The share of questions that were answered alike when they came again with their sides changed."""
    first: dict[frozenset[int], Live] = {}
    alike = []
    for live in log.live:
        pair = frozenset((live.asked.left, live.asked.right))
        if live.asked.method == RETEST and pair in first:
            alike.append(chosen(live) == chosen(first[pair]))
        else:
            first.setdefault(pair, live)
    return sum(alike) / len(alike) if alike else None


def chosen(live: Live) -> int | None:
    """The trajectory that was preferred; None for "about equal"."""
    sides = {"left": live.asked.left, "right": live.asked.right}
    return sides.get(live.told.said)
