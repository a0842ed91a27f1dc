"""Rendering in a separate process: frames as they are written, every GL library in turn, and no cut video."""

import os
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from prefero._support.arrays import Image
from prefero.rendering import gl_process
from prefero.rendering.gl_process import RendererUnavailable
from prefero.worlds.golf import Golf
from prefero.worlds.mujoco.renderer import render_frames
from systems import posix_only

WIDTH, HEIGHT = 4, 3
SIZE = WIDTH * HEIGHT * 3


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules of a test are found by the process that it starts, and no library is preferred."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr(gl_process, "GL_LIBRARIES", ("egl", "osmesa"))


def fake_renderer(folder: Path, code: str) -> str:
    """A module that plays the renderer."""
    (folder / "renderer.py").write_text(
        f"import os, sys, time\nout = sys.stdout.buffer\n{code}\n", encoding="utf-8"
    )
    return "renderer"


def rendered(module: str, *arguments: str) -> list[Image]:
    return list(render_frames(module, list(arguments), WIDTH, HEIGHT))


def test_frames_are_what_the_process_writes(tmp_path: Path) -> None:
    module = fake_renderer(tmp_path, f"out.write(bytes(range({SIZE})) + bytes([7] * {SIZE}))")
    first, second = rendered(module)
    np.testing.assert_array_equal(first, np.arange(SIZE, dtype=np.uint8).reshape(HEIGHT, WIDTH, 3))
    assert np.all(second == 7)
    assert first.dtype == np.uint8


def test_arguments_reach_the_process(tmp_path: Path) -> None:
    module = fake_renderer(tmp_path, f"out.write(bytes([int(word) for word in sys.argv[1:]]) * {SIZE // 2})")
    (frame,) = rendered(module, "3", "200")
    assert frame.ravel()[:4].tolist() == [3, 200, 3, 200]


def test_a_frame_is_read_before_the_next_one_is_written(tmp_path: Path) -> None:
    module = fake_renderer(tmp_path, f"out.write(bytes({SIZE})); out.flush(); time.sleep(60)")
    frames = render_frames(module, [], WIDTH, HEIGHT)
    assert next(frames).shape == (HEIGHT, WIDTH, 3)
    frames.close()  # type: ignore[attr-defined]


@posix_only
def test_the_process_ends_when_the_frames_are_closed(tmp_path: Path) -> None:
    note = tmp_path / "number"
    code = f"open({str(note)!r}, 'w').write(str(os.getpid()))\n"
    module = fake_renderer(tmp_path, code + f"while True: out.write(bytes({SIZE}))")
    frames = render_frames(module, [], WIDTH, HEIGHT)
    next(frames)
    number = int(note.read_text(encoding="utf-8"))
    os.kill(number, 0)  # it is there
    frames.close()  # type: ignore[attr-defined]
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_the_next_library_is_tried_where_one_fails(tmp_path: Path) -> None:
    code = f"if os.environ['MUJOCO_GL'] == 'egl': sys.exit('no display')\nout.write(bytes({SIZE}))"
    assert len(rendered(fake_renderer(tmp_path, code))) == 1


def test_the_library_that_the_user_chose_is_tried_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUJOCO_GL", "glfw")
    code = f"out.write(bytes([len(os.environ['MUJOCO_GL'])] * {SIZE}))"
    (frame,) = rendered(fake_renderer(tmp_path, code))
    assert np.all(frame == len("glfw"))


def test_the_users_environment_is_left_alone(tmp_path: Path) -> None:
    rendered(fake_renderer(tmp_path, f"out.write(bytes({SIZE}))"))
    assert "MUJOCO_GL" not in os.environ


def test_where_no_library_renders_the_error_says_why_and_what_to_install(tmp_path: Path) -> None:
    module = fake_renderer(
        tmp_path, "print('a long message', file=sys.stderr); sys.exit('no ' + os.environ['MUJOCO_GL'])"
    )
    with pytest.raises(
        RendererUnavailable, match=r"no GL library .* libegl1 .* \(egl: no egl; osmesa: no osmesa\)"
    ):
        rendered(module)


def test_a_process_that_ends_without_a_message_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RendererUnavailable, match=r"egl: .*without a message"):
        rendered(fake_renderer(tmp_path, ""))


def test_a_video_that_is_cut_off_is_an_error(tmp_path: Path) -> None:
    code = f"out.write(bytes({SIZE} + 5)); out.flush(); sys.exit('power failure')"
    with pytest.raises(RuntimeError, match="power failure"):
        rendered(fake_renderer(tmp_path, code))


def test_a_platform_with_one_library_takes_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gl_process, "GL_LIBRARIES", ("",))
    code = f"out.write(bytes({SIZE})) if 'MUJOCO_GL' not in os.environ else sys.exit('set')"
    assert len(rendered(fake_renderer(tmp_path, code))) == 1


# --- golf -------------------------------------------------------------------------------------------------


def first_frames(golf: Golf, count: int) -> list[Image]:
    frames = golf.render_video(np.array([2.2, 20.0]), 2.0, 160, 120)
    try:
        return [next(frames) for _ in range(count)]
    except RendererUnavailable:
        pytest.skip("there is no GL library here")
    finally:
        frames.close()  # type: ignore[attr-defined]


def test_mujoco_renders_golf(golf: Golf) -> None:
    frames = first_frames(golf, 4)
    assert {frame.shape for frame in frames} == {(120, 160, 3)}
    assert all(50 < frame.mean() < 250 for frame in frames)
    assert all(len(np.unique(frame.astype(int) @ [65536, 256, 1])) > 100 for frame in frames)
    moved = [np.abs(a.astype(int) - b).max() for a, b in pairwise(frames)]
    assert min(moved) > 20  # arm and ball


def test_golf_raises_where_there_is_no_renderer(golf: Golf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gl_process, "GL_LIBRARIES", ("none",))
    with pytest.raises(RendererUnavailable, match="no GL library"):
        list(golf.render_video(np.array([1.0, 0.0]), 25.0, 64, 48))
    assert sys.modules["mujoco"] is not None  # this process is as it was


def test_a_shot_out_of_bounds_is_not_rendered(golf: Golf) -> None:
    with pytest.raises(ValueError, match="action 'speed' must be between"):
        golf.render_video(np.array([9.0, 0.0]), 25.0, 64, 48)
