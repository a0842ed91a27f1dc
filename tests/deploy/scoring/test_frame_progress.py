"""The progress of frames: the weights of good and bad episodes in RA-BC, slopes, and which kind is taken."""

import warnings

import numpy as np
import pytest

from deploy.rabc_weights import rabc_weights
from prefero import Learner, Pool, PreferenceGP, Question, Reward
from prefero._support.arrays import Array
from prefero.datasets import Dataset, FeatureOptions, FeatureTable
from prefero.datasets.features.extraction.extract import extract_features
from prefero.datasets.formats.archives import in_memory
from prefero.deploy.scoring.frame_progress import frame_progress, quality_ramps
from prefero.kernels import Anchored, Linear

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
GOAL = 1.0


def dataset_of(walks: list[Array]) -> Dataset:
    """Walks along x, as a dataset of episodes."""
    longest = max(map(len, walks))
    states = np.stack([np.pad(walk, (0, longest - len(walk)), mode="edge") for walk in walks])[..., None]
    lengths = np.array([len(walk) for walk in walks])
    archive = {"states": states, "actions": 0 * states, "lengths": lengths, "state_names": np.array(["x"])}
    return in_memory(archive | {"step_seconds": np.array(0.1)})


def taught(table: FeatureTable, answers: int = 40) -> Reward:
    """A linear reward; the better of two has the larger first feature."""
    kernel = Anchored(Linear(), (0.0,) * len(table.names))
    pool = Pool(table.features, table.names, feature_spec=table.spec)
    learner = Learner(pool, model=PreferenceGP(kernel, noise=0.1, learn=False))
    rng = np.random.default_rng(0)
    for _ in range(answers):
        left, right = (int(i) for i in rng.choice(len(pool), 2, replace=False))
        better = table.features[left, 0] > table.features[right, 0]
        learner.tell(Question(left, right), "left" if better else "right")
    return learner.reward()


def of_good_and_bad(lengths: list[int]) -> tuple[FeatureTable, list[bool]]:
    """Every sixth walk ends early; all go straight on, so that beginnings look alike."""
    rng = np.random.default_rng(1)
    bad = [number % 6 == 0 for number in range(72)]
    ends = np.where(bad, 0.4, GOAL) + 0.05 * rng.standard_normal(72)
    walks = [np.linspace(0.0, end, lengths[n % len(lengths)]) for n, end in enumerate(ends)]
    return extract_features(dataset_of(walks), ["final"]), bad


def mean_weights(progress: dict[int, Array], bad: list[bool], chunk: int) -> tuple[float, float]:
    """Of the frames of good episodes, and of those of bad ones."""
    weights = rabc_weights({n: values.astype(np.float32) for n, values in progress.items()}, chunk)
    good, others = (
        float(np.mean([w for n, some in weights.items() if bad[n] == which for w in some]))
        for which in (False, True)
    )
    return good, others


@pytest.mark.parametrize(
    ("lengths", "chunk"), [([60], 50), ([60, 90, 400], 50), ([500, 2000], 50), ([60], 8)]
)
def test_frames_of_good_episodes_weigh_and_those_of_bad_ones_do_not(lengths: list[int], chunk: int) -> None:
    table, bad = of_good_and_bad(lengths)
    reward = taught(table)
    found = frame_progress(reward, table)
    assert found.kind == "quality"
    good, others = mean_weights(found.values, bad, chunk)
    assert good > 0.85
    assert others < 0.1
    good, others = mean_weights(frame_progress(reward, table, "prefix").values, bad, chunk)
    assert others > 0.5  # the beginnings of bad episodes earn a reward too


def test_episodes_of_the_same_quality_weigh_the_same_however_long_they_are() -> None:
    heights = {0: np.full(50, 0.3), 1: np.full(400, 0.3), 2: np.full(4000, 0.3), 3: np.full(80, -0.5)}
    slopes = {number: np.unique(np.diff(ramp).round(9)) for number, ramp in quality_ramps(heights).items()}
    assert all(len(some) == 1 for some in slopes.values())
    assert slopes[0] == slopes[1] == slopes[2] > 0 > slopes[3]
    weights = rabc_weights(quality_ramps(heights))
    assert set(weights[3][:-1]) == {0.0}
    only_long = rabc_weights(quality_ramps({0: np.full(20_000, 0.6), 1: np.full(100, -0.6)}))
    assert only_long[0][0] == 1.0  # where 1 / 20000 of the ramp would not count


