"""Sentences about a reward: what is said, that it is true, and when nothing is said."""

import re

import numpy as np
import pytest

from models.taught import answers_about, pool
from prefero._support.sentences import number, percent
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.explain.explanation import SURE, Statement, explain, statements_about
from prefero.models.explain.profiles import profiles
from prefero.questions import Comparisons
from prefero.trajectories.components import Ends
from prefero.trajectories.features import Scaling

SCALING = Scaling(("speed", "distance to the lane"), (10.0, 0.0), (2.0, 1.0))


def said(truth: str, count: int = 30) -> list[Statement]:
    """What is said of a reward, an expression of the speed s and the distance d."""
    x = pool()
    values = eval(truth, {"s": x[:, 0], "d": x[:, 1], "np": np})
    belief = MixtureFitter(Reference.normal(2)).fit(answers_about(x, values, count))
    return explain(belief, x, SCALING, count, "your", {"speed": "m/s"})


def test_a_best_value_is_named_in_its_own_unit() -> None:
    statements = said("0.3 * d - 2 * (s - 0.3) ** 2")
    (best,) = [one for one in statements if "best speed" in one.sentence]
    words = r"Your reward seems to have a best speed, about ([0-9.]+) m/s: higher or lower is worse "
    found = re.fullmatch(words + r"\((.*) sure\)\.", best.sentence)
    assert found
    assert float(found[1]) == pytest.approx(10.6, abs=0.7)
    assert found[2].removeprefix("over ") in best.meaning
    assert "rise up to some speed" in best.meaning
    assert "The best speed is probably between" in best.meaning
    assert statements[0].sentence.startswith("Speed seems to matter most (")


@pytest.mark.parametrize(
    ("truth", "start"),
    [
        ("2 * d + 0.1 * s", "A higher distance to the lane seems better ("),
        ("-2 * d + 0.1 * s", "A lower distance to the lane seems better ("),
        ("(s - 0.2) ** 2", "Your reward seems to have a worst speed, about "),
    ],
)
def test_the_other_shapes(truth: str, start: str) -> None:
    assert any(one.sentence.startswith(start) for one in said(truth))


@pytest.mark.parametrize(
    ("truth", "sentence"),
    [
        (
            "2 * d + 0.1 * s",
            r"Trajectories like 12.mp4 seem better than those like 40.mp4, in pca 2 \(.* sure\)\.",
        ),
        (
            "-2 * d + 0.1 * s",
            r"Trajectories like 40.mp4 seem better than those like 12.mp4, in pca 2 \(.* sure\)\.",
        ),
    ],
)
def test_a_component_is_named_by_the_trajectories_at_its_ends(truth: str, sentence: str) -> None:
    x = pool()
    values = eval(truth, {"s": x[:, 0], "d": x[:, 1]})
    belief = MixtureFitter(Reference.normal(2)).fit(answers_about(x, values, 30))
    scaling, ends = Scaling(("speed", "pca 2"), (0.0, 0.0), (1.0, 1.0)), Ends(40, 12, "40.mp4", "12.mp4")
    largest, *others = explain(belief, x, scaling, 30, "your", {}, {"pca 2": ends})
    start = "Pca 2, from trajectories like 40.mp4 to those like 12.mp4, seems to matter most ("
    assert largest.sentence.startswith(start)
    assert any(re.fullmatch(sentence, one.sentence) for one in others)


def test_the_numbers_are_those_of_the_profiles() -> None:
    x = pool()
    belief = MixtureFitter(Reference.normal(2)).fit(answers_about(x, x[:, 0], 20))
    first = profiles(belief, x)[0]
    sentences = [one.sentence for one in explain(belief, x, SCALING, 20, "the user's", {})]
    assert f"Speed seems to matter most ({percent(first.largest)} sure)." in sentences
    assert f"A higher speed seems better ({percent(first.shapes['rising'])} sure)." in sentences


@pytest.mark.parametrize("count", [0, 1, 4])
def test_before_there_are_enough_answers_nothing_is_claimed(count: int) -> None:
    (only,) = said("2 * d", count)
    assert only.sentence == "It is too early to say what your reward looks like."
    assert "sure" not in only.sentence


