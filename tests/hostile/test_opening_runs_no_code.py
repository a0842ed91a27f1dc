"""Nothing that is opened runs code that the user did not name: one test for each kind of file."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hostile import samples
from prefero import Learner, Pool, load_reward
from prefero.datasets import extract_features, open_dataset
from prefero.datasets.media.clips import cut_planned_clip
from prefero.datasets.registry import Untrusted
from prefero.server.app import create_app
from prefero.server.auth import ServerContext
from prefero.studies.exports.export_import import import_study
from prefero.studies.start import begin_teaching, check_no_code, pool_of
from prefero.studies.storage.store import Store, new_secret
from run_here import run_here
from server.served_studies import Client, error_of, serving

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(autouse=True)
def harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file that the stranger's module leaves; none may be there after the test."""
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "evil.py").write_text(samples.EVIL, encoding="utf-8")
    monkeypatch.syspath_prepend(installed)
    monkeypatch.chdir(installed)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    yield installed / "harm"
    sys.modules.pop("evil", None)
    assert not (installed / "harm").exists()


def test_a_minari_dataset(tmp_path: Path, file_store: Store) -> None:
    place = samples.minari_dataset(tmp_path)
    with pytest.warns(UserWarning, match=r"--trust .*'evil:Env'"):
        opened = open_dataset(place)
    extract_features(opened, ["mean"])
    begin_teaching(file_store, str(place), "teach", 5)


@pytest.mark.parametrize(
    ("dataset", "named"),
    [
        (samples.POLICY, "'CartPole-v1' and .*'evil:policy'"),
        (samples.POLICY | {"options": {"policy": "evil:policy", "trust": True}}, "the policy 'evil:policy'"),
        (samples.ENVIRONMENT, "the environment 'evil:Env-v0'"),
    ],
)
def test_a_table_of_features(dataset: Any, named: str, tmp_path: Path, file_store: Store) -> None:
    path = samples.features_file(tmp_path, dataset)
    with pytest.warns(UserWarning, match=rf"videos are not shown: .*{named}: add --trust"):
        opened = open_dataset(path)
    assert len(extract_features(opened)) == len(samples.features())
    begin_teaching(file_store, str(path), "teach", 5)


def test_a_table_of_features_of_a_minari_dataset_that_is_rendered(tmp_path: Path) -> None:
    place = samples.minari_dataset(tmp_path)
    rendered = {"format": "minari", "path": str(place), "options": {"render": True}}
    with pytest.warns(UserWarning, match="environment 'evil:Env': add --trust"):
        open_dataset(samples.features_file(tmp_path, rendered))


@pytest.mark.parametrize("damaged", [{}, 5, {"format": "gymnasium"}, samples.POLICY | {"options": {"x": 1}}])
def test_a_table_of_features_that_is_damaged(damaged: Any, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="videos are not shown"):
        assert not open_dataset(samples.features_file(tmp_path, damaged)).has_video


def test_a_table_of_features_of_itself(tmp_path: Path) -> None:
    itself = {"format": "table", "path": str(tmp_path / "features.parquet"), "options": {}}
    with pytest.warns(UserWarning, match="names itself"):
        open_dataset(samples.features_file(tmp_path, itself))


@pytest.mark.parametrize("dataset", [samples.POLICY, samples.ENVIRONMENT])
def test_a_plan_beside_the_clips_of_a_pool(dataset: Any, tmp_path: Path, file_store: Store) -> None:
    path = samples.pool_with_plan(tmp_path, dataset)
    with pytest.raises(Untrusted, match=r"would run the environment .*: add --trust"):
        begin_teaching(file_store, str(path), "teach", 5)
    pool = Pool.load(path)
    assert pool.clips is not None
    with pytest.raises(Untrusted, match="would run the environment"):
        cut_planned_clip(pool.clips[0])


def test_a_plan_with_an_option_that_no_format_has(tmp_path: Path, file_store: Store) -> None:
    path = samples.pool_with_plan(tmp_path, samples.ENVIRONMENT | {"options": {"polcy": "evil:policy"}})
    clips = Pool.load(path).clips
    assert clips is not None
    for attempt in (
        lambda: begin_teaching(file_store, str(path), "teach", 5),
        lambda: cut_planned_clip(clips[0]),
    ):
        with pytest.raises(ValueError, match=r"no gymnasium option 'polcy'; did you mean 'policy'"):
            attempt()


def test_a_pool(tmp_path: Path, file_store: Store) -> None:
    path = samples.pool_of_world(tmp_path)
    with pytest.raises(ValueError, match="no world 'evil:Env'"):
        begin_teaching(file_store, str(path), "teach", 5)


def test_a_reward(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="kernel of another package"):
        load_reward(samples.reward_file(tmp_path))


def test_a_learner(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no kernel 'evil:Env'"):
        Learner.load(samples.learner_file(tmp_path))


@pytest.mark.parametrize("place", ["gymnasium:evil:Env-v0", "gymnasium:CartPole-v1"])
def test_a_protocol(place: str, tmp_path: Path, run_command: Any) -> None:
    path = samples.protocol_file(tmp_path, world=place)
    database = str(tmp_path / "studies.db")
    status, said = run_command("study", "create", "x", "--protocol", str(path), "--database", database)
    assert (status, "would run the environment" in said, "add --trust" in said) == (2, True, True)


def test_a_protocol_whose_pool_is_a_dataset(tmp_path: Path) -> None:
    check_no_code(str(samples.minari_dataset(tmp_path)))
    pool_of(str(tmp_path / "minari" / "evil-v0"))


def test_an_exported_study(tmp_path: Path, file_store: Store) -> None:
    folder, secret = samples.study_folder(tmp_path), new_secret()
    import_study(file_store, folder, secret)
    app = create_app(ServerContext(file_store, clip_folders=[tmp_path]))
    with serving(app) as address, Client(address, secret) as page:
        assert error_of(page.get("/api/clips/0.mp4")) == (404, "no-trajectory")


def test_an_archive(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Object arrays cannot be loaded"):
        open_dataset(samples.pickled_archive(tmp_path))


def test_with_trust_the_code_runs(tmp_path: Path, harm: Path) -> None:
    """So the samples above would do harm."""
    from prefero.datasets import TableOptions

    open_dataset(samples.features_file(tmp_path, samples.POLICY), TableOptions(trust=True))
    assert harm.exists()
    harm.unlink()


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    return lambda *words: (run_here(monkeypatch, *words), "".join(capsys.readouterr()))
