"""The default features, `statistics`, as the beginning of an ONNX graph.

    states     (N, S, s)   of N trajectories of equal length, with S = T or T + 1
    actions    (N, T, a)
    steps      (N, T, k)   the states of every step, and its actions, k = s + a
    features   (N, d)      in the reward's order

`prefero.datasets.features.embeddings.statistics` says what each statistic is. Here they are written once
more, as operations of a graph, which has no conditions.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets.features.embeddings.embedding import Embedding
from prefero.datasets.features.embeddings.statistics import Statistics, candidate_names
from prefero.deploy.export.onnx_graph import Graph, Tensor
from prefero.rewards.reward import Reward
from prefero.trajectories.feature_spec import FeatureSpec
from prefero.trajectories.features import log_name

WORD = "statistics"
TIME = 1  # the axis
LAST = np.iinfo(np.int64).max  # the end of a slice that goes to the end
TINY = 1e-300


def trajectory_features(reward: Reward, graph: Graph, states: Tensor, actions: Tensor) -> Tensor:
    """The features of trajectories (N, d), or an error unless the reward is one of statistics."""
    spec, fitted = _fitted(reward)
    columns = Candidates(graph, states, actions, spec.step_seconds, fitted.center).all()
    names = candidate_names(spec.state_names, spec.action_names)
    others = [str(name) for name in reward.scaling.names if name not in {*names, *map(log_name, names)}]
    if others:
        raise ValueError(
            f"a graph that begins with states and actions cannot compute {', '.join(others)}, which came "
            "from a table: begin with the features"
        )
    if spec.log_transform:
        places = np.array([names.index(name) for name in spec.log_transform])
        logarithms = graph.node("Log", graph.node("Gather", columns, places, axis=1))
        columns = graph.node("Concat", columns, logarithms, axis=1)
        names += [log_name(name) for name in spec.log_transform]
    places = np.array([names.index(name) for name in reward.scaling.names])
    return graph.node("Gather", columns, places, axis=1)


def _fitted(reward: Reward) -> tuple[FeatureSpec, Statistics]:
    """What says how the features are computed, and the statistics."""
    spec = reward.feature_spec
    words = () if spec is None else (*spec.words, *spec.columns)
    embedding = Embedding.of(words[0]) if len(words) == 1 else None
    if spec is None or embedding is None or embedding.kind != WORD:
        raise ValueError(
            f"a graph begins with states and actions if its reward was taught with the default features, "
            f"{WORD!r} alone, but this one was with {', '.join(words) or 'features of its own'}: begin with "
            "the features, or export a Python file, which computes features of states and actions"
        )
    fitted = embedding.from_arrays(spec.fitted[words[0]])
    assert isinstance(fitted, Statistics)
    return spec, fitted


@dataclass(frozen=True)
class Candidates:
    """All statistics of trajectories, as nodes of a graph."""

    graph: Graph
    states: Tensor
    actions: Tensor
    step_seconds: float
    center: Array

    def all(self) -> Tensor:
        """(N, C), in the order of `statistics.candidates`."""
        steps, states = self.steps, self.states
        each = [
            self.step_seconds * self._sum(self._sum(self.actions * self.actions, TIME), 1, keep=True),
            self.seconds + 0.0 * self._sum(self._first(states), 1, keep=True),
            self._mean(steps),
            self._mean((steps - self.center) * (steps - self.center)),
            self._sum(self._root(self._sum(self._squares(1), 2)), TIME, keep=True),
            self.jerk(),
            self._last(states),
            self.rates(),
            self._first(states),
            self.trend(),
            self._reduced("ReduceMin", steps),
            self._reduced("ReduceMax", steps),
        ]
        return self.graph.node("Concat", *each, axis=1)

    @cached_property
    def length(self) -> Tensor:
        """T, as a whole number (1,)."""
        return self._shape(self.actions)

    @cached_property
    def count(self) -> Tensor:
        """T, as a number (1,)."""
        return self._double(self.length)

    @cached_property
    def seconds(self) -> Tensor:
        """How long a trajectory takes, (1,)."""
        return self.count * self.step_seconds

    @cached_property
    def steps(self) -> Tensor:
        """(N, T, k)."""
        before = self.graph.node("Slice", self.states, np.array([0]), self.length, np.array([TIME]))
        return self.graph.node("Concat", before, self.actions, axis=2)

    def jerk(self) -> Tensor:
        """The log dimensionless jerk, (N, 1): 0 where nothing moves, or there are fewer than four states."""
        third, speed = self._squares(3), self._sum(self._squares(1), 2)
        rows = self.graph.node("Max", self._double(self._shape(third)), 1.0)
        mean = self._sum(self._sum(third, 2), TIME, keep=True) / rows / self.step_seconds**6
        still = 0.0 * self._sum(self._at(self.states, 0, 1), 2)  # (N, 1): one state alone has no speed
        speeds = self.graph.node("Concat", still, speed, axis=TIME)
        peak = self.graph.node("ReduceMax", speeds, axes=[TIME], keepdims=1) / self.step_seconds**2
        moves = self._double(self.graph.node("Greater", peak, 0.0))
        dimensionless = moves * mean * self.seconds**4 / (peak + (1.0 - moves))
        return -self.graph.node("Log", dimensionless + 1.0)

    def rates(self) -> Tensor:
        """The mean absolute change of each state per second, (N, s)."""
        changes = self._difference(self.states)
        rows = self.graph.node("Max", self._double(self._shape(changes)), 1.0)
        return self._sum(self.graph.node("Abs", changes), TIME) / rows / self.step_seconds

    def trend(self) -> Tensor:
        """The slope over time of each number of a step, by least squares, (N, k)."""
        length = self.graph.node("Squeeze", self.length, np.array([0]))
        first, step = (self.graph.node("Squeeze", np.array([n]), np.array([0])) for n in (0, 1))
        places = self._double(self.graph.node("Range", first, length, step))
        times = (places - (self.count - 1.0) / 2.0) * self.step_seconds
        column = self.graph.node("Unsqueeze", times, np.array([1]))  # (T, 1)
        mean = self.graph.node("ReduceMean", self.steps, axes=[TIME], keepdims=1)
        squares = self.graph.node("Max", self._sum(times * times, 0, keep=True), TINY)
        return self._sum(column * (self.steps - mean), TIME) / squares

    # --- operations ---------------------------------------------------------------------------------------

    def _squares(self, order: int) -> Tensor:
        """The squared differences of this order of the states, (N, S - order, s)."""
        path = self.states
        for _ in range(order):
            path = self._difference(path)
        return path * path

    def _difference(self, x: Tensor) -> Tensor:
        return self._at(x, 1, LAST) - self._at(x, 0, -1)

    def _at(self, x: Tensor, first: int, last: int) -> Tensor:
        return self.graph.node("Slice", x, *(np.array([n]) for n in (first, last, TIME)))

    def _first(self, x: Tensor) -> Tensor:
        return self.graph.node("Squeeze", self._at(x, 0, 1), np.array([TIME]))

    def _last(self, x: Tensor) -> Tensor:
        return self.graph.node("Squeeze", self._at(x, -1, LAST), np.array([TIME]))

    def _sum(self, x: Tensor, axis: int, keep: bool = False) -> Tensor:
        return self.graph.node("ReduceSum", x, np.array([axis]), keepdims=int(keep))

    def _mean(self, x: Tensor) -> Tensor:
        return self._reduced("ReduceMean", x)

    def _reduced(self, operation: str, x: Tensor) -> Tensor:
        return self.graph.node(operation, x, axes=[TIME], keepdims=0)

    def _root(self, x: Tensor) -> Tensor:
        return self.graph.node("Sqrt", x)

    def _shape(self, x: Tensor) -> Tensor:
        """The length along time, (1,)."""
        return self.graph.node(
            "Slice", self.graph.node("Shape", x), *(np.array([n]) for n in (TIME, TIME + 1))
        )

    def _double(self, x: Tensor) -> Tensor:
        return self.graph.node("Cast", x, to=self.graph.helper.TensorProto.DOUBLE)
