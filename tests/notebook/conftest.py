"""Pools for tests of the widget."""

import pytest

from prefero import Pool


@pytest.fixture(scope="session")
def driver_pool() -> Pool:
    return Pool.simulate("driver", 12, progress=False)
