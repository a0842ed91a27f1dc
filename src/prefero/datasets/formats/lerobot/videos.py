"""What a LeRobot dataset's cameras saw of an episode: in a film, or picture by picture in its frames."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prefero._support.arrays import Image
from prefero._support.optional import need
from prefero.datasets.base import BadEpisode, Clip
from prefero.datasets.formats.lerobot.episode_index import Place
from prefero.datasets.media.images import decode_image
from prefero.datasets.media.video_files import VideoError, check_span, damage_message, read_frames

AT_ONCE = 16  # pictures in memory
FOLDERS = ("images/{camera}/episode-{episode:06d}", "images/{camera}/episode_{episode:06d}")  # of 3.0, of 2.x


def clip_in(place: Place, camera: str) -> Clip:
    """Where an episode is in a camera's films."""
    if camera not in place.clips:
        raise BadEpisode(str(place.episode), f"there is no film of it by {camera}")
    return place.clips[camera]


def check_video(place: Place, camera: str, seconds: float) -> None:
    """An error that names the episode unless its film is there, and long enough."""
    clip = clip_in(place, camera)
    end = clip.start + place.length * seconds
    try:
        if clip.end is not None and clip.end < end - 1.5 * seconds:
            seen, wanted = clip.end - clip.start, place.length * seconds
            raise VideoError(f"{clip.path} shows {seen:.2f} s of its {wanted:.2f} s")
        check_span(clip.path, clip.start, end, 1 / seconds)
    except VideoError as error:
        raise BadEpisode(str(place.episode), f"its film is damaged: {error}") from error


def video_frames(place: Place, camera: str, seconds: float, first: int, last: int) -> Iterator[Image]:
    """The pictures of some steps, from a film; the next episode's are never among them."""
    clip, count = clip_in(place, camera), last - first
    start = clip.start + first * seconds
    end = start + count * seconds
    end = end if clip.end is None else min(end, clip.end)
    seen = 0
    for picture in read_frames(clip.path, start, end, 1 / seconds):
        seen += 1
        yield picture
    if seen < max(count - 1, 1):  # the last one is easily lost when films are joined
        raise VideoError(f"{clip.path} shows {seen} of its {count} frames")


def image_column_frames(folder: Path, place: Place, camera: str, first: int, last: int) -> Iterator[Image]:
    """The pictures of some steps, from a column of the frames' table; few of them are in memory."""
    shape = None
    for step, value in enumerate(_values(place, camera, first, last), first):
        picture = decode_image(_content(folder, place, camera, value), f"the picture of step {step}")
        shape = shape or picture.shape
        if picture.shape != shape:
            raise VideoError(f"the picture of step {step} is {picture.shape}, and the first {shape}")
        yield picture


def _values(place: Place, camera: str, first: int, last: int) -> Iterator[Any]:
    """What the column holds at some steps, in their order."""
    arrow, datasets = need("pyarrow", extra="datasets"), need("pyarrow.dataset", extra="datasets")
    if not place.path.is_file():
        raise VideoError(f"the file {place.path} is missing")
    episode, frame = datasets.field("episode_index"), datasets.field("frame_index")
    wanted = (episode == place.episode) & (frame >= first) & (frame < last)
    step = first
    try:
        rows = datasets.dataset(place.path, format="parquet").to_batches(
            columns=[camera, "frame_index"], filter=wanted, batch_size=AT_ONCE, batch_readahead=1
        )
        for row in (row for batch in rows for row in batch.to_pylist()):
            if row["frame_index"] != step:
                raise VideoError(f"the picture of step {step} is missing, or not in its order")
            yield row[camera]
            step += 1
    except (arrow.ArrowException, OSError) as error:
        raise VideoError(f"the file {damage_message(place.path, error)}") from error
    if step != last:
        raise VideoError(f"{place.path} holds {step - first} of its {last - first} pictures")


def _content(folder: Path, place: Place, camera: str, value: Any) -> bytes | Path:
    """A picture itself, or where it is: Hugging Face keeps its bytes, its path, or both."""
    inside = value.get("bytes") if isinstance(value, dict) else value if isinstance(value, bytes) else None
    if inside:
        return bytes(inside)
    path = value.get("path") if isinstance(value, dict) else value
    if not isinstance(path, str) or not path:
        return b""
    filled = [folder / f.format(camera=camera, episode=place.episode) / Path(path).name for f in FOLDERS]
    there = [known for known in (folder / path, *filled) if known.is_file()]
    return there[0] if there else folder / path
