"""A stranger's Minari dataset makes environments and nothing else."""

import json
from pathlib import Path
from typing import Any

import gymnasium
import minari
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec, WrapperSpec
from minari.data_collector import EpisodeBuffer

from datasets.slide_environment import Slide
from prefero.datasets import MinariOptions, open_dataset
from prefero.datasets.formats.minari.dataset import MinariDataset
from prefero.datasets.formats.minari.environment import check_specification

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # Minari wants a description of each dataset
SLIDE = "datasets.slide_environment:Slide"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset of one episode; the folder with its metadata."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    steps = EpisodeBuffer(
        observations=np.zeros((4, 1), dtype=np.float32),
        actions=np.zeros((3, 1), dtype=np.float32),
        rewards=np.zeros(3).tolist(),
        terminations=[False] * 3,
        truncations=[False] * 3,
    )
    environment = Slide()
    environment.spec = EnvSpec("Slide-v0", SLIDE)
    minari.create_dataset_from_buffers("slides-v0", [steps], env=environment)
    return tmp_path / "minari" / "slides-v0" / "data"


def change_specification(folder: Path, **changes: Any) -> None:
    path = folder / "metadata.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    about["env_spec"] = json.dumps(json.loads(about["env_spec"]) | changes)
    path.write_text(json.dumps(about), encoding="utf-8")


def test_the_recorded_environment_is_asked_for_its_rate_by_those_who_trust_it(recorded: Path) -> None:
    assert MinariDataset(recorded, MinariOptions(trust=True)).step_seconds == 1 / 20


def test_others_are_told_how_to_give_the_rate(recorded: Path) -> None:
    with pytest.warns(UserWarning, match=r"1 s .*--step-seconds, or --trust .*:Slide'"):
        assert open_dataset(recorded).step_seconds == 1.0  # type: ignore[attr-defined]


def test_opening_a_dataset_calls_no_function_that_it_names(recorded: Path, tmp_path: Path) -> None:
    harm = tmp_path / "harm"
    change_specification(recorded, entry_point="os:mkdir", kwargs={"path": str(harm)})
    with pytest.raises(TypeError):  # Gymnasium itself does call it
        minari.MinariDataset(str(recorded)).recover_environment()
    assert harm.is_dir()
    harm.rmdir()
    assert MinariDataset(recorded, MinariOptions(trust=True)).step_seconds == 1.0
    with pytest.raises(ValueError, match=r"'os:mkdir'.* no subclass of gymnasium\.Env"):
        MinariDataset(recorded, MinariOptions(render=True))
    assert not harm.exists()


@pytest.mark.parametrize("wrapper", ["os:mkdir", SLIDE, "gymnasium:make"])
def test_wrappers_must_be_wrappers(wrapper: str) -> None:
    check_specification(EnvSpec("Slide-v0", SLIDE))
    limit = WrapperSpec("TimeLimit", "gymnasium.wrappers:TimeLimit", {"max_episode_steps": 9})
    check_specification(EnvSpec("Slide-v0", SLIDE, additional_wrappers=(limit,)))
    wrapped = EnvSpec("Slide-v0", SLIDE, additional_wrappers=(limit, WrapperSpec("W", wrapper, {})))
    with pytest.raises(ValueError, match=r"no subclass of gymnasium\.Wrapper"):
        check_specification(wrapped)


def test_a_function_that_was_registered_here_may_make_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = EnvSpec("Slide-v7", "gymnasium:make")
    with pytest.raises(ValueError, match="register the environment"):
        check_specification(spec)
    monkeypatch.setitem(gymnasium.registry, "Slide-v7", spec)
    check_specification(EnvSpec("Slide-v7", "gymnasium:make"))
