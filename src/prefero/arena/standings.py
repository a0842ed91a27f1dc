"""What an arena says: the order of the policies, which one is the best, and with which probability."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.ordering import largest_first
from prefero._support.sentences import percent, pluralize
from prefero.arena.plan import ArenaPlan
from prefero.arena.strengths import Judgment, Strengths

INTERVAL = (0.05, 0.95)  # quantiles of the strength that are reported


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
    """

    policy: str
    strength: float
    low: float
    high: float
    best: float
    wins: int
    losses: int
    ties: int


@dataclass(frozen=True, eq=False)
class Standings:
    """What is known about the policies.

    Args:
        plan: The plan of the arena.
        rows: The policies, the strongest first.
        better: P(the policy of the row is better than that of the column), in the order of `rows`, (P, P).
        order_probability: The probability that the order of `rows` is right.
        answers: How many answers there are.
        judges: How many people gave them.
    """

    plan: ArenaPlan
    rows: tuple[Standing, ...]
    better: Array
    order_probability: float
    answers: int
    judges: int

    @property
    def order(self) -> tuple[str, ...]:
        """The policies' names, the strongest first."""
        return tuple(row.policy for row in self.rows)

    @property
    def probability(self) -> float:
        """That the goal's answer is right: the order, or which policy is the best."""
        return self.order_probability if self.plan.goal == "order" else self.rows[0].best

    @property
    def is_decided(self) -> bool:
        """Whether it is known with the confidence that was asked for."""
        return self.probability >= self.plan.confidence

    @property
    def is_finished(self) -> bool:
        """Whether the arena ends: it is decided, or there were as many answers as planned."""
        return self.is_decided or self.answers >= self.plan.questions

    @property
    def sentences(self) -> list[str]:
        """What is known, in words: the goal first, then each policy and the next one."""
        return [self._goal_sentence(), *self._pair_sentences()]

    def _goal_sentence(self) -> str:
        if not self.answers:
            return "Nothing has been compared yet."
        best = self.plan.goal == "best"
        what, found = "The best policy" if best else "The order", self.order[:1] if best else self.order
        known = f"{what} is" if self.is_decided else f"{what} is not known yet. Most probable is"
        after = pluralize(self.answers, "comparison")
        return f"{known} {', '.join(found)}: {percent(self.probability)}, after {after}."

    def _pair_sentences(self) -> list[str]:
        if not self.answers:
            return []
        pairs = zip(self.order, self.order[1:], strict=False)
        return [
            f"{one} is better than {other}: {percent(float(self.better[place, place + 1]))}."
            for place, (one, other) in enumerate(pairs)
        ]


def standings_of(strengths: Strengths, judgments: Sequence[Judgment]) -> Standings:
    """What is known after these judgments, which the strengths are the posterior of."""
    plan = strengths.effects.plan
    order = largest_first(strengths.mean)
    draws = strengths.draws[:, order]
    sorted_right = (np.diff(draws, axis=1) < 0).all(axis=1)
    best = np.bincount(draws.argmax(axis=1), minlength=len(order)) / len(draws)
    low, high = np.quantile(draws, INTERVAL, axis=0)
    results = _results(plan, judgments)
    rows = tuple(
        Standing(
            plan.policies[policy],
            float(strengths.mean[policy]),
            float(low[place]),
            float(high[place]),
            float(best[place]),
            *(results[policy, result] for result in ("win", "loss", "tie")),
        )
        for place, policy in enumerate(order.tolist())
    )
    judges = len({judgment.judge for judgment in judgments})
    better = strengths.better[np.ix_(order, order)]
    return Standings(plan, rows, better, float(sorted_right.mean()), len(judgments), judges)


def _results(plan: ArenaPlan, judgments: Sequence[Judgment]) -> Counter[tuple[int, str]]:
    """How often each policy won, lost and tied."""
    found: Counter[tuple[int, str]] = Counter()
    for judgment in judgments:
        winner, loser = (plan.policy_of[item] for item in judgment.answer.pair)
        tied = judgment.answer.choice == "equal"
        found[winner, "tie" if tied else "win"] += 1
        found[loser, "tie" if tied else "loss"] += 1
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
