"""Segments of episodes: up to an end, of a usual length, and which of them are kept."""

from pathlib import Path

import numpy as np
import pytest

from prefero._support.arrays import Image
from prefero.datasets.episode import Episode
from prefero.deploy.training.recorded_steps import Recorded
from prefero.deploy.training.segments import USUAL_LENGTH, Segment, Segments, usual_length


def episode(steps: int, *, terminated: bool = False) -> Recorded:
    states, rewards = np.arange(steps + 1.0)[:, None], np.ones(steps)
    actions = np.random.default_rng(steps).normal(size=(steps, 1))
    return Recorded(Episode("e", states, actions, rewards, 1.0, terminated=terminated), [])


def lengths(segments: Segments) -> list[tuple[int, bool]]:
    return [(len(one), one.terminated) for one in segments.episodes]


def test_the_rest_of_an_episode_counts_only_if_it_ended_there() -> None:
    segments = Segments(10)
    segments.cut([episode(25), episode(25, terminated=True), episode(6, terminated=True)], 2, None)
    whole, end = (10, False), (5, True)
    assert lengths(segments) == [whole, whole, whole, whole, end, (6, True)]
    assert segments.of_round(2) == list(range(6))
    assert segments.episodes[4].states[0, 0] == 20.0


def test_an_end_at_the_last_step_of_a_segment_belongs_to_it() -> None:
    segments = Segments(10)
    segments.cut([episode(20, terminated=True)], 1, None)
    assert lengths(segments) == [(10, False), (10, True)]


def test_the_usual_length_fits_the_episodes() -> None:
    assert usual_length([episode(200)]) == USUAL_LENGTH
    assert usual_length([episode(20), episode(12)]) == 20  # a time limit
    assert usual_length([episode(6, terminated=True)]) == USUAL_LENGTH  # survivors may come


def test_clips_are_of_the_same_steps() -> None:
    saved: list[tuple[int, int]] = []

    def save(images: list[Image], segment: Episode) -> Path:
        saved.append((len(images), len(segment)))
        return Path("clip.mp4")

    images = [np.zeros((2, 2, 3), np.uint8)] * 26
    segments = Segments(10)
    segments.cut([Recorded(episode(25, terminated=True).episode, images)], 0, save)  # type: ignore[arg-type]
    assert saved == [(11, 10), (11, 10), (6, 5)]
    assert all(one.video is not None for one in segments.episodes)


def test_answers_and_the_newest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefero.deploy.training.segments.MOST_SEGMENTS", 30)
    one = episode(10).episode
    segments = Segments(10, [Segment(one, round) for round in (0, 1, 2) for _ in range(50)])
    kept = segments.worth_keeping({3, 60}, newest=2)
    assert {3, 60} <= set(kept)
    newest = [place for place in kept if place >= 100]
    assert len(newest) == 28
    assert len(kept) == 2 + 28 + 14
    segments.keep(kept)
    assert len(segments) == len(kept)


def test_segments_of_many_lengths_are_judged_over_the_same_time() -> None:
    segments = Segments(10)
    segments.cut([episode(20), episode(14, terminated=True)], 0, None)
    pool = segments.pool(())
    names = list(pool.names)
    ends = pool.features[:, [names.index(f"steps end {n}") for n in (1, 2)]]
    assert ends == pytest.approx(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.4, 1.0]]))
    alike = Segments(10)
    alike.cut([episode(20)], 0, None)
    assert "steps end 1" not in alike.pool(()).names
