"""A policy is trained on a reward while the reward is taught: collect, ask, learn, relabel, go on.

    segment      some successive steps of an episode: what questions are about
    round        some questions, then some steps of training on what was learned
    teacher      answers a question about two segments: a person, or a simulated user
    trainer      trains the policy in an environment whose reward is the learned one; it may have a replay
                 buffer, whose rewards are computed again when the reward has changed

The first segments are of random actions, later ones of the policy as it trains, so that questions follow the
policy to where it goes. With a folder, everything is stored after every round, and a loop of the same folder
continues after the last finished round.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any, Protocol

import gymnasium
import numpy as np

from prefero._support.arrays import Array, Image
from prefero._support.files import write_atomically
from prefero._support.progress_bar import progress as progress_bar
from prefero.datasets.episode import Episode, VideoSpan
from prefero.datasets.features.embeddings.steps import StepEmbedding
from prefero.datasets.features.extraction.from_spec import seen_in
from prefero.datasets.formats.environment_wrappers import changing_wrappers
from prefero.deploy.compiled.step_reward import STEPS_WORD, StepReward
from prefero.deploy.online.spaces import SpaceNumbers
from prefero.deploy.online.steps import OnlineSteps
from prefero.deploy.training.recorded_steps import RecordedSteps, load_episodes, save_episodes
from prefero.deploy.training.teachers import PoolTeacher, Teacher
from prefero.learner import Learner
from prefero.pools.pool import Pool
from prefero.questions import Answer, Question
from prefero.rendering.video import save_video
from prefero.rewards.reward import Reward
from prefero.trajectories.feature_spec import of_both

MOST_SEGMENTS = 400  # of a pool; those that questions were about are always kept
FIRST_ROUND = 2.0  # the first round has so many times as many questions as each of the others
STATE = "loop.json"

StepRewards = Callable[[Array, Array], Array]  # of states (n, s) and actions (n, a)


class PolicyTrainer(Protocol):
    """What trains a policy: `prefero.deploy.training.sb3.Sb3Trainer`, or one of your own."""

    def start(self, env: gymnasium.Env[Any, Any]) -> None:
        """Take the environment to train in; its reward changes when more is learned."""

    def train(self, steps: int) -> None:
        """Train for so many steps of the environment."""

    def relabel(self, rewards: StepRewards) -> None:
        """Compute the rewards of stored steps again; nothing to do where none are stored."""

    def save(self, folder: Path) -> None:
        """Store all that is needed to go on."""

    def load(self, folder: Path) -> None:
        """Go on from what `save` stored, after `start`."""


class _Rewarded(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Gives the reward that was learned last; 0 before there is one."""

    steps: OnlineSteps | None = None
    _observation: Any = None

    def use(self, reward: StepReward, scale: float) -> None:
        """Give this reward from the next step on, multiplied by the scale."""
        self.steps = OnlineSteps(reward, SpaceNumbers(self.observation_space, self.action_space, None))
        self.scale = scale
        if self._observation is not None:
            self.steps.begin(self._observation)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start a new episode."""
        observation, info = super().reset(seed=seed, options=options)
        self._observation = np.array(observation)
        if self.steps is not None:
            self.steps.begin(observation)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One step, with the learned reward; the environment's own is in the info."""
        observation, original, terminated, truncated, info = self.env.step(action)
        reward = 0.0 if self.steps is None else self.scale * float(self.steps(action, observation))
        self._observation = np.array(observation)
        return observation, reward, terminated, truncated, {**info, "original_reward": original}


