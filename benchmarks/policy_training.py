"""Policies trained on learned rewards: true return by the number of answers, beside other rewards.

    true         trained on the environment's own reward
    prefero      `RewardLoop`, with a simulated teacher who prefers the segment of larger return
    imitation    the same loop with the reward ensemble of the package `imitation`, and random questions
    random       actions at random

All policies are trained by SAC with the same settings for the same number of steps. Each return is the mean
over evaluation episodes of the policy without noise. Needs the extra `train`, and one row needs `imitation`.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from prefero import RewardLoop
from prefero.deploy.sb3 import Sb3Trainer
from prefero.deploy.teachers import ReturnTeacher

EPISODES = 20
SETTINGS: dict[str, dict[str, Any]] = {
    "Pendulum-v1": {"learning_rate": 1e-3, "learning_starts": 100},
    "Reacher-v5": {"learning_rate": 1e-3, "learning_starts": 100},
    "HalfCheetah-v5": {"learning_rate": 1e-3, "learning_starts": 500},
}


def sac(env: Any, name: str, seed: int) -> Any:
    from stable_baselines3 import SAC

    return SAC("MlpPolicy", env, seed=seed, device="cpu", **SETTINGS[name])


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


def of_true_reward(name: str, steps: int, seed: int) -> float:
    return evaluate(acts(sac(gymnasium.make(name), name, seed).learn(steps)), name)


def of_prefero(name: str, steps: int, answers: int, seed: int, **options: Any) -> float:
    trainer = Sb3Trainer(lambda env: sac(env, name, seed))
    RewardLoop(
        gymnasium.make(name),
        trainer,
        ReturnTeacher(),
        questions=answers,
        seed=seed,
        progress=False,
        **options,
    ).run(steps)
    return evaluate(acts(trainer.model), name)


def of_imitation(name: str, steps: int, answers: int, seed: int) -> float:
    """Its preference comparisons as its documentation sets them up, with SAC in place of PPO."""
    from imitation.algorithms import preference_comparisons as comparisons
    from imitation.data.wrappers import RolloutInfoWrapper
    from imitation.rewards.reward_nets import BasicRewardNet
    from imitation.util.networks import RunningNorm
    from stable_baselines3.common.vec_env import DummyVecEnv

    rng = np.random.default_rng(seed)
    venv = DummyVecEnv([lambda: RolloutInfoWrapper(gymnasium.make(name))])
    venv.seed(seed)
    network = BasicRewardNet(venv.observation_space, venv.action_space, normalize_input_layer=RunningNorm)
    fragmenter = comparisons.RandomFragmenter(warning_threshold=0, rng=rng)
    model = comparisons.PreferenceModel(network)
    trainer = comparisons.BasicRewardTrainer(
        preference_model=model, loss=comparisons.CrossEntropyRewardLoss(), epochs=3, rng=rng
    )
    agent = sac(venv, name, seed)
    generator = comparisons.AgentTrainer(
        algorithm=agent, reward_fn=network, venv=venv, exploration_frac=0.05, rng=rng
    )
    loop = comparisons.PreferenceComparisons(
        generator,
        network,
        num_iterations=8,
        fragmenter=fragmenter,
        preference_gatherer=comparisons.SyntheticGatherer(rng=rng),
        reward_trainer=trainer,
        fragment_length=50,
        transition_oversampling=1,
        initial_comparison_frac=0.1,
        initial_epoch_multiplier=4,
        allow_variable_horizon=False,
        query_schedule="hyperbolic",
    )
    loop.train(total_timesteps=steps, total_comparisons=answers)
    return evaluate(acts(agent), name)


def measure(kind: str, name: str, steps: int, answers: int, seed: int) -> float:
    if kind == "random":
        return evaluate(random_policy(name, seed), name)
    if kind == "true":
        return of_true_reward(name, steps, seed)
    return (of_prefero if kind == "prefero" else of_imitation)(name, steps, answers, seed)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--environment", default="Pendulum-v1")
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--answers", type=int, default=50)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--kinds", nargs="+", default=["random", "true", "prefero", "imitation"])
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    for kind in chosen.kinds:
        for seed in chosen.seeds:
            found = measure(kind, chosen.environment, chosen.steps, chosen.answers, seed)
            row = {"environment": chosen.environment, "steps": chosen.steps, "kind": kind}
            row |= {"answers": chosen.answers, "seed": seed, "return": found}
            print(json.dumps(row), flush=True)
            if chosen.out:
                with chosen.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
