"""When an arena decides: by quadrature, by the mean of its evidence, and by simulated arenas on a lattice."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, norm

from prefero.arena import Arena, ArenaPlan, Judgment
from prefero.arena.decisions import EQUAL, Decisions, least_strength
from prefero.arena.effects import STDS
from prefero.arena.simulate import SimulatedPolicies
from prefero.arena.strengths import StrengthFitter, Strengths
from prefero.questions import Answer, Question


def wins(first: int, other: int) -> list[Judgment]:
    """The first of two policies has won so often, and the other so often."""
    choices = ["left"] * first + ["right"] * other
    return [Judgment(Answer(Question(0, 1), choice)) for choice in choices]


def fitted(first: int, other: int) -> Strengths:
    return StrengthFitter(ArenaPlan.of_policies("AB")).fit(wins(first, other))


def likelihood(difference: float, first: int, other: int) -> float:
    return float(norm.cdf(difference) ** first * norm.cdf(-difference) ** other)


def prior(difference: float) -> float:
    """The density of the difference of two independent strengths."""
    return float(sum(weight * norm.pdf(difference, scale=np.sqrt(2) * std) for std, weight in STDS.items()))


def integral(first: int, other: int, low: float, high: float) -> float:
    found, _ = quad(lambda d: prior(d) * likelihood(d, first, other), low, high, points=[0.0], limit=200)
    return float(found)


@pytest.mark.parametrize(("first", "other"), [(0, 0), (4, 1), (9, 2), (6, 6), (30, 25)])
def test_probabilities_of_two_policies_agree_with_quadrature(first: int, other: int) -> None:
    found = Decisions(fitted(first, other), 0.15)
    no_difference = EQUAL * likelihood(0.0, first, other)
    above, below = ((1 - EQUAL) * integral(first, other, *ends) for ends in ((0, 12), (-12, 0)))
    total = no_difference + above + below
    assert found.equal[0, 1] == pytest.approx(no_difference / total, abs=0.01)
    assert found.better[0, 1] == pytest.approx(above / total, abs=0.01)
    assert found.better[1, 0] == pytest.approx(below / total, abs=0.01)
    large = max(likelihood(sign * norm.ppf(0.65), first, other) for sign in (1, -1))
    assert found.small[0, 1] == pytest.approx(max(1 - large / likelihood(0.0, first, other), 0), abs=0.02)


@pytest.mark.parametrize("difference", [0.0, 0.25, 1.0])
def test_the_evidence_against_the_true_difference_is_at_most_one_on_average(difference: float) -> None:
    """So it reaches c with a probability of at most 1 / c; normal approximations understate it."""
    counts = np.arange(9)
    weights = binom.pmf(counts, 8, norm.cdf(difference))
    evidence = [np.exp(-fitted(int(k), 8 - int(k)).log_ratio(difference)[0, 1]) for k in counts]
    assert 0.7 < weights @ np.array(evidence) < 1.01


def test_the_least_difference_is_a_fraction_of_wins() -> None:
    assert norm.cdf(least_strength(0.15)) == pytest.approx(0.65)


def test_nothing_is_decided_before_ten_answers() -> None:
    few, enough = (Arena("AB", judgments=wins(count, 0)).standings() for count in (9, 10))
    assert few.confidence > 0.95
    assert not few.is_decided
    assert enough.is_decided


def test_that_no_difference_matters_is_a_result() -> None:
    found = Arena("AB", judgments=wins(41, 40)).standings()
    assert found.is_decided
    assert found.sentences[0].startswith("The order is A = B: 9")
    assert found.sentences[1].startswith("A and B do not differ by what matters: 9")
    assert found.sentences[1].endswith("of comparisons.")
    demanding = ArenaPlan.of_policies("AB", least_difference=0.05)
    assert not Arena(demanding, judgments=wins(40, 40)).standings().is_decided


def test_the_best_policies_are_named_together_if_no_difference_matters() -> None:
    plan = ArenaPlan.of_policies("ABC", goal="best")
    given = [
        *wins(61, 60),
        *(Judgment(Answer(Question(one, 2), "left")) for one in (0, 1) for _ in range(12)),
    ]
    found = Arena(plan, judgments=given).standings()
    assert found.is_decided
    assert found.sentences[0].startswith("The best policy is A = B: 9")


def test_what_simulated_policies_make_of_a_decision() -> None:
    tied = Arena("AB", judgments=wins(41, 40)).standings()
    decided = Arena("AB", judgments=wins(12, 0)).standings()
    for gap, tie_is_right, order_is_right in ((0.0, True, False), (0.3, True, True), (0.5, False, True)):
        policies = SimulatedPolicies(np.array([gap, 0.0]))
        assert policies.is_right(tied) == tie_is_right
        assert policies.is_right(decided) == order_is_right


def test_two_equal_policies_are_seldom_put_in_order() -> None:
    """However often one looks, in 4,000 arenas of up to 60 answers."""
    fitter = StrengthFitter(ArenaPlan.of_policies("AB"))
    most = np.arange(10, 61)
    least_wins: list[int] = []
    for answers in most.tolist():
        needed = least_wins[-1] if least_wins else answers // 2
        while Decisions(fitter.fit(wins(needed, answers - needed)), 0.15).better[0, 1] < 0.95:
            needed += 1
        least_wins.append(needed)
    won = np.cumsum(np.random.default_rng(3).random((4000, 60)) < 0.5, axis=1)[:, most - 1]
    ends = np.maximum(won, most - won) >= least_wins
    assert ends.any(axis=1).mean() < 0.05
