"""A stopwatch leaves out what is set aside, in whatever thread."""

import numpy as np
import pytest

from bottega.core import BaselineRegressor, progress
from bottega.core.parallel import in_threads
from bottega.ensemble import VotingRegressor
from bottega.linear import LeastSquares


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


def test_progress_is_written_now_and_then_and_at_the_end(clock, capsys):
    with progress.written("Forest"):
        for done in range(1, 31):
            clock(0.1)
            progress.report("trees", done, 30)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[Forest] trees: 1 of 30"
    assert lines[-1] == "[Forest] trees: 30 of 30"
    assert len(lines) == 4  # of three seconds


def test_a_verbose_fit_writes_its_progress(capsys):
    X = np.random.default_rng(0).normal(size=(30, 2))
    models = [("line", LeastSquares()), ("mean", BaselineRegressor())]
    VotingRegressor(models).fit(X, X[:, 0])
    assert capsys.readouterr().out == ""
    VotingRegressor(models, verbose=True).fit(X, X[:, 0])
    assert "[VotingRegressor] bases: 2 of 2\n" in capsys.readouterr().out
