"""Frames from MuJoCo's renderer, which runs in a separate process; see `prefero.rendering.gl_process`."""

import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from prefero._support.arrays import Image
from prefero.rendering.gl_process import RendererUnavailable, gl_choices, last_line, start_with_gl


def render_frames(module: str, arguments: list[str], width: int, height: int) -> Iterator[Image]:
    """The frames that `python -m module` writes, as it writes them."""
    reasons = []
    for library in gl_choices():
        with tempfile.TemporaryFile() as errors:
            process = start_with_gl(module, arguments, library, errors)
            try:
                frames = _read(process.stdout, width, height)
                first = next(frames, None)
                if first is not None:
                    yield first
                    yield from frames
                    if process.wait():
                        raise RuntimeError(f"the renderer stopped before the last frame: {last_line(errors)}")
                    return
                process.wait()
                reasons.append(f"{library or 'default'}: {last_line(errors)}")
            finally:
                process.kill()
                process.communicate()
    raise RendererUnavailable.because(reasons)


def _read(stream: Any, width: int, height: int) -> Iterator[Image]:
    size = width * height * 3
    while len(content := stream.read(size)) == size:
        yield np.frombuffer(content, dtype=np.uint8).reshape(height, width, 3)
