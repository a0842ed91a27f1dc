"""A Robometer server as a judge: `robometer=URL`. It says how far a task has got in each frame of a video.

The protocol is that of `robometer/evals/eval_server.py`: a POST of a form to /evaluate_batch_npy, with

    sample_I                       a JSON object: the kind of sample, the task, and a reference to the frames
    sample_I_trajectory_frames     a file of NumPy, (T, height, width, 3) bytes
    use_frame_steps                "false": the model sees all frames at once

and as the answer JSON whose outputs_progress.progress_pred[I] has the progress in each frame. The last one is
the reward of the episode, as its own clients take it. One call has both trajectories of a pair.
"""

import hashlib
import io
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.optional import need
from prefero.judges.http_client import TIMEOUT, check_address, is_private, post
from prefero.judges.judge import Judge, MalformedAnswer, Verdict
from prefero.judges.sheets import TrajectoryViews
from prefero.pools.pool import Pool

PATH = "/evaluate_batch_npy"
FRAMES = 16  # as many as Robometer's own client sends
SIDE = 240  # pixels: images are made as small as this, the shorter side
ABOUT_EQUAL = 0.02  # of the whole task
VERSION = 1  # of what is sent: another one makes remembered answers worthless


@dataclass(eq=False)
class ProgressJudge(Judge):
    """A server that says how far a task has got.

    Args:
        address: Of the server, such as `http://localhost:8001`.
        task: What is to be done, as the model is told.
        trust: Cutting a clip may run the code that its plan names.
        timeout: Seconds for one attempt.
    """

    address: str
    task: str
    trust: bool = False
    timeout: float = TIMEOUT
    name: str = "robometer"
    both_orders: bool = False  # each trajectory has a score of its own

    def __post_init__(self) -> None:
        self.address = check_address(self.address).removesuffix(PATH)
        if not self.task.strip():
            raise ValueError('Robometer must be told the task: --task-description "..."')
        self._views: TrajectoryViews | None = None

    def judge(self, pool: Pool, left: int, right: int) -> Verdict:
        """One request with both trajectories."""
        files, fields = self._form(pool, left, right)
        boundary = secrets.token_hex(16)
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        answer = post(self.address + PATH, _multipart(files, fields, boundary), headers, self.timeout)
        first, second = _scores(answer)
        reason = f"progress at the end: {first:.2f} and {second:.2f}"
        if abs(first - second) < ABOUT_EQUAL:
            return Verdict("equal", reason)
        return Verdict("left" if first > second else "right", reason)

    def digest(self, pool: Pool, left: int, right: int) -> str:
        """Of the address, the task and the frames."""
        files, fields = self._form(pool, left, right)
        frames = [hashlib.sha256(one).hexdigest() for one in files.values()]
        return json.dumps([VERSION, self.address, fields, frames], sort_keys=True)

    def sends(self, pool: Pool, pairs: int) -> str:  # noqa: ARG002
        """What goes where."""
        open_to_all = "" if is_private(self.address) else ", unencrypted"
        return f"{pairs} pairs, as videos of {FRAMES} frames, and the task go to {self.address}{open_to_all}."

    def _form(self, pool: Pool, left: int, right: int) -> tuple[dict[str, bytes], dict[str, str]]:
        """The files and the other fields of a request."""
        if self._views is None or self._views.pool is not pool:
            self._views = TrajectoryViews(pool, trust=self.trust)
        videos = [self._video(self._views, index) for index in (left, right)]
        if videos[0].shape != videos[1].shape:  # both are in one batch of a network
            videos[1] = _resized(videos[1], videos[0].shape[2], videos[0].shape[1])
        files: dict[str, bytes] = {}
        fields = {"use_frame_steps": "false"}
        for place, video in enumerate(videos):
            key = f"sample_{place}_trajectory_frames"
            files[key] = _npy(video)
            fields[f"sample_{place}"] = json.dumps(_sample(key, video, self.task))
        return files, fields

    def _video(self, views: TrajectoryViews, index: int) -> npt.NDArray[np.uint8]:
        """The frames of a trajectory, (16, height, width, 3); the last one fills up."""
        shown = [frame.image for frame in views.frames(index, FRAMES)]
        video = np.stack([*shown, *[shown[-1]] * (FRAMES - len(shown))])
        height, width = video.shape[1:3]
        scale = SIDE / min(height, width)
        return _resized(video, round(width * scale), round(height * scale)) if scale < 1.0 else video


def _resized(video: npt.NDArray[np.uint8], width: int, height: int) -> npt.NDArray[np.uint8]:
    images = need("PIL.Image", extra="datasets")
    frames = (images.fromarray(np.ascontiguousarray(frame)).resize((width, height)) for frame in video)
    return np.stack([np.asarray(frame, dtype=np.uint8) for frame in frames])


def _sample(key: str, video: npt.NDArray[np.uint8], task: str) -> dict[str, Any]:
    return {
        "sample_type": "progress",
        "trajectory": {
            "frames": {"__numpy_file__": key},
            "frames_shape": list(video.shape),
            "task": task,
            "id": key,
            "metadata": {"subsequence_length": len(video)},
            "video_embeddings": None,
        },
    }


def _npy(video: npt.NDArray[np.uint8]) -> bytes:
    memory = io.BytesIO()
    np.save(memory, video, allow_pickle=False)
    return memory.getvalue()


def _multipart(files: Mapping[str, bytes], fields: Mapping[str, str], boundary: str) -> bytes:
    """A form with files, as RFC 7578 has it."""
    lines: list[bytes] = []
    for name, text in fields.items():
        lines += [f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'.encode()]
    for name, content in files.items():
        head = f'Content-Disposition: form-data; name="{name}"; filename="{name}.npy"'
        kind = "Content-Type: application/octet-stream"
        lines += [f"--{boundary}\r\n{head}\r\n{kind}\r\n\r\n".encode(), content, b"\r\n"]
    return b"".join([*lines, f"--{boundary}--\r\n".encode()])


def _scores(answer: bytes) -> tuple[float, float]:
    """The progress at the end of both trajectories, from 0 to 1."""
    try:
        progress = json.loads(answer)["outputs_progress"]["progress_pred"]
        first, second = (float(frames[-1]) for frames in progress)
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise MalformedAnswer("it has no progress of two trajectories") from None
    if not (isfinite(first) and isfinite(second)):
        raise MalformedAnswer("its progress is no finite number")
    return min(max(first, 0.0), 1.0), min(max(second, 0.0), 1.0)
