"""Start from what you already know.

An opinion ("less jerk is better") and three demonstrations count before the first question. Here they are
worth about four answers. The answers check them: what they contradict is given up, and `learner.sources()`
says how far each source is right.

On the command line these are `--demonstrations` and `--prefer lower:jerk`. Takeovers, scores and models
that judge are other sources: see [what you already know](../knowing.md).

Picture: Accuracy on new pairs after each answer, with and without what was known before.
"""

import matplotlib.pyplot as plt
import numpy as np

import prefero
from prefero.simulation import SimulatedUser

rng = np.random.default_rng(0)
weights = np.array([1.0, -1.2, 0.3, 0.8])
pool = prefero.Pool(rng.normal(size=(120, 4)), ["speed", "jerk", "height", "distance"])
user, truth = SimulatedUser(lambda x: x @ weights, noise=0.4), pool.features @ weights
good = pool.features[np.argsort(truth, kind="stable")[-12::4]]  # what somebody showed
pairs = rng.integers(120, size=(1000, 2))


def accuracy(learner: prefero.Learner) -> float:
    """On pairs that nobody was asked about."""
    learned = learner.reward()(pool.features)
    left, right = pairs.T
    return float(((learned[left] > learned[right]) == (truth[left] > truth[right])).mean())


figure, axis = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
for known in ("nothing", "an opinion", "an opinion and demonstrations"):
    learner, answers = prefero.Learner(pool, seed=0), np.random.default_rng(1)
    if "opinion" in known:
        learner.know("jerk", "lower", confidence=0.9)
    if "demonstrations" in known:
        learner.demonstrate(good)
    curve = {0: accuracy(learner)}
    for number in range(1, 9):
        question = prefero.Question(*answers.choice(120, 2, replace=False))
        learner.tell(question, user.answer_question(question, pool.features, answers))
        if number in (1, 2, 4, 8):
            curve[number] = accuracy(learner)
    print(f"{known}: {curve[0]:.2f} before the first answer, {curve[4]:.2f} after 4, {curve[8]:.2f} after 8")
    axis.plot(list(curve), list(curve.values()), "o-", label=known)
for source in learner.sources():
    print(source.describe())
axis.set(xlabel="answers", ylabel="accuracy on new pairs")
axis.legend(fontsize=8)
figure.savefig("what_you_know.png")
