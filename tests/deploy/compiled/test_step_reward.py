"""The reward of single steps: its mean over a trajectory is the reward of the trajectory."""

from pathlib import Path

import numpy as np
import pytest

from prefero import FeatureOptions, Learner, Pool, PreferenceGP, Question, Reward, StepReward, load_reward
from prefero._support.arrays import Array
from prefero.datasets import Episode, open_dataset
from prefero.deploy.export import export_reward
from prefero.kernels import RBF
from run_prefero import run_prefero

EPISODES, STEPS = 60, 15
Recorded = tuple[Path, Array, Array]  # file, states, actions


def true_reward(states: Array, actions: Array) -> Array:
    """Of each step: the first state near 0, the second is irrelevant, and small actions."""
    reward: Array = -(states[..., 0] ** 2) - 0.3 * actions[..., 0] ** 2
    return reward


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    rng = np.random.default_rng(3)
    states = np.cumsum(rng.normal(size=(EPISODES, STEPS, 2)), axis=1) * 0.5 + rng.normal(
        size=(EPISODES, 1, 2)
    )
    actions = rng.normal(size=(EPISODES, STEPS, 1)) * rng.uniform(0.1, 2.0, size=(EPISODES, 1, 1))
    path = tmp_path_factory.mktemp("steps") / "walks.npz"
    np.savez(path, states=states, actions=actions, state_names=["x", "y"], action_names=["push"])
    return path, states, actions


@pytest.fixture(scope="module")
def reward(recorded: Recorded) -> Reward:
    """Taught with 25 answers about the true return, and read from its file."""
    path, states, actions = recorded
    learner = Learner(Pool.from_table(path, ["steps"]))
    returns = true_reward(states, actions).mean(axis=1)
    for left, right in np.random.default_rng(0).permutation(EPISODES)[:50].reshape(-1, 2).tolist():
        learner.tell(Question(left, right), "left" if returns[left] > returns[right] else "right")
    learner.reward().save(path.with_name("reward.json"))
    return load_reward(path.with_name("reward.json"))


def test_the_mean_over_steps_is_the_reward_of_the_trajectory(reward: Reward, recorded: Recorded) -> None:
    path, states, actions = recorded
    whole = reward(reward.extract_features(open_dataset(path)).features)
    step = StepReward.of(reward)
    each = [step(s, a).mean() for s, a in zip(states, actions, strict=True)]
    assert np.array(each) == pytest.approx(whole, abs=1e-9)


def test_the_compiled_mean_is_the_models(reward: Reward) -> None:
    step, rng = StepReward.of(reward), np.random.default_rng(1)
    states, actions = 3 * rng.normal(size=(200, 2)), 3 * rng.normal(size=(200, 1))
    mean, std = step.predict(states, actions)
    assert step(states, actions) == pytest.approx(mean, abs=1e-9)
    numbers = step.features.numbers(np.concatenate([states, actions], axis=1))
    assert step.compiled(numbers[7]) == pytest.approx(mean[7], abs=1e-9)
    assert (std > 0).all()


def test_labels_of_trajectories_teach_a_reward_of_steps(recorded: Recorded, tmp_path: Path) -> None:
    path, states, actions = recorded
    learner, returns = Learner(Pool.from_table(path, ["steps"])), true_reward(states, actions).mean(axis=1)
    middle = np.median(returns)
    for item in range(40):
        learner.tell(Question(item, kind="success"), "pass" if returns[item] > middle else "fail")
    learner.reward().save(tmp_path / "labels.json")
    reward = load_reward(tmp_path / "labels.json")
    step = StepReward.of(reward)
    mean, std = step.predict(states[3], actions[3])
    assert step(states[3], actions[3]) == pytest.approx(mean, abs=1e-9)
    assert np.isfinite(std).all()
    whole = reward.extract_features(open_dataset(path)).features
    assert mean.mean() == pytest.approx(reward(whole)[3], abs=1e-9)
    right = (reward.probability_acceptable(whole) > 0.5) == (returns > middle)
    assert np.mean(right[40:]) > 0.7


def test_the_true_reward_of_steps_is_found(reward: Reward) -> None:
    grid = np.random.default_rng(2).uniform(-1.5, 1.5, size=(400, 3))
    learned = StepReward.of(reward)(grid[:, :2], grid[:, 2:])
    assert np.corrcoef(learned, true_reward(grid[:, :2], grid[:, 2:]))[0, 1] > 0.9


def test_effects_say_which_states_and_actions_matter(reward: Reward) -> None:
    effects = StepReward.of(reward).effects()
    assert next(iter(effects)) == "x"
    assert effects["y"] < 0.2
    assert sum(effects.values()) == pytest.approx(1.0)


def test_the_plot_has_a_profile_for_each_number(reward: Reward) -> None:
    assert len(StepReward.of(reward).plot().axes) == 3
    with pytest.raises(ValueError, match=r"mean nothing alone: prefero\.StepReward"):
        reward.plot()


def test_the_exported_file_computes_the_features_of_steps(
    reward: Reward, recorded: Recorded, tmp_path: Path
) -> None:
    export_reward(reward, tmp_path / "robot.py")
    robot: dict[str, object] = {}
    exec((tmp_path / "robot.py").read_text(encoding="utf-8"), robot)
    _, states, actions = recorded
    features = robot["features"](states[0], actions[0])  # type: ignore[operator]
    expected = reward.episode_features()(Episode("0", states[0], actions[0]))
    assert features == pytest.approx(expected)
    assert robot["predict"]([features])[0] == pytest.approx(reward(expected[None]))  # type: ignore[operator]


def test_prefixes_and_new_data_need_nothing_but_the_file(reward: Reward, recorded: Recorded) -> None:
    _, states, actions = recorded
    with pytest.raises(ValueError, match="have 2"):
        StepReward.of(reward)(states[0][:, :1], actions[0])
    episode = Episode("0", states[0], actions[0])
    assert StepReward.of(reward).of_episode(episode) == pytest.approx(
        StepReward.of(reward)(states[0], actions[0])
    )


def test_other_rewards_are_refused(recorded: Recorded) -> None:
    pool = Pool.from_table(recorded[0], ["mean"])
    with pytest.raises(ValueError, match=r"features 'steps', .*mean"):
        StepReward.of(Learner(pool).reward())
    with pytest.raises(ValueError, match="features of its own"):
        StepReward.of(Learner(Pool(np.arange(6.0)[:, None])).reward())
    curved = Learner(Pool.from_table(recorded[0], ["steps"]), model=PreferenceGP(RBF(0.1), learn=False))
    with pytest.raises(ValueError, match="other kernels: RBF"):
        StepReward.of(curved.reward())


def test_steps_stand_alone(recorded: Recorded) -> None:
    with pytest.raises(ValueError, match="the only feature"):
        Pool.from_table(recorded[0], FeatureOptions(["steps", "duration"]))


def test_the_command_line_extracts_and_scores(recorded: Recorded, reward: Reward, tmp_path: Path) -> None:
    reward.save(tmp_path / "reward.json")
    path, table = str(recorded[0]), str(tmp_path / "steps.parquet")
    said = run_prefero("features", path, "--features", "steps", "--out", table)
    assert "60 trajectories, 422 features of steps" in " ".join(said.stdout.split())
    scored = run_prefero("score", str(tmp_path / "reward.json"), path)
    assert scored.returncode == 0, scored.stderr
