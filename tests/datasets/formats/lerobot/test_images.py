"""Images in columns instead of videos: they are shown as videos are, wherever they are kept."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from datasets.write_datasets import (
    CAMERAS,
    IMAGE_TYPE,
    LENGTHS,
    LEROBOT,
    colors_in,
    encode_png,
    frame_color,
    solid_image,
    truncate,
    write_lerobot_2,
    write_lerobot_3,
)
from prefero.datasets import BadEpisode, FeatureOptions, LeRobotOptions, extract_features, open_dataset
from prefero.datasets.formats.lerobot.dataset import LeRobotDataset
from prefero.datasets.media.images import (
    as_image,
    choose_cameras,
    decode_image,
    is_image,
    side_by_side_images,
)
from prefero.datasets.media.video_files import VideoError

VERSIONS = list(LEROBOT)


@pytest.fixture(scope="module", params=VERSIONS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cameras, and no video; to be read only."""
    folder: Path = LEROBOT[request.param](
        tmp_path_factory.mktemp("images") / "arm", cameras=(), images=CAMERAS
    )
    return folder


@pytest.fixture
def mine(made: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(made, tmp_path / "arm"))


def rewritten(folder: Path, change: Callable[[int, int, Any], Any], kind: Any = IMAGE_TYPE) -> None:
    """Change the first camera's column: a function of the episode, the frame and what was there."""
    for path in (folder / "data").rglob("*.parquet"):
        table = pq.read_table(path)
        where = zip(table["episode_index"].to_pylist(), table["frame_index"].to_pylist(), strict=True)
        old = table[CAMERAS[0]].to_pylist()
        new = [change(e, t, value) for (e, t), value in zip(where, old, strict=True)]
        column = table.column_names.index(CAMERAS[0])
        pq.write_table(table.set_column(column, CAMERAS[0], pa.array(new, kind)), path)


# --- what is shown ----------------------------------------------------------------------------------------


