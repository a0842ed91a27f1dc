"""Reasons of answers: "the left one, because of the jerk".

reason      of an answer that prefers one of two trajectories: a feature. Whether more or less of it is
            better follows from the answer
statement   a virtual pair: both trajectories at their mean but for this feature, of which one has the value
            of the better one. So it says nothing of other places, where the feature may speak otherwise
confidence  that a statement is right, above 1/2. Those of one person about one feature and direction err
            together, so that their log odds together are at most those of MOST

A statement has a lapse, with which it is given up as a whole. How far all reasons are trusted follows from
the answers (`prefero.models.averaging.source_trust`).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import expit, logit

from prefero._support.arrays import Array
from prefero._support.names import did_you_mean, listed
from prefero.models.posterior.standardized import reference_of
from prefero.pools.pool import Pool
from prefero.questions import Answer, Comparisons
from prefero.questions.answer import REASON, SOURCES
from prefero.questions.prior_knowledge import Direction
from prefero.trajectories.components import is_component

ONCE = 0.8  # the probability that one statement is right
MOST = 0.95  # that all are of one person about one feature and direction, however many
OFFERED = 3  # reasons, of which a person may name one


def reason_of(answer: Answer, pool: Pool) -> Direction | None:
    """What the reason of an answer says by itself; None if it has none, or prefers none of two.

    Raises:
        ValueError: If the pool has no such feature, or both trajectories are equal in it.
    """
    if not answer.because or answer.chosen_pair is None:
        return None
    if answer.because not in pool.names:
        guess = did_you_mean(answer.because, pool.names) or ":"
        raise ValueError(
            f"there is no feature {answer.because!r} that could be a reason{guess} there are "
            f"{listed(pool.names)}"
        )
    better, worse = pool.features[list(answer.chosen_pair), pool.names.index(answer.because)]
    if better == worse:
        raise ValueError(
            f"{answer.because!r} is {better:g} in both trajectories, so it is no reason to prefer one: "
            "name another feature"
        )
    return Direction(answer.because, "higher" if better > worse else "lower", ONCE)


def offered_reasons(answer: Answer, pool: Pool) -> tuple[Direction, ...]:
    """The likely reasons of an answer: features with a meaning in which both trajectories differ most.

    Args:
        answer: The answer.
        pool: What it is about; differences are in standard deviations of it.

    Returns:
        Up to three, the largest difference first; none if the answer prefers none of two trajectories.
    """
    if answer.chosen_pair is None:
        return ()
    numbers = [v.features[0] for v in pool.scaling.variables if len(v.features) == 1 and v.categories is None]
    known = [place for place in numbers if _has_meaning(pool, place)]
    better, worse = pool.scaled[list(answer.chosen_pair)][:, known]
    spread = reference_of(pool.scaled)[:, known].std(axis=0)
    gaps = np.abs(better - worse) / np.maximum(spread, np.finfo(float).tiny)
    largest = np.argsort(-gaps, kind="stable")[:OFFERED]
    names = [pool.names[known[place]] for place in largest if gaps[place] > 0]
    found = [reason_of(replace(answer, because=name), pool) for name in names]
    return tuple(one for one in found if one is not None)


def _has_meaning(pool: Pool, place: int) -> bool:
    """Whether people see it: not components of embeddings, and not what somebody's score says."""
    return not is_component(pool.names[place]) and pool.names[place] not in pool.knowledge.scores


def with_reasons(labels: Sequence[Answer], answers: Sequence[Answer], pool: Pool) -> Comparisons:
    """What reasons of the answers state, and then labels and the answers, as scaled features."""
    said = Comparisons.from_answers(pool.scaled, (*labels, *answers), pool.scaling)
    reasons = [(one, reason) for one in answers for reason in [reason_of(one, pool)] if reason is not None]
    if not reasons:
        return said
    counts = Counter((one.person, reason.feature, reason.better) for one, reason in reasons)
    confidences = [confidence(counts[one.person, reason.feature, reason.better]) for one, reason in reasons]
    pairs = np.array([statement(one, pool) for one, _ in reasons])
    stated = Comparisons(
        pairs[:, 0],
        pairs[:, 1],
        np.zeros(len(pairs), dtype=bool),
        pool.scaling,
        None if said.people is None else np.array([one.person for one, _ in reasons], dtype=np.str_),
        sources=np.full(len(pairs), SOURCES.index(REASON)),
        lapses=2.0 * (1.0 - np.array(confidences)),
    )
    return stated.joined(said)


def statement(answer: Answer, pool: Pool) -> Array:
    """The better and the worse virtual trajectory of an answer's reason, scaled, (2, d)."""
    assert answer.chosen_pair is not None
    both: Array = pool.scaled[list(answer.chosen_pair)]
    feature = pool.names.index(answer.because)
    virtual = np.tile(both.mean(axis=0), (2, 1))
    virtual[:, feature] = both[:, feature]
    return virtual


def confidence(count: int) -> float:
    """In each of so many statements about the same."""
    return float(expit(min(logit(ONCE), logit(MOST) / count)))
