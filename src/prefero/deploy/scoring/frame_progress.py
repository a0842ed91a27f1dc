"""The progress of every frame of a dataset, for LeRobot's reward-aligned behavior cloning (RA-BC).

    progress   (T,)   of the frames of an episode
    growth     (T,)   how much it grows over the next CHUNK frames, or until the end of the episode
    quality    (M,)   of episodes: the probability of being acceptable, where the reward knows that; else the
                      expected fraction of the others that are worse
    cut               the quality that divides the episodes to learn from and those to leave out
    height     (M,)   from -1 (clearly below the cut) over 0 (at the cut) to 1 (clearly above)

RA-BC learns from a frame where the growth is above KAPPA, and leaves it out where the progress falls. There
are two kinds of progress:

    quality    a ramp whose slope is the episode's height, in the same unit for long and short episodes: it
               rises along good episodes and falls along bad ones
    prefix     the reward of the episode up to and with the frame, from 0 (the lowest of any frame) to 1
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from prefero._support.arrays import Array
from prefero._support.progress_bar import progress as progress_bar
from prefero._support.sentences import percent
from prefero.datasets import BadEpisode, Episode, EpisodeDataset, FeatureTable
from prefero.datasets.episode import StepRange
from prefero.deploy.online.prefix_rewards import PrefixRewards
from prefero.deploy.scoring.quality import rate_episodes
from prefero.rewards.reward import Reward

ProgressKind = Literal["auto", "quality", "prefix"]
CUT = 0.25  # of a quality that compares episodes with each other
ACCEPTABLE_CUT = 0.5  # of the probability of being acceptable
CLEAR = 0.1  # a difference of quality from the cut
CHUNK, KAPPA = 50, 0.01  # of RA-BC: the frames of an action chunk, in most policies; the growth that counts
STEEP = 2 * KAPPA / CHUNK  # the least growth of one frame at height 1, for episodes of more than 2500 frames
RISING = 0.8  # by prefixes: the least share of growing frames in good episodes
TELLING = 0.5  # and the most in the others, relative to that
SAMPLED = 12  # episodes of each kind that decide


@dataclass(frozen=True, eq=False)
class FrameProgress:
    """The progress of every frame of some episodes.

    Args:
        values: The progress of each episode's frames, (T,), by the episodes' numbers in the dataset.
        kind: Which progress it is.
        reason: Why it was taken, in a sentence.
    """

    values: dict[int, Array]
    kind: Literal["quality", "prefix"]
    reason: str


def frame_progress(
    reward: Reward,
    table: FeatureTable,
    kind: ProgressKind = "auto",
    cut: float | None = None,
    *,
    trust: bool = False,
) -> FrameProgress:
    """The progress of the frames of episodes by a learned reward.

    Args:
        reward: The reward.
        table: Its features of the episodes, or of windows of them: `reward.extract_features(dataset)`.
        kind: "quality" is a ramp by the quality of an episode or window, "prefix" the reward of the episode
            so far. "auto" takes "prefix" if that grows in most frames of the good episodes and in much fewer
            of the others.
        cut: The quality from which on an episode's progress rises, between 0 and 1; None is 0.5 for the
            probability of being acceptable, and 0.25 for the fraction of the others that are worse.
        trust: Import the functions that the reward's file names.

    Returns:
        The progress, which kind it is, and why.
    """
    check_cut(kind, cut)
    there = table.at_origin()
    if kind == "prefix":
        return FrameProgress(_prefix_progress(reward, there, trust), "prefix", "as asked for")
    if kind == "auto" and len(table) < 2 and not reward.has_bar:
        reason = "a single episode has no others that its quality could be compared with"
        return FrameProgress(_prefix_progress(reward, there, trust), "prefix", reason)
    heights = _frame_heights(there, _heights(reward, table, cut))
    ramps = quality_ramps(heights)
    if kind == "quality":
        return FrameProgress(ramps, "quality", "as asked for")
    tells, reason = _prefixes_tell(reward, there, heights, trust)
    return (
        FrameProgress(_prefix_progress(reward, there, trust), "prefix", reason)
        if tells
        else FrameProgress(ramps, "quality", reason)
    )


def check_cut(kind: ProgressKind, cut: float | None) -> None:
    """An error if the cut is not between 0 and 1, or there is none."""
    if cut is not None and kind == "prefix":
        raise ValueError("the cut is one of quality: take the progress by quality, or leave the cut out")
    if cut is not None and not 0.0 < cut < 1.0:
        raise ValueError(
            f"the cut is a quality between 0 and 1, but is {cut:g}: 0.25 leaves out the worst quarter"
        )


# --- by quality -------------------------------------------------------------------------------------------


def quality_ramps(heights: dict[int, Array]) -> dict[int, Array]:
    """Ramps with the slopes of these heights (T,), one of each frame; in the middle of each it is 0.5.

    The slope is the same in all episodes: the longest of height 1 rises from 0 to 1. In very long ones it
    goes beyond, since the growth over a chunk would be too small to count.
    """
    slope = max(1.0 / max(map(len, heights.values())), STEEP)
    sums = {number: np.cumsum(values) - values for number, values in heights.items()}
    return {number: 0.5 + slope * (grown - 0.5 * grown[-1]) for number, grown in sums.items()}


def _heights(reward: Reward, table: FeatureTable, cut: float | None) -> Array:
    """Of each row of the table."""
    if reward.has_bar:
        quality, usual = reward.probability_acceptable(table.features), ACCEPTABLE_CUT
    else:
        quality, usual = rate_episodes(reward, table.features).quality, CUT
    return np.clip((quality - (usual if cut is None else cut)) / CLEAR, -1.0, 1.0)


def _frame_heights(there: FeatureTable, heights: Array) -> dict[int, Array]:
    """Of each frame of each episode: of the windows that it is in, or of the episode."""
    rows: dict[int, list[int]] = {}
    for row, number in enumerate(there.numbers):
        rows.setdefault(number, []).append(row)
    lengths = _episode_lengths(there, list(rows))
    return {
        number: _covered([there.segments[row] for row in own], heights[own], lengths[number])
        for number, own in rows.items()
    }


def _episode_lengths(there: FeatureTable, numbers: Sequence[int]) -> dict[int, int]:
    if there.steps is not None and not any(there.segments):
        return dict(zip(there.numbers, there.steps.tolist(), strict=True))
    return {number: len(episode) for number, episode in _episodes(there, numbers)}


def _covered(segments: Sequence[StepRange | None], heights: Array, length: int) -> Array:
    """The mean height of the segments that each frame is in; of all where it is in none."""
    total, count = np.zeros(length), np.zeros(length)
    for segment, height in zip(segments, heights, strict=True):
        frames = slice(*(segment or (0, length)))
        total[frames] += height
        count[frames] += 1
    return np.where(count > 0, total / np.maximum(count, 1), heights.mean())


# --- by the reward of the episode so far ------------------------------------------------------------------


def _prefix_progress(reward: Reward, there: FeatureTable, trust: bool) -> dict[int, Array]:
    rewards = _prefix_rewards(reward, there, list(dict.fromkeys(there.numbers)), trust)
    return _from_0_to_1(rewards)


def _prefix_rewards(
    reward: Reward, there: FeatureTable, numbers: Sequence[int], trust: bool
) -> dict[int, Array]:
    """The rewards of all beginnings of these episodes."""
    prefixes = PrefixRewards.of(replace(reward, feature_spec=there.spec or reward.feature_spec), trust=trust)
    rewards = {}
    with progress_bar("rewards of all frames", len(numbers)) as advance:
        for number, episode in _episodes(there, numbers):
            rewards[number] = prefixes(episode)
            advance(1)
    return rewards


def _episodes(there: FeatureTable, numbers: Sequence[int]) -> Iterator[tuple[int, Episode]]:
    assert isinstance(there.dataset, EpisodeDataset)
    for number, episode in zip(numbers, there.dataset.read(numbers), strict=True):
        if isinstance(episode, BadEpisode):
            raise episode
        yield number, episode


def _from_0_to_1(rewards: dict[int, Array]) -> dict[int, Array]:
    """On one scale for all episodes; all 0 if all are equal, since then nothing grows."""
    low = min(values.min() for values in rewards.values())
    range_ = max(values.max() for values in rewards.values()) - low
    return {number: (values - low) / (range_ or 1.0) for number, values in rewards.items()}


def _prefixes_tell(
    reward: Reward, there: FeatureTable, heights: dict[int, Array], trust: bool
) -> tuple[bool, str]:
    """Whether the rewards of beginnings tell good episodes from the others, by some of both; and why."""
    spec = there.spec or reward.feature_spec
    if spec is None or spec.columns:
        return False, "the reward does not know how its features are computed for a part of an episode"
    order = sorted(heights, key=lambda number: float(heights[number].mean()))
    good = [number for number in order if heights[number].mean() > 0.0]
    others = [number for number in order if heights[number].mean() <= 0.0]
    sampled = [*_spread(good), *_spread(others)]
    grown = _from_0_to_1(_prefix_rewards(reward, there, sampled, trust))
    growing = {number: _share_growing(values) for number, values in grown.items()}
    in_good, in_others = (
        float(np.mean([growing[number] for number in some])) if some else 0.0
        for some in (_spread(good), _spread(others))
    )
    tells = in_good >= RISING and in_others <= TELLING * in_good
    said = f"the reward of an episode so far grows in {percent(in_good)} of the frames of good episodes"
    return tells, said + (f" and in {percent(in_others)} of those of the others" if others else "")


def _spread(numbers: Sequence[int]) -> list[int]:
    """Some of these, evenly spaced."""
    places = np.linspace(0, len(numbers) - 1, min(len(numbers), SAMPLED)).round().astype(int)
    return [numbers[place] for place in np.unique(places)]


def _share_growing(progress: Array) -> float:
    """In which share of the frames RA-BC sees it grow; that of an episode's last frame never does."""
    ahead = np.minimum(np.arange(len(progress)) + CHUNK, len(progress) - 1)
    growth = progress[ahead] - progress
    return float(np.mean(growth[:-1] > KAPPA)) if len(growth) > 1 else 0.0
