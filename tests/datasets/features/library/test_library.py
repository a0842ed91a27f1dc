"""The library of features, judged by sums over steps, known motions and symmetries; and windows."""

from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from prefero.datasets import LIBRARY, BadEpisode, Episode
from prefero.datasets.features.extraction.windows import Length, Windows
from prefero.datasets.features.library.library import DEFAULT, FEATURE_WORDS, extractor_for, features_of
from prefero.datasets.features.library.user_functions import function_digest

WALKS = arrays(float, (9, 2), elements=st.floats(-5, 5).map(lambda x: round(x, 3)))


def moving(states: object, step_seconds: float = 0.5, **more: object) -> Episode:
    path = np.asarray(states, dtype=float)
    actions = np.ones((len(path) - 1, 2))
    given = {"state_names": ("x", "y")[: path.shape[1]], "rewards": np.ones(len(actions))}
    return Episode("e", path, actions, step_seconds=step_seconds, **(given | more))  # type: ignore[arg-type]


def value(feature: str, episode: Episode) -> float:
    (number,) = extractor_for(feature)(episode).values()
    return number


@given(WALKS)
def test_what_is_extracted_of_each_state_is_what_a_loop_over_its_steps_finds(walk: np.ndarray) -> None:
    episode = moving(walk)
    for number, name in enumerate(("x", "y")):
        values = [row[number] for row in walk.tolist()]
        assert extractor_for("min")(episode)[f"min {name}"] == min(values)
        assert extractor_for("max")(episode)[f"max {name}"] == max(values)
        assert extractor_for("final")(episode)[f"final {name}"] == values[-1]
        assert extractor_for("mean")(episode)[f"mean {name}"] == pytest.approx(sum(values) / 9)


