"""The export target `onnx`: a reward as an ONNX graph.

A graph begins with the features of trajectories, with their states and actions, or with single steps
(`INPUTS`).
"""

import json
from collections.abc import Callable, Sequence
from traceback import walk_tb
from typing import Any

import numpy as np

from prefero._support.names import no_such
from prefero._support.optional import need
from prefero.deploy.compiled.step_reward import StepReward
from prefero.deploy.export.components import ExportedGaussian, gaussian_components
from prefero.deploy.export.onnx_graph import IR, KNOWN, OPSET, Graph, Operations, Tensor
from prefero.deploy.export.onnx_statistics import trajectory_features
from prefero.deploy.export.prediction import gaussian, mean_and_std
from prefero.deploy.export.steps import constants_of, reward_of_steps
from prefero.kernels import Kernel
from prefero.models.linear import LinearPosterior
from prefero.rewards.reward import Reward

NOT_CHECKED = (
    "Of features that are not finite, which a graph cannot refuse, std is NaN and mean has no meaning."
)
Shapes = dict[str, tuple[int | str, ...]]  # of inputs or outputs, by name; what is not fixed has a name


def to_onnx(reward: Reward, inputs: str = "features") -> bytes:
    """The reward as an ONNX model, whose numbers are in double precision.

    Args:
        reward: The reward.
        inputs: What it begins with, one of `INPUTS`: `features` (M, d), with the outputs mean and std (M,);
            `trajectory`, the states (N, S, s) and actions (N, T, a) of trajectories, with S = T or T + 1, and
            the outputs mean and std (N,); `step`, the states (N, s) and actions (N, a) of steps, with the
            output mean (N,).

    Returns:
        The content of the file.
    """
    if inputs not in INPUTS:
        raise ValueError(no_such("input of a graph", inputs, list(INPUTS), "inputs"))
    onnx, graph = need("onnx", extra="onnx"), Graph()
    given, found = INPUTS[inputs](reward, graph)
    for name, value in found.items():
        graph.node("Identity", value, name=name)
    return _model(onnx, graph, reward, given, list(found))


def _of_features(reward: Reward, graph: Graph) -> tuple[Shapes, dict[str, Tensor]]:
    return {"features": ("M", len(reward.scaling.names))}, _prediction(
        reward, graph, Tensor(graph, "features")
    )


def _of_trajectories(reward: Reward, graph: Graph) -> tuple[Shapes, dict[str, Tensor]]:
    features = trajectory_features(reward, graph, Tensor(graph, "states"), Tensor(graph, "actions"))
    spec = reward.feature_spec
    assert spec is not None
    states, actions = ("N", "S", len(spec.state_names)), ("N", "T", len(spec.action_names))
    return {"states": states, "actions": actions}, _prediction(reward, graph, features)


def _of_steps(reward: Reward, graph: Graph) -> tuple[Shapes, dict[str, Tensor]]:
    of_steps, spec = StepReward.of(reward), reward.feature_spec
    assert spec is not None
    steps = graph.node("Concat", Tensor(graph, "states"), Tensor(graph, "actions"), axis=1)
    constants = {name: graph.constant(value) for name, value in constants_of(of_steps).items()}
    shapes: Shapes = {"states": ("N", len(spec.state_names)), "actions": ("N", len(spec.action_names))}
    return shapes, {"mean": reward_of_steps(steps, **constants)}


INPUTS: dict[str, Callable[[Reward, Graph], tuple[Shapes, dict[str, Tensor]]]] = {
    "features": _of_features,
    "trajectory": _of_trajectories,
    "step": _of_steps,
}


def _prediction(reward: Reward, graph: Graph, features: Tensor) -> dict[str, Tensor]:
    scaling = reward.scaling
    x = (features - scaling.center) / scaling.scale
    if isinstance(reward.belief, LinearPosterior):
        components = _directions(reward.belief, graph, x)
    else:
        components = _gaussians(gaussian_components(reward), graph, x)
    mean, std = mean_and_std(*components)
    return {"mean": mean, "std": std}


def _model(onnx: Any, graph: Graph, reward: Reward, inputs: Shapes, outputs: Sequence[str]) -> bytes:
    def double(name: str, shape: Sequence[int | str]) -> Any:
        return graph.helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, shape)

    rows = next(iter(inputs.values()))[:1]
    made = graph.helper.make_graph(
        graph.nodes,
        "reward",
        [double(name, shape) for name, shape in inputs.items()],
        [double(name, rows) for name in outputs],
        graph.constants,
        doc_string=f"{reward.describe()}\n{NOT_CHECKED}",
    )
    opset = graph.helper.make_opsetid("", OPSET)
    model = graph.helper.make_model(made, opset_imports=[opset], ir_version=IR, producer_name="prefero")
    graph.helper.set_model_props(model, _properties(reward))
    onnx.checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString()
    return content


def _properties(reward: Reward) -> dict[str, str]:
    """The names of the features; how they are computed and what is just acceptable, where that is known."""
    known = {"features": "\n".join(map(str, reward.scaling.names))}
    if reward.feature_spec is not None:
        known["feature_spec"] = json.dumps(reward.feature_spec.to_json())
    if reward.acceptable_at is not None:
        known["acceptable_at"] = repr(reward.acceptable_at)
    return known


def _directions(belief: LinearPosterior, graph: Graph, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Weights (K,), means (K, M) and variances of the draws of a linear reward."""
    count = len(belief.weights)
    means = graph.node("MatMul", belief.weights, graph.node("Transpose", x, perm=[1, 0]))
    return graph.constant(np.full(count, 1.0 / count)), means, graph.constant(0.0)


def _gaussians(
    components: Sequence[tuple[float, ExportedGaussian]], graph: Graph, x: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Weights (K,), means (K, M) and variances (K, M) of the components."""
    means, variances = zip(*(_gaussian(one, graph, x) for _, one in components), strict=True)
    operations = Operations(graph)
    weights = graph.constant([weight for weight, _ in components])
    return weights, operations.stack(means), operations.clip(operations.stack(variances), 0.0)


def _gaussian(component: ExportedGaussian, graph: Graph, x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean (M,) and variance (M,) of one component, or an error that names the kernels."""
    kernel = component.kernel
    try:
        if not component.whitener.size:  # there are no answers yet
            prior: Tensor = kernel.rowwise(x, x)
            return prior - prior, prior
        arrays = {name: graph.constant(array) for name, array in component.arrays.items()}
        return gaussian(x, kernel, **arrays)
    except (NotImplementedError, TypeError, AttributeError) as error:
        callers = [frame.f_locals.get("self") for frame, _ in walk_tb(error.__traceback__)]
        failing = [one for one in callers if isinstance(one, Kernel)][-1]
        raise ValueError(
            f"a reward of kernels {type(failing).__name__} cannot be exported as an ONNX graph: its "
            f"`rowwise` needs more than {KNOWN} ({error})"
        ) from error
