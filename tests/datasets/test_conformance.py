"""Every format of Prefero's keeps every promise of a dataset format."""

from collections.abc import Callable, Iterator
from pathlib import Path

import minari
import numpy as np
import pytest
from gymnasium import spaces
from joblib.externals.loky import get_reusable_executor
from minari.data_collector import EpisodeBuffer

import prefero.worlds  # registers prefero/Driver-v0, which renders without anything else
from datasets.conformance import PROMISES, Case, Promise
from datasets.write_datasets import (
    actions_of,
    states_of,
    write_lerobot_2,
    write_lerobot_3,
    write_video_folder,
)
from fake_hub import FakeHub, running_hub
from prefero.datasets import FeatureOptions, GymnasiumOptions, extract_features, open_dataset
from prefero.datasets.registry import BUILT_IN

LENGTHS = (6, 9, 7)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def minari_dataset(folder: Path) -> Path:
    """Recorded states and actions, with a camera's images."""
    camera = spaces.Box(0, 255, (48, 64, 3), np.uint8)
    seen = spaces.Dict({"joints": spaces.Box(-99, 99, (2,), np.float64), "eye": camera})
    buffers = [
        EpisodeBuffer(
            id=number,
            observations={
                "joints": states_of(number, steps + 1),
                "eye": np.full((steps + 1, 48, 64, 3), 20 * number, dtype=np.uint8),
            },
            actions=actions_of(number, steps),
            rewards=np.zeros(steps),
            terminations=np.zeros(steps, dtype=bool),
            truncations=np.zeros(steps, dtype=bool),
            infos={},
        )
        for number, steps in enumerate(LENGTHS)
    ]
    actions = spaces.Box(-99, 99, (2,), np.float64)
    made = minari.create_dataset_from_buffers(
        "conformance-v0", buffers, observation_space=seen, action_space=actions
    )
    assert made.total_episodes == len(LENGTHS)
    return folder / "minari" / "conformance-v0"


def videos_alone(folder: Path) -> Path:
    (write_video_folder(folder, 3) / "features.csv").unlink()
    return folder


def table(folder: Path) -> Path:
    path = folder / "throws.csv"
    path.write_text("id,speed,height\na,1,4\nb,2,6\nc,3,5\n", encoding="utf-8")
    return path


def feature_table(folder: Path) -> Path:
    """A table that was extracted from another dataset, and shows its videos."""
    path = folder / "features.parquet"
    options = FeatureOptions(["mean", "duration"], cache=path, jobs=1)
    extract_features(open_dataset(write_lerobot_3(folder / "arm", LENGTHS)), options)
    return path


def archive_of_features(folder: Path) -> Path:
    np.savez(folder / "features.npz", features=np.arange(8.0).reshape(4, 2) ** 2)
    return folder / "features.npz"


def archive_of_states(folder: Path) -> Path:
    states = np.random.default_rng(0).normal(size=(4, 9, 2))
    np.savez(folder / "states.npz", states=states, actions=states[:, :-1], lengths=[8, 6, 5, 8])
    return folder / "states.npz"


DATASETS: dict[str, tuple[str, Callable[[Path], Path | str]]] = {
    "lerobot 2.1": ("lerobot", lambda folder: write_lerobot_2(folder / "arm", LENGTHS)),
    "lerobot 3.0": ("lerobot", lambda folder: write_lerobot_3(folder / "arm", LENGTHS)),
    "lerobot images": (
        "lerobot",
        lambda folder: write_lerobot_3(folder / "arm", LENGTHS, (), images=("observation.eye",)),
    ),
    "hub": ("hub", lambda folder: write_lerobot_3(folder / "arm", LENGTHS)),
    "lerobot without videos": ("lerobot", lambda folder: write_lerobot_2(folder / "arm", LENGTHS, ())),
    "minari": ("minari", minari_dataset),
    "video-folder": ("video-folder", lambda folder: write_video_folder(folder / "throws", 3)),
    "video-folder, mpeg4": ("video-folder", lambda folder: write_video_folder(folder / "throws", 3, "mpeg4")),
    "videos without a table": ("video-folder", lambda folder: videos_alone(folder / "throws")),
    "table": ("table", table),
    "table of features": ("table", feature_table),
    "archive of features": ("archive", archive_of_features),
    "archive of states": ("archive", archive_of_states),
    "gymnasium": ("gymnasium", lambda _: "prefero/Driver-v0"),
}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeHub]:
    """A stand-in for the Hugging Face Hub."""
    with pytest.MonkeyPatch.context() as patch, running_hub() as running:
        patch.setenv("HF_ENDPOINT", running.url)
        patch.setenv("HF_HUB_CACHE", str(tmp_path_factory.mktemp("huggingface")))
        get_reusable_executor().shutdown()  # workers of earlier tests do not have these variables
        yield running


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory, hub: FakeHub) -> dict[str, Case]:
    """Every dataset, written once."""
    made = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, (kind, write) in DATASETS.items():
            folder = tmp_path_factory.mktemp(name.replace(" ", "-"))
            patch.setenv("MINARI_DATASETS_PATH", str(folder / "minari"))
            options = GymnasiumOptions(episodes=3, max_steps=5) if kind == "gymnasium" else None
            path = str(write(folder))
            if kind == "hub":
                hub.add_folder("someone/arm", Path(path))
                path = "hf://someone/arm"
            made[name] = Case(kind, path, folder, options)
    return made


@pytest.mark.parametrize("check", PROMISES, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", DATASETS)
def test_every_promise_is_kept(name: str, check: Promise, cases: dict[str, Case], tmp_path: Path) -> None:
    check(cases[name]._replace(folder=tmp_path))


def test_every_format_of_preferos_is_checked() -> None:
    assert {kind for kind, _ in DATASETS.values()} == set(BUILT_IN)
    assert prefero.worlds.names()
