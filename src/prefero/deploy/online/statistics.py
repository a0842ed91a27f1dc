"""The learned reward of episodes that still run, for the features `statistics`: updated with every step.

    total      (n,)   the reward of each episode so far: of its steps so far, or, for a reward that was taught
                      with windows, the mean of the rewards of the whole windows, as soon as there is one

It is what `PrefixRewards` has for the same steps, to rounding; but a step takes the same time however many
there were before it.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from prefero._support.arrays import Array, Flags
from prefero.datasets.features.embeddings.embedding import FITTED, Embedding
from prefero.datasets.features.embeddings.running_statistics import RunningStatistics
from prefero.datasets.features.extraction.windows import Windows
from prefero.deploy.compiled.compiled_reward import lower_bound_of
from prefero.deploy.online.spaces import SpaceNumbers
from prefero.rewards.reward import Reward


class OnlineStatistics:
    """The rewards of n episodes so far, or of one alone, whose arrays have no axis for it."""

    def __init__(
        self,
        running: RunningStatistics,  # of the current windows
        window: int | None,  # steps; None for whole episodes
        value: Callable[[Array], Array],  # the reward of rows of features
        numbers: SpaceNumbers,
    ) -> None:
        self._running, self._window, self._value, self._numbers = running, window, value, numbers
        self.total: Any = _zeros(running.shape, float)
        self._windows: Any = _zeros(running.shape, int)  # that are whole, of each episode

    @classmethod
    def of(cls, reward: Reward, numbers: SpaceNumbers, caution: float = 0.0) -> Self | None:
        """For environments with these spaces; None where the reward has other features.

        Windows that overlap, logarithms and categories are left to `PrefixRewards`.
        """
        spec = reward.feature_spec
        if spec is None or len(spec.words) != 1 or spec.words[0] not in spec.fitted:
            return None
        windows = Windows.maybe(spec.window, spec.stride)
        if windows is not None and windows.stride != windows.length:
            return None
        embedding = Embedding.of(spec.words[0])
        if embedding is None or embedding.kind not in FITTED:
            return None
        fitted = FITTED[embedding.kind].from_arrays(spec.fitted[spec.words[0]], embedding.count)
        running = fitted.running(spec, numbers.count, reward.scaling.names)
        if running is None:
            return None
        window = None if windows is None else windows.length.steps(spec.step_seconds)
        return cls(running, window, lower_bound_of(reward, caution), numbers)

    def begin(self, observations: Any, which: Flags | None = None) -> None:
        """New episodes, of all environments or of those that a mask chooses, from these observations on."""
        states, wanted = np.asarray(self._numbers.of_states(observations)), self._running.state.shape
        if states.shape != wanted:
            raise ValueError(
                f"the reward is about {wanted[-1]} states, but an observation has {states.shape[-1]}"
            )
        if which is None:
            self._running.begin(states)
            self.total, self._windows = _zeros(wanted[:-1], float), _zeros(wanted[:-1], int)
        else:
            self._running.begin(states[which], which)
            self.total[which], self._windows[which] = 0.0, 0

    def __call__(self, actions: Any, observations: Any, terminated: Any = False) -> Any:
        """How much each reward grows with this step, (n,); of one environment, a number."""
        del terminated  # these features are the same, whether the episode goes on or not
        self._running.step(self._numbers.of_actions(actions), self._numbers.of_states(observations))
        before, self.total = self.total, self._after_step()
        return self.total - before

    def _after_step(self) -> Any:
        """The rewards now; after the first window a reward changes only where another one is whole."""
        if self._window is None:
            return self._value(self._running.rows())
        whole = self._running.steps == self._window
        wanted = whole | (self._windows == 0)
        total = self.total
        if _any(wanted):
            values, number = self._value(self._running.rows()), np.maximum(self._windows + whole, 1)
            total = np.where(wanted, total + (values - total) / number, total)
        if _any(whole):
            self._windows = self._windows + whole
            some = whole if self._running.shape else ...
            self._running.begin(np.array(self._running.state[some]), some)
        return total


def _zeros(shape: tuple[int, ...], kind: type[float] | type[int]) -> Any:
    """An array, or one number where there is no axis."""
    return np.zeros(shape, dtype=kind) if shape else kind(0)


def _any(flags: Any) -> bool:
    """Is one of them true? A plain one is asked fast."""
    return flags if isinstance(flags, bool) else bool(flags.any())
