"""Your own trajectories: a small dataset of every format that Prefero reads, written here and taught with."""

import json
import tempfile
from pathlib import Path

import gymnasium
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from minari.data_collector import EpisodeBuffer
from minari.dataset.minari_storage import MinariStorage
from numpy.typing import NDArray

import prefero
import prefero.worlds  # brings prefero/Driver-v0, which renders without anything else
from prefero.datasets import Episode, FeatureOptions
from prefero.rendering.video import save_video
from prefero.simulation.users import SimulatedUser

Array = NDArray[np.float64]
Image = NDArray[np.uint8]
FPS, STEPS = 10, 15
FEATURES = FeatureOptions(["max", "path-length", "jerk"], jobs=1)


def reach(number: int, steps: int = STEPS) -> Array:
    """Two joints that reach for something, each time in another way."""
    rng = np.random.default_rng(number)
    return np.cumsum(rng.normal(rng.uniform(-1, 1, 2), 0.3, (steps, 2)), axis=0)


def video(number: int) -> list[Image]:
    """Brighter as time goes by."""
    return [np.full((48, 64, 3), 10 * number + 8 * t, dtype=np.uint8) for t in range(STEPS)]


def lerobot(folder: Path, episodes: int = 12) -> prefero.Pool:
    """LeRobot, version 3.0: all episodes in one file, and all of a camera's videos too."""
    camera, place = "observation.images.top", {"chunk_index": 0, "file_index": 0}
    features = {
        "observation.state": {"dtype": "float32", "shape": [2], "names": ["shoulder", "elbow"]},
        "action": {"dtype": "float32", "shape": [2], "names": ["shoulder", "elbow"]},
        camera: {"dtype": "video", "shape": [48, 64, 3]},
    }
    info = {
        "codebase_version": "v3.0",
        "fps": FPS,
        "features": features,
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
    }
    frames = pa.table(
        {
            "observation.state": [row for e in range(episodes) for row in reach(e).tolist()],
            "action": [row for e in range(episodes) for row in reach(e).tolist()],
            "frame_index": np.tile(np.arange(STEPS), episodes),
            "episode_index": np.repeat(np.arange(episodes), STEPS),
        }
    )
    about = [
        {"episode_index": e, "length": STEPS}
        | {f"data/{key}": value for key, value in place.items()}
        | {f"videos/{camera}/{key}": value for key, value in place.items()}
        | {f"videos/{camera}/from_timestamp": e * STEPS / FPS}
        | {f"videos/{camera}/to_timestamp": (e + 1) * STEPS / FPS}
        for e in range(episodes)
    ]
    paths = [folder / info[key].format(video_key=camera, **place) for key in ("data_path", "video_path")]  # type: ignore[attr-defined]
    index = folder / "meta" / "episodes" / "chunk-000" / "file-000.parquet"
    for path in (*paths, index):
        path.parent.mkdir(parents=True)
    (folder / "meta" / "info.json").write_text(json.dumps(info), encoding="utf-8")
    pq.write_table(frames, paths[0])
    pq.write_table(pa.Table.from_pylist(about), index)
    save_video(paths[1], [image for e in range(episodes) for image in video(e)], FPS)
    return prefero.Pool.from_lerobot(folder, FEATURES, clip_folder=folder / "clips")


def minari(folder: Path, episodes: int = 12) -> prefero.Pool:
    """Minari, made with its own package and read from its folder."""
    made = [
        EpisodeBuffer(
            id=number,
            observations=reach(number, STEPS + 1),
            actions=reach(number),
            rewards=np.zeros(STEPS),
            terminations=np.zeros(STEPS, dtype=bool),
            truncations=np.zeros(STEPS, dtype=bool),
            infos={},
        )
        for number in range(episodes)
    ]
    box = gymnasium.spaces.Box(-99, 99, (2,), np.float64)
    folder.mkdir()
    kept = MinariStorage.new(folder, box, box)
    kept.update_episodes(made)
    kept.update_metadata({"dataset_id": "reach-v0", "minari_version": "0.5.0"})
    return prefero.Pool.from_minari(folder, FEATURES, step_seconds=1 / FPS)


def videos(folder: Path, count: int = 6) -> prefero.Pool:
    """Videos with a table of features."""
    folder.mkdir()
    lines = ["video,speed,height"]
    for number in range(count):
        save_video(folder / f"throw{number}.mp4", video(number), FPS)
        lines.append(f"throw{number}.mp4,{1 + number},{np.sin(number)}")
    (folder / "throws.csv").write_text("\n".join(lines), encoding="utf-8")
    return prefero.Pool.from_video_folder(folder)


def archive(folder: Path, episodes: int = 30) -> prefero.Pool:
    """States in a NumPy archive, with a function of your own beside the library's features."""

    def detour(episode: Episode) -> float:
        straight = np.linalg.norm(episode.states[-1] - episode.states[0])
        return float(np.linalg.norm(np.diff(episode.states, axis=0), axis=1).sum() / straight)

    path = folder / "reach.npz"
    np.savez(path, states=[reach(number) for number in range(episodes)], step_seconds=1 / FPS)
    return prefero.Pool.from_table(path, FeatureOptions(["final", detour], jobs=1))


def environment(folder: Path, episodes: int = 6) -> prefero.Pool:
    """A Gymnasium environment, played at random and rendered."""
    features = FeatureOptions(["max(state 1)", "jerk"], jobs=1)
    clips = folder / "drives"
    return prefero.Pool.from_gymnasium(
        "prefero/Driver-v0", features, episodes=episodes, max_steps=10, clip_folder=clips
    )


def teach(pool: prefero.Pool, questions: int = 5) -> int:
    """A simulated user answers some questions; the index of the trajectory with the highest reward then."""
    learner, rng = prefero.Learner(pool, seed=0), np.random.default_rng(0)
    user = SimulatedUser(lambda x: x[:, 0] - 0.5 * x[:, -1])
    for _ in range(questions):
        question = learner.ask()
        left, right = pool.scaled[question.left], pool.scaled[question.right]
        learner.tell(question, user.answer(left, right, rng))
    return learner.reward().best(pool).index


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        pools = {
            "LeRobot": lerobot(folder / "arm"),
            "Minari": minari(folder / "reach-v0"),
            "videos": videos(folder / "throws"),
            "archive": archive(folder),
            "Gymnasium": environment(folder),
        }
        for name, pool in pools.items():
            best, shown = teach(pool), "with videos" if pool.clips else "without videos"
            print(f"{name:10s}{len(pool):3d} trajectories {shown}: {', '.join(pool.names)}; best: {best}")


if __name__ == "__main__":
    main()
