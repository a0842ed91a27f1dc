"""Ask about plans, too.

Nobody drives straight and fast by chance, so a pool of random drives does not contain what this user likes
best. Plan with the reward learned so far, add the plan to the pool and go on asking: the next plans are
better than every random drive.

`prefero.plan` maximizes the learned reward over the actions of a [world](../worlds.md). `plan.std` says how
far to trust it: see [plans](../using.md#plans).

Picture: Left: paths of random drives, the best of them by the true reward, and the plans (from the first,
cyan, to the last, pink). Right: the true reward of the plans.
"""

import matplotlib.pyplot as plt
import numpy as np

import prefero
from prefero.simulation import SimulatedUser

world, rng = prefero.worlds.make("driver"), np.random.default_rng(0)
pool = prefero.Pool.simulate(world, 200)
ideal = pool.scaling(world.rollout(np.tile([0.0, 0.8], 5)).features[None])  # straight on, and fast
user = SimulatedUser(lambda x: -np.linalg.norm(x - ideal, axis=1), noise=0.1)
best_random = user.reward(pool.scaled).max()

learner, plans, rewards = prefero.Learner(pool, seed=0), [], []
for number in range(1, 21):
    question = learner.ask(purpose="best")
    learner.tell(question, user.answer_question(question, learner.pool.scaled, rng))
    if number % 4 == 0:
        plan = prefero.plan(learner.reward(), world, learner.pool, evaluations=400)
        learner.add(plan.trajectory)  # so that it can be asked about
        plans.append(plan.trajectory)
        rewards.append(user.reward(pool.scaling(plan.trajectory.features[None]))[0])
        print(f"after {number} answers: true reward {rewards[-1]:.1f}")
print(f"the best random drive: {best_random:.1f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), width_ratios=[2, 1], layout="constrained")
car = world.scene.index("car")
for random in range(60):
    left.plot(*pool.trajectory(random).poses[:, car, 1::-1].T, color="tab:gray", linewidth=0.5, alpha=0.5)
for shade, trajectory in zip(np.linspace(0, 1, len(plans)), plans, strict=True):
    left.plot(*trajectory.poses[:, car, 1::-1].T, color=plt.get_cmap("cool")(shade), linewidth=2)
best = pool.trajectory(int(user.reward(pool.scaled).argmax()))
left.plot(*best.poses[:, car, 1::-1].T, color="tab:orange", linewidth=2, label="the best random drive")
for lane in (-0.255, -0.085, 0.085, 0.255):
    left.axhline(lane, color="tab:gray", linestyle="--", linewidth=0.8)
left.set(xlabel="along the road (m)", ylabel="across (m)", ylim=(-0.6, 0.6))
left.legend(fontsize=8, loc="upper left")
right.plot(range(4, 21, 4), rewards, "o-", color="tab:purple", label="plans")
right.axhline(best_random, color="tab:orange", label="the best random drive")
right.set(xlabel="answers", ylabel="true reward", xticks=range(4, 21, 4))
right.legend(fontsize=8)
figure.savefig("ask_about_plans.png")
