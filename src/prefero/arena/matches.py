"""Which rollouts are compared next: those whose answer tells most about the goal.

    goal          the order of the policies, or which one is the best: a discrete variable
    answer        left, right, or about equal
    information   I(answer; goal) = H(answer) - E[H(answer | goal)], in bits

Both entropies come from joint samples of the strengths and of the rollouts' f: the probability of an answer
given the goal is its average over the samples with that goal. So a question is good if its answer would tell
who is ahead, and not how far.

Of two policies, the rollouts that were shown least are compared: in the task in which these two were compared
least, from the same start if there is one. The sides of each pair of policies are random and nearly balanced.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array, Indices
from prefero._support.ordering import first_largest
from prefero.acquisition.entropy import entropy
from prefero.arena.plan import ArenaPlan
from prefero.arena.standings import goal_labels
from prefero.arena.strengths import Judgment, Strengths
from prefero.questions import Question

LEAST_SHOWN = 30  # rollouts of each policy among which two are chosen
FAVORED = 2 / 3  # the probability of the side that is owed to a policy
DRAWS = 1024  # joint samples that the information is computed from
Pair = tuple[int, int]


@dataclass(frozen=True)
class Shown:
    """How often rollouts, pairs of policies and sides were shown.

    answered   the items of all questions that were answered, in their order
    skipped    the items of all that were not
    """

    plan: ArenaPlan
    answered: tuple[tuple[int, ...], ...]
    skipped: tuple[tuple[int, ...], ...] = ()

    @property
    def questions(self) -> tuple[tuple[int, ...], ...]:
        """The items of all questions."""
        return self.answered + self.skipped

    def candidates(self, rng: np.random.Generator) -> dict[Pair, Pair]:
        """The two rollouts that each pair of policies would be compared by."""
        rollouts, pairs = self._rollout_counts(), self._pair_counts()
        found = {}
        for one, other in self.plan.pairs:
            tasks = self.plan.common_tasks(one, other)
            task = min(rng.permutation(len(tasks)), key=lambda place: pairs[one, other, tasks[place]])
            found[one, other] = self._least_shown((one, other), tasks[task], rollouts, rng)
        return found

    def _rollout_counts(self) -> Counter[int]:
        return Counter(item for items in self.questions for item in items)

    def _pair_counts(self) -> Counter[tuple[int, int, str]]:
        found: Counter[tuple[int, int, str]] = Counter()
        for items in self.questions:
            one, other = sorted(self.policies(items))
            found[one, other, self.plan.task_of(items[0])] += 1
        return found

    def policies(self, items: Sequence[int]) -> list[int]:
        """Whose rollouts these are."""
        return [self.plan.policy_of[item] for item in items]

    def _least_shown(
        self,
        policies: Pair,
        task: str,
        rollouts: Counter[int],
        rng: np.random.Generator,
    ) -> Pair:
        """Two rollouts that were not skipped, with the same start, not compared before, and seldom shown.

        Where not all of that is possible, what comes first matters most.
        """
        several = [rng.permutation(self.plan.rollouts[policy, task]).tolist() for policy in policies]
        several = [sorted(items, key=lambda item: rollouts[item]) for items in several]

        skipped, before = set(map(frozenset, self.skipped)), Counter(map(frozenset, self.answered))

        def cost(pair: tuple[int, ...]) -> tuple[bool, bool, int, int]:
            one, other = map(self.plan.start_of, pair)
            items, apart = frozenset(pair), not one or one != other
            return items in skipped, apart, before[items], sum(rollouts[item] for item in pair)

        some = [items[:LEAST_SHOWN] for items in _matched(several, self.plan)]
        one, other = min(product(*some), key=cost)
        return one, other

    def with_sides(self, question: Question, rng: np.random.Generator) -> Question:
        """The question with a random side on the left, more probably that which was there less often.

        That is, in comparisons of these two policies, or if both were there equally often, in all. A side
        that could be predicted would tell a judge which rollouts are of one policy (Efron's biased coin).
        """
        one, other = self.policies(question.items)
        between = [self.policies(items) for items in self.questions]
        lead = sum((sides == [one, other]) - (sides == [other, one]) for sides in between)
        overall = sum((sides[0] == one) - (sides[1] == one) for sides in between)
        overall -= sum((sides[0] == other) - (sides[1] == other) for sides in between)
        owed = np.sign(lead or overall)
        turned = rng.random() < 0.5 + owed * (FAVORED - 0.5)
        items = question.items[::-1] if turned else question.items
        return Question(*items, value=question.value, unit=question.unit, number=len(self.questions) + 1)


def _matched(several: list[list[int]], plan: ArenaPlan) -> list[list[int]]:
    """The rollouts of two policies; those from starts that both have come first, in one order."""
    one, other = several
    common = {plan.start_of(item) for item in one} & {plan.start_of(item) for item in other} - {""}
    first = sorted(one, key=lambda item: plan.start_of(item) not in common)
    order = {start: place for place, start in reversed(list(enumerate(map(plan.start_of, first))))}
    return [first, sorted(other, key=lambda item: order.get(plan.start_of(item), len(first)))]


def information(probabilities: Array, labels: Indices) -> Array:
    """I(answer; goal) in bits, (Q,): probabilities (A, Q, S) of answers, and goals (S,) as numbers from 0."""
    order = np.argsort(labels, kind="stable")
    counts = np.bincount(labels)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    given_goal = np.add.reduceat(probabilities[:, :, order], first, axis=2) / counts
    expected = entropy(np.moveaxis(given_goal, 0, -1)) @ (counts / counts.sum())
    bits: Array = np.maximum(entropy(probabilities.mean(axis=2).T) - expected, 0.0)
    return bits


def answer_probabilities(differences: Array, margin: float) -> Array:
    """P(left), P(right) and with a margin P(equal), for differences f(left) - f(right), (A, ...)."""
    left = ndtr(differences - margin)
    if margin == 0:
        return np.stack([left, 1.0 - left])
    right = ndtr(-differences - margin)
    return np.stack([left, right, np.maximum(1.0 - left - right, 0.0)])


def most_informative(strengths: Strengths, candidates: Sequence[Pair], judge: str) -> Question:
    """The pair of trajectories about which the judge's answer tells most about the goal."""
    strength, f = _joint_samples(strengths, sorted({item for pair in candidates for item in pair}), judge)
    differences = np.array([f[left] - f[right] for left, right in candidates])
    margin = strengths.posterior.probit.margin
    labels = goal_labels(strength, strengths.effects.plan)
    bits = information(answer_probabilities(differences, margin), labels)
    best = first_largest(bits)
    return Question(*candidates[best], value=float(bits[best]), unit="bits")


def _joint_samples(strengths: Strengths, items: Sequence[int], judge: str) -> tuple[Array, dict[int, Array]]:
    """Samples of the strengths, (DRAWS, P), and with them of each trajectory's f in the judge's eyes."""
    effects = strengths.effects
    if not any(effects.active):  # a rollout is as good as its policy
        some = strengths.draws[:DRAWS]
        return some, {item: some[:, effects.plan.policy_of[item]] for item in items}
    drawn = strengths.sample(effects.rows(items, [judge] * len(items)), DRAWS)
    strength, f = np.split(drawn, [len(strengths.mean)], axis=1)
    return strength, dict(zip(items, f.T, strict=True))


def round_robin(shown: Shown, candidates: dict[Pair, Pair], rng: np.random.Generator) -> Question:
    """Every pair of policies equally often, in a random order: for comparison."""
    counts = Counter(tuple(sorted(shown.policies(items))) for items in shown.questions)
    pairs = list(candidates)
    pair = min(rng.permutation(len(pairs)), key=lambda place: counts[pairs[place]])
    return Question(*candidates[pairs[pair]])


def judged(judgments: Sequence[Judgment]) -> list[tuple[int, ...]]:
    """The items of the questions that were answered."""
    return [judgment.answer.question.items for judgment in judgments]