@given(WALKS)
def test_a_path_is_as_long_as_its_steps_together(walk: np.ndarray) -> None:
    steps = [((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2) ** 0.5 for a, b in pairwise(walk)]
    assert value("path-length", moving(walk)) == pytest.approx(sum(steps))


def test_brackets_choose_states() -> None:
    episode = moving([[0.0, 5.0], [3.0, 1.0], [4.0, 2.0]])
    assert extractor_for("max(y)")(episode) == {"max y": 5.0}
    assert list(extractor_for("final( y , x )")(episode)) == ["final y", "final x"]
    assert value("path-length(x)", episode) == 4.0


def test_a_cubic_way_has_the_jerk_of_its_third_derivative() -> None:
    time = np.arange(12) * 0.5
    assert value("jerk", moving(np.column_stack([2.0 * time**3, 0 * time]))) == pytest.approx(12.0)


def test_smoothness_is_highest_for_a_straight_way_at_one_speed() -> None:
    time = np.linspace(0, 1, 40)
    straight = moving(np.column_stack([time, 2 * time]))
    wave = moving(np.column_stack([time, np.sin(6 * time)]))
    shaken = moving(np.column_stack([time, 0.1 * np.random.default_rng(0).normal(size=40)]))
    still = moving(np.zeros((40, 2)))
    assert value("log-dimensionless-jerk", straight) == pytest.approx(0.0, abs=1e-9)
    assert value("log-dimensionless-jerk", still) == 0.0
    assert 0 > value("log-dimensionless-jerk", wave) > value("log-dimensionless-jerk", shaken)


@given(WALKS, st.floats(0.1, 10), st.floats(0.1, 10))
def test_smoothness_has_no_unit_of_length_or_time(walk: np.ndarray, size: float, slower: float) -> None:
    here = value("log-dimensionless-jerk", moving(walk))
    there = value("log-dimensionless-jerk", moving(size * walk, step_seconds=0.5 * slower))
    assert there == pytest.approx(here, rel=1e-6, abs=1e-6)


def test_energy_and_duration_are_integrals_over_time_and_the_return_is_a_sum() -> None:
    episode = moving(np.zeros((5, 2)), step_seconds=0.25)  # four steps, two actions of 1 each
    assert value("control-effort", episode) == pytest.approx(4 * 2 * 0.25)
    assert value("duration", episode) == 1.0
    assert value("return", episode) == 4.0


def test_a_goal_is_a_place_of_some_states() -> None:
    episode = moving([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    assert extractor_for("goal(x=3, y=4)")(episode) == {
        "final distance to goal": 5.0,
        "least distance to goal": 0.0,
    }
    assert extractor_for("goal(y=10)")(episode)["final distance to goal"] == 2.0


PLACES = ["", "(x)", "(x=nan)", "(x=0, y=inf)"]  # that are none


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ("speed", "no feature 'speed': .*mean, min"),
        ("control-effort(x)", "control-effort .*brackets"),
        *((f"goal{place}", r"as in goal\(x=0.3, y=0.1\)") for place in PLACES),
        ("mean(z)", "no state 'z': .*x, y"),
        ("missing_module_of_mine:f", "'missing_module_of_mine:f' was not found"),
        ("math:pi", "'math:pi' .*float"),
        ("math:tau_of_mine", "was not found"),
        (
            "pca",
            r"are mean, .*, statistics, pca\(n\), .*, encoder\(module:function\), steps, and your own",
        ),
    ],
)
def test_what_is_not_there_is_said_with_what_is(feature: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        extractor_for(feature)(moving(np.zeros((5, 2))))


def test_there_is_no_return_without_rewards() -> None:
    with pytest.raises(ValueError, match=r"leave out .*'return'"):
        extractor_for("return")(moving(np.zeros((5, 2)), rewards=None))


@pytest.mark.parametrize("word", ["jerk", "log-dimensionless-jerk"])
@pytest.mark.parametrize("states", [2, 3])
def test_there_is_no_jerk_before_the_fourth_state(word: str, states: int) -> None:
    rng = np.random.default_rng(0)
    (value,) = extractor_for(word)(moving(rng.normal(size=(states, 2)))).values()
    assert value == 0.0


def test_every_default_is_in_the_library_and_every_word_has_a_meaning() -> None:
    assert set(DEFAULT) <= set(FEATURE_WORDS)
    assert all(word.meaning for word in LIBRARY.values())


# --- the user's own ---------------------------------------------------------------------------------------


def test_a_function_of_mine_may_return_a_number_numbers_or_named_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    code = """
def one(episode): return len(episode)
def some(episode): return episode.states[-1]
def named(episode): return {"tilt": episode.states[0, 0], "turn": 2}
def words(episode): return "far"
"""
    Path("own_notes_of_this_test.py").write_text(code, encoding="utf-8")
    episode = moving([[1.0, 5.0], [3.0, 4.0], [6.0, 8.0]])
    assert extractor_for("own_notes_of_this_test:one")(episode) == {"one": 2.0}
    assert extractor_for("own_notes_of_this_test:some")(episode) == {"some 1": 6.0, "some 2": 8.0}
    assert extractor_for("own_notes_of_this_test.py:named")(episode) == {"tilt": 1.0, "turn": 2.0}
    with pytest.raises(BadEpisode, match=r"episode e: words .*numbers, .*'far'"):
        extractor_for("own_notes_of_this_test:words")(episode)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("def f(:", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("import nothing_of_this_name", "No module named 'nothing_of_this_name'"),
    ],
)
def test_a_module_that_fails_is_an_error_in_one_line(code: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    with pytest.raises(ValueError, match=rf"^'.*mine\.py:f' [^\n]*{why}[^\n]*$"):
        extractor_for(f"{tmp_path / 'mine.py'}:f")


def test_a_module_that_was_edited_is_imported_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    found = []
    for answer in (1, 22):
        Path("edited_in_this_test.py").write_text(f"def f(_): return {answer}\n", encoding="utf-8")
        found.append(
            (
                value("edited_in_this_test:f", moving(np.zeros((5, 2)))),
                function_digest("edited_in_this_test:f"),
            )
        )
    assert [one[0] for one in found] == [1.0, 22.0]
    assert found[0][1] != found[1][1]


def test_a_function_is_described_by_its_file_and_name_or_like_no_other() -> None:
    class Scaled:
        def __call__(self, _: Episode) -> float:
            return 1.0

    assert function_digest(moving) == function_digest(moving) != function_digest(value)
    for own in (lambda _: 1.0, partial(value, "mean"), Scaled(), Scaled, len):
        assert function_digest(own) != function_digest(own)


def test_two_features_of_one_name_and_numbers_that_are_none_are_refused() -> None:
    episode = moving(np.zeros((5, 2)))
    with pytest.raises(ValueError, match=r"two features .*'mean x'"):
        features_of([extractor_for("mean"), extractor_for("mean(x)")], episode)
    with pytest.raises(BadEpisode, match=r"episode e: .*'odd' is nan"):
        features_of([extractor_for(lambda _: {"odd": np.nan})], episode)


# --- windows ----------------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.integers(1, 15), st.integers(1, 15))
def test_windows_have_one_length_lie_inside_and_start_a_stride_apart(
    steps: int, long: int, stride: int
) -> None:
    parts = list(Windows.of(long, stride).segments(moving(np.zeros((steps + 1, 2)))))
    assert all(last - first == long and last <= steps for first, last in parts)
    assert [first for first, _ in parts] == [stride * i for i in range(len(parts))]
    following = stride * len(parts)
    assert following + long > steps  # no other would fit


def test_a_window_may_be_in_seconds_and_stands_beside_the_last_without_a_stride() -> None:
    episode = moving(np.zeros((11, 2)), step_seconds=0.5)
    assert list(Windows.of("2s").segments(episode)) == [(0, 4), (4, 8)]
    assert list(Windows.of("2s", "0.5s").segments(episode))[:2] == [(0, 4), (1, 5)]
    assert list(Windows.of("6 steps", 2).segments(episode)) == [(0, 6), (2, 8), (4, 10)]


def test_a_stride_needs_windows() -> None:
    assert Windows.maybe(None, None) is None
    assert Windows.maybe("2s", None) == Windows.of("2s")
    assert Windows.maybe(6, 2) == Windows.of(6, 2)
    with pytest.raises(ValueError, match=r"stride \(2\) .*--window"):
        Windows.maybe(None, 2)


@pytest.mark.parametrize("words", ["", "0", "two", "-3", "1.5", "0s", "2 hours"])
def test_a_length_in_other_words_is_refused(words: str) -> None:
    with pytest.raises(ValueError, match="number of steps, or of seconds like '2s'"):
        Length.of(words)
