"""How the tests search: the same examples in every run, and no clock, since the machine may be busy.

They keep their pools and data in a folder of their own. It is named before any test is imported, since those
of the command line copy the environment; workers of pytest-xdist inherit it, and so share the folder. All
temporary folders lie in memory where the system has room: databases wait for the disk at every answer.

The shell finds the programs of this Python's environment, as where the environment is active, so that
messages name commands in the same way wherever the tests are run.
"""

import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from prefero import Pool
from prefero.worlds.golf import Golf

BROWSER = "page/"
LONG = (  # a test of these takes seconds
    *("test_notebooks.py", "test_irrelevant_features.py", "test_code_blocks.py", "cli/test_cli.py"),
    *("server/test_commands.py", "server/test_kills.py", "server/test_page_teacher.py"),
    *("server/test_fuzz.py", "server/test_several_servers.py", "simulation/test_tasks.py"),
    "test_gallery.py",
    *("worlds/test_golf.py", "worlds/test_golf_scene.py"),
)

settings.register_profile("prefero", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("prefero")


MEMORY, ROOM = Path("/dev/shm"), 2 * 2**30  # bytes; the tests need a tenth of it


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
            os.environ["TMPDIR"], tempfile.tempdir = str(MEMORY), None
        folder = tempfile.TemporaryDirectory(prefix="prefero-tests-", ignore_cleanup_errors=True)
        os.environ["PREFERO_CACHE"] = folder.name
        os.environ["PREFERO_DATA"] = os.path.join(folder.name, "data")  # noqa: PTH118
        os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        os.environ["PYTHONUTF8"] = "1"  # so that what commands print can be read on Windows too
        config.add_cleanup(folder.cleanup)


@pytest.fixture(scope="session")
def golf() -> Golf:
    """One robot for all tests: what it has worked out about distances takes seconds."""
    return Golf()


@pytest.fixture(scope="session")
def golf_pool(golf: Golf) -> Pool:
    """An even grid of 11 speeds by 11 angles."""
    return Pool.simulate(golf, 121, sampling="grid", progress=False)


def pytest_collection_finish() -> None:
    """What thousands of tests consist of stays: the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests for three workers of pytest-xdist, which begin with a third of the list each.

    One begins with the tests in a browser, the second with long ones; so none is left alone with a long
    test at the end, and one browser is enough.
    """
    names = [item.nodeid.partition("::")[0].removeprefix("tests/") for item in items]
    browser = [item for item, name in zip(items, names, strict=True) if name.startswith(BROWSER)]
    long = [item for item, name in zip(items, names, strict=True) if name in LONG]
    moved = {*browser, *long}
    others = [item for item in items if item not in moved]
    cut = max(len(items) // 3 - len(browser), 0)
    items[:] = [*browser, *others[:cut], *long, *others[cut:]]
