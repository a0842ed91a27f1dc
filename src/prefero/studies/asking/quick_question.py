"""A question at once, for when the best one is not ready: chosen with all answers, by one Gaussian process.

The default model averages over some eighty candidates, and scores questions under eight of them. Here a
typical candidate stands for all, and some trajectories stand for the pool. That takes a tenth of the time, so
the server itself can do it, and the answers teach nearly as much (docs/results/serving.md).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from prefero._support.arrays import one_thread
from prefero.acquisition.batches import likely_answer
from prefero.acquisition.searches.best_question import best_question
from prefero.kernels import Kernel
from prefero.models.averaging.learned_margins import TYPICAL_BEYOND
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.structures import MANY, ModelSettings, typical_kernel
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.pools.pool import Pool
from prefero.questions import Answer, Comparisons, Question
from prefero.questions.answer_kinds import PAIR, Kind, items_of
from prefero.questions.prior_knowledge import PriorKnowledge

NOISE = 0.3  # of a person whose noise is not known; with much less, contradictions would take long
CONSIDERED = 400  # trajectories that stand for the pool
MOST_ANSWERS = 200  # the last ones


@one_thread
def quick_question(
    pool: Pool,
    answers: Sequence[Answer],
    kind: Kind,
    asked: Sequence[tuple[int, ...]],
    rng: np.random.Generator,
) -> tuple[Question, str]:
    """A good question, and the most probable answer to it.

    Args:
        pool: What questions are about.
        answers: Of the person.
        kind: Of the answer; a question about more than two is a good pair, and others at random.
        asked: Trajectories that are not asked about together again; one alone, while there are others.
        rng: Draws the trajectories that are considered, and their order.
    """
    known = [*_some_labels(pool, MOST_ANSWERS - len(answers)), *answers[-MOST_ANSWERS:]]
    said = Comparisons.from_answers(pool.scaled, known, pool.scaling)
    data = _own_knowledge(pool).comparisons(pool.scaled, pool.scaling).joined(said)
    belief = infer(_typical_prior(pool, data.has_bar), data, _typical_person(data)).posterior
    some = rng.permutation(len(pool))[:CONSIDERED]
    count = items_of(kind)
    size = min(count, 2)
    place = {int(item): number for number, item in enumerate(some)}
    again = [one for one in asked if len(one) == size and place.keys() >= {*one}]
    sets = [tuple(place[item] for item in one) for one in again]
    found = best_question(
        belief,
        pool.scaled[some],
        acquisition="predictive-information",
        kind=kind if count == 1 else PAIR,
        exclude=sets if count == 2 else (),
        answered=sets,
    )
    chosen = [int(some[item]) for item in found.items]
    others = [item for item in rng.permutation(len(pool)).tolist() if item not in chosen]
    items = rng.permutation([*chosen, *others[: count - size]]).tolist()
    question = Question(*items, value=found.value, unit=found.unit, kind=kind)
    return question, likely_answer(belief, pool.scaled, question).choice


def _some_labels(pool: Pool, most: int) -> list[Answer]:
    """The pool's labels as answers, or if there are more than so many, evenly chosen ones."""
    if pool.labels is None or most < 1:
        return []
    every = pool.labels.answers()
    return [every[place] for place in np.unique(np.linspace(0, len(every) - 1, most).astype(int))]


def _own_knowledge(pool: Pool) -> PriorKnowledge:
    """What is known before the first question, without judges, who are other people."""
    return replace(pool.knowledge, judgements=())


@lru_cache(maxsize=8)
def _typical_prior(pool: Pool, bar: bool) -> Kernel:
    """Of a smooth reward, or of one that is linear in many features; perhaps of the bar too."""
    reference = Reference.of(pool.scaled, pool.scaling)
    form = "linear" if reference.features > MANY else "linear+rbf"
    kernel = typical_kernel(form, reference.features, reference.unit)
    return ModelSettings(reference, NOISE, None, "ep", bar=bar).anchored(kernel)


def _typical_person(data: Comparisons) -> Probit:
    """Margins are there where answers need them."""
    margin = NOISE if data.has_ties else 0.0
    return Probit(NOISE, margin, strong_margin=margin + TYPICAL_BEYOND if data.has_strengths else 0.0)
