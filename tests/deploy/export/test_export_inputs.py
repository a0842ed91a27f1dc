"""Graphs that begin with states and actions, and rewards of single steps, without Prefero.

The judge is the library, which computes features one episode at a time, without a graph.
"""

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefero import FeatureOptions, Learner, Pool, Question, Reward
from prefero._support.arrays import Array
from prefero.datasets import Episode
from prefero.datasets.features.embeddings.statistics import candidates
from prefero.deploy.compiled.step_reward import StepReward
from prefero.deploy.export import export_reward
from prefero.deploy.export.onnx import to_onnx
from prefero.deploy.export.onnx_graph import IR, OPSET, Graph, Tensor
from prefero.deploy.export.onnx_statistics import Candidates
from prefero.deploy.export.python import to_python

SECONDS, STATES, ACTIONS = 0.1, ["x", "y"], ["push"]


def walks(rng: np.random.Generator, count: int, steps: int, more: int = 0) -> tuple[Array, Array]:
    """States (N, T or T + 1, 2) and actions (N, T, 1)."""
    moves = rng.normal(size=(count, steps + more, 2))
    return np.cumsum(moves, axis=1), rng.normal(size=(count, steps, 1))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("walks") / "walks.npz"
    states, actions = walks(rng, 30, 14)
    lengths = rng.integers(8, 15, 30)
    names = {"state_names": STATES, "action_names": ACTIONS}
    np.savez(path, states=states, actions=actions, lengths=lengths, step_seconds=SECONDS, **names)  # type: ignore[arg-type]
    return path


def taught(dataset: Path, *words: str, **options: Any) -> Reward:
    with warnings.catch_warnings(action="ignore"):  # some features grow with the length
        learner = Learner(Pool.from_table(dataset, FeatureOptions(list(words), **options)))
    for n in range(4):
        learner.tell(Question(n, n + 7), "left" if n % 2 else "right")
    return learner.reward()


def in_onnx(reward: Reward, inputs: str) -> Any:
    runtime = pytest.importorskip("onnxruntime")
    return runtime.InferenceSession(to_onnx(reward, inputs), providers=["CPUExecutionProvider"])


def expected(reward: Reward, states: Array, actions: Array) -> tuple[Array, Array]:
    features = reward.episode_features()
    known: Any = {"step_seconds": SECONDS, "state_names": tuple(STATES), "action_names": tuple(ACTIONS)}
    rows = [features(Episode("one", *both, **known)) for both in zip(states, actions, strict=True)]
    mean, std = reward.predict(np.array(rows), return_std=True)
    return mean, std


LENGTHS = pytest.mark.parametrize(
    ("steps", "more"), [(steps, more) for steps in (1, 2, 3, 4, 5, 40) for more in (0, 1)]
)


@pytest.fixture(scope="module")
def of_statistics(dataset: Path) -> Reward:
    return taught(dataset, "statistics", log_transform=["control effort"])


@LENGTHS
def test_a_graph_computes_the_default_features(of_statistics: Reward, steps: int, more: int) -> None:
    states, actions = walks(np.random.default_rng(steps), 5, steps, more)
    found = in_onnx(of_statistics, "trajectory").run(["mean", "std"], {"states": states, "actions": actions})
    np.testing.assert_allclose(found, expected(of_statistics, states, actions), rtol=1e-8, atol=1e-8)


