"""Pools keep what is known before the first question, and check that it is about them."""

from pathlib import Path

import numpy as np
import pytest

from datasets.test_labels import add_frame_column
from datasets.write_datasets import write_lerobot_3
from prefero import Labels, Pool
from prefero.datasets import EpisodeDataset, FeatureDataset, open_dataset
from prefero.pools import knowing
from prefero.pools.pool_file import PoolFileError, from_json, to_json
from prefero.questions.prior_knowledge import Judgements, PriorKnowledge

FEATURES = np.random.default_rng(0).normal(size=(30, 2))
POOL = Pool(FEATURES, ["speed", "jerk"])
KNOWN = POOL.knowing(
    POOL.knowledge.demonstrated(FEATURES[:2])
    .corrected(FEATURES[2:3], FEATURES[3:4])
    .judged(Judgements("qwen", FEATURES[:3], FEATURES[3:6], np.array([False, True, False])))
)
DRIVER = Pool.simulate("driver", 20, seed=1, progress=False)


def test_files_keep_it(tmp_path: Path) -> None:
    KNOWN.save(tmp_path / "pool.npz")
    for again in (
        Pool.load(tmp_path / "pool.npz"),
        Pool.from_bytes(KNOWN.to_bytes()),
        from_json(Pool, to_json(KNOWN, tmp_path), tmp_path),
    ):
        assert again.knowledge.to_json() == KNOWN.knowledge.to_json()
    assert not Pool.from_bytes(POOL.to_bytes()).knowledge


def test_a_damaged_file_says_so(tmp_path: Path) -> None:
    values = to_json(KNOWN, tmp_path)
    known = values["knowledge"] | {"better": {"shape": [3, 2], "values": [1.0]}}
    with pytest.raises(PoolFileError, match="damaged pool"):
        from_json(Pool, values | {"knowledge": known}, tmp_path)


def test_extended_and_diverse_pools_have_it() -> None:
    assert POOL.knowing(KNOWN.knowledge).extended([0.0, 0.0]).knowledge is KNOWN.knowledge
    assert KNOWN.diverse(10).knowledge.describe() == KNOWN.knowledge.describe()
    labelled = KNOWN.labelled(Labels.of(FEATURES[:, 0] > 0, "success"))
    assert labelled.knowledge is KNOWN.knowledge


def test_a_pool_of_other_features_refuses_it() -> None:
    with pytest.raises(ValueError, match="about 3 features, but the pool has 2"):
        POOL.knowing(PriorKnowledge.none(3))
    statement = knowing.directed(POOL, "jerk", "lower")
    with pytest.raises(ValueError, match="no feature 'jerk'"):
        Pool(FEATURES, ["speed", "reach"]).knowing(statement)


# --- demonstrations and corrections -------------------------------------------------------------------------


def test_a_demonstration_in_a_world_is_better_than_plans_nearby() -> None:
    world = DRIVER.world()
    shown = world.rollout(np.zeros(len(world.action_space)))
    known = knowing.demonstrated(DRIVER, shown)
    assert known.nearby.shape == (1, knowing.NEARBY, len(DRIVER.names))
    spread = np.abs(known.nearby[0] - known.demonstrations[0]) / DRIVER.features.std(axis=0)
    assert 0.0 < np.median(spread) < 2.0  # near, and not the same
    again = knowing.demonstrated(DRIVER, shown)
    np.testing.assert_array_equal(known.nearby, again.nearby)


def test_demonstrations_are_rows_of_features_or_tables_or_trajectories() -> None:
    assert knowing.demonstrated(POOL, [0.5, 0.1]).demonstrations.tolist() == [[0.5, 0.1]]
    table = {"jerk": [0.1, 0.2], "speed": [0.5, 0.6]}
    assert knowing.demonstrated(POOL, table).demonstrations.tolist() == [[0.5, 0.1], [0.6, 0.2]]
    with pytest.raises(ValueError, match="jerk"):
        knowing.demonstrated(POOL, {"speed": [0.5]})
    with pytest.raises(ValueError, match="finite"):
        knowing.demonstrated(POOL, [[np.nan, 0.1]])


def test_trajectories_of_a_world_have_no_score() -> None:
    world = DRIVER.world()
    scored = DRIVER.scored(np.arange(len(DRIVER.features)), "success")
    with pytest.raises(ValueError, match=r"have no score 'success', .*: give rows of features with it"):
        knowing.demonstrated(scored, world.rollout(np.zeros(len(world.action_space))))


def test_other_units_are_noticed() -> None:
    with pytest.warns(UserWarning, match="half of the demonstrations are more than 6 .* in jerk: are they"):
        knowing.demonstrated(POOL, [[0.5, 1000.0], [0.4, 900.0]])
    with pytest.warns(UserWarning, match="half of the corrections are .* in speed, jerk: are they in the"):
        knowing.corrected(POOL, 1000.0 * FEATURES[:2], 1000.0 * FEATURES[2:4])


