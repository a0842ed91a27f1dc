"""Find out which policy is better.

Four policies for the same task, some rollouts of each. A judge compares pairs without knowing whose they
are. The [arena](../arena.md) chooses the pairs, and stops when the order is known with 95 %. It needs about
half as many comparisons as a round robin.

The judge is simulated and errs: a policy that is one step better wins 76 % of comparisons. With people,
type `prefero arena rollouts/a rollouts/b`: the page shows blind pairs of videos.

Picture: The strength of each policy with its 90 % interval, as comparisons come in, and how surely
the order is known.
"""

import matplotlib.pyplot as plt
import numpy as np

from prefero.arena import Arena, Standings
from prefero.arena.simulate import SimulatedPolicies

policies = ("diffusion", "transformer", "cloning", "scripted")
judge, rng = SimulatedPolicies(np.array([1.0, 0.3, -0.4, -1.1])), np.random.default_rng(0)
arena = Arena(policies)
history: list[Standings] = []
while not history or not history[-1].is_finished:
    question = arena.ask()
    arena.tell(question, judge.answer(question, rng), judge="anna")
    history.append(arena.standings())
for sentence in history[-1].sentences:
    print(sentence)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
counts = np.arange(1, len(history) + 1)
for policy in policies:
    rows = [next(row for row in standings.rows if row.policy == policy) for standings in history]
    (line,) = left.plot(counts, [row.strength for row in rows], label=policy)
    low, high = [row.low for row in rows], [row.high for row in rows]
    left.fill_between(counts, low, high, color=line.get_color(), alpha=0.15)
left.set(xlabel="comparisons", ylabel="strength")
left.legend(fontsize=8, ncols=2)
right.plot(counts, [standings.confidence for standings in history], color="tab:blue")
right.axhline(0.95, linestyle=":", color="gray")
right.set(xlabel="comparisons", ylabel="how surely the order is known", ylim=(0, 1.02))
figure.savefig("compare_policies.png")
