"""Learn from a folder of videos, without any features.

Prefero finds what moves in the videos and follows it: [`moving-objects`](../features.md#moving-objectsk)
measures places and speeds. You compare the clips, and name nothing. Here are 40 videos of throws; the user
likes throws that land far to the right and dislikes high ones.

On the command line this is `prefero teach throws --features "moving-objects(1)"`: the page plays two clips,
and you press a key. Other features of videos: [datasets](../datasets.md#videos-alone).

Picture: Long exposures of the videos: the four with the highest learned reward above, the four with the
lowest below.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import prefero
from prefero.rendering.video import save_video
from prefero.simulation import SimulatedUser

rng = np.random.default_rng(0)
down, across = np.mgrid[0:72, 0:96]
Path("throws").mkdir()
films, wanted = [], []
for number in range(40):
    speed, angle = rng.uniform(0.5, 1.1), rng.uniform(0.5, 1.2)
    x = 6 + 84 * speed * np.cos(angle) * np.linspace(0, 1, 20)
    height = 46 * np.sin(angle) * speed * 4 * np.linspace(0, 1, 20) * (1 - np.linspace(0, 1, 20))
    film = np.full((20, 72, 96, 3), (225, 221, 210), dtype=np.uint8)
    film[:, 64:] = (120, 110, 100)  # the floor
    for t in range(20):
        film[t, np.hypot(across - x[t], down - 60 + height[t]) < 4] = (200, 60, 40)
    save_video(Path("throws") / f"throw-{number:02d}.mp4", list(film), fps=10)
    films.append(film)
    wanted.append((x[-1] - 0.7 * height.max()) / 20)

pool = prefero.Pool.from_video_folder("throws", prefero.FeatureOptions(["moving-objects(1)"], jobs=1))
user, learner = SimulatedUser(lambda x: x[:, 0], noise=0.2), prefero.Learner(pool, seed=0)
for _ in range(15):
    question = learner.ask()
    learner.tell(question, user.answer_question(question, np.array(wanted)[:, None], rng))
ranked = learner.reward().rank(pool)
right = np.corrcoef(learner.reward()(pool.features), wanted)[0, 1]
print(f"{len(pool.names)} features, such as {', '.join(pool.names[:3])}")
print(f"correlation with what the user wants after {len(learner.answers)} answers: {right:.2f}")

figure, axes = plt.subplots(2, 4, figsize=(9, 3.7), layout="constrained")
for axis, place in zip(axes.flat, [*ranked[:4], *ranked[-4:]], strict=True):
    axis.imshow(films[place][::2].min(axis=0))  # the ball is darker than what is behind it
    axis.set_title(f"throw-{place:02d}", fontsize=8)
    axis.axis("off")
figure.savefig("videos.png")
