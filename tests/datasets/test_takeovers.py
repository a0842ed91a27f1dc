"""Takeovers are found where a person's steps follow a policy's, and compared over as many steps."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets.test_labels import add_frame_column
from datasets.write_datasets import LEROBOT, states_of
from prefero import FeatureOptions, Pool
from prefero.datasets import EpisodeDataset, EpisodeFeatures, open_dataset
from prefero.datasets.takeovers import Takeover, person_column, takeover_features, takeovers

pytestmark = pytest.mark.filterwarnings("ignore:episodes have", "ignore:.* are strongly correlated")
LENGTHS = (12, 15, 9, 20)
MEAN = FeatureOptions(["mean"])


def flags(text: str) -> np.ndarray:
    """Steps of a policy, -, and of a person, H."""
    return np.array([letter == "H" for letter in text])


@pytest.mark.parametrize(
    ("steps", "window", "found"),
    [
        ("-----HHHHH", None, [((5, 10), (0, 5))]),
        ("--------HHHH--", None, [((8, 12), (4, 8))]),
        ("----HHHHHHHH", None, [((4, 8), (0, 4))]),
        ("-----HHHHH-----HHHHH", None, [((5, 10), (0, 5)), ((15, 20), (10, 15))]),
        ("HHHHH-----", None, []),  # a person who hands over objects to nothing
        ("HHHHHHHHHH", None, []),
        ("---HHHHHHH", None, []),  # of fewer than four steps there is no jerk
        ("-----HHHHH", 3, [((5, 8), (2, 5))]),
        ("-----HHHHH", 6, []),
        ("--HHHH", 2, [((2, 4), (0, 2))]),
    ],
)
def test_a_person_follows_the_policy_for_as_many_steps(
    steps: str, window: int | None, found: list[Any]
) -> None:
    assert takeovers(flags(steps), window) == [Takeover(*one) for one in found]


def rollouts(folder: Path, name: str = "intervention", value: Callable[[bool], Any] = bool) -> Path:
    """In each episode a person acts from the fifth step on; in the last one nobody does."""
    LEROBOT["v3.0"](folder, lengths=LENGTHS, cameras=())
    add_frame_column(folder, name, lambda episode, frame: value(episode < 3 and frame >= 4))
    return folder


def features_of(folder: Path, options: FeatureOptions = MEAN) -> tuple[EpisodeDataset, EpisodeFeatures]:
    pool = Pool.from_dataset(folder, options, clips="never")
    assert pool.feature_spec is not None
    dataset = open_dataset(folder)
    assert isinstance(dataset, EpisodeDataset)
    return dataset, EpisodeFeatures.of(pool.feature_spec, pool.scaling)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("intervention", bool),  # LeRobot's rollouts
        ("complementary_info.is_intervention", lambda flag: [float(flag)]),  # buffers of HIL-SERL
        ("is_intervention", int),
    ],
)
def test_lerobot_datasets_say_who_acted(tmp_path: Path, name: str, value: Callable[[bool], Any]) -> None:
    dataset, features = features_of(rollouts(tmp_path / "arm", name, value))
    assert person_column(dataset) == name
    did, undone = takeover_features(dataset, features)
    for row, (episode, steps) in enumerate(((0, 4), (1, 4), (2, 4))):
        path = states_of(episode, LENGTHS[episode])
        np.testing.assert_allclose(did[row], path[4 : 4 + steps].mean(axis=0), atol=1e-6)
        np.testing.assert_allclose(undone[row], path[4 - steps : 4].mean(axis=0), atol=1e-6)


def test_windows_are_as_long_as_those_of_the_pool(tmp_path: Path) -> None:
    options = FeatureOptions(["mean", "path-length"], window=3)
    dataset, features = features_of(rollouts(tmp_path / "arm"), options)
    did, undone = takeover_features(dataset, features)
    assert did.shape == (3, 3)
    np.testing.assert_allclose(did[0, :2], states_of(0, 12)[4:7].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(undone[0, :2], states_of(0, 12)[1:4].mean(axis=0), atol=1e-6)


def test_features_of_whole_episodes_are_refused(tmp_path: Path) -> None:
    dataset, features = features_of(rollouts(tmp_path / "arm"), FeatureOptions(["mean", "final", "duration"]))
    with pytest.raises(ValueError, match=r"whole ones: final shoulder, final elbow, duration.*--window 2s"):
        takeover_features(dataset, features)


def test_what_has_no_takeover_says_so(tmp_path: Path) -> None:
    folder = LEROBOT["v3.0"](tmp_path / "arm", lengths=LENGTHS, cameras=())
    dataset, features = features_of(folder)
    with pytest.raises(ValueError, match=r"does not say where a person took over: .* intervention"):
        takeover_features(dataset, features)
    add_frame_column(folder, "intervention", lambda *_: True)
    with pytest.raises(ValueError, match=r"all 4 episodes of arm are a person's .*--demonstrations"):
        takeover_features(*features_of(folder))


def test_nobody_who_took_over_and_segments_that_are_too_short_are_told_apart(tmp_path: Path) -> None:
    never = rollouts(tmp_path / "never", value=lambda _: False)
    with pytest.raises(ValueError, match="nobody took over in never: 'intervention' is false at every step"):
        takeover_features(*features_of(never))
    options = FeatureOptions(["mean"], window=5)
    with pytest.raises(ValueError, match=r"no takeover has a window \(5 steps\) of the policy before it"):
        takeover_features(*features_of(rollouts(tmp_path / "short"), options))
