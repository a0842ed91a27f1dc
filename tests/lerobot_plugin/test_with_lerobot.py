"""The plugin and the progress file with LeRobot's own classes and commands; `make lerobot` runs these."""

import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deploy.rabc_weights import rabc_weights
from prefero import Learner, Pool, Question, Reward, load_reward
from prefero.__main__ import main
from prefero._support.arrays import Array
from prefero.datasets import open_dataset
from prefero.rewards.card import model_card, repository_files

pytest.importorskip("lerobot.rewards", reason="LeRobot 0.6 or newer is not installed")

import torch
from lerobot.configs.rewards import RewardModelConfig
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot.rewards import make_reward_model, make_reward_model_config, make_reward_pre_post_processors
from lerobot.rewards.sarm.rabc import RABCWeights
from lerobot.utils.import_utils import register_third_party_plugins

FPS, CHUNK, LENGTHS = 10, 4, (16, 12, 20, 14)
WORDS = ["final(x)", "final(y)"]
FLOATS = {"dtype": "float32"}


def states_of(episode: int) -> Array:
    """There and, in the odd episodes, back again."""
    time = np.linspace(0.0, 1.0, LENGTHS[episode])
    away = time if episode % 2 == 0 else np.minimum(time, 1 - time)
    return np.column_stack([away * (1 + episode), 0.1 * np.sin(3 * episode) * time]).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset that LeRobot itself has written."""
    place = tmp_path_factory.mktemp("lerobot") / "reach"
    features = {
        "observation.state": FLOATS | {"shape": (2,), "names": ["x", "y"]},
        "observation.environment_state": FLOATS | {"shape": (2,), "names": ["target x", "target y"]},
        "action": FLOATS | {"shape": (2,), "names": ["push", "turn"]},
    }
    made = LeRobotDataset.create("prefero/reach", FPS, features, root=place, use_videos=False)
    for episode in range(len(LENGTHS)):
        for step, state in enumerate(states_of(episode)):
            made.add_frame(
                {
                    "observation.state": state,
                    "observation.environment_state": np.full(2, episode, dtype=np.float32),
                    "action": np.sin([step, 2 * step], dtype=np.float32),
                    "task": "reach",
                }
            )
        made.save_episode()
    made.finalize()
    return place


@pytest.fixture(scope="module")
def reward_file(folder: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the effort grows with the length
        learner = Learner(Pool.from_lerobot(folder, WORDS))
    for a, b in [(2, 0), (0, 1), (2, 3), (0, 3), (2, 1)]:  # who ends further away
        learner.tell(Question(a, b), "left")
    path = folder.parent / "reward.json"
    learner.reward().save(path)
    return path


@pytest.fixture(scope="module")
def reward(reward_file: Path) -> Reward:
    return load_reward(reward_file)


@pytest.fixture(scope="module", autouse=True)
def _plugin() -> None:
    register_third_party_plugins()  # as LeRobot's commands do when they start


def model_of(reward_file: Path, **options: Any) -> Any:
    keys = ["observation.state", "observation.environment_state"]
    options = {"device": "cpu", "state_keys": keys, **options}
    return make_reward_model(make_reward_model_config("prefero", reward=str(reward_file), **options))


# --- the reward model -------------------------------------------------------------------------------------


def test_lerobot_finds_the_plugin_by_its_name() -> None:
    assert "prefero" in RewardModelConfig.get_known_choices()


def test_a_batch_of_whole_episodes_has_the_scores_that_prefero_gives(
    folder: Path, reward_file: Path, reward: Reward
) -> None:
    model, dataset = model_of(reward_file), LeRobotDataset("prefero/reach", root=folder)
    wanted = reward(reward.extract_features(folder).features)
    start = 0
    for length, score in zip(LENGTHS, wanted, strict=True):
        frames = [dataset[start + step] for step in range(length)]
        keys = ("observation.state", "observation.environment_state", "action")
        batch = {key: torch.stack([frame[key] for frame in frames])[None] for key in keys}
        assert model.compute_reward(batch).tolist() == pytest.approx([score], abs=1e-5)
        start += length


def test_frames_before_the_beginning_of_an_episode_do_not_count(
    folder: Path, reward_file: Path, reward: Reward
) -> None:
    model = model_of(reward_file, steps=4)
    deltas = {
        key: [delta / FPS for delta in model.config.observation_delta_indices]
        for key in ("observation.state", "observation.environment_state", "action")
    }
    dataset = LeRobotDataset("prefero/reach", root=folder, delta_timestamps=deltas)
    batch = torch.utils.data.default_collate([dataset[1], dataset[10]])
    before, _ = make_reward_pre_post_processors(model.config)
    given = model.compute_reward(before(batch))
    episode = open_dataset(folder).episode(0)  # type: ignore[attr-defined]
    rows = [reward.episode_features()(episode.segment(steps)) for steps in [(0, 2), (7, 11)]]
    assert given.tolist() == pytest.approx(reward(np.array(rows)).tolist(), abs=1e-5)


def test_a_model_is_saved_and_loaded_as_lerobot_does(
    reward_file: Path, reward: Reward, tmp_path: Path
) -> None:
    model_of(reward_file, steps=3).save_pretrained(tmp_path / "model")
    config = RewardModelConfig.from_pretrained(tmp_path / "model")
    assert config.type == "prefero"
    config.pretrained_path = str(tmp_path / "model")
    loaded = make_reward_model(config)
    assert loaded.config.steps == 3
    batch = {
        "observation.state": torch.rand(2, 5, 2),
        "observation.environment_state": torch.rand(2, 5, 2),
        "action": torch.rand(2, 5, 2),
    }
    assert torch.equal(loaded.compute_reward(batch), model_of(reward_file).compute_reward(batch))
    assert loaded.reward.scaling == reward.scaling


def test_a_model_of_labels_gives_success_after_loading(folder: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the effort grows with the length
        learner = Learner(Pool.from_lerobot(folder, WORDS))
    for item, word in enumerate(["pass", "fail", "pass", "fail"]):  # who ends far away
        learner.tell(Question(item, kind="success"), word)
    learner.reward().save(tmp_path / "labels.json")
    made = model_of(tmp_path / "labels.json", reward_output="success", success_threshold=0.4)
    made.save_pretrained(tmp_path / "model")
    config = RewardModelConfig.from_pretrained(tmp_path / "model")
    config.pretrained_path = str(tmp_path / "model")
    loaded = make_reward_model(config)
    assert (loaded.config.reward_output, loaded.config.success_threshold) == ("success", 0.4)
    keys = ("observation.state", "observation.environment_state", "action")
    batch = {key: 3 * torch.rand(6, 5, 2) for key in keys}
    assert torch.equal(loaded.compute_reward(batch), (loaded.predict_success(batch) > 0.4).float())
    assert torch.equal(loaded.predict_success(batch), made.predict_success(batch))


def test_lerobot_loads_what_is_pushed_to_the_hub(reward: Reward, tmp_path: Path) -> None:
    card = model_card("me/reach", "", reward.scaling, reward.feature_spec, reward.diagnostics)
    for name, content in repository_files(reward.to_json(), card).items():
        (tmp_path / name).write_bytes(content)
    config = RewardModelConfig.from_pretrained(tmp_path)
    config.pretrained_path = str(tmp_path)
    assert make_reward_model(config).reward.scaling == reward.scaling


# --- reward-aligned behavior cloning ----------------------------------------------------------------------


def progress_file(
    folder: Path, reward_file: Path, path: Path, monkeypatch: pytest.MonkeyPatch, *words: str
) -> Path:
    files = (str(reward_file), str(folder), "--rabc", str(path))
    monkeypatch.setattr(sys, "argv", ["prefero", "score", *files, *words, "--jobs", "1"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    return path


def test_lerobot_weighs_frames_by_the_progress_file(
    folder: Path, reward_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--progress", "prefix")
    path = progress_file(folder, reward_file, tmp_path / "progress.parquet", monkeypatch, *words)
    weights = RABCWeights(path, chunk_size=CHUNK, device=torch.device("cpu"))
    assert weights.get_stats()["num_frames"] == sum(LENGTHS)
    progress = np.array([weights.progress_lookup[index] for index in range(sum(LENGTHS))])
    assert progress.min() == 0.0
    assert progress.max() == 1.0
    start = LENGTHS[0]  # of the second episode, which goes there and back
    growing, falling = [start + 1], [start + 7]
    assert progress[growing[0] + CHUNK] > progress[growing[0]] + 0.01
    assert progress[falling[0] + CHUNK] < progress[falling[0]]
    given, stats = weights.compute_batch_weights({"index": torch.tensor(growing + falling)})
    assert given.tolist() == pytest.approx([2.0, 0.0], abs=1e-4)
    assert stats["num_zero_weight"] == 1


GOOD, BAD, STEPS = 30, 6, 24


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Good episodes, which arrive at 1, and bad ones (every sixth), which stop on the way there."""
    rng = np.random.default_rng(0)
    features = {
        "observation.state": FLOATS | {"shape": (1,), "names": ["x"]},
        "action": FLOATS | {"shape": (1,), "names": ["push"]},
    }
    place = tmp_path_factory.mktemp("mixed") / "mixed"
    made = LeRobotDataset.create("prefero/mixed", FPS, features, root=place, use_videos=False)
    for episode in range(GOOD + BAD):
        end = (0.4 if episode % 6 == 0 else 1.0) + 0.05 * rng.standard_normal()
        for x in np.linspace(0.0, end, STEPS + episode % 5, dtype=np.float32)[:, None]:
            made.add_frame({"observation.state": x, "action": 0 * x, "task": "reach"})
        made.save_episode()
    made.finalize()
    return place


