"""Progress of learning: the expected accuracy, with an interval, and the expected gain of five more answers.

    accuracy     the fraction of a person's answers to random pairs of the pool that the posterior predicts,
                 if ties are not allowed; noise and lapses of the person lower it
    attainable   the accuracy of the person's true reward: below 1, since nobody is fully consistent
    room         the attainable accuracy minus the expected accuracy
    z            the log odds of an accuracy

A posterior is overconfident where its assumptions about the person are wrong. Five numbers correct it: the
mean of z is shift + slope times the log odds of the expected accuracy, and the variance of z is stretch^2
times that of the posterior's draws, plus extra^2. The room is modelled as a power of the number of answers n,
so the next five answers close the fraction 1 - (n / (n + 5))^rate of it. `python -m benchmarks stopping
--fit` fits the five numbers to simulated users who violate the assumptions, and measures the intervals and
the gain on other users.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri

from prefero._support.arrays import Array, one_thread
from prefero._support.sentences import percent, pluralize
from prefero.models.explain.predictive_accuracy import accuracy_draws, expected_accuracy, log_odds
from prefero.models.posterior.draws import CONFIDENCE
from prefero.models.posterior.gaussian import Distribution
from prefero.models.posterior.mixture import ENOUGH_ANSWERS

AHEAD = 5  # answers that the gain is about
TAIL = float(ndtri(0.5 + 0.5 * CONFIDENCE))  # standard deviations from the mean to the ends of an interval
SMALL_GAIN = 0.01  # in accuracy, for five answers
LITTLE_GAIN = 0.005  # the same, below which a person is told that they can stop
LEAST_TO_STOP = 10  # answers, before which nobody is told that they can stop
STEADY = 3  # answers in a row after which that has to hold, since the gain goes up and down a little


@dataclass(frozen=True)
class Correction:
    """From what a posterior expects of itself to what simulated users showed; see the top of this module."""

    shift: float
    slope: float
    stretch: float
    extra: float
    rate: float

    def accuracy(self, claim: float) -> float:
        """The expected accuracy, where the posterior expects `claim`."""
        return float(expit(self._middle(claim)))

    def interval(self, claim: float, variance: float) -> tuple[float, float]:
        """Of the accuracy, where its log odds have this variance under the posterior."""
        middle = self._middle(claim)
        width = TAIL * np.sqrt(self.stretch**2 * variance + self.extra**2)
        return float(expit(middle - width)), float(expit(middle + width))

    def _middle(self, claim: float) -> float:
        return self.shift + self.slope * log_odds(claim)

    def gain(self, answers: int, room: float) -> float:
        """How much the next five answers are expected to add, where there is room for so much."""
        remains = float(np.power(answers / (answers + AHEAD), self.rate))
        return max(room, 0.0) * (1.0 - remains)


CORRECTION = Correction(shift=0.15, slope=0.85, stretch=0.8, extra=0.33, rate=0.38)


@dataclass(frozen=True)
class Progress:
    """How many of a person's answers a learner predicts, and how many it would after five more.

    Args:
        answers: How many there are so far.
        accuracy: The expected fraction of the person's answers to random pairs of the pool that it predicts,
            if they have to choose one of the two. Their own noise counts, so it stays below 1.
        low: Lower end of a 90 % interval of that accuracy.
        high: Upper end of the interval.
        gain: By how much five more answers are expected to raise the accuracy.
    """

    answers: int
    accuracy: float
    low: float
    high: float
    gain: float

    @property
    def is_early(self) -> bool:
        """Whether there are so few answers that this rests mostly on the prior."""
        return self.answers < ENOUGH_ANSWERS

    def reaches(self, goal: float) -> bool:
        """Whether the expected accuracy is this high; never while it is too early to say.

        Args:
            goal: A fraction of answers between 0.5 and 1.
        """
        return not self.is_early and self.accuracy >= check_goal(goal)

    @property
    def can_stop(self) -> bool:
        """Whether there are enough answers, and five more are expected to add hardly anything."""
        return self.answers >= LEAST_TO_STOP and self.gain < LITTLE_GAIN

    @property
    def outlook(self) -> str:
        """What five more answers are likely to bring, as a clause."""
        if self.gain < SMALL_GAIN:
            return "five more answers would add hardly anything"
        return f"five more answers are likely to add about {points(self.gain)}"

    def __str__(self) -> str:
        if self.is_early:
            given = pluralize(self.answers, "answer")
            return f"it is too early to say how many further answers it would predict, after {given}"
        return (
            f"it would predict about {percent(self.accuracy)} of further answers "
            f"(90% sure: between {percent(self.low)} and {percent(self.high)}), and {self.outlook}"
        )


def points(gain: float) -> str:
    """A difference of accuracies in words."""
    return pluralize(round(100 * gain), "percentage point")


def check_goal(goal: float) -> float:
    """The same fraction, or an error if it is none that can be reached."""
    if not 0.5 < goal < 1.0:
        hint = f": for {goal:g} % write {goal / 100:g}" if 50 < goal < 100 else ""
        raise ValueError(
            "the fraction of answers to be predicted lies between 0.5 (by chance) and 1 (never reached, "
            f"since everybody errs), for example 0.9, but is {goal:g}{hint}"
        )
    return goal


@one_thread
def progress_of(belief: Distribution, x: Array, answers: int) -> Progress:
    """The progress of a belief after so many answers; questions are about x, in its units."""
    draws = accuracy_draws(belief, x)
    low, high = CORRECTION.interval(draws.mean, draws.variance_of_log_odds)
    gain = CORRECTION.gain(answers, draws.room)
    return Progress(answers, CORRECTION.accuracy(draws.mean), low, high, gain)


@one_thread
def likely_accuracy(belief: Distribution, x: Array) -> float:
    """The accuracy of `progress_of` alone, which needs no draws."""
    return CORRECTION.accuracy(expected_accuracy(belief, x))
