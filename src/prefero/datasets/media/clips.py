"""Clips of a dataset's trajectories in a folder: all cut now, or each when it is first wanted.

A folder of clips holds a plan beside them, plan.json: how the dataset is opened, and which piece of which
episode each file shows. So a clip that is not there yet can be cut by whoever needs it.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prefero._support.files import cache_folder, write_atomically
from prefero._support.optional import need
from prefero._support.progress_bar import progress
from prefero.datasets.base import BadEpisode, Dataset, StepRange
from prefero.datasets.features.table import FeatureTable
from prefero.datasets.registry import for_workers, in_worker, open_recipe

PLAN = "plan.json"
FEW = 8  # clips that are cut before other processes have started


def clip_folder(dataset: Dataset) -> Path:
    """Where the clips of a dataset are kept when nobody says otherwise: in the cache."""
    name = re.sub(r"[^\w.-]+", "-", dataset.name)
    return cache_folder() / "clips" / f"{name}-{dataset.version[:12]}"


def cut_clips(
    gathered: FeatureTable,
    folder: Path,
    *,
    skip_bad: bool = False,
    jobs: int | None = None,
    show: bool | None = None,
) -> tuple[FeatureTable, tuple[Path, ...]]:
    """The clips of all rows, cut on all cores where they are not there; and the rows that have one."""
    joblib = need("joblib", extra="datasets")
    rows = list(zip(gathered.numbers, gathered.parts, strict=True))
    cores = jobs or (joblib.cpu_count() if len(rows) > FEW else 1)
    parallel = joblib.Parallel(n_jobs=cores, return_as="generator")
    sent = for_workers(gathered.dataset, cores)
    work = (joblib.delayed(_cut)(sent, number, folder, part) for number, part in rows)
    paths: dict[int, Path] = {}
    bad = dict(gathered.left_out)
    with progress(f"cutting clips of {gathered.dataset.name}", len(rows), show) as advance:
        for row, made in enumerate(parallel(work)):
            if isinstance(made, BadEpisode) and not skip_bad:
                raise made.or_skip()
            if isinstance(made, BadEpisode):
                bad[made.episode] = made.why
            else:
                paths[row] = made
            advance(1)
    if not paths:
        raise ValueError(f"no clip of {gathered.dataset.name} could be cut: {next(iter(bad.values()))}")
    chosen = gathered.chosen(list(paths))
    chosen.left_out.update(bad)
    return chosen, tuple(paths.values())


def _cut(sent: Dataset | str, number: int, folder: Path, part: StepRange | None) -> Path | BadEpisode:
    try:
        return in_worker(sent).cut_clip(number, folder, part)
    except BadEpisode as error:
        return error


# --- later ------------------------------------------------------------------------------------------------


def plan(gathered: FeatureTable, folder: Path) -> tuple[Path, ...]:
    """Where the clips of all rows will be; nothing is cut before `cut` is asked to."""
    dataset = gathered.dataset
    if dataset.recipe is None:
        raise ValueError(f"{dataset.name} cannot be opened again from words alone: cut its clips now")
    places = zip(gathered.numbers, gathered.parts, strict=True)
    paths = tuple(dataset.clip_path(number, folder, part) for number, part in places)
    rows = zip(paths, gathered.numbers, gathered.parts, strict=True)
    clips = {path.name: [number, part] for path, number, part in rows if path.parent == folder}
    known, contents = _read(folder), dataset.contents()
    if known is not None and (known["recipe"], known.get("contents", [])) != (dataset.recipe, contents):
        raise ValueError(f"{folder} has clips of another dataset: choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    clips |= known["clips"] if known else {}
    about = {"recipe": dataset.recipe, "contents": contents, "clips": clips}
    write_atomically(folder / PLAN, json.dumps(about))
    return paths


def _read(folder: Path) -> dict[str, Any] | None:
    try:
        known = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) and {"recipe", "clips"} <= set(known) else None


def missing(clips: Iterable[str | Path]) -> list[Path]:
    """The clips that are neither there nor planned."""
    absent = [place for place in map(Path, clips) if not place.is_file()]
    plans = {folder: _read(folder) for folder in {place.parent for place in absent}}
    return [p for p in absent if p.name not in (plans[p.parent] or {"clips": ()})["clips"]]


def cut(path: str | Path) -> Path:
    """The clip itself, cut by the plan beside it if it is not there yet."""
    place = Path(path)
    if place.is_file():
        return place
    known = _read(place.parent)
    if known is None or place.name not in known["clips"]:
        raise ValueError(f"the clip {place} is missing, and no plan beside it says how to cut it")
    number, part = known["clips"][place.name]
    dataset, steps = open_recipe(known["recipe"]), None if part is None else tuple(part)
    same = known.get("contents", []) == dataset.contents()
    if not same or dataset.cut_clip(number, place.parent, steps) != place:
        raise ValueError(f"the clip {place} is missing, and its dataset has changed since it was planned")
    return place
