"""Categories in tables: found, declared, ordered, refused; taught, kept in files and scored."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prefero import FeatureOptions, Learner, Pool, Question
from prefero.cli.options import typed
from prefero.datasets import BadEpisode, extract_features, extract_for_reward, open_dataset
from prefero.datasets.categories import MOST_FOUND, find_categories
from prefero.datasets.features.extraction.from_spec import EpisodeFeatures
from prefero.datasets.formats.archives import ArchiveDataset
from prefero.datasets.formats.tables import table_in_memory
from prefero.trajectories import Categories
from run_here import run_here

SURFACE = Categories("surface", ("grass", "sand"))
SIZE = Categories("size", ("small", "medium", "large"), ordered=True)
ORDER = "size:small<medium<large"


def throws(rows: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "id": [f"t{n}" for n in range(rows)],
            "speed": rng.normal(size=rows),
            "surface": rng.choice(["grass", "sand"], rows),
            "size": rng.choice(["small", "medium", "large"], rows),
            "gear": rng.integers(1, 4, rows),
            "note": [f"throw number {n // 2}" for n in range(rows)],
        }
    )


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    throws().to_csv("throws.csv", index=False)
    return Path("throws.csv")


def test_few_texts_are_categories_with_a_line_and_free_text_is_not(table: Path) -> None:
    with pytest.warns(UserWarning, match=r"throws: ") as said:
        found = extract_features(open_dataset(table))
    names = ("speed", "surface=sand", "size=large", "size=medium", "size=small", "gear")
    assert found.names == names
    assert [str(one.message).split(": ")[1].split(",")[0] for one in said] == [
        "categories were found",
        "not features",
    ]
    assert "surface (grass, sand), size (large, medium, small); --drop 'size'" in str(said[0].message)
    assert "note ('throw number 0')" in str(said[1].message)
    np.testing.assert_array_equal(found.features[:, 1], throws()["surface"] == "sand")


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (["a", "b"] * 3, ("a", "b")),
        (["b", None, "a", "a", "b", ""], ("a", "b")),
        (["a"] * 6, None),  # nothing to tell apart
        (["a", "b", "c", "a"], None),  # hardly repeated
        ([f"l{n % MOST_FOUND:02}" for n in range(60)], tuple(f"l{n:02}" for n in range(MOST_FOUND))),
        ([f"l{n % (MOST_FOUND + 1)}" for n in range(60)], None),
        (["1", "2", "n/a"] * 2, None),  # numbers with an error among them
        ([("x", 1)] * 4 + [("y", 2)] * 4, None),
    ],
)
def test_which_columns_are_found_to_hold_categories(
    values: list[Any], levels: tuple[str, ...] | None
) -> None:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    found = find_categories("c", column)
    assert (None if found is None else found.levels) == levels


def test_declared_categories_and_their_order(table: Path) -> None:
    options = FeatureOptions(categories="gear", ordered=ORDER, drop="note,surface")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pool = Pool.from_table(table, options)
    assert pool.names == ("speed", "size", "gear=1", "gear=2", "gear=3")
    judge = throws()["size"].map({"small": 0, "medium": 1, "large": 2})
    np.testing.assert_array_equal(pool.features[:, 1], judge)
    np.testing.assert_array_equal(pool.features[:, 2:].argmax(axis=1) + 1, throws()["gear"])
    assert FeatureOptions(ordered={"size": ["small", "medium", "large"]}).ordered == options.ordered
    assert list(typed(options, {})) == [
        *("--drop", "note,surface", "--categories", "gear", "--ordered", ORDER)
    ]


def test_features_choose_columns_of_texts_by_name(table: Path) -> None:
    found = extract_features(open_dataset(table), "surface,speed,note")
    assert found.names[:2] == ("surface=sand", "speed")
    assert found.names[2] == "note=throw number 0"
    assert extract_features(open_dataset(table), "surface=sand").names == ("surface=sand",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"categories": "surfce"}, "no column 'surfce'; did you mean 'surface'"),
        ({"categories": "id"}, "'id' has 40 different values in 40 rows"),
        ({"ordered": "size:small<large"}, r"also has 'medium': .*--ordered 'size:small<large<medium'"),
        ({"ordered": "size"}, "COLUMN:FIRST<SECOND<THIRD.*'size'"),
        ({"ordered": ORDER, "categories": "size"}, "'size' .*not both"),
        ({"features": "speed", "categories": "surface"}, "'surface' is declared.*not among the chosen"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(
    options: dict[str, Any], message: str, table: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        extract_features(open_dataset(table), FeatureOptions(**options))


def test_what_pandas_and_arrow_call_categorical_is_declared(tmp_path: Path) -> None:
    frame = throws().drop(columns=["id", "surface", "note"])
    frame["size"] = pd.Categorical(frame["size"], SIZE.levels, ordered=True)
    frame.loc[3, "size"] = None  # which NumPy would turn into the last level
    frame["gear"] = frame["gear"].astype("category")
    frame.to_parquet(tmp_path / "throws.parquet")
    for dataset in (
        table_in_memory(frame),
        table_in_memory(pa.Table.from_pandas(frame)),
        open_dataset(tmp_path / "throws.parquet"),
    ):
        with pytest.raises(BadEpisode, match=r"episode 3: .*'size' is missing"):
            extract_features(dataset)
        found = extract_features(dataset, FeatureOptions(skip_bad=True))
        assert len(found) == len(frame) - 1
        assert SIZE in found.categories
    assert extract_features(table_in_memory(frame.drop(3))).names == (
        *("speed", "size", "gear=1", "gear=2", "gear=3"),
    )


def test_numbers_of_episodes_can_be_categories() -> None:
    states = np.arange(6)[:, None, None] % 3 + np.zeros((6, 4, 1))
    archive = {"states": states, "state_names": np.array(["gait"])}
    pool = Pool.from_table(archive, FeatureOptions("final", categories="final gait", jobs=1))
    assert pool.names == ("final gait=0", "final gait=1", "final gait=2")
    with pytest.raises(ValueError, match="'final gait' is a number"):
        Pool.from_table(archive, FeatureOptions("final", ordered="final gait:0<1<2", jobs=1))
    reward, dataset = taught(pool).reward(), ArchiveDataset("gaits", archive)
    again = extract_for_reward(dataset, pool.names, categories=pool.scaling.categories)
    np.testing.assert_array_equal(again.features, pool.features)
    assert reward.feature_spec is not None
    single = EpisodeFeatures.of(reward.feature_spec, reward.scaling)

    np.testing.assert_array_equal(single(dataset.episode(4)), pool.features[4])


# --- files and scores -------------------------------------------------------------------------------------


def taught(pool: Pool) -> Learner:
    learner = Learner(pool)
    learner.tell(Question(0, 1), "left")
    learner.tell(Question(2, 1), "right")
    return learner


def test_a_reward_scores_tables_pools_and_files_of_features_from_its_file_alone(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--ordered", ORDER, "--categories", "surface,gear", "--drop", "note"]
    assert run_here(monkeypatch, "features", str(table), *options) == 0
    said = capsys.readouterr().out
    assert "surface holds categories: grass (" in said
    assert "size holds ordered categories: small (" in said
    assert "40 trajectories, 4 features" in said
    pool = Pool.from_dataset("features.parquet")
    direct = Pool.from_table(table, FeatureOptions(ordered=ORDER, categories="surface,gear", drop="note"))
    assert pool.scaling == direct.scaling
    pool.save("pool.npz")
    reward = taught(pool).reward()
    reward.save("reward.json")
    wanted = reward(throws())
    for what in ("throws.csv", "features.parquet", "pool.npz"):
        assert run_here(monkeypatch, "score", "reward.json", what, "--out", "scores.parquet") == 0
        scores = pq.read_table("scores.parquet").to_pandas()
        np.testing.assert_allclose(scores["mean"], wanted, atol=1e-12)
    assert not {"surface=sand", "size"} & set(scores)
    capsys.readouterr()
    throws().assign(surface=lambda t: t["surface"].where(t["id"] != "t5", "mud")).to_csv(
        "mud.csv", index=False
    )
    assert run_here(monkeypatch, "score", "reward.json", "mud.csv") == 2
    assert "'surface' is 'mud', which is not among grass, sand" in capsys.readouterr().err
    assert run_here(monkeypatch, "score", "reward.json", "mud.csv", "--skip-bad") == 0
    assert "39 trajectories were scored" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"categories": "gear"},
            r"'gear' is encoded, .*surface \(grass, sand",
        ),
        ({"ordered": "size:large<medium<small"}, "decides how 'size' is encoded"),
    ],
)
def test_a_reward_refuses_other_categories(options: dict[str, Any], message: str) -> None:
    dataset = table_in_memory(throws())
    names = ("speed", *SURFACE.names, "size")
    with pytest.raises(ValueError, match=message):
        extract_for_reward(dataset, names, FeatureOptions(**options), categories=(SURFACE, SIZE))
    same = FeatureOptions(categories="surface", ordered=ORDER)
    assert extract_for_reward(dataset, names, same, categories=(SURFACE, SIZE)).names == names
    with pytest.raises(ValueError, match=r"add a column 'surface'.* grass, sand"):
        extract_for_reward(
            table_in_memory(throws().drop(columns="surface")), names, categories=(SURFACE, SIZE)
        )
