"""A person teaches on the page while a policy trains: rounds, answers, and the same page for all."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box

from prefero import RewardLoop, StepReward
from prefero.deploy.training.policy_trainer import StepRewards
from prefero.server.page_teacher import PageTeacher
from server.served_studies import Client


class Lamp(gymnasium.Env[Any, Any]):
    """A brightness that actions change; the picture shows it."""

    observation_space = Box(0.0, 1.0, (1,), np.float64)
    action_space = Box(-0.2, 0.2, (1,), np.float64)
    render_mode = "rgb_array"

    def __init__(self) -> None:
        self.metadata = {"render_fps": 10}

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.light, self.steps = self.np_random.uniform(0, 1, 1), 0
        return self.light.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.light, self.steps = np.clip(self.light + action, 0, 1), self.steps + 1
        return self.light.copy(), float(self.light[0]), False, self.steps == 10, {}

    def render(self) -> Any:
        return np.full((16, 16, 3), int(255 * self.light[0]), dtype=np.uint8)


class RandomActions:
    """Trains nothing; the person answers two questions in the meantime."""

    def __init__(self, person: Any) -> None:
        self.person = person

    def start(self, env: gymnasium.Env[Any, Any]) -> None:
        self.env = env

    def train(self, steps: int) -> None:
        self.env.reset(seed=7)
        for _ in range(steps):
            *_, over, _ = self.env.step(self.env.action_space.sample())
            if over:
                self.env.reset()
        self.person()

    def relabel(self, rewards: StepRewards) -> None: ...
    def save(self, folder: Path) -> None: ...
    def load(self, folder: Path) -> None: ...


@pytest.fixture
def teacher(tmp_path: Path) -> Iterator[PageTeacher]:
    made = PageTeacher(tmp_path, port=0, browser=False, report=lambda _: None)
    yield made
    made.close()


def answer(teacher: PageTeacher, count: int) -> None:
    """The person likes the left one, whatever it is."""
    with Client(teacher.address) as client:
        for _ in range(count):
            assert client.answer("left").status_code == 200


@pytest.mark.filterwarnings("ignore:the (final )?policy:UserWarning")
def test_a_person_teaches_while_the_policy_trains(teacher: PageTeacher, tmp_path: Path) -> None:
    shown = teacher.show
    first = threading.Event()

    def show(pool: Any, count: int) -> None:
        shown(pool, count)
        if not first.is_set():  # the first round waits for its answers
            first.set()
            threading.Thread(target=answer, args=(teacher, 4), daemon=True).start()

    teacher.show = show  # type: ignore[method-assign]
    trainer = RandomActions(lambda: answer(teacher, 2))
    loop = RewardLoop(
        Lamp(),
        trainer,
        teacher,
        questions=8,
        rounds=3,
        segment=5,
        first_steps=60,
        folder=tmp_path,
        progress=False,
    )
    reward = loop.run(90)
    assert len(loop.answers) == 4 + 3 * 2
    assert len({answer.question.number for answer in loop.answers}) == 10
    assert StepReward.of(reward)([[0.5]], [[0.0]]).shape == (1,)
    assert len(list((tmp_path / "clips").glob("*.mp4"))) >= 12


def test_a_page_needs_images_and_a_folder(teacher: PageTeacher, tmp_path: Path) -> None:
    assert teacher.answers(wait_for=0) == []
    with pytest.raises(ValueError, match="give folder="):
        RewardLoop(Lamp(), RandomActions(None), teacher)
    blind = Lamp()
    blind.render_mode = None  # type: ignore[assignment]
    with pytest.raises(ValueError, match="render_mode="):
        RewardLoop(blind, RandomActions(None), teacher, folder=tmp_path)
