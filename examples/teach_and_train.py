"""A person, or a simulated user, teaches a pendulum while a policy is trained, with stable-baselines3.

pip install 'prefero[train,worlds]'
"""

import sys

import gymnasium
from stable_baselines3 import SAC
from stable_baselines3.common.evaluation import evaluate_policy

import prefero
from prefero.deploy.sb3 import Sb3Trainer
from prefero.deploy.teachers import ReturnTeacher, TerminalTeacher


def main(questions: int = 50, steps: int = 6000) -> None:
    """Teach and train, and say what the policy's true return is."""
    teacher = TerminalTeacher() if "--myself" in sys.argv else ReturnTeacher()
    trainer = Sb3Trainer(lambda env: SAC("MlpPolicy", env, learning_rate=1e-3, device="cpu"))
    loop = prefero.RewardLoop(gymnasium.make("Pendulum-v1"), trainer, teacher, questions=questions)
    reward = loop.run(steps)
    reward.save("reward.json")
    trainer.model.save("policy.zip")
    print(f"After {questions} answers, {reward.describe()}.")
    print("What matters:", prefero.StepReward.of(reward).effects())
    mean, _ = evaluate_policy(trainer.model, gymnasium.make("Pendulum-v1"), n_eval_episodes=10)
    print(f"The policy's true return is {mean:.0f}; that of random actions is about -1200.")


if __name__ == "__main__":
    main()
