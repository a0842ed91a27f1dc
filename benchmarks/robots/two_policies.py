"""How an arena of two policies ends: its probabilities, summed over all results that it may have.

gap         between the two strengths: 0.25 wins 60% of comparisons
right       the better one was named; if none is better, no one can be
wrong       the worse one was named, or one of two that are equally good
no matter   no difference that matters (`--least-difference`) is left
open        nothing was decided after all questions
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from prefero._support.arrays import Array
from prefero.arena.arena import Arena
from prefero.arena.decisions import Difference
from prefero.arena.effects import Judgment
from prefero.arena.plan import CONFIDENCE, LEAST_DIFFERENCE, ArenaPlan
from prefero.arena.standings import LEAST_ANSWERS
from prefero.questions import Answer, Question

GAPS = (0.0, 0.05, 0.25, 0.5, 0.75, 1.0, 1.5)


@dataclass(frozen=True)
class Ends:
    """After each number of answers: how many wins decide, and up to how many a tie is decided.

    wins   by number of answers, the fewest wins that put a policy first
    ties   by number of answers, the most wins of the leader without a difference that matters; or -1
    """

    wins: tuple[int, ...]
    ties: tuple[int, ...]


def difference(ahead: int, behind: int, least_difference: float) -> Difference:
    """What is known if one policy has won so often, and the other so often."""
    plan = ArenaPlan.of_policies("AB", least_difference=least_difference)
    won = [Judgment(Answer(Question(0, 1), "left"))] * ahead + [
        Judgment(Answer(Question(0, 1), "right"))
    ] * behind
    (found,) = Arena(plan, judgments=won).standings().differences
    return found


def ends(questions: int, confidence: float, least_difference: float) -> Ends:
    """Both limits grow with the number of answers, so each is sought from where the last one was."""
    wins, ties = [questions + 1] * LEAST_ANSWERS, [-1] * LEAST_ANSWERS
    needed = LEAST_ANSWERS // 2
    for answers in range(LEAST_ANSWERS, questions + 1):
        while needed < answers and difference(needed, answers - needed, least_difference).better < confidence:
            needed += 1
        wins.append(needed)
        most = (answers + 1) // 2
        while difference(most, answers - most, least_difference).small >= confidence:
            most += 1
        ties.append(most - 1 if most > (answers + 1) // 2 else -1)
    return Ends(tuple(wins), tuple(ties))


@dataclass(frozen=True)
class Outcome:
    """The probabilities of the ends of an arena, and its expected number of answers."""

    first: float
    other: float
    tie: float
    answers: float

    @property
    def open(self) -> float:
        """The probability that nothing is decided."""
        return max(1 - self.first - self.other - self.tie, 0.0)


def outcome(gap: float, limits: Ends) -> Outcome:
    """Of two policies, the first of which is stronger by `gap`; by the number of its wins."""
    questions, chance = len(limits.wins) - 1, float(norm.cdf(gap))
    running: Array = np.zeros(questions + 1)
    running[0] = 1.0
    first = other = tie = expected = 0.0
    for answers in range(1, questions + 1):
        expected += running.sum()
        running = (1 - chance) * running + chance * np.concatenate([[0.0], running[:-1]])
        won = np.arange(questions + 1)
        ahead = np.maximum(won, answers - won)
        is_first, is_other = won >= limits.wins[answers], answers - won >= limits.wins[answers]
        is_tie = ahead <= limits.ties[answers]
        first += running[is_first].sum()
        other += running[is_other & ~is_first].sum()
        tie += running[is_tie].sum()
        running[is_first | is_other | is_tie] = 0.0
    return Outcome(float(first), float(other), float(tie), float(expected))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks two_policies",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--questions", type=int, default=120)
    parser.add_argument("--confidence", type=float, default=CONFIDENCE)
    parser.add_argument("--least-difference", type=float, default=LEAST_DIFFERENCE)
    given = parser.parse_args(argv)
    limits = ends(given.questions, given.confidence, given.least_difference)
    print(f"{'gap':>5} {'wins':>5} {'right':>6} {'wrong':>6} {'no matter':>9} {'open':>6} {'answers':>8}")
    for gap in GAPS:
        one = outcome(gap, limits)
        right, wrong = (one.first, one.other) if gap else (0.0, one.first + one.other)
        print(
            f"{gap:5.2f} {norm.cdf(gap):5.2f} {right:6.3f} {wrong:6.3f} {one.tie:9.3f} {one.open:6.3f} "
            f"{one.answers:8.1f}"
        )


if __name__ == "__main__":
    main()
