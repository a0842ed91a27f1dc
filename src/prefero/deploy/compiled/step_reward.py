"""The learned reward of single steps, g(state, action): what reinforcement learning takes as a reward.

    steps     (n, d)      states and actions side by side
    numbers   (n, d + 1)  the same with the effort of each step
    g         (n,)        the reward of each step; its mean over a trajectory is the trajectory's reward
    weights   (D,)        g = weights . features of the step + constant
    H                     the horizon, where trajectories may end early: then the sum of g over the steps of a
                          trajectory, and of what an end adds, is H times its reward, and a trajectory
                          without steps has reward 0

Every component of the posterior is linear in the features of steps, so the mean of the whole mixture is one
linear function of them. `CompiledSteps` is that function with everything multiplied out: a constant, a linear
and a quadratic form of the numbers, and one cosine for each wave, since
a cos(t) + b sin(t) = c cos(t - phase).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array
from prefero._support.ordering import largest_first
from prefero.kernels import Kernel, Linear
from prefero.models.posterior.gaussian import Posterior
from prefero.rewards.plots import MOST_PROFILES, plot_profiles
from prefero.rewards.reward import Reward
from prefero.trajectories.step_features import StepFeatures

if TYPE_CHECKING:
    from prefero.datasets.episode import Episode

STEPS_WORD = "steps"
DEVIATIONS = 2.0  # a profile goes so many standard deviations to both sides of the mean step
VALUES = 61  # along a profile
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class CompiledSteps:
    """The mean of g as a function of the numbers of steps, in as few array operations as possible.

    Args:
        constant: Of g.
        linear: (d + 1,).
        quadratic: (d + 1, d + 1).
        frequencies: Of the waves, (d + 1, W).
        phases: (W,).
        amplitudes: (W,).
    """

    constant: float
    linear: Array
    quadratic: Array
    frequencies: Array
    phases: Array
    amplitudes: Array

    @classmethod
    def of(cls, features: StepFeatures, weights: Array, constant: float) -> Self:
        """Multiply out weights of the features of steps.

        Args:
            features: The features.
            weights: (D,).
            constant: Of the reward.

        Returns:
            The same function of the numbers of steps.
        """
        d, k = len(features.center), len(features.axes)
        products = k * (k + 1) // 2
        upper = np.zeros((k, k))
        upper[np.triu_indices(k)] = weights[d : d + products]
        waves = 2 * len(features.amplitudes)
        constant += float(weights[d + products + waves :][:1].sum())  # what each step adds by lasting
        both = weights[d + products : d + products + waves].reshape(-1, 2)
        cosines, sines = (both * features.amplitudes[:, None]).T
        to_y = features.axes / features.scale  # (k, d): y = to_y @ (numbers - center)
        # first as a function of u = numbers - center, then of the numbers themselves
        linear, quadratic = weights[:d] / features.scale, to_y.T @ upper @ to_y
        quadratic = (quadratic + quadratic.T) / 2
        center, frequencies = features.center, features.waves @ to_y
        used = np.hypot(cosines, sines) > 0
        return cls(
            float(constant - linear @ center + center @ quadratic @ center),
            linear - 2.0 * quadratic @ center,
            quadratic,
            np.ascontiguousarray(frequencies[used].T),
            -(frequencies[used] @ center) - np.arctan2(sines, cosines)[used],
            np.hypot(cosines, sines)[used],
        )

    def __call__(self, numbers: Array) -> Array:
        """g of steps with these numbers (n, d + 1), (n,); of one step (d + 1,), a number."""
        angles = numbers @ self.frequencies
        angles += self.phases
        values = np.cos(angles, out=angles) @ self.amplitudes
        bent = numbers @ self.quadratic
        bent += self.linear
        values += numbers @ bent if numbers.ndim == 1 else np.einsum("nd,nd->n", bent, numbers)
        values += self.constant
        return values


@dataclass(frozen=True, eq=False)
class StepReward:
    """A learned reward of single steps. Call it with states and actions.

    Args:
        reward: A reward that was taught with the features `steps`.
        features: The features of steps that it is linear in.
    """

    reward: Reward
    features: StepFeatures

    @classmethod
    def of(cls, reward: Reward) -> Self:
        """Of a learned reward.

        Args:
            reward: The reward, taught with the features `steps` and no others.

        Returns:
            The reward of single steps.

        Raises:
            ValueError: If it is not such a reward.
        """
        spec = reward.feature_spec
        if spec is None or not is_of_steps(reward):
            words = "features of its own" if spec is None else ", ".join(spec.words)
            raise ValueError(
                f"a reward of steps is taught with the features 'steps', but this one was with {words}: "
                "teach with --features steps (features=['steps'])"
            )
        gaussians = [found for _, found in reward.belief.components if isinstance(found, Posterior)]
        others = {type(one).__name__ for gaussian in gaussians for one in _not_linear(gaussian)}
        if others:
            raise ValueError(
                "a reward of steps is linear in their features, but this model has other kernels: "
                f"{', '.join(sorted(others))}. Learn with the default model"
            )
        features = StepFeatures(**spec.fitted[STEPS_WORD])
        reward.scaling.check_names(features.names, "its embedding")
        return cls(reward, features)

    def __call__(
        self, states: npt.ArrayLike, actions: npt.ArrayLike, terminated: npt.ArrayLike | None = None
    ) -> Array:
        """The expected reward of each step.

        Args:
            states: The states before the steps, (n, s).
            actions: (n, a).
            terminated: Which steps the environment ended the episode with, (n,); None: none.

        Returns:
            The rewards, (n,).
        """
        rewards = self.compiled(self.features.numbers(self._side_by_side(states, actions)))
        return rewards if terminated is None else rewards + self.end * np.asarray(terminated)

    def predict(self, states: npt.ArrayLike, actions: npt.ArrayLike) -> tuple[Array, Array]:
        """The expected reward of each step, and its standard deviation.

        Args:
            states: The states before the steps, (n, s).
            actions: (n, a).

        Returns:
            The mean and the standard deviation, (n,) each.
        """
        steps = self._side_by_side(states, actions)
        x, scaling = self.reward.scaling(self.features(steps)), self.reward.scaling
        if not self.horizon:
            mean, variance = self.reward.belief.marginals(x)
        else:
            none = np.tile(-np.array(scaling.center) / np.array(scaling.scale), (len(x), 1))
            mean, variance = self.reward.belief.difference(x, none)
        return mean, np.sqrt(variance)

    def of_episode(self, episode: "Episode") -> Array:
        """The expected reward of each step of an episode, (T,), with what an end adds to the last one."""
        ended = episode.terminated & (np.arange(len(episode)) == len(episode) - 1)
        return self(episode.states[: len(episode)], episode.actions, ended)

    @cached_property
    def _affine(self) -> tuple[Array, float]:
        """Weights (D,) and constant of the mean, as a function of the features of steps."""
        weights, constants = self.affine(self.reward.belief.marginals(unit_points(self))[0][:, None])
        return weights[:, 0], float(constants[0])

    def affine(self, values: Array) -> tuple[Array, Array]:
        """Functions of steps whose values at `unit_points` are (D + 1, m): weights (D, m), constants (m,)."""
        scaling, zero = self.reward.scaling, values[0]
        weights = (values[1:] - zero) / np.array(scaling.scale)[:, None]
        constants = np.zeros_like(zero) if self.horizon else zero - np.array(scaling.center) @ weights
        return weights, constants

    @property
    def horizon(self) -> int:
        """H, where trajectories may end early; otherwise 0."""
        return int(self.features.horizon[0])

    @property
    def end(self) -> float:
        """What it adds to the reward of a step that the trajectory ends with it."""
        return self.horizon * float(self.weights[-1]) if self.horizon else 0.0

    @property
    def weights(self) -> Array:
        """The mean of g is weights . features + a constant, (D,): all components of the mixture in one."""
        return self._affine[0]

    @cached_property
    def compiled(self) -> CompiledSteps:
        """The fastest form of the mean: a function of states and actions side by side."""
        return CompiledSteps.of(self.features, *self._affine)

    @property
    def state_names(self) -> tuple[str, ...]:
        """Of the states."""
        spec = self.reward.feature_spec
        assert spec is not None
        return spec.state_names

    # --- explanations -------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Of the states and actions of a step."""
        spec = self.reward.feature_spec
        assert spec is not None
        return (*spec.state_names, *spec.action_names)

    def profile(self, place: int) -> tuple[Array, Array, Array]:
        """The reward along one state or action, all others at their mean.

        Args:
            place: Its place among `names`.

        Returns:
            Values, and the mean and the standard deviation of the difference from the mean step.
        """
        center = self.features.center[None, :-1]
        steps = np.tile(center, (VALUES, 1))
        steps[:, place] += np.linspace(-DEVIATIONS, DEVIATIONS, VALUES) * self.features.scale[place]
        x, middle = (self.reward.scaling(self.features(some)) for some in (steps, center))
        mean, variance = self.reward.belief.difference(x, np.repeat(middle, VALUES, axis=0))
        return steps[:, place], mean, np.sqrt(variance)

    def effects(self) -> dict[str, float]:
        """How much each state and action matters: its profile's standard deviation over the sum of all.

        Returns:
            The effects by name, the largest first.
        """
        stds = np.array([np.std(self.profile(place)[1]) for place in range(len(self.names))])
        effects = stds / max(stds.sum(), TINY)
        return {self.names[place]: float(effects[place]) for place in largest_first(effects)}

    def plot(self) -> Any:
        """The reward along the states and actions that matter most, as a matplotlib figure.

        Returns:
            A matplotlib figure; it needs the extra `plots`.
        """
        leading = list(self.effects())[:MOST_PROFILES]
        profiles = [self.profile(self.names.index(name)) for name in leading]
        return plot_profiles(leading, profiles, "reward of a step")

    def _side_by_side(self, states: npt.ArrayLike, actions: npt.ArrayLike) -> Array:
        """Steps (n, d); a single number of each step may come without its axis."""
        both = [np.asarray(values, dtype=float) for values in (states, actions)]
        steps = np.concatenate([one[:, None] if one.ndim == 1 else one for one in both], axis=1)
        if steps.shape[1] != len(self.features.effort):
            raise ValueError(
                f"a step has {len(self.features.effort)} states and actions ({', '.join(self.names)}), "
                f"but these have {steps.shape[1]}"
            )
        return steps


def unit_points(reward: StepReward) -> Array:
    """The scaled features 0, and 1 of each alone, (D + 1, D): they determine any function linear in them."""
    size = len(reward.reward.scaling.names)
    return np.concatenate([np.zeros((1, size)), np.eye(size)])


def is_of_steps(reward: Reward) -> bool:
    """Whether a reward was taught with the features `steps` and no others."""
    spec = reward.feature_spec
    return spec is not None and spec.words == (STEPS_WORD,) and STEPS_WORD in spec.fitted


def _not_linear(gaussian: Posterior) -> Iterator[Kernel]:
    """The kernels because of which the mean of a Gaussian is not linear in its features."""
    for term in gaussian.kernel.expand(gaussian.points, gaussian.alpha)[0]:
        yield from (step for step in term.path if not step.is_affine)
        if not isinstance(term.leaf, Linear):
            yield term.leaf
