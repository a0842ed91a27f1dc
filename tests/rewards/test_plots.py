"""Figures of a learned reward: what they draw, and what is said without matplotlib."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from example_rewards import every_reward, example_rewards, pool
from plots.read_figures import cut_off, overlapping
from prefero import Learner, Pool, Question
from prefero._support.optional import MissingExtra
from prefero.rendering.video import save_video
from prefero.rewards.plots import plot_agreement, plot_profiles


@every_reward
def test_the_reward_is_drawn_along_each_feature(name: str) -> None:
    reward, shown = example_rewards()[name], pool()
    figure = reward.plot(shown)
    assert [axis.get_xlabel() for axis in figure.axes] == list(shown.names)
    values, mean = figure.axes[0].lines[0].get_data()
    assert (values[0], values[-1]) == pytest.approx((shown.features[:, 0].min(), shown.features[:, 0].max()))
    point = shown.features.mean(axis=0)
    point[0] = values[7]
    assert mean[7] == pytest.approx(reward.standardized([point], shown)[0][0])
    assert len({axis.get_ylim() for axis in figure.axes}) == 1
    assert len(reward.plot().axes) == len(shown.names)  # without a pool
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_both_ends_of_a_component_are_below_it(tmp_path: Path) -> None:
    for number in range(6):
        frames = [np.full((16, 16, 3), 40 * number, dtype=np.uint8)] * 3
        save_video(tmp_path / f"{number}.mp4", frames, 10.0)
    features = np.column_stack([np.arange(6.0), [2.0, 9.0, 3.0, 4.0, 1.0, 5.0]])
    clips = [str(tmp_path / f"{number}.mp4") for number in range(6)]
    shown = Pool(features, ["speed", "pca 1"], clips=clips, ids=[f"run {n}" for n in range(6)])
    learner = Learner(shown)
    learner.tell(Question(0, 1), "left")
    speed, component = learner.reward().plot(shown).axes
    assert not speed.child_axes
    low, high = component.child_axes
    assert (low.get_title(), high.get_title()) == ("run 4", "run 1")
    assert [end.images[0].get_array().mean() for end in (low, high)] == pytest.approx([160, 40], abs=6)


def dashed(axis: Any) -> list[Any]:
    return [line for line in axis.lines if line.get_linestyle() == "--"]


def test_a_line_is_what_is_just_acceptable() -> None:
    reward, shown = example_rewards()["labels"], pool()
    figure = reward.plot(shown)
    for axis in figure.axes:
        [line] = dashed(axis)
        assert list(line.get_ydata()) == pytest.approx([reward.bar(shown).mean] * 2)
        assert axis.get_ylim()[0] < reward.bar(shown).mean < axis.get_ylim()[1]
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["just acceptable"]
    without = example_rewards()["belief"].plot(shown)
    assert not any(map(dashed, without.axes))
    assert without.axes[0].get_legend() is None


def test_the_learner_draws_what_is_acceptable_beside_the_best() -> None:
    learner = Learner(pool())
    learner.tell(Question(0, kind="success"), "pass")
    best, *_ = learner.plot().axes
    [line] = dashed(best)
    assert list(line.get_xdata()) == pytest.approx([learner.reward().bar(learner.pool).mean] * 2)


def test_the_learner_draws_the_best_trajectories_and_marks_those_compared() -> None:
    rng = np.random.default_rng(0)
    learner = Learner(Pool(rng.normal(size=(12, 10)), ids=[f"run {row}" for row in range(12)]))
    learner.tell(Question(3, 5), "left")
    best, *profiles = learner.plot().axes
    shown = [label.get_text() for label in best.get_yticklabels()]
    assert shown == learner.pool.ids_of(learner.reward().diverse_best(learner.pool))
    assert len(profiles) == 8  # the features that matter most
    marks = profiles[0].lines[-1].get_xdata()
    assert marks == pytest.approx(learner.pool.features[[3, 5], 0])
    assert len(Learner(learner.pool).plot().axes) == 9  # before the first answer


@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize("name", ["P{}", "participant {} of the second laboratory"])
def test_no_label_of_the_agreement_of_people_is_cut_off(count: int, name: str) -> None:
    figure = plot_agreement(np.full((count, count), 0.7), [name.format(person) for person in range(count)])
    assert cut_off(figure) == []
    beside = figure.axes[0].get_yticklabels()
    assert len({label.get_text() for label in beside}) == count
    assert overlapping(beside) == []


def test_no_name_of_a_feature_is_cut_off() -> None:
    name = "mean absolute torque of the third joint of the left arm of the robot in newton meters"
    profile = (np.arange(5.0), np.arange(5.0), np.ones(5))
    assert cut_off(plot_profiles([name] * 2, [profile] * 2, "reward")) == []


def test_without_matplotlib_the_line_to_type_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"'matplotlib'.*install.*plots"):
        example_rewards()["belief"].plot()
