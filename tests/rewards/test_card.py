"""The model card of a reward says what the reward is a function of, and what computing that needs."""

import pytest

from prefero.rewards.card import model_card, repository_files
from prefero.trajectories import FeatureSpec, Scaling

SCALING = Scaling(("speed", "a|b"), (1.0, 2.0), (0.5, 4.0))


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (None, "The features came from a table; how they were computed is not in the file."),
        (
            FeatureSpec(("mean",), state_names=("x",), action_names=("u",)),
            "by `mean`. The file has all it needs",
        ),
        (FeatureSpec(("mean", "mine:speed")), "It needs the code of `mine:speed`, which is not here"),
        (FeatureSpec(("mean",), window="2s", log_transform=("speed",)), "computed of windows of 2s from"),
    ],
)
def test_the_card_says_how_features_are_computed(spec: FeatureSpec | None, sentence: str) -> None:
    card = model_card("me/mine", "the reward seems linear", SCALING, spec, {"answers": 3})
    assert sentence in card
    assert "The reward seems linear." in card
    assert "| a\\|b | 2 | 4 |" in card
    assert "learned from 3 answers" in card


def test_the_repository_has_what_lerobot_looks_for() -> None:
    files = repository_files("{}", "card")
    assert files["config.json"] == b'{\n "type": "prefero"\n}\n'
    assert files["reward.json"] == b"{}"


def test_the_card_says_what_is_acceptable() -> None:
    card = model_card("me/mine", "", SCALING, None, {}, (0.3125, 0.061))
    assert "a reward of 0.312 ± 0.061 is just acceptable" in card
    assert "probability_acceptable(features)" in card
    assert "Nobody was asked what is acceptable" in model_card("me/mine", "", SCALING, None, {})
