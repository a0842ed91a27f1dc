"""Teach one robot by several people.

Six people share a part of their taste. Each answers twelve questions. Prefero learns what they have in
common and what is each person's own, so that everybody profits from the answers of those who are alike. It
also finds out who answers at random.

With the page: `prefero teach golf --as ann`, and later `--as ben`: see [several
people](../teaching.md#several-people).

Picture: Left: on which fraction of pairs two people probably agree. Right: how well the reward learned for
each person follows their true reward, learned together and from their own answers alone.
"""

import matplotlib.pyplot as plt
import numpy as np

import prefero
from prefero.simulation import SimulatedUser

rng = np.random.default_rng(0)
pool = prefero.Pool(rng.normal(size=(100, 4)), ["speed", "distance", "jerk", "height"])
tastes = {  # ann, ben and cem like speed, dora and eva distance; finn presses keys at random
    "ann": (1.0, 0.2, -1.0, 0.1),
    "ben": (0.8, 0.0, -1.1, 0.0),
    "cem": (0.9, 0.3, -0.9, -0.1),
    "dora": (0.0, 0.8, -1.0, 0.4),
    "eva": (0.1, 0.9, -1.1, 0.4),
    "finn": (0.0, 0.0, 0.0, 0.0),
}


def user_called(name: str) -> SimulatedUser:
    """The person of this name."""
    return SimulatedUser(lambda x: x @ tastes[name], noise=0.3)


together, alone = prefero.Learner(pool, seed=0), {name: prefero.Learner(pool, seed=0) for name in tastes}
for _ in range(12):
    for name in tastes:
        question = prefero.Question(*rng.choice(100, 2, replace=False))
        choice = user_called(name).answer_question(question, pool.features, rng)
        together.tell(question, choice, person=name)
        alone[name].tell(question, choice)


def follows(reward: prefero.Reward, name: str) -> float:
    """The correlation of a learned reward with the person's own."""
    return float(np.corrcoef(reward(pool.features), user_called(name).reward(pool.features))[0, 1])


people = [name for name in tastes if name != "finn"]
jointly = [follows(together.reward(name), name) for name in people]
separately = [follows(alone[name].reward(), name) for name in people]
for name, one, other in zip(people, jointly, separately, strict=True):
    print(f"{name:5s} together {one:.2f}, alone {other:.2f}")
belief = together.people_belief()
for name in ("ann", "finn"):
    print(f"{name} is careless with probability {belief.style(name).careless:.2f}")


figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
image = left.imshow(belief.agreement(pool.scaled), vmin=0.5, vmax=1, cmap="YlGn")
left.set_xticks(range(6), belief.names)
left.set_yticks(range(6), belief.names)
figure.colorbar(image, ax=left, label="pairs on which they agree")
right.bar(np.arange(5) - 0.2, separately, 0.4, color="tab:gray", label="from own answers alone")
right.bar(np.arange(5) + 0.2, jointly, 0.4, color="tab:blue", label="together")
right.set_xticks(range(5), people)
right.set(ylabel="correlation with the true reward", ylim=(0, 1.25))
right.legend(fontsize=8, ncols=2)
figure.savefig("several_people.png")
