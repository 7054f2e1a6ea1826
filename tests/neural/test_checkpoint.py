"""A training that is killed goes on from its file, with the same result."""

import os
import subprocess
import sys
from pathlib import Path as FilePath

import numpy as np
import pytest

from bottega.core import progress
from bottega.core.errors import InputError
from bottega.neural import NetworkRegressor
from bottega.neural._training import checkpoint

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] * X[:, 1]
OPTIONS = {"max_iter": 12, "batch_size": 16, "keep": 0.7, "batch_norm": True}


def model(**more):
    return NetworkRegressor((6,), **(OPTIONS | more))


TIED = model().fit(X, Y)


def stop_at(epoch):
    def listener(event):
        if event.done == epoch:
            raise KeyboardInterrupt

    return progress.listen(listener)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"early_stopping": True},
        {"n_starts": 2, "solver": "sgd", "learning_rate": "adaptive"},
        {"solver": "lbfgs", "keep": None, "batch_norm": False, "max_fun": 10},
    ],
    ids=["plain", "stopping", "starts", "lbfgs"],
)
@pytest.mark.filterwarnings("ignore:.*L-BFGS has not converged")
def test_an_interrupted_training_ends_as_if_it_had_not_been(tmp_path, more):
    file = str(tmp_path / "run.npz")
    straight = model(**more).fit(X, Y)
    for epoch in (3, 8):
        with pytest.raises(KeyboardInterrupt), stop_at(epoch):
            model(checkpoint=file, **more).fit(X, Y)
    resumed = model(checkpoint=file, **more).fit(X, Y)
    assert np.array_equal(resumed.predict(X), straight.predict(X))
    assert resumed.loss_curve_ == straight.loss_curve_
    # What is finished is read from the file: no epoch is run again.
    seen = []
    with progress.listen(seen.append):
        again = model(checkpoint=file, **more).fit(X, Y)
    assert not seen
    assert np.array_equal(again.predict(X), straight.predict(X))


@pytest.mark.slow  # a new process imports everything
def test_a_killed_process_leaves_a_file_to_go_on_from(tmp_path):
    file = tmp_path / "run.npz"
    code = f"""
import os
import numpy as np
from bottega.core import progress
from bottega.neural import NetworkRegressor
from bottega.neural._training import checkpoint
checkpoint.EVERY = 0.0
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
def die(event):
    if event.done == 9:
        os.kill(os.getpid(), 9)
with progress.listen(die):
    NetworkRegressor((6,), checkpoint={str(file)!r}, **{OPTIONS!r}).fit(X, X[:, 0] * X[:, 1])
"""
    source = FilePath(checkpoint.__file__).parents[3]
    found = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(source)}, check=False
    )
    assert found.returncode != 0
    assert file.exists()
    seen = []
    with progress.listen(seen.append):
        resumed = model(checkpoint=str(file)).fit(X, Y)
    assert [event.done for event in seen] == [9, 10, 11, 12]
    assert np.array_equal(resumed.predict(X), model().fit(X, Y).predict(X))


def test_a_file_of_another_training_is_refused(tmp_path):
    file = str(tmp_path / "run.npz")
    model(checkpoint=file).fit(X, Y)
    with pytest.raises(InputError, match="on other rows, or with other parameters"):
        model(checkpoint=file).fit(X, -Y)
    with pytest.raises(InputError, match="on other rows, or with other parameters"):
        model(checkpoint=file, clip=0.5).fit(X, Y)
    for more in ({"alpha": 3.0}, {"loss": "huber"}, {"init": "he"}, {"tie": 1.0, "tie_to": TIED}):
        with pytest.raises(InputError, match="on other rows, or with other parameters"):
            model(checkpoint=file, **more).fit(X, Y)
    with pytest.raises(InputError, match="on other rows, or with other parameters"):
        model(checkpoint=file).fit(X, Y, sample_weight=np.arange(1.0, len(Y) + 1))
    for content in (b"no arrays", b"PK\x03\x04 cut off"):
        other = tmp_path / "other.npz"
        other.write_bytes(content)
        with pytest.raises(InputError, match="is no checkpoint of a training"):
            model(checkpoint=str(other)).fit(X, Y)


def test_a_full_disk_does_not_end_a_training(tmp_path, monkeypatch):
    write, calls = checkpoint.write_atomically, []

    def filled(path, content):
        calls.append(path)
        if len(calls) > 3:
            raise InputError(f"Cannot write {str(path)!r}: No space left on device.")
        return write(path, content)

    monkeypatch.setattr(checkpoint, "write_atomically", filled)
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    file = str(tmp_path / "run.npz")
    with pytest.warns(RuntimeWarning, match=r"goes on, and its checkpoint stays.*No space left"):
        found = model(checkpoint=file).fit(X, Y)
    assert np.array_equal(found.predict(X), model().fit(X, Y).predict(X))
    monkeypatch.undo()
    seen = []
    with progress.listen(seen.append):
        model(checkpoint=file).fit(X, Y)
    assert seen[0].done == 3  # the two epochs that were still written are not run again


def test_a_file_that_cannot_be_written_is_said_before_the_first_epoch(tmp_path):
    seen = []
    with (
        pytest.raises(InputError, match="Choose a folder that exists"),
        progress.listen(seen.append),
    ):
        model(checkpoint=str(tmp_path / "missing" / "run.npz")).fit(X, Y)
    assert not seen
