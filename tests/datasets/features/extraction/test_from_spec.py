"""A reward's file alone computes its features: words, windows, logarithms and fitted embeddings."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefero import FeatureOptions, Learner, Pool, Question, Reward, load_reward
from prefero._support.arrays import Array
from prefero.datasets import Episode, open_dataset
from prefero.datasets.features.embeddings.embedding import FITTED
from prefero.datasets.features.extraction.extract import extract_features
from prefero.datasets.registry import Untrusted
from prefero.deploy.online.prefix_rewards import PrefixRewards
from prefero.questions.comparisons import bar_features
from prefero.trajectories.feature_spec import FeatureSpec, array_from_json, array_to_json

STEPS, SECONDS = 20, 0.1
ALL = ["pca(2)", "random-network(3)", "path-length", "final(x)", "goal(x=0.3, y=1)"]


def walks(path: Path, seed: int, episodes: int = 12) -> Path:
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.normal(size=(episodes, STEPS, 2)), axis=1)
    actions = rng.normal(size=(episodes, STEPS, 1))
    np.savez(path, states=states, actions=actions, step_seconds=SECONDS, state_names=["x", "y"])
    return path


def learned(pool: Pool) -> Reward:
    learner = Learner(pool)
    learner.tell(Question(0, 1), "left")
    return learner.reward()


def reloaded(reward: Reward, tmp_path: Path) -> Reward:
    reward.save(tmp_path / "reward.json")
    return load_reward(tmp_path / "reward.json")


def half(episode: Episode) -> float:
    return float(episode.states[len(episode) // 2, 0])


# --- from the file alone ----------------------------------------------------------------------------------


def test_the_file_computes_the_same_features_of_new_episodes(tmp_path: Path) -> None:
    taught, new = walks(tmp_path / "taught.npz", 0), walks(tmp_path / "new.npz", 1)
    options = FeatureOptions(ALL, window=10, stride=5, log_transform=["path length"])
    reward = reloaded(learned(Pool.from_table(taught, options)), tmp_path)
    taught.unlink()  # the dataset that the embeddings were fitted on is not needed
    table = reward.extract_features(new)
    assert table.ids[:3] == ("0[0:10]", "0[5:15]", "0[10:20]")
    assert "log(path length)" in table.names
    walks(tmp_path / "taught.npz", 0)
    wanted = extract_features(
        open_dataset(new), FeatureOptions(**{**vars_of(options), "fit_embeddings_on": taught})
    )
    columns = [wanted.names.index(name) for name in reward.scaling.names]
    np.testing.assert_array_equal(table.features, wanted.features[:, columns])


def vars_of(options: FeatureOptions) -> dict[str, Any]:
    return {
        "features": options.features,
        "window": options.window,
        "stride": options.stride,
        "log_transform": options.log_transform,
    }


def test_what_the_user_gives_comes_before_what_the_file_says(tmp_path: Path) -> None:
    taught = walks(tmp_path / "taught.npz", 0)
    reward = learned(Pool.from_table(taught, FeatureOptions(["path-length"], window=10)))
    assert len(reward.extract_features(taught, FeatureOptions(window=5))) == 2 * len(
        reward.extract_features(taught)
    )


def test_a_pool_and_a_table_of_features_keep_the_spec(tmp_path: Path) -> None:
    taught = walks(tmp_path / "taught.npz", 0)
    options = FeatureOptions(["pca(2)", "path-length"], cache=tmp_path / "features.parquet")
    table = extract_features(open_dataset(taught), options).log_transformed(["path length"])
    table.save(tmp_path / "features.parquet")
    again = extract_features(open_dataset(taught), options)  # read from the cache, without fitting
    assert again.spec is not None
    assert again.spec.words == ("pca(2)", "path-length")
    pool = Pool.from_table(tmp_path / "features.parquet")
    pool.save(tmp_path / "pool.npz")
    for kept in (pool, Pool.load(tmp_path / "pool.npz"), pool.diverse(5)):
        assert kept.feature_spec is not None
        assert kept.feature_spec.log_transform == ("path length",)
        rows = learned(kept).extract_features(taught).features
        np.testing.assert_array_equal(rows, table.features[:, [table.names.index(n) for n in kept.names]])


def test_a_reward_of_a_table_says_that_it_cannot_compute_features() -> None:
    reward = learned(Pool(np.random.default_rng(0).normal(size=(5, 2)), ["a", "b"]))
    with pytest.raises(ValueError, match=r"features \(a, b\).* not how"):
        reward.episode_features()


def quarter(episode: Episode) -> float:
    """A number that stands for a category: in which quarter of the plane the episode ends."""
    x, y = episode.states[-1]
    return float(2 * (x > 0) + (y > 0))


def test_numbers_that_stand_for_categories_are_encoded_as_they_were_taught(tmp_path: Path) -> None:
    data = walks(tmp_path / "walks.npz", 3)
    reward = learned(Pool.from_table(data, FeatureOptions([quarter, "path-length"], categories=["quarter"])))
    assert any(name.startswith("quarter=") for name in reward.scaling.names)
    table, compute = reward.extract_features(data), reward.episode_features()
    for number in range(3):
        episode = open_dataset(data).episode(number)  # type: ignore[attr-defined]
        np.testing.assert_array_equal(compute(episode), table.features[number])


# --- code -------------------------------------------------------------------------------------------------


def test_functions_are_named_and_not_run_before_the_file_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mine_of_the_spec.py").write_text(
        "def width(e):\n    return float(e.states.max())\n", encoding="utf-8"
    )
    data = walks(tmp_path / "walks.npz", 0)
    reward = learned(Pool.from_table(data, ["mine_of_the_spec:width", "final(x)"]))
    there = reward.extract_features(data)  # this process named the function itself
    found = reloaded(reward, tmp_path)
    with pytest.raises(Untrusted, match=r"'mine_of_the_spec:width'.* --trust"):
        found.extract_features(data)
    with pytest.raises(Untrusted):
        found.episode_features()
    np.testing.assert_array_equal(found.extract_features(data, trust=True).features, there.features)
    episode = open_dataset(data).episode(3)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(found.episode_features(trust=True)(episode), there.features[3])


def test_a_function_that_no_module_has_works_here_and_has_to_be_given_elsewhere(tmp_path: Path) -> None:
    data = walks(tmp_path / "walks.npz", 0)
    reward = learned(Pool.from_table(data, [lambda e: {"start": e.states[0, 0]}, half]))
    assert reward.feature_spec is not None
    assert reward.feature_spec.words == (":<lambda>", f"{__name__}:half")
    assert len(reward.extract_features(data)) == 12
    with pytest.raises(ValueError, match=r"'<lambda>'.*give the features"):
        reloaded(reward, tmp_path).extract_features(data, trust=True)


# --- files ------------------------------------------------------------------------------------------------


def test_arrays_are_kept_to_the_last_bit() -> None:
    array = np.array([[0.1, -1e-300, 1 / 3], [np.pi, 1e300, -0.0]])
    kept = array_from_json(json.loads(json.dumps(array_to_json(array))))
    assert kept.tobytes() == array.tobytes()
    with pytest.raises(ValueError, match="must be finite"):
        array_from_json(array_to_json(np.array([np.nan])))


# others need torch or videos
@pytest.mark.parametrize("kind", ["statistics", "pca", "random-network", "steps"])
def test_arrays_that_do_not_fit_each_other_are_refused(kind: str) -> None:
    rng = np.random.default_rng(0)
    examples = [Episode(str(i), rng.normal(size=(9, 2)), rng.normal(size=(9, 1))) for i in range(4)]
    fitted = FITTED[kind].fit(examples, 2)
    arrays = fitted.arrays()
    assert FITTED[kind].from_arrays(arrays, 2)(examples[1]) == fitted(examples[1])
    for name, array in arrays.items():
        if name in ("curve_frequencies", "lengthscales"):  # of steps, which may have any number of them
            continue
        with pytest.raises(ValueError, match="do not fit"):
            FITTED[kind].from_arrays(arrays | {name: array[..., :-1]}, 2)
    if "scale" in arrays:
        with pytest.raises(ValueError, match="must be positive"):
            FITTED[kind].from_arrays(arrays | {"scale": 0 * arrays["scale"]}, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step_seconds": 0}, "lasts a positive time"),
        ({"words": "mean"}, "words is a list of texts"),
        ({"window": 5}, "window is a text"),
    ],
)
def test_a_damaged_spec_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FeatureSpec.from_json(FeatureSpec().to_json() | changes)


# --- prefixes ---------------------------------------------------------------------------------------------


def episode_of(states: Array) -> Episode:
    return Episode("e", states, np.ones((len(states), 1)), None, SECONDS, ("x", "y"))


@pytest.mark.filterwarnings("ignore:'duration':UserWarning", "ignore:.*duration")
def test_default_features_are_defined_from_the_first_step_on(tmp_path: Path) -> None:
    pool = Pool.from_table(
        walks(tmp_path / "walks.npz", 0), FeatureOptions((), log_transform=["path length"])
    )
    reward = reloaded(learned(pool), tmp_path)
    episode = episode_of(np.random.default_rng(5).normal(size=(STEPS, 2)))
    rewards = PrefixRewards.of(reward)(episode)
    assert rewards.shape == (STEPS,)
    assert np.isfinite(rewards).all()
    assert rewards[-1] == pytest.approx(reward(reward.episode_features()(episode)[None])[0])
    assert rewards[6] == pytest.approx(PrefixRewards.of(reward).whole(episode.segment((0, 7))))


def test_a_prefix_of_a_reward_of_windows_is_worth_the_mean_of_its_windows(tmp_path: Path) -> None:
    options = FeatureOptions(["path-length", "final(x)"], window=5, stride=3)
    reward = learned(Pool.from_table(walks(tmp_path / "walks.npz", 0), options))
    episode = episode_of(np.random.default_rng(5).normal(size=(STEPS, 2)))

    def of(first: int, last: int) -> float:
        path = episode.states[first:last]
        row = {
            "path length": np.linalg.norm(np.diff(path, axis=0), axis=1).sum(),
            "final x": path[-1, 0],
        }
        return float(reward(np.array([[row[name] for name in reward.scaling.names]]))[0])

    rewards = PrefixRewards.of(reward)(episode)
    assert rewards[2] == pytest.approx(of(0, 3))  # shorter than a window
    assert rewards[6] == pytest.approx(of(0, 5))
    assert rewards[11] == pytest.approx(np.mean([of(0, 5), of(3, 8), of(6, 11)]))


def test_an_episode_of_windows_is_acceptable_if_the_mean_of_its_windows_is(tmp_path: Path) -> None:
    options = FeatureOptions(["path-length", "final(x)"], window=5, stride=3)
    learner = Learner(Pool.from_table(walks(tmp_path / "walks.npz", 0), options))
    for item in range(12):
        passed = learner.pool.features[item, 0] > np.median(learner.pool.features[:, 0])
        learner.tell(Question(item, kind="success"), "pass" if passed else "fail")
    reward = learner.reward()
    episode = episode_of(np.random.default_rng(5).normal(size=(12, 2)))
    found = PrefixRewards.of(reward).acceptable(episode)
    windows = [reward.episode_features()(episode.segment(steps)) for steps in [(0, 5), (3, 8), (6, 11)]]
    rows = np.concatenate([reward.scaling(np.array(windows)), bar_features(2)])
    drawn = reward.belief.sample(rows, 40_000, np.random.default_rng(0))
    assert found == pytest.approx(np.mean(drawn[:, :3].mean(axis=1) > drawn[:, 3]), abs=0.02)
    short = PrefixRewards.of(reward).acceptable(episode.segment((0, 5)))  # one window
    assert short == pytest.approx(reward.probability_acceptable(windows[:1])[0])
