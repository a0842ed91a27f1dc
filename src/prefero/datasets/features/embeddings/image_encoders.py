"""Frozen encoders of images: the frames of an episode's video, described by a network somebody trained.

    image-encoder(encoder.onnx, 16)           a file of yours: images (N, 3, H, W) to numbers (N, k)
    image-encoder(encoder.pt2, 16)            the same, a program of torch.export, or TorchScript (.pt)
    image-encoder(timm:resnet18, 16)          a model of timm, downloaded when it is first used
    image-encoder(hf:facebook/dinov2-small, 16)   a model of the Hugging Face Hub

    frames     FRAMES of them, evenly spaced, as numbers from 0 to 1, less MEAN, divided by STD
    code       (k,)   the mean over the frames of what the encoder returns
    features   (n,)   the first principal components of the codes of the examples, whitened

Codes are kept in Prefero's cache, since decoding and encoding take time.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from prefero._support.arrays import Array, Image
from prefero._support.optional import need
from prefero.datasets.episode import BadEpisode, Episode, VideoSpan
from prefero.datasets.features.embeddings.fitted import UNFITTING, check_examples, principal_axes
from prefero.datasets.features.library.library import NamedValues
from prefero.datasets.media.video_files import VideoError, frame_rate, kept_arrays, read_frames

FRAMES = 16
SIDE = 224  # pixels, where the encoder does not say
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of the images of ImageNet
DIGEST = 32  # bytes
ARRAYS = ("center", "axes", "digest")

Encode = Callable[[Array], Array]  # images (N, 3, H, W) to numbers (N, k)


@dataclass(frozen=True, eq=False)
class Encoder:
    """An encoder, the side of its images, and a digest of what it is."""

    encode: Encode
    side: int
    digest: bytes

    def code(self, video: VideoSpan) -> Array:
        """The mean over the frames of a video, (k,); from the cache, if it has been computed before."""
        kind = f"{video.start} {video.end} {self.digest.hex()}"
        return kept_arrays(video.path, kind, partial(self._encoded, video))["code"].astype(float)

    def _encoded(self, video: VideoSpan) -> dict[str, Array]:
        return {"code": pooled(self.encode(input_images(video, self.side)))}


def input_images(video: VideoSpan, side: int) -> Array:
    """Evenly spaced frames of a video as an encoder takes them, (N, 3, side, side)."""
    rate = frame_rate(video.path)
    frames: list[Image] = list(read_frames(video.path, video.start, video.end, rate, side))
    if not frames:
        raise VideoError(f"the video {video.path} has no frames between {video.start:g} s and its end")
    chosen = np.unique(np.linspace(0, len(frames) - 1, FRAMES).round().astype(int)).tolist()
    values = (np.stack([frames[place] for place in chosen]) / 255.0 - np.array(MEAN)) / np.array(STD)
    return np.ascontiguousarray(np.moveaxis(values, 3, 1), dtype=np.float32)


def pooled(codes: Array) -> Array:
    """The mean over images, and over places or tokens, where the encoder returns some: (k,)."""
    if codes.ndim == 4:  # (N, k, h, w)
        codes = codes.mean(axis=(2, 3))
    elif codes.ndim == 3:  # (N, tokens, k)
        codes = codes.mean(axis=1)
    if codes.ndim != 2:
        raise ValueError(f"an encoder returns numbers (images, k), but this one returned {codes.shape}")
    mean: Array = codes.astype(float).mean(axis=0)
    return mean


# --- loading ----------------------------------------------------------------------------------------------


def is_downloaded(source: str) -> bool:
    """Does loading it ask a server for a model?"""
    return source.partition(":")[0] in NAMED


def needs_trust(source: str) -> bool:
    """Can loading it run code of whoever wrote it, or download something? All but an ONNX file can."""
    return is_downloaded(source) or Path(source).suffix.lower() != ".onnx"


@cache
def load_encoder(source: str) -> Encoder:
    """An encoder by the path of its file, or as timm:NAME or hf:NAME; an error if there is none."""
    library, _, name = source.partition(":")
    if library in NAMED:
        return _named(library, name)
    path = Path(source)
    kind = FILES.get(path.suffix.lower())
    if kind is None:
        known = ", ".join(FILES)
        raise ValueError(
            f"an image encoder is a file ({known}), timm:NAME or hf:NAME, but this is {source!r}"
        )
    if not path.is_file():
        raise ValueError(f"the image encoder {source} was not found: give the path of the file")
    encode, side = kind(path)
    return Encoder(encode, side, hashlib.sha256(path.read_bytes()).digest())


def _onnx(path: Path) -> tuple[Encode, int]:
    session = need("onnxruntime", extra="embeddings").InferenceSession(str(path))
    given = session.get_inputs()[0]
    batch, side = given.shape[0], given.shape[-1]
    single = isinstance(batch, int) and batch == 1

    def encode(images: Array) -> Array:
        batches = [images[i : i + 1] for i in range(len(images))] if single else [images]
        return np.concatenate([session.run(None, {given.name: batch})[0] for batch in batches])

    return encode, side if isinstance(side, int) else SIDE


def _torchscript(path: Path) -> tuple[Encode, int]:
    torch = need("torch", extra="embeddings")
    return _of_module(torch, torch.jit.load(str(path)).eval()), SIDE


def _exported(path: Path) -> tuple[Encode, int]:
    torch = need("torch", extra="embeddings")
    return _of_module(torch, torch.export.load(str(path)).module()), SIDE


def _of_module(torch: Any, module: Any) -> Encode:
    def encode(images: Array) -> Array:
        with torch.no_grad():
            found = module(torch.as_tensor(images))
        codes: Array = np.asarray(getattr(found, "last_hidden_state", found))
        return codes

    return encode


def _timm(name: str) -> tuple[Encode, int]:
    model = need("timm", extra="embeddings").create_model(name, pretrained=True, num_classes=0).eval()
    side = int(model.pretrained_cfg.get("input_size", (3, SIDE, SIDE))[-1])
    return _of_module(need("torch", extra="embeddings"), model), side


def _hub(name: str) -> tuple[Encode, int]:
    transformers = need("transformers", extra="embeddings")
    model = transformers.AutoModel.from_pretrained(name, use_safetensors=True).eval()
    side = getattr(model.config, "image_size", SIDE)
    return _of_module(need("torch", extra="embeddings"), model), side if isinstance(side, int) else SIDE


NAMED: dict[str, Callable[[str], tuple[Encode, int]]] = {"timm": _timm, "hf": _hub}
FILES: dict[str, Callable[[Path], tuple[Encode, int]]] = {
    ".onnx": _onnx,
    ".pt2": _exported,
    ".pt": _torchscript,
}


def _named(library: str, name: str) -> Encoder:
    try:
        encode, side = NAMED[library](name)
    except ImportError:
        raise
    except Exception as error:  # the libraries raise many kinds of errors where there is no network
        raise ValueError(
            f"{library}:{name} could not be loaded ({type(error).__name__}: {str(error).splitlines()[0]}). "
            "It is downloaded when it is first used, so the machine needs network then, and the name must "
            "exist; without network give a file (.onnx, .pt2 or .pt)"
        ) from error
    return Encoder(encode, side, hashlib.sha256(f"{library}:{name}".encode()).digest())


# --- features ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ImageFeatures:
    """The first principal components of an encoder's codes, whitened over the examples.

    center   (k,)     the mean code of the examples
    axes     (n, k)   the components, divided by their standard deviations
    digest   (32,)    of the encoder, byte by byte
    """

    source: str
    center: Array
    axes: Array
    digest: Array

    @classmethod
    def fit(cls, source: str, examples: Sequence[Episode], count: int) -> Self:
        """On the videos of the examples; fewer features where they do not differ in more ways."""
        check_examples(examples)
        encoder = load_encoder(source)
        codes = np.stack([_code(encoder, episode) for episode in examples])
        center = codes.mean(axis=0)
        axes, singular = principal_axes(codes - center)
        varies = singular[:count] > 1e-6 * max(singular[0], 1e-300)
        unit = singular[:count, None] / np.sqrt(len(codes))
        digest = np.frombuffer(encoder.digest, np.uint8).astype(float)
        return cls(source, center, axes[:count][varies] / unit[varies], digest)

    def __call__(self, episode: Episode) -> NamedValues:
        """Where the episode's video is along each component."""
        encoder = load_encoder(self.source)
        if encoder.digest != bytes(self.digest.astype(np.uint8)):
            raise ValueError(
                f"the reward was taught with another image encoder than {self.source} is now: give the file "
                "that it was taught with"
            )
        place = self.axes @ (_code(encoder, episode) - self.center)
        return {f"image {i + 1}": float(value) for i, value in enumerate(place)}

    def arrays(self) -> dict[str, Array]:
        """All that it consists of, but for the encoder."""
        return {name: getattr(self, name) for name in ARRAYS}

    @classmethod
    def from_arrays(cls, source: str, arrays: Mapping[str, Array], count: int) -> Self:
        """What `arrays` gave; an error unless they fit each other."""
        center, axes, digest = (np.asarray(arrays[name], dtype=float) for name in ARRAYS)
        fits = center.ndim == 1 and axes.ndim == 2 and axes.shape[1] == len(center) and len(axes) <= count
        if not fits or digest.shape != (DIGEST,):
            raise ValueError(UNFITTING)
        return cls(source, center, axes, digest)


def _code(encoder: Encoder, episode: Episode) -> Array:
    if episode.video is None:
        raise ValueError(
            f"episode {episode.id} has no video file that an image encoder could look at: use features of "
            "states and actions, such as statistics"
        )
    try:
        return encoder.code(episode.video)
    except VideoError as error:
        raise BadEpisode(episode.id, str(error)) from error
