"""A person, or a simulated user, teaches a pendulum while a policy is trained, with stable-baselines3.

pip install 'prefero[train,worlds]'
"""

import argparse

import gymnasium
import torch
from stable_baselines3 import SAC
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

import prefero
from prefero.deploy.training.sb3 import Sb3Trainer
from prefero.deploy.training.teachers import ReturnTeacher, TerminalTeacher

SMALL = {"policy_kwargs": {"net_arch": [64, 64]}, "batch_size": 128}


def main() -> None:
    """Teach and train, and say what the policy's true return is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--myself", action="store_true", help="you are asked, in the terminal")
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--steps", type=int, default=6000)
    options = parser.parse_args()
    torch.set_num_threads(1)  # these networks are too small for more
    teacher = TerminalTeacher() if options.myself else ReturnTeacher()
    trainer = Sb3Trainer(lambda env: SAC("MlpPolicy", env, learning_rate=1e-3, device="cpu", seed=0, **SMALL))
    env = gymnasium.make("Pendulum-v1")
    loop = prefero.RewardLoop(env, trainer, teacher, questions=options.questions)
    reward = loop.run(options.steps)
    assert loop.report is not None
    print(loop.report.describe())
    reward.save("reward.json")
    trainer.model.save("policy.zip")
    print(f"After {options.questions} answers, {reward.describe()}.")
    for name, share in prefero.StepReward.of(reward).effects().items():
        print(f"{name:10s} {share:4.0%} of the reward's variation")
    mean, _ = evaluate_policy(trainer.model, Monitor(gymnasium.make("Pendulum-v1")), n_eval_episodes=10)
    print(f"The policy's true return is {mean:.0f}; that of random actions is about -1200.")


if __name__ == "__main__":
    main()
