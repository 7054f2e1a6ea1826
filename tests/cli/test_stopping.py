"""A command that is stopped ends at once, without a traceback, and writes what is there."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the signals are POSIX's")

# Every fit is announced, and the fit of a tree, once the six of least squares are heard of, goes on
# for ever.
TELL_AND_RUN = """
import sys
import time
from bottega.cli.app import main
from bottega.core import progress
from bottega.core.estimator import Estimator

fit, report, heard = Estimator._fit, progress.report, []

def say(what):
    sys.stdout.write(what + "\\n")  # at once: other threads say it too
    sys.stdout.flush()

def tell_and_fit(self, *rows, **how):
    if {slow} and type(self).__name__ == "TreeRegressor":
        while sum(message.startswith("least_squares") for _, _, message, *_ in heard) < 6:
            time.sleep(0.05)
        say("waiting")
        time.sleep(100)
    if not {slow}:
        say("fitting")
    return fit(self, *rows, **how)

def hear(job, *told):
    if job == "comparing":
        heard.append(told)
    report(job, *told)

Estimator._fit, progress.report = tell_and_fit, hear
main()
"""


def start(path, *arguments, slow=False):
    return subprocess.Popen(
        [
            *(sys.executable, "-c", TELL_AND_RUN.format(slow=slow)),
            *("compare", str(path), "--target", "y", *map(str, arguments)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def table(folder, n_rows):
    rng = np.random.default_rng(0)
    path = folder / "rows.csv"
    header = ",".join([*(f"x{j}" for j in range(11)), "y"])
    rows = rng.normal(size=(n_rows, 12))
    np.savetxt(path, rows, delimiter=",", header=header, comments="")
    return path


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    return table(tmp_path_factory.mktemp("big"), 5_000)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return table(tmp_path_factory.mktemp("small"), 120)


def test_ctrl_c_stops_without_a_traceback(big):
    process = start(big)
    try:
        # Two threads may say it at once; the many fits to come take seconds.
        assert process.stdout.readline().startswith("fitting")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=200)
    finally:
        process.kill()
    assert process.returncode == 1
    assert "Traceback" not in errors
    assert "stopped" in errors


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_comparison_writes_what_is_there(big, tmp_path, sign):
    """Methods that are done are shown, though the fit of another goes on for ever."""
    report, board = tmp_path / "r.html", tmp_path / "board.csv"
    methods = ("--methods", "least_squares,tree", "--jobs", 12)
    process = start(big, *methods, "--out", report, "--leaderboard", board, slow=True)
    try:
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(sign)
        sent = time.monotonic()
        while not board.exists() and time.monotonic() < sent + 60:
            time.sleep(0.02)
        seconds = time.monotonic() - sent
        output, errors = process.communicate(timeout=90)  # the report may take some
    finally:
        process.kill()
    # A second on a machine of its own; the fit that is left would take 100.
    assert seconds < 20
    assert process.returncode == 1, errors
    assert "Traceback" not in errors
    assert "stopped early" in errors
    assert "least_squares" in output, output + errors
    assert "least_squares" in board.read_text()
    assert "stopped before all methods were done" in report.read_text()


# ---- in every phase -----------------------------------------------------------------------------

# What begins a phase, and then goes on for ever.
PHASES = {
    "reading": ("bottega.cli.comparing", "read"),
    "first folds": ("bottega.risk.estimate.procedures", "EstimatorProcedure.fit"),
    "stack": ("bottega.workbench.job", "stack_leaders"),
    "certificate": ("bottega.workbench", "Comparison.certify"),
    "report": ("bottega.workbench", "Comparison.report"),
}
HOLD_AND_RUN = """
import sys
import time
from importlib import import_module
from operator import attrgetter
from bottega.cli.app import main

place, _, name = {path!r}.rpartition(".")
owner = import_module({module!r})
owner = attrgetter(place)(owner) if place else owner
def held(*given, **more):
    sys.stdout.write("here\\n")  # at once: other threads say it too
    sys.stdout.flush()
    time.sleep(100)

setattr(owner, name, held)
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_ctrl_c_is_heard_in_every_phase(small, tmp_path, phase):
    """What was done before the phase is shown and written; what takes long is not begun."""
    module, path = PHASES[phase]
    report, board = tmp_path / "r.html", tmp_path / "board.csv"
    script = HOLD_AND_RUN.format(module=module, path=path)
    methods = ("--methods", "least_squares,ridge,tree", "--outer", "3")
    outputs = () if phase == "stack" else ("--out", str(report))
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", script, "compare", str(small), "--target", "y"),
            *(*methods, *outputs, "--leaderboard", str(board)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        before = ""  # what was printed already
        for line in iter(process.stdout.readline, "here\n"):
            assert line, process.stderr.read()  # it ended
            before += line
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        output, errors = process.communicate(timeout=60)
        seconds = time.monotonic() - sent
    finally:
        process.kill()
    assert seconds < 20  # a second on a machine of its own; the held phase takes 100
    assert process.returncode == 1, errors
    assert "Traceback" not in errors
    assert "stopped" in errors
    assert not report.exists()
    done = phase not in ("reading", "first folds")
    assert board.exists() == done
    assert ("least_squares" in before + output) == done


DESCRIBING = {
    "reading": ("bottega.cli.describing", "read"),
    "components": ("bottega.workbench.describe", "find_components"),
    "clusters": ("bottega.workbench.describe", "find_clusters"),
    "report": ("bottega.workbench", "Description.report"),
}


@pytest.mark.slow
@pytest.mark.parametrize("phase", DESCRIBING)
def test_ctrl_c_stops_a_description_in_every_phase(small, tmp_path, phase):
    """What was found before is printed; rows are written with what is known of them."""
    module, path = DESCRIBING[phase]
    report, rows = tmp_path / "r.html", tmp_path / "rows.csv"
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", HOLD_AND_RUN.format(module=module, path=path)),
            *("describe", str(small), "--rows-out", str(rows)),
            *(("--out", str(report)) if phase == "report" else ()),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        before = ""
        for line in iter(process.stdout.readline, "here\n"):
            assert line, process.stderr.read()  # it ended
            before += line
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        output, errors = process.communicate(timeout=60)
        seconds = time.monotonic() - sent
    finally:
        process.kill()
    assert seconds < 20  # a second on a machine of its own; the held phase takes 100
    assert process.returncode == 1, errors
    assert "Traceback" not in errors
    assert "stopped" in errors
    assert not report.exists()
    told = before + output
    assert ("Description of 120 rows" in told) == (phase != "reading")
    for part, phases in (("components", ["components"]), ("clusters", ["components", "clusters"])):
        assert (f"{part}: stopped before it was done" in told) == (phase in phases)


@pytest.mark.slow
def test_ctrl_c_is_heard_while_kernels_are_compiled(small, tmp_path):
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "bottega", "compare", str(small), "--target", "y"),
            *("--methods", "tree,random_forest"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")},
    )
    try:
        assert "preparing kernels" in process.stderr.readline()
        time.sleep(1.0)  # in the middle of one
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        _, errors = process.communicate(timeout=60)
        seconds = time.monotonic() - sent
    finally:
        process.kill()
    assert seconds < 20
    assert process.returncode == 1
    assert "Traceback" not in errors
    assert "stopped" in errors
