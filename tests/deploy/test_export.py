"""Exports: a Python file and an ONNX graph say what the model says, where Prefero is not."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero import Learner, LinearPreference, Pool, PreferenceGP, Question, Reward, load_reward
from prefero._support.arrays import Array
from prefero._support.optional import MissingExtra
from prefero.deploy.export import export_reward, to_onnx, to_python
from prefero.kernels import (
    RBF,
    Anchored,
    Kernel,
    Linear,
    Matern,
    Quadratic,
    Scaled,
    Selected,
    Standardised,
    Sum,
)
from prefero.kernels.serialization import _KINDS
from prefero.models.mixture import Belief
from prefero.models.posterior import Posterior
from prefero.questions import Choice

NAMES = ["speed", "distance", "comfort"]
ANCHOR = (0.4, -0.2, 0.1)
KERNELS: dict[str, Kernel] = {
    "RBF": RBF(theta=0.4),
    "ARD": RBF(theta=(0.1, 0.5, 2.0)),
    "rough Matern": Matern(lengthscale=1.3, nu=1.5),
    "smooth ARD Matern": Matern(lengthscale=(1.0, 2.0, 3.0), nu=2.5),
    "linear": Linear(),
    "quadratic": Quadratic(),
    "scaled": 0.3 * RBF(theta=0.2),
    "sum": 0.3 * Linear() + 2.0 * Quadratic(),
    "subtracted": Anchored(RBF(theta=0.3) + 0.2 * Linear(), ANCHOR),
    "conditioned": Anchored(RBF(theta=1.0), ANCHOR, how="condition"),
    "selected": Anchored(Selected(RBF(theta=(0.5, 2.0)) + Linear(), (2, 0)), ANCHOR),
    "standardised": Standardised(Anchored(Matern(), ANCHOR), (0.1, 0.2, 0.3), (2.0, 1.0, 0.5)),
}
MODELS: dict[str, Any] = {
    "belief": None,
    "linear baseline": LinearPreference(noise=0.2, draws=25),
    **{name: PreferenceGP(kernel, noise=0.1, margin=0.1, learn=False) for name, kernel in KERNELS.items()},
}
every_reward = pytest.mark.parametrize("name", [*MODELS, "ties", "mixed", "nothing yet", "nothing at all"])


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=0.0, atol=1e-6)


def rows(count: int, seed: int, wide: float = 1.0) -> Array:
    drawn = np.random.default_rng(seed).standard_normal((count, 3))
    made: Array = drawn * (wide * np.array([10.0, 0.1, 1.0])) + np.array([5.0, 0.0, 1.0])
    return made


def learn(model: Any, answers: int = 14, ties: bool = False, names: Any = NAMES) -> Reward:
    pool, rng = Pool(rows(30, 0), names), np.random.default_rng(1)
    learner, likes = Learner(pool, model=model), pool.scaled[:, 0] - pool.scaled[:, 1] ** 2
    for number in range(answers):
        left, right = rng.choice(len(pool), 2, replace=False).tolist()
        better: Choice = "left" if likes[left] > likes[right] else "right"
        learner.tell(Question(left, right), "equal" if ties and number % 3 == 2 else better)
    return learner.reward()


def mixed(made: dict[str, Reward]) -> Reward:
    """A belief of kernels that differ in everything."""
    weights = {"ARD": 0.4, "linear": 0.3, "sum": 0.2, "subtracted": 0.1}
    parts = [(weight, made[name].belief) for name, weight in weights.items()]
    assert all(isinstance(part, Posterior) for _, part in parts)
    return Reward(made["ARD"].scaling, Belief(tuple(parts), {"linear": 1.0}, 0.0))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def rewards() -> dict[str, Reward]:
    made = {name: learn(model) for name, model in MODELS.items()}
    few = {"ties": learn(None, ties=True), "nothing yet": learn(None, 0)}
    return {**made, **few, "mixed": mixed(made), "nothing at all": learn(MODELS["sum"], 0)}


def in_python(reward: Reward) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(to_python(reward), "reward.py", "exec"), names)
    return names


def in_onnx(reward: Reward) -> Any:
    session = pytest.importorskip("onnxruntime").InferenceSession(
        to_onnx(reward), providers=["CPUExecutionProvider"]
    )
    return lambda features: session.run(["mean", "std"], {"features": features})


# --- the same numbers -------------------------------------------------------------------------------------


def test_every_kernel_that_can_be_kept_in_a_file_is_tried() -> None:
    def kinds(kernel: Kernel) -> set[type]:
        inner = [value for value in vars(kernel).values() if isinstance(value, Kernel)]
        return {type(kernel)}.union(*map(kinds, inner))

    assert set().union(*map(kinds, KERNELS.values())) == set(_KINDS.values()) > {Scaled, Sum}


@every_reward
@pytest.mark.parametrize("export", [in_python, in_onnx])
def test_mean_and_deviation_are_the_models(rewards: dict[str, Reward], name: str, export: Any) -> None:
    reward, made = rewards[name], export(rewards[name])
    predict = made["predict"] if isinstance(made, dict) else made
    for count, wide in ((1, 1.0), (200, 1.0), (200, 3.0)):
        x = rows(count, 7, wide)
        mean, std = predict(x)
        wanted, deviation = reward.predict(x, return_std=True)
        close(mean, wanted)
        close(std, deviation)
        assert np.shape(mean) == np.shape(std) == (count,)


@pytest.fixture(scope="module")
def exports(rewards: dict[str, Reward]) -> list[Any]:
    return [in_python(rewards["mixed"])["predict"], in_onnx(rewards["mixed"])]


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([0.01, 1.0, 30.0]))
def test_both_exports_agree_with_the_model_anywhere(
    rewards: dict[str, Reward], exports: list[Any], seed: int, count: int, wide: float
) -> None:
    x = rows(count, seed, wide)
    wanted = np.array(rewards["mixed"].predict(x, return_std=True))
    size = np.maximum(1.0, np.abs(wanted))
    for predict in exports:
        close(np.array(predict(x)) / size, wanted / size)


@every_reward
def test_the_mixture_is_the_beliefs(rewards: dict[str, Reward], name: str) -> None:
    reward, x = rewards[name], rows(9, 3)
    weights, means, stds = in_python(reward)["mixture"](x)
    assert weights.sum() == pytest.approx(1.0)
    for number, (weight, part) in enumerate(reward.belief.components):
        mean, learned = part.project(reward.scaling(x))
        variance = part.kernel.diagonal(reward.scaling(x)) - np.sum(learned**2, axis=1)
        assert weights[number] == pytest.approx(weight)
        close(means[number], mean)
        close(stds[number], np.sqrt(np.maximum(variance, 0.0)))


# --- the Python file --------------------------------------------------------------------------------------


def test_the_file_runs_where_prefero_and_scipy_cannot_be_imported(
    rewards: dict[str, Reward], tmp_path: Path
) -> None:
    export_reward(rewards["belief"], tmp_path / "reward.py")
    code = (
        "import sys\n"
        "for name in ('prefero', 'scipy', 'threadpoolctl'):\n"
        "    sys.modules[name] = None\n"
        "import json, reward\n"
        "mean, std = reward.predict(json.loads(sys.argv[1]))\n"
        "print(json.dumps([mean.tolist(), std.tolist(), reward.NAMES]))\n"
    )
    x = rows(5, 2)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, json.dumps(x.tolist())],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        check=True,
    )
    mean, std, names = json.loads(done.stdout)
    close([mean, std], rewards["belief"].predict(x, return_std=True))
    assert names == NAMES


@every_reward
def test_the_file_imports_numpy_alone_and_holds_only_the_kernels_it_needs(
    rewards: dict[str, Reward], name: str
) -> None:
    tree = ast.parse(to_python(rewards[name]))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [alias.name for node in found for alias in node.names] == ["numpy"]
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert defined - used <= {"predict"}


def test_a_single_row_is_a_trajectory_too(rewards: dict[str, Reward]) -> None:
    predict, x = in_python(rewards["belief"])["predict"], rows(1, 5)
    np.testing.assert_array_equal(predict(x[0]), predict(x))


@pytest.mark.parametrize("wrong", [[[1.0, 2.0]], [1.0], np.zeros((2, 3, 3))])
def test_other_features_are_refused_by_name(rewards: dict[str, Reward], wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"wanted 3 features \(speed, distance, comfort\), but got shape"):
        in_python(rewards["belief"])["predict"](wrong)


@pytest.mark.parametrize("name", ['"""', "'''; import os #", "a\nb\\", "größe {x} %s"])
def test_no_name_of_a_feature_can_break_the_file(name: str) -> None:
    reward = learn(LinearPreference(draws=5), 2, names=[name, "b", "c"])
    told = Reward(reward.scaling, reward.belief, {"model": f'"""\n{name}\nraise SystemExit'})
    for broken in (reward, told):
        assert in_python(broken)["NAMES"] == (name, "b", "c")
        assert len(in_onnx(broken)(rows(2, 0))[0]) == 2


