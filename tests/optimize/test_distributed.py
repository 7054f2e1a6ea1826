"""Distributed descent: the same numbers as one process, and processes that always end."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError
from bottega.optimize import (
    Delays,
    WorkerError,
    distributed_descent,
    simulated_cluster,
    worker_scaling,
)
from bottega.optimize._distributed.crew import WorkerCrew
from bottega.optimize._distributed.losses import LOSSES, task_of
from bottega.optimize._distributed.schemes import split
from bottega.optimize._distributed.worker import WorkerPart
from bottega.optimize.distributed_minimum import bound_of_serial_share


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(301, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=301)


def _blocks():
    """Return the blocks of shared memory that this process made and did not give back."""
    return list(Path("/dev/shm").glob(f"bottega-{os.getpid()}-*"))


def _serial(task, theta, rate, steps):
    for _ in range(steps):
        theta = theta - rate * task.both(theta)[1]
    return theta


def _gone(pid, seconds=20.0):
    """Return True once a process has ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def _ask(crew, worker):
    crew.tell(worker, "gradient")
    crew.answer(worker)


# ---- losses, without processes -------------------------------------------------------------------


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_gradients_and_splits(loss, data):
    X, y = data
    target = (
        np.digitize(y, [-1, 1]) if loss == "multinomial" else y > 0 if loss == "logistic" else y
    )
    task, start = task_of(X, target, loss, 0.3, None)
    theta = np.random.default_rng(1).normal(size=len(start))
    found = optimize.approx_fprime(theta, task.value, 1e-6)
    # Forward differences with a step of 1e-6 are right to about 1e-6.
    np.testing.assert_allclose(task.both(theta)[1], found, atol=1e-5)
    parts = [task.loss(theta, task.X[a:b], task.y[a:b]) for a, b in split(len(X), 3)]
    whole = task.loss(theta, task.X, task.y)
    assert sum(value for value, _ in parts) == pytest.approx(whole[0], rel=1e-12)
    np.testing.assert_allclose(sum(g for _, g in parts), whole[1], rtol=1e-11, atol=1e-11)


def test_the_bound_of_a_serial_share():
    assert bound_of_serial_share(0.0, 8) == 8
    assert bound_of_serial_share(1.0, 8) == 1
    assert bound_of_serial_share(0.05, 10**9) == pytest.approx(20)


# ---- real processes ------------------------------------------------------------------------------


def test_gradients_of_parts_are_the_gradient(data):
    X, y = data
    found = distributed_descent(X, y > 0, alpha=0.1, n_workers=2, max_iter=300, tol=1e-7)
    task, start = task_of(X, y > 0, "logistic", 0.1, None)
    alone = _serial(task, start, task.step(None), found.n_iter)
    # Only the order of the sums differs.
    np.testing.assert_allclose(found.x, alone, rtol=1e-9, atol=1e-12)
    best = optimize.minimize(task.value, start, jac=lambda t: task.both(t)[1], tol=1e-12)
    np.testing.assert_allclose(found.x, best.x, atol=1e-5)
    assert found.converged
    assert found.value == pytest.approx(task.value(found.x), rel=1e-12)
    assert found.trace.points.shape == (found.n_iter + 1, 4)
    assert found.times.shape == (found.n_iter + 1,)
    assert found.work.shape == (found.n_iter, 2)
    assert np.all(np.diff(found.times) > 0)
    assert 0 < found.serial_share < 1
    assert found.speed_up <= found.bound * (1 + 1e-9) <= 2 * (1 + 1e-9)
    assert "Amdahl's bound" in str(found)
    assert list(found.to_frame().columns[:3]) == ["iteration", "time", "value"]
    assert "vconcat" in found.plot().to_dict()
    assert not _blocks()


@pytest.mark.slow
def test_one_local_step_is_gradient_averaging(data):
    X, y = data
    options = {"loss": "squared", "alpha": 0.1, "max_iter": 5, "tol": 0.0}
    with pytest.warns(ConvergenceWarning, match="after 5 steps; raise max_iter"):
        found = distributed_descent(X, y, scheme="parameters", local_steps=1, **options)
    task, start = task_of(X, y, "squared", 0.1, None)
    np.testing.assert_allclose(found.x, _serial(task, start, task.step(None), 5), rtol=1e-10)


@pytest.mark.slow
def test_model_parallel_is_the_whole_model(data):
    X, y = data
    c = np.digitize(y, [-2, 0, 2])
    found = distributed_descent(
        X, c, loss="multinomial", alpha=0.1, scheme="model", max_iter=500, tol=1e-6
    )
    task, start = task_of(X, c, "multinomial", 0.1, None)
    alone = _serial(task, start, task.step(None), found.n_iter)
    np.testing.assert_allclose(found.x, alone, rtol=1e-9, atol=1e-12)
    assert found.x.shape == (16,)
    assert found.converged


