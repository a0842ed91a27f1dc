"""What an arena says: the order of the policies, which one is the best, and with which probability.

passes, fails   rollouts that were said to be acceptable, or not: by a label, by being preferred where
                "none" was an answer, or by "none"
success         the probability that a rollout of a policy passes
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.names import listed
from prefero._support.ordering import largest_first
from prefero._support.sentences import percent, pluralize
from prefero.arena.decisions import Decisions, Difference
from prefero.arena.effects import Judgment, labels_of
from prefero.arena.plan import ArenaPlan
from prefero.arena.strengths import Strengths
from prefero.questions.kinds.base import BAR

INTERVAL = (0.05, 0.95)  # quantiles of strengths and success probabilities that are reported
LEAST_ANSWERS = 10  # before which nothing is decided
RESULTS = ("win", "loss", "tie", "pass", "fail")


@dataclass(frozen=True)
class Standing:
    """One policy.

    Args:
        policy: Its name.
        strength: Expected; the average over the policies is 0, and a difference of 1 wins 84% of comparisons.
        low: Lower end of a 90 % interval of the strength.
        high: Upper end of the interval.
        best: The probability that it is the best policy.
        wins: How often a rollout of it was preferred.
        losses: How often the other one was.
        ties: How often both were about equal.
        passes: How often a rollout of it was said to be acceptable.
        fails: How often one was said not to be.
        success: The expected probability that a rollout passes; None if nobody said what is acceptable.
        success_low: Lower end of a 90 % interval of the success probability.
        success_high: Upper end of the interval.
    """

    policy: str
    strength: float
    low: float
    high: float
    best: float
    wins: int
    losses: int
    ties: int
    passes: int
    fails: int
    success: float | None = None
    success_low: float | None = None
    success_high: float | None = None

    @property
    def success_text(self) -> str:
        """The success probability with its interval; empty if there is none."""
        if self.success is None or self.success_low is None or self.success_high is None:
            return ""
        return f"{percent(self.success)} ({percent(self.success_low)} to {percent(self.success_high)})"


@dataclass(frozen=True, eq=False)
class Standings:
    """What is known about the policies.

    Args:
        plan: The plan of the arena.
        rows: The policies, the strongest first.
        better: P(the policy of the row is better than that of the column), in the order of `rows`, (P, P).
        differences: Of each policy and the next one; or, if the best one is to be known, of the first one and
            each other one.
        answers: How many answers people gave.
        judges: How many people there were.
        labels: How many of the answers are labels of single rollouts; those of a dataset are in the plan.
    """

    plan: ArenaPlan
    rows: tuple[Standing, ...]
    better: Array
    differences: tuple[Difference, ...]
    answers: int
    judges: int
    labels: int = 0

    @property
    def order(self) -> tuple[str, ...]:
        """The policies' names, the strongest first."""
        return tuple(row.policy for row in self.rows)

    @property
    def confidence(self) -> float:
        """With which every one of the differences is known, however often one looks."""
        return min(difference.known_with for difference in self.differences)

    @property
    def is_decided(self) -> bool:
        """Whether the goal is known with the confidence that was asked for; never after a few answers."""
        return self.confidence >= self.plan.confidence and self.answers >= LEAST_ANSWERS

    @property
    def is_finished(self) -> bool:
        """Whether the arena ends: it is decided, or there were as many answers as planned.

        The labels of a dataset alone do not end it: somebody has to look.
        """
        return self.is_decided or self.answers >= self.plan.questions

    @property
    def evidence(self) -> str:
        """How much is known, such as "3 comparisons and 12 labels"."""
        return self._evidence(len(self.plan.labels or ()))

    @property
    def people_evidence(self) -> str:
        """How much of it is known from people."""
        return self._evidence()

    def _evidence(self, more_labels: int = 0) -> str:
        comparisons, labels = self.answers - self.labels, self.labels + more_labels
        counts = [pluralize(comparisons, "comparison")] * (comparisons > 0 or not labels)
        return " and ".join([*counts, *[pluralize(labels, "label")] * (labels > 0)])

    @property
    def sentences(self) -> list[str]:
        """What is known, in words: the goal first, then each policy and the next one, and their successes."""
        if not (self.answers or self.plan.labels):
            return ["Nothing has been compared yet."]
        return [self._goal_sentence(), *self._pair_sentences(), *self._success_sentences()]

    def _goal_sentence(self) -> str:
        what, named = (
            ("The best policy", self._best()) if self.plan.goal == "best" else ("The order", self._ranking())
        )
        known = f"{what} is" if self.is_decided else f"{what} is not known yet. Most probable is"
        return f"{known} {named}: {percent(self.confidence)}, after {self.evidence}."

    def _ranking(self) -> str:
        """The policies, with "=" between two without a difference that matters."""
        signs = ["", *(" = " if self.is_tie(difference) else ", " for difference in self.differences)]
        return "".join(sign + policy for sign, policy in zip(signs, self.order, strict=True))

    def _best(self) -> str:
        """The best policy, and those without a difference that matters from it."""
        return " = ".join([self.order[0], *(one.other for one in self.differences if self.is_tie(one))])

    def is_tie(self, difference: Difference) -> bool:
        """Whether it is known that these two do not differ by what matters."""
        return difference.is_small and difference.small >= self.plan.confidence

    def _pair_sentences(self) -> Iterator[str]:
        for difference in self.differences:
            first, other = difference.first, difference.other
            low, high = map(percent, difference.wins)
            if self.is_tie(difference):
                found = f"{first} and {other} do not differ by what matters: {percent(difference.small)}"
            else:
                found = f"{first} is better than {other}: {percent(difference.better)}"
            yield f"{found}. {first} wins {low} to {high} of comparisons."

    def _success_sentences(self) -> Iterator[str]:
        for row in self.rows:
            if row.success is not None:
                yield f"{row.policy} succeeds in {row.success_text} of rollouts."
        counts = [(row.passes, row.fails) for row in self.rows]
        yield from label_warnings(self.order, counts)


