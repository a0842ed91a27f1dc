"""Teach a reward while a policy trains on it.

Random motion does not show what a good policy does, so the questions follow the policy: `RewardLoop` asks
about its newest segments, learns, computes the rewards in the replay buffer again, and goes on training.
Here SAC of stable-baselines3 swings a pendulum up after 50 answers. A simulated teacher prefers the segment
with the larger true return; with `TerminalTeacher()` you are asked, and with `PageTeacher` on the page: see
[teaching while the policy trains](../training.md#teaching-while-the-policy-trains).

Picture: How far each round has come by the final reward, and how much of that is known.
"""

import gymnasium
import numpy as np
import torch
from stable_baselines3 import SAC

import prefero
from prefero.deploy.training.sb3 import Sb3Trainer
from prefero.deploy.training.teachers import ReturnTeacher

torch.set_num_threads(1)  # these networks are too small for more
env, small = gymnasium.make("Pendulum-v1"), {"policy_kwargs": {"net_arch": [64, 64]}, "batch_size": 128}
trainer = Sb3Trainer(lambda env: SAC("MlpPolicy", env, learning_rate=1e-3, device="cpu", seed=0, **small))
loop = prefero.RewardLoop(env, trainer, ReturnTeacher(), questions=50, progress=False)
reward = loop.run(6000)
reward.save("reward.json")
trainer.model.save("policy.zip")

for name, share in prefero.StepReward.of(reward).effects().items():
    print(f"{name}: {share:.2f} of the reward's variation")
returns = []
for seed in range(10):
    observation = env.reset(seed=seed)[0]
    returns.append(0.0)
    for _ in range(200):
        action = trainer.model.predict(observation, deterministic=True)[0]
        observation, given = env.step(action)[:2]
        returns[-1] += float(given)
print(f"true return of the policy: {np.mean(returns):.0f}; that of random actions is about -1200")
assert loop.report is not None
loop.report.plot().savefig("teach_while_training.png")
