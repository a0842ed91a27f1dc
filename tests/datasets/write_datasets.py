"""Write small LeRobot datasets and folders of videos with pyarrow and PyAV.

Frame t of episode e has the color `frame_color(e, t)` all over, so that a clip shows which frames it has.
"""

import io
import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from prefero._support.arrays import Array

FPS = 10
LENGTHS = (12, 15, 9, 20)
CAMERAS = ("observation.images.top", "observation.images.wrist")
NAMES = ["shoulder", "elbow"]


def frame_color(episode: int, frame: int, camera: int = 0) -> tuple[int, int, int]:
    """A color for each frame; videos are lossy, so neighbours are far apart."""
    return 20 + 40 * episode, (40 + 10 * frame) % 250, 200 if camera else 30


def states_of(episode: int, length: int) -> Array:
    """A wave whose speed and height depend on the episode."""
    time = np.arange(length) / FPS
    return np.column_stack([np.sin((1 + episode) * time), (episode + 1) * time**2])


def actions_of(episode: int, length: int) -> Array:
    return np.random.default_rng(episode).normal(size=(length, 2))


def solid_image(color: tuple[int, int, int]) -> np.ndarray:
    """A image of one color, 64 x 48."""
    return np.ascontiguousarray(np.broadcast_to(np.array(color, dtype=np.uint8), (48, 64, 3)))


def encode_png(image: np.ndarray) -> bytes:
    memory = io.BytesIO()
    Image.fromarray(image).save(memory, "PNG")
    return memory.getvalue()


def write_video(
    path: Path,
    colors: Sequence[tuple[int, int, int]],
    codec: str = "libx264",
    rate: Fraction = Fraction(FPS),
    first: int = 0,
) -> None:
    """A video of single-colored frames, 64 x 48; the first is shown after as many as `first` would last."""
    path.parent.mkdir(parents=True, exist_ok=True)
    options = {"preset": "12", "crf": "20"} if codec == "libsvtav1" else {}
    kind = "mp4" if path.suffix == ".m4v" else None  # FFmpeg would write a stream without a container
    with av.open(str(path), "w", format=kind) as container:
        stream: Any = container.add_stream(codec, rate=rate, options=options)
        stream.width, stream.height, stream.gop_size = 64, 48, 8
        stream.pix_fmt = "rgb8" if codec == "gif" else "yuv420p"
        for number, color in enumerate(colors):
            frame = av.VideoFrame.from_ndarray(solid_image(color), format="rgb24")
            frame.pts, frame.time_base = first + number, 1 / rate
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def colors_in(path: Path) -> Array:
    """The color in the middle of every frame of a video, (frames, 3)."""
    with av.open(str(path)) as container:
        images = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    return np.array([image[20:28, 28:36].mean(axis=(0, 1)) for image in images])


# --- LeRobot ----------------------------------------------------------------------------------------------


IMAGE_TYPE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def image_column(episode: int, length: int, camera: int) -> pa.Array:
    """A camera's images in a column, as LeRobot keeps them where it makes no videos."""
    files = [encode_png(solid_image(frame_color(episode, t, camera))) for t in range(length)]
    return pa.array([{"bytes": f, "path": f"frame-{t:06d}.png"} for t, f in enumerate(files)], IMAGE_TYPE)


def frame_columns(
    episode: int, length: int, index: int, rewards: bool = True, images: Sequence[str] = (), tasks: int = 1
) -> dict[str, Any]:
    """The frames of an episode as LeRobot writes them."""
    made: dict[str, Any] = {
        "observation.state": pa.array(states_of(episode, length).tolist(), pa.list_(pa.float32(), 2)),
        "action": pa.array(actions_of(episode, length).tolist(), pa.list_(pa.float32())),
        "timestamp": np.arange(length, dtype=np.float32) / FPS,
        "frame_index": np.arange(length),
        "episode_index": np.full(length, episode),
        "index": index + np.arange(length),
        "task_index": np.full(length, episode % tasks),
    }
    made |= {camera: image_column(episode, length, number) for number, camera in enumerate(images)}
    return made | ({"next.reward": np.full(length, 0.5, dtype=np.float32)} if rewards else {})


def info_json(
    version: str, data: str, video: str, cameras: Sequence[str], images: Sequence[str] = ()
) -> dict[str, Any]:
    numbers = {"dtype": "float32", "shape": [2]}
    features: dict[str, Any] = {
        "observation.state": numbers | {"names": {"motors": NAMES}},
        "action": numbers | {"names": NAMES},
        "next.reward": {"dtype": "float32", "shape": [1], "names": None},
        "timestamp": {"dtype": "float32", "shape": [1], "names": None},
    }
    features |= {camera: {"dtype": "video", "shape": [48, 64, 3]} for camera in cameras}
    features |= {camera: {"dtype": "image", "shape": [3, 48, 64]} for camera in images}
    paths = {"data_path": data, "video_path": video if cameras else None}
    return {"codebase_version": version, "fps": FPS, "chunks_size": 1000, "features": features, **paths}


