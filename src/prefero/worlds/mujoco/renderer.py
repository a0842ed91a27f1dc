"""Frames from MuJoCo's renderer, which runs in a separate process.

The renderer needs a GL library, which the environment variable MUJOCO_GL selects when MuJoCo is imported; a
wrong value makes the import itself fail. So the variable is set only for the renderer's process, and each
library is tried in turn.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from prefero._support.arrays import Image
from prefero._support.systems import gl_libraries

GL_LIBRARIES = gl_libraries()


class RendererUnavailable(RuntimeError):
    """MuJoCo found no GL library to render with."""


def render_frames(module: str, arguments: list[str], width: int, height: int) -> Iterator[Image]:
    """The frames that `python -m module` writes, as it writes them."""
    reasons = []
    for library in dict.fromkeys(filter(None, (os.environ.get("MUJOCO_GL"), *GL_LIBRARIES))) or [""]:
        with tempfile.TemporaryFile() as errors:
            process = _start(module, arguments, library, errors)
            try:
                frames = _read(process.stdout, width, height)
                first = next(frames, None)
                if first is not None:
                    yield first
                    yield from frames
                    if process.wait():
                        raise RuntimeError(
                            f"the renderer stopped before the last frame: {_last_line(errors)}"
                        )
                    return
                process.wait()
                reasons.append(f"{library or 'default'}: {_last_line(errors)}")
            finally:
                process.kill()
                process.communicate()
    raise RendererUnavailable(
        "MuJoCo found no GL library to render with; on Debian, apt-get install libegl1 (or libosmesa6) "
        f"installs one ({'; '.join(reasons)})"
    )


def _start(module: str, arguments: list[str], library: str, errors: Any) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **({"MUJOCO_GL": library} if library else {})}
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
    )


def _read(stream: Any, width: int, height: int) -> Iterator[Image]:
    size = width * height * 3
    while len(content := stream.read(size)) == size:
        yield np.frombuffer(content, dtype=np.uint8).reshape(height, width, 3)


def _last_line(errors: Any) -> str:
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it ended without a message"
