"""The signals of trajectories over time, as the teacher's page gets them."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets.write_datasets import (
    FPS,
    LENGTHS,
    actions_of,
    states_of,
    write_lerobot_3,
    write_video_folder,
)
from prefero import Pool
from prefero._support.arrays import Array
from prefero.datasets import FeatureOptions, extract_features, open_dataset
from prefero.datasets.episode import Episode
from prefero.datasets.formats.lerobot.dataset import LeRobotDataset
from prefero.pools.signals import MOST_POINTS
from prefero.server.app import create_app
from prefero.server.auth import SESSION_HEADER, ServerContext
from prefero.studies.start import begin_teaching
from prefero.studies.storage.store import Store
from server.served_studies import (
    Client,
    TeachingSession,
    add_teaching,
    error_of,
    guest_app,
    ok,
    serving,
)

pytestmark = pytest.mark.filterwarnings("ignore:episodes have", "ignore:.* are strongly correlated")
LONG = 1500  # steps


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "data"))


def taught(store: Store, what: Path, features: FeatureOptions | None = None) -> TeachingSession:
    study, person, _ = begin_teaching(store, str(what), None, 30, None, features)
    return TeachingSession(study, person, "")


def signals_of(store: Store, session: TeachingSession, index: int) -> dict[str, Any]:
    with serving(guest_app(store, session)) as address, Client(address) as page:
        return ok(page.get(f"/api/trajectories/{index}/signals"))


def curves(found: dict[str, Any]) -> dict[str, tuple[Array, Array]]:
    return {one["name"]: (np.array(one["times"]), np.array(one["values"])) for one in found["signals"]}


def test_states_and_actions_are_those_of_the_episode(store: Store, tmp_path: Path) -> None:
    session = taught(store, write_lerobot_3(tmp_path / "arm"))
    found = signals_of(store, session, 1)
    shown, length = curves(found), LENGTHS[1]
    assert list(shown) == ["shoulder", "elbow", "shoulder (action)", "elbow (action)", "reward"]
    values = [values for _, values in list(shown.values())[:4]]
    wanted = [*states_of(1, length).T, *actions_of(1, length).T]
    np.testing.assert_allclose(values, wanted, rtol=1e-6, atol=1e-7)
    for times, _ in shown.values():
        np.testing.assert_allclose(times, np.arange(length) / FPS)
    pool = store.pool(session.study)
    assert found["values"] == dict(zip(pool.names, pool.features[1].tolist(), strict=True))
    assert [one["low"] for one in found["ranges"]] == pool.features.min(axis=0).tolist()


def test_a_window_has_the_signals_of_its_steps(store: Store, tmp_path: Path) -> None:
    session = taught(store, write_lerobot_3(tmp_path / "arm"), FeatureOptions(["mean"], window=5))
    ids = store.pool(session.study).ids
    assert ids is not None
    first, last = 5, 10
    shown = curves(signals_of(store, session, ids.index(f"1[{first}:{last}]")))
    np.testing.assert_allclose(shown["elbow"][1], states_of(1, LENGTHS[1])[first:last, 1], rtol=1e-6)


def test_a_long_episode_is_thinned_to_values_of_its_own(store: Store, tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", lengths=(LONG, 9))
    times, values = curves(signals_of(store, taught(store, folder), 0))["elbow (action)"]
    assert 150 < len(times) <= MOST_POINTS
    own = actions_of(0, LONG)[:, 1]
    np.testing.assert_allclose(values, own[np.round(times * FPS).astype(int)], rtol=1e-6)
    np.testing.assert_allclose([values.min(), values.max()], [own.min(), own.max()], rtol=1e-6)


def test_features_of_a_table_have_the_signals_of_the_dataset_they_are_of(
    store: Store, tmp_path: Path
) -> None:
    table = tmp_path / "features.parquet"
    extract_features(
        open_dataset(write_lerobot_3(tmp_path / "arm")), FeatureOptions(["mean"], cache=table, jobs=1)
    )
    shown = curves(signals_of(store, taught(store, table), 2))
    np.testing.assert_allclose(shown["elbow"][1], states_of(2, LENGTHS[2])[:, 1], rtol=1e-6)


def test_a_world_has_the_signals_of_its_simulation(store: Store, driver_pool: Pool) -> None:
    found = signals_of(store, add_teaching(store, driver_pool), 3)
    units = {one["name"]: one["unit"] for one in found["signals"]}
    assert units["speed"] == "m/s"
    times, along = curves(found)["along the road"]
    world = driver_pool.world()
    np.testing.assert_allclose(times, np.linspace(0, world.duration, world.horizon + 1))
    np.testing.assert_allclose(along, driver_pool.trajectory(3).poses[:, 0, 1], rtol=1e-5)
    assert {one["name"]: one["unit"] for one in found["ranges"]}["car distance"] == "m"


def test_an_episode_is_read_once(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session, read = taught(store, write_lerobot_3(tmp_path / "arm")), list[int]()
    episode = LeRobotDataset.episode

    def counted(dataset: LeRobotDataset, number: int) -> Episode:
        read.append(number)
        return episode(dataset, number)

    monkeypatch.setattr(LeRobotDataset, "episode", counted)
    with serving(guest_app(store, session)) as address, Client(address) as page:
        for index in (0, 1, 0, 0):
            ok(page.get(f"/api/trajectories/{index}/signals"))
    assert read == [0, 1]


def test_where_nothing_is_known_over_time_there_are_none(store: Store, pool: Pool, tmp_path: Path) -> None:
    throws = taught(store, write_video_folder(tmp_path / "throws"))
    for session in (throws, add_teaching(store, pool)):
        found = signals_of(store, session, 0)
        assert (found["signals"], found["left_out"]) == ([], 0)
        assert set(found["values"]) == set(found["deviations"]) == {one["name"] for one in found["ranges"]}


def test_the_deviations_of_features_are_those_of_the_pool(store: Store, pool: Pool) -> None:
    found = signals_of(store, add_teaching(store, pool), 0)
    assert list(found["deviations"].values()) == pytest.approx(np.std(pool.features, axis=0).tolist())


def test_a_dataset_that_is_gone_is_a_reason(store: Store, tmp_path: Path) -> None:
    session = taught(store, write_lerobot_3(tmp_path / "arm"))
    shutil.rmtree(tmp_path / "arm")
    with serving(guest_app(store, session)) as address, Client(address) as page:
        assert error_of(page.get("/api/trajectories/0/signals")) == (404, "no-trajectory")


@pytest.mark.parametrize("simulated", [False, True], ids=["clips", "clips beside a world"])
def test_no_plan_of_clips_is_read_in_a_folder_that_is_not_served(
    store: Store, driver_pool: Pool, tmp_path: Path, *, simulated: bool
) -> None:
    """The database may come from somebody else, and name any file as a clip."""
    pool = Pool.from_lerobot(write_lerobot_3(tmp_path / "arm"), ["mean"], clips="later")
    assert pool.clips is not None
    elsewhere = Path(shutil.copytree(Path(pool.clips[0]).parent, tmp_path / "elsewhere"))
    clips = [elsewhere / Path(clip).name for clip in pool.clips]
    source = driver_pool.source if simulated else None
    session = add_teaching(store, Pool(pool.features, pool.names, clips=clips, source=source))
    with serving(guest_app(store, session)) as address, Client(address) as page:
        answer = page.get("/api/trajectories/1/signals")
        if simulated:
            assert ok(answer)["signals"] == []
        else:
            assert error_of(answer) == (404, "no-trajectory")


@pytest.mark.parametrize("index", ["12", "99999"])
def test_an_unknown_trajectory_is_not_found(teacher: Client, index: str) -> None:
    assert error_of(teacher.get(f"/api/trajectories/{index}/signals")) == (404, "no-trajectory")


def test_only_the_teacher_of_the_session_sees_them(
    participant: Client, experimenter: Client, address: str
) -> None:
    path = "/api/trajectories/0/signals"
    assert [error_of(who.get(path))[0] for who in (participant, experimenter)] == [403, 403]
    with Client(address) as nobody:
        assert error_of(nobody.get(path))[0] == 403


def test_a_token_of_another_session_opens_that_session(
    store: Store, session: TeachingSession, driver_pool: Pool
) -> None:
    """Requests name their session, so a page of one session gets nothing of another one."""
    other = add_teaching(store, driver_pool, name="other")
    context = ServerContext(store, token=(other.token, other.visitor))
    with serving(create_app(context)) as address, Client(address, other.token) as page:
        assert ok(page.get("/api/trajectories/0/signals"))["signals"]
        page.http.headers[SESSION_HEADER] = session.participant.session
        assert error_of(page.get("/api/trajectories/0/signals")) == (409, "another-session")
