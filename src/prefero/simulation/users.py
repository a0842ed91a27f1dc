"""Simulated users: a true reward, and answers through the same probit noise that the model assumes.

    reward       a function of features, (M, d) -> (M,)
    noise        the paper's sigma: P(A preferred) = Phi((f(A) - f(B)) / (sqrt(2) noise))
    margin       differences that look smaller than this are called "about equal"
    lapse_rate   the fraction of questions that are answered at random, with any of the possible answers
    bar          the reward of what is just acceptable; impressions of it are noisy like all others

Rewards are drawn as in the paper, with independent standard normal coefficients, and then divided by their
standard deviation over a pool, so that a noise means the same for all of them. The structures, the noise
and the lapses of `SimulatedUser.like_people` are those of real people.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np

from prefero._support.arrays import Array
from prefero.models.likelihood.probit import Probit
from prefero.pools.pool import Pool
from prefero.questions import PairChoice, Question
from prefero.questions.answer_kinds import choices_of, kind_named
from prefero.questions.kinds.base import TYPICAL_WIDTH, even_cut_points
from prefero.simulation.like_people import traits_of

RewardFunction = Callable[[Array], Array]
USUAL_STRONG_MARGIN = 0.7
RBF_THETAS, ADDITIVE_THETAS = (0.2, 0.6, 2.0), (0.4, 1.6)  # of the default model's; equally probable
WAVES = 300  # of a draw from a Gaussian process
NORMAL_ROWS = 1000  # over which a reward varies by 1 if there is no pool


@dataclass(frozen=True)
class SimulatedUser:
    """A reward with answer noise: compares two trajectories at a time.

    Args:
        reward: A function of features (M, d), the true reward.
        noise: The paper's sigma.
        margin: Perceived differences below it are answered "about equal".
        lapse_rate: The probability of a lapse, one of the possible answers at random.
        strong_margin: Perceived differences above it are answered "much better", where that is asked; None
            is 0.7, or twice the margin if that is larger.
        bar: The reward of what is just acceptable; None is the median of the trajectories.
        scale_width: Of the scale around the bar whose equal parts are the levels of a rating, in units of the
            reward.
    """

    reward: RewardFunction
    noise: float = 0.1
    margin: float = 0.0
    lapse_rate: float = 0.0
    strong_margin: float | None = None
    bar: float | None = None
    scale_width: float = TYPICAL_WIDTH

    def __post_init__(self) -> None:
        Probit(self.noise, self.margin, strong_margin=self.much)  # checks all
        if not 0.0 <= self.lapse_rate <= 1.0:
            raise ValueError(f"lapse_rate is a fraction between 0 and 1, but is {self.lapse_rate!r}")
        if not self.scale_width > 0:
            raise ValueError(f"the scale of a rating has a positive width, but this is {self.scale_width!r}")

    @classmethod
    def like_people(cls, seed: int, pool: Pool | None = None) -> Self:
        """A simulated user like real people.

        The structure of the reward, the noise and the lapse rate are drawn from what 335 people in ten public
        sets of comparisons are like.

        Args:
            seed: Decides all of it; each seed is another user.
            pool: The reward is a function of its scaled features, and has standard deviation 1 over it. None:
                a function of any number of standardized features, of standard deviation 1 over normal ones.

        Returns:
            The user.
        """
        structure, noise, lapse_rate = traits_of(seed)
        if pool is not None:
            return cls(_reward_like_people(structure, pool.scaled, seed), noise, lapse_rate=lapse_rate)
        return cls(
            lambda x: _reward_of_normal_features(structure, x.shape[1], seed)(x), noise, lapse_rate=lapse_rate
        )

    @property
    def much(self) -> float:
        """The difference from which on one is "much better"."""
        usual = max(USUAL_STRONG_MARGIN, 2.0 * self.margin)
        return usual if self.strong_margin is None else self.strong_margin

    def answer(self, left: Array, right: Array, rng: np.random.Generator) -> PairChoice:
        """Compare two rows of features.

        Args:
            left: Features of the first, (d,).
            right: Features of the second, (d,).
            rng: Draws the noise.

        Returns:
            "left", "right" or "equal".
        """
        if rng.random() < self.lapse_rate:
            answers: tuple[PairChoice, ...] = ("left", "right", "equal") if self.margin else ("left", "right")
            return answers[int(rng.random() * len(answers))]
        both = self.reward(np.stack([left, right]))
        seen = both[0] - both[1] + np.sqrt(2.0) * self.noise * rng.standard_normal()
        if abs(seen) < self.margin:
            return "equal"
        return "left" if seen > 0 else "right"

    def answer_question(self, question: Question, features: Array, rng: np.random.Generator) -> str:
        """Answer a question of any kind about rows of features.

        Args:
            question: The question.
            features: Of all trajectories of the pool, (M, d).
            rng: Draws the noise.

        Returns:
            One of the choices of the question's kind.
        """
        kind, choices = kind_named(question.kind), choices_of(question.kind, ties=self.margin > 0)
        if rng.random() < self.lapse_rate:
            return choices[int(rng.random() * len(choices))]
        rewards = self.reward(features[list(question.items)])
        if kind.uses_bar:
            rewards = np.append(rewards, self.bar_among(features))
        impressions = rewards + self.noise * rng.standard_normal(len(rewards))
        return kind.choice_of(impressions, self.margin, self.much, even_cut_points(self.scale_width))

    def bar_among(self, features: Array) -> float:
        """The reward of what is just acceptable, among these trajectories, (M, d)."""
        return float(np.median(self.reward(features))) if self.bar is None else self.bar


def linear(features: int, rng: np.random.Generator) -> RewardFunction:
    """w . x with standard normal weights."""
    weights = rng.standard_normal(features)
    return lambda x: x @ weights


def quadratic(features: int, rng: np.random.Generator) -> RewardFunction:
    """A polynomial of degree two with standard normal coefficients."""
    weights, products = rng.standard_normal(features), np.triu(rng.standard_normal((features, features)))
    return lambda x: x @ weights + np.einsum("ni,ij,nj->n", x, products, x)


def rbf(features: int, rng: np.random.Generator) -> RewardFunction:
    """A smooth function of all features: a draw from a Gaussian process with an RBF kernel."""
    return smooth(features, rng.choice(RBF_THETAS) / features, rng)


def additive(features: int, rng: np.random.Generator) -> RewardFunction:
    """A sum of smooth functions of one feature each."""
    theta = rng.choice(ADDITIVE_THETAS)
    terms = [smooth(1, theta, rng) for _ in range(features)]
    return lambda x: np.sum([term(x[:, [j]]) for j, term in enumerate(terms)], axis=0)


def smooth(features: int, theta: float, rng: np.random.Generator) -> RewardFunction:
    """A draw from a Gaussian process with kernel exp(-theta |x - y|^2), by random Fourier features."""
    frequencies = np.sqrt(2.0 * theta) * rng.standard_normal((features, WAVES))
    phases, heights = rng.uniform(0.0, 2.0 * np.pi, WAVES), rng.standard_normal(WAVES)
    return lambda x: np.cos(x @ frequencies + phases) @ heights * np.sqrt(2.0 / WAVES)


def bumpy(features: int, rng: np.random.Generator, bumps: int = 8, width: float = 0.35) -> RewardFunction:
    """The highest of some Gaussian bumps, scored 2, 3, 4, ... in random places, as in mini-golf."""
    places = rng.uniform(-1.5, 1.5, (bumps, features))
    scores = 2.0 + rng.permutation(bumps).astype(float)

    return on_targets(places, scores, width)


def on_targets(targets: Array, scores: Array, reach: float = 0.45) -> RewardFunction:
    """The score of the target that a row lies on, falling off with the distance to its middle."""

    def worth(places: Array) -> Array:
        squared = np.sum((places[:, None, :] - targets) ** 2, axis=2)
        best: Array = np.max(scores * np.exp(-squared / (2 * reach**2)), axis=1)
        return best

    return worth


REWARD_KINDS: dict[str, Callable[[int, np.random.Generator], RewardFunction]] = {
    "linear": linear,
    "quadratic": quadratic,
    "bumpy": bumpy,
}


def with_unit_std(reward: RewardFunction, features: Array) -> RewardFunction:
    """The reward divided by its standard deviation over these trajectories."""
    size = float(np.std(reward(features)))
    if not size > 0:
        raise ValueError("the reward is the same for every trajectory: use fewer features, or another kind")
    return lambda x: reward(x) / size


FORMS: dict[str, Callable[[int, np.random.Generator], RewardFunction]] = {
    "linear": linear,
    "quadratic": quadratic,
    "rbf": rbf,
    "additive": additive,
}


def _reward_like_people(structure: str, rows: Array, seed: int) -> RewardFunction:
    """A reward of standard deviation 1 over the rows; two structures have half of the variance each."""
    features = rows.shape[1]
    rng = np.random.default_rng([seed, features, *b"reward of a person"])  # a stream of its own
    parts = [with_unit_std(FORMS[name](features, rng), rows) for name in structure.split("+")]
    return with_unit_std(lambda x: np.sum([part(x) for part in parts], axis=0), rows)


@cache  # drawing is slow, and a user is asked often
def _reward_of_normal_features(structure: str, features: int, seed: int) -> RewardFunction:
    rows = np.random.default_rng(0).standard_normal((NORMAL_ROWS, features))
    return _reward_like_people(structure, rows, seed)
