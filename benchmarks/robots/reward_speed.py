"""How fast environments run with a learned reward of steps, as a share of their speed without one.

A simulated teacher compares random segments; the same random actions are then taken in the bare environment,
with the reward, and with its lower confidence bound. Times are of the processor, median of interleaved runs.
"""

import argparse
from collections.abc import Callable
from typing import Any

import gymnasium

from benchmarks.timing import seconds
from prefero import FeatureOptions, Learner, Pool, Reward, RewardFromPreferences
from prefero.plots.tables import markdown_table

ENVIRONMENTS = ("Pendulum-v1", "Reacher-v5", "Pusher-v5", "InvertedDoublePendulum-v5", "Hopper-v5")
STEPS, WINDOW = 2000, 5


def taught(name: str, answers: int) -> Reward:
    """A reward of steps after some answers, by the first state's mean."""
    pool = Pool.from_gymnasium(name, FeatureOptions(["steps"], window=WINDOW), episodes=40, clips="never")
    learner, likes = Learner(pool, seed=0), pool.features[:, 0]
    for question in learner.ask(count=answers):
        learner.tell(question, "left" if likes[question.left] > likes[question.right] else "right")
    return learner.reward()


def steps_of(env: Any) -> Callable[[], None]:
    """Takes the same actions each time."""
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(STEPS)]

    def run() -> None:
        env.reset(seed=0)
        for action in actions:
            *_, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()

    return run


def shares(name: str, answers: int) -> list[float]:
    """The speeds with the reward, and with caution, as shares of the bare environment's."""
    reward = taught(name, answers)
    bare, *others = seconds(
        steps_of(gymnasium.make(name)),
        steps_of(RewardFromPreferences(gymnasium.make(name), reward)),
        steps_of(RewardFromPreferences(gymnasium.make(name), reward, caution=1.0)),
        repeats=5,
    )
    return [bare / other for other in others]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks reward_speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--environments", nargs="+", default=ENVIRONMENTS)
    parser.add_argument("--answers", type=int, default=20)
    chosen = parser.parse_args()
    rows = [[name, *(f"{one:.2f}" for one in shares(name, chosen.answers))] for name in chosen.environments]
    print(markdown_table(["environment", "with the reward", "with caution 1"], rows))


if __name__ == "__main__":
    main()
