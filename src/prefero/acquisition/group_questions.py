"""Questions to one person about the reward that all people share: pairs, by their group information."""

from collections.abc import Iterable
from typing import Literal, get_args

from prefero._support.arrays import Array
from prefero.acquisition.base import AnyAcquisitionFunction
from prefero.acquisition.excluded import Excluded
from prefero.acquisition.functions.group_information import GroupScorer
from prefero.acquisition.searches.sampled import best_of_pairs
from prefero.models.people.posterior import PeoplePosterior
from prefero.questions import Question
from prefero.questions.answer_kinds import Kind

About = Literal["person", "group"]


def check_about(about: str) -> None:
    """An error unless a question can be about this."""
    if about not in get_args(About):
        raise ValueError(f"a question is about the 'person' or about the 'group', but this is {about!r}")


def check_group_question(about: str, acquisition: AnyAcquisitionFunction, kind: Kind) -> None:
    """An error if a question about the group is wanted, but is not what an acquisition function chooses."""
    if about == "group" and (kind != "pair" or not hasattr(acquisition, "group_scorer")):
        raise ValueError(
            f"a question about the 'group' is the most informative pair, but {acquisition!r} and {kind!r} "
            "ask for another one: leave about out, or take kind 'pair' and the acquisition function "
            "'predictive-information' or 'mutual-information'"
        )


def best_group_question(
    people: PeoplePosterior,
    person: str,
    x: Array,
    exclude: Iterable[tuple[int, ...]] = (),
    acquisition: AnyAcquisitionFunction | None = None,
) -> Question:
    """The question whose answer by this person tells most about the reward that all share.

    Args:
        people: The posterior over everybody's rewards.
        person: Who is asked; perhaps somebody new.
        x: The trajectories, as features, (M, d).
        exclude: Pairs that are not asked about.
        acquisition: A function with a `group_scorer`; None is the group information.

    Returns:
        The question, with its value and unit.
    """
    make = getattr(acquisition, "group_scorer", GroupScorer)
    return best_of_pairs(make(people, person, x), len(x), Excluded(exclude))