def test_a_loaded_reward_is_exported_alike(rewards: dict[str, Reward], tmp_path: Path) -> None:
    rewards["belief"].save(tmp_path / "reward.json")
    x = rows(6, 8)
    first, second = (
        in_python(r)["predict"](x) for r in (rewards["belief"], load_reward(tmp_path / "reward.json"))
    )
    close(first, second)


# --- files and refusals -----------------------------------------------------------------------------------


def test_the_suffix_decides_what_is_written(rewards: dict[str, Reward], tmp_path: Path) -> None:
    for path in (tmp_path / "reward.py", tmp_path / "reward.onnx"):
        export_reward(rewards["ARD"], str(path))
    assert (tmp_path / "reward.py").read_text(encoding="utf-8") == to_python(rewards["ARD"])
    assert (tmp_path / "reward.onnx").read_bytes() == to_onnx(rewards["ARD"])
    with pytest.raises(ValueError, match=r"exported as \.py or \.onnx, but the path is .*reward\.json"):
        export_reward(rewards["ARD"], tmp_path / "reward.json")


def test_the_graph_says_what_it_is_about(rewards: dict[str, Reward]) -> None:
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(to_onnx(rewards["belief"]))
    assert {p.key: p.value for p in model.metadata_props} == {"features": "\n".join(NAMES)}
    assert model.graph.doc_string == rewards["belief"].describe()
    assert [tensor.name for tensor in model.graph.input] == ["features"]


class Strange(Linear):
    """A kernel that nobody has heard of."""


@pytest.mark.parametrize("export", [to_python, to_onnx])
def test_a_kernel_of_ones_own_is_refused(export: Any) -> None:
    reward = learn(PreferenceGP(0.5 * Strange(), noise=0.1, margin=0.1, learn=False), 2)
    with pytest.raises(
        ValueError, match="kernels Strange cannot be exported: the kernels that can are Linear"
    ):
        export(reward)


def test_without_the_package_its_name_is_told(
    rewards: dict[str, Reward], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "onnx"]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtra, match=r"pip install 'prefero\[onnx\]'"):
        to_onnx(rewards["RBF"])
