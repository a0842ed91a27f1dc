"""Blocks on all cores: the order is kept, the limit is respected, and parallel work inside does not wait."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from prefero._support.parallel import chunks_of, core_count, map_parallel


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefero._support.parallel.core_count", lambda: 2)


@pytest.mark.usefixtures("two_cores")
def test_results_come_in_the_order_of_the_items() -> None:
    assert map_parallel(lambda n: n * n, range(50)) == [n * n for n in range(50)]


@pytest.mark.usefixtures("two_cores")
def test_two_threads_work_at_once() -> None:
    both = threading.Barrier(2, timeout=20)
    assert len(set(map_parallel(lambda _: both.wait() is None or threading.get_ident(), range(2)))) >= 1


@pytest.mark.usefixtures("two_cores")
def test_parallel_work_inside_parallel_work_is_done_in_place() -> None:
    def inner(n: int) -> list[int]:
        return map_parallel(lambda m: m + n, range(3))

    assert map_parallel(inner, range(8)) == [[n, n + 1, n + 2] for n in range(8)]


@pytest.mark.usefixtures("two_cores")
def test_an_error_comes_through() -> None:
    def fail(n: int) -> int:
        raise KeyError(n)

    with pytest.raises(KeyError):
        map_parallel(fail, range(4))


@pytest.mark.usefixtures("two_cores")
def test_several_callers_share_the_threads() -> None:
    with ThreadPoolExecutor(4) as callers:
        found = list(callers.map(lambda n: sum(map_parallel(lambda m: m * n, range(20))), range(8)))
    assert found == [190 * n for n in range(8)]


def test_the_number_of_threads_is_limited_as_that_of_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert core_count() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    assert core_count() >= 1


def test_chunks_cover_all_rows_once() -> None:
    assert [list(range(10))[b] for b in chunks_of(10, 4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
