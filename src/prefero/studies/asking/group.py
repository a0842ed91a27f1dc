"""What the participants of a study, or of a teaching session, have said together: the group's reward.

    agreement   of two participants: the fraction of pairs of trajectories on which they probably agree
    style       of a participant: noise with an interval, and the probability that all answers are at random
    share       the fraction of the variance of rewards that participants have in common

Answers to retests count like all others. One model learns from all answers
(`prefero.models.people.posterior`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from prefero._support.arrays import Array, one_thread
from prefero._support.sentences import percent
from prefero.acquisition.group_questions import About
from prefero.learner import Learner
from prefero.models.inference.solution import ConvergenceError
from prefero.models.people.posterior import AnswerStyle, PeoplePosterior
from prefero.pools.pool import Pool
from prefero.questions import Answer
from prefero.questions.answer import SOURCES
from prefero.rewards.reward import BestTrajectory, Reward
from prefero.studies.asking.learner_cache import LearnerCache, OtherTeachers
from prefero.studies.protocol.protocol import Protocol
from prefero.studies.storage.store import Participant, Store, Study

DOUBTED = 0.5  # probability of carelessness from which somebody is named
FEWEST_ANSWERS = 5  # of a participant, to be compared with the others


@dataclass(frozen=True, eq=False)
class GroupSummary:
    """What is known of several participants; rows and columns are in the order of `labels`."""

    labels: tuple[str, ...]
    styles: tuple[AnswerStyle, ...]
    agreement: Array
    group_agreement: Array  # of each one with the reward that all share
    share: float
    best: BestTrajectory  # by the reward that all share
    best_of_each: tuple[BestTrajectory, ...]


def named_answers(store: Store, study: Study) -> list[Answer]:
    """The active answers of all participants, each with the participant's label."""
    found: list[Answer] = []
    for participant in store.participants(study):
        for active in store.event_log(participant).answers:
            question = active.asked.question.numbered(len(found) + 1)
            found.append(replace(active.answer, question=question, person=participant.label))
    return found


def other_teachers(
    store: Store, study: Study, participant: Participant, about: About = "person"
) -> OtherTeachers | None:
    """The others who have taught in a session so far, for a learner of the participant; None without any.

    In a study every participant is learned alone, so that methods are compared on independent people.
    """
    if study.kind != "teach":
        return None
    known = named_answers(store, study)
    answers = [one for one in known if one.person != participant.label]
    return OtherTeachers(tuple(answers), participant.label, about) if answers else None


def taught_learner(store: Store, study: Study, participant: Participant) -> Learner:
    """A learner of what one person has taught in a session."""
    protocol, log = Protocol.from_json(study.protocol), store.event_log(participant)
    others = other_teachers(store, study, participant)
    cache = LearnerCache(store.pool(study), protocol, participant.seed, others)
    return cache.learner(protocol.methods[0].label, log)


def group_learner(store: Store, study: Study) -> Learner | None:
    """A learner of everybody's answers; None unless two participants have given a few."""
    answers = named_answers(store, study)
    counts: dict[str, int] = {}
    for answer in answers:
        counts[answer.person] = counts.get(answer.person, 0) + 1
    enough = {label for label, count in counts.items() if count >= FEWEST_ANSWERS}
    if len(enough) < 2:
        return None
    return Learner(store.pool(study), answers=[answer for answer in answers if answer.person in enough])


@one_thread
def group_summary(store: Store, study: Study) -> GroupSummary | None:
    """What participants have in common; None with fewer than two, or if the model cannot be fitted."""
    learner = group_learner(store, study)
    if learner is None:
        return None
    try:
        people = learner.people_belief()
    except (ConvergenceError, ValueError):
        return None
    pool = learner.pool
    known = {*SOURCES[1:], *(one.judge for one in pool.knowledge.judgements)}
    places = [place for place, name in enumerate(people.names) if name not in known]
    names = tuple(people.names[place] for place in places)
    agreement = people.agreement(pool.scaled)[np.ix_(places, places)]
    return GroupSummary(
        names,
        tuple(people.style(name) for name in names),
        agreement,
        _with_group(people, names, pool),
        people.share,
        learner.reward().best(pool),
        tuple(learner.reward(name).best(pool) for name in names),
    )


def _with_group(people: PeoplePosterior, names: Sequence[str], pool: Pool) -> Array:
    """On which fraction of pairs the expected reward of each one and that of the group agree, (P,)."""
    together = people.group.marginals(pool.scaled)[0]
    signs = np.sign(together[:, None] - together)
    found = []
    for name in names:
        own = people.person(name).marginals(pool.scaled)[0]
        found.append(np.mean((np.sign(own[:, None] - own) == signs)[np.triu_indices(len(own), 1)]))
    return np.array(found)


def group_reward(store: Store, study: Study) -> Reward | None:
    """The reward that all share; None unless two participants have answered."""
    learner = group_learner(store, study)
    return None if learner is None else learner.reward()


def together_sentences(summary: GroupSummary) -> list[str]:
    """What participants have in common, in words."""
    best = summary.best
    pairs = summary.agreement[np.triu_indices(len(summary.labels), 1)]
    sentences = [
        f"{len(summary.labels)} people have taught in this session: {', '.join(summary.labels)}. Two of them "
        f"agree on {percent(float(pairs.mean()))} of pairs, as far as is known; they share "
        f"{percent(summary.share)} of what makes trajectories differ.",
        f"The best trajectory for all of them is number {best.index}, with a probability of "
        f"{percent(best.probability)}.",
    ]
    doubted = [
        f"{label} ({percent(style.careless)})"
        for label, style in zip(summary.labels, summary.styles, strict=True)
        if style.careless > DOUBTED
    ]
    if doubted:
        sentences.append(f"Perhaps answered at random, and so hardly counted: {', '.join(doubted)}.")
    return sentences