def test_lerobot_learns_from_the_frames_of_good_episodes_and_not_from_those_of_bad_ones(
    mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = Learner(Pool.from_lerobot(mixed, ["final"]))
    for item in range(0, GOOD + BAD, 2):
        other = (item + 7) % (GOOD + BAD)
        ends = learner.pool.features[[item, other], 0]
        learner.tell(Question(item, other), "left" if ends[0] > ends[1] else "right")
    learner.reward().save(tmp_path / "reward.json")
    found = {}
    for kind in ("auto", "prefix"):
        path = tmp_path / f"{kind}.parquet"
        progress_file(mixed, tmp_path / "reward.json", path, monkeypatch, "--progress", kind)
        weights = RABCWeights(path, chunk_size=CHUNK, device=torch.device("cpu"))
        table = weights.df
        growths = np.array([weights._compute_delta(index) for index in table["index"]], dtype=np.float32)
        given = weights._compute_weights(growths)
        progress = {int(e): some.to_numpy() for e, some in table.groupby("episode_index")["progress_sparse"]}
        stated = rabc_weights(progress, CHUNK)
        np.testing.assert_allclose(np.concatenate([stated[e] for e in sorted(stated)]), given, atol=1e-5)
        bad = table["episode_index"].to_numpy() % 6 == 0
        found[kind] = float(given[~bad].mean()), float(given[bad].mean())
    assert found["auto"][0] > 0.8  # with the last frames, after which nothing can grow
    assert found["auto"][1] < 0.1
    assert found["prefix"][1] > 0.5


def test_lerobot_removes_the_episodes_that_rank_names(
    mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "mixed copy"  # a path may have spaces
    shutil.copytree(mixed, copy)
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "data"))
    words = ("--features", "final", "--worst", str(BAD), "--jobs", "1")
    monkeypatch.setattr(sys, "argv", ["prefero", "rank", str(copy), *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    [line] = [line for line in capsys.readouterr().out.splitlines() if "lerobot-edit-dataset" in line]
    given = shlex.split(line.partition("lerobot-edit-dataset")[2])
    assert given[-1] == str([number for number in range(GOOD + BAD) if number % 6 == 0])
    command("-m", "lerobot.scripts.lerobot_edit_dataset", *given)
    assert len(open_dataset(tmp_path / "mixed copy_cleaned")) == GOOD
    assert len(open_dataset(copy)) == GOOD + BAD


COMPUTE = ("-m", "lerobot_policy_prefero.compute_rabc_weights", "--dataset-repo-id=prefero/reach")


def test_the_plugins_module_writes_the_same_file(
    folder: Path, reward_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = progress_file(folder, reward_file, tmp_path / "progress.parquet", monkeypatch)
    for place in (reward_file, reward_file.parent):  # a file, and the folder that has it
        output = tmp_path / f"{place.stem}.parquet"
        command(*COMPUTE, f"--root={folder}", f"--reward-model-path={place}", f"--output-path={output}")
        assert output.read_bytes() == wanted.read_bytes()


def test_the_plugins_module_says_in_one_line_what_is_wrong(folder: Path, tmp_path: Path) -> None:
    said = command(*COMPUTE, f"--root={folder}", f"--reward-model-path={tmp_path / 'no.json'}", fails=True)
    assert "Traceback" not in said
    assert said.rstrip().splitlines()[-1].startswith("prefero: ")
    assert "no.json" in said


# `lerobot-train`; in 0.6, only policies of gigabytes give a loss for each sample, so ACT is made to give one.
TRAIN = """
from lerobot.policies.act.modeling_act import ACTPolicy
from lerobot.scripts.lerobot_train import main

whole = ACTPolicy.forward

def forward(self, batch, reduction="mean"):
    loss, about = whole(self, batch)
    return (loss if reduction == "mean" else loss.expand(len(batch["action"]))), about

ACTPolicy.forward = forward
main()
"""


# --- commands ---------------------------------------------------------------------------------------------


def command(*words: str, fails: bool = False) -> str:
    words = (sys.executable, *words)
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False, timeout=300)
    assert bool(done.returncode) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def train(folder: Path, output: Path, *words: str, fails: bool = False) -> str:
    dataset = ("--dataset.repo_id=prefero/reach", f"--dataset.root={folder}", f"--output_dir={output}")
    steps = (
        "--steps=2",
        "--batch_size=4",
        "--num_workers=0",
        "--save_checkpoint=false",
        "--wandb.enable=false",
    )
    return command("-c", TRAIN, *dataset, *steps, *words, fails=fails)


def test_lerobot_train_loads_the_reward_and_says_that_it_is_not_trained_there(
    folder: Path, reward_file: Path, tmp_path: Path
) -> None:
    said = train(
        folder,
        tmp_path / "out",
        "--reward_model.type=prefero",
        f"--reward_model.reward={reward_file}",
        "--reward_model.device=cpu",
        fails=True,
    )
    assert "Reward model 'prefero' is zero-shot and cannot be trained via lerobot-train" in said


def test_lerobot_train_weighs_its_samples_by_the_progress_file(
    folder: Path, reward_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = progress_file(folder, reward_file, tmp_path / "progress.parquet", monkeypatch)
    small = ("dim_model=16", "n_heads=2", "dim_feedforward=16", "n_encoder_layers=1", "use_vae=false")
    policy = ("type=act", f"chunk_size={CHUNK}", f"n_action_steps={CHUNK}", "device=cpu", "push_to_hub=false")
    said = train(
        folder,
        tmp_path / "out",
        *(f"--policy.{option}" for option in (*policy, *small)),
        "--sample_weighting.type=rabc",
        f"--sample_weighting.progress_path={path}",
        "--log_freq=1",
    )
    assert f"Loading SARM progress values from {path}" in said
    assert "End of training" in said
