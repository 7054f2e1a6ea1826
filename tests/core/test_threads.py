"""Linear algebra is kept to one thread inside the block and let go behind it."""

import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from bottega.core import threads
from bottega.core.parallel import at_most, in_threads, spare_threads
from bottega.core.threads import linear_algebra_in, one_thread, openmp_in
from bottega.linear import LeastSquares
from bottega.neighbors import NearestNeighborsRegressor


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_one_thread_inside_and_as_before_outside():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_thread():
            with one_thread():
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_other_threads_leave_the_limit_alone():
    def work():
        with one_thread():
            return blas_threads()

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as pool:
        before = blas_threads()
        assert pool.submit(work).result() == before
        assert blas_threads() == before


def test_a_limit_never_raises_a_lower_one():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with linear_algebra_in(4):
            assert blas_threads() == before
        with one_thread(), linear_algebra_in(2):
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_n_jobs_holds_for_linear_algebra_inside_tasks_too():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with at_most(1):
            assert set(blas_threads()) == {1}
            assert {*in_threads(lambda _: max(blas_threads()), range(2))} == {1}
        assert blas_threads() == before


seen = []


class WatchedNeighbors(NearestNeighborsRegressor):
    def _prepare(self, rows):
        seen.append(max(blas_threads()))
        return super()._prepare(rows)


class WatchedLeastSquares(LeastSquares):
    def _finish(self, work, rows, setting):
        seen.append(max(blas_threads()))
        super()._finish(work, rows, setting)


def test_fits_paths_and_chunks_keep_to_n_jobs():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(250, 201)), rng.normal(size=250)
    few = X[:, :2]
    seen.clear()
    with threadpool_limits(2, user_api="blas"):
        for n_jobs in (1, None):
            WatchedNeighbors(n_jobs=n_jobs).fit(few, y)
            WatchedNeighbors(n_jobs=n_jobs).path(few, y)
            WatchedLeastSquares(n_jobs=n_jobs).fit(few, y)
            WatchedLeastSquares(n_jobs=n_jobs).fit_chunks([(X, y)])
        assert seen == [1] * 4 + [2] * 4
        # Products of narrow blocks are too small to share.
        WatchedLeastSquares().fit_chunks([(few, y)])
    assert seen[-1] == 1


def test_libraries_that_were_loaded_of_late_are_looked_for(monkeypatch):
    before = threads._all_libraries()
    assert threads._all_libraries() is before
    monkeypatch.setitem(sys.modules, "module_with_a_library", ModuleType("module_with_a_library"))
    assert threads._all_libraries() is not before


def openmp_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"]


def test_loops_of_scikit_learn_have_the_threads_that_are_spare():
    with threadpool_limits(4, user_api="openmp"):
        with openmp_in(2):
            assert set(openmp_threads()) <= {2}
        with openmp_in(8):
            assert set(openmp_threads()) <= {4}
        assert set(openmp_threads()) <= {4}
    assert spare_threads(3) == 3
    with at_most(2):
        assert spare_threads() == 2
        assert {*in_threads(lambda _: spare_threads(3), range(2))} == {1}
    with ThreadPoolExecutor(1) as pool:  # a thread of somebody else's has the cores
        assert pool.submit(spare_threads, 3).result() == 3
