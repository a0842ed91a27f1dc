"""An exported Python file computes the features that its reward was taught with, without Prefero."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefero import FeatureOptions, Learner, Pool, Question, Reward
from prefero.datasets import LIBRARY, open_dataset
from prefero.datasets.features.embeddings.embedding import FITTED, OF_VIDEOS
from prefero.deploy.export import export_reward
from prefero.deploy.export.source import Source
from prefero.trajectories import FeatureSpec

STEPS, EPISODES = 14, 8
PLACED = {"goal": "goal(y=0.3, x=-1)", "final": "final(y)", "jerk": "jerk(y, x)"}
EMBEDDINGS = ["pca(2)", "random-network(3)"]


@pytest.fixture
def walks(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    np.savez(
        tmp_path / "walks.npz",
        states=np.cumsum(rng.normal(size=(EPISODES, STEPS, 2)), axis=1),
        actions=rng.normal(size=(EPISODES, STEPS, 1)),
        rewards=rng.normal(size=(EPISODES, STEPS)),
        lengths=[14, 12, 9, 14, 11, 13, 8, 10],
        step_seconds=0.1,
        state_names=["x", "y"],
    )
    return tmp_path / "walks.npz"


def exported(reward: Reward, path: Path) -> dict[str, Any]:
    export_reward(reward, path)
    found: dict[str, Any] = {}
    exec(path.read_text(encoding="utf-8"), found)
    return found


def taught(walks: Path, options: FeatureOptions) -> Reward:
    learner = Learner(Pool.from_table(walks, options))
    learner.tell(Question(0, 1), "left")
    return learner.reward()


OF_STATES = [one for kind, one in FITTED.items() if kind not in OF_VIDEOS]


@pytest.mark.parametrize("one", [*(word.extract for word in LIBRARY.values()), *OF_STATES])
def test_every_feature_is_code_that_needs_only_numpy(one: Any) -> None:
    source, found = Source(given=()), dict[str, Any]()
    source.add(one)
    exec(f"import numpy as np\n{source}", found)
    assert one.__name__ in found


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_file_computes_the_rewards_features(walks: Path, tmp_path: Path) -> None:
    words = [PLACED.get(word, word) for word in LIBRARY] + EMBEDDINGS
    reward = taught(walks, FeatureOptions(words, log_transform=["path length"]))
    robot, table, dataset = (
        exported(reward, tmp_path / "r.py"),
        reward.extract_features(walks),
        open_dataset(walks),
    )
    for number, row in enumerate(table.features):
        e = dataset.episode(number)  # type: ignore[attr-defined]
        made = robot["features"](e.states, e.actions, e.step_seconds, e.rewards)
        np.testing.assert_allclose(made, row, rtol=1e-12, atol=1e-12)
    mean, _ = robot["predict"]([made])
    np.testing.assert_allclose(mean, reward(table.features[-1:]), atol=1e-6)
    with pytest.raises(ValueError, match=r"states \(T, 2\) of \('x', 'y'\), .*\(5, 3\)"):
        robot["features"](np.zeros((5, 3)), np.zeros((5, 1)))


def test_the_file_needs_nothing_but_numpy(walks: Path, tmp_path: Path) -> None:
    export_reward(taught(walks, FeatureOptions(["final", "pca(2)"])), tmp_path / "reward.py")
    code = "import sys; sys.modules['prefero'] = None; import numpy as np, reward; "
    code += "print(reward.predict([reward.features(np.ones((3, 2)), np.ones((3, 1)))])[0].shape)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == "(1,)"


def test_an_onnx_graph_says_how_its_features_are_computed(walks: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    reward = taught(walks, FeatureOptions(["final", "pca(2)"]))
    export_reward(reward, tmp_path / "reward.onnx")
    properties = {p.key: p.value for p in onnx.load(tmp_path / "reward.onnx").metadata_props}
    spec = FeatureSpec.from_json(json.loads(properties["feature_spec"]))
    assert spec.words == ("final", "pca(2)")
    assert reward.feature_spec is not None
    np.testing.assert_array_equal(spec.fitted["pca(2)"]["axes"], reward.feature_spec.fitted["pca(2)"]["axes"])


def test_features_that_are_code_are_left_to_the_user(walks: Path, tmp_path: Path) -> None:
    learner = Learner(Pool.from_table(walks, [lambda e: {"a": e.states[0, 0]}, "final(y)"]))
    learner.tell(Question(0, 1), "left")
    assert "features" not in exported(learner.reward(), tmp_path / "r.py")
