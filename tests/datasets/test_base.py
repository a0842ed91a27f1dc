"""Episodes: what they refuse, what a part of one is, and errors that travel."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero.datasets import BadEpisode, Episode, VideoSpan


def episode(steps: int = 10, more: int = 1, **changes: Any) -> Episode:
    """States that count the steps, with `more` of them than actions."""
    states = np.column_stack([np.arange(steps + more), 2.0 * np.arange(steps + more)])
    given = {"id": "7", "states": states, "actions": np.ones((steps, 3)), "rewards": np.arange(steps)}
    return Episode(**(given | {"step_seconds": 0.1} | changes))


def test_an_episode_knows_how_long_it_lasts_and_what_its_numbers_are_called() -> None:
    made = episode()
    assert len(made) == 10
    assert made.duration == pytest.approx(1.0)
    assert made.state_names == ("state 1", "state 2")
    assert made.action_names == ("action 1", "action 2", "action 3")


def test_a_single_column_may_come_without_its_axis() -> None:
    made = Episode("a", np.arange(4.0), np.arange(3.0))
    assert (made.states.shape, made.actions.shape) == ((4, 1), (3, 1))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"states": [[0.0, np.nan]] * 11}, r"states .*not finite: nan at step 0, column 1"),
        ({"actions": [[np.inf]] * 10}, "actions .*not finite: inf"),
        ({"actions": np.zeros((0, 2)), "rewards": None, "states": np.zeros((0, 2))}, "it has no steps"),
        ({"states": np.zeros((13, 2))}, "10 actions .*13"),
        ({"rewards": np.zeros(9)}, "10 actions, .*rewards of shape"),
        ({"states": [[1.0], [1.0, 2.0]]}, "states .*not numbers"),
        ({"states": np.zeros((11, 2, 2))}, r"shape \(11, 2, 2\), wanted \(steps, numbers\)"),
        ({"state_names": ("x", "x")}, "as many different names"),
        ({"state_names": ("x",)}, "as many different names"),
        ({"step_seconds": 0.0}, "a positive time"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadEpisode, match=f"^episode 7: .*{message}"):
        episode(**changes)


@pytest.mark.parametrize("more", [0, 1])
@given(first=st.integers(0, 9), last=st.integers(1, 10))
def test_a_part_holds_exactly_its_steps(more: int, first: int, last: int) -> None:
    whole = episode(more=more, video=VideoSpan(Path("video.mp4"), 4.0, 5.0))
    if first >= last:
        with pytest.raises(ValueError, match="has steps 0 to 10"):
            whole.segment((first, last))
        return
    part = whole.segment((first, last))
    assert part.id == f"7[{first}:{last}]"
    assert part.states[:, 0].tolist() == list(range(first, last + more))
    assert part.rewards is not None
    assert part.rewards.tolist() == list(range(first, last))
    assert part.video is not None
    assert part.video.end is not None
    assert (part.video.start, part.video.end) == pytest.approx((4.0 + first / 10, 4.0 + last / 10))


def test_the_error_of_an_episode_survives_the_way_home_from_another_process() -> None:
    error = pickle.loads(pickle.dumps(BadEpisode("12", "it is empty")))
    assert isinstance(error, BadEpisode)
    assert (str(error), error.episode, error.reason) == ("episode 12: it is empty", "12", "it is empty")
