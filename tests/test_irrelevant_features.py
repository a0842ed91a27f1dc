"""More features than questions: irrelevant features cost accuracy, but not the use of the model."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from prefero.methods import THETAS, full_name

PLACE = Path(__file__).resolve().parents[1] / "benchmarks" / "irrelevant_features.py"
BENCHMARK = SimpleNamespace(**runpy.run_path(str(PLACE)))
FOURTEEN = 14
FIXED = full_name("ActiveGP", min(THETAS), 0.1)  # of all thetas the best where features are many


def test_the_reward_depends_on_the_useful_features_alone_and_the_exam_on_them_too() -> None:
    task = BENCHMARK.task_with("quadratic", 6, seed=0)
    assert task.pool.features.shape == (500, 8)
    other = task.pool.scaled.copy()
    other[:, BENCHMARK.USEFUL :] = 7.0
    np.testing.assert_array_equal(task.user.reward(other), task.user.reward(task.pool.scaled))
    assert np.ptp(task.test_set.features[:, 0]) > 4


def test_with_fourteen_irrelevant_features_thirty_answers_still_teach() -> None:
    users = 2
    mine = [BENCHMARK.accuracy("linear", BENCHMARK.PREFERO, FOURTEEN, seed) for seed in range(users)]
    fixed = [BENCHMARK.accuracy("linear", FIXED, FOURTEEN, seed) for seed in range(users)]
    assert min(mine) > 0.9
    assert np.mean(mine) >= np.mean(fixed)


def test_the_figure_shows_every_method(tmp_path: Path) -> None:
    found = BENCHMARK.measure("linear", (BENCHMARK.PREFERO, FIXED), (0, 2), seeds=1, questions=3)
    lines = list(BENCHMARK.table(found))
    assert [line.split()[0] for line in lines[1:]] == ["irrelevant", "Prefero", "ActiveGP"]
    BENCHMARK.draw(tmp_path / "many.png", [found])
    assert (tmp_path / "many.png").read_bytes().startswith(b"\x89PNG")
