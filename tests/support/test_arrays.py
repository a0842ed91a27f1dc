"""Threads of the linear algebra: limited while anybody needs it, and then as before."""

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from prefero._support.arrays import one_thread


def blas_threads() -> set[int]:
    return {int(pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_one_thread_works_inside_and_as_many_as_before_outside() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert one_thread(blas_threads)() == {1}
        assert blas_threads() == before


def test_overlapping_calls_in_several_threads_leave_the_limit_as_it_was() -> None:
    entered, leave = threading.Barrier(3), threading.Event()
    seen: list[set[int]] = []

    @one_thread
    def work(number: int) -> None:
        entered.wait()
        if number:
            leave.wait()
        seen.append(blas_threads())

    before = blas_threads()
    workers = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for worker in workers:
        worker.start()
    workers[0].join()
    leave.set()
    for worker in workers[1:]:
        worker.join()
    assert seen == [{1}, {1}, {1}]
    assert blas_threads() == before


def test_an_error_inside_lifts_the_limit() -> None:
    @one_thread
    def fails() -> None:
        raise RuntimeError

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(RuntimeError):
            fails()
        assert blas_threads() == before