def label_warnings(policies: Sequence[str], counts: Sequence[tuple[int, int]]) -> Iterator[str]:
    """What is wrong with labels, if something is, given how often each policy passed and failed."""
    passes, fails = map(sum, zip(*counts, strict=True))
    if passes + fails == 0:
        return
    if not (passes and fails):
        what = "passed" if passes else "failed"
        yield (
            f"Every rollout that was labelled {what} ({passes + fails} of {passes + fails}), which tells "
            "little about which policy is better."
        )
    without = [policy for policy, both in zip(policies, counts, strict=True) if not sum(both)]
    if without:
        yield f"No rollout of {listed(without)} is labelled."


def standings_of(strengths: Strengths, judgments: Sequence[Judgment]) -> Standings:
    """What is known after these judgments, which the strengths are the posterior of."""
    plan = strengths.effects.plan
    order = largest_first(strengths.mean)
    draws = strengths.draws[:, order]
    best = np.bincount(draws.argmax(axis=1), minlength=len(order)) / len(draws)
    low, high = np.quantile(draws, INTERVAL, axis=0)
    results = _results(plan, (*labels_of(plan), *judgments))
    rows = tuple(
        Standing(
            plan.policies[policy],
            float(strengths.mean[policy]),
            float(low[place]),
            float(high[place]),
            float(best[place]),
            *(results[policy, result] for result in RESULTS),
            *_success(strengths, policy),
        )
        for place, policy in enumerate(order.tolist())
    )
    decisions = Decisions(strengths, plan.least_difference)
    judges = len({judgment.judge for judgment in judgments})
    labels = sum(len(judgment.items) == 1 for judgment in judgments)
    return Standings(
        plan,
        rows,
        decisions.better[np.ix_(order, order)],
        tuple(decisions.between(*pair) for pair in _decisive(order.tolist(), plan)),
        len(judgments),
        judges,
        labels,
    )


def _decisive(order: list[int], plan: ArenaPlan) -> Iterator[tuple[int, int]]:
    """The pairs of policies whose differences the goal is about, given the order."""
    first = order[:1] * (len(order) - 1) if plan.goal == "best" else order
    return zip(first, order[1:], strict=False)


def _success(strengths: Strengths, policy: int) -> tuple[float, ...]:
    """The expected success probability and its interval; nothing if nobody said what is acceptable."""
    if strengths.success is None:
        return ()
    drawn = strengths.success[:, policy]
    return float(drawn.mean()), *np.quantile(drawn, INTERVAL).tolist()


def _results(plan: ArenaPlan, judgments: Sequence[Judgment]) -> Counter[tuple[int, str]]:
    """How often each policy won, lost, tied, passed and failed."""
    found: Counter[tuple[int, str]] = Counter()
    for judgment in judgments:
        for left, right, choice in judgment.answer.pairs:
            results = {"left": ("win", "loss"), "right": ("loss", "win"), "equal": ("tie", "tie")}[choice]
            for item, result in zip((left, right), results, strict=True):
                found[plan.policy_of[item], result] += 1
        for row in judgment.answer.rows:
            if BAR in (row.better, row.worse):
                item, result = (row.worse, "fail") if row.better == BAR else (row.better, "pass")
                found[plan.policy_of[item], result] += 1
    return found


def goal_labels(draws: Array, plan: ArenaPlan) -> Indices:
    """What the goal asks for in each draw of the strengths (S, P), as a number from 0."""
    if plan.goal == "best":
        found = draws.argmax(axis=1)
    else:  # one random number for each order, which is much faster to sort than the order itself
        weights = np.random.default_rng(0).integers(2**62, size=draws.shape[1])
        found = np.argsort(draws, axis=1, kind="stable") @ weights
    labels: Indices = np.unique(found, return_inverse=True)[1]
    return labels
