"""Videos of 3-D scenes: rendered in another process, which gives way to others and may be killed."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import av
import numpy as np

from prefero._support.arrays import Array
from prefero.rendering import scene_video
from prefero.rendering.scene_rasterizer import SceneRasterizer
from prefero.rendering.scene_video import FPS, HEIGHT, WIDTH, render_in_worker, save_scene_video
from prefero.rendering.scenes import Camera, Part, Scene
from rendering.colored_scenes import at, cube
from systems import posix_only
from waiting import TIMEOUT, wait_until

SCENE = Scene((Part("cube", (cube(0.4),), moves=True, trail=True),), Camera((3, -4, 2), (0, 0, 0)), 0.1)


def poses_over(seconds: float) -> Array:
    return np.array([at(x, 0.0, 0.0) for x in np.linspace(-1, 1, round(10 * seconds) + 1)])[:, None]


def test_a_video_has_the_poses_at_its_own_frame_rate(tmp_path: Path) -> None:
    path, poses = tmp_path / "scene" / "video.mp4", poses_over(1.0)
    save_scene_video({}, path, SCENE, poses)
    with av.open(path) as container:
        frames = [(frame.time, frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]
    np.testing.assert_allclose([time for time, _ in frames], np.arange(26) / FPS)
    rasterizer = SceneRasterizer(SCENE, WIDTH, HEIGHT)
    for number, index in ((0, 0), (15, 6), (25, 10)):  # times that have a pose
        wanted = rasterizer.image(poses[index], SCENE.resample(poses, FPS)[: number + 1])
        assert np.abs(frames[number][1].astype(int) - wanted).mean() < 1
    assert [file.name for file in path.parent.iterdir()] == ["video.mp4"]


@posix_only
def test_a_video_is_whole_even_if_its_worker_is_killed_and_workers_give_way_to_others(tmp_path: Path) -> None:
    path = tmp_path / "scene" / "video.mp4"
    rendering = render_in_worker(path, SCENE, poses_over(2.0))
    wait_until(lambda: path.parent.is_dir() and any(path.parent.iterdir()), "the first bytes")
    assert not path.exists()
    workers = scene_video._workers().processes
    given = [os.getpriority(os.PRIO_PROCESS, process) for process in workers]
    assert max(given) > os.getpriority(os.PRIO_PROCESS, 0)  # of the one that has a task
    for process in workers:
        os.kill(process, 9)
    rendering.result(TIMEOUT)
    with av.open(path) as container:
        assert sum(1 for _ in container.decode(video=0)) == 51


def test_requests_that_come_at_the_same_time_share_the_workers() -> None:
    scene_video.stop_rendering()
    scene_video._made_workers.cache_clear()
    with ThreadPoolExecutor(8) as threads:
        pools = set(threads.map(lambda _: scene_video._workers(), range(8)))
    scene_video.stop_rendering()
    scene_video._made_workers.cache_clear()
    assert len(pools) == 1
