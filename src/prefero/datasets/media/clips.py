"""Clips of a dataset's trajectories in a folder: all cut now, or each when it is first shown.

A folder of clips that are cut later holds a plan, plan.json: the spec of the dataset, and which segment of
which episode each file shows, with how many frames if that is known. So the server can cut a clip when it is
first needed. A plan may come from somebody else, so it runs code only if the user trusts it, or named the
same dataset in this process.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from prefero._support.arrays import Image
from prefero._support.engine import Engine
from prefero._support.files import cache_folder, write_atomically
from prefero._support.optional import MissingExtra
from prefero._support.progress_bar import progress as progress_bar
from prefero._support.systems import usable_cores
from prefero.datasets.base import Dataset, EpisodeDataset
from prefero.datasets.episode import BadEpisode, Episode, StepRange
from prefero.datasets.features.tables.table import FeatureTable
from prefero.datasets.format_options import DatasetSpec
from prefero.datasets.media.video_files import VideoError, check_complete
from prefero.datasets.registry import (
    FORMATS,
    Untrusted,
    allow,
    for_workers,
    in_worker,
    is_allowed,
    open_once,
    spec_from_json,
    spec_options,
)

PLAN = "plan.json"
SERIAL_CLIPS = 8  # so many are cut before worker processes have started


def clip_folder(dataset: Dataset) -> Path:
    """The folder in Prefero's cache for the clips of a dataset."""
    return cache_folder() / "clips" / dataset.cache_name


def cut_clips(
    table: FeatureTable,
    folder: Path,
    *,
    skip_bad: bool = False,
    jobs: int | None = None,
    progress: bool | None = None,
) -> tuple[FeatureTable, tuple[Path, ...]]:
    """The clips of all rows, cut on all cores unless they are there; and the rows that have one."""
    rows = list(zip(table.numbers, table.segments, strict=True))
    engine = Engine(jobs=jobs or (usable_cores() if len(rows) > SERIAL_CLIPS else 1))
    cut = partial(_cut, for_workers(table.dataset, here=engine.is_here), folder)
    paths: dict[int, Path] = {}
    skipped = dict(table.skipped)
    with progress_bar(f"cutting clips of {table.dataset.name}", len(rows), progress) as advance:
        for row, made in enumerate(engine.map(cut, rows)):
            if isinstance(made, BadEpisode) and not skip_bad:
                raise made.with_skip_hint()
            if isinstance(made, BadEpisode):
                skipped[made.episode] = made.reason
            else:
                paths[row] = made
            advance(1)
    if not paths:
        raise ValueError(f"no clip of {table.dataset.name} could be cut: {next(iter(skipped.values()))}")
    chosen = table.rows(list(paths))
    chosen.skipped.update(skipped)
    return chosen, tuple(paths.values())


def _cut(sent: Dataset | DatasetSpec, folder: Path, row: tuple[int, StepRange | None]) -> Path | BadEpisode:
    number, segment = row
    try:
        return in_worker(sent).cut_clip(number, folder, segment)
    except BadEpisode as error:
        return error


# --- clips that are cut later -----------------------------------------------------------------------------


def plan_clips(table: FeatureTable, folder: Path) -> tuple[Path, ...]:
    """The paths of the clips of all rows; `cut_planned_clip` cuts one when it is needed."""
    dataset = table.dataset
    if dataset.spec is None:
        raise ValueError(f"{dataset.name} cannot be opened again by a path: cut its clips now")
    places = zip(table.numbers, table.segments, strict=True)
    paths = tuple(dataset.clip_path(number, folder, segment) for number, segment in places)
    steps = [None] * len(paths) if table.steps is None else table.steps.tolist()
    rows = zip(paths, table.numbers, table.segments, steps, strict=True)
    clips = {path.name: list(planned) for path, *planned in rows if path.parent == folder}
    about = {"dataset": dataset.spec.to_json(), "version_parts": dataset.version_parts()}
    known = _read_plan(folder)
    if known is not None and {key: known[key] for key in about} != about:
        raise ValueError(f"{folder} has clips of another dataset: choose another folder")
    if FORMATS.get(dataset.spec.format).code_run(dataset.spec.path, spec_options(dataset.spec)):
        allow(dataset.spec)  # it is open in this process, so its code runs already
    folder.mkdir(parents=True, exist_ok=True)
    clips = {**(known["clips"] if known else {}), **clips}
    write_atomically(folder / PLAN, json.dumps({**about, "clips": clips}))
    return paths


def _read_plan(folder: Path) -> dict[str, Any] | None:
    try:
        known = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    wanted = {"dataset", "version_parts", "clips"}
    whole = isinstance(known, dict) and wanted <= set(known) and isinstance(known["clips"], dict)
    return known if whole and all(map(_is_place, known["clips"].values())) else None


def _is_place(value: Any) -> bool:
    """Is this the number of an episode, a segment of it or none, and how many frames or none?"""
    if not isinstance(value, list) or len(value) != 3 or type(value[0]) is not int:
        return False
    steps, frames = value[1:]
    if frames is not None and type(frames) is not int:
        return False
    return steps is None or (isinstance(steps, list) and [type(step) for step in steps] == [int, int])


def missing_clips(clips: Iterable[str | Path]) -> list[Path]:
    """The clips that neither exist nor are planned."""
    absent = [place for place in map(Path, clips) if not place.is_file()]
    plans = {folder: _read_plan(folder) for folder in {place.parent for place in absent}}
    return [p for p in absent if p.name not in (plans[p.parent] or {"clips": ()})["clips"]]


