"""Embeddings that torch trains or runs: only where it is installed, in `make heavy`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefero import FeatureOptions
from prefero.datasets import Episode, extract_features, open_dataset
from prefero.datasets.features.embeddings.image_encoders import load_encoder, pooled
from prefero.datasets.features.embeddings.networks import RandomNetwork, TimeContrastive

torch = pytest.importorskip("torch")


def walk(number: int, steps: int = 60) -> Episode:
    rng = np.random.default_rng(number)
    return Episode(str(number), np.cumsum(rng.normal(size=(steps, 3)), axis=0), rng.normal(size=(steps, 1)))


def closeness(kind: type[RandomNetwork] | type[TimeContrastive]) -> float:
    """How much closer neighbours in time are than other steps, on new episodes."""
    extract = kind.fit([walk(i) for i in range(30)], 6)
    one, other = (
        np.array([list(extract(walk(n).segment((t, t + 1))).values()) for t in range(60)]) for n in (90, 91)
    )
    near = np.linalg.norm(np.diff(one, axis=0), axis=1).mean()
    return float(np.linalg.norm(one - other, axis=1).mean() / near)


def test_training_brings_neighbours_in_time_together() -> None:
    assert closeness(TimeContrastive) > 1.2 * closeness(RandomNetwork)


def test_the_same_examples_give_the_same_network() -> None:
    first, again = (TimeContrastive.fit([walk(i) for i in range(4)], 2) for _ in range(2))
    np.testing.assert_allclose(first.weights, again.weights, atol=1e-9)


def test_it_is_a_word_like_any_other(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    states = np.cumsum(rng.normal(size=(12, 21, 2)), axis=1)
    np.savez(tmp_path / "walks.npz", states=states, actions=rng.normal(size=(12, 20, 1)))
    options = FeatureOptions("time-contrastive(3)")
    table = extract_features(open_dataset(tmp_path / "walks.npz"), options)
    assert table.names == tuple(f"time contrastive {i + 1}" for i in range(3))
    assert table.spec is not None
    again = extract_features(open_dataset(tmp_path / "walks.npz"), options, table.spec.fitted)
    np.testing.assert_array_equal(again.features, table.features)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # of torch itself
@pytest.mark.parametrize("kind", [".pt", ".pt2"])
def test_an_encoder_of_torch_is_run(tmp_path: Path, kind: str) -> None:
    module = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    shown: Any = np.random.default_rng(0).normal(size=(4, 3, 8, 8)).astype(np.float32)
    path = str(tmp_path / f"mean{kind}")
    if kind == ".pt":
        torch.jit.script(module).save(path)
    else:
        torch.export.save(torch.export.export(module, (torch.as_tensor(shown),)), path)
    found = pooled(load_encoder(path).encode(shown))
    np.testing.assert_allclose(found, shown.mean(axis=(0, 2, 3)), atol=1e-5)
