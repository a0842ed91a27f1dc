"""Folders of videos without a table: features of what the frames show, and what can be learned from them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets.write_datasets import truncate
from prefero import Learner, Pool
from prefero._support.arrays import Array
from prefero.datasets import (
    BadEpisode,
    FeatureOptions,
    VideoFolderOptions,
    extract_features,
    extract_for_reward,
    open_dataset,
)
from prefero.datasets.features.extraction.match_reward import scoring_warnings
from prefero.datasets.formats import videos_alone
from prefero.datasets.formats.video_folder import VideoFolder
from prefero.datasets.formats.videos_alone import VideoEpisodes
from prefero.datasets.media.frame_states import STATISTICS, frame_states, place_of, state_names
from prefero.kernels import Anchored, Linear
from prefero.models import PreferenceGP
from prefero.rendering.video import save_video
from prefero.studies.start import pool_of

FPS = 20.0
FRAMES = 8
ALONE = FeatureOptions(jobs=1)  # starting processes takes longer

pytestmark = pytest.mark.filterwarnings(
    "ignore:.* strongly correlated", "ignore:.* same for all", "ignore:.* has outliers"
)


def moving_square(start: tuple[float, float], end: tuple[float, float], size: int = 64) -> list[Any]:
    """Frames of a red square on gray whose center goes from one place to another, in parts of the side."""
    frames = []
    for t in np.linspace(0.0, 1.0, FRAMES):
        frame = np.full((size, size, 3), 128, dtype=np.uint8)
        x, y = (int(size * (a + (b - a) * t)) for a, b in zip(start, end, strict=True))
        frame[y - 6 : y + 6, x - 6 : x + 6] = (230, 20, 20)
        frames.append(frame)
    return frames


def write_squares(folder: Path, count: int, seed: int = 0) -> Array:
    """Videos of moving squares without a table; where each one ends, (count, 2)."""
    folder.mkdir(parents=True)
    places = np.random.default_rng(seed).uniform(0.15, 0.85, (count, 2, 2))
    for number, (start, end) in enumerate(places):
        save_video(folder / f"square {number:02d}.mp4", moving_square(tuple(start), tuple(end)), FPS)
    ends: Array = places[:, 1]
    return ends


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Array]:
    folder = tmp_path_factory.mktemp("videos") / "squares"
    return folder, write_squares(folder, 40)


# --- states of frames -------------------------------------------------------------------------------------


def test_the_states_say_where_it_is_and_how_it_moves(tmp_path: Path) -> None:
    save_video(tmp_path / "a.mp4", moving_square((0.25, 0.5), (0.75, 0.5)), FPS)
    states, rate = frame_states(tmp_path / "a.mp4", "statistics")
    known = dict(zip(STATISTICS, states.T, strict=True))
    assert rate == FPS
    assert states.shape == (FRAMES, len(STATISTICS)) == (FRAMES, 10)
    np.testing.assert_allclose(known["color x"], np.linspace(0.25, 0.75, FRAMES), atol=0.03)
    np.testing.assert_allclose(known["color y"], 0.5, atol=0.03)
    assert known["motion"][0] == 0
    assert (known["motion"][1:] > 0.1).all()
    assert (np.diff(known["motion x"][1:]) > 0).all()
    assert (known["red"] > known["blue"]).all()


def test_motion_is_per_second_and_the_size_of_frames_does_not_matter(tmp_path: Path) -> None:
    def average(name: str, times: int, fps: float) -> Array:
        frames = [f.repeat(times, 0).repeat(times, 1) for f in moving_square((0.25, 0.5), (0.75, 0.5))]
        save_video(tmp_path / f"{name}.mp4", frames, fps)
        mean: Array = frame_states(tmp_path / f"{name}.mp4", "statistics")[0].mean(axis=0)
        return mean

    small, large, fast = average("small", 1, 20.0), average("large", 2, 20.0), average("fast", 1, 40.0)
    np.testing.assert_allclose(large, small, rtol=0.05, atol=0.02)
    motion = STATISTICS.index("motion")
    assert fast[motion] == pytest.approx(2 * small[motion], rel=0.05)


def test_a_place_is_the_weighted_mean_of_the_cells() -> None:
    weights = np.random.default_rng(1).uniform(0, 50, (5, 4))
    cells = [(x / 3, y / 4, weights[y, x]) for y in range(5) for x in range(4)]
    total = sum(w for *_, w in cells)
    mean_x, mean_y = (sum(cell[axis] * cell[2] for cell in cells) / total for axis in (0, 1))
    std = (sum(w * ((x - mean_x) ** 2 + (y - mean_y) ** 2) for x, y, w in cells) / total) ** 0.5
    np.testing.assert_allclose(place_of(weights), (mean_x, mean_y, std), atol=1e-4)
    assert place_of(np.zeros((5, 4))) == (0.5, 0.5, 0.0)  # nothing moves anywhere


def test_pixels_are_coarse_colors_in_the_order_of_their_names(tmp_path: Path) -> None:
    frame = np.zeros((64, 64, 3), dtype=np.uint8)
    frame[:32, 32:, 0] = 200  # red at the top right
    save_video(tmp_path / "a.mp4", [frame] * 3, FPS)
    states, _ = frame_states(tmp_path / "a.mp4", "pixels")
    known = dict(zip(state_names("pixels"), states[1], strict=True))
    assert known["red 1,8"] > 0.6
    assert known["red 8,1"] < 0.1
    assert known["blue 1,8"] < 0.1


# --- a dataset --------------------------------------------------------------------------------------------


def test_a_folder_of_videos_alone_is_taught_with_its_videos(squares: tuple[Path, Array]) -> None:
    pool = pool_of(str(squares[0]), features=ALONE)
    assert pool.ids is not None
    assert pool.clips is not None
    assert pool.ids[3] == "square 03.mp4"
    assert Path(pool.clips[3]) == squares[0] / "square 03.mp4"
    assert pool.names == tuple(f"pca {i + 1}" for i in range(8))


def test_the_same_is_made_in_python_with_any_features(squares: tuple[Path, Array]) -> None:
    pool = Pool.from_video_folder(squares[0], FeatureOptions(["final(color x)", "random-network(3)"], jobs=1))
    assert pool.names == ("final color x", *(f"random network {i}" for i in (1, 2, 3)))
    np.testing.assert_allclose(pool.features[:, 0], squares[1][:, 0], atol=0.05)
    pixels = Pool.from_video_folder(squares[0], ALONE, frame_states="pixels", clips="never")
    assert pixels.names == tuple(f"pca {i + 1}" for i in range(8))


def test_windows_of_videos_are_cut(squares: tuple[Path, Array], tmp_path: Path) -> None:
    features = FeatureOptions(["final(color x)"], window=4, stride=4, jobs=1)
    pool = Pool.from_video_folder(squares[0], features, clip_folder=tmp_path, count=3)
    assert pool.ids is not None
    assert pool.ids[0].startswith("square ")
    assert pool.clips is not None
    assert Path(pool.clips[0]).parent == tmp_path


def test_frames_are_decoded_once(squares: tuple[Path, Array], monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = open_dataset(squares[0])
    assert isinstance(dataset, VideoEpisodes)
    before = dataset.episode(0).states

    def again(*_: Any) -> Any:
        raise AssertionError("it was decoded already")

    monkeypatch.setattr(videos_alone, "frame_states", again)
    np.testing.assert_array_equal(dataset.episode(0).states, before)
    np.testing.assert_array_equal(open_dataset(squares[0]).episode(0).states, before)  # type: ignore[attr-defined]


def test_a_table_in_the_folder_may_be_ignored(tmp_path: Path) -> None:
    write_squares(tmp_path / "few", 3)
    (tmp_path / "few" / "notes.csv").write_text("remark\nnice\n", encoding="utf-8")
    with pytest.raises(ValueError, match="which video a row is of"):
        open_dataset(tmp_path / "few")
    found = open_dataset(tmp_path / "few", VideoFolderOptions(table="none"))
    assert extract_features(found).names == ("pca 1",)  # of three videos
    assert extract_features(found, ["mean"]).names == tuple(f"mean {name}" for name in STATISTICS)
    (tmp_path / "few" / "more.csv").touch()
    with pytest.raises(ValueError, match="--table none"):
        open_dataset(tmp_path / "few")


def test_features_that_were_saved_in_the_folder_are_its_table(tmp_path: Path) -> None:
    write_squares(tmp_path / "few", 3)
    words = FeatureOptions(["mean(color x, color y)"], jobs=1)
    table = extract_features(open_dataset(tmp_path / "few"), words)
    table.save(tmp_path / "few" / "features.parquet")
    found = open_dataset(tmp_path / "few")
    assert isinstance(found, VideoFolder)
    assert found.names == ("mean color x", "mean color y")
    np.testing.assert_array_equal(found.features, table.features)


def test_what_cannot_be_used_is_named(tmp_path: Path) -> None:
    write_squares(tmp_path / "few", 4)
    truncate(tmp_path / "few" / "square 02.mp4", 0.6)
    with pytest.raises(BadEpisode, match=r"^episode square 02.mp4: .*cut short.* --skip-bad"):
        pool_of(str(tmp_path / "few"))
    found = extract_features(open_dataset(tmp_path / "few"), FeatureOptions(skip_bad=True))
    assert found.ids == ("square 00.mp4", "square 01.mp4", "square 03.mp4")
    with pytest.raises(ValueError, match=r"statistics or pixels, .*'sounds'"):
        open_dataset(tmp_path / "few", VideoFolderOptions(frame_states="sounds"))
    for number in (1, 2, 3):
        (tmp_path / "few" / f"square {number:02d}.mp4").unlink()
    with pytest.raises(ValueError, match=r"two videos .*1 .mp4 file"):
        open_dataset(tmp_path / "few")


# --- learning ---------------------------------------------------------------------------------------------


def test_twenty_answers_about_videos_alone_teach_what_the_person_wants(squares: tuple[Path, Array]) -> None:
    """The person wants the square to end far to the right, which no feature says directly."""
    pool, reward = pool_of(str(squares[0]), features=ALONE), squares[1][:, 0]
    kernel = Anchored(0.5 * Linear(), (0.0,) * len(pool.names))
    model = PreferenceGP(kernel=kernel, noise=0.1, learn=False)  # fast
    learner = Learner(Pool(pool.features[:24], pool.names), model=model)
    for _ in range(20):
        question = learner.ask()
        learner.tell(question, "left" if reward[question.left] > reward[question.right] else "right")
    learned = learner.reward()
    scores, truth = learned(pool.features[24:]), reward[24:]
    left, right = np.triu_indices(len(truth), 1)
    accuracy = np.mean((scores[left] > scores[right]) == (truth[left] > truth[right]))
    assert accuracy > 0.8  # of videos that were never asked about; chance is 0.5


def test_the_same_folder_is_scored_without_naming_features(squares: tuple[Path, Array]) -> None:
    pool = pool_of(str(squares[0]), features=ALONE)
    learner = Learner(pool)
    learner.tell(learner.ask(), "left")
    reward = learner.reward()
    table = extract_for_reward(open_dataset(squares[0]), reward.scaling.names, ALONE)
    np.testing.assert_allclose(table.features, pool.features)
    warnings = " ".join(scoring_warnings(table, reward.scaling))
    assert "pca(8) is fitted" in warnings
