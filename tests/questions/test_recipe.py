"""The recipe for a new kind of answers: one class, one entry of the list and one file of the page are all."""

import os
import subprocess
import sys
from pathlib import Path

from questions.follow_recipe import KIND, ROOT, changed_files, follow_recipe

OF_EVERY_KIND = (
    "tests/questions/test_answer_kinds.py",
    "tests/models/likelihood/test_joint.py",
    "tests/acquisition/functions/test_answer_information.py",
    "tests/learner/test_capabilities.py",
)


def test_three_files_change_and_the_tests_of_every_kind_pass(tmp_path: Path) -> None:
    follow_recipe(tmp_path)
    assert changed_files(tmp_path) == {
        "src/prefero/questions/kinds/top.py",
        "src/prefero/questions/answer_kinds.py",
        "web/src/compare/kinds/top.tsx",
    }
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *OF_EVERY_KIND, "-k", KIND]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout
