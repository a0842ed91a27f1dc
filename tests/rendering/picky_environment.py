"""An environment that is rendered with one GL library only."""

import os
from typing import Any

from datasets.slide_environment import Slide


class Picky(Slide):
    """Another library ends the process, as OpenGL may."""

    def render(self) -> Any:
        if os.environ["MUJOCO_GL"] != "osmesa":
            os._exit(134)
        print("a line that must not come between the replies")
        return super().render()

    def step(self, action: Any) -> Any:
        if action[0] > 1:
            raise KeyError("too far")
        return super().step(action)
