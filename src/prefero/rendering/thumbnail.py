"""Small images: JPEG files of a few kilobytes, for a page that shows many trajectories at once."""

from fractions import Fraction

from prefero._support.arrays import Array, Image
from prefero._support.optional import need
from prefero.rendering.scene_rasterizer import SceneRasterizer
from prefero.rendering.scenes import Scene

SIDE = 320  # pixels of the longer side
SCENE_WIDTH, SCENE_HEIGHT = 300, 200
VERSION = 1  # of what thumbnails look like: others are made anew
QUALITY = 5  # of FFmpeg's scale from 2, the best, to 31


def jpeg(image: Image, side: int = SIDE) -> bytes:
    """The image as a JPEG file, made smaller if a side of it is longer than this."""
    av = need("av", extra="server")
    height, width = image.shape[:2]
    scale = min(1.0, side / max(height, width))
    size = {"width": max(2, round(width * scale)), "height": max(2, round(height * scale))}
    frame = av.VideoFrame.from_ndarray(image, format="rgb24").reformat(
        **size, format="yuvj420p", interpolation="AREA"
    )
    encoder = av.CodecContext.create("mjpeg", "w")
    encoder.width, encoder.height, encoder.pix_fmt = frame.width, frame.height, "yuvj420p"
    encoder.time_base, encoder.options = Fraction(1, 25), {"qmin": str(QUALITY), "qmax": str(QUALITY)}
    return b"".join(bytes(packet) for packet in (*encoder.encode(frame), *encoder.encode(None)))


class SceneThumbnails:
    """Images of the ends of motions in a 3-D scene, with their trails."""

    def __init__(self, scene: Scene) -> None:
        self._rasterizer = SceneRasterizer(scene, SCENE_WIDTH, SCENE_HEIGHT)

    def image(self, poses: Array) -> Image:
        """The end of a motion (T, P, 7)."""
        motion = poses.astype(float)
        return self._rasterizer.image(motion[-1], motion)