def test_what_is_not_probable_is_not_said() -> None:
    """Each question is answered once this way and once the other."""
    x, data = pool(), answers_about(pool(), pool()[:, 0], 6)
    winners, losers = np.concatenate([data.winners, data.losers]), np.concatenate([data.losers, data.winners])
    belief = MixtureFitter(Reference.normal(2)).fit(Comparisons(winners, losers, np.zeros(12, dtype=bool)))
    (only,) = explain(belief, x, SCALING, 8, "your", {})
    assert only.sentence == "The form of your reward is still open."
    assert "at least 70% probable" in only.meaning


def test_a_single_feature_is_not_said_to_matter_most() -> None:
    x = pool(60, 1)
    belief = MixtureFitter(Reference.normal(1)).fit(answers_about(x, x[:, 0], 12))
    (only,) = explain(belief, x, Scaling(("speed",), (0.0,), (1.0,)), 12, "your", {})
    assert only.sentence.startswith("A higher speed seems better")
    assert "other features" not in only.meaning


@pytest.mark.parametrize(
    ("fraction", "text"), [(0.0, "under 1%"), (0.006, "1%"), (0.86, "86%"), (0.994, "99%"), (1.0, "over 99%")]
)
def test_a_fraction_near_the_ends_is_not_called_certain(fraction: float, text: str) -> None:
    assert percent(fraction) == text


@pytest.mark.parametrize(
    ("value", "std", "text"),
    [
        (-3.64e-15, 21.0, "0"),
        (10.62, 2.0, "10.6"),
        (12345.6, 3000.0, "12300"),
        (1.234e-9, 2e-9, "1.2e-09"),
        (300.004, 0.5, "300"),
    ],
)
def test_values_have_the_digits_that_matter_where_they_vary_so_much(
    value: float, std: float, text: str
) -> None:
    assert number(value, std) == text


def test_of_many_features_only_those_that_matter_are_named() -> None:
    """With this seed the shape of an irrelevant feature is probable, by chance."""
    features, count, rng = 30, 40, np.random.default_rng([1, 30])
    mixed = 0.75 * rng.normal(size=(features, features)) / np.sqrt(features) + np.eye(features)
    x = rng.normal(size=(150, features)) @ mixed
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    pairs, noises = [], []
    for _ in range(count):
        pairs.append(rng.choice(150, 2, replace=False))
        noises.append(0.15 * rng.normal())
    truth, asked = x[:, 0] + 0.7 * x[:, 1], np.array(pairs)
    first = truth[asked[:, 0]] - truth[asked[:, 1]] + np.array(noises) > 0
    belief = MixtureFitter(Reference.of(x)).fit(
        Comparisons.of(x, np.where(first[:, None], asked, asked[:, ::-1]))
    )
    names = tuple(f"x{place}" for place in range(features))
    scaling = Scaling(names, (0.0,) * features, (1.0,) * features)
    found = profiles(belief, x, scaling)
    assert sum(max(one.shapes.values()) >= SURE for one in found) > 2
    sentences = [one.sentence.lower() for one in statements_about(found, scaling, "your", {})]
    assert {name for one in sentences for name in re.findall(r"x\d+", one)} == {"x0", "x1"}


def test_a_feature_whose_effect_is_uncertain_is_not_named() -> None:
    """Of eight features two matter. Some others have a probable shape and a tenth of the effects."""
    x = pool(150, 8)
    belief = MixtureFitter(Reference.of(x)).fit(answers_about(x, x[:, 0] - 0.8 * x[:, 1], 20, seed=2))
    names = tuple(f"x{place}" for place in range(8))
    scaling = Scaling(names, (0.0,) * 8, (1.0,) * 8)
    found = profiles(belief, x, scaling)
    shaped = [one for one in found if one.shapes[one.shape] >= SURE and one.effect.mean >= 0.1]
    assert {3, 7} <= {one.feature for one in shaped if one.matters < SURE}
    statements = statements_about(found, scaling, "your", {})
    assert {name for one in statements for name in re.findall(r"x\d", one.sentence)} == {"x0", "x1"}
    sure = percent(found[1].matters)
    wanted = f"In {sure} of them, x1 makes up at least 10% of how much they vary with single features."
    assert sum(one.meaning.endswith(wanted) for one in statements) == 1