def test_ramps_of_usual_lengths_stay_between_0_and_1() -> None:
    rng = np.random.default_rng(0)
    ramps = quality_ramps({n: rng.uniform(-1, 1, n + 5) for n in range(200)})
    every = np.concatenate(list(ramps.values()))
    assert every.min() >= 0.0
    assert every.max() <= 1.0


def test_the_probability_of_being_acceptable_is_the_quality_where_it_is_known() -> None:
    table, bad = of_good_and_bad([60])
    learner = Learner(Pool(table.features, table.names, feature_spec=table.spec))
    for item in range(0, 72, 3):
        learner.tell(Question(item, kind="success"), "fail" if bad[item] else "pass")
    reward = learner.reward()
    acceptable = reward.probability_acceptable(table.features)
    for cut, given in ((0.5, None), (0.9, 0.9)):
        values = frame_progress(reward, table, "quality", given).values
        rises = np.array([values[n][-1] > values[n][0] for n in range(len(table))])
        np.testing.assert_array_equal(rises, acceptable > cut)


def test_a_smaller_cut_lets_more_episodes_rise() -> None:
    table, _ = of_good_and_bad([60])
    reward = taught(table, 10)
    rising = [
        sum(
            values[-1] > values[0] for values in frame_progress(reward, table, "quality", cut).values.values()
        )
        for cut in (0.1, 0.25, 0.6)
    ]
    assert rising == sorted(rising, reverse=True)
    assert rising[0] > rising[-1]


def test_windows_have_slopes_of_their_own() -> None:
    """Walks of which one half is good and the other bad, and which are taught by their halves."""
    halves = [(s, -s) for s in (1.0, -1.0, 0.9, -0.9, 1.1, -1.1)]
    walks = [np.repeat(pair, 20) for pair in halves]
    table = extract_features(dataset_of(walks), FeatureOptions(["mean"], window=20))
    assert len(table) == 12
    ramps = frame_progress(taught(table), table, "quality", 0.5).values
    for number, (first, second) in enumerate(halves):
        grown = np.sign(np.diff(ramps[number]))
        assert set(grown[:20]) == {np.sign(first)}
        assert set(grown[20:]) == {np.sign(second)}


# --- which kind is taken ----------------------------------------------------------------------------------


def test_the_reward_of_beginnings_is_taken_where_it_grows_along_good_episodes_alone() -> None:
    """Good walks arrive; the others turn around after a third of the way."""
    time = np.linspace(0.0, 1.0, 60)
    walks = [time * end for end in np.linspace(0.9, 1.1, 24)]
    walks += [np.where(time < 0.3, time, 0.6 - time) * end for end in np.linspace(0.9, 1.1, 8)]
    table = extract_features(dataset_of(walks), ["final"])
    reward = taught(table)
    found = frame_progress(reward, table)
    assert found.kind == "prefix"
    assert "grows in over 99%" in found.reason
    every = np.concatenate(list(found.values.values()))
    assert (every.min(), every.max()) == (0.0, 1.0)
    prefixes = reward(walks[0][:, None])
    np.testing.assert_allclose(
        np.diff(found.values[0]) / np.diff(prefixes), 1 / np.ptp(reward(np.concatenate(walks)[:, None]))
    )


def test_without_the_way_to_compute_features_quality_is_taken_and_that_is_said() -> None:
    table, _ = of_good_and_bad([60])
    reward = taught(table)
    silent = Reward(reward.belief, reward.diagnostics, None)
    assert frame_progress(silent, FeatureTable(**vars(table) | {"spec": None})).kind == "quality"


def test_a_single_episode_has_the_reward_of_its_beginnings() -> None:
    table, _ = of_good_and_bad([60])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = frame_progress(taught(table), table.rows([3]))
    assert found.kind == "prefix"
    assert "single episode" in found.reason


@pytest.mark.parametrize(
    ("kind", "cut", "message"),
    [
        ("quality", 0.0, "between 0 and 1, but is 0"),
        ("auto", 1.5, "is 1.5"),
        ("prefix", 0.3, "leave the cut out"),
    ],
)
def test_cuts_that_make_no_sense(kind: str, cut: float, message: str) -> None:
    table, _ = of_good_and_bad([60])
    with pytest.raises(ValueError, match=message):
        frame_progress(taught(table, 2), table, kind, cut)  # type: ignore[arg-type]
