"""One image of a clip, to recognize it by: of its file, or of the episode that it will be cut from."""

from pathlib import Path

from prefero._support.arrays import Image
from prefero.datasets.media.clips import planned_images
from prefero.datasets.media.video_files import VideoError, middle_frame


def clip_image(path: Path, *, trust: bool = False) -> Image:
    """The frame in the middle of a clip; of one that is not cut yet, the first frame of its episode.

    One frame is decoded, and no clip is cut. `Untrusted` as for `cut_planned_clip`.
    """
    if path.is_file():
        return middle_frame(path)
    images = planned_images(path, trust=trust)
    image = next(images, None)
    if image is None:
        raise VideoError(f"the episode of the clip {path} has no frames")
    return image
