"""Policies trained on learned rewards: true return by the number of answers, beside other rewards.

    true         trained on the environment's own reward
    prefero      `RewardLoop`, with a simulated teacher who prefers the segment of larger return
    imitation    the same loop with the reward ensemble of the package `imitation`, and random questions
    random       actions at random

All policies are trained by SAC with the same settings for the same number of steps, and both loops compute
the rewards in its replay buffer again. Each return is the mean over evaluation episodes of the policy without
noise; the share is (return - random) / (true - random), with the means over all seeds of both. The table also
says how many loops warned about their policy. Needs the extra `train`, and one row `imitation`.
"""

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from benchmarks.rows import Row, mean_and_error
from prefero import RewardLoop
from prefero.deploy.training.sb3 import Sb3Trainer
from prefero.deploy.training.teachers import ReturnTeacher

EPISODES = 20
TAUGHT = ("prefero", "imitation")
SMALL = {"policy_kwargs": {"net_arch": [64, 64]}, "batch_size": 128}  # trains in a minute on one core
SETTINGS: dict[str, dict[str, Any]] = {
    "Pendulum-v1": {"learning_rate": 1e-3, "learning_starts": 100, **SMALL},
    "Reacher-v5": {"learning_rate": 1e-3, "learning_starts": 100, **SMALL},
    "Pusher-v5": {"learning_rate": 1e-3, "learning_starts": 100, **SMALL},
    "InvertedDoublePendulum-v5": {"learning_rate": 1e-3, "learning_starts": 100, **SMALL},
    "Hopper-v5": {"learning_rate": 1e-3, "learning_starts": 500, **SMALL},
    "HalfCheetah-v5": {"learning_rate": 1e-3, "learning_starts": 500},
}
Measured = dict[str, Any]


def sac(env: Any, name: str, seed: int, **options: Any) -> Any:
    """One algorithm for all kinds of rewards."""
    import torch
    from stable_baselines3 import SAC

    torch.set_num_threads(1)
    return SAC("MlpPolicy", env, seed=seed, **{"device": "cpu", **SETTINGS[name], **options})


def evaluate(policy: Callable[[Any], Any], name: str) -> float:
    """The mean true return of episodes from given starts."""
    env, returns = gymnasium.make(name), []
    for episode in range(EPISODES):
        observation, _ = env.reset(seed=10_000 + episode)
        total, over = 0.0, False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(policy(observation))
            total, over = total + float(reward), terminated or truncated
        returns.append(total)
    return float(np.mean(returns))


def acts(model: Any) -> Callable[[Any], Any]:
    return lambda observation: model.predict(observation, deterministic=True)[0]


def random_policy(name: str, seed: int) -> Callable[[Any], Any]:
    space = gymnasium.make(name).action_space
    space.seed(seed)
    return lambda _: space.sample()


def of_random(name: str, steps: int, answers: int, seed: int) -> Measured:
    del steps, answers
    return {"return": evaluate(random_policy(name, seed), name)}


def of_true_reward(name: str, steps: int, answers: int, seed: int) -> Measured:
    del answers
    return {"return": evaluate(acts(sac(gymnasium.make(name), name, seed).learn(steps)), name)}


