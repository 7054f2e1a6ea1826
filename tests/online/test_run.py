"""One answer from arrays, frames, files, queries and generators, in blocks of any size."""

import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from bottega.core.errors import InputError, ParameterError
from bottega.core.progress import listen
from bottega.data import Table
from bottega.online import (
    ExponentialWeights,
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
    OnlineRidge,
    Perceptron,
    RegretTracker,
    StreamError,
    run,
)

N = 1500


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = (X @ [1.0, 2.0, -1.0] + rng.normal(size=N) > 0).astype(int)
    return X, y, pd.DataFrame(X, columns=list("abc")).assign(label=y)


def model():
    return OnlineGradientDescentClassifier(projection="ball", radius=2.0)


@pytest.fixture(scope="module")
def expected(data):
    X, y, _ = data
    learner = model()
    losses = learner.learn_block(X, y)
    return learner.coef_, losses


def rows_of(X, y):
    yield from zip(X, y, strict=True)


def sources(data, folder):
    X, y, frame = data
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet")
    with duckdb.connect(str(folder / "rows.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    lite = sqlite3.connect(":memory:")
    frame.to_sql("t", lite, index=False)
    names = ["a", "b", "c"]
    return {
        "arrays": (X, y),
        "lists": (X.tolist(), y.tolist()),
        "sparse": (sparse.csr_matrix(X), y),
        "frame and labels": (frame[names], y),
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "table": Table(frame, target="label", task="classification", kinds={"label": "number"}),
        "blocks": ((X[i : i + 400], y[i : i + 400]) for i in range(0, N, 400)),
        "chunks with no weights": [(X[:10], y[:10], None), (X[10:], y[10:], None)],
        "rows": rows_of(X, y),
        "lists of numbers": ((row.tolist(), label) for row, label in zip(X, y, strict=True)),
        "named rows": ((dict(zip(names, r, strict=True)), t) for r, t in zip(X, y, strict=True)),
        "sparse rows": ((sparse.csr_matrix(r[None]), t) for r, t in zip(X, y, strict=True)),
        "frames": (frame.iloc[i : i + 333] for i in range(0, N, 333)),
        "csv": folder / "rows.csv",
        "parquet": str(folder / "rows.parquet"),
        "duckdb file": folder / "rows.duckdb",
        "relation": duckdb.sql("SELECT * FROM frame"),
        "connection": duckdb.connect().execute("SELECT * FROM frame"),
        "cursor": lite.execute("SELECT a, b, c, label FROM t"),
    }


def test_the_same_answer_from_every_source(data, expected, tmp_path):
    coef, losses = expected
    given = sources(data, tmp_path)
    for name, source in given.items():
        learner = model()
        done = run(learner, source, classes=[0, 1], target="label", block=256)
        assert done.rows == N, name
        assert np.allclose(learner.coef_, coef, rtol=1e-12), name  # text keeps 17 digits
        assert done.risk == pytest.approx(losses.mean(), rel=1e-12), name
    given["cursor"].connection.close()


@pytest.mark.parametrize(
    "learner",
    [
        model(),
        Perceptron(average=True),
        OnlineRidge(),
        OnlineGradientDescentRegressor(learning_rate="adagrad", alpha=0.1),
    ],
)
@pytest.mark.parametrize("block", [1, 13, 5000])
def test_the_same_answer_in_blocks_of_any_size(data, learner, block):
    from sklearn.base import clone

    X, y, _ = data
    X, y = X[:300], y[:300]
    whole, other = clone(learner), clone(learner)
    first = run(whole, (X, y), block=300)
    second = run(other, (X, y), block=block)
    assert np.array_equal(whole.coef_, other.coef_)
    assert np.array_equal(first.curve_rows, second.curve_rows)
    assert np.allclose(first.curve_risk, second.curve_risk, rtol=1e-12)


def test_the_curve_is_the_running_mean(data, expected):
    X, y, _ = data
    _, losses = expected
    done = run(model(), (X, y), block=17)
    running = np.cumsum(losses) / np.arange(1, N + 1)
    assert done.curve_rows[-1] == N
    assert np.allclose(done.curve_risk, running[done.curve_rows - 1], rtol=1e-12)
    frame = done.to_frame("polars")
    assert frame.columns == ["rows", "risk"]
    assert str(done).startswith("OnlineGradientDescentClassifier: 1,500 rows, sequential risk 0.3")
    assert done.rate == pytest.approx(done.rows / done.seconds)
    assert done.plot().to_dict()["layer"]


def test_with_a_tracker(data, expected):
    X, y, _ = data
    learner = model()
    tracker = RegretTracker(learner)
    done = run(learner, rows_of(X, y), classes=[0, 1], tracker=tracker, block=100)
    assert np.allclose(learner.coef_, expected[0])
    assert done.tracker is tracker
    assert tracker.rows == done.rows
    assert tracker.risk == pytest.approx(done.risk)
    assert tracker.average_regret < tracker.bound
    with pytest.raises(InputError, match="follows another learner"):
        run(model(), (X, y), tracker=tracker)


def test_experts_run_too():
    rng = np.random.default_rng(0)
    P, y = rng.random((200, 3)), rng.random(200)
    learner = ExponentialWeights()
    done = run(learner, (P, y), tracker=RegretTracker(learner), block=50)
    assert done.total_loss == pytest.approx(learner.loss_)


def test_a_second_run_goes_on(data, expected):
    X, y, _ = data
    learner = model()
    run(learner, (X[:700], y[:700]))
    run(learner, (X[700:], y[700:]))
    assert np.allclose(learner.coef_, expected[0])
    assert learner.n_samples_seen_ == N


def test_labels_are_read_beforehand_where_they_are_at_hand():
    X = np.arange(40.0)[:, None]
    y = np.repeat(["a", "b", "c", "d"], 10)
    learner = Perceptron()
    run(learner, (X, y), block=10)
    assert learner.classes_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(StreamError, match=r"Row 3 .*'b'.* is not among"):
        run(Perceptron(), rows_of(X[8:], y[8:]), block=4, classes=["a", "z"])


def test_progress_is_reported(data):
    X, y, _ = data
    seen = []
    with listen(seen.append):
        run(model(), (X, y), block=500)
        run(model(), rows_of(X, y), block=1000, classes=[0, 1])
    assert [(event.done, event.total) for event in seen] == [
        (500, N),
        (1000, N),
        (N, N),
        (1000, 1000),
        (N, N),
    ]
    assert seen[0].message.startswith("risk 0.")


# ---- a stream that breaks off --------------------------------------------------------------------


def broken(kind, X, y):
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        if i == 777 and kind == "missing value":
            row = np.array([row[0], np.nan, row[2]])
        if i == 777 and kind == "infinite value":
            row = np.array([row[0], np.inf, row[2]])
        if i == 777 and kind == "other label":
            label = 7
        if i >= 777 and kind == "other width":
            row = row[:2]
        if i == 777 and kind == "its own error":
            raise RuntimeError("the sensor is gone")
        yield row, label


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize("block", [1, 100, 5000])
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("missing value", "NaN"),
        ("infinite value", "infinity"),
        ("other label", "7.* is not among the classes"),
        ("other width", "2 features"),
        ("its own error", "the sensor is gone"),
    ],
)
def test_the_row_is_named_and_what_was_learned_stays(data, kind, message, block, tracked):
    X, y, _ = data
    learner = model()
    tracker = RegretTracker(learner, max_rows=50) if tracked else None
    with pytest.raises(StreamError, match=message) as caught:
        run(learner, broken(kind, X, y), classes=[0, 1], block=block, tracker=tracker)
    before = model()
    losses = before.learn_block(X[:777], y[:777])
    assert caught.value.row == 778
    assert "Row 778 of the stream" in str(caught.value)
    assert caught.value.run.rows == learner.n_samples_seen_ == 777
    assert caught.value.run.risk == pytest.approx(losses.mean(), rel=1e-12)
    assert np.allclose(learner.coef_, before.coef_, rtol=1e-12)
    running = np.cumsum(losses) / np.arange(1, 778)
    curve = caught.value.run
    assert np.allclose(curve.curve_risk, running[curve.curve_rows - 1], rtol=1e-10)
    if tracker is not None:
        assert tracker.rows == 777


