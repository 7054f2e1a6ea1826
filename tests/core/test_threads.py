"""Linear algebra is kept to one thread inside the block and let go behind it."""

from concurrent.futures import ThreadPoolExecutor

from threadpoolctl import threadpool_info, threadpool_limits

from bottega.core.threads import one_thread


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
