"""The plugin without LeRobot: the names that LeRobot looks for, and batches as episodes."""

import ast
import importlib
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from prefero import Learner, Pool, Question, Reward

FOLDER = Path(__file__).resolve().parents[2] / "plugins" / "lerobot_policy_prefero"
PACKAGE = FOLDER / "src" / "lerobot_policy_prefero"
without_lerobot = pytest.mark.skipif(find_spec("lerobot") is not None, reason="LeRobot itself is there")


def names_in(module: str) -> set[str]:
    tree = ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


def test_names_are_those_that_lerobot_looks_for() -> None:
    """LeRobot imports distributions by their prefix, and finds classes by the configuration's name."""
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"].startswith("lerobot_policy_")
    assert project["name"] == PACKAGE.name
    assert "PreferoConfig" in names_in("configuration_prefero")
    assert "PreferoRewardModel" in names_in("modeling_prefero")
    assert "make_prefero_pre_post_processors" in names_in("processor_prefero")


# --- with a stand-in for LeRobot --------------------------------------------------------------------------


class Registered:
    """What the plugin uses of LeRobot's RewardModelConfig."""

    choices: dict[str, type] = {}  # noqa: RUF012
    device = "cpu"

    @classmethod
    def register_subclass(cls, name: str) -> Any:
        return lambda kind: cls.choices.setdefault(name, kind)

    def __post_init__(self) -> None:
        pass


class Pretrained:
    """What the plugin uses of LeRobot's PreTrainedRewardModel."""

    def __init__(self, config: Any) -> None:
        self.config = config

    def to(self, device: str) -> None:
        assert device == "cpu"

    def eval(self) -> None:
        pass


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    stubs: dict[str, dict[str, Any]] = {
        "torch": {"Tensor": np.ndarray, "float32": np.float32, "as_tensor": as_tensor},
        "lerobot": {},
        "lerobot.configs": {},
        "lerobot.configs.rewards": {"RewardModelConfig": Registered},
        "lerobot.rewards": {},
        "lerobot.rewards.pretrained": {"PreTrainedRewardModel": Pretrained},
    }
    for name, values in stubs.items():
        made = ModuleType(name)
        vars(made).update(values)
        monkeypatch.setitem(sys.modules, name, made)
    monkeypatch.syspath_prepend(str(PACKAGE.parent))
    modules = ("configuration_prefero", "batches", "modeling_prefero")
    yield SimpleNamespace(**{m: importlib.import_module(f"lerobot_policy_prefero.{m}") for m in modules})
    for name in [name for name in sys.modules if name.startswith("lerobot_policy_prefero")]:
        del sys.modules[name]


def as_tensor(values: Any, dtype: Any, device: str) -> Any:
    assert device == "cpu"
    return np.asarray(values, dtype=dtype)


@pytest.fixture
def reward(tmp_path: Path) -> Reward:
    rng = np.random.default_rng(0)
    np.savez(
        tmp_path / "walks.npz",
        states=rng.normal(size=(6, 9, 2)),
        actions=rng.normal(size=(6, 9, 1)),
        step_seconds=0.1,
    )
    learner = Learner(Pool.from_table(tmp_path / "walks.npz", ["final", "control-effort"]))
    learner.tell(Question(0, 1), "left")
    made = learner.reward()
    made.save(tmp_path / "reward.json")
    return made


@without_lerobot
@pytest.mark.parametrize("place", ["reward.json", "."])  # a file, and the folder that has it
def test_the_model_gives_the_reward_of_every_trajectory(
    plugin: SimpleNamespace, reward: Reward, tmp_path: Path, place: str
) -> None:
    config: Any = plugin.configuration_prefero.PreferoConfig(reward=str(tmp_path / place), steps=4)
    assert Registered.choices["prefero"] is plugin.configuration_prefero.PreferoConfig
    assert config.observation_delta_indices == config.action_delta_indices == [-3, -2, -1, 0]
    model = plugin.modeling_prefero.PreferoRewardModel(config)
    rng = np.random.default_rng(1)
    states, actions = rng.normal(size=(3, 4, 2)), rng.normal(size=(3, 4))  # LeRobot drops an axis of length 1
    padded = np.array([[True, True, False, False], [False] * 4, [False] * 4])
    batch = {"observation.state": states, "action": actions, "observation.state_is_pad": padded}
    efforts = [0.1 * np.sum(a[~p] ** 2) for a, p in zip(actions, padded, strict=True)]
    wanted = reward(np.column_stack([states[:, -1], efforts]))
    np.testing.assert_allclose(model.compute_reward(batch), wanted, rtol=1e-6)
    again = plugin.modeling_prefero.PreferoRewardModel.from_pretrained(tmp_path, config=config)
    np.testing.assert_array_equal(again.compute_reward(batch), model.compute_reward(batch))