def of_prefero(name: str, steps: int, answers: int, seed: int, **options: Any) -> Measured:
    trainer = Sb3Trainer(lambda env: sac(env, name, seed))
    loop = RewardLoop(
        gymnasium.make(name),
        trainer,
        ReturnTeacher(),
        questions=answers,
        seed=seed,
        progress=False,
        **options,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # they are in the report
        loop.run(steps)
    assert loop.report is not None
    found = {"better": loop.report.better, "warnings": loop.report.warnings, "report": loop.report.describe()}
    return {"return": evaluate(acts(trainer.model), name), **found}


def of_imitation(name: str, steps: int, answers: int, seed: int) -> Measured:
    """Its preference comparisons as its documentation sets them up, with SAC and its replay buffer for it."""
    import torch
    from imitation.data.wrappers import RolloutInfoWrapper
    from imitation.rewards.reward_nets import BasicRewardNet
    from imitation.util.networks import RunningNorm
    from stable_baselines3.common.vec_env import DummyVecEnv

    torch.manual_seed(seed)  # of the network's first weights
    venv = DummyVecEnv([lambda: RolloutInfoWrapper(gymnasium.make(name))])
    venv.seed(seed)
    network = BasicRewardNet(venv.observation_space, venv.action_space, normalize_input_layer=RunningNorm)
    agent = _agent_of_network(venv, network, name, seed)
    loop = _comparisons_of_imitation(venv, network, agent, seed)
    loop.train(total_timesteps=steps, total_comparisons=answers)
    return {"return": evaluate(acts(agent), name)}


def _agent_of_network(venv: Any, network: Any, name: str, seed: int) -> Any:
    """SAC whose replay buffer asks imitation's network for rewards."""
    from imitation.policies.replay_buffer_wrapper import ReplayBufferRewardWrapper
    from stable_baselines3.common.buffers import ReplayBuffer

    def rewards(state: Any, action: Any, next_state: Any, done: Any) -> Any:
        low, high = venv.action_space.low, venv.action_space.high  # the buffer has actions between -1 and 1
        return network.predict_processed(state, low + (action + 1) / 2 * (high - low), next_state, done)

    relabelled = {"replay_buffer_class": ReplayBuffer, "reward_fn": rewards}
    return sac(
        venv, name, seed, replay_buffer_class=ReplayBufferRewardWrapper, replay_buffer_kwargs=relabelled
    )


def _comparisons_of_imitation(venv: Any, network: Any, agent: Any, seed: int) -> Any:
    """Imitation's loop of comparing fragments, training the network, and training the agent."""
    from imitation.algorithms import preference_comparisons as comparisons
    from imitation.util import logger

    rng = np.random.default_rng(seed)
    fragmenter = comparisons.RandomFragmenter(warning_threshold=0, rng=rng)
    model = comparisons.PreferenceModel(network)
    trainer = comparisons.BasicRewardTrainer(
        preference_model=model, loss=comparisons.CrossEntropyRewardLoss(), epochs=3, rng=rng
    )
    generator = comparisons.AgentTrainer(
        algorithm=agent, reward_fn=network, venv=venv, exploration_frac=0.05, rng=rng
    )
    return comparisons.PreferenceComparisons(
        generator,
        network,
        num_iterations=8,
        fragmenter=fragmenter,
        preference_gatherer=comparisons.SyntheticGatherer(temperature=0, rng=rng),
        reward_trainer=trainer,
        fragment_length=50,
        transition_oversampling=1,
        initial_comparison_frac=0.1,
        initial_epoch_multiplier=4,
        allow_variable_horizon=False,
        query_schedule="hyperbolic",
        custom_logger=logger.configure(format_strs=[]),
    )


MEASURES: dict[str, Callable[[str, int, int, int], Measured]] = {
    "random": of_random,
    "true": of_true_reward,
    "prefero": of_prefero,
    "imitation": of_imitation,
}


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The mean return of each kind by the number of answers, and its share of what the true reward gains."""
    for name, steps in sorted({(row["environment"], row["steps"]) for row in rows}):
        here = [row for row in rows if (row["environment"], row["steps"]) == (name, steps)]
        yield f"{name}, {steps} steps"
        random, true = (mean_and_error(_returns(here, kind))[0] for kind in ("random", "true"))
        for kind, answers in sorted({(row["kind"], row["answers"]) for row in here}):
            returns = _returns(here, kind, answers)
            mean, error = mean_and_error(returns)
            shares = " ".join(f"{(one - random) / (true - random):.2f}" for one in sorted(returns))
            label = f"  {kind}, {answers} answers" if kind in TAUGHT else f"  {kind}"
            yield f"{label:26s}{mean:9.1f} ± {error:.1f}, shares {shares}"
        warned = [row for row in here if row.get("warnings")]
        yield f"  with a warning: {len(warned)}, of which below random: {_below(warned, random)}"
        yield f"  below random without one: {_below([row for row in here if row not in warned], random)}"


def _returns(rows: Sequence[Row], kind: str, answers: int | None = None) -> list[float]:
    return [row["return"] for row in rows if row["kind"] == kind and answers in (None, row["answers"])]


def _below(rows: Sequence[Row], random: float) -> int:
    """How many of the policies that were taught are worse than random actions."""
    return sum(row["return"] < random for row in rows if row["kind"] in TAUGHT)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks policy_training",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--environment", default="Pendulum-v1", choices=SETTINGS)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--answers", type=int, nargs="+", default=[50])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--kinds", nargs="*", default=list(MEASURES), choices=MEASURES)
    parser.add_argument("--device", default="cpu", help="where torch trains the networks (default: cpu)")
    parser.add_argument("--out", type=Path, default=Path("results/policy_training.jsonl"))
    chosen = parser.parse_args()
    SETTINGS[chosen.environment]["device"] = chosen.device
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    for kind, seed in product(chosen.kinds, chosen.seeds):
        for answers in chosen.answers if kind in TAUGHT else [0]:
            row = {"environment": chosen.environment, "steps": chosen.steps, "kind": kind}
            row |= {"answers": answers, "seed": seed}
            row |= MEASURES[kind](chosen.environment, chosen.steps, answers, seed)
            with chosen.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    rows = [json.loads(line) for line in chosen.out.read_text(encoding="utf-8").splitlines()]
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
