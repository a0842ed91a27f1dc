"""The loop of teaching and training, with a small trainer that needs no other package."""

import json
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from prefero import RewardLoop, StepReward, load_reward
from prefero._support.arrays import Array
from prefero.datasets import Episode
from prefero.deploy.training.loop_report import RoundRecord
from prefero.deploy.training.policy_trainer import StepRewards
from prefero.deploy.training.recorded_steps import RecordedSteps, load_episodes, save_episodes
from prefero.deploy.training.sb3 import Sb3Trainer
from prefero.deploy.training.teachers import ReturnTeacher, TerminalTeacher

LENGTH, SEGMENT = 20, 10

# With so few answers a loop often says that its policy is not known to be good.
pytestmark = pytest.mark.filterwarnings("ignore:the (final )?policy:UserWarning")


class Place(gymnasium.Env[Any, Any]):
    """A place that actions move; the true reward is high near 2."""

    observation_space = Box(-100.0, 100.0, (1,), np.float64)
    action_space = Box(-1.0, 1.0, (1,), np.float64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        del options
        self.place, self.steps = self.np_random.uniform(-3.0, 3.0, 1), 0
        return self.place.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        reward = -((float(self.place[0]) - 2.0) ** 2)
        self.place = np.clip(self.place + np.clip(action, -1.0, 1.0), -5.0, 5.0)
        return self.place.copy(), reward, False, self.steps == LENGTH, {}


class GoesToward:
    """A policy that goes toward one of a few places: the one with the highest reward when it was tried."""

    goal = -3.0

    def __init__(self) -> None:
        self.trained, self.relabelled = 0, 0

    def start(self, env: gymnasium.Env[Any, Any]) -> None:
        self.env = env

    def train(self, steps: int) -> None:
        """Goals are tried for an episode each; then it goes toward the best one for as long."""
        tried = max(steps // LENGTH // 2, 1)
        goals = np.linspace(-4.0, 4.0, tried) if tried > 1 else np.array([self.goal])
        self.goal = float(goals[np.argmax([self._return(goal) for goal in goals])])
        for _ in range(steps // LENGTH - tried):
            self._return(self.goal)
        self.trained += steps

    def _return(self, goal: float) -> float:
        state, _ = self.env.reset(seed=1)
        total, over = 0.0, False
        while not over:
            state, reward, _, over, info = self.env.step(np.clip(goal - state, -1.0, 1.0))
            assert info["original_reward"] <= 0
            total += float(reward)
        return total

    def relabel(self, rewards: StepRewards) -> None:
        assert rewards(np.zeros((3, 1)), np.zeros((3, 1))).shape == (3,)
        self.relabelled += 1

    def save(self, folder: Path) -> None:
        (folder / "goal.txt").write_text(f"{self.goal} {self.trained}", encoding="utf-8")

    def load(self, folder: Path) -> None:
        goal, trained = (folder / "goal.txt").read_text(encoding="utf-8").split()
        self.goal, self.trained = float(goal), int(trained)


def loop(trainer: GoesToward, **options: Any) -> RewardLoop:
    settings = {"questions": 6, "rounds": 3, "segment": SEGMENT, "first_steps": 200} | options
    return RewardLoop(Place(), trainer, settings.pop("teacher", ReturnTeacher()), progress=False, **settings)


def test_the_policy_does_what_the_teacher_likes() -> None:
    trainer = GoesToward()
    taught = loop(trainer, questions=12)
    reward = StepReward.of(taught.run(3 * 72 * LENGTH))
    assert trainer.goal == pytest.approx(2.0, abs=1.0)
    assert trainer.trained == 3 * 72 * LENGTH
    assert trainer.relabelled == 3
    assert len(taught.answers) == 12
    values = reward([[-2.0], [2.0]], [[0.0], [0.0]])
    assert values[1] > values[0]


def test_the_first_round_has_the_most_questions() -> None:
    counts = []

    class Counting(GoesToward):
        def train(self, steps: int) -> None:
            counts.append(len(taught.answers))
            super().train(steps)

    taught = loop(Counting(), questions=8)
    taught.run(3 * LENGTH)
    assert np.diff([0, *counts]).tolist() == [4, 2, 2]
    counts.clear()
    taught = loop(Counting(), questions=6, schedule=[1, 1, 2])
    taught.run(3 * LENGTH)
    assert counts[-1] == 6


class Stopped(Exception):
    """In place of a power cut."""


def test_a_stopped_loop_continues_after_the_last_round(tmp_path: Path) -> None:
    class StopsInTheSecondRound(GoesToward):
        def train(self, steps: int) -> None:
            if self.trained:
                raise Stopped
            super().train(steps)

    with pytest.raises(Stopped):
        loop(StopsInTheSecondRound(), folder=tmp_path).run(12 * LENGTH)
    trainer = GoesToward()
    again = loop(trainer, folder=tmp_path)
    again.run(12 * LENGTH)
    assert trainer.trained == 12 * LENGTH
    assert len(again.answers) == 6
    assert len(again.answers) == len({answer.question.number for answer in again.answers})
    returns = [s.rewards.sum() for s in again._segments.episodes if s.rewards is not None]
    for answer in again.answers:  # they are still about the same segments
        left, right = (returns[item] for item in answer.question.items)
        assert answer.choice == ("left" if left > right else "right")


def test_all_is_stored_before_anything_of_the_users_own_may_fail(tmp_path: Path) -> None:
    def unreachable(_: RoundRecord) -> None:
        raise Stopped

    first, last = tmp_path / "callback", tmp_path / "warning"
    with pytest.raises(Stopped):
        loop(GoesToward(), folder=first, callbacks=[unreachable]).run(12 * LENGTH)
    assert json.loads((first / "loop.json").read_text(encoding="utf-8"))["rounds"] == 1
    taught = loop(GoesToward(), folder=last)
    with warnings.catch_warnings(action="error"), pytest.raises(UserWarning, match="policy"):
        taught.run(3 * LENGTH)
    assert "Warning: the" in (last / "report.txt").read_text(encoding="utf-8")
    assert taught.reward is not None
    assert load_reward(last / "reward.json").diagnostics == taught.reward.diagnostics


def test_segments_without_answers_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefero.deploy.training.segments.MOST_SEGMENTS", 20)
    taught = loop(GoesToward(), questions=12)
    taught.run(60 * LENGTH)
    newest = len(taught._segments.of_round(3))
    older = 12 * 2 + 20 + 10  # those that questions were about, the newest then, and older ones
    assert len(taught._segments) <= newest + older
    assert len(taught.answers) == 12


def test_skipped_questions_are_not_counted() -> None:
    skips = iter([True, False] * 100)
    teacher = ReturnTeacher()
    taught = loop(GoesToward(), teacher=lambda a, b: None if next(skips) else teacher(a, b), questions=6)
    taught.run(3 * LENGTH)
    assert len(taught.answers) == 6


class Balance(Place):
    """A place that drifts away from 0 unless actions hold it; beyond 1 the episode ends."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        self.place = 1.3 * self.place + 0.5 * np.clip(action, -1.0, 1.0)
        return self.place.copy(), 1.0, abs(self.place[0]) > 1.0, self.steps == 200, {}

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.place = self.np_random.uniform(-0.5, 0.5, 1)
        return self.place.copy(), {}


class Holds(GoesToward):
    """A policy that pushes back: as hard as was best when it was tried."""

    goal = 0.0

    def _return(self, goal: float) -> float:
        state, _ = self.env.reset()
        total, over = 0.0, False
        while not over:
            state, reward, ended, truncated, _ = self.env.step(-goal * state)
            over, total = ended or truncated, total + float(reward)
        return total


def test_random_episodes_may_be_shorter_than_a_segment() -> None:
    """As in balancing: random actions last some steps, and who survives is better."""
    trainer, records = Holds(), list[RoundRecord]()
    taught = RewardLoop(
        Balance(),
        trainer,
        ReturnTeacher(),
        questions=32,
        rounds=2,
        first_steps=300,
        progress=False,
        callbacks=[records.append],
    )
    reward = StepReward.of(taught.run(2 * 40 * LENGTH))
    assert taught._segments.length == reward.horizon == 50
    assert trainer.goal == pytest.approx(2.6, abs=2.0)  # 1.3 - 0.5 goal is between -1 and 1
    assert reward([[0.0]], [[0.0]])[0] > 0  # surviving is good
    assert [record.round for record in records] == [1, 2]
    assert records[0].ended > 0
    assert taught.report is not None
    assert taught.report.won == 3
    assert not taught.report.warnings


def test_a_policy_that_leaves_what_was_asked_about_is_stopped_with_words(tmp_path: Path) -> None:
    class Far(Place):
        far = 0.0

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            place, *rest = super().step(action)
            return (place + self.far * self.np_random.normal(size=1), *rest)

    env = Far()

    class Leaves(GoesToward):
        """In the second round it does what nobody was asked about."""

        def _return(self, goal: float) -> float:
            env.far = 40.0 * (self.trained > 0)
            return super()._return(goal)

    settings: dict[str, Any] = {"questions": 3, "rounds": 2, "segment": SEGMENT, "first_steps": 200}
    trainer = Leaves()
    taught = RewardLoop(env, trainer, ReturnTeacher(), folder=tmp_path, progress=False, **settings)
    with pytest.warns(UserWarning, match="has left what the answers cover"):
        taught.run(4 * 40 * LENGTH)
    assert trainer.trained < 4 * 40 * LENGTH
    assert "has left what the answers cover" in (tmp_path / "report.txt").read_text(encoding="utf-8")
    again = RewardLoop(env, Leaves(), ReturnTeacher(), folder=tmp_path, progress=False, **settings)
    with pytest.warns(UserWarning, match="has left what the answers cover"):
        again.run(4 * 40 * LENGTH)  # finished already: it says the same


def episodes() -> tuple[Episode, Episode]:
    states: Array = np.arange(6.0).reshape(3, 2)
    actions = np.zeros((3, 1))
    return Episode("e", states, actions, np.zeros(3)), Episode("e", states + 1.0, actions, np.ones(3))


def test_the_return_teacher_makes_errors_with_noise() -> None:
    worse, better = episodes()
    assert ReturnTeacher()(worse, better) == "right"
    noisy = ReturnTeacher(noise=1.0)
    wrong = np.mean([noisy(worse, better) == "left" for _ in range(300)])
    assert 0.08 < wrong < 0.25  # about Phi(-1)


def test_the_terminal_asks_until_it_understands(capsys: pytest.CaptureFixture[str]) -> None:
    said = iter(["what?", " Right"])
    teacher = TerminalTeacher(ask=lambda _: next(said))
    assert teacher(*episodes()) == "right"
    assert "mean state 1" in capsys.readouterr().out
    assert TerminalTeacher(show=lambda *_: None, ask=lambda _: "s")(*episodes()) is None


def test_recorded_episodes_are_what_happened(tmp_path: Path) -> None:
    env, rng = RecordedSteps(Place()), np.random.default_rng(0)
    env.reset(seed=0)
    for _ in range(LENGTH):
        _, _, _, over, _ = env.step(rng.uniform(-1, 1, 1))
    assert over
    env.reset()
    env.step(np.ones(1))
    whole, begun = (one.episode for one in env.take())
    assert len(whole) == LENGTH
    assert whole.rewards == pytest.approx(-((whole.states[:-1, 0] - 2.0) ** 2))
    assert len(begun) == 1
    env.step(np.ones(1))
    (rest,) = (one.episode for one in env.take())
    assert rest.states[0] == pytest.approx(begun.states[-1])
    save_episodes(tmp_path / "kept.npz", [whole, rest])
    again = load_episodes(tmp_path / "kept.npz")
    assert np.array_equal(again[0].states, whole.states)
    assert again[1].step_seconds == rest.step_seconds


def test_impossible_loops_are_refused() -> None:
    with pytest.raises(ValueError, match="rounds=0"):
        loop(GoesToward(), rounds=0)
    with pytest.raises(ValueError, match="two segments of 50 steps"):
        loop(GoesToward(), segment=50).run(100)
    with pytest.raises(ValueError, match=r"two segments of 50 steps yet: collect more \(first_steps=\)"):
        loop(GoesToward(), segment=None, first_steps=0).run(100)
    with pytest.raises(ValueError, match="caution"):
        loop(GoesToward(), caution=-1.0)
    with pytest.raises(ValueError, match="each of the 3 rounds, but this one has 2"):
        loop(GoesToward(), schedule=[2, 1])
    place = Place()
    place.action_space = Discrete(3)  # type: ignore[assignment]
    with pytest.raises(ValueError, match=r"actions must be arrays .*one axis"):
        RecordedSteps(place)


def test_an_algorithm_that_takes_whole_rollouts_takes_as_many_steps_as_it_is_asked_for() -> None:
    class TakesRollouts:
        """Counts steps as stable-baselines3 does."""

        num_timesteps = 0

        def learn(self, total_timesteps: int, *, reset_num_timesteps: bool) -> None:
            assert not reset_num_timesteps
            self.num_timesteps += -(-total_timesteps // 64) * 64

    trainer = Sb3Trainer(lambda _: TakesRollouts())
    trainer.start(Place())
    for _ in range(40):
        trainer.train(25)
    assert 1000 <= trainer.model.num_timesteps < 1064


def test_stable_baselines_trains_in_the_loop(tmp_path: Path) -> None:
    sb3 = pytest.importorskip("stable_baselines3")

    def make(env: Any) -> Any:
        options = {"policy_kwargs": {"net_arch": [8]}, "learning_starts": 10, "buffer_size": 500}
        return sb3.SAC("MlpPolicy", env, device="cpu", seed=0, **options)

    def looped(trainer: Any, questions: int) -> RewardLoop:
        env = gymnasium.make("Pendulum-v1")
        settings: dict[str, Any] = {"rounds": 2, "first_steps": 400, "folder": tmp_path, "progress": False}
        return RewardLoop(env, trainer, ReturnTeacher(), questions=questions, **settings)

    trainer = Sb3Trainer(make)
    reward = StepReward.of(looped(trainer, 8).run(100))
    buffer = trainer.model.replay_buffer
    assert buffer.size() == 100
    trainer.relabel(reward)
    states, actions = (
        buffer.observations[:100, 0],
        trainer.model.policy.unscale_action(buffer.actions[:100, 0]),
    )
    assert buffer.rewards[:100, 0] == pytest.approx(reward(states, actions), abs=1e-4)
    other = Sb3Trainer(make)
    looped(other, 8).run(100)  # finished already: it is read from the folder
    assert other.model.replay_buffer.size() == 100
