"""The features of a reward as Python code that needs only NumPy, for the export target `py`.

Each word of the library is a function that returns what computes its features: a function of `t`, which has
the states, actions, rewards and step_seconds of a trajectory. The functions that a reward needs are written
into its file, with the states that they are about as column numbers.
"""

from collections.abc import Callable, Sequence

from prefero.datasets.features.embeddings.embedding import Embedding
from prefero.datasets.features.embeddings.fitted import FittedEmbedding
from prefero.datasets.features.embeddings.statistics import step_labels
from prefero.datasets.features.library.library import WORD
from prefero.trajectories.feature_spec import FeatureSpec

Literal = Callable[[object], str]

TRAJECTORY = '''

class Trajectory:
    """States (T, s) or (T + 1, s), actions (T, a), and perhaps rewards (T,) of a trajectory."""

    def __init__(self, states, actions, step_seconds, rewards):
        self.states, self.actions = np.asarray(states, dtype=float), np.asarray(actions, dtype=float)
        self.step_seconds, self.rewards = step_seconds, rewards
        if self.states.ndim != 2 or self.states.shape[1] != len(STATES):
            raise ValueError(f"wanted states (T, {len(STATES)}) of {STATES}, but got {self.states.shape}")


def derivative(t, columns, order):
    return np.diff(t.states[:, columns], n=order, axis=0) / t.step_seconds**order


def steps_of(t):
    return np.concatenate([t.states[: len(t.actions)], t.actions], axis=1)


def mean_square(values):
    return np.mean((values**2).sum(1)) if len(values) else 0.0


def features(states, actions, step_seconds=None, rewards=None):
    """The features of a trajectory, (d,), in the order of NAMES: predict([features(...)]) is its reward."""
    t = Trajectory(states, actions, STEP_SECONDS if step_seconds is None else step_seconds, rewards)
    found = {name: value for compute in FEATURES for name, value in compute(t).items()}
    found.update({f"log({name})": np.log(found[name]) for name in LOGARITHMS})
    return np.array([found[name] for name in NAMES], dtype=float)
'''

EACH = """
def {name}(columns):
    return lambda t: {{f"{word} {{STATES[c]}}": t.states[:, c]{statistic} for c in columns}}
"""

STEP_NETWORK = """
def step_network(name, center, scale, layers):
    def compute(t):
        values = (steps_of(t) - center) / scale
        for matrix, bias in layers:
            values = np.tanh(values @ matrix + bias)
        return {f"{name} {i + 1}": value for i, value in enumerate(values.mean(axis=0))}

    return compute
"""

FUNCTIONS = {
    "mean": EACH.format(name="mean", word="mean", statistic=".mean()"),
    "min": EACH.format(name="minimum", word="min", statistic=".min()"),
    "max": EACH.format(name="maximum", word="max", statistic=".max()"),
    "final": EACH.format(name="final", word="final", statistic="[-1]"),
    "path-length": """
def path_length(columns):
    return lambda t: {"path length": np.linalg.norm(np.diff(t.states[:, columns], axis=0), axis=1).sum()}
""",
    "jerk": """
def jerk(columns):
    return lambda t: {"jerk": np.sqrt(mean_square(derivative(t, columns, 3)))}
""",
    "log-dimensionless-jerk": """
def log_dimensionless_jerk(columns):
    def compute(t):
        peak = np.max((derivative(t, columns, 1) ** 2).sum(1), initial=0.0)
        squares = mean_square(derivative(t, columns, 3))
        duration = len(t.actions) * t.step_seconds
        return {"log dimensionless jerk": -np.log1p(duration**4 * squares / peak if peak > 0 else 0.0)}

    return compute
""",
    "goal": """
def goal(columns, place):
    def compute(t):
        distance = np.linalg.norm(t.states[:, columns] - place, axis=1)
        return {"final distance to goal": distance[-1], "least distance to goal": distance.min()}

    return compute
""",
    "control-effort": """
def control_effort(t):
    return {"control effort": (t.actions**2).sum() * t.step_seconds}
""",
    "duration": """
def duration(t):
    return {"duration": len(t.actions) * t.step_seconds}
""",
    "return": """
def total_reward(t):
    return {"return": np.sum(t.rewards)}
""",
    "pca": """
def pca(center, scale, axes, unit):
    def compute(t):
        columns = [*t.states.T, *t.actions.T]
        at = np.linspace(0.0, 1.0, len(center) // len(columns))
        resampled = [np.interp(at, np.linspace(0.0, 1.0, len(column)), column) for column in columns]
        place = axes @ ((np.concatenate(resampled) - center) / scale) / unit
        return {f"pca {i + 1}": value for i, value in enumerate(place)}

    return compute
""",
    "random-network": STEP_NETWORK,
    "time-contrastive": STEP_NETWORK,
    "statistics": """
def statistics(center, kept):
    def compute(t):
        x, steps = t.states, steps_of(t)
        times = (np.arange(len(steps)) - (len(steps) - 1) / 2) * t.step_seconds
        rate = np.abs(np.diff(x, axis=0)).sum(0) / max(len(x) - 1, 1) / t.step_seconds
        slope = times @ (steps - steps.mean(0)) / max(times @ times, 1e-300)
        every = range(len(STATES))
        found = {
            **control_effort(t),
            **duration(t),
            **{f"mean {n}": v for n, v in zip(LABELS, steps.mean(0))},
            **{f"mean square {n}": v for n, v in zip(LABELS, ((steps - center) ** 2).mean(0))},
            **path_length(every)(t),
            **log_dimensionless_jerk(every)(t),
            **{f"final {n}": v for n, v in zip(STATES, x[-1])},
            **{f"mean rate {n}": v for n, v in zip(STATES, rate)},
            **{f"first {n}": v for n, v in zip(STATES, x[0])},
            **{f"trend {n}": v for n, v in zip(LABELS, slope)},
            **{f"min {n}": v for n, v in zip(LABELS, steps.min(0))},
            **{f"max {n}": v for n, v in zip(LABELS, steps.max(0))},
        }
        return {name: value for (name, value), wanted in zip(found.items(), kept) if wanted}

    return compute
""",
    "steps": """
def steps(center, scale, axes, curve_frequencies, frequencies, lengthscales):
    k, scales = len(axes), [scale * np.sqrt(len(axes)) for scale in lengthscales]
    curves = np.concatenate([frequency * np.eye(k) for frequency in curve_frequencies])
    waves = np.concatenate([curves, *(frequencies / scale for scale in scales)])
    sizes = [len(curve_frequencies)] * len(curves) + [len(frequencies)] * (len(waves) - len(curves))
    first, second = np.triu_indices(k)

    def compute(t):
        z = (np.concatenate([t.states[: len(t.actions)], t.actions], axis=1) - center) / scale
        y = z @ axes.T
        both = np.stack([np.cos(y @ waves.T), np.sin(y @ waves.T)], axis=2) / np.sqrt(sizes)[:, None]
        parts = {"linear": z, "quadratic": y[:, first] * y[:, second]}
        waved, place = both.reshape(len(z), -1), 2 * len(curves)
        parts["curves"] = waved[:, :place]
        for scale_, each in zip(lengthscales, np.split(waved[:, place:], len(lengthscales), axis=1)):
            parts[f"rbf {scale_:g}"] = each
        return {f"steps {p} {i + 1}": v for p, x in parts.items() for i, v in enumerate(x.mean(axis=0))}

    return compute
""",
}
NEEDED = {"statistics": ("control-effort", "duration", "path-length", "log-dimensionless-jerk")}
NAMES = {  # where the word itself is no name
    "min": "minimum",
    "max": "maximum",
    "return": "total_reward",
    "random-network": "step_network",
    "time-contrastive": "step_network",
}