def check_plans(clips: Iterable[str | Path]) -> None:
    """`Untrusted` if cutting one of these clips would run code that the user has not named."""
    for folder in sorted({place.parent for place in map(Path, clips) if not place.is_file()}):
        known = _read_plan(folder)
        if known is not None:
            spec = spec_from_json(known["dataset"])
            code = FORMATS.get(spec.format).code_run(spec.path, spec_options(spec))
            if code and not is_allowed(spec):
                raise Untrusted(
                    f"the videos in {folder} are not cut yet, and cutting them would run {code}: add --trust "
                    "if you trust that folder"
                )


def cut_planned_clip(path: str | Path, *, trust: bool = False) -> Path:
    """The clip itself, cut by the plan beside it unless it is there; the dataset is opened once for many.

    `Untrusted` if the plan names code, unless `trust` says so or the user named it in this process.
    """
    place = Path(path)
    if place.is_file():
        return place
    known = _read_plan(place.parent)
    if known is None or place.name not in known["clips"]:
        raise ValueError(f"the clip {place} is missing, and no plan beside it says how to cut it")
    dataset, number, steps = _open_planned(place, known, trust)
    return dataset.cut_clip(number, place.parent, steps)


def planned_images(path: str | Path, *, trust: bool = False) -> Iterator[Image]:
    """The images of which a clip will be made, by the plan beside it, each decoded when it is taken.

    `Untrusted` as for `cut_planned_clip`.
    """
    place = Path(path)
    known = _read_plan(place.parent)
    if known is None or place.name not in known["clips"]:
        raise ValueError(f"the clip {place} is missing, and no plan beside it says how to cut it")
    dataset, number, steps = _open_planned(place, known, trust)
    return dataset.frames(number, steps)[0]


def planned_episode(path: str | Path, *, trust: bool = False) -> Episode | None:
    """The episode, or the segment of one, that a clip shows by the plan beside it.

    None without a plan, and for datasets without episodes. `Untrusted` as for `cut_planned_clip`.
    """
    place = Path(path)
    known = _read_plan(place.parent)
    if known is None or place.name not in known["clips"]:
        return None
    dataset, number, steps = _open_planned(place, known, trust)
    if dataset.origin is not None:  # the features of a table were extracted from another dataset
        number, steps = dataset.origin.numbers[number], dataset.origin.segments[number]
        dataset = dataset.origin.dataset
    if not isinstance(dataset, EpisodeDataset):
        return None
    episode = dataset.episode(number)
    return episode if steps is None else episode.segment(steps)


def planned_cameras(path: str | Path) -> list[str]:
    """The cameras that a planned clip shows side by side; none if there is one, or no plan."""
    known = _read_plan(Path(path).parent)
    options = known["dataset"].get("options") if known and isinstance(known["dataset"], dict) else None
    camera = options.get("camera") if isinstance(options, dict) else None
    names = camera.split(",") if isinstance(camera, str) else []
    return names if len(names) > 1 else []


def camera_clip(path: str | Path, camera: str) -> Path:
    """Where the clip of one camera is, or will be: beside that of all cameras."""
    place = Path(path)
    return place.parent / f"camera-{hashlib.sha256(camera.encode()).hexdigest()[:16]}" / place.name


def cut_camera_clip(path: str | Path, camera: str, *, trust: bool = False) -> Path:
    """The clip of one camera, cut by the plan of the clip of all. `Untrusted` as for `cut_planned_clip`."""
    place, wanted = Path(path), camera_clip(path, camera)
    known = _read_plan(place.parent)
    if camera not in planned_cameras(place) or known is None or place.name not in known["clips"]:
        raise ValueError(f"no plan beside the clip {place} says how to cut it for the camera {camera!r}")
    _, number, steps = _open_planned(place, known, trust)
    spec = known["dataset"]
    one = open_once(spec_from_json({**spec, "options": {**spec["options"], "camera": camera}}), trust=trust)
    return one.cut_clip(number, wanted.parent, steps)


def _open_planned(place: Path, known: dict[str, Any], trust: bool) -> tuple[Dataset, int, StepRange | None]:
    """The dataset of a planned clip, and what of it the clip shows."""
    number, segment, _ = known["clips"][place.name]
    dataset = open_once(spec_from_json(known["dataset"]), trust=trust)
    steps = None if segment is None else (segment[0], segment[1])
    same = known["version_parts"] == dataset.version_parts()
    if not same or dataset.clip_path(number, place.parent, steps) != place:
        raise ValueError(f"the dataset of the clip {place} has changed since it was planned")
    return dataset, number, steps


def is_planned(path: str | Path) -> bool:
    """Is this a clip that is not there yet, and can be cut?"""
    return not Path(path).is_file() and not missing_clips([path])


def planned_frames(path: str | Path) -> int | None:
    """How many frames a clip will have, if its plan says so."""
    known = _read_plan(Path(path).parent)
    _, _, frames = (known or {"clips": {}})["clips"].get(Path(path).name, (None, None, None))
    return None if frames is None else int(frames)


def clip_problem(path: str | Path) -> str | None:
    """Why the file of a clip cannot be played: it is missing, damaged or cut short. None if it is whole.

    Whether a browser knows its codec only the browser can tell.
    """
    place = Path(path)
    try:
        about = place.stat()
    except OSError:
        return f"the clip {place} is missing"
    return _damage(place, about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=4096)
def _damage(path: Path, size: int, changed: int) -> str | None:
    """The arguments after the path tell when the file was replaced."""
    del size, changed
    try:
        check_complete(path)
    except VideoError as error:
        return str(error)
    except MissingExtra:
        return None  # without PyAV nothing is known of it
    return None
