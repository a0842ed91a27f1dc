"""Exports: a Python file and an ONNX graph predict what the reward predicts, without Prefero."""

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

from deploy.conformance import (
    KERNELS,
    NAMES,
    REWARDS,
    Predict,
    assert_close,
    check_reward,
    learn,
    rewards,
    rows,
)
from prefero import LinearPreference, PreferenceGP, Reward, load_reward
from prefero._support.optional import MissingExtra
from prefero.deploy.export import TARGETS, export_reward
from prefero.deploy.export.components import without_bar
from prefero.deploy.export.onnx import to_onnx
from prefero.deploy.export.python import to_python
from prefero.kernels import RBF, Kernel, Linear, Scaled, Sum, WithBar
from prefero.kernels.base import kernel_types
from prefero.kernels.serialization import OWN

every_reward = pytest.mark.parametrize("name", REWARDS)


def in_python(reward: Reward) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(to_python(reward), "reward.py", "exec"), names)
    return names


def in_onnx(reward: Reward) -> Any:
    session = pytest.importorskip("onnxruntime").InferenceSession(
        to_onnx(reward), providers=["CPUExecutionProvider"]
    )
    return lambda features: session.run(["mean", "std"], {"features": features})


@every_reward
def test_a_graph_gives_nan_where_other_forms_refuse(name: str) -> None:
    reward = rewards()[name]
    bad = np.tile(reward.scaling.center, (4, 1))
    bad[:3, 0] = np.nan, np.inf, -np.inf
    mean, std = in_onnx(reward)(bad)
    assert np.isnan(std).tolist() == [True, True, True, False]
    assert np.isnan(mean[0])
    for predict in (reward.predict, in_python(reward)["predict"]):
        with pytest.raises(ValueError, match="must be finite"):
            predict(bad[:1])


def test_a_graph_says_what_it_gives_for_features_that_are_not_finite() -> None:
    model = pytest.importorskip("onnx").load_from_string(to_onnx(rewards()["RBF"]))
    assert "std is NaN" in model.graph.doc_string


# --- the same numbers -------------------------------------------------------------------------------------


def test_every_kernel_that_can_be_saved_is_exported() -> None:
    assert set().union(*map(kernel_types, KERNELS.values())) == set(OWN) > {Scaled, Sum}


def load_python(path: Path) -> Predict:
    names: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), names)
    predict: Predict = names["predict"]
    return predict


def load_onnx(path: Path) -> Predict:
    session = pytest.importorskip("onnxruntime").InferenceSession(path, providers=["CPUExecutionProvider"])
    return lambda features: session.run(["mean", "std"], {"features": features})


LOADERS = {".py": load_python, ".onnx": load_onnx}


def test_every_target_of_prefero_has_a_loader_here() -> None:
    assert set(LOADERS) == {f".{name}" for name in TARGETS}


@every_reward
@pytest.mark.parametrize("suffix", LOADERS)
def test_mean_and_standard_deviation_are_the_rewards(name: str, suffix: str, tmp_path: Path) -> None:
    check_reward(name, suffix, LOADERS[suffix], tmp_path)


@pytest.fixture(scope="module")
def exports() -> list[Any]:
    return [in_python(rewards()["mixed"])["predict"], in_onnx(rewards()["mixed"])]


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([0.01, 1.0, 30.0]))
def test_both_exports_agree_with_the_model_anywhere(
    exports: list[Any], seed: int, count: int, wide: float
) -> None:
    x = rows(count, seed, wide)
    wanted = np.array(rewards()["mixed"].predict(x, return_std=True))
    size = np.maximum(1.0, np.abs(wanted))
    for predict in exports:
        assert_close(np.array(predict(x)) / size, wanted / size)


@every_reward
def test_the_mixture_is_that_of_the_reward(name: str) -> None:
    reward, x = rewards()[name], rows(9, 3)
    weights, means, stds = in_python(reward)["mixture"](x)
    assert weights.sum() == pytest.approx(1.0)
    for number, (weight, part) in enumerate(reward.belief.components):
        mean, learned = part.project(reward.scaling(x))
        variance = part.kernel.diagonal(reward.scaling(x)) - np.sum(learned**2, axis=1)
        assert weights[number] == pytest.approx(weight)
        assert_close(means[number], mean)
        assert_close(stds[number], np.sqrt(np.maximum(variance, 0.0)))


def test_what_is_just_acceptable_is_in_every_export() -> None:
    reward = rewards()["labels"]
    assert in_python(reward)["ACCEPTABLE_AT"] == reward.acceptable_at
    assert in_python(rewards()["RBF"])["ACCEPTABLE_AT"] is None
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(to_onnx(reward))
    assert {one.key: one.value for one in model.metadata_props}["acceptable_at"] == str(reward.acceptable_at)


