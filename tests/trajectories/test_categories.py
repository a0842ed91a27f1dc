"""Categories: the encoding, compared with scikit-learn's, and the levels that features come back to."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from prefero import Learner, Pool, load_reward
from prefero.trajectories import Categories, Scaling
from prefero.trajectories.categories import level_text, variables_of

LEVELS = ("clay", "grass", "sand")
columns = st.lists(st.sampled_from(LEVELS), min_size=3, max_size=30).filter(lambda made: len(set(made)) > 1)


@settings(max_examples=25)
@given(columns)
def test_the_encoding_is_that_of_scikit_learn(values: list[str]) -> None:
    levels = tuple(sorted(set(values)))
    table = np.array(values, dtype=object)[:, None]
    judge = OneHotEncoder(drop="if_binary", sparse_output=False).fit(table)
    one = Categories("surface", levels)
    np.testing.assert_array_equal(one.encode(values), judge.transform(table))
    assert list(one.names) == [
        name.replace("x0_", "surface=") for name in judge.get_feature_names_out().tolist()
    ]
    ordered = Categories("surface", levels[::-1], ordered=True)
    places = OrdinalEncoder(categories=[list(levels[::-1])]).fit_transform(table)
    np.testing.assert_array_equal(ordered.encode(values), places)
    assert ordered.names == ("surface",)


@settings(max_examples=25)
@given(columns, st.booleans())
def test_features_come_back_to_their_levels(values: list[str], ordered: bool) -> None:
    one = Categories("surface", tuple(sorted(set(values))), ordered)
    features = np.column_stack([np.arange(len(values)), one.encode(values)])
    speed, surface = variables_of(("speed", *one.names), (one,))
    assert [one.levels[int(place)] for place in surface.values(features)] == values
    assert (speed.name, surface.name, speed.categories) == ("speed", "surface", None)
    assert surface.counts(features).tolist() == [values.count(level) for level in one.levels]


@settings(max_examples=25)
@given(columns)
def test_any_two_levels_are_equally_far_and_a_category_counts_as_one_feature(values: list[str]) -> None:
    one = Categories("surface", tuple(sorted(set(values))))
    features = one.encode(values)
    scaling = Scaling.of(features, one.names, (one,))
    scaled = scaling(features)
    np.testing.assert_allclose(scaled.var(axis=0).sum(), 1.0)
    apart = {
        round(float(np.linalg.norm(scaled[i] - scaled[j])), 9)
        for i in range(len(values))
        for j in range(i)
        if values[i] != values[j]
    }
    assert len(apart) == 1
    assert Scaling.from_json(scaling.to_json()) == scaling


def test_without_all_of_its_features_a_category_is_several_numbers() -> None:
    one = Categories("surface", LEVELS)
    assert [v.name for v in variables_of(("surface=clay", "surface=sand"), (one,))] == [
        "surface=clay",
        "surface=sand",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), (1.0, "1"), (np.float32(2), "2"), ("1", "1"), (1.5, "1.5"), (" sand ", "sand"), (True, "True")]
    + [(missing, None) for missing in (None, float("nan"), "", " ", pd.NA, pd.NaT)],
)
def test_a_value_is_one_level_however_it_is_written(value: Any, text: str | None) -> None:
    assert level_text(value) == text


@pytest.mark.parametrize("text", ["size", "size:small", ":a<b", "size:a<", "size:a<a", "size:<b", ""])
def test_an_order_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"COLUMN:FIRST<SECOND<THIRD|two different texts"):
        Categories.parse(text)


def test_an_order_is_written_as_it_is_read() -> None:
    one = Categories.parse("size: small < medium<large ")
    assert one == Categories("size", ("small", "medium", "large"), ordered=True)
    assert Categories.parse(str(one)) == one


def throws() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "speed": rng.normal(size=30),
            "surface": rng.choice(LEVELS, 30),
            "wet": rng.choice(["no", "yes"], 30),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], 30), ["S", "M", "L"], ordered=True),
        }
    )


def test_a_reward_takes_the_table_itself_from_its_file_alone(tmp_path: Any) -> None:
    table = throws()
    with pytest.warns(UserWarning, match=r"categories .*surface \(clay, grass, sand\), wet \(no, yes\)"):
        pool = Pool(table)
    assert pool.names == ("speed", "surface=clay", "surface=grass", "surface=sand", "wet=yes", "size")
    learner = Learner(pool)
    learner.tell(learner.ask(), "left")
    learner.reward().save(tmp_path / "reward.json")
    reward = load_reward(tmp_path / "reward.json")
    np.testing.assert_allclose(reward(table), learner.reward()(pool.features), atol=1e-12)
    np.testing.assert_allclose(reward(table[::-1]), reward(table)[::-1], atol=1e-12)
    pool.save(tmp_path / "pool.npz")
    assert Pool.load(tmp_path / "pool.npz").scaling == pool.scaling
    assert pool.diverse(20).scaling.categories == pool.scaling.categories


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"surface": "mud"},
            "row 0: .*'surface' is 'mud', .*clay, grass, sand",
        ),
        ({"size": "XL"}, "'XL', .*S, M, L.*--ordered"),
        ({"wet": None}, "row 0: .*'wet' is missing: .*'unknown'"),
        (None, "lacks 'surface=clay': .*'surface' .*clay, grass, sand"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*categories were found")
def test_an_unknown_level_says_the_way_out(change: dict[str, Any] | None, message: str) -> None:
    scaling, table = Pool(throws()).scaling, throws()
    with pytest.raises(ValueError, match=message):
        scaling(table.drop(columns="surface") if change is None else table.assign(**change))
