"""Names that people type: the nearest known one, and the errors for missing files."""

import re
from pathlib import Path

import pytest

from prefero._support.files import file_names, missing_file
from prefero._support.names import HintsAtNames, did_you_mean, listed, nearest, no_such


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [("sped", "speed"), ("Speed", "speed"), ("HIEGHT", "height"), ("energy use", None), ("", None)],
)
def test_the_nearest_name_is_found_whatever_its_case(typed: str, wanted: str | None) -> None:
    assert nearest(typed, ["speed", "height"]) == wanted
    assert did_you_mean(typed, ["speed", "height"]) == (f"; did you mean {wanted!r}?" if wanted else "")


def test_an_unknown_name_is_an_error_with_the_nearest_and_all_names() -> None:
    message = "there is no column 'sped'; did you mean 'speed'? The columns are speed, height"
    assert no_such("column", "sped", ["speed", "height"]) == message
    assert no_such("entry", 3, [], "entries") == "there is no entry 3: the entries are none"
    assert listed([str(n) for n in range(25)]).endswith("18, 19, and 5 more")


def test_an_attribute_that_is_not_there_is_hinted_at_by_the_class_and_by_the_object() -> None:
    class Robot(HintsAtNames):
        _meant_by = {"drive": "robot.move()"}  # noqa: RUF012

        def __init__(self) -> None:
            self.speed = 1.0

        def move(self) -> None: ...

    for owner in (Robot, Robot()):
        for name, hint in {
            "drive": ": use robot.move()",
            "mve": "did you mean 'move'",
            "x": "it has ",
        }.items():
            with pytest.raises(AttributeError, match=f"Robot has no attribute '{name}'.*{re.escape(hint)}"):
                getattr(owner, name)
    assert nearest("sped", dir(Robot())) == "speed"


def test_a_missing_file_is_said_first_with_the_nearest_file(tmp_path: Path) -> None:
    (tmp_path / "reward.json").write_text("", encoding="utf-8")
    near = f"no such file: {tmp_path / 'rewad.json'}; did you mean {str(tmp_path / 'reward.json')!r}?"
    assert str(missing_file(tmp_path / "rewad.json")) == near
    far = tmp_path / "nowhere" / "reward.json"
    assert str(missing_file(far)) == f"no such file: {far}, since there is no folder {far.parent}"


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    assert file_names([tmp_path / "a.mp4", "b.mp4"]) == ["a.mp4", "b.mp4"]
    assert file_names([tmp_path / "x" / "a.mp4", tmp_path / "y" / "a.mp4"]) == ["x/a.mp4", "y/a.mp4"]
