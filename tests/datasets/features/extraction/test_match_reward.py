"""The features of a reward are found in a dataset by their names, or the error says what to do."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets.write_datasets import (
    FPS,
    LENGTHS,
    actions_of,
    states_of,
    truncate,
    write_lerobot_3,
    write_video_folder,
)
from prefero.datasets import (
    Dataset,
    Episode,
    FeatureOptions,
    extract_features,
    extract_for_reward,
    open_dataset,
)
from prefero.datasets.features.extraction.match_reward import library_words_for
from prefero.datasets.features.library.library import LIBRARY
from prefero.datasets.formats.archives import in_memory
from prefero.datasets.formats.lerobot.statistics import Additions


def arm(tmp_path: Path) -> Dataset:
    return open_dataset(write_lerobot_3(tmp_path / "arm", cameras=()))


def turns(episode: Episode) -> float:
    """A feature of the user's own."""
    return float(np.sum(np.diff(np.sign(np.diff(episode.states[:, 0]))) != 0))


def test_words_are_found_by_the_names_of_their_features() -> None:
    names = ["max elbow", "path length", "max shoulder", "return", "mean a, (b)", "log dimensionless jerk"]
    assert library_words_for(names) == ["max", "path-length", "return", "mean", "log-dimensionless-jerk"]
    with pytest.raises(ValueError, match=r"jerk, turns, .*'turns'"):
        library_words_for(["jerk", "turns"])
    with pytest.raises(ValueError, match="extracts 'maxelbow'"):
        library_words_for(["maxelbow"])


@pytest.mark.parametrize("word", [word for word in LIBRARY if word != "goal"])  # whose place has no name
def test_every_word_is_found_again_by_its_features(word: str, tmp_path: Path) -> None:
    dataset = arm(tmp_path)
    extract = LIBRARY[word].extract
    episode = dataset.episode(1)  # type: ignore[attr-defined]
    names = list(extract(episode, ()) if LIBRARY[word].takes else extract(episode))
    found = extract_for_reward(dataset, names[::-1], FeatureOptions(jobs=1))
    assert found.names == tuple(names[::-1])


def test_names_decide_which_features_there_are_and_their_order(tmp_path: Path) -> None:
    found = extract_for_reward(
        arm(tmp_path), ["control effort", "final elbow", "max shoulder"], FeatureOptions(jobs=1)
    )
    for episode, row in enumerate(found.features):
        states, actions = states_of(episode, LENGTHS[episode]), actions_of(episode, LENGTHS[episode])
        wanted = [np.sum(actions**2) / FPS, states[-1, 1], states[:, 0].max()]
        np.testing.assert_allclose(row, wanted, rtol=1e-5)


def test_user_functions_windows_and_logarithms(tmp_path: Path) -> None:
    dataset = arm(tmp_path)
    effort = np.array([np.sum(actions_of(e, n) ** 2) / FPS for e, n in enumerate(LENGTHS)])
    own = extract_for_reward(
        dataset,
        ["log(control effort)", "turns"],
        FeatureOptions(["control-effort", turns], log_transform=["control effort"], jobs=1),
    )
    guessed = extract_for_reward(dataset, ["log(control effort)", "duration"], FeatureOptions(jobs=1))
    for found in (own, guessed):
        np.testing.assert_allclose(found.features[:, 0], np.log(effort), rtol=1e-5)
    windows = extract_for_reward(dataset, ["final elbow"], FeatureOptions(window=4, jobs=1))
    assert windows.ids[:3] == ("0[0:4]", "0[4:8]", "0[8:12]")
    components = extract_for_reward(dataset, ["pca 2"], FeatureOptions(["pca(2)"], jobs=1))
    assert components.features.shape == (4, 1)


def test_a_function_that_a_module_has_under_another_name_is_found_again(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def _last(episode): return episode.states[-1, 0]\nturn = _last\n", encoding="utf-8"
    )
    dataset = arm(tmp_path)
    taught = extract_features(dataset, FeatureOptions([f"{tmp_path / 'mine.py'}:turn"], jobs=1))
    again = extract_for_reward(dataset, taught.names, FeatureOptions(jobs=1), spec=taught.spec)
    assert again.names == taught.names == ("turn",)


@pytest.mark.parametrize(
    ("names", "features", "log", "message"),
    [
        (["jerk", "turns"], ["jerk"], [], "arm has jerk: .*'turns' .*--features"),
        (
            ["log(control effort)"],
            ["control-effort"],
            [],
            "arm has control effort: .*--log-transform 'control effort'",
        ),
        (
            ["control effort"],
            ["control-effort"],
            ["control effort"],
            r"arm has log\(control effort\): omit --log-transform 'control effort'",
        ),
        (["final knee"], None, [], "arm has final shoulder, final elbow: .*'final knee'"),
        (["pca 3"], ["pca(2)"], [], "arm has pca 1, pca 2: .*extracts"),
    ],
)
def test_a_missing_feature_is_an_error_with_the_remedy(
    names: list[str], features: list[str] | None, log: list[str], message: str, tmp_path: Path
) -> None:
    dataset = arm(tmp_path)
    with pytest.raises(ValueError, match=message):
        extract_for_reward(dataset, names, FeatureOptions(features or (), log_transform=log, jobs=1))


