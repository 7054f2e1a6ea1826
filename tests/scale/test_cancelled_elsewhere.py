"""Ctrl-C of work on a cluster: it ends at once, leaves no task there, and the next fit works."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial

import numpy as np
import pytest

import bottega
from bottega import scale
from bottega.classify import LogisticRegression
from bottega.data.array_rows import ArrayRows
from bottega.linear import Ridge

pytestmark = [
    pytest.mark.slow,  # processes start and import the package
    pytest.mark.skipif(os.name == "nt", reason="the signals are POSIX's"),
]

LONG = 1.0  # seconds that a worker takes for a part of the rows
PARTS = 60


def in_a_worker():
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


def rows_of_part(number, folder=None):
    """Rows that take a worker long where a folder is given, which tells that it has begun."""
    if folder is not None and in_a_worker():
        open(os.path.join(folder, f"begun{number}"), "w").close()
        time.sleep(LONG)
    rng = np.random.default_rng(number)
    X = rng.normal(size=(50, 3))
    return X, (X @ [1.0, 2.0, 3.0] + rng.normal(size=50) > 0).astype(float), None


def slow_rows(folder):
    return ArrayRows([partial(rows_of_part, i, str(folder)) for i in range(PARTS)], 50)


def quick_rows():
    return ArrayRows([partial(rows_of_part, i) for i in range(6)], 50)


def tasks_of(cluster):
    """Return the tasks of the package that the scheduler knows."""
    return [key for key in list(cluster.scheduler.tasks) if str(key).startswith("bottega-")]


def wait_until(condition, seconds):
    limit = time.monotonic() + seconds
    while not condition() and time.monotonic() < limit:
        time.sleep(0.05)
    return condition()


def press_when_it_works(folder):
    """Press Ctrl-C as soon as a worker has begun; return what tells when it was."""
    pressed = []

    def press():
        if wait_until(lambda: any(folder.iterdir()), 60):
            time.sleep(0.3)
            pressed.append(time.monotonic())
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    return pressed


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("model", [Ridge(), LogisticRegression(alpha=1.0)], ids=["one", "several"])
def test_a_stopped_fit_leaves_nothing_and_the_next_works(model, held, cluster, tmp_path, by_value):
    """With a client of the user's own that stays connected, as in a notebook.

    There the error, with the frames it went through, is held until the next one.
    """
    from distributed import Client

    errors = []
    with Client(cluster, set_as_default=False) as client:
        pressed = press_when_it_works(tmp_path)
        try:
            with scale.on(client):
                model.fit(slow_rows(tmp_path))
        except KeyboardInterrupt as error:
            errors += [error] * held
        assert time.monotonic() - pressed[0] < 5  # the parts that are left would take 25
        left = not wait_until(lambda: not tasks_of(cluster), 15)
        errors.clear()
        assert wait_until(lambda: not tasks_of(cluster), 40)  # other tests use the cluster, too
        assert not left
        start = time.monotonic()
        with scale.on(client):
            there = model.fit(quick_rows()).coef_
        assert time.monotonic() - start < 20
    assert len(list(tmp_path.iterdir())) < PARTS / 2
    np.testing.assert_allclose(there, model.fit(quick_rows()).coef_, rtol=1e-6)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of a table of which forests take long, all in all."""
    pandas = pytest.importorskip("pandas")
    folder = tmp_path_factory.mktemp("big")
    rng = np.random.default_rng(0)
    for number in range(3):
        X = rng.normal(size=(4_000, 10))
        frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(10)])
        frame.assign(y=X[:, 0] ** 2 + rng.normal(size=4_000)).to_parquet(
            folder / f"{number}.parquet"
        )
    return sorted(map(str, folder.iterdir()))


def runs_of(cluster):
    """Return the fits of folds that the scheduler knows."""
    return [key for key in tasks_of(cluster) if "run_task" in str(key)]


def test_a_stopped_comparison_leaves_nothing_and_the_next_works(files, cluster):
    """With a client of the user's own that stays connected, as in a notebook."""
    from distributed import Client

    table = bottega.read(files, target="y")
    pressed = []

    def press():
        if wait_until(lambda: len(runs_of(cluster)) >= 2, 60):
            pressed.append(time.monotonic())
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    with Client(cluster, set_as_default=False) as client:
        threading.Thread(target=press, daemon=True).start()
        slow = {"methods": ["random_forest", "gradient_boosting"], "outer": 10, "stack": False}
        with suppress(KeyboardInterrupt), scale.on(client):
            assert bottega.compare(table, **slow).interrupted
        assert time.monotonic() - pressed[0] < 10
        assert wait_until(lambda: not tasks_of(cluster), 10), tasks_of(cluster)
        options = {"methods": ["ridge"], "outer": 2, "stack": False}
        with scale.on(client):
            there = bottega.compare(table, **options).leaderboard
    here = bottega.compare(table, **options).leaderboard
    assert there["method"].tolist() == here["method"].tolist() == ["baseline", "ridge"]
    np.testing.assert_allclose(there["error"], here["error"], rtol=1e-9)


def bottega_compare(files, cluster, *more):
    address = cluster.scheduler_address
    return [
        *(sys.executable, "-m", "bottega", "compare", *files, "--target", "y", "--on", address),
        *("--no-stack", "--test-size", "0", *more),
    ]


@pytest.mark.parametrize(
    ("sign", "stream"),
    [
        (signal.SIGINT, ()),
        (signal.SIGTERM, ()),
        (signal.SIGINT, ("--stream", "--sample", "9000")),
    ],
    ids=["ctrl-c", "terminate", "ctrl-c of a stream"],
)
def test_a_stopped_command_leaves_nothing_and_the_next_works(sign, stream, files, cluster):
    slow = ("--methods", "random_forest,gradient_boosting", "--outer", "10")
    process = subprocess.Popen(
        bottega_compare(files, cluster, *slow, *stream),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def works():
        return len(runs_of(cluster)) >= 2 or process.poll() is not None

    try:
        assert wait_until(works, 60)
        time.sleep(0.3)
        process.send_signal(sign)
        sent = time.monotonic()
        output, errors = process.communicate(timeout=60)
        seconds = time.monotonic() - sent
    finally:
        process.kill()
    assert process.returncode == 1, output + errors
    assert "stopped" in errors
    assert "Traceback" not in errors
    assert seconds < 10, errors
    assert wait_until(lambda: not tasks_of(cluster), 10), tasks_of(cluster)
    quick = ("--methods", "ridge", "--outer", "2", "--json")
    start = time.monotonic()
    done = subprocess.run(
        bottega_compare(files, cluster, *quick),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"method": "ridge"' in done.stdout
    assert time.monotonic() - start < 40
