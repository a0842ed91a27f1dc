"""Rollouts of an arena from folders, tables, archives, environments, LeRobot and Minari."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets.write_datasets import write_lerobot_2, write_lerobot_3, write_video_folder
from prefero.arena import ArenaPlan
from prefero.arena.sources import LabelColumns, RolloutSource, read_rollouts, split_names
from prefero.datasets import open_dataset
from prefero.datasets.labels import LabelColumn
from prefero.pools.pool import Pool


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))


def labels(pool: Pool, plan: ArenaPlan) -> dict[str, tuple[str, str, str]]:
    """Policy, task and start of each trajectory, by its id."""
    rows = range(len(pool))
    named = [(plan.policies[plan.policy_of[i]], plan.task_of(i), plan.start_of(i)) for i in rows]
    return dict(zip(pool.ids or (), named, strict=True))


def sources(*paths: Path) -> list[RolloutSource]:
    return [RolloutSource(open_dataset(path), path.stem) for path in paths]


def test_folders_of_videos_have_the_same_starts_where_files_have_the_same_name(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_video_folder(tmp_path / name, 3)
        for table in (tmp_path / name).glob("*.csv"):
            table.unlink()
    pool, plan = read_rollouts(sources(tmp_path / "a", tmp_path / "b"))
    assert pool.clips is not None
    assert plan.policies == ("a", "b")
    found = labels(pool, plan)
    starts = {name: {start for policy, _, start in found.values() if policy == name} for name in "ab"}
    assert starts["a"] == starts["b"]
    assert len(starts["a"]) == 3
    for clip, policy in zip(pool.clips, plan.policy_of, strict=True):
        assert Path(clip).parent.name == plan.policies[policy]


def test_a_table_with_columns_of_policies_tasks_and_seeds(tmp_path: Path) -> None:
    rows = [f"{p}{t}{s},{p},{t},{s},{s * 1.5}" for p in "ab" for t in ("x", "y") for s in range(2)]
    (tmp_path / "all.csv").write_text("id,who,job,seed,speed\n" + "\n".join(rows), encoding="utf-8")
    source = [RolloutSource(open_dataset(tmp_path / "all.csv"))]
    pool, plan = read_rollouts(source, LabelColumns(policy="who", task="job"), goal="best", questions=9)
    assert labels(pool, plan)["b/by1"] == ("b", "y", "1")
    assert (plan.goal, plan.questions) == ("best", 9)
    assert pool.names == ("speed",)  # no column of labels is shown
    with pytest.raises(ValueError, match="no column 'whom'"):
        read_rollouts(source, LabelColumns(policy="whom"))
    with pytest.raises(ValueError, match="nothing says which policy"):
        read_rollouts(source)


def test_a_column_that_tells_the_policy_is_not_shown(tmp_path: Path) -> None:
    """Otherwise the name of a feature would be "checkpoint=alice-9"."""
    rows = [
        f"{p}{i},{p},{p}-{9 if i < 6 else 7},{'wet' if i % 3 else 'dry'},{i}"
        for i in range(12)
        for p in ("alice", "bob")
    ]
    (tmp_path / "all.csv").write_text(
        "id,policy,checkpoint,floor,speed\n" + "\n".join(rows), encoding="utf-8"
    )
    dataset = open_dataset(tmp_path / "all.csv")
    assert {one.column for one in getattr(dataset, "categories", ())} == {"policy", "checkpoint", "floor"}
    pool, _ = read_rollouts([RolloutSource(dataset)])
    assert set(pool.names) == {"floor=wet", "speed"}


def test_nobody_can_compute_the_order_in_which_rollouts_are_shuffled(tmp_path: Path) -> None:
    for name in ("a", "b"):
        np.savez(tmp_path / f"{name}.npz", features=np.random.default_rng(0).standard_normal((20, 1)))
    orders = {read_rollouts(sources(tmp_path / "a.npz", tmp_path / "b.npz"))[1].policy_of for _ in range(3)}
    assert len(orders) == 3


def test_an_archive_of_states_is_shown_by_its_features(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "runs.npz", states=rng.standard_normal((4, 6, 2)), policy=["a", "b", "a", "b"])
    pool, plan = read_rollouts([RolloutSource(open_dataset(tmp_path / "runs.npz"))])
    assert sorted(labels(pool, plan)) == ["a/0", "a/2", "b/1", "b/3"]
    assert plan.starts == ()  # numbers of episodes say nothing about starts
    assert pool.clips is None
    assert pool.features.shape[1] > 1


def test_the_same_seeds_of_an_environment_are_the_same_starts() -> None:
    pytest.importorskip("gymnasium")
    from prefero.datasets.formats.gymnasium import GymnasiumDataset, GymnasiumOptions

    options = GymnasiumOptions(episodes=2, max_steps=5, seed=7, videos="ignore")
    played = {"left": lambda _: 0, "right": lambda _: 1}
    datasets = [
        RolloutSource(GymnasiumDataset("CartPole-v1", options, policy=act), name)
        for name, act in played.items()
    ]
    pool, plan = read_rollouts(datasets)
    assert labels(pool, plan)["right/1"] == ("right", "", "8")


@pytest.mark.parametrize("write", [write_lerobot_3, write_lerobot_2])
def test_lerobot_has_columns_of_its_episodes_and_its_own_tasks(tmp_path: Path, write: object) -> None:
    folder = tmp_path / "lerobot"
    write(folder)  # type: ignore[operator]
    dataset = open_dataset(folder)
    column = [f"policy {int(one) % 2}" for one in dataset.ids]
    episodes = sorted((folder / "meta" / "episodes").glob("*/*.parquet"))
    if episodes:
        table = pq.read_table(episodes[0])
        names = [column[episode] for episode in table["episode_index"].to_pylist()]
        pq.write_table(table.append_column("policy", pa.array(names)), episodes[0])
    else:
        for path in (folder / "data").rglob("*.parquet"):
            table = pq.read_table(path)
            names = [column[episode] for episode in table["episode_index"].to_pylist()]
            pq.write_table(table.append_column("policy", pa.array(names)), path)
    assert dataset.label_column("policy") == tuple(column)
    assert dataset.label_column("no such") is None
    assert dataset.label_column("task") is not None


def test_minari_has_the_metadata_of_its_episodes(tmp_path: Path) -> None:
    minari = pytest.importorskip("minari")
    gymnasium = pytest.importorskip("gymnasium")
    from minari.data_collector.episode_buffer import EpisodeBuffer
    from minari.dataset.minari_storage import MinariStorage

    space = gymnasium.spaces.Box(-1, 1, (2,))
    buffers = [
        EpisodeBuffer(
            observations=[np.zeros(2, dtype=np.float32)] * 4,
            actions=[np.zeros(2, dtype=np.float32)] * 3,
            rewards=[0.0] * 3,
            terminations=[False] * 3,
            truncations=[False, False, True],
            seed=seed,
        )
        for seed in (5, 6)
    ]
    storage = MinariStorage.new(tmp_path / "data", space, space)
    storage.update_metadata({"dataset_id": "arena/test-v0", "minari_version": minari.__version__})
    storage.update_episodes(buffers)
    storage.update_episode_metadata([{"policy": "a"}, {"policy": "b"}])
    dataset = open_dataset(f"minari:{tmp_path}")
    assert dataset.label_column("policy") == ("a", "b")
    assert dataset.label_column("seed") == ("5", "6")
    assert dataset.label_column("task") is None


def successes(pool: Pool, plan: ArenaPlan) -> dict[str, str]:
    """What the labels say, by the ids of rollouts."""
    assert plan.labels is not None
    assert pool.ids is not None
    return {
        pool.ids[item]: choice for item, choice in zip(plan.labels.items, plan.labels.choices, strict=True)
    }


def test_a_column_says_which_rollouts_were_successes_and_is_not_shown(tmp_path: Path) -> None:
    for name, flags in (("a", "true false true"), ("b", "false false ")):
        rows = [f"{name}{i},{i},{flag}" for i, flag in enumerate(flags.split(" "))]
        (tmp_path / f"{name}.csv").write_text("id,speed,done\n" + "\n".join(rows), encoding="utf-8")
    both = sources(tmp_path / "a.csv", tmp_path / "b.csv")
    pool, plan = read_rollouts(both, LabelColumns(success=LabelColumn("done")))
    assert successes(pool, plan) == {
        "a/a0": "pass", "a/a1": "fail", "a/a2": "pass", "b/b0": "fail", "b/b1": "fail"
    }  # fmt: skip
    assert pool.names == ("speed",)
    with pytest.raises(ValueError, match=r"in a there is no column 'sucess': the columns are"):
        read_rollouts(both, LabelColumns(success=LabelColumn("sucess")))
    (tmp_path / "c.csv").write_text("id,speed,stars\n0,1,2\n1,2,5\n2,4,3", encoding="utf-8")
    with pytest.raises(ValueError, match="'stars' has 3 levels: take a column of two"):
        read_rollouts(
            sources(tmp_path / "a.csv", tmp_path / "c.csv"), LabelColumns(success=LabelColumn("stars"))
        )


def test_labels_may_be_in_a_file_and_of_some_policies_only(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("id,speed\n0,1\n1,2", encoding="utf-8")
    (tmp_path / "told.csv").write_text("id,success\na/0,yes\nb/1,no", encoding="utf-8")
    both = sources(tmp_path / "a.csv", tmp_path / "b.csv")
    pool, plan = read_rollouts(both, LabelColumns(success=LabelColumn(str(tmp_path / "told.csv"))))
    assert successes(pool, plan) == {"a/0": "pass", "b/1": "fail"}
    (tmp_path / "a.csv").write_text("id,speed,won\n0,1,1\n1,2,1", encoding="utf-8")
    both = sources(tmp_path / "a.csv", tmp_path / "b.csv")
    with pytest.warns(UserWarning, match="every label of won is pass"):
        pool, plan = read_rollouts(both, LabelColumns(success=LabelColumn("won")))
    assert successes(pool, plan) == {"a/0": "pass", "a/1": "pass"}


def test_names_of_policies_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    given = [str(tmp_path / "runs"), "mine=b.npz", "c.npz"]
    assert [name for name, _ in split_names(given)] == ["runs", "mine", "c"]


def test_two_policies_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        np.savez(tmp_path / name / "runs.npz", features=np.arange(6.0).reshape(3, 2))
    with pytest.raises(ValueError, match="two policies are called 'runs'"):
        read_rollouts(sources(tmp_path / "one" / "runs.npz", tmp_path / "two" / "runs.npz"))