def test_a_bad_row_in_an_array_and_in_a_frame(data):
    X, y, frame = data
    wrong = X.copy()
    wrong[1234, 1] = np.nan
    with pytest.raises(StreamError, match="Row 1,235"):
        run(model(), (wrong, y))
    holes = frame.copy()
    holes.loc[5, "b"] = np.nan
    with pytest.raises(StreamError, match="Row 6"):
        run(model(), holes, target="label")


def test_a_bad_first_row_leaves_nothing():
    learner = model()
    with pytest.raises(StreamError, match="Row 1 of the stream") as caught:
        run(learner, (np.full((3, 2), np.nan), [0, 1, 0]))
    assert caught.value.run is None
    assert not hasattr(learner, "n_samples_seen_")


# ---- what is no stream ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (42, "is not a stream of rows"),
        ([], "gave no rows"),
        ([1, 2, 3], "The stream gave a int"),
        ([(np.ones((2, 2)), [0, 1], np.ones(2))], "with weights"),
        ([({"a": "red"}, 0), ({"a": "blue"}, 1)], "hashed_rows"),
        ((np.ones((3, 2)), [0, 1]), "one truth per row"),
        ("no-such-file.csv", "There is no file"),
    ],
)
def test_what_is_no_stream(stream, message):
    with pytest.raises(InputError, match=message):
        run(model(), stream, classes=[0, 1], target="label")


def test_bad_arguments(data):
    X, y, frame = data
    with pytest.raises(InputError, match="no learn_block"):
        run(SGDClassifier(), (X, y))
    with pytest.raises(ParameterError, match="block=0"):
        run(model(), (X, y), block=0)
    with pytest.raises(InputError, match="Which column"):
        run(model(), frame)
    with pytest.raises(InputError, match="Did you mean 'label'"):
        run(model(), frame, target="lable")
    with pytest.raises(InputError, match="has no target"):
        run(model(), Table(frame))
