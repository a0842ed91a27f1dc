"""LeRobot datasets on the Hugging Face Hub: hf://OWNER/NAME, downloaded as far as they are used.

Opening one downloads its metadata. The numbers of an episode are downloaded when it is read, and its videos
when they are shown. In version 3.0 one file holds many episodes, and is downloaded once for all of them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from prefero._support.arrays import Image, Indices
from prefero._support.hub import PREFIX, HubAddress, HubSnapshot
from prefero._support.progress_bar import progress
from prefero.datasets.episode import BadEpisode, StepRange
from prefero.datasets.format_options import DatasetSpec
from prefero.datasets.formats.lerobot.dataset import LeRobotDataset, LeRobotOptions
from prefero.datasets.formats.lerobot.episode_index import INFO, find_episode
from prefero.datasets.outcomes import Reduction
from prefero.datasets.scores.scores import Advance, EpisodeScores

META = "meta/"


class HubDataset(LeRobotDataset):
    """A LeRobot dataset on the Hub, at one commit."""

    format_name = "hub"
    description = f"a LeRobot dataset on the Hugging Face Hub ({PREFIX}OWNER/NAME)"

    def __init__(self, address: str, options: LeRobotOptions | None = None) -> None:
        self.snapshot = HubSnapshot.open(HubAddress.of(address, "dataset"))
        self._fetch_metadata()
        super().__init__(self.snapshot.folder, options)
        self.name = self.snapshot.address.repository
        known = replace(self.options, camera=",".join(self.cameras) or self.options.camera, task=self.task)
        place = f"{self.name}@{self.snapshot.address.revision}"  # opened again, it is the same commit
        self.spec, self.files = DatasetSpec.of("hub", place, known), ()

    def _fetch_metadata(self) -> None:
        if INFO.as_posix() not in self.snapshot.files:
            raise ValueError(
                f"{self.snapshot.address.repository} is on the Hub, but is no LeRobot dataset: it has no "
                f"{INFO.as_posix()}"
            )
        self._fetch_all(name for name in self.snapshot.files if name.startswith(META))

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """An address of the Hub."""
        return path.startswith(PREFIX)

    @property
    def index_files(self) -> tuple[Path, ...]:
        """None: a commit does not change."""
        return ()

    # --- files --------------------------------------------------------------------------------------------

    def _fetch(self, path: Path, episode: int) -> None:
        name = path.relative_to(self.root).as_posix()
        if not path.is_file() and name not in self.snapshot.files:
            raise BadEpisode(str(episode), f"{self.name} has no file {name} on the Hub")
        self.snapshot.fetch(name)

    def _table(self, number: int, only: int | None = None) -> Any:
        self._fetch_numbers(number)
        return super()._table(number, only)

    def _fetch_numbers(self, number: int) -> None:
        """The file of an episode's frames; the index may name the one before it, so others are tried too."""
        entry = self.entries[number]
        if not entry.problem:
            self._fetch(entry.path, entry.episode)
            self.entries[number] = find_episode(entry, self._frame_files(entry.path))

    def _frame_files(self, first: Path) -> Iterator[Path]:
        """All files of frames, each downloaded when it is looked at."""
        yield first
        folder = str(self.info["data_path"]).partition("/")[0]
        for name in sorted(self.snapshot.files):
            if name.startswith(f"{folder}/") and name.endswith(".parquet"):
                yield self.snapshot.fetch(name)

    def frame_indices(self, number: int) -> Indices:
        """The numbers of an episode's frames in the dataset."""
        self._fetch_numbers(number)
        return super().frame_indices(number)

    def _place_for_lerobot(self) -> str:
        return f"--repo_id {self.snapshot.address.repository}"

    def outcome_column(self, name: str, reduce: Reduction) -> tuple[Any, ...] | None:
        """A column of the episodes' tables, or of the frames', which are downloaded if they have it."""
        for number in range(len(self)) if name in self._features() else ():
            self._fetch_numbers(number)
        return super().outcome_column(name, reduce)

    # --- videos -------------------------------------------------------------------------------------------

    def _is_missing(self, camera: str) -> bool:
        paths = self._video_paths(camera)
        names = {path.relative_to(self.root).as_posix() for path in paths}
        return self._in_videos(camera) and not names & self.snapshot.files

    def check_video(self, number: int) -> None:
        """`BadEpisode` if a video is not on the Hub, or was downloaded and is damaged."""
        entry = self.entries[number]
        spans = [entry.videos[camera] for camera in self.cameras if camera in entry.videos]
        for span in spans:
            name = span.path.relative_to(self.root).as_posix()
            if name not in self.snapshot.files:
                raise BadEpisode(str(entry.episode), f"its video {name} is not on the Hub")
        if all(span.path.is_file() for span in spans):
            super().check_video(number)

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """The cameras' images, whose videos are downloaded now."""
        entry = self.entries[number]
        for camera in self.cameras:
            if not self._in_videos(camera):
                self._fetch_numbers(number)
            elif camera in entry.videos:
                self._fetch(entry.videos[camera].path, entry.episode)
        return super().frames(number, steps)

    # --- scores -------------------------------------------------------------------------------------------

    def write_scores(self, scores: EpisodeScores, folder: Path, final_path: Path, advance: Advance) -> None:
        """Write a copy with the scores; what is missing of the dataset is downloaded first."""
        self._fetch_all(self.snapshot.files)
        super().write_scores(scores, folder, final_path, advance)

    def _fetch_all(self, names: Iterable[str]) -> None:
        missing = sorted(name for name in names if not (self.snapshot.folder / name).is_file())
        with progress(f"downloading {self.snapshot.address}", len(missing), None) as advance:
            for name in missing:
                self.snapshot.fetch(name)
                advance(1)
