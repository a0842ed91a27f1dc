"""Which rollouts are judged next: those whose answer tells most about the goal.

    goal          the order of the policies, or which one is the best: a discrete variable
    answer        one of the choices of the kind that is asked: left or right, or pass or fail
    information   I(answer; goal) = H(answer) - E[H(answer | goal)], in bits

Both entropies come from joint samples of the strengths, of the rollouts' f and of the bar: the probability of
an answer given the goal is its average over the samples with that goal. So a question is good if its answer
would tell who is ahead, and not how far.

Of two policies, the rollouts that were shown least are compared: in the task in which these two were compared
least, from the same start if there is one. The sides of each pair of policies are random and nearly balanced.
Of one policy, the rollout is labelled that was shown least, in the task in which it was labelled least.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.ordering import first_largest
from prefero.acquisition.entropy import entropy
from prefero.arena.effects import Judgment
from prefero.arena.plan import ArenaPlan
from prefero.arena.standings import goal_labels
from prefero.arena.strengths import NOISE, Strengths
from prefero.models.likelihood.probabilities import People, answer_probabilities
from prefero.questions import Question
from prefero.questions.answer_kinds import PAIR, Kind, kind_named
from prefero.questions.kinds.base import BAR

LEAST_SHOWN = 30  # rollouts of each policy among which two are chosen
FAVORED = 2 / 3  # the probability of the side that is owed to a policy
DRAWS = 1024  # joint samples that the information is computed from
Pair = tuple[int, int]
Items = tuple[int, ...]  # of a question; or the policies whose rollouts they are


@dataclass(frozen=True)
class Shown:
    """How often rollouts, pairs of policies and sides were shown.

    answered   the items of all questions that were answered, in their order
    skipped    the items of all that were not
    """

    plan: ArenaPlan
    answered: tuple[Items, ...]
    skipped: tuple[Items, ...] = ()

    @property
    def questions(self) -> tuple[Items, ...]:
        """The items of all questions."""
        return self.answered + self.skipped

    def candidates(self, rng: np.random.Generator, items: int = 2) -> dict[Items, Items]:
        """The rollouts that would be judged of each pair of policies, or with one item of each policy."""
        rollouts, asked = self._rollout_counts(), self._counts_by_task()
        found: dict[Items, Items] = {}
        for policies in self.plan.pairs if items == 2 else [(p,) for p in range(len(self.plan.policies))]:
            tasks = self.plan.common_tasks(*policies)
            task = min(rng.permutation(len(tasks)), key=lambda place: asked[policies, tasks[place]])
            choose = self._least_shown_two if items == 2 else self._least_shown_one
            found[policies] = choose(policies, tasks[task], rollouts, rng)
        return found

    def _rollout_counts(self) -> Counter[int]:
        return Counter(item for items in self.questions for item in items)

    def _counts_by_task(self) -> Counter[tuple[Items, str]]:
        """How often policies were judged together, or one alone, in each task."""
        return Counter(
            (tuple(sorted(self.policies(items))), self.plan.task_of(items[0])) for items in self.questions
        )

    def policies(self, items: Sequence[int]) -> list[int]:
        """Whose rollouts these are."""
        return [self.plan.policy_of[item] for item in items]

    def _least_shown_one(
        self, policies: Items, task: str, rollouts: Counter[int], rng: np.random.Generator
    ) -> Items:
        """A rollout that was not skipped, not labelled before, and seldom shown: in this order."""
        skipped, before = Counter(self.skipped), Counter(self.answered)

        def cost(item: int) -> tuple[int, int, int]:
            return skipped[item,], before[item,], rollouts[item]

        return (min(rng.permutation(self.plan.rollouts[policies[0], task]).tolist(), key=cost),)

    def _least_shown_two(
        self, policies: Items, task: str, rollouts: Counter[int], rng: np.random.Generator
    ) -> Items:
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
        if len(question.items) == 1:
            return question.numbered(len(self.questions) + 1)
        one, other = self.policies(question.items)
        between = [self.policies(items) for items in self.questions if len(items) == 2]
        lead = sum((sides == [one, other]) - (sides == [other, one]) for sides in between)
        overall = sum((sides[0] == one) - (sides[1] == one) for sides in between)
        overall -= sum((sides[0] == other) - (sides[1] == other) for sides in between)
        owed = np.sign(lead or overall)
        turned = rng.random() < 0.5 + owed * (FAVORED - 0.5)
        items = question.items[::-1] if turned else question.items
        sided = Question(*items, value=question.value, unit=question.unit, kind=question.kind)
        return sided.numbered(len(self.questions) + 1)


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


def most_informative(
    strengths: Strengths, candidates: Sequence[Items], judge: str, kind: Kind = PAIR
) -> Question:
    """The question about which the judge's answer tells most about the goal.

    Args:
        strengths: What is known.
        candidates: The trajectories of each question, from left to right.
        judge: Who will answer.
        kind: Of the answer.

    Returns:
        The question, with its information.
    """
    items = sorted({item for some in candidates for item in some})
    strength, f = _joint_samples(strengths, [*items, BAR] if kind_named(kind).uses_bar else items, judge)
    margin, nothing = np.full(DRAWS, strengths.posterior.probit.margin), np.zeros(DRAWS)
    people = People(np.full(DRAWS, NOISE), margin, nothing, nothing)
    shown = [(*some, BAR)[: kind_named(kind).places] for some in candidates]
    chances = [
        answer_probabilities(np.column_stack([f[i] for i in some]), kind, people, ties=bool(margin.any()))
        for some in shown
    ]
    bits = information(np.array(chances).transpose(2, 0, 1), goal_labels(strength, strengths.effects.plan))
    best = first_largest(bits)
    return Question(*candidates[best], value=float(bits[best]), unit="bits", kind=kind)


def _joint_samples(strengths: Strengths, items: Sequence[int], judge: str) -> tuple[Array, dict[int, Array]]:
    """Samples of the strengths, (DRAWS, P), and with them of each item's f in the judge's eyes."""
    effects = strengths.effects
    if BAR not in items and not any(effects.active):  # a rollout is as good as its policy
        some = strengths.draws[:DRAWS]
        return some, {item: some[:, effects.plan.policy_of[item]] for item in items}
    drawn = strengths.sample(effects.rows(items, [judge] * len(items)), DRAWS)
    strength, f = np.split(drawn, [len(strengths.mean)], axis=1)
    return strength, dict(zip(items, f.T, strict=True))


def round_robin(
    shown: Shown, candidates: dict[Items, Items], rng: np.random.Generator, kind: Kind = PAIR
) -> Question:
    """Every pair of policies, or every policy, equally often, in a random order: for comparison."""
    counts = Counter(tuple(sorted(shown.policies(items))) for items in shown.questions)
    several = list(candidates)
    least = min(rng.permutation(len(several)), key=lambda place: counts[several[place]])
    return Question(*candidates[several[least]], kind=kind)


def judged(judgments: Sequence[Judgment]) -> list[Items]:
    """The items of the questions that were answered."""
    return [judgment.items for judgment in judgments]
