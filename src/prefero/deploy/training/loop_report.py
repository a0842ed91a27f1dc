"""What a loop of teaching and training has reached, and how far that is known, in each round and at the end.

gain         the learned reward of a round's segments, less that of the first, random actions
better       the probability that the gain is positive
known        how much of the gain is known, between 0 and 1: the smaller of the fraction of its prior variance
             that the answers have explained, and of the fraction of its expected square that is no
             uncertainty; where the policy does what no answer was about, both are small
checks       at the end, comparisons of the final policy with random actions that the reward had no part in
             choosing: won and lost
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import betainc, ndtr

from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero._support.sentences import percent, pluralize
from prefero.datasets.episode import Episode
from prefero.datasets.features.embeddings.fitted import steps_of
from prefero.deploy.compiled.step_reward import StepReward
from prefero.models.posterior.gaussian import Posterior, variance_of_differences
from prefero.rewards.plots import ACCENT, COLOR, GREY, draw_band

LEAST_KNOWN = 0.5  # of a gain: with less, the policy has left what the answers cover
POOL = 1.0  # the variance of rewards over the pool: gains that are smaller need not be known to their sign
SURE = 0.9  # probability that the final policy is better than random actions, without a warning
TINY = 1e-12


@dataclass(frozen=True)
class Gain:
    """How much better some segments are than others, by the learned reward.

    Args:
        mean: The expected difference.
        std: Its standard deviation.
        better: The probability that it is positive.
        known: How much of it is known, from 0 to 1.
    """

    mean: float
    std: float
    better: float
    known: float

    @classmethod
    def of(cls, reward: StepReward, segments: Sequence[Episode], others: Sequence[Episode]) -> "Gain":
        """The mean of the segments less that of the others: rewards of steps are linear in their features.

        Args:
            reward: The reward of steps.
            segments: Whose gain it is.
            others: What they are compared with.

        Returns:
            The gain.
        """
        a, b = (_mean_row(reward, some) for some in (segments, others))
        belief = reward.reward.belief
        mean, variance = (float(values[0]) for values in belief.difference(a, b))
        parts = [(weight, one) for weight, one in belief.components if isinstance(one, Posterior)]
        better = sum(weight * _positive(*one.difference(a, b)) for weight, one in parts)
        prior = sum(weight * float(variance_of_differences(one.kernel, a, b)[0]) for weight, one in parts)
        left = sum(weight * float(one.difference(a, b)[1][0]) for weight, one in parts)
        explained, sure = 1.0 - left / max(prior, TINY), (POOL + mean**2) / (POOL + mean**2 + variance)
        return cls(mean, float(np.sqrt(variance)), float(better), min(explained, sure))


def _mean_row(reward: StepReward, segments: Sequence[Episode]) -> Array:
    """The mean of the segments' scaled features, (1, D)."""
    rows = [reward.features.of_trajectory(steps_of(one), one.terminated) for one in segments]
    return reward.reward.scaling(np.mean(rows, axis=0, keepdims=True))


def _positive(mean: Array, variance: Array) -> float:
    return float(ndtr(mean[0] / np.sqrt(max(variance[0], TINY))))


NOTHING = Gain(0.0, 0.0, 0.5, 0.0)


@dataclass(frozen=True)
class RoundRecord:
    """One round of a loop, after its training.

    Args:
        round: Its number, from 1 on.
        answers: So far.
        steps: Of training so far.
        segments: That the policy made in this round.
        ended: How many of them the environment ended.
        original_reward: The environment's own reward, per step; of use with simulated teachers.
        asked: How many of the segments questions were about.
        gain: Their learned reward, less that of the first, random actions.
    """

    round: int
    answers: int
    steps: int
    segments: int
    ended: int
    original_reward: float
    asked: int = 0
    gain: Gain = NOTHING

    def metrics(self) -> dict[str, float]:
        """All numbers by name, for a tracker."""
        values = {name: float(value) for name, value in asdict(self).items() if name != "gain"}
        return values | {f"gain/{name}": value for name, value in asdict(self.gain).items()}


