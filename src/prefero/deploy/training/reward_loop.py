"""A policy is trained on a reward while the reward is taught: collect, ask, learn, relabel, go on.

    segment      some successive steps of an episode: what questions are about
    round        some questions, then some steps of training on what was learned
    teacher      answers a question about two segments: a person, or a simulated user
    trainer      trains the policy in an environment whose reward is the learned one; it may have a replay
                 buffer, whose rewards are computed again when the reward has changed

The first segments are of random actions, later ones of the policy as it trains, so that questions follow the
policy to where it goes. A policy goes where its reward is highest, and so to where the reward is wrong:
training takes a lower confidence bound of the reward, within the values that it has for the steps so far, and
stops where the answers say too little of what the policy does. With a folder, everything is stored after
every round, and a loop of the same folder continues after the last finished round.
"""

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from prefero._support.arrays import Array, Flags, Image
from prefero._support.files import write_atomically
from prefero._support.progress_bar import progress as progress_bar
from prefero.datasets.episode import Episode
from prefero.datasets.formats.environment_wrappers import changing_wrappers
from prefero.datasets.media.images import with_words
from prefero.deploy.compiled.cautious_steps import CautiousSteps
from prefero.deploy.compiled.step_reward import StepReward
from prefero.deploy.planning.plan import check_caution
from prefero.deploy.training.exploration import StyledActions
from prefero.deploy.training.loop_report import LEAST_KNOWN, Gain, LoopReport, RoundRecord, left_the_answers
from prefero.deploy.training.policy_trainer import PolicyTrainer, RewardedSteps
from prefero.deploy.training.recorded_steps import RecordedSteps, load_episodes, save_episodes
from prefero.deploy.training.segments import USUAL_LENGTH, Segment, Segments, usual_length
from prefero.deploy.training.teachers import PoolTeacher, Teacher
from prefero.learner import Learner
from prefero.pools.pool import Pool
from prefero.questions import Answer, Question
from prefero.rendering.video import save_video
from prefero.rewards.reward import Reward

FIRST_ROUND = 2.0  # the first round has so many times as many questions as each of the others
PORTIONS = 4  # of a round's training: after each, the loop looks at what the policy does by then,
LEAST_LOOKED_AT = 4  # at so many segments or more
CHECKS = 16  # of so many questions one is kept for the end, to compare the final policy with random actions,
FEWEST_CHECKS, FEW = 3, 24  # but three or more, since fewer prove nothing; and none of fewer questions
STATE, REWARD, REPORT = "loop.json", "reward.json", "report.txt"


