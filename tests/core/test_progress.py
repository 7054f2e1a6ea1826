"""A stopwatch leaves out what is set aside, in whatever thread."""

import pytest

from bottega.core import progress
from bottega.core.parallel import in_threads


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only when a test says so."""
    now = [0.0]
    monkeypatch.setattr(progress, "perf_counter", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    return wait


def test_time_that_is_set_aside_is_not_counted(clock):
    with progress.Stopwatch() as watch:
        clock(1.0)
        with progress.set_aside():
            clock(10.0)
        clock(2.0)
    assert watch.seconds == 3.0
    assert watch.aside == 10.0


def test_time_that_two_threads_set_aside_at_once_is_left_out_once(clock):
    with progress.Stopwatch() as watch:
        clock(1.0)
        with progress.set_aside():
            clock(10.0)
            with progress.set_aside():
                clock(5.0)
            clock(10.0)
    assert watch.seconds == 1.0


def test_threads_of_the_work_are_heard_and_others_are_not(clock):
    def prepare(_):
        with progress.set_aside():
            clock(4.0)

    with progress.Stopwatch() as outer:
        with progress.Stopwatch() as inner:
            in_threads(prepare, [0])
            clock(1.0)
        in_threads(prepare, [0])
    assert inner.seconds == 1.0
    assert outer.seconds == 1.0
    prepare(0)
    assert outer.seconds == 1.0


def test_an_error_ends_what_is_set_aside(clock):
    def fail():
        clock(2.0)
        raise ValueError

    with progress.Stopwatch() as watch, pytest.raises(ValueError), progress.set_aside():
        fail()
    assert watch.seconds == 0.0
