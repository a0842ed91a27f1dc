"""Features of what moves, in videos of a colored square whose way is known."""

from pathlib import Path

import numpy as np
import pytest

from prefero import FeatureOptions, Learner, Pool, Question, load_reward
from prefero._support.arrays import Array
from prefero.datasets import Episode, VideoFolderOptions, extract_features, open_dataset
from prefero.datasets.episode import BadEpisode, VideoSpan
from prefero.datasets.features.embeddings import moving_objects
from prefero.datasets.features.embeddings.embedding import Embedding
from prefero.datasets.features.embeddings.moving_objects import MovingObjects, candidates, frames_of
from prefero.datasets.features.embeddings.object_tracks import SIDE, track_names
from prefero.deploy.export.python import to_python
from prefero.rendering.video import save_video
from prefero.trajectories.components import is_component

COUNT, STEPS = 9, 8
ALONE = VideoFolderOptions(table="none")


def write_video(path: Path, start: Array, velocity: Array, steps: int = STEPS) -> None:
    """An orange square on gray that begins somewhere, in parts of the picture."""
    frames = np.full((steps, 96, 96, 3), 120, dtype=np.uint8)
    for step, frame in enumerate(frames):
        x, y = np.round(96 * np.clip(start + step * velocity, 0.1, 0.9)).astype(int)
        frame[y - 6 : y + 6, x - 6 : x + 6] = (240, 150, 20)
    save_video(path, frames, 10.0, preset="veryfast")


def ways() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    return rng.uniform(0.2, 0.8, (COUNT, 2)), rng.uniform(-0.03, 0.03, (COUNT, 2))


@pytest.fixture
def videos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "videos"
    folder.mkdir()
    for number, (start, velocity) in enumerate(zip(*ways(), strict=True)):
        write_video(folder / f"{number:02d}.mp4", start, velocity)
    return folder


def test_features_say_where_the_square_is_and_ends(videos: Path) -> None:
    table = extract_features(open_dataset(videos, ALONE), FeatureOptions("moving-objects(1)", jobs=1))
    start, velocity = ways()
    places = np.clip(start[:, None] + np.arange(STEPS)[:, None] * velocity[:, None], 0.1, 0.9)
    known = {
        "mean x of object 1": places[:, :, 0].mean(axis=1),
        "final y of object 1": places[:, -1, 1],
        "mean speed of object 1": np.linalg.norm(np.diff(places, axis=1), axis=2).sum(axis=1) / STEPS * 10,
    }
    assert table.names[0] == "mean x of object 1"
    for name in set(known) & set(table.names):
        found = table.features[:, table.names.index(name)]
        assert np.corrcoef(found, known[name])[0, 1] > (0.8 if "speed" in name else 0.98), name


def test_the_same_videos_give_the_same_features_and_nothing_is_computed_twice(
    videos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = FeatureOptions("moving-objects(1)", jobs=1)
    first = extract_features(open_dataset(videos, ALONE), options)
    read = []
    monkeypatch.setattr(moving_objects, "tracks_of", lambda *args: read.append(args))
    second = extract_features(open_dataset(videos, ALONE), options)
    np.testing.assert_array_equal(first.features, second.features)
    assert not read


def test_a_reward_file_computes_the_features_of_new_videos(videos: Path, tmp_path: Path) -> None:
    pool = Pool.from_video_folder(videos, ["moving-objects(1)"], table="none")
    learner = Learner(pool)
    learner.tell(Question(0, 1), "left")
    learner.reward().save(tmp_path / "reward.json")
    assert "def features" not in to_python(learner.reward())
    assert (tmp_path / "reward.json").stat().st_size < 2_000_000
    new = tmp_path / "new"
    new.mkdir()
    for number, x in enumerate((0.2, 0.8)):
        write_video(new / f"{number}.mp4", np.array([x, 0.5]), np.array([0.0, 0.01]))
    table = load_reward(tmp_path / "reward.json").extract_features(open_dataset(new, ALONE))
    assert table.names == pool.names
    np.testing.assert_allclose(
        table.features[:, table.names.index("mean x of object 1")], (0.2, 0.8), atol=0.03
    )


def test_arrays_that_do_not_fit_are_refused(videos: Path) -> None:
    dataset = open_dataset(videos, ALONE)
    fitted = MovingObjects.fit([dataset.episode(n) for n in range(4)], 1)  # type: ignore[attr-defined]
    again = Embedding("moving-objects", "1").from_arrays(fitted.arrays())
    episode = dataset.episode(5)  # type: ignore[attr-defined]
    assert again(episode) == fitted(episode)
    for name, array in fitted.arrays().items():
        with pytest.raises(ValueError, match="do not fit"):
            Embedding("moving-objects", "1").from_arrays(fitted.arrays() | {name: array[:-1]})


def test_long_videos_are_thinned_evenly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving_objects, "FRAMES", 8)
    write_video(tmp_path / "long.mp4", np.array([0.2, 0.5]), np.array([0.01, 0.0]), steps=30)
    video = VideoSpan(tmp_path / "long.mp4")
    frames, seconds = frames_of(Episode("long", np.zeros((30, 1)), np.zeros((30, 0)), video=video))
    assert frames.shape == (8, SIDE, SIDE, 3)
    assert seconds == pytest.approx(0.4)


def test_an_example_without_motion_pictures_is_left_out_if_bad_episodes_are(videos: Path) -> None:
    write_video(videos / "03.mp4", np.array([0.5, 0.5]), np.zeros(2), steps=1)
    dataset = open_dataset(videos, ALONE)
    with pytest.raises(BadEpisode, match=r"03.mp4: its video has 1 frame.*Use --skip-bad"):
        extract_features(dataset, FeatureOptions("moving-objects(1)", jobs=1))
    table = extract_features(dataset, FeatureOptions("moving-objects(1)", jobs=1, skip_bad=True))
    assert list(table.skipped) == ["03.mp4"]
    assert len(table) == COUNT - 1


def test_all_features_of_objects_are_components() -> None:
    names = candidates(np.zeros((2, len(track_names(3)))), 0.1, np.zeros(len(track_names(3))))
    others = [name for name in names if not is_component(name)]
    assert len(others) == len(names) - 3 * (7 + 2 + 1 + 3 * 2)
    assert all("camera" in name for name in others)


def test_what_cannot_be_seen_is_said(videos: Path, tmp_path: Path) -> None:
    def episode(path: Path | None) -> Episode:
        video = None if path is None else VideoSpan(path)
        return Episode("seven", np.zeros((3, 1)), np.zeros((3, 0)), video=video)

    with pytest.raises(ValueError, match="episode seven has no video file in which objects could move"):
        MovingObjects.fit([episode(None)] * 2)
    write_video(tmp_path / "one.mp4", np.array([0.5, 0.5]), np.zeros(2), steps=1)
    with pytest.raises(BadEpisode, match="its video has 1 frame, and what moves is seen in two or more"):
        frames_of(episode(tmp_path / "one.mp4"))
    with pytest.raises(BadEpisode, match="missing"):
        frames_of(episode(tmp_path / "none.mp4"))
    write_video(tmp_path / "still.mp4", np.array([0.5, 0.5]), np.zeros(2))
    with pytest.raises(ValueError, match="nothing moves"):
        MovingObjects.fit([episode(tmp_path / "still.mp4")] * 2)
    with pytest.raises(ValueError, match="takes the number of features"):
        Embedding.of("moving-objects(two)")
    with pytest.raises(ValueError, match="two examples or more"):
        MovingObjects.fit([episode(videos / "00.mp4")])
