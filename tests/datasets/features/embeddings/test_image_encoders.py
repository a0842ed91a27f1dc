"""Frozen encoders of images, with a small one whose codes are known: the mean color of an image."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefero import FeatureOptions, Learner, Pool, Question, load_reward
from prefero._support.arrays import Array
from prefero.datasets import Episode, extract_features, open_dataset
from prefero.datasets.features.embeddings import image_encoders
from prefero.datasets.features.embeddings.embedding import Embedding
from prefero.datasets.features.embeddings.image_encoders import (
    MEAN,
    STD,
    ImageFeatures,
    input_images,
    load_encoder,
    needs_trust,
    pooled,
)
from prefero.datasets.features.extraction.from_spec import extractors_from, features_in, with_functions
from prefero.datasets.registry import Untrusted
from prefero.rendering.video import save_video

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
COLORS = np.random.default_rng(0).integers(20, 230, (8, 3))


def write_encoder(path: Path, batch: int | str = "N", side: int | str = 32) -> Path:
    """An ONNX file that returns the mean of each color."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    given = helper.make_tensor_value_info("pixels", kind, [batch, 3, side, side])
    made = helper.make_tensor_value_info("code", kind, [batch, 3, 1, 1])
    graph = helper.make_graph(
        [helper.make_node("GlobalAveragePool", ["pixels"], ["code"])], "g", [given], [made]
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path


@pytest.fixture
def videos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    load_encoder.cache_clear()
    (tmp_path / "videos").mkdir()
    for number, color in enumerate(COLORS):
        frames = [np.full((48, 48, 3), color, dtype=np.uint8)] * 6
        save_video(tmp_path / "videos" / f"{number}.mp4", frames, 10.0)
    write_encoder(tmp_path / "mean.onnx")
    return tmp_path / "videos"


def test_images_are_scaled_as_encoders_expect(videos: Path) -> None:
    episode = open_dataset(videos).episode(2)  # type: ignore[attr-defined]
    shown = input_images(episode.video, 32)
    assert shown.shape == (6, 3, 32, 32)
    np.testing.assert_allclose(
        shown.mean(axis=(0, 2, 3)) * STD + MEAN, COLORS[2] / 255, atol=0.02
    )  # video codecs round colors


def test_the_features_are_whitened_components_of_the_codes(videos: Path) -> None:
    table = extract_features(open_dataset(videos), FeatureOptions("image-encoder(mean.onnx, 3)", jobs=1))
    assert table.names == ("image 1", "image 2", "image 3")
    np.testing.assert_allclose(np.cov(table.features, rowvar=False, bias=True), np.eye(3), atol=1e-6)
    # a linear function of the colors, and nothing else
    known = np.column_stack([COLORS, np.ones(8)])
    rest = table.features - known @ np.linalg.lstsq(known, table.features, rcond=None)[0]
    assert np.abs(rest).max() < 0.1


def test_one_picture_at_a_time_and_any_number_give_the_same_codes(videos: Path) -> None:
    one = load_encoder(str(write_encoder(videos.parent / "one.onnx", batch=1)))
    shown: Array = np.random.default_rng(0).normal(size=(5, 3, 32, 32)).astype(np.float32)
    np.testing.assert_allclose(pooled(one.encode(shown)), shown.mean(axis=(0, 2, 3)), atol=1e-5)
    assert one.side == 32
    free = load_encoder(str(write_encoder(videos.parent / "free.onnx", side="side")))
    assert free.side == 224


def test_codes_are_kept_until_the_video_or_the_encoder_changes(videos: Path, monkeypatch: Any) -> None:
    encoder, dataset = load_encoder("mean.onnx"), open_dataset(videos)
    video = dataset.episode(0).video  # type: ignore[attr-defined]
    first = encoder.code(video)
    monkeypatch.setattr(image_encoders, "input_images", lambda *_: pytest.fail("computed again"))
    np.testing.assert_array_equal(encoder.code(video), first)


def pool_of(videos: Path) -> Pool:
    options = FeatureOptions("image-encoder(mean.onnx, 2)", jobs=1)
    return Pool.from_dataset(videos, options, clips="never")


def test_a_reward_about_images_scores_new_videos_from_its_file(videos: Path) -> None:
    learner = Learner(
        Pool.from_dataset(videos, FeatureOptions("image-encoder(mean.onnx, 2)", jobs=1), clips="never")
    )
    learner.tell(Question(0, 1), "left")
    learner.reward().save(videos.parent / "reward.json")
    reward = load_reward(videos.parent / "reward.json")
    table = reward.extract_features(open_dataset(videos))
    np.testing.assert_allclose(table.features, learner.pool.features, atol=1e-9)
    load_encoder.cache_clear()
    write_encoder(videos.parent / "mean.onnx", batch=1)
    with pytest.raises(ValueError, match=r"another image encoder .*mean\.onnx"):
        reward.extract_features(open_dataset(videos))
    load_encoder.cache_clear()
    (videos.parent / "mean.onnx").unlink()
    with pytest.raises(ValueError, match=r"mean\.onnx .*not found"):
        reward.extract_features(open_dataset(videos))


@pytest.mark.parametrize(
    ("source", "would"),
    [
        ("mean.pt", r"would run 'mean\.pt'"),
        ("timm:resnet18", "would download 'timm:resnet18'"),
        ("hf:a/b", "would download 'hf:a/b'"),
    ],
)
def test_what_may_run_code_or_is_downloaded_needs_trust(
    videos: Path, monkeypatch: pytest.MonkeyPatch, source: str, would: str
) -> None:
    """Of somebody else's reward; whoever names it in this process has allowed it."""
    assert needs_trust(source)
    assert not needs_trust("encoder.onnx")
    learner = Learner(
        Pool.from_dataset(videos, FeatureOptions("image-encoder(mean.onnx, 2)", jobs=1), clips="never")
    )
    spec = learner.pool.feature_spec
    assert spec is not None
    word, asked = f"image-encoder({source}, 2)", list[str]()
    for library in ("timm", "hf"):
        monkeypatch.setitem(image_encoders.NAMED, library, asked.append)
    values = spec.to_json() | {"words": [word]}
    values["fitted"] = {word: values["fitted"]["image-encoder(mean.onnx, 2)"]}
    strange = type(spec).from_json(values)
    for compute in (extractors_from, features_in):
        with pytest.raises(Untrusted, match=rf"{would}.*--trust"):
            compute(strange)
    assert asked == []
    assert features_in(strange, trust=True) == [word]
    assert features_in(with_functions(strange, [word])) == [word]


def test_what_cannot_be_loaded_says_why(videos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del videos

    def offline(name: str) -> Any:
        raise OSError(f"cannot reach the server for {name}\nmore")

    monkeypatch.setitem(image_encoders.NAMED, "timm", offline)
    with pytest.raises(ValueError, match=r"timm:resnet18 .*OSError: cannot reach.*network"):
        load_encoder("timm:resnet18")
    with pytest.raises(ValueError, match=r"\.onnx, \.pt2, \.pt.* timm:NAME or hf:NAME, .* 'x\.h5'"):
        load_encoder("x.h5")
    with pytest.raises(ValueError, match=r"a file or a model"):
        Embedding.of("image-encoder")


def test_an_episode_without_a_video_has_no_images(videos: Path) -> None:
    del videos
    episodes = [Episode(str(i), np.zeros(3), np.zeros(3)) for i in range(3)]
    with pytest.raises(ValueError, match=r"episode 0 .*no video file"):
        ImageFeatures.fit("mean.onnx", episodes, 2)


def test_codes_of_places_and_of_tokens_are_averaged() -> None:
    codes = np.arange(24.0).reshape(2, 3, 2, 2)
    np.testing.assert_allclose(pooled(codes), codes.mean(axis=(0, 2, 3)))
    np.testing.assert_allclose(pooled(codes[:, :, 0]), codes[:, :, 0].mean(axis=(0, 1)))
    with pytest.raises(ValueError, match=r"returned \(2,\)"):
        pooled(np.zeros(2))
