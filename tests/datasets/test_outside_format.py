"""A dataset format of another package: nothing in Prefero names it, and every use of datasets finds it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest
from joblib.externals.loky import get_reusable_executor

from datasets.conformance import Case, check_format
from prefero import Learner, Pool, PreferenceGP, Question
from prefero.datasets import FORMATS, EpisodeDataset, FeatureOptions, open_dataset
from prefero.datasets.media.clips import cut_planned_clip
from prefero.datasets.registry import options_for, recognize
from prefero.kernels import Anchored, Linear
from prefero.studies.start import begin_teaching
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from support.install_package import install_package

MODULE = '''
"""Diaries: one text file an episode, with the place and the push of every step."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prefero.datasets import BadEpisode, DatasetFormat, DatasetSpec, Episode, EpisodeDataset
from prefero.datasets import FormatOptions, option


@dataclass(frozen=True, kw_only=True)
class DiaryOptions(FormatOptions):
    unit: float = option(1.0, "The size of a unit of a diary, in meters.")


class DiaryDataset(EpisodeDataset, DatasetFormat):
    format_name = "diary"
    description = "a diary (a folder with diary.txt)"
    options_type = DiaryOptions

    def __init__(self, folder, options):
        self.root, self.options, self.name = Path(folder).resolve(), options, Path(folder).resolve().name
        self.pages = sorted(self.root.glob("*.page"))
        self.ids = tuple(page.stem for page in self.pages)
        self.files = (self.root / "diary.txt", *self.pages)
        self.has_video = options.videos != "ignore"
        self.spec = DatasetSpec.of("diary", self.root, options)

    @classmethod
    def recognizes(cls, path):
        return (Path(path) / "diary.txt").is_file()

    @classmethod
    def open(cls, path, options):
        return cls(path, options)

    def episode(self, number):
        self.check_number(number)
        try:
            rows = np.loadtxt(self.pages[number], ndmin=2)
        except ValueError as error:
            raise BadEpisode(self.ids[number], f"its page cannot be read: {error}") from error
        place, push, reward = rows.T
        return Episode(self.ids[number], self.options.unit * place, push, reward, 0.1, ("place",), ("push",))

    def frames(self, number, steps):
        if not self.has_video:
            raise ValueError(f"{self.name} has no videos")
        first, last = steps or (0, len(self.episode(number)))
        return (np.full((32, 32, 3), 10 * step, dtype=np.uint8) for step in range(first, last)), 10.0

    def write_scores(self, scores, folder, final_path, advance):
        shutil.copy(self.root / "diary.txt", folder)
        for page in self.pages:
            rows = np.loadtxt(page, ndmin=2)
            mean, std = (scores.of([page.stem])[name] for name in ("mean", "std"))
            if scores.replace_reward:
                rows[:, 2] = 0.0
                rows[-1, 2] = mean[0]
            np.savetxt(folder / page.name, rows, header=f"score {mean[0]} {std[0]}")
            advance(1)
