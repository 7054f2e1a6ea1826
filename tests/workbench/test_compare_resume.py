"""A file to resume from: what is done is not done again, and nothing else is taken for it."""

import json

import numpy as np
import pandas as pd
import pytest

import bottega
from bottega.core import progress
from bottega.core.errors import InputError
from bottega.data import Table
from bottega.linear import Ridge
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.risk.estimate.nested_engine import Answer, Part, Task
from bottega.workbench.resume import Saved
from bottega.workbench.work import Work


def answer(losses):
    return Answer(losses, None, (losses,), None, np.nan, None, 1.0)


def test_resuming_does_not_repeat_what_is_done(tmp_path, monkeypatch):
    path = tmp_path / "so far.npz"
    call = {"methods": ["ridge", "neighbors", "tree"], "outer": 3, "stack": False}

    def stop(event):
        if event.stage == "comparing" and event.done == 7:
            raise KeyboardInterrupt

    with progress.listen(stop):
        part = bottega.compare("diabetes", resume=path, n_jobs=1, **call)
    assert part.interrupted
    with np.load(path, allow_pickle=False) as file:
        about = json.loads(file["about"].tobytes())
    assert len(about["answers"]) >= 5
    fits = []
    fit = Ridge._fit
    monkeypatch.setattr(Ridge, "_fit", lambda self, *given: fits.append(1) or fit(self, *given))
    whole = bottega.compare("diabetes", resume=path, **call)
    plain = bottega.compare("diabetes", **call)
    assert not whole.interrupted
    for name, result in plain.results.items():
        np.testing.assert_array_equal(whole.results[name].losses, result.losses)
        assert whole.results[name].fold_settings == result.fold_settings
    before = len(fits)
    again = bottega.compare("diabetes", resume=path, **call)
    assert len(fits) == before + 1  # the model of all rows
    assert again.predict(again.table.frame) == pytest.approx(plain.predict(plain.table.frame))


def test_folds_of_fewer_rows_are_kept_by_their_number(tmp_path):
    """What was learnt from some rows is of use to a run that learns from as many, not to others."""
    saved = Saved(tmp_path / "a.npz", {"call": 1}, None, [np.arange(2), np.arange(2, 4)])
    part = Part((0, (1,)), np.arange(2), (np.arange(2, 4),))
    saved.add("ridge", part, answer(np.array([1.0, 2.0])), 1_000)
    saved.add("ridge", part, answer(np.array([3.0, 4.0])))
    saved.write()
    again = Saved(tmp_path / "a.npz", {"call": 1}, None, [np.arange(2), np.arange(2, 4)])
    assert again.get("ridge", part, 1_000).losses[0].tolist() == [1.0, 2.0]
    assert again.get("ridge", part).losses[0].tolist() == [3.0, 4.0]
    assert again.get("ridge", part, 900) is None
    assert again.rows_of("ridge") == 1_000
    assert again.rows_of("tree") is None
    rows = JudgedRows(np.zeros(4), "regression")
    thin = Work(rows, saved=again, thinned={"ridge": 1_000})
    assert thin.known(Task("ridge", part)).losses[0].tolist() == [1.0, 2.0]


def test_classes_survive_the_file(tmp_path):
    call = {"methods": ["neighbors"], "outer": 3, "resume": tmp_path / "iris.npz"}
    first, second = (bottega.compare("iris", **call) for _ in range(2))
    assert np.array_equal(
        first.results["neighbors"].predicted, second.results["neighbors"].predicted
    )
    np.testing.assert_array_equal(
        first.results["neighbors"].probability, second.results["neighbors"].probability
    )


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"weights": "weight"}, "columns, weights"),
        ({"groups": "group"}, "data, columns, groups, folds"),
        ({"ignore": ("x0",)}, "columns"),
    ],
)
def test_other_roles_are_another_comparison(tmp_path, change, word):
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=60) for j in range(2)}
    columns |= {"weight": rng.uniform(1, 2, size=60), "group": np.repeat(np.arange(12), 5)}
    frame = pd.DataFrame(columns | {"y": rng.normal(size=60)})
    call = {"methods": ["least_squares"], "outer": 3, "stack": False, "resume": tmp_path / "a.npz"}
    bottega.compare(frame, "y", **call)
    change = dict(change)
    other = Table(frame, target="y", ignore=change.pop("ignore", ()))
    with pytest.raises(InputError, match=f"it differs in {word}"):
        bottega.compare(other, **call, **change)


def test_a_file_of_another_comparison_is_refused(tmp_path):
    path = tmp_path / "iris.npz"
    bottega.compare("iris", methods=["neighbors"], outer=3, resume=path)
    with pytest.raises(InputError, match=r"another comparison .it differs in outer."):
        bottega.compare("iris", methods=["neighbors"], outer=4, resume=path)
    path.write_bytes(b"something else")
    with pytest.raises(InputError, match="not a file that a comparison can resume from"):
        bottega.compare("iris", methods=["neighbors"], outer=4, resume=path)
    np.savez(path, about=np.frombuffer(b'{"format": "other"}', dtype=np.uint8))
    with pytest.raises(InputError, match="not a file that a comparison can resume from"):
        Saved(path, {}, None)
