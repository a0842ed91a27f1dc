"""A session of teaching golf, in which a simulated person answers."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import plain_http
from page.run_servers import Server
from prefero.worlds.golf import TARGETS, Target
from waiting import TIMEOUT

(BLACK,) = (target for target in TARGETS if target.name == "black")


@dataclass
class Session:
    """The person likes one target, and prefers the shot whose ball comes to rest closer to it."""

    server: Server
    answers: int
    target: Target = BLACK
    _trajectories: dict[int, Any] = field(default_factory=dict)

    def distance(self, trajectory: int) -> float:
        """From where the ball comes to rest to the middle of the target, in meters."""
        *_, ball = self._trajectory(trajectory)["replay"]["poses"][-1]
        return float(np.linalg.norm(np.array(ball[:2]) - self.target.position))

    def features(self, trajectory: int) -> dict[str, float]:
        found: dict[str, float] = self._trajectory(trajectory)["features"]
        return found

    def choice(self) -> str:
        """The answer to the question that is shown."""
        left, right = map(self.distance, self.server.get("/api/session")["question"]["items"])
        return "left" if left < right else "right"

    def best(self) -> int:
        """The trajectory with the highest learned reward."""
        return int(self.server.get("/api/reward")["best"]["index"])

    def save_reward(self) -> Path:
        """The file that the page offers."""
        address = f"{self.server.address}/api/export/reward.json"
        file = self.server.folder / "reward.json"
        file.write_bytes(plain_http.get(address, timeout=TIMEOUT).raise_for_status().content)
        return file

    def printed(self) -> list[str]:
        """What the command printed, without the line about its temporary file."""
        lines = (self.server.folder / "server.log").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line.startswith(("What to do", "Open this page"))]

    def _trajectory(self, index: int) -> Any:
        if index not in self._trajectories:
            self._trajectories[index] = self.server.get(f"/api/trajectories/{index}")
        return self._trajectories[index]