@dataclass(frozen=True)
class LoopReport:
    """What a loop has reached. `print(report.describe())`, and `report.plot()`.

    Args:
        rounds: Each round, as the final reward sees it.
        won: Checks in which the teacher preferred the final policy to random actions.
        lost: Checks in which the teacher did not.
        stopped: Why training stopped before its end; empty if it did not.
    """

    rounds: tuple[RoundRecord, ...]
    won: int = 0
    lost: int = 0
    stopped: str = ""

    @property
    def better(self) -> float:
        """The probability that the final policy is better than random actions.

        By the checks alone, where there are any: the reward is what the policy was trained to please.
        """
        if self.won + self.lost:
            return 1.0 - float(betainc(self.won + 1, self.lost + 1, 0.5))
        return self.rounds[-1].gain.better

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know before they use the policy; empty if all is well."""
        last, found = self.rounds[-1], [self.stopped] if self.stopped else []
        if self.better < SURE:
            found.append(
                f"the final policy is better than random actions with a probability of only "
                f"{percent(self.better)}: ask more questions, or train for longer"
            )
        elif last.gain.known < LEAST_KNOWN and not self.stopped:
            found.append(left_the_answers(last.gain.known))
        best = max(self.rounds, key=lambda one: one.gain.mean)
        if best.gain.mean - last.gain.mean > 2.0 * max(best.gain.std, last.gain.std):
            found.append(
                f"the policy of round {best.round} has a higher reward than the final one "
                f"({best.gain.mean:.2f} against {last.gain.mean:.2f}): training went too far"
            )
        return tuple(found)

    def describe(self) -> str:
        """The report as text: one line a round, how sure the end is, and all warnings."""
        lines = ["round  answers   steps    gain          better   known   asked about"]
        lines += [
            f"{one.round:5d}  {one.answers:7d}  {one.steps:6d}  {one.gain.mean:6.2f} ± {one.gain.std:4.2f} "
            f"{percent(one.gain.better):>9s} {percent(one.gain.known):>8s}   {one.asked} of {one.segments}"
            for one in self.rounds
        ]
        return "\n".join([*lines, self._verdict(), *(f"Warning: {one}." for one in self.warnings)])

    def _verdict(self) -> str:
        last = self.rounds[-1]
        checked = self.won + self.lost
        by = (
            f"the teacher preferred it in {self.won} of {pluralize(checked, 'comparison')}"
            if checked
            else "by the learned reward"
        )
        return (
            f"The final policy is better than random actions with a probability of {percent(self.better)} "
            f"({by}). {last.asked} of its {pluralize(last.segments, 'segment')} were asked about."
        )

    def plot(self) -> Any:
        """The gain by the steps of training, with its uncertainty, as a matplotlib figure.

        Returns:
            A matplotlib figure; it needs the extra `plots`.
        """
        figures = need("matplotlib.figure", extra="plots")
        figure = figures.Figure(figsize=(6.4, 5.2), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        steps = np.array([one.steps for one in self.rounds], dtype=float)
        mean, std = np.array([(one.gain.mean, one.gain.std) for one in self.rounds]).T
        draw_band(above, steps, mean, std)
        above.plot(steps, mean, "o", color=COLOR)
        above.axhline(0.0, color=GREY, linewidth=1, linestyle="--")
        above.margins(y=0.1)  # room for the words, if all gains are below them
        above.annotate("random actions", (steps[0], 0.0), color=GREY, va="bottom")
        above.set_ylabel("learned reward, less\nthat of random actions")
        below.plot(steps, [one.gain.known for one in self.rounds], "o-", color=ACCENT)
        below.axhline(LEAST_KNOWN, color=GREY, linewidth=1, linestyle="--")
        below.set(ylim=(0, 1.05), ylabel="known", xlabel="steps of training")
        return figure


def left_the_answers(known: float) -> str:
    """That the policy does what no answer was about."""
    return (
        f"the policy has left what the answers cover (of how good it is, only {percent(known)} is known): "
        "its reward is a guess there; ask more questions"
    )
