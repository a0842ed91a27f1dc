"""An environment that can be recovered by its name: recorded datasets say where it is defined."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Slide(gymnasium.Env[Any, Any]):
    """A dot whose place is the sum of the actions; it is as bright as it is far."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012
    observation_space, action_space = spaces.Box(-99, 99, (1,)), spaces.Box(0, 1, (1,))

    drift = 0.0  # by which it moves of its own accord

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:  # noqa: ARG002
        super().reset(seed=seed)
        self.place = np.float32(self.np_random.integers(1, 5))
        return np.array([self.place], dtype=np.float32), {}

    def step(self, action: Any) -> Any:
        self.place += action[0] + self.drift
        return np.array([self.place], dtype=np.float32), 0.0, False, False, {}

    def render(self) -> Any:
        return np.full((48, 64, 3), int(20 * self.place), dtype=np.uint8)