def test_a_kernel_that_contains_the_bars_is_exported_without_it() -> None:
    inner = RBF(0.3)
    assert without_bar(Scaled(Sum(WithBar(inner), WithBar(Linear())), 2.0)) == 2.0 * (inner + Linear())
    assert without_bar(plain := inner + Linear()) is plain


# --- the Python file --------------------------------------------------------------------------------------


def test_the_file_runs_where_prefero_and_scipy_cannot_be_imported(tmp_path: Path) -> None:
    export_reward(rewards()["belief"], tmp_path / "reward.py")
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
    assert_close([mean, std], rewards()["belief"].predict(x, return_std=True))
    assert names == NAMES


@every_reward
def test_the_file_imports_numpy_alone_and_holds_only_the_kernels_it_needs(name: str) -> None:
    tree = ast.parse(to_python(rewards()[name]))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [alias.name for node in found for alias in node.names] == ["numpy"]
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert defined - used <= {"predict"}


def test_a_long_sum_and_deep_nesting_are_exported() -> None:
    x = rows(5, 7)
    long: Kernel = RBF()
    deep: Kernel = RBF()
    for number in range(300):
        long, deep = long + 0.01 * RBF(1.0 + number / 300), 1.001 * deep
    for kernel in (long, deep):
        reward = learn(PreferenceGP(kernel, noise=0.1, learn=False), answers=3)
        wanted = reward.predict(x, return_std=True)
        assert_close(in_onnx(reward)(x), wanted)
        assert_close(in_python(reward)["predict"](x), wanted)


def test_numbers_that_are_not_finite_are_refused() -> None:
    reward = learn(PreferenceGP(Linear(), noise=0.1, learn=False), answers=3)
    object.__setattr__(reward.belief, "alpha", np.array([np.nan]))
    with pytest.raises(ValueError, match="not finite cannot be exported"):
        to_python(reward)


def test_a_single_row_is_a_trajectory_too() -> None:
    predict, x = in_python(rewards()["belief"])["predict"], rows(1, 5)
    np.testing.assert_array_equal(predict(x[0]), predict(x))


@pytest.mark.parametrize("wrong", [[[1.0, 2.0]], [1.0], np.zeros((2, 3, 3))])
def test_other_features_are_refused_by_name(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"wanted 3 features \(speed, distance, comfort\)"):
        in_python(rewards()["belief"])["predict"](wrong)


@pytest.mark.parametrize("name", ['"""', "'''; import os #", "a\nb\\", "größe {x} %s"])
def test_feature_names_cannot_break_the_file(name: str) -> None:
    reward = learn(LinearPreference(draws=5), 2, names=[name, "b", "c"])
    told = Reward(reward.belief, {"model": f'"""\n{name}\nraise SystemExit'})
    for broken in (reward, told):
        assert in_python(broken)["NAMES"] == (name, "b", "c")
        assert len(in_onnx(broken)(rows(2, 0))[0]) == 2


def test_a_loaded_reward_is_exported_alike(tmp_path: Path) -> None:
    rewards()["belief"].save(tmp_path / "reward.json")
    x = rows(6, 8)
    first, second = (
        in_python(r)["predict"](x) for r in (rewards()["belief"], load_reward(tmp_path / "reward.json"))
    )
    assert_close(first, second)


# --- files and refusals -----------------------------------------------------------------------------------


def test_the_suffix_decides_what_is_written(tmp_path: Path) -> None:
    for path in (tmp_path / "reward.py", tmp_path / "reward.onnx"):
        export_reward(rewards()["ARD"], str(path))
    assert (tmp_path / "reward.py").read_text(encoding="utf-8") == to_python(rewards()["ARD"])
    assert (tmp_path / "reward.onnx").read_bytes() == to_onnx(rewards()["ARD"])
    with pytest.raises(ValueError, match=r"\.py, \.onnx\b.*, .*reward\.json"):
        export_reward(rewards()["ARD"], tmp_path / "reward.json")


def test_the_graph_names_its_features() -> None:
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(to_onnx(rewards()["belief"]))
    assert {p.key: p.value for p in model.metadata_props} == {"features": "\n".join(NAMES)}
    assert model.graph.doc_string.startswith(f"{rewards()['belief'].describe()}\n")
    assert [tensor.name for tensor in model.graph.input] == ["features"]


class UnknownKernel(Linear):
    """A kernel that no target can export."""

    def rowwise(self, x: Any, y: Any) -> Any:
        return json.loads("1.0") * np.sum(x * y, axis=-1)


@pytest.mark.parametrize("export", [to_python, to_onnx])
def test_a_kernel_of_another_package_is_refused(export: Any) -> None:
    reward = learn(PreferenceGP(0.5 * UnknownKernel(), noise=0.1, margin=0.1, learn=False), 2)
    with pytest.raises(ValueError, match="UnknownKernel cannot be exported"):
        export(reward)


def test_without_onnx_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "onnx"]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[onnx\]"):
        to_onnx(rewards()["RBF"])