@pytest.mark.slow
def test_asynchronous_updates_come_near_the_minimum(data):
    X, y = data
    found = distributed_descent(
        X, y, loss="squared", scheme="asynchronous", max_iter=30, batch_size=16,
        learning_rate=0.05, random_state=0,
    )  # fmt: skip
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    # The noise of the mini-batches leaves a distance; steps of 0.05 keep it well below 0.2.
    np.testing.assert_allclose(found.x, best, atol=0.2)
    assert len(found.staleness) == 30 * round(301 / 16)
    assert np.all(found.staleness >= 0)
    assert found.verdict == "max_iter"


LOSS = """
import numpy as np

def absolute(theta, X, y):
    residual = X @ theta - y
    return np.abs(residual).sum(), X.T @ np.sign(residual)

def failing(theta, X, y):
    if theta.any():
        raise ValueError("this loss fails on its second step")
    return 1.0, np.ones_like(theta)

def short(theta, X, y):
    return 1.0, np.ones(1)
"""


@pytest.mark.slow
def test_a_loss_of_ones_own_and_its_errors(data, tmp_path, monkeypatch):
    X, y = data
    (tmp_path / "losses_for_workers.py").write_text(LOSS)
    monkeypatch.syspath_prepend(tmp_path)
    import losses_for_workers as own

    with pytest.warns(ConvergenceWarning):
        found = distributed_descent(X, y, loss=own.absolute, learning_rate=0.05, max_iter=40)
    assert found.value < 0.6 * found.trace.values[0]
    with pytest.raises(WorkerError, match=r"ValueError: this loss fails on its second step[\s\S]*"
                                          "in the worker"):  # fmt: skip
        distributed_descent(X, y, loss=own.failing, learning_rate=0.1, n_workers=1)
    with pytest.raises(WorkerError, match=r"gradient of shape \(1,\)"):
        distributed_descent(X, y, loss=own.short, learning_rate=0.1, n_workers=1)
    assert not _blocks()


@pytest.mark.skipif(sys.platform == "win32", reason="kills processes by signals")
def test_a_killed_worker_is_reported_and_nothing_stays(data):
    X, y = data
    task, _ = task_of(X, y, "squared", 0.0, None)
    parts = [WorkerPart(i, (0, len(X)), (0, 1), 0.0, 0, 1) for i in range(2)]
    arrays = {"X": task.X, "y": task.y, "sent": np.zeros((2, 4)), "found": np.zeros((2, 4))}
    with WorkerCrew(task.loss, parts, arrays) as crew:
        pids = crew.pids
        crew.tell_all("gradient")
        crew.answers()
        os.kill(pids[1], signal.SIGKILL)
        assert _gone(pids[1])
        crew.tell(0, "gradient")
        crew.answer(0)
        assert crew.first([0, 1]) == [1]  # who waits for any answer learns of the end
        with pytest.raises(WorkerError, match=r"Worker 1 ended.*exit code -9"):
            _ask(crew, 1)
    assert len(pids) == 2
    assert all(_gone(pid) for pid in pids)
    assert not _blocks()


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc and /dev/shm")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_parent(tmp_path, end):
    """Killed outright, or by Ctrl-C in the middle of a run: no process and no memory stays."""
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(
            """
            import numpy as np
            from bottega.optimize._distributed.crew import WorkerCrew
            from bottega.optimize._distributed.losses import squared
            from bottega.optimize._distributed.worker import WorkerPart

            if __name__ == "__main__":
                parts = [WorkerPart(i, (0, 50), (0, 1), 0.0, 0, 1) for i in range(2)]
                arrays = {"X": np.ones((50, 2)), "y": np.ones(50), "sent": np.zeros((2, 2)),
                          "found": np.zeros((2, 2))}
                with WorkerCrew(squared, parts, arrays) as crew:
                    print(*crew.pids, *(p.block for p in crew.arrays.places.values()), flush=True)
                    while True:
                        crew.tell_all("gradient")
                        crew.answers()
            """
        )
    )
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
    try:
        told = parent.stdout.readline().split()
        assert len(told) == 6
        pids, blocks = [int(each) for each in told[:2]], told[2:]
        assert all((Path("/dev/shm") / block).exists() for block in blocks)
        if end == signal.SIGINT:
            os.killpg(parent.pid, end)  # as a terminal does: parent and workers alike
        else:
            parent.kill()
        parent.wait(30)
        assert all(_gone(pid) for pid in pids)
        limit = time.monotonic() + 20  # of a killed parent Python's own tracker cleans up
        while time.monotonic() < limit and any((Path("/dev/shm") / b).exists() for b in blocks):
            time.sleep(0.1)
        assert not any((Path("/dev/shm") / block).exists() for block in blocks)
    finally:
        parent.kill()
        parent.stdout.close()
        parent.wait(10)


@pytest.mark.slow
def test_the_table_of_scaling(data):
    X, y = data
    found = worker_scaling(X, y, loss="squared", n_workers=(2,), steps=5)
    assert found.n_workers.tolist() == [1, 2]
    assert found.speed_up[0] == 1
    assert found.bound[1] == pytest.approx(bound_of_serial_share(found.serial_share, 2))
    assert found.to_frame()["workers"].tolist() == [1, 2]
    assert found.plot().to_dict()["title"]["text"].startswith("Speed-up")
    assert pickle.loads(pickle.dumps(found)).serial_share == found.serial_share