'''
NAMES = ["mean place", "final place"]


@pytest.fixture(autouse=True)
def diary_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = {"prefero.dataset_formats": {"diary": "diary_format:DiaryDataset"}}
    install_package(tmp_path / "site", monkeypatch, "diary_format", MODULE, points)
    known = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), *([known] if known else [])]))
    get_reusable_executor().shutdown(wait=True)  # workers of other tests do not know the package


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    """Eight episodes of random walks."""
    folder, rng = tmp_path / "walks", np.random.default_rng(0)
    folder.mkdir()
    (folder / "diary.txt").write_text("my diary", encoding="utf-8")
    for number in range(8):
        push = rng.normal(size=6 + number % 3)
        rows = np.column_stack([np.cumsum(push), push, np.zeros(len(push))])
        np.savetxt(folder / f"day {number}.page", rows)
    return folder


def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    wide = {"COLUMNS": "300", "TERM": "dumb", "NO_COLOR": "1"}
    return subprocess.run(
        words, capture_output=True, encoding="utf-8", env=os.environ | wide, cwd=folder, check=False
    )


def prefero(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", "prefero", *words, folder=folder)


def test_it_keeps_every_promise(diary: Path, tmp_path: Path) -> None:
    check_format(Case("diary", str(diary), tmp_path / "checks"))


def test_it_is_opened_by_path_with_its_own_options(diary: Path) -> None:
    assert recognize(diary)[0] is FORMATS.get("diary")
    meters = open_dataset(diary)
    assert isinstance(meters, EpisodeDataset)
    feet = open_dataset(diary, options_for(diary, {"unit": 0.3048}))
    assert isinstance(feet, EpisodeDataset)
    np.testing.assert_allclose(feet.episode(3).states, 0.3048 * meters.episode(3).states)


@pytest.mark.filterwarnings("ignore:.*strongly correlated", "ignore:episodes have")
def test_it_becomes_a_pool_with_clips(diary: Path, tmp_path: Path) -> None:
    pool = Pool.from_dataset(diary, FeatureOptions(["mean", "final"], jobs=1), clip_folder=tmp_path / "clips")
    assert pool.names == tuple(NAMES)
    assert pool.clips is not None
    assert all(Path(clip).is_file() for clip in pool.clips)


@pytest.mark.filterwarnings("ignore:.*strongly correlated", "ignore:episodes have")
def test_it_is_taught(diary: Path, tmp_path: Path) -> None:
    store = Store(open_database(tmp_path / "teach.db"))
    study, _, known = begin_teaching(store, str(diary), None, 5, features=FeatureOptions(["mean", "final"]))
    assert not known
    pool = store.pool(study)
    assert pool.clips is not None
    assert cut_planned_clip(pool.clips[2]).is_file()
    store.engine.dispose()


def test_it_is_scored_and_its_scores_are_written(diary: Path, tmp_path: Path) -> None:
    dataset = open_dataset(diary)
    assert isinstance(dataset, EpisodeDataset)
    states = [dataset.episode(number).states[:, 0] for number in range(len(dataset))]
    features = np.array([[one.mean(), one[-1]] for one in states])
    kernel = Anchored(0.5 * Linear(), (0.0, 0.0))
    learner = Learner(Pool(features, NAMES), model=PreferenceGP(kernel, noise=0.1, learn=False))
    learner.tell(Question(0, 1), "left")
    reward = learner.reward()
    reward.save(tmp_path / "reward.json")
    words = ["--out", "scores.csv", "--copy-to", "scored", "--replace-reward", "--jobs", "1"]
    done = prefero("score", "reward.json", "walks", *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = pyarrow.csv.read_csv(tmp_path / "scores.csv")
    assert found["trajectory"].to_pylist() == list(dataset.ids)
    np.testing.assert_allclose(found["mean"].to_numpy(), reward(features), atol=1e-9)
    copy = open_dataset(tmp_path / "scored")
    assert isinstance(copy, EpisodeDataset)
    last = copy.episode(2).rewards
    assert last is not None
    assert last[-1] == pytest.approx(reward(features)[2])


HELP = """
from typer.testing import CliRunner
from prefero.cli import app
for command in ("features", "score", "teach"):
    print(CliRunner().invoke(app, [command, "--help"]).output)
"""


def test_help_names_it_and_its_options(tmp_path: Path) -> None:
    """In a process of its own, since the command line is made when it is imported."""
    said = " ".join(run(sys.executable, "-c", HELP, folder=tmp_path).stdout.split())
    assert said.count("--unit") == said.count("The size of a unit of a diary") == 3
    assert said.count("a diary (a folder with diary.txt)") == 3


def test_commands_and_errors_name_it(diary: Path, tmp_path: Path) -> None:
    unknown = prefero("features", "nowhere", folder=tmp_path)
    assert unknown.returncode == 2
    assert "a diary (a folder with diary.txt)" in unknown.stderr
    words = ["--features", "final", "--unit", "10", "--jobs", "1"]
    extracted = prefero("features", str(diary), *words, folder=tmp_path)
    assert extracted.returncode == 0, extracted.stderr
    assert "walks: 8 trajectories, 1 feature." in extracted.stdout


def test_a_format_that_cannot_be_loaded_does_not_stop_the_others(
    diary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = {"prefero.dataset_formats": {"broken": "broken_format:Nothing"}}
    install_package(tmp_path / "other", monkeypatch, "broken_format", "1 / 0", points)
    with pytest.warns(UserWarning, match=r"format 'broken' .* cannot be loaded"):
        assert len(open_dataset(diary)) == 8
