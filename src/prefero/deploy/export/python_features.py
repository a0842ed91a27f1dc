"""The features of a reward as Python code that needs only NumPy, for the export target `py`.

A file holds the functions of the library and of fitted embeddings that compute the features, as they are, and
calls them with a `Trajectory`, which has the attributes of an episode that they need.
"""

from collections.abc import Callable

from prefero.datasets.features.embeddings.embedding import FITTED, Embedding
from prefero.datasets.features.embeddings.fitted import FittedEmbedding
from prefero.datasets.features.extraction.from_spec import needs_trust
from prefero.datasets.features.library.library import parse_word
from prefero.deploy.export import trajectory
from prefero.deploy.export.source import Source
from prefero.trajectories.feature_spec import FeatureSpec

Literal = Callable[[object], str]


def add_features(source: Source, spec: FeatureSpec, literal: Literal) -> list[str]:
    """Add the code that computes a spec's features, and return the lines of the constants that it needs.

    Where a feature is code of the user's own or of a video, there are no lines, and no code is added.
    `literal` writes an array as Python text.
    """
    embeddings = {word: Embedding.of(word) for word in spec.words}
    if any(needs_trust(word) or (one and not _has_code(one)) for word, one in embeddings.items()):
        return []
    source.add(trajectory.features)
    calls = [
        _library_call(source, word) if one is None else _fitted_call(source, one, spec, word, literal)
        for word, one in embeddings.items()
    ]
    return [
        f"STATES = {spec.state_names!r}\n",
        f"ACTIONS = {spec.action_names!r}\n",
        f"STEP_SECONDS = {spec.step_seconds!r}\n",
        f"LOGARITHMS = {spec.log_transform!r}\n",
        "FEATURES = [\n",
        *(f"    {call},\n" for call in calls),
        "]\n",
    ]


def _has_code(embedding: Embedding) -> bool:
    """Can its code be in the file?"""
    return embedding.kind in FITTED and not embedding.of_video


def _library_call(source: Source, word: str) -> str:
    """The function of a word of the library, with its arguments."""
    function, arguments = parse_word(word)
    source.add(function)
    values = "".join(f", {name}={value!r}" for name, value in arguments.items())
    return f"lambda t: {function.__name__}(t{values})" if arguments else function.__name__


def _fitted_call(source: Source, embedding: Embedding, spec: FeatureSpec, word: str, literal: Literal) -> str:
    """The method of a fitted embedding, with those of its arrays that the method needs."""
    fitted = embedding.from_arrays(spec.fitted[word])
    assert isinstance(fitted, FittedEmbedding)
    source.add(type(fitted))
    used = source.fields_of(type(fitted))
    arrays = [f"{name}={literal(array)}" for name, array in fitted.arrays().items() if name in used]
    return f"{type(fitted).__name__}({', '.join(arrays)}).features"
