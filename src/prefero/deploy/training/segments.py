"""Segments of episodes: what the questions of a loop are about, and the pool that is made of them.

length      the steps of a segment; one at whose end the environment ended the episode may have fewer
round       in which it was recorded: 0 for the first, random actions
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array, Image
from prefero.datasets.episode import Episode, VideoSpan
from prefero.datasets.features.embeddings.fitted import steps_of
from prefero.datasets.features.embeddings.steps import StepEmbedding
from prefero.datasets.features.extraction.from_spec import seen_in
from prefero.deploy.compiled.step_reward import STEPS_WORD
from prefero.deploy.training.recorded_steps import Recorded
from prefero.pools.pool import Pool
from prefero.trajectories.feature_spec import of_both

MOST_SEGMENTS = 400  # of a pool; those that questions were about are always kept
USUAL_LENGTH = 50
OLDER = 0.5  # older segments without an answer, for each new one: questions are about the newest policy
LEAST_OLDER = 10

SaveClip = Callable[[Sequence[Image], Episode], Path]


class Segment(NamedTuple):
    """Some successive steps of an episode, and the round in which they were recorded."""

    episode: Episode
    round: int


def usual_length(recorded: Sequence[Recorded]) -> int:
    """50 steps; the longest episode, where a time limit makes all of them shorter."""
    episodes = [one.episode for one in recorded]
    if any(one.terminated for one in episodes):  # one that survives for longer may come
        return USUAL_LENGTH
    return min(USUAL_LENGTH, max(map(len, episodes), default=USUAL_LENGTH))


@dataclass
class Segments:
    """The segments so far.

    Args:
        length: The steps of each.
        found: The segments.
    """

    length: int
    found: list[Segment] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.found)

    @property
    def episodes(self) -> list[Episode]:
        """All segments as episodes."""
        return [one.episode for one in self.found]

    def of_round(self, number: int) -> list[int]:
        """The places of the segments of a round."""
        return [place for place, one in enumerate(self.found) if one.round == number]

    def cut(self, recorded: Sequence[Recorded], number: int, save_clip: SaveClip | None) -> None:
        """Add what was recorded in a round; what is left of an episode counts only if it was terminated."""
        for episode, images in recorded:
            for start in range(0, len(episode), self.length):
                segment = episode.segment((start, min(start + self.length, len(episode))))
                if len(segment) < self.length and not segment.terminated:
                    continue
                if save_clip is not None and images:
                    shown = images[start : start + len(segment) + 1]
                    segment = replace(segment, video=VideoSpan(save_clip(shown, segment)))
                self.found.append(Segment(segment, number))

    def worth_keeping(self, shown: Collection[int], newest: int) -> list[int]:
        """The segments that questions were about, those of the newest round, and some of every age."""
        new = [place for place in self.of_round(newest) if place not in shown]
        others = [
            place for place in range(len(self)) if place not in shown and self.found[place].round < newest
        ]
        new = _evenly(new, max(MOST_SEGMENTS - len(shown), 2))
        others = _evenly(others, max(int(OLDER * len(new)), LEAST_OLDER))
        return sorted({*shown, *new, *others})

    def keep(self, places: Sequence[int]) -> None:
        """Only the segments at these places."""
        self.found = [self.found[place] for place in places]

    @property
    def steps(self) -> Array:
        """The states and actions of all steps, (n, d)."""
        return np.concatenate([steps_of(one) for one in self.episodes])

    @property
    def _horizon(self) -> int:
        """The length, if some segments ended early and others did not, or later; otherwise 0."""
        ends = {(len(one), one.terminated) for one in self.episodes}
        return self.length if len(ends) > 1 else 0

    def pool(self, wrappers: tuple[str, ...]) -> Pool:
        """The segments with their step features, in units of all of them."""
        embedding = StepEmbedding.fit(self.episodes, 0, self._horizon)
        rows = np.stack([list(embedding(segment).values()) for segment in self.episodes])
        seen = reduce(of_both, map(seen_in, self.episodes), None)
        assert seen is not None
        spec = replace(
            seen,
            words=(STEPS_WORD,),
            window=f"{self.length} steps",
            stride=f"{self.length} steps",
            fitted={STEPS_WORD: embedding.arrays()},
            wrappers=wrappers,
        )
        ids = [f"{place}" for place in range(len(rows))]
        clips = [str(one.video.path) for one in self.episodes if one.video is not None] or None
        return Pool(rows, embedding.of_steps.names, ids=ids, clips=clips, feature_spec=spec)


def _evenly(places: list[int], most: int) -> list[int]:
    """At most so many of them, evenly spaced."""
    if len(places) <= most:
        return places
    return [places[place] for place in np.linspace(0, len(places) - 1, most).round().astype(int)]
