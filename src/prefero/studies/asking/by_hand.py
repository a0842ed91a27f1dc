"""A question whose trajectories a teacher chooses by hand, instead of the method."""

from collections import Counter
from collections.abc import Sequence

from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import Kind, items_of
from prefero.studies.log.event_log import BY_HAND, EventLog, Proposal
from prefero.studies.protocol.protocol import Protocol
from prefero.studies.storage.store import Refused


def question_by_hand(items: Sequence[int], log: EventLog, pool: Pool, protocol: Protocol) -> Proposal:
    """The question about these trajectories; `Refused` with the reason if the session has no such question.

    It counts for the first method, which learns from the answer. The accuracy does not change by asking, so
    it is that of the question which is open.
    """
    if protocol.arena is not None:
        raise Refused("bad-items", "an arena chooses its matches itself, so that no policy is favored")
    _check_items(items, pool)
    kind, asked, answered = _kind_of(len(items), protocol), log.open_question, len(log.answers)
    known = asked is not None and asked.answered == answered
    return Proposal(
        answered,
        protocol.methods[0].label,
        tuple(items),
        accuracy=asked.accuracy if known and asked else None,
        kind=kind,
        selection=BY_HAND,
    )


def _check_items(items: Sequence[int], pool: Pool) -> None:
    if not all(0 <= item < len(pool) for item in items):
        raise Refused("no-trajectory", f"there are trajectories 0 to {len(pool) - 1}")
    twice = [item for item, count in Counter(items).items() if count > 1]
    if twice:
        raise Refused("bad-items", f"trajectory {twice[0]} was chosen twice: choose different ones")


def _kind_of(count: int, protocol: Protocol) -> Kind:
    """The kind of the session's questions about so many trajectories; of several, the usual one."""
    fitting = [kind for kind in protocol.kinds if items_of(kind) == count]
    if not fitting:
        wanted = " or ".join(map(str, sorted({items_of(kind) for kind in protocol.kinds})))
        raise Refused(
            "bad-items",
            f"a question of this session has {wanted} of the trajectories, and {count} were chosen: "
            f"choose {wanted}",
        )
    return fitting[0]