def test_one_episode_is_enough_to_see_that_a_name_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, seen = arm(tmp_path), list[int]()
    whole = type(dataset).read  # type: ignore[attr-defined]

    def read(self: Any, numbers: Sequence[int]) -> Any:
        for number in numbers:
            seen.append(number)
            yield from whole(self, [number])

    monkeypatch.setattr(type(dataset), "read", read)
    with pytest.raises(ValueError, match="extracts 'final knee'"):
        extract_for_reward(dataset, ["final knee"], FeatureOptions(jobs=1))
    assert seen == [0]


# --- features that are known already ----------------------------------------------------------------------


def test_of_a_table_only_the_features_of_the_reward_count(tmp_path: Path) -> None:
    path = tmp_path / "throws.csv"
    path.write_text("task,height,speed,spin\nlift,1,2,\nlift,3,4,\n", encoding="utf-8")
    found = extract_for_reward(open_dataset(path), ["speed", "height"])
    assert found.features.tolist() == [[2.0, 1.0], [4.0, 3.0]]
    logs = ["log(speed)", "height"]
    for log in (["speed"], []):
        found = extract_for_reward(open_dataset(f"table:{path}"), logs, FeatureOptions(log_transform=log))
        np.testing.assert_allclose(found.features, [[np.log(2), 1], [np.log(4), 3]])
    path.write_text("log(speed),speed\n7,2\n8,4\n", encoding="utf-8")
    found = extract_for_reward(open_dataset(path), ["log(speed)"])
    assert found.features.tolist() == [[7.0], [8.0]]
    with pytest.raises(
        ValueError,
        match=r"speed, mass, .*throws has log\(speed\), speed: add a column 'mass'",
    ):
        extract_for_reward(open_dataset(path), ["speed", "mass"])


def test_damaged_videos_do_not_matter(tmp_path: Path) -> None:
    folder = write_video_folder(tmp_path / "throws", count=3)
    truncate(folder / "throw 1.mp4")  # which nobody looks at
    found = extract_for_reward(open_dataset(folder), ["height"])
    assert found.features.tolist() == [[0.0], [2.0], [4.0]]


def test_an_archive_without_names_has_its_features_in_the_rewards_order(tmp_path: Path) -> None:
    features, path = np.arange(6.0).reshape(3, 2), tmp_path / "mine.npz"
    np.savez(path, features=features)
    found = extract_for_reward(open_dataset(path), ["speed", "height"])
    np.testing.assert_array_equal(found.features, features)
    np.savez(path, features=features, names=["height", "speed"])
    found = extract_for_reward(open_dataset(path), ["speed", "height"])
    np.testing.assert_array_equal(found.features, features[:, ::-1])
    with pytest.raises(ValueError, match="archive has height, speed: add a column 'mass'"):
        extract_for_reward(in_memory({"features": features, "names": ["height", "speed"]}), ["mass", "speed"])


# --- statistics of scores ---------------------------------------------------------------------------------

scores = st.lists(st.tuples(st.floats(-1e3, 1e3, width=32), st.integers(1, 50)), min_size=1, max_size=6)


@given(scores, st.sets(st.integers(0, 9), max_size=3))
def test_statistics_of_episodes_make_up_those_of_all_frames(
    known: list[tuple[float, int]], unknown: set[int]
) -> None:
    """As LeRobot joins them, by the number of frames; episodes without a score weigh nothing."""
    numbers = [n for n in range(20) if n not in unknown][: len(known)]
    values = {n: np.full(length, mean) for n, (mean, length) in zip(numbers, known, strict=True)}
    added = Additions({"prefero.mean": values}, {})
    what = ["min", "max", "mean", "std", "count"]
    whole = added.with_all({})["prefero.mean"]
    rows = dict(added._columns([*numbers, *unknown], what))
    low, high, mean, std, count = (np.array(rows[f"stats/prefero.mean/{w}"])[:, 0] for w in what)
    total = count.sum()
    joined = (count @ mean) / total
    joined_std = np.sqrt(count @ (std**2 + (mean - joined) ** 2) / total)
    assert total == whole["count"][0] == sum(length for _, length in known)
    assert (low.min(), high.max()) == (whole["min"][0], whole["max"][0])
    np.testing.assert_allclose(
        [joined, joined_std], [whole["mean"][0], whole["std"][0]], atol=1e-6, rtol=1e-6
    )
