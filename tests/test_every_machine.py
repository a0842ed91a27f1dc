"""Every machine asks the same questions: sessions in processes that round as other processors do.

OpenBLAS has kernels for every kind of processor, and takes those that it is told; NumPy leaves out vector
instructions that it is told to leave out, and warns of those that it never had.
"""

import ast
import json
import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import machine_sessions

SESSIONS = Path(machine_sessions.__file__)
QUESTIONS = 30
AVX512 = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
MACHINES: dict[str, dict[str, str]] = {
    "Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "Nehalem": {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": AVX512},
    "Sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge"},
    "Haswell, two threads": {
        "OPENBLAS_CORETYPE": "Haswell",
        "OMP_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "2",
    },
}
SOURCES = sorted((Path(__file__).resolve().parent.parent / "src").rglob("*.py"))


def unstable_sorts(tree: ast.AST) -> list[str]:
    """Calls that order equals as the processor's vector instructions do."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in calls if _sorts(call) and not _is_stable(call)]


def _sorts(call: ast.Call) -> bool:
    return ast.unparse(call.func).endswith(("argsort", "argpartition"))


def _is_stable(call: ast.Call) -> bool:
    return any(ast.unparse(keyword) in ("kind='stable'", "stable=True") for keyword in call.keywords)


def test_equals_keep_their_order_in_every_sort() -> None:
    found = {file.name: unstable_sorts(ast.parse(file.read_text(encoding="utf-8"))) for file in SOURCES}
    assert {name: calls for name, calls in found.items() if calls} == {}
    examples = ast.parse("np.argsort(x); np.argpartition(x, 3); x.argsort(kind='stable')")
    assert unstable_sorts(examples) == ["np.argsort(x)", "np.argpartition(x, 3)"]


def asked_on(machine: dict[str, str]) -> dict[str, list[list[int]]]:
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", str(SESSIONS), str(QUESTIONS)],
        env={**os.environ, **threads, **machine},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, list[list[int]]] = json.loads(ended.stdout)
    return found


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="kernels of x86 processors")
def test_the_same_questions_are_asked_on_every_machine() -> None:
    with ThreadPoolExecutor(2) as pool:
        here, *others = pool.map(asked_on, [{}, *MACHINES.values()])
    assert [len(session) for session in here.values()] == [QUESTIONS] * len(machine_sessions.FUNCTIONS)
    for name, other in zip(MACHINES, others, strict=True):
        assert other == here, name
