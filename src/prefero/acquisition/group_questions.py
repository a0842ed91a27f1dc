"""Questions to one person that tell most about the reward that all people share.

    d_p        the difference of the person's rewards, which decides the answer: d_p = d_g + own difference
    d_g        the difference of the group's reward
    explained  Cov[d_p, d_g]^2 / Var[d_g]: the part of Var[d_p] that is known once d_g is
    scale^2    2 noise^2 + Var[d_p] - explained: all that disturbs the answer as a sign of d_g

The information is I(answer; d_g) = h(P) - E[h(P given d_g)] in bits, averaged over candidates and over the
person's levels of noise. A person who is probably careless, or whose taste is far from the others', tells
little of it.
"""

from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array, Indices, one_thread
from prefero._support.ordering import first_largest
from prefero.acquisition.answer_information import INFORMATION
from prefero.acquisition.base import AnyAcquisitionFunction
from prefero.acquisition.entropy import two_answers
from prefero.models.answer_levels import Level
from prefero.models.likelihood import lapsing
from prefero.models.people import PeoplePosterior
from prefero.questions import Question
from prefero.questions.answer_kinds import Kind

About = Literal["person", "group"]
MOST_PAIRS = 20_000  # that are scored: of a larger pool, random ones


def check_about(about: str) -> None:
    """An error unless a question can be about this."""
    if about not in get_args(About):
        raise ValueError(f"a question is about the 'person' or about the 'group', but this is {about!r}")


def check_group_question(about: str, acquisition: AnyAcquisitionFunction, kind: Kind) -> None:
    """An error if a question about the group is wanted, but is not what an acquisition function chooses."""
    if about == "group" and (kind != "pair" or not isinstance(acquisition, INFORMATION)):
        raise ValueError(
            f"a question about the 'group' is the most informative pair, but {acquisition!r} and {kind!r} "
            "ask for another one: leave about out, or take kind 'pair' and the acquisition function "
            "'predictive-information' or 'mutual-information'"
        )


def best_group_question(
    people: PeoplePosterior, person: str, x: Array, exclude: Iterable[tuple[int, ...]] = ()
) -> Question:
    """The question whose answer by this person tells most about the reward that all share.

    Args:
        people: The posterior over everybody's rewards.
        person: Who is asked; perhaps somebody new.
        x: The trajectories, as features, (M, d).
        exclude: Pairs that are not asked about.

    Returns:
        The question, with its bits.
    """
    pairs = _pairs(len(x), set(map(frozenset, exclude)))
    bits = group_information(people, person, x, pairs)
    best = first_largest(bits)
    left, right = pairs[best].tolist()
    return Question(left, right, value=float(bits[best]))


def _pairs(count: int, excluded: set[frozenset[int]]) -> Indices:
    first, second = np.triu_indices(count, 1) if count * (count - 1) // 2 <= MOST_PAIRS else _random(count)
    pairs = np.column_stack([first, second])
    if excluded:
        pairs = pairs[[frozenset(pair) not in excluded for pair in pairs.tolist()]]
    if not len(pairs):
        raise ValueError("every pair of the pool is open or was skipped: answer some, or add trajectories")
    return pairs


def _random(count: int) -> tuple[Indices, Indices]:
    rng = np.random.default_rng(count)
    first, apart = rng.integers(0, count, MOST_PAIRS), rng.integers(1, count, MOST_PAIRS)
    return first, (first + apart) % count


@one_thread
def group_information(people: PeoplePosterior, person: str, x: Array, pairs: Indices) -> Array:
    """The bits that the person's answer to each pair, (T, 2), tells about the group's reward, (T,)."""
    probability, within = np.zeros(len(pairs)), np.zeros(len(pairs))
    for fit in people.fits:
        phi = fit.basis(x)
        A, weights = phi[pairs[:, 0]] - phi[pairs[:, 1]], people.weights_of(fit, person)
        moments = weights.with_group(A, fit.ep.hyper.own)
        for k, (level, chance) in enumerate(zip(fit.ep.hyper.levels, weights.weights, strict=True)):
            p, h = _answer(level, *(moment[k] for moment in moments))
            probability += fit.weight * chance * p
            within += fit.weight * chance * h
    entropy = -_xlog2(probability) - _xlog2(1.0 - probability)
    return np.maximum(entropy - within, 0.0)


def _answer(level: Level, mean: Array, variance: Array, explained: Array) -> tuple[Array, Array]:
    """P(first preferred), and the entropy of the answer once d_g is known, in expectation."""
    if level.is_careless:
        return np.full(len(mean), 0.5), np.ones(len(mean))
    scale = np.sqrt(2.0 * level.noise**2 + np.maximum(variance - explained, 0.0))
    M, V = mean / scale, explained / scale**2
    chosen: Array = lapsing(ndtr(M / np.sqrt(1.0 + V)), level.lapse)
    return chosen, two_answers(level.lapse).expectation(M, V)


def _xlog2(p: Array) -> Array:
    return p * np.log2(np.maximum(p, 1e-300))