def write_json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def write_lerobot_3(
    folder: Path,
    lengths: Sequence[int] = LENGTHS,
    cameras: Sequence[str] = CAMERAS[:1],
    codec: str = "libx264",
    split: int = 2,
    images: Sequence[str] = (),
    tasks: Sequence[str] = ("reach",),
) -> Path:
    """Version 3.0: the first `split` episodes are in one file, the others in another; their videos too."""
    data = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
    video = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
    about = info_json("v3.0", data, video, cameras, images) | {"total_episodes": len(lengths)}
    write_json(folder / "meta" / "info.json", about)
    rows: list[dict[str, Any]] = []
    files = [range(min(split, len(lengths))), range(split, len(lengths))]
    for file, episodes in enumerate(files):
        tables, colors, start = [], {camera: [] for camera in cameras}, 0  # type: ignore[var-annotated]
        for episode in episodes:
            length, index = lengths[episode], sum(lengths[:episode])
            tables.append(pa.table(frame_columns(episode, length, index, images=images, tasks=len(tasks))))
            row = {"episode_index": episode, "length": length, "tasks": [tasks[episode % len(tasks)]]}
            row |= {"data/chunk_index": 0, "data/file_index": file}
            row |= {"dataset_from_index": index, "dataset_to_index": index + length}
            for number, camera in enumerate(cameras):
                colors[camera] += [frame_color(episode, t, number) for t in range(length)]
                times = {"from_timestamp": start / FPS, "to_timestamp": (start + length) / FPS}
                place = {"chunk_index": 0, "file_index": file} | times
                row |= {f"videos/{camera}/{key}": value for key, value in place.items()}
            rows.append(row)
            start += length
        if tables:
            path = folder / data.format(chunk_index=0, file_index=file)
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.concat_tables(tables), path)
            for camera in cameras:
                place_of = video.format(video_key=camera, chunk_index=0, file_index=file)
                write_video(folder / place_of, colors[camera], codec)
    path = folder / "meta" / "episodes" / "chunk-000" / "file-000.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    known = {"task_index": range(len(tasks)), "__index_level_0__": list(tasks)}  # the index of a pandas table
    pq.write_table(pa.table(known), folder / "meta" / "tasks.parquet")
    return folder


def write_lerobot_2(
    folder: Path,
    lengths: Sequence[int] = LENGTHS,
    cameras: Sequence[str] = CAMERAS[:1],
    codec: str = "libx264",
    images: Sequence[str] = (),
    tasks: Sequence[str] = ("reach",),
) -> Path:
    """Version 2.1: files of its own for each episode, and metadata in lines of JSON."""
    data = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
    video = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"
    about = info_json("v2.1", data, video, cameras, images) | {"total_episodes": len(lengths)}
    write_json(folder / "meta" / "info.json", about)
    episode_tasks = [tasks[episode % len(tasks)] for episode in range(len(lengths))]
    known = [{"episode_index": e, "tasks": [episode_tasks[e]], "length": n} for e, n in enumerate(lengths)]
    (folder / "meta" / "episodes.jsonl").write_text(
        "\n".join(map(json.dumps, known)) + "\n", encoding="utf-8"
    )
    named = [{"task_index": number, "task": task} for number, task in enumerate(tasks)]
    (folder / "meta" / "tasks.jsonl").write_text("\n".join(map(json.dumps, named)) + "\n", encoding="utf-8")
    for episode, length in enumerate(lengths):
        path = folder / data.format(episode_chunk=0, episode_index=episode)
        path.parent.mkdir(parents=True, exist_ok=True)
        frames = frame_columns(episode, length, sum(lengths[:episode]), images=images, tasks=len(tasks))
        pq.write_table(pa.table(frames), path)
        for number, camera in enumerate(cameras):
            place = video.format(episode_chunk=0, video_key=camera, episode_index=episode)
            write_video(folder / place, [frame_color(episode, t, number) for t in range(length)], codec)
    return folder


LEROBOT: dict[str, Callable[..., Path]] = {"v2.1": write_lerobot_2, "v3.0": write_lerobot_3}


# --- clips ------------------------------------------------------------------------------------------------


def write_video_folder(folder: Path, count: int = 5, codec: str = "libx264") -> Path:
    """Videos with a CSV file of two features."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["clip,speed,height"]
    for number in range(count):
        write_video(folder / f"throw {number}.mp4", [frame_color(number, t) for t in range(6)], codec)
        lines.append(f"throw {number}.mp4,{number * 1.5},{(number * 7) % 5}")
    (folder / "features.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def truncate(path: Path, share: float = 0.5) -> None:
    """A file whose end was never written."""
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
