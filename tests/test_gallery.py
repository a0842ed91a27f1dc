"""The gallery: every example runs, prints what its page shows and draws its picture.

The pages and the overview are what `python -m tools.make_gallery docs/gallery` writes.
"""

import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest
from PIL import Image
from tools.make_gallery import EXAMPLES, LONG, NAMES, Example, overview, run

from prefero import StepReward, load_reward
from prefero.kernels import KERNELS
from test_code_blocks import is_same_output

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "docs" / "gallery"
MOST_LINES, MOST_BYTES = 60, 120_000
SHORT = [name for name in NAMES if name not in LONG]
ROUNDED = ("teach", "compare_policies")


def marked() -> list[Any]:
    return [pytest.param(n, marks=pytest.mark.rounding if n in ROUNDED else ()) for n in SHORT]


def shown_output(name: str) -> str:
    page = (GALLERY / f"{name}.md").read_text(encoding="utf-8")
    found = re.search(r"^```text\n(.*?)\n```$", page, flags=re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(autouse=True)
def left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What an example registers is gone after it, and so are its figures."""
    monkeypatch.setattr(KERNELS, "_entries", dict(KERNELS._entries))
    yield
    plt.close("all")


def test_every_program_is_in_the_gallery() -> None:
    assert sorted(NAMES) == sorted(path.stem for path in EXAMPLES.glob("*.py"))
    assert len(SHORT) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_its_program(name: str) -> None:
    example = Example.read(name)
    assert (GALLERY / f"{name}.md").read_text(encoding="utf-8") == example.page(shown_output(name)), (
        f"run  python -m tools.make_gallery docs/gallery {name}"
    )
    assert len([line for line in example.code.splitlines() if line]) <= MOST_LINES
    assert (GALLERY / f"{name}.png").stat().st_size < MOST_BYTES


def test_the_overview_shows_every_example() -> None:
    text = (GALLERY / "index.md").read_text(encoding="utf-8")
    assert text == overview(), "run  python -m tools.make_gallery docs/gallery"
    assert all(f"]({name}.md)" in text and f"]({name}.png)" in text for name in NAMES)


def check_picture(name: str, folder: Path) -> None:
    with Image.open(folder / f"{name}.png") as drawn, Image.open(GALLERY / f"{name}.png") as shown:
        assert drawn.size == pytest.approx(shown.size, abs=40)  # fonts differ a little between systems
        assert len(drawn.convert("RGB").getcolors(2**24) or ()) > 3


@pytest.mark.parametrize("name", marked())
def test_an_example_prints_what_its_page_shows_and_draws_its_picture(name: str, tmp_path: Path) -> None:
    printed = run(name, tmp_path)
    assert is_same_output(shown_output(name), printed), printed
    check_picture(name, tmp_path)


@pytest.mark.skipif(not os.environ.get("PREFERO_HEAVY"), reason="takes minutes: make heavy")
def test_the_long_example_trains_a_good_policy(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of torch
        printed = run("teach_while_training", tmp_path)
    reached = re.search(r"true return of the policy: (-?\d+)", printed)
    assert reached is not None
    assert int(reached[1]) > -300
    check_picture("teach_while_training", tmp_path)
    reward = StepReward.of(load_reward(tmp_path / "reward.json"))
    assert reward([[1.0, 0.0, 0.0]], [[0.0]]) > reward([[-1.0, 0.0, 0.0]], [[0.0]])  # upright is better
