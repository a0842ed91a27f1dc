"""Reasons of answers: "the left one, because of the jerk".

reason      of an answer that prefers one of two trajectories: a feature. Whether more or less of it is better
            follows from the answer
statement   all reasons of a person that are about one feature, together: a direction, which is right or wrong
            as a whole (`prefero.questions.prior_knowledge`)
confidence  that a statement is right. Each reason adds the log odds of REASON, or takes them away if it
            contradicts; the sum is bounded by the log odds of MOST, since reasons of one person err together
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
from scipy.special import expit, logit

from prefero._support.names import did_you_mean, listed
from prefero.pools.pool import Pool
from prefero.questions import Answer, Comparisons
from prefero.questions.prior_knowledge import Direction, PriorKnowledge
from prefero.trajectories.components import is_component

REASON = 0.8  # the probability that a feature of which one reason says so is better in this direction
MOST = 0.95  # however often it was said
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
    return Direction(answer.because, "higher" if better > worse else "lower", REASON)


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
    gaps = np.abs(better - worse) / np.maximum(pool.scaled[:, known].std(axis=0), np.finfo(float).tiny)
    largest = np.argsort(-gaps, kind="stable")[:OFFERED]
    names = [pool.names[known[place]] for place in largest if gaps[place] > 0]
    found = [reason_of(replace(answer, because=name), pool) for name in names]
    return tuple(one for one in found if one is not None)


def _has_meaning(pool: Pool, place: int) -> bool:
    """Whether people see it: not components of embeddings, and not what somebody's score says."""
    return not is_component(pool.names[place]) and pool.names[place] not in pool.knowledge.scores


def statements(answers: Iterable[Answer], pool: Pool) -> dict[str, tuple[Direction, ...]]:
    """By person, what their reasons say together: one direction of each feature, unless they cancel."""
    counts: dict[str, Counter[str]] = {}
    for answer in answers:
        reason = reason_of(answer, pool)
        if reason is not None:
            own = counts.setdefault(answer.person, Counter())
            own[reason.feature] += 1 if reason.better == "higher" else -1
    found = {
        person: tuple(_statement(feature, count) for feature, count in sorted(own.items()) if count)
        for person, own in sorted(counts.items())
    }
    return {person: said for person, said in found.items() if said}


def _statement(feature: str, count: int) -> Direction:
    """Of reasons of which so many more say that higher is better."""
    confidence = min(float(expit(abs(count) * logit(REASON))), MOST)
    return Direction(feature, "higher" if count > 0 else "lower", confidence)


def with_reasons(labels: Sequence[Answer], answers: Sequence[Answer], pool: Pool) -> Comparisons:
    """What reasons of the answers state, and then labels and the answers, as scaled features."""
    said = Comparisons.from_answers(pool.scaled, (*labels, *answers), pool.scaling)
    nothing = PriorKnowledge.none(len(pool.names))
    parts = []
    for person, directions in statements(answers, pool).items():
        known = reduce(PriorKnowledge.directed, directions, nothing)
        stated = known.comparisons(pool.scaled, pool.scaling)
        named = None if said.people is None else np.full(len(stated), person, dtype=np.str_)
        parts.append(replace(stated, people=named))
    return reduce(Comparisons.joined, [*parts, said])