@dataclass(eq=False)
class RewardLoop:
    """Trains a policy on a reward that is taught at the same time.

    After `run`, `report` says what was reached and how sure that is; what the user should know before they
    use the policy is a warning too.

    Args:
        env: An environment with flat observations and continuous actions. Its own reward is recorded for
            simulated teachers, and given to nobody else.
        trainer: What trains the policy.
        teacher: A function of two segments that returns "left", "right", "equal", or None to skip; or a
            person on the page, `PageTeacher`, who answers while the policy trains.
        questions: How many are asked in all. One of 16 is kept for the end, to compare the final policy with
            random actions: three or more, but none of fewer than 24, and none on the page.
        rounds: How often questions are asked.
        segment: The steps of a segment; one at whose end the environment ends the episode may have fewer.
            None is 50, or the length of the episodes where a time limit makes all of them shorter.
        first_steps: With random actions, before the first questions.
        schedule: How many questions each round has, as proportions; by default the first has twice as many as
            each of the others.
        caution: k in mean - k std, the reward that the policy is trained on: so it avoids what is not known.
        end_words: What a video shows where the environment ended the episode, such as "it fell".
        callbacks: Functions that are called with the `RoundRecord` of each round: trackers, or your own.
        folder: Where to store the state and the report after each round, and to continue from.
        seed: Of the first actions and of the questions.
        progress: Show a progress bar; None shows it on a terminal.
    """

    env: gymnasium.Env[Any, Any]
    trainer: PolicyTrainer
    teacher: Teacher | PoolTeacher
    questions: int = 100
    rounds: int = 8
    segment: int | None = None
    first_steps: int = 1000
    schedule: Sequence[float] | None = None
    caution: float = 1.0
    end_words: str = "it ended here"
    callbacks: Sequence[Callable[[RoundRecord], None]] = ()
    folder: Path | str | None = None
    seed: int = 0
    progress: bool | None = None
    answers: list[Answer] = field(default_factory=list, init=False)
    reward: Reward | None = field(default=None, init=False)
    report: LoopReport | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.questions < self.rounds or (self.segment or USUAL_LENGTH) < 2:
            raise ValueError(
                "a loop has a round or more, a question or more in each, and segments of two steps or more: "
                f"not rounds={self.rounds}, questions={self.questions} and segment={self.segment}"
            )
        if self.schedule is not None and len(self.schedule) != self.rounds:
            raise ValueError(
                f"a schedule has a proportion for each of the {self.rounds} rounds, but this one has "
                f"{len(self.schedule)}: {list(self.schedule)}"
            )
        check_caution(self.caution)
        on_page = not callable(self.teacher)
        if on_page and self.folder is None:
            raise ValueError("a loop with videos needs a folder to keep them in: give folder=")
        self._recorded = RecordedSteps(self.env, images=on_page)
        self._rewarded = RewardedSteps(self._recorded)
        self._segments = Segments(self.segment or 0)
        self._clips = 0
        self._taken: set[int] = set()  # numbers of the page's questions whose answers were taken
        self._done, self._trained = 0, 0
        self._stopped = ""  # why training stopped before its end
        self._records: list[RoundRecord] = []
        self.trainer.start(self._rewarded)

    # --- the loop -----------------------------------------------------------------------------------------

    def run(self, steps: int) -> Reward:
        """Teach and train.

        Args:
            steps: Of training, in all rounds together.

        Returns:
            The reward after all answers. The policy is the trainer's, and `report` says how sure it is.
        """
        if self._stored is not None and (self._stored / STATE).is_file():
            self._continue()
        elif not self._segments:
            self._collect_randomly()
        with progress_bar("training on what is taught", steps, self.progress) as advance:
            advance(self._trained)
            while self._done < self.rounds:
                before = self._trained
                self._round(steps)
                advance(self._trained - before)
        return self._finish()

    def _round(self, steps: int) -> None:
        """Ask, learn, relabel, train, and store all of it."""
        count = sum(self._counts()[: self._done + 1]) - len(self.answers)
        if callable(self.teacher):
            self._keep_segments()
            self._teach(self.teacher, count)
        else:
            self._teach_on_page(self.teacher, count)
        self._use_reward()
        self._done += 1
        left = steps - self._trained
        self._train(left if self._done == self.rounds else round(left / (self.rounds - self._done + 1)))
        self._cut()
        self._records.append(self._record())
        if self._stored is not None:
            self._save(self._stored)
        for callback in self.callbacks:  # last: they may fail
            callback(self._records[-1])

    def _train(self, steps: int) -> None:
        """Train in portions, until the policy leaves what the answers cover: then it is time to ask again.

        In the last round there is nothing more to ask: then the report says why training stopped.
        """
        self._stopped = ""  # a loop with more rounds may go on where one was stopped
        portions = min(max(steps // (LEAST_LOOKED_AT * self._segments.length), 1), PORTIONS)
        for portion in np.diff(np.linspace(0, steps, portions + 1).round().astype(int)).tolist():
            self.trainer.train(portion)
            self._trained += portion
            before = len(self._segments)
            self._cut(finished=True)
            new = self._segments.episodes[before:]
            known = self._gain(new).known if new else 1.0
            if known < LEAST_KNOWN:
                self._stopped = left_the_answers(known) if self._done == self.rounds else ""
                break

    def _finish(self) -> Reward:
        """The reward after all answers, and the report."""
        won = lost = 0
        if callable(self.teacher):
            won, lost = self._check(self.teacher)
        else:
            self._take_answers(self.teacher, 0)
        self.reward = self._learner().reward()
        self.report = LoopReport(tuple(map(self._seen_again, self._records)), won, lost, self._stopped)
        if self._stored is not None:
            self.reward.save(self._stored / REWARD)
            write_atomically(self._stored / REPORT, self.report.describe() + "\n")
        for warning in self.report.warnings:  # last: they may be errors
            warnings.warn(warning, stacklevel=3)
        return self.reward

    def _counts(self) -> list[int]:
        """The number of questions of each round; those that check the final policy come after all of them."""
        weights = self.schedule or [FIRST_ROUND] + [1.0] * (self.rounds - 1)
        ends = np.cumsum(weights) / np.sum(weights) * (self.questions - self._checks)
        return [int(count) for count in np.diff(np.concatenate([[0], ends.round()]))]

    @property
    def _checks(self) -> int:
        """How many questions check the final policy; a person on the page answers when they like."""
        if not callable(self.teacher) or self.questions < FEW:
            return 0
        return max(self.questions // CHECKS, FEWEST_CHECKS)

    def _collect_randomly(self) -> None:
        """The first segments; the environment gives no reward yet."""
        length, rng = self.segment or USUAL_LENGTH, np.random.default_rng(self.seed)
        space = self._rewarded.action_space
        assert isinstance(space, gymnasium.spaces.Box)
        act = StyledActions(space, length, rng)
        self._rewarded.reset(seed=self.seed)
        for _ in range(self.first_steps):
            _, _, terminated, truncated, _ = self._rewarded.step(act())
            if terminated or truncated:
                self._rewarded.reset()

    # --- teaching -----------------------------------------------------------------------------------------

    def _learner(self) -> Learner:
        return Learner(self._pool(), seed=self.seed, answers=self.answers)

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
        learner, asked = self._learner(), 0
        while asked < count:
            question = learner.ask()
            choice = teacher(*(self._segments.found[item].episode for item in question.items))
            if choice is None:
                learner.skip(question)
                continue
            learner.tell(question, choice)
            asked += 1
        self.answers = list(learner.answers)
        self.reward = learner.reward()

    def _check(self, teacher: Teacher) -> tuple[int, int]:
        """Compare the newest segments with random actions, and learn from that too; how many are won, lost.

        The pairs are drawn, since the reward would choose those that it is wrong about least often.
        """
        rng, won, lost = np.random.default_rng(self.seed), 0, 0
        random, newest = (self._segments.of_round(number) for number in (0, self._done))
        newest = newest[len(newest) // 2 :]  # of the policy at the end of its training
        for _ in range(self._checks if random and newest else 0):
            pair = [int(rng.choice(newest)), int(rng.choice(random))]
            final = int(rng.integers(2))  # the side of the final policy
            items = pair if final == 0 else pair[::-1]
            choice = teacher(*(self._segments.found[item].episode for item in items))
            if choice is None:
                continue
            self.answers.append(Answer(Question(*items, number=len(self.answers) + 1), choice))
            won += choice == ("left", "right")[final]
            lost += choice == ("right", "left")[final]
        return won, lost

    # --- training -----------------------------------------------------------------------------------------

    def _use_reward(self) -> None:
        """Train on a lower bound of the reward, with a mean square of 1 over the steps of all segments.

        Where surviving is rewarded, most of the reward of a step is the same for all: in units of the
        standard deviation it would be large, and change with every round.
        """
        reward = self._step_reward
        numbers = reward.features.numbers(self._segments.steps)
        bound = CautiousSteps.of(reward, self.caution, self.seed).within(numbers)
        scale = 1.0 / max(float(np.sqrt(np.mean(bound(numbers) ** 2))), 1e-9)
        self._rewarded.use(reward, bound, scale)

        def rewards(states: Array, actions: Array, terminated: Flags | None = None) -> Array:
            values = bound(reward.features.numbers(np.concatenate([states, actions], axis=1)))
            return scale * (values if terminated is None else values + reward.end * terminated)

        self.trainer.relabel(rewards)

    @property
    def _step_reward(self) -> StepReward:
        assert self.reward is not None
        return StepReward.of(self.reward)

    def _gain(self, segments: Sequence[Episode]) -> Gain:
        """How much better these segments are than random actions."""
        random = [self._segments.found[place].episode for place in self._segments.of_round(0)]
        return Gain.of(self._step_reward, segments, random)

    def _record(self) -> RoundRecord:
        """What the round that has just been trained has reached."""
        own = [self._segments.found[place].episode for place in self._segments.of_round(self._done)]
        rewards = [one.rewards for one in own if one.rewards is not None]
        record = RoundRecord(
            round=self._done,
            answers=len(self.answers),
            steps=self._trained,
            segments=len(own),
            ended=sum(one.terminated for one in own),
            original_reward=float(np.concatenate(rewards).mean()) if rewards else 0.0,
        )
        return self._seen_again(record)

    def _seen_again(self, record: RoundRecord) -> RoundRecord:
        """The record of a round as the newest reward sees it."""
        places = self._segments.of_round(record.round)
        if not places:
            return record
        asked = {item for answer in self.answers for item in answer.question.items}.intersection(places)
        gain = self._gain([self._segments.found[place].episode for place in places])
        return replace(record, asked=len(asked), gain=gain)

    # --- segments -----------------------------------------------------------------------------------------

    def _keep_segments(self) -> None:
        """Cut what was recorded; keep what questions were about, and of the rest mostly the newest."""
        self._cut()
        if len(self._segments) < 2:
            raise ValueError(
                f"there are no two segments of {self._segments.length} steps yet: collect more "
                "(first_steps=), or take shorter segments (segment=)"
            )
        shown = {item for answer in self.answers for item in answer.question.items}
        places = self._segments.worth_keeping(shown, self._done)
        new = {old: place for place, old in enumerate(places)}
        self._segments.keep(places)
        self.answers = [Answer(_moved(answer.question, new), answer.choice) for answer in self.answers]

    def _cut(self, finished: bool = False) -> None:
        """Segments of all that was recorded since the last time, with videos where there are images."""
        recorded = self._recorded.take(finished=finished)
        if not self._segments.length:
            self._segments.length = usual_length(recorded)
        self._segments.cut(recorded, self._done, self._save_clip)

    def _save_clip(self, images: Sequence[Image], segment: Episode) -> Path:
        """Write the video of a segment; one that ended early shows its end for as long as others go on."""
        assert self._stored is not None
        if segment.terminated:
            rest = max(self._segments.length - len(segment), 1)
            images = [*images, *[with_words(images[-1], self.end_words)] * rest]
        self._clips += 1
        path = self._stored / "clips" / f"{self._clips:05d}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        save_video(path, images, 1.0 / segment.step_seconds)
        return path

    def _pool(self) -> Pool:
        return self._segments.pool(changing_wrappers(self.env))

    # --- files --------------------------------------------------------------------------------------------

    @property
    def _stored(self) -> Path | None:
        return None if self.folder is None else Path(self.folder)

    def _save(self, folder: Path) -> None:
        """The segments, the policy, the reward; last the state, which says that all of it is there."""
        folder.mkdir(parents=True, exist_ok=True)
        assert self.reward is not None
        self.reward.save(folder / REWARD)
        save_episodes(folder / f"segments-{self._done}.npz", self._segments.episodes)
        self.trainer.save(folder)
        state = {
            "rounds": self._done,
            "steps": self._trained,
            "stopped": self._stopped,
            "clips": self._clips,
            "length": self._segments.length,
            "rounds of segments": [one.round for one in self._segments.found],
            "answers": [[*answer.question.items, answer.choice] for answer in self.answers],
            "records": [asdict(one) for one in self._records],
        }
        write_atomically(folder / STATE, json.dumps(state))

    def _continue(self) -> None:
        """From the last finished round."""
        folder = self._stored
        assert folder is not None
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        self._done, self._trained = int(state["rounds"]), int(state["steps"])
        episodes = load_episodes(folder / f"segments-{self._done}.npz")
        each = zip(episodes, state["rounds of segments"], strict=True)
        self._segments = Segments(int(state["length"]), [Segment(*one) for one in each])
        self._records = [RoundRecord(**{**one, "gain": Gain(**one["gain"])}) for one in state["records"]]
        self._clips, self._stopped = int(state["clips"]), str(state["stopped"])
        self.answers = [
            Answer(Question(left, right, number=number), choice)
            for number, (left, right, choice) in enumerate(state["answers"], 1)
        ]
        self.reward = self._learner().reward()
        self.trainer.load(folder)
        self._use_reward()


def _moved(question: Question, new: dict[int, int]) -> Question:
    return Question(new[question.left], new[question.right], number=question.number)
