"""Images of a LeRobot dataset's cameras: in a video, or one by one in the table of frames."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prefero._support.arrays import Image
from prefero._support.files import inside
from prefero._support.optional import need
from prefero.datasets.episode import BadEpisode, VideoSpan
from prefero.datasets.formats.lerobot.episode_index import EpisodeEntry
from prefero.datasets.media.images import decode_image
from prefero.datasets.media.video_files import VideoError, check_span, damage_message, read_frames

BATCH = 16  # images in memory at a time
FOLDERS = ("images/{camera}/episode-{episode:06d}", "images/{camera}/episode_{episode:06d}")  # of 3.0, of 2.x


def video_span(entry: EpisodeEntry, camera: str) -> VideoSpan:
    """Where a camera's video shows an episode."""
    if camera not in entry.videos:
        raise BadEpisode(str(entry.episode), f"there is no video of it by {camera}")
    return entry.videos[camera]


def check_video(entry: EpisodeEntry, camera: str, step_seconds: float) -> None:
    """`BadEpisode` unless the video of an episode is there, and long enough."""
    span = video_span(entry, camera)
    end = span.start + entry.length * step_seconds
    try:
        if span.end is not None and span.end < end - 1.5 * step_seconds:
            shown, wanted = span.end - span.start, entry.length * step_seconds
            raise VideoError(f"{span.path} shows {shown:.2f} s of its {wanted:.2f} s")
        check_span(span.path, span.start, end, 1 / step_seconds)
    except VideoError as error:
        raise BadEpisode(str(entry.episode), f"its video is damaged: {error}") from error


def video_frames(
    entry: EpisodeEntry, camera: str, step_seconds: float, first: int, last: int
) -> Iterator[Image]:
    """The images of some steps, from a video; those of the next episode are never among them."""
    span, count = video_span(entry, camera), last - first
    start = span.start + first * step_seconds
    end = start + count * step_seconds
    end = end if span.end is None else min(end, span.end)
    shown = 0
    for image in read_frames(span.path, start, end, 1 / step_seconds):
        shown += 1
        yield image
    if shown < max(count - 1, 1):  # the last one is easily lost when videos are concatenated
        raise VideoError(f"{span.path} shows {shown} of its {count} frames")


def image_column_frames(
    folder: Path, entry: EpisodeEntry, camera: str, first: int, last: int
) -> Iterator[Image]:
    """The images of some steps, from a column of the frames' table; few of them are in memory."""
    shape = None
    for step, value in enumerate(_values(entry, camera, first, last), first):
        image = decode_image(_content(folder, entry, camera, value), f"the image of step {step}")
        shape = shape or image.shape
        if image.shape != shape:
            raise VideoError(f"the image of step {step} is {image.shape}, and the first {shape}")
        yield image


def _values(entry: EpisodeEntry, camera: str, first: int, last: int) -> Iterator[Any]:
    """What the column holds at some steps, in their order."""
    arrow, datasets = need("pyarrow", extra="datasets"), need("pyarrow.dataset", extra="datasets")
    if not entry.path.is_file():
        raise VideoError(f"the file {entry.path} is missing")
    episode, frame = datasets.field("episode_index"), datasets.field("frame_index")
    wanted = (episode == entry.episode) & (frame >= first) & (frame < last)
    step = first
    try:
        rows = datasets.dataset(entry.path, format="parquet").to_batches(
            columns=[camera, "frame_index"], filter=wanted, batch_size=BATCH, batch_readahead=1
        )
        for row in (row for batch in rows for row in batch.to_pylist()):
            if row["frame_index"] != step:
                raise VideoError(f"the image of step {step} is missing, or out of order")
            yield row[camera]
            step += 1
    except (arrow.ArrowException, OSError) as error:
        raise VideoError(f"the file {damage_message(entry.path, error)}") from error
    if step != last:
        raise VideoError(f"{entry.path} has {step - first} of its {last - first} images")


def _content(folder: Path, entry: EpisodeEntry, camera: str, value: Any) -> bytes | Path:
    """An image itself, or where it is: Hugging Face stores its bytes, its path, or both."""
    content = value.get("bytes") if isinstance(value, dict) else value if isinstance(value, bytes) else None
    if content:
        return bytes(content)
    path = value.get("path") if isinstance(value, dict) else value
    if not isinstance(path, str) or not path:
        return b""
    filled = [folder / f.format(camera=camera, episode=entry.episode) / Path(path).name for f in FOLDERS]
    there = [known for known in (folder / path, *filled) if known.is_file()]
    return inside(folder, there[0] if there else folder / path, "an image")