def test_corrections_are_pairs_that_differ() -> None:
    with pytest.raises(ValueError, match="2 better and 1 worse"):
        knowing.corrected(POOL, FEATURES[:2], FEATURES[2:3])
    with pytest.raises(ValueError, match="correction 1 has the same features"):
        knowing.corrected(POOL, FEATURES[:2], FEATURES[[2, 1]])


# --- scores -------------------------------------------------------------------------------------------------


def test_a_score_is_one_more_feature() -> None:
    score = np.linspace(0.0, 1.0, 30)
    scored = POOL.scored(score, "success")
    assert scored.names == ("speed", "jerk", "success")
    np.testing.assert_array_equal(scored.features[:, 2], score)
    np.testing.assert_allclose(scored.scaled[:, :2], POOL.scaled)
    assert scored.scaled[:, 2].std() == pytest.approx(1.0)
    assert scored.knowledge.scores == ("success",)
    assert POOL.names == ("speed", "jerk")


def test_a_feature_can_be_the_score_and_directions_stay_known() -> None:
    known = POOL.knowing(knowing.directed(POOL, "jerk", "lower"))
    scored = known.scored(FEATURES[:, 0], "speed")
    assert scored.names == POOL.names
    assert {one.feature: one.is_score for one in scored.knowledge.directions} == {
        "jerk": False,
        "speed": True,
    }
    wider = known.scored(np.arange(30.0), "success")
    assert [one.feature for one in wider.knowledge.directions] == ["jerk", "success"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.arange(29.0), "one number for each of the 30 trajectories"),
        (np.where(np.arange(30) == 4, np.nan, 1.0), "trajectory 4 is nan"),
        (np.full(30, 0.5), "0.5 for every trajectory"),
    ],
)
def test_scores_that_say_nothing_are_refused(values: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        POOL.scored(values)


def test_a_score_with_the_name_of_another_feature_is_refused() -> None:
    with pytest.raises(ValueError, match="a feature 'speed' with other values"):
        POOL.scored(np.arange(30.0), "speed")


def test_a_score_comes_before_what_has_no_value_of_it() -> None:
    with pytest.raises(ValueError, match="add the score first"):
        KNOWN.scored(np.arange(30.0))


# --- episodes, datasets and pools ---------------------------------------------------------------------------


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    """Six episodes of LeRobot's."""
    return write_lerobot_3(tmp_path / "arm", lengths=(12, 15, 9, 20, 11, 14), cameras=())


@pytest.mark.filterwarnings("ignore:episodes have")
def test_demonstrations_are_episodes_and_datasets_with_the_pools_own_features(arm: Path) -> None:
    pool = Pool.from_lerobot(arm, ["mean", "jerk"], clips="never")
    dataset = open_dataset(arm)
    assert isinstance(dataset, EpisodeDataset)
    for shown in (arm, str(arm), dataset, pool):
        np.testing.assert_allclose(knowing.demonstrated(pool, shown).demonstrations, pool.features)
    one = knowing.demonstrated(pool, dataset.episode(2)).demonstrations
    np.testing.assert_allclose(one, pool.features[[2]])
    with pytest.raises(ValueError, match="nothing says how the features of this pool"):
        knowing.demonstrated(POOL, dataset.episode(2))


@pytest.mark.filterwarnings("ignore:episodes have")
def test_takeovers_say_nothing_about_a_score_of_whole_episodes(arm: Path) -> None:
    add_frame_column(arm, "intervention", lambda _, frame: frame >= 5)
    pool = Pool.from_lerobot(arm, ["mean", "jerk"], clips="never")
    better, worse = knowing.takeovers_in(pool, open_dataset(arm))
    scored = pool.scored(np.arange(6.0), "success")
    did, undone = knowing.takeovers_in(scored, open_dataset(arm))
    np.testing.assert_allclose(did[:, :-1], better)
    np.testing.assert_allclose(undone[:, :-1], worse)
    np.testing.assert_array_equal(did[:, -1], undone[:, -1])
    assert scored.knowing(knowing.corrected(scored, did, undone)).knowledge.describe().startswith("6 corr")


def test_a_world_of_another_kind_is_no_demonstration() -> None:
    with pytest.raises(ValueError, match="are trajectories of tosser, but the pool has those of driver"):
        knowing.demonstrated(DRIVER, Pool.simulate("tosser", 3, progress=False))
    with pytest.raises(ValueError, match="has no steps in which a person could take over"):
        knowing.takeovers_in(POOL, FeatureDataset("table", {"speed": [1.0]}, ["a"]))
