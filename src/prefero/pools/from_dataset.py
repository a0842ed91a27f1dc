"""How a pool is made of somebody's own trajectories: each kind of dataset has its way in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

if TYPE_CHECKING:
    from prefero._support.arrays import Array
    from prefero.datasets import Dataset
    from prefero.datasets.features.extract import Feature

Features: TypeAlias = "Sequence[Feature] | None"  # words of the library, or functions of one's own


class FromDatasets:
    """The constructors that `Pool` has for datasets. What reads these is imported when it is needed."""

    if TYPE_CHECKING:

        def __init__(
            self,
            features: Array,
            names: Sequence[str],
            *,
            clips: Sequence[str] | None,
            ids: Sequence[str] | None,
        ) -> None: ...

    @classmethod
    def from_dataset(cls, dataset: Dataset | str | Path, features: Features = None, **how: Any) -> Self:
        """The trajectories of a dataset, given or recognised by its path or id; see `prefero.datasets`.

        `features` says what to note, and `how` is what `prefero.datasets.bring` may be told: window, stride,
        like, drop, log, count, seed, clips, later, skip_bad, keep, jobs, progress.
        """
        from prefero import datasets

        opened = datasets.open_dataset(dataset) if isinstance(dataset, str | Path) else dataset
        found = datasets.bring(opened, features, **how)
        return cls(found.features, found.names, clips=found.clips, ids=found.ids)

    @classmethod
    def from_lerobot(
        cls,
        folder: str | Path,
        features: Features = None,
        *,
        camera: str | None = None,
        task: str | None = None,
        **how: Any,
    ) -> Self:
        """A LeRobot dataset on disk, version 2.0, 2.1 or 3.0, or a task of it; with the films of a camera."""
        from prefero import datasets

        opened = datasets.open_dataset(f"lerobot:{folder}", camera=camera, task=task)
        return cls.from_dataset(opened, features, **how)

    @classmethod
    def from_minari(
        cls,
        place: str | Path,
        features: Features = None,
        *,
        seconds: float | None = None,
        render: bool = False,
        camera: str | None = None,
        **how: Any,
    ) -> Self:
        """A Minari dataset by id or folder, with its pictures; `render` films its recovered environment."""
        from prefero.datasets.formats.minari.dataset import Minari

        opened = Minari(place, seconds=seconds, render=render, camera=camera)
        return cls.from_dataset(opened, features, **how)

    @classmethod
    def from_clips(
        cls, folder: str | Path, table: Any = None, features: Sequence[str] | None = None, **how: Any
    ) -> Self:
        """A folder of films, with a table of their features in it or elsewhere."""
        from prefero.datasets.formats.video_folder import clips_dataset

        return cls.from_dataset(clips_dataset(folder, table, features), **how)

    @classmethod
    def from_table(cls, table: Any, features: Features = None, *, ids: str | None = None, **how: Any) -> Self:
        """A pandas frame, a mapping of columns or arrays, or a .csv, .parquet or .npz file."""
        from prefero import datasets
        from prefero.datasets.formats.tables import in_memory

        path = isinstance(table, str | Path)
        opened = datasets.open_dataset(table, ids=ids) if path else in_memory(table, ids)
        return cls.from_dataset(opened, features, **how)

    @classmethod
    def from_gymnasium(
        cls,
        environment: str | Callable[..., Any],
        features: Features = None,
        *,
        episodes: int = 100,
        policy: str | Callable[[Any], Any] | None = None,
        steps: int | None = None,
        seed: int = 0,
        **how: Any,
    ) -> Self:
        """Episodes of a Gymnasium environment, played by a policy or at random; with videos if it renders."""
        from prefero.datasets.formats.gymnasium import Gymnasium

        played = Gymnasium(environment, episodes=episodes, policy=policy, steps=steps, seed=seed)
        return cls.from_dataset(played, features, **how)