def test_two_cameras_are_shown_side_by_side(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", lengths=(6, 7), cameras=CAMERAS[:1], images=CAMERAS[1:])
    dataset = open_dataset(folder, LeRobotOptions().for_comparing())  # one in videos, the other in a column
    with av.open(str(dataset.cut_clip(1, tmp_path))) as video:
        frames = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    assert (len(frames), frames[0].shape) == (7, (48, 128, 3))
    for half in np.split(np.array(frames), 2, axis=2):
        colors = half[:, 8:-8, 8:-8].mean(axis=(1, 2))
        np.testing.assert_allclose(colors, [frame_color(1, t) for t in range(7)], atol=8)


def test_images_side_by_side_are_equally_tall_and_in_two_columns() -> None:
    images = [np.full((20 * n, 30, 3), n, dtype=np.uint8) for n in (1, 2, 1)]
    shown = side_by_side_images(images)
    assert shown.shape == (40 + 20, 60 + 30, 3)
    assert (shown[10, 10, 0], shown[10, 80, 0], shown[50, 10, 0], shown[50, 80, 0]) == (1, 2, 1, 0)


@pytest.mark.parametrize(("camera", "number"), [(None, 0), ("top", 0), ("wrist", 1)])
def test_images_in_a_column_are_shown_as_a_video(
    made: Path, tmp_path: Path, camera: str | None, number: int
) -> None:
    dataset = LeRobotDataset(made, LeRobotOptions(camera=camera))
    assert dataset.has_video
    for episode in (1, 2):
        colors = colors_in(dataset.cut_clip(episode, tmp_path))
        wanted = [frame_color(episode, t, number) for t in range(LENGTHS[episode])]
        np.testing.assert_allclose(colors, wanted, atol=8)
    part = colors_in(dataset.cut_clip(3, tmp_path, (5, 19)))
    np.testing.assert_allclose(part, [frame_color(3, t, number) for t in range(5, 19)], atol=8)


def test_the_video_lasts_as_long_as_the_episode(made: Path, tmp_path: Path) -> None:
    with av.open(str(LeRobotDataset(made).cut_clip(1, tmp_path))) as video:
        assert video.duration == pytest.approx(1e6 * LENGTHS[1] / 10, rel=0.01)


def test_the_numbers_are_read_without_the_images(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, asked = pq.read_table, list[str]()

    def noticed(path: Path, *, columns: list[str], **options: Any) -> Any:
        asked.extend(columns)
        return read(path, columns=columns, **options)

    dataset = LeRobotDataset(made)
    monkeypatch.setattr(pq, "read_table", noticed)
    assert dataset.episode(1).state_names == ("shoulder", "elbow")
    assert not set(asked) & set(CAMERAS)


def test_a_camera_is_chosen_among_videos_and_columns(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", lengths=(6, 7), cameras=CAMERAS[:1], images=CAMERAS[1:])
    video, column = LeRobotDataset(folder), LeRobotDataset(folder, LeRobotOptions(camera="wrist"))
    assert video.cameras + column.cameras == CAMERAS
    for dataset in (video, column):
        colors = colors_in(dataset.cut_clip(1, tmp_path / dataset.cameras[0]))
        np.testing.assert_allclose(colors, [frame_color(1, t) for t in range(7)], atol=8)
    assert column.spec is not None
    assert column.spec.options["camera"] == CAMERAS[1]


@pytest.mark.parametrize(
    ("where", "key"),
    [("info", "video.is_depth_map"), ("info", "is_depth_map"), ("video_info", "video.is_depth_map")],
)
def test_a_camera_of_depths_is_not_the_first_choice(where: str, key: str, tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", lengths=(5, 6), cameras=CAMERAS)
    info = json.loads((folder / "meta" / "info.json").read_text(encoding="utf-8"))
    info["features"][CAMERAS[0]][where] = {key: True}
    (folder / "meta" / "info.json").write_text(json.dumps(info), encoding="utf-8")
    assert LeRobotDataset(folder).cameras == CAMERAS[1:]
    assert LeRobotDataset(folder, LeRobotOptions(camera="all")).cameras == CAMERAS[1:]
    assert LeRobotDataset(folder, LeRobotOptions(camera="top")).cameras == CAMERAS[:1]


def test_one_may_do_without_videos(made: Path) -> None:
    dataset = open_dataset(made, LeRobotOptions(camera="none"))
    assert not dataset.has_video
    assert dataset.spec is not None
    assert dataset.spec.options["camera"] == "none"


def test_a_whole_name_comes_before_the_end_of_another() -> None:
    cameras = ["images.top", "top", "images.far.top", "side"]
    assert choose_cameras(cameras, "top") == ("top",)
    assert choose_cameras(cameras, "far.top, side") == ("images.far.top", "side")
    assert choose_cameras(cameras, "all") == tuple(cameras)
    with pytest.raises(ValueError, match=r"no camera 'back'.* images\.top, top"):
        choose_cameras(cameras, "back")
    with pytest.raises(ValueError, match=r"no camera 'top'.* a\.top, b\.top"):
        choose_cameras(["a.top", "b.top"], "top")


# --- where they are kept ----------------------------------------------------------------------------------


@pytest.mark.parametrize("folders", ["episode-{:06d}", "episode_{:06d}"])
def test_a_path_will_do_where_the_image_itself_is_not_in_the_table(
    mine: Path, tmp_path: Path, folders: str
) -> None:
    """Both versions write a file's name alone, and have folders of their own for it."""

    def out(episode: int, frame: int, value: Any) -> dict[str, Any]:
        place = mine / "images" / CAMERAS[0] / folders.format(episode) / f"f{frame}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(value["bytes"])
        return {"bytes": None, "path": place.name}

    rewritten(mine, out)
    colors = colors_in(LeRobotDataset(mine).cut_clip(1, tmp_path / "clips"))
    np.testing.assert_allclose(colors, [frame_color(1, t) for t in range(LENGTHS[1])], atol=8)


@pytest.mark.parametrize("kind", [pa.binary(), pa.string()], ids=str)
def test_a_column_of_bytes_or_of_paths_is_understood(mine: Path, tmp_path: Path, kind: Any) -> None:
    def plain(episode: int, frame: int, value: Any) -> Any:
        if kind == pa.binary():
            return value["bytes"]
        place = mine / "shots" / f"{episode}-{frame}.png"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(value["bytes"])
        return str(place) if frame % 2 else str(place.relative_to(mine))

    rewritten(mine, plain, kind)
    colors = colors_in(LeRobotDataset(mine).cut_clip(2, tmp_path / "clips"))
    np.testing.assert_allclose(colors, [frame_color(2, t) for t in range(LENGTHS[2])], atol=8)


# --- damage -----------------------------------------------------------------------------------------------


def half_an_image(episode: int, frame: int, value: Any) -> Any:
    short = value | {"bytes": value["bytes"][: len(value["bytes"]) // 2]}
    return short if (episode, frame) == (3, 7) else value


def no_image(episode: int, frame: int, value: Any) -> Any:
    return None if (episode, frame) == (3, 7) else value


def lost_path(episode: int, frame: int, value: Any) -> Any:
    return {"bytes": None, "path": "gone.png"} if (episode, frame) == (3, 7) else value


def another_size(episode: int, frame: int, value: Any) -> Any:
    return value | {"bytes": encode_png(solid_image((9, 9, 9))[:40])} if (episode, frame) == (3, 7) else value


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (half_an_image, ".*step 7 is damaged"),
        (no_image, ".*step 7 is damaged"),
        (lost_path, ".*step 7 is missing"),
        (another_size, r".*step 7 is \(40, 64, 3\), .*\(48, 64, 3\)"),
    ],
)
def test_a_damaged_image_is_named_and_no_clip_is_left_behind(
    mine: Path, tmp_path: Path, damage: Callable[[int, int, Any], Any], message: str
) -> None:
    rewritten(mine, damage)
    dataset = LeRobotDataset(mine)
    with pytest.raises(BadEpisode, match=f"^episode 3: .*video is damaged: {message}"):
        dataset.cut_clip(3, tmp_path / "clips")
    assert list((tmp_path / "clips").iterdir()) == []
    assert dataset.cut_clip(3, tmp_path / "clips", (8, 12)).is_file()


def test_a_file_that_is_cut_short_or_gone_shows_nothing(mine: Path, tmp_path: Path) -> None:
    dataset = LeRobotDataset(mine)
    path = dataset.entries[3].path
    truncate(path)
    with pytest.raises(BadEpisode, match=r"^episode 3: .*video is damaged: .* is damaged or cut"):
        dataset.cut_clip(3, tmp_path)
    path.unlink()
    with pytest.raises(BadEpisode, match=r"^episode 3: .*video is damaged: .* is missing"):
        dataset.cut_clip(3, tmp_path)


def test_a_column_that_is_missing_is_told_before_anything_is_shown(mine: Path) -> None:
    path = LeRobotDataset(mine).entries[3].path
    table = pq.read_table(path)
    pq.write_table(table.drop_columns([CAMERAS[0]]), path)
    assert extract_features(LeRobotDataset(mine), FeatureOptions(["mean"], jobs=1)).skipped == {}
    with pytest.raises(BadEpisode, match=rf"^episode 3: .* has no column '{CAMERAS[0]}'"):
        LeRobotDataset(mine, LeRobotOptions(videos="check")).episode(3)


def test_steps_without_an_image_are_counted(mine: Path, tmp_path: Path) -> None:
    dataset = LeRobotDataset(mine)
    path = dataset.entries[3].path
    table = pq.read_table(path)
    gone = (np.array(table["episode_index"]) == 3) & (np.array(table["frame_index"]) == 12)
    pq.write_table(table.filter(pa.array(~gone)), path)
    with pytest.raises(BadEpisode, match=r"image of step 12 .*missing"):
        dataset.cut_clip(3, tmp_path)
    gone = (np.array(table["episode_index"]) == 3) & (np.array(table["frame_index"]) >= 12)
    pq.write_table(table.filter(pa.array(~gone)), path)
    with pytest.raises(BadEpisode, match="12 of its 20 images"):
        dataset.cut_clip(3, tmp_path)


# --- images -----------------------------------------------------------------------------------------------


def encoded(image: Image.Image, kind: str = "PNG") -> bytes:
    memory = io.BytesIO()
    image.save(memory, kind)
    return memory.getvalue()


def test_images_of_all_kinds_become_three_colors() -> None:
    red = np.zeros((4, 6, 3), dtype=np.uint8) + np.array([200, 30, 40], dtype=np.uint8)
    image = Image.fromarray(red)
    np.testing.assert_array_equal(decode_image(encoded(image), "it"), red)
    np.testing.assert_array_equal(decode_image(encoded(image.convert("RGBA")), "it"), red)
    np.testing.assert_allclose(decode_image(encoded(image, "JPEG"), "it"), red, atol=4)
    grey = np.asarray(image.convert("L"))
    np.testing.assert_array_equal(
        decode_image(encoded(image.convert("L")), "it"), np.stack([grey] * 3, axis=2)
    )


def test_depths_go_from_black_to_white(tmp_path: Path) -> None:
    depths = np.array([[0, 1000], [2000, 4000]], dtype=np.uint16)
    Image.fromarray(depths).save(tmp_path / "depths.png")
    seen = decode_image(tmp_path / "depths.png", "it")
    assert seen[:, :, 0].tolist() == [[0, 63], [127, 255]]
    assert decode_image(encoded(Image.fromarray(np.zeros((2, 2), dtype=np.uint16))), "it").max() == 0


@pytest.mark.parametrize("content", [b"", b"no image", Path("nowhere.png")])
def test_what_is_no_image_is_named(content: bytes | Path) -> None:
    with pytest.raises(VideoError, match=r"hand's view .*(missing|damaged .*cannot identify image file)$"):
        decode_image(content, "the hand's view")


@given(st.integers(32, 40), st.integers(32, 40), st.sampled_from(["last", "first", "grey", "one", "alpha"]))
def test_arrays_are_images_whichever_way_they_lie(height: int, width: int, way: str) -> None:
    wanted = np.random.default_rng(height * width).integers(0, 255, (height, width, 3), dtype=np.uint8)
    if way in ("grey", "one"):
        wanted[:] = wanted[:, :, :1]
    opaque = np.full((height, width, 1), 255, dtype=np.uint8)
    lying = {
        "last": wanted,
        "first": wanted.transpose(2, 0, 1),
        "grey": wanted[:, :, 0],
        "one": wanted[:, :, :1],
        "alpha": np.concatenate([wanted, opaque], axis=2),
    }[way]
    assert is_image(lying.shape, lying.dtype)
    np.testing.assert_array_equal(as_image(lying), wanted)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((48, 64, 3), np.float32),
        ((8, 8, 3), np.uint8),
        ((128,), np.uint8),
        ((48, 64, 7), np.uint8),
        ((4, 84, 84), np.uint8),
        ((), int),
    ],
)
def test_other_arrays_are_none(shape: tuple[int, ...], dtype: Any) -> None:
    assert not is_image(shape, dtype)
