"""Tasks side by side: order, errors, and no threads inside threads."""

import threading

import pytest

from bottega.core.errors import ParameterError
from bottega.core.parallel import available_cores, in_threads, run_tasks, threads_of


def test_answers_come_in_the_order_of_the_items():
    assert in_threads(lambda i: i * i, range(20)) == [i * i for i in range(20)]
    assert in_threads(abs, []) == []


def test_an_error_of_a_task_is_raised():
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda i: 1 / i, [1, 0, 2])


def test_tasks_inside_a_task_share_one_thread():
    def inner(_):
        return threading.get_ident()

    def outer(_):
        return len(set(in_threads(inner, range(8))))

    assert in_threads(outer, range(4)) == [1] * 4


def test_a_thread_number_below_one_is_refused():
    with pytest.raises(ParameterError, match="n_jobs=0"):
        run_tasks([("a", lambda: 1)], n_jobs=0)


def test_negative_numbers_of_threads_count_from_all_cores():
    cores = available_cores()
    assert threads_of(None) == threads_of(-1) == cores
    assert threads_of(-2) == max(cores - 1, 1)
    assert threads_of(-1000) == 1
    assert threads_of(3) == 3