def features_source(spec: FeatureSpec, literal: Literal) -> tuple[str, str] | None:
    """The functions that compute a spec's features, and the constants that they need; None if it names code.

    `literal` writes an array as Python text.
    """
    calls = [_call(word, spec, literal) for word in spec.words]
    if any(call is None for call in calls):
        return None
    kinds = [kind for kind, _ in filter(None, calls)]
    used = dict.fromkeys(FUNCTIONS[one] for kind in kinds for one in (*NEEDED.get(kind, ()), kind))
    constants = [
        f"STATES = {spec.state_names!r}\n",
        f"LABELS = {tuple(step_labels(spec.state_names, spec.action_names))!r}\n",
        f"STEP_SECONDS = {spec.step_seconds!r}\n",
        f"LOGARITHMS = {spec.log_transform!r}\n",
        "FEATURES = [\n",
        *(f"    {call},\n" for _, call in filter(None, calls)),
        "]\n",
    ]
    functions = [TRAJECTORY, *("\n" + function for function in used)]
    return "".join(functions), "".join(constants)


def _call(word: str, spec: FeatureSpec, literal: Literal) -> tuple[str, str] | None:
    """The kind of a word's feature, and the expression that computes it; None where that is code."""
    embedding = Embedding.of(word)
    if embedding is not None:
        return _fitted_call(embedding, spec, word, literal) if embedding.kind in FUNCTIONS else None
    parsed = WORD.fullmatch(word)
    if parsed is None or parsed[1] not in FUNCTIONS:
        return None
    kind, inside = parsed[1], [part.strip() for part in (parsed[2] or "").split(",") if part.strip()]
    name = NAMES.get(kind, kind.replace("-", "_"))
    if kind in ("control-effort", "duration", "return"):
        return kind, name
    if kind == "goal":
        pairs = [part.split("=") for part in inside]
        columns = _columns([key.strip() for key, _ in pairs], spec)
        return kind, f"{name}({columns}, {[float(value) for _, value in pairs]})"
    return kind, f"{name}({_columns(inside, spec)})"


def _columns(names: Sequence[str], spec: FeatureSpec) -> list[int]:
    return [spec.state_names.index(name) for name in names or spec.state_names]


def _fitted_call(embedding: Embedding, spec: FeatureSpec, word: str, literal: Literal) -> tuple[str, str]:
    fitted = embedding.from_arrays(spec.fitted[word])
    assert isinstance(fitted, FittedEmbedding)
    name = NAMES.get(embedding.kind, embedding.kind.replace("-", "_"))
    arguments = [f"{key}={text}" for key, text in fitted.written(literal).items()]
    return embedding.kind, f"{name}({', '.join(arguments)})"
