"""Tasks side by side: order, errors, and no threads inside threads."""

import os
import signal
import sys
import threading
import time

import pytest

from bottega.core import interruption
from bottega.core.errors import ParameterError
from bottega.core.parallel import (
    answers_in_turn,
    available_cores,
    in_threads,
    made_ahead,
    run_tasks,
    threads_of,
)


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


# ---- Ctrl-C -------------------------------------------------------------------------------------

needs_signals = pytest.mark.skipif(os.name == "nt", reason="the signals are POSIX's")


class Swallowing:
    """Ctrl-C is pressed while it is taken down: Python prints the exception, and forgets it."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


@needs_signals
def test_a_press_that_python_lost_stops_the_work(monkeypatch):
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lambda event: lost.append(event.exc_type))

    def press(key, _):
        Swallowing()  # it is gone at once

    tasks = [("quick", int), ("slow", lambda: time.sleep(30))]
    start = time.perf_counter()
    answers, complete = run_tasks(tasks, n_jobs=2, leave=True, detail=press)
    assert lost == [KeyboardInterrupt]
    assert not complete
    assert answers == {"quick": 0}
    assert time.perf_counter() - start < 10
    assert run_tasks([("next", int)]) == ({"next": 0}, True)  # the press was for the work before


@needs_signals
def test_a_press_lost_before_the_work_begins_stops_it(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    with interruption.remembered():
        Swallowing()
        assert run_tasks([("a", lambda: time.sleep(0.01))], leave=True) == ({}, False)
        assert run_tasks([("b", int)]) == ({"b": 0}, True)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@needs_signals
def test_an_interrupted_loop_does_not_wait_for_what_runs():
    def task(i):
        if i == 0:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(30)

    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        in_threads(task, range(2))
    assert time.perf_counter() - start < 10


def test_an_error_waits_for_what_runs():
    """Who catches it may use the same arrays again."""
    ended = []

    def task(i):
        if i == 0:
            raise ValueError
        time.sleep(0.3)
        ended.append(i)

    with pytest.raises(ValueError):
        run_tasks([(i, lambda i=i: task(i)) for i in (1, 0)], n_jobs=2, leave=True)
    assert ended == [1]


def test_other_threads_take_no_notice_of_ctrl_c():
    def inside():
        with interruption.remembered():
            found.append(signal.getsignal(signal.SIGINT))
            interruption.raise_if_pressed()

    found = []
    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT)]


def test_answers_come_in_turn_and_an_error_stops_the_rest():
    made, taken = [], []

    def items():
        for i in range(100):
            made.append(i)
            yield i

    def late(i):
        if i == 3:
            raise ValueError("three")
        return -i

    with pytest.raises(ValueError, match="three"):
        taken.extend(answers_in_turn(late, items()))
    assert taken == [0, -1, -2]
    assert len(made) < 20
    assert list(answers_in_turn(abs, iter(range(50)))) == list(range(50))
    next(answers_in_turn(abs, items()))  # whoever wants no more leaves no thread at work
    assert len(made) < 40


def test_items_made_ahead_end_with_whoever_uses_them():
    made = []

    def items():
        for i in range(1_000):
            made.append(i)
            yield i
        raise ValueError("the end")

    for item in made_ahead(items()):
        if item == 5:
            break
    assert len(made) < 20
    before = threading.active_count()
    with pytest.raises(ValueError, match="the end"):
        for _ in made_ahead(items()):
            pass
    assert threads_end(before)


def test_nobody_waits_for_the_thread_of_items_that_are_not_wanted_any_more():
    go_on, before = threading.Event(), threading.active_count()

    def items():
        yield 0
        go_on.wait(60)
        yield from range(100)

    found = made_ahead(items())
    assert next(found) == 0
    found.close()  # where Ctrl-C would be lost, it returns at once
    assert threading.active_count() == before + 1
    go_on.set()
    assert threads_end(before)  # though nobody takes what it has made


def threads_end(number, seconds=10.0):
    """Return True as soon as there are no more threads than a number."""
    end = time.monotonic() + seconds
    while threading.active_count() > number and time.monotonic() < end:
        time.sleep(0.001)
    return threading.active_count() <= number