@dataclass(eq=False)
class RewardLoop:
    """Trains a policy on a reward that is taught at the same time.

    Args:
        env: An environment with flat observations and continuous actions. Its own reward is recorded for
            simulated teachers, and given to nobody else.
        trainer: What trains the policy.
        teacher: A function of two segments that returns "left", "right", "equal", or None to skip; or a
            person on the page, `PageTeacher`, who answers while the policy trains.
        questions: How many are asked in all.
        rounds: How often questions are asked.
        segment: The steps of a segment.
        first_steps: With random actions, before the first questions.
        schedule: How many questions each round has, as proportions; by default the first has twice as many as
            each of the others.
        folder: Where to store the state after each round, and to continue from.
        seed: Of the first actions and of the questions.
        progress: Show a progress bar; None shows it on a terminal.
    """

    env: gymnasium.Env[Any, Any]
    trainer: PolicyTrainer
    teacher: Teacher | PoolTeacher
    questions: int = 100
    rounds: int = 8
    segment: int = 50
    first_steps: int = 1000
    schedule: Sequence[float] | None = None
    folder: Path | str | None = None
    seed: int = 0
    progress: bool | None = None
    answers: list[Answer] = field(default_factory=list, init=False)
    reward: Reward | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.questions < self.rounds or self.segment < 2:
            raise ValueError(
                "a loop has a round or more, a question or more in each, and segments of two steps or more: "
                f"not rounds={self.rounds}, questions={self.questions} and segment={self.segment}"
            )
        on_page = not callable(self.teacher)
        if on_page and self.folder is None:
            raise ValueError("a loop with videos needs a folder to keep them in: give folder=")
        self._recorded = RecordedSteps(self.env, images=on_page)
        self._rewarded = _Rewarded(self._recorded)
        self._segments: list[Episode] = []
        self._clips = 0
        self._taken: set[int] = set()  # numbers of the page's questions whose answers were taken
        self._done = 0
        self.trainer.start(self._rewarded)

    # --- the loop -----------------------------------------------------------------------------------------

    def run(self, steps: int) -> Reward:
        """Teach and train.

        Args:
            steps: Of training, in all rounds together.

        Returns:
            The reward after all answers. The policy is the trainer's.
        """
        if self._stored is not None and (self._stored / STATE).is_file():
            self._continue()
        elif not self._segments:
            self._collect_randomly()
        with progress_bar("training on what is taught", steps, self.progress) as advance:
            steps_of_round = np.diff(np.linspace(0, steps, self.rounds + 1).round().astype(int)).tolist()
            advance(sum(steps_of_round[: self._done]))
            for number in range(self._done, self.rounds):
                self._round(number, steps_of_round[number])
                advance(steps_of_round[number])
        if not callable(self.teacher) and self._take_answers(self.teacher, 0):
            self.reward = Learner(self._pool(), seed=self.seed, answers=self.answers).reward()
        assert self.reward is not None
        return self.reward

    def _round(self, number: int, steps: int) -> None:
        """Ask, learn, relabel, train, and store all of it."""
        count = sum(self._counts()[: number + 1]) - len(self.answers)
        if callable(self.teacher):
            self._keep_segments()
            self._teach(self.teacher, count)
        else:
            self._teach_on_page(self.teacher, count)
        self._use_reward()
        self.trainer.train(steps)
        self._done = number + 1
        if self._stored is not None:
            self._save(self._stored)

    def _counts(self) -> list[int]:
        """The number of questions of each round."""
        weights = self.schedule or [FIRST_ROUND] + [1.0] * (self.rounds - 1)
        ends = np.cumsum(weights) / np.sum(weights) * self.questions
        return [int(count) for count in np.diff(np.concatenate([[0], ends.round()]))]

    def _collect_randomly(self) -> None:
        """The first segments; the environment gives no reward yet."""
        self._rewarded.action_space.seed(self.seed)
        self._rewarded.reset(seed=self.seed)
        for _ in range(self.first_steps):
            _, _, terminated, truncated, _ = self._rewarded.step(self._rewarded.action_space.sample())
            if terminated or truncated:
                self._rewarded.reset()

    def _teach_on_page(self, teacher: PoolTeacher, count: int) -> None:
        """Learn from what was answered since the last round, and show the newest segments.

        The first round waits for its answers, since there is no reward without them.
        """
        left = max(count - self._take_answers(teacher, 0), 0)
        self._keep_segments()
        pool, self._taken = self._pool(), set()
        teacher.show(pool, left)
        self._take_answers(teacher, left if self.reward is None else 0)
        self.reward = Learner(pool, seed=self.seed, answers=self.answers).reward()

    def _take_answers(self, teacher: PoolTeacher, wait_for: int) -> int:
        """Add what is new, once there are so many answers about what is shown; how many are new."""
        found = teacher.answers(wait_for)
        new = [answer for answer in found if answer.question.number not in self._taken]
        self._taken.update(answer.question.number for answer in new)
        for answer in new:
            question = Question(*answer.question.items, number=len(self.answers) + 1)
            self.answers.append(Answer(question, answer.choice))
        return len(new)

    def _teach(self, teacher: Teacher, count: int) -> None:
        """Ask so many questions about the segments so far, and learn from all answers."""
        learner = Learner(self._pool(), seed=self.seed, answers=self.answers)
        asked = 0
        while asked < count:
            question = learner.ask()
            choice = teacher(self._segments[question.left], self._segments[question.right])
            if choice is None:
                learner.skip(question)
                continue
            learner.tell(question, choice)
            asked += 1
        self.answers = list(learner.answers)
        self.reward = learner.reward()

    def _use_reward(self) -> None:
        """Train on the reward with a standard deviation of 1 over the steps of all segments."""
        assert self.reward is not None
        reward = StepReward.of(self.reward)
        over = np.concatenate([reward.of_episode(segment) for segment in self._segments])
        scale = 1.0 / max(float(over.std()), 1e-9)
        self._rewarded.use(reward, scale)
        self.trainer.relabel(lambda states, actions: scale * reward(states, actions))

    # --- segments -----------------------------------------------------------------------------------------

    def _keep_segments(self) -> None:
        """Cut what was recorded; of too many segments without an answer, keep some of every age."""
        self._cut()
        if len(self._segments) < 2:
            raise ValueError(
                f"there are no two segments of {self.segment} steps yet: collect more (first_steps=), or "
                "take shorter segments (segment=)"
            )
        shown = {item for answer in self.answers for item in answer.question.items}
        others = [place for place in range(len(self._segments)) if place not in shown]
        room = max(MOST_SEGMENTS - len(shown), 2)
        if len(others) > room:
            chosen = np.linspace(0, len(others) - 1, room).round().astype(int)
            others = [others[place] for place in chosen]
        self._keep(sorted(shown.union(others)))

    def _cut(self) -> None:
        """Segments of all that was recorded since the last time, with videos where there are images."""
        for episode, images in self._recorded.take():
            for start in range(0, len(episode) - self.segment + 1, self.segment):
                segment = episode.segment((start, start + self.segment))
                if images:
                    shown = images[start : start + self.segment + 1]
                    segment = replace(segment, video=VideoSpan(self._save_clip(shown, segment.step_seconds)))
                self._segments.append(segment)

    def _save_clip(self, images: Sequence[Image], step_seconds: float) -> Path:
        """Write the video of a segment."""
        assert self._stored is not None
        self._clips += 1
        path = self._stored / "clips" / f"{self._clips:05d}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        save_video(path, images, 1.0 / step_seconds)
        return path

    def _keep(self, places: Sequence[int]) -> None:
        """These segments only; answers are about the same ones as before."""
        new = {old: place for place, old in enumerate(places)}
        self._segments = [self._segments[old] for old in places]
        self.answers = [Answer(_moved(answer.question, new), answer.choice) for answer in self.answers]

    def _pool(self) -> Pool:
        """The segments with their step features, in units of all of them."""
        embedding = StepEmbedding.fit(self._segments, 0)
        rows = np.stack([list(embedding(segment).values()) for segment in self._segments])
        seen = reduce(of_both, map(seen_in, self._segments), None)
        assert seen is not None
        spec = replace(
            seen,
            words=(STEPS_WORD,),
            window=f"{self.segment} steps",
            stride=f"{self.segment} steps",
            fitted={STEPS_WORD: embedding.arrays()},
            wrappers=changing_wrappers(self.env),
        )
        ids = [f"{place}" for place in range(len(rows))]
        clips = [str(one.video.path) for one in self._segments if one.video is not None] or None
        return Pool(rows, embedding.of_steps.names, ids=ids, clips=clips, feature_spec=spec)

    # --- files --------------------------------------------------------------------------------------------

    @property
    def _stored(self) -> Path | None:
        return None if self.folder is None else Path(self.folder)

    def _save(self, folder: Path) -> None:
        """The segments, the policy, the reward; last the state, which says that all of it is there."""
        folder.mkdir(parents=True, exist_ok=True)
        assert self.reward is not None
        self.reward.save(folder / "reward.json")
        self._cut()
        save_episodes(folder / f"segments-{self._done}.npz", self._segments)
        self.trainer.save(folder)
        answers = [[*answer.question.items, answer.choice] for answer in self.answers]
        state = {"rounds": self._done, "clips": self._clips, "answers": answers}
        write_atomically(folder / STATE, json.dumps(state))

    def _continue(self) -> None:
        """From the last finished round."""
        folder = self._stored
        assert folder is not None
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        self._done = int(state["rounds"])
        self._segments = load_episodes(folder / f"segments-{self._done}.npz")
        self._clips = int(state["clips"])
        self.answers = [
            Answer(Question(left, right, number=number), choice)
            for number, (left, right, choice) in enumerate(state["answers"], 1)
        ]
        self.reward = Learner(self._pool(), seed=self.seed, answers=self.answers).reward()
        self.trainer.load(folder)
        self._use_reward()


def _moved(question: Question, new: dict[int, int]) -> Question:
    return Question(new[question.left], new[question.right], number=question.number)