@without_lerobot
@pytest.mark.usefixtures("reward")
def test_a_trajectory_is_a_success_if_it_is_probably_acceptable(
    plugin: SimpleNamespace, tmp_path: Path
) -> None:
    pool = Pool.from_table(tmp_path / "walks.npz", ["final", "control-effort"])
    learner, ends = Learner(pool), pool.features[:, 0]
    for item in range(len(pool)):
        learner.tell(Question(item, kind="success"), "pass" if ends[item] > np.median(ends) else "fail")
    learner.reward().save(tmp_path / "labels.json")
    config: Any = plugin.configuration_prefero.PreferoConfig(
        reward=str(tmp_path / "labels.json"), steps=4, reward_output="success", success_threshold=0.6
    )
    model = plugin.modeling_prefero.PreferoRewardModel(config)
    rng = np.random.default_rng(1)
    states, actions = 2 * rng.normal(size=(20, 4, 2)), rng.normal(size=(20, 4, 1))
    batch = {"observation.state": states, "action": actions}
    efforts = 0.1 * np.sum(actions**2, axis=(1, 2))
    wanted = learner.reward().probability_acceptable(np.column_stack([states[:, -1], efforts]))
    np.testing.assert_allclose(model.predict_success(batch), wanted, rtol=1e-5)
    np.testing.assert_array_equal(model.compute_reward(batch), wanted > 0.6)
    np.testing.assert_array_equal(model.predict_reward(batch, threshold=0.3), wanted > 0.3)
    assert 0 < np.sum(wanted > 0.6) < np.sum(wanted > 0.3) < 20

    config.reward = str(tmp_path / "reward.json")  # which was taught with a comparison only
    with pytest.raises(ValueError, match="nobody has said what is acceptable"):
        plugin.modeling_prefero.PreferoRewardModel(config)


@without_lerobot
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"reward_output": "progress"}, "reward or success, but is 'progress'"),
        ({"success_threshold": 80}, "a probability, but is 80"),
    ],
)
def test_what_the_model_cannot_give_is_refused(
    plugin: SimpleNamespace, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        plugin.configuration_prefero.PreferoConfig(**given)


@without_lerobot
def test_a_single_frame_is_a_trajectory_of_one_step(plugin: SimpleNamespace, reward: Reward) -> None:
    episodes_in = plugin.batches.episodes_in
    batch = {"observation.state": np.ones((2, 2)), "action": np.zeros((2, 1))}
    episodes = episodes_in(batch, reward.feature_spec, ["observation.state"], ["action"])
    assert [len(episode) for episode in episodes] == [1, 1]


@without_lerobot
@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"action": np.zeros((2, 1))}, "needs 'observation.state', .*action"),
        (
            {"observation.state": np.zeros((2, 5)), "action": np.zeros((2, 1))},
            r"2 states \(state 1, state 2\), .*5",
        ),
    ],
)
def test_batches_that_do_not_fit_are_refused(
    plugin: SimpleNamespace, reward: Reward, batch: dict[str, Any], message: str
) -> None:
    with pytest.raises((KeyError, ValueError), match=message):
        plugin.batches.episodes_in(batch, reward.feature_spec, ["observation.state"], ["action"])


@without_lerobot
def test_a_model_without_a_reward_asks_for_one(plugin: SimpleNamespace) -> None:
    config = plugin.configuration_prefero.PreferoConfig()
    with pytest.raises(ValueError, match=r"--reward_model\.reward=FILE\.json"):
        plugin.modeling_prefero.PreferoRewardModel(config)
    with pytest.raises(ValueError, match="but is 0"):
        plugin.configuration_prefero.PreferoConfig(steps=0)