# ---- the simulated clock -------------------------------------------------------------------------


def test_full_steps_on_the_clock_are_those_of_one_process(data):
    X, y = data
    delays = Delays(per_row=1e-5, latency=1e-3, spread=0.0, slowest=2.0)
    found = simulated_cluster(X, y, loss="squared", scheme="full", n_workers=4, duration=0.1,
                              delays=delays, n_points=50, random_state=0)  # fmt: skip
    # The last worker has 76 rows and half the speed: 2 * 1e-3 + 76 * 2e-5 = 3.52 ms per step.
    steps = int(0.1 / 3.52e-3)
    task, start = task_of(X, y, "squared", 0.0, None)
    np.testing.assert_allclose(found.x, _serial(task, start, task.step(None), steps), rtol=1e-9)
    assert found.seconds == pytest.approx(0.1)


def test_turns_and_free_updates_by_hand(data):
    """Without chance, 4 workers take 4 times as many updates as one at a time, 3 updates old."""
    X, y = data
    options = {"loss": "squared", "n_workers": 4, "duration": 0.1, "batch_size": 10,
               "delays": Delays(per_row=1e-5, latency=1e-4, spread=0.0), "learning_rate": 0.01,
               "random_state": 0}  # fmt: skip
    free = simulated_cluster(X, y, scheme="asynchronous", **options)
    # 0.3 ms per update of each worker: 333 rounds of 4.
    assert len(free.staleness) == 4 * 333
    assert np.all(free.staleness[4:] == 3)
    assert free.speed_up == pytest.approx(4 / 3, rel=0.02)  # computes a third of its time
    turns = simulated_cluster(X, y, scheme="synchronous", **options)
    assert turns.staleness is None
    assert turns.work.sum() == pytest.approx(333 * 1e-4, rel=0.02)
    assert turns.speed_up == pytest.approx(1, rel=0.02)


def test_the_clock_is_deterministic(data):
    X, y = data
    one, two = (simulated_cluster(X, y > 0, alpha=0.1, duration=0.02, random_state=5)
                for _ in range(2))  # fmt: skip
    np.testing.assert_array_equal(one.trace.values, two.trace.values)
    np.testing.assert_array_equal(one.staleness, two.staleness)
    other = simulated_cluster(X, y > 0, alpha=0.1, duration=0.02, random_state=6)
    assert not np.array_equal(one.trace.values, other.trace.values)


def test_steps_that_are_too_long_are_reported(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match="smaller learning_rate"):
        found = simulated_cluster(
            X, y, loss="squared", scheme="full", duration=3.0, learning_rate=50.0, random_state=0
        )
    assert found.verdict == "diverged"
    assert found.value <= found.trace.values[0]
    assert "smaller learning_rate" in found.message


# ---- bad input -----------------------------------------------------------------------------------


def test_bad_input(data):
    X, y = data
    with pytest.raises(ParameterError, match="scheme='gradient' is not known"):
        distributed_descent(X, y > 0, scheme="gradient")
    with pytest.raises(ParameterError, match=r"loss='logistics' is not known.*Did you mean"):
        distributed_descent(X, y > 0, loss="logistics")
    with pytest.raises(ParameterError, match="cannot be sent to another process"):
        distributed_descent(X, y, loss=lambda *_: (0.0, X[0]))
    with pytest.raises(ParameterError, match="learning_rate is needed"):
        distributed_descent(X, y, loss=np.linalg.norm)
    with pytest.raises(ParameterError, match='takes loss="multinomial"'):
        distributed_descent(X, y > 0, scheme="model")
    with pytest.raises(ParameterError, match="more than the 2 classes"):
        distributed_descent(X, y > 0, loss="multinomial", scheme="model", n_workers=3)
    with pytest.raises(ParameterError, match="more than the 2 rows"):
        distributed_descent(X[:2], [0, 1], n_workers=3)
    with pytest.raises(ParameterError, match="n_workers=0"):
        distributed_descent(X, y > 0, n_workers=0)
    with pytest.raises(InputError, match="y has 3 classes"):
        distributed_descent(X, np.arange(301) % 3)
    with pytest.raises(InputError, match="missing or infinite"):
        distributed_descent(np.where(X > 2, np.nan, X), y > 0)
    with pytest.raises(InputError, match="one row of X per entry of y"):
        distributed_descent(X, y[:-1] > 0)
    with pytest.raises(InputError, match="x0 has 3 entries; this loss takes 4"):
        distributed_descent(X, y > 0, x0=np.zeros(3))
    with pytest.raises(ParameterError, match="alpha=-1"):
        distributed_descent(X, y > 0, alpha=-1)
    with pytest.raises(ParameterError, match="scheme='model' is not known"):
        simulated_cluster(X, y > 0, scheme="model")
    with pytest.raises(ParameterError, match="duration=0"):
        simulated_cluster(X, y > 0, duration=0)
    with pytest.raises(ParameterError, match="spread=-1"):
        Delays(spread=-1)
