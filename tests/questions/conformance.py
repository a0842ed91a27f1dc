"""What Prefero requires of a kind of answers; one function per requirement."""

import re

import numpy as np

from prefero._support.arrays import Array
from prefero.questions.kinds.base import ANYWHERE, AnswerKind, Region, bound_values

RNG = np.random.default_rng(0)
MARGIN, STRONG = 0.5, 1.0
DRAWS = 200


def check_answer_kind(kind: AnswerKind) -> None:
    """All requirements."""
    check_words(kind)
    check_regions(kind)
    check_every_impression_leads_to_one_answer(kind, MARGIN)
    check_every_impression_leads_to_one_answer(kind, 0.0)
    check_rows_and_pairs(kind)


def check_words(kind: AnswerKind) -> None:
    """Words fit into a column, and the page knows the kind by the first word of its name."""
    assert len(set(kind.choices)) == len(kind.choices) > 1
    assert all(0 < len(word) <= 16 for word in (kind.name, *kind.choices))
    assert kind.name.startswith(kind.form)
    for choice in kind.choices:
        assert kind.canonical(choice) == choice
        assert any(re.fullmatch(pattern, choice) for pattern in kind.patterns)


def check_regions(kind: AnswerKind) -> None:
    """Constraints are about two places, with a finite lower bound; regions are of one size."""
    bounds = bound_values(MARGIN, STRONG)
    for choice in kind.choices:
        assert len({len(region) for region in kind.regions(choice)}) == 1
        for one in (one for region in kind.regions(choice) for one in region):
            assert {one.better, one.worse} <= set(range(kind.places))
            assert one.better != one.worse
            assert bounds[-ANYWHERE] < bounds[one.low] < bounds[one.high]


def check_every_impression_leads_to_one_answer(kind: AnswerKind, margin: float) -> None:
    """Regions are disjoint and leave nothing out; without a margin nobody says "about equal"."""
    bounds, said = bound_values(margin, STRONG), set()
    for _ in range(DRAWS if len(kind.choices) < 100 else 20):
        seen = RNG.standard_normal(kind.places)
        regions = [(choice, region) for choice in kind.choices for region in kind.regions(choice)]
        found = [choice for choice, region in regions if holds(region, seen, bounds)]
        assert found == [kind.choice_of(seen, margin, STRONG)]
        said.update(found)
    assert margin == 0 or len(said) > 1
    assert margin > 0 or not any(map(kind.is_tied, said))


def holds(region: Region, seen: Array, bounds: Array) -> bool:
    return all(bounds[low] < seen[better] - seen[worse] < bounds[high] for better, worse, low, high in region)


def check_rows_and_pairs(kind: AnswerKind) -> None:
    """Rows connect all places without a circle, and pairs are of the question's items."""
    items = list(range(10, 10 + kind.items))
    for choice in kind.choices:
        rows, place = kind.rows(choice), kind.chosen(choice)
        assert {at for row in rows for at in row[:2]} == set(range(kind.places))
        assert len(rows) == kind.places - 1
        assert any(row.tied for row in rows) == kind.is_tied(choice)
        assert place is None or 0 <= place < kind.items
        for left, right, pair in kind.pairs(items, choice):
            assert {left, right} <= set(items)
            assert pair in ("left", "right", "equal")