@LENGTHS
@pytest.mark.parametrize("still", [False, True], ids=["moving", "still"])
def test_every_statistic_is_computed(steps: int, more: int, still: bool) -> None:
    """Also those that thinning leaves out of a reward."""
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    states, actions = walks(np.random.default_rng(steps), 3, steps, more)
    states, center = (states[:, :1] if still else states) + np.zeros_like(states), np.array([1.0, -2.0, 0.5])
    graph = Graph()
    made = Candidates(graph, Tensor(graph, "states"), Tensor(graph, "actions"), SECONDS, center).all()
    graph.node("Identity", made, name="statistics")
    double, shapes = onnx.TensorProto.DOUBLE, {"states": ("N", "S", 2), "actions": ("N", "T", 1)}
    given = [graph.helper.make_tensor_value_info(name, double, shape) for name, shape in shapes.items()]
    out = [graph.helper.make_tensor_value_info("statistics", double, ("N", "C"))]
    body = graph.helper.make_graph(graph.nodes, "g", given, out, graph.constants)
    opset = graph.helper.make_opsetid("", OPSET)
    model = graph.helper.make_model(body, opset_imports=[opset], ir_version=IR).SerializeToString()
    session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])
    [found] = session.run(["statistics"], {"states": states, "actions": actions})
    episodes = [Episode("e", *both, step_seconds=SECONDS) for both in zip(states, actions, strict=True)]
    wanted = [list(candidates(episode, center).values()) for episode in episodes]
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_a_graph_says_what_it_begins_with(of_statistics: Reward) -> None:
    session = in_onnx(of_statistics, "trajectory")
    assert [(one.name, one.shape) for one in session.get_inputs()] == [
        ("states", ["N", "S", 2]),
        ("actions", ["N", "T", 1]),
    ]
    assert [(one.name, one.shape) for one in session.get_outputs()] == [("mean", ["N"]), ("std", ["N"])]


@pytest.fixture(scope="module")
def of_steps(dataset: Path) -> Reward:
    return taught(dataset, "steps")


def test_the_reward_of_a_step_is_that_of_the_library(of_steps: Reward, tmp_path: Path) -> None:
    states, actions = (one[0] for one in walks(np.random.default_rng(3), 1, 20))
    wanted = StepReward.of(of_steps)(states, actions)
    session = in_onnx(of_steps, "step")
    np.testing.assert_allclose(
        session.run(["mean"], {"states": states, "actions": actions})[0], wanted, atol=1e-9
    )
    export_reward(of_steps, tmp_path / "reward.py")
    code = "import sys; sys.modules['prefero'] = None; import json, reward; x, u = json.loads(sys.argv[1])\n"
    code += "print(json.dumps([reward.step_reward(x, u).tolist(), float(reward.step_reward(x[4], u[4]))]))"
    given = json.dumps([states.tolist(), actions.tolist()])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, given],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    every, one = json.loads(done.stdout)
    np.testing.assert_allclose(every, wanted, atol=1e-9)
    assert one == pytest.approx(wanted[4])


def test_the_mean_over_steps_is_the_reward_of_the_trajectory(of_steps: Reward) -> None:
    """A judge that does not know how rewards of steps are multiplied out."""
    states, actions = walks(np.random.default_rng(4), 3, 17)
    python: dict[str, Any] = {}
    exec(to_python(of_steps), python)
    found = [np.mean(python["step_reward"](*both)) for both in zip(states, actions, strict=True)]
    np.testing.assert_allclose(found, expected(of_steps, states, actions)[0], atol=1e-9)
    with pytest.raises(ValueError, match=r"states of \('x', 'y'\) and actions of \('push',\).*\(3,\)"):
        python["step_reward"]([1.0, 2.0, 3.0], [1.0])


def test_a_column_of_a_table_beside_the_statistics_is_named(dataset: Path) -> None:
    with warnings.catch_warnings(action="ignore"):  # some features grow with the length
        pool = Pool.from_table(dataset, FeatureOptions(["statistics"]))
    features = np.column_stack([pool.features, np.arange(len(pool)) % 7])
    learner = Learner(Pool(features, [*pool.names, "operator"], feature_spec=pool.feature_spec))
    learner.tell(Question(0, 7), "left")
    with pytest.raises(ValueError, match="cannot compute operator, which came from a table"):
        to_onnx(learner.reward(), "trajectory")


def test_other_rewards_say_with_which_inputs_they_can_be_exported(dataset: Path, tmp_path: Path) -> None:
    final = taught(dataset, "final")
    with pytest.raises(ValueError, match=r"default features, 'statistics' alone, but .* with final"):
        to_onnx(final, "trajectory")
    with pytest.raises(ValueError, match="taught with the features 'steps', but this one was with final"):
        to_onnx(final, "step")
    with pytest.raises(ValueError, match=r"no input of a graph 'steps'.*step"):
        to_onnx(final, "steps")
    with pytest.raises(ValueError, match=r"only an ONNX graph begins with a step, .*r\.py"):
        export_reward(final, tmp_path / "r.py", "step")
    python: dict[str, Any] = {}
    exec(to_python(final), python)
    assert "step_reward" not in python
