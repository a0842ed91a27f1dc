"""A kernel of another package: nothing in Prefero names it, and models, files and exports take it."""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

from kernels.conformance import check_kernel
from prefero import Learner, Pool, PreferenceGP, Reward, best_question, load_reward
from prefero._support.arrays import Array
from prefero.deploy.compiled.compiled_reward import CompiledReward
from prefero.deploy.export import export_reward
from prefero.kernels import KERNELS, Anchored, Kernel, Linear, Parameterless, register, to_json
from prefero.rewards.file import RewardFileError
from support.install_package import install_package

CODE = (Path(__file__).parent / "periodic_kernel.py").read_text(encoding="utf-8")
ENTRY_POINTS = {"prefero.kernels": {"Periodic": "periodic_package:Periodic"}}


@pytest.fixture
def periodic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    """The kernel class of an installed package."""
    install_package(tmp_path / "site", monkeypatch, "periodic_package", CODE, ENTRY_POINTS)
    found: type[Any] = importlib.import_module("periodic_package").Periodic
    return found


def taught(kernel: Kernel) -> Reward:
    """A reward of two features, the first of which has a best value in the middle."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 2))
    learner = Learner(Pool(x, ["angle", "height"]), model=PreferenceGP(kernel, noise=0.1))
    for _ in range(8):
        question = learner.ask()
        better = abs(x[question.left, 0]) < abs(x[question.right, 0])
        learner.tell(question, "left" if better else "right")
    return learner.reward()


def new() -> Array:
    return np.random.default_rng(5).uniform(-1.0, 1.0, (9, 2))


def test_it_is_found_and_conforms(periodic: type[Any]) -> None:
    assert KERNELS.names()[-1] == "Periodic"
    assert KERNELS.get("Periodic") is periodic
    check_kernel(periodic(period=2.5))
    check_kernel(0.5 * Linear() + Anchored(2.0 * periodic(period=1.7), (0.1, 0.2, 0.3)))


def test_a_model_learns_its_parameters_and_asks_with_it(periodic: type[Any]) -> None:
    x = np.random.default_rng(1).uniform(-1.0, 1.0, (30, 2))
    model = PreferenceGP(1.0 * periodic(period=3.0), noise=0.1).fit(x, [[0, 1], [2, 3], [4, 5], [6, 7]])
    assert model.kernel_.parameter_names == ("variance", "period")
    assert model.kernel_.log_parameters[1] != np.log(3.0)
    assert 0.0 < best_question(model.posterior_, Pool(x)).value <= 1.0


def test_a_reward_with_it_survives_a_file(periodic: type[Any], tmp_path: Path) -> None:
    reward = taught(1.0 * periodic(period=3.0))
    reward.save(tmp_path / "reward.json")
    loaded = load_reward(tmp_path / "reward.json")
    for found, wanted in zip(loaded.predict(new(), True), reward.predict(new(), True), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_without_its_package_a_file_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        install_package(tmp_path / "site", patch, "periodic_package", CODE, ENTRY_POINTS)
        taught(importlib.import_module("periodic_package").Periodic(3.0)).save(tmp_path / "reward.json")
    with pytest.raises(RewardFileError, match=r"no kernel 'Periodic'.*Install"):
        load_reward(tmp_path / "reward.json")


def load_python(path: Path) -> Any:
    names: dict[str, Any] = {}
    exec(path.read_text(encoding="utf-8"), names)
    return names["predict"]


def load_onnx(path: Path) -> Any:
    session = pytest.importorskip("onnxruntime").InferenceSession(str(path))
    return lambda features: session.run(None, {"features": features})


LOADERS = {".py": load_python, ".onnx": load_onnx}


@pytest.mark.parametrize("suffix", LOADERS)
def test_it_is_exported(periodic: type[Any], suffix: str, tmp_path: Path) -> None:
    reward = taught(Anchored(1.0 * periodic(period=3.0), (0.1, 0.2)) + 0.1 * Linear())
    path = tmp_path / f"reward{suffix}"
    export_reward(reward, path)
    for found, wanted in zip(LOADERS[suffix](path)(new()), reward.predict(new(), True), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_it_is_compiled(periodic: type[Any]) -> None:
    reward = taught(Anchored(1.0 * periodic(period=3.0), (0.1, 0.2)) + 0.1 * Linear())
    np.testing.assert_allclose(CompiledReward.of(reward)(new()), reward(new()), atol=1e-9)


@dataclass(frozen=True)
class WithScipy(Parameterless):
    """A kernel whose code needs more than NumPy."""

    def rowwise(self, x: Any, y: Any) -> Any:
        return special.erf(x[..., 0]) * special.erf(y[..., 0])

    def input_gradient(self, x: Array, y: Array) -> Array:
        return np.zeros((len(x), *y.shape))


@dataclass(frozen=True)
class WithNumpy(WithScipy):
    """One that computes with NumPy only, which is no graph."""

    def rowwise(self, x: Any, y: Any) -> Any:
        return np.sum(np.tanh(x) * np.tanh(y), axis=-1)


@pytest.mark.parametrize(
    ("kernel", "suffix", "reason"),
    [
        (WithScipy(), ".py", "cannot be exported to Python: its code uses 'special'"),
        (WithScipy(), ".onnx", "cannot be exported as an ONNX graph"),
        (WithNumpy(), ".onnx", "cannot be exported as an ONNX graph"),
    ],
)
def test_what_cannot_be_exported_is_refused_by_name(
    kernel: Kernel, suffix: str, reason: str, tmp_path: Path
) -> None:
    if suffix == ".onnx":
        pytest.importorskip("onnx")
    path = tmp_path / f"reward{suffix}"
    with pytest.raises(ValueError, match=f"a reward of kernels {type(kernel).__name__} {reason}"):
        export_reward(taught(0.5 * Linear() + kernel), path)
    assert not path.exists()


def test_code_that_needs_only_numpy_is_exported_to_python(tmp_path: Path) -> None:
    reward = taught(0.5 * Linear() + WithNumpy())
    export_reward(reward, tmp_path / "reward.py")
    found, _ = load_python(tmp_path / "reward.py")(new())
    np.testing.assert_allclose(found, reward(new()), atol=1e-9)


# --- registered by hand -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Constant(Parameterless):
    """One unknown number for every trajectory."""

    def rowwise(self, x: Any, y: Any) -> Any:
        return 0.0 * (x + y)[..., 0] + 1.0

    def input_gradient(self, x: Array, y: Array) -> Array:
        return np.zeros((len(x), *y.shape))


@pytest.fixture
def registered() -> Iterator[None]:
    register(Constant)
    yield
    KERNELS.unregister("Constant")


@pytest.mark.usefixtures("registered")
def test_a_kernel_is_registered_by_hand() -> None:
    check_kernel(Constant())
    check_kernel(Constant() + Linear())
    with pytest.raises(ValueError, match="a kernel 'Constant' already"):
        register(Constant)


def test_a_kernel_that_is_not_registered_is_not_saved(tmp_path: Path) -> None:
    reward = taught(Constant() + Linear())
    with pytest.raises(ValueError, match=r"Constant cannot be saved.*@prefero"):
        reward.save(tmp_path / "reward.json")
    assert list(tmp_path.iterdir()) == []


def test_another_class_of_the_same_name_is_not_taken_for_it() -> None:
    class RBF(Constant):
        pass

    with pytest.raises(ValueError, match="RBF cannot be saved"):
        to_json(RBF())


@pytest.mark.parametrize("wrong", [object, Linear(), "Linear"])
def test_what_is_no_kernel_is_not_registered(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"derived from prefero\.kernels\.Kernel"):
        register(wrong)
