"""Chunks of numbers: what is learnt from chunk after chunk is what is learnt from all rows."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from bottega.core.errors import InputError
from bottega.data import Encoder, Table, chunks, read
from bottega.data._encode import statistics
from bottega.data._encode.statistics import NumberStatistics
from bottega.registry import estimators

N = 9_000


@pytest.fixture(scope="module")
def frame():
    """A table with every kind of column, gaps, and rows without a target."""
    rng = np.random.default_rng(0)
    size = rng.normal(50, 20, N)
    colour = rng.choice(["red", "blue", "green"], N).astype(object)
    rare = np.where(np.arange(N) > N - 40, "late", "early").astype(object)  # a level at the end
    whole = pd.DataFrame(
        {
            "key": np.arange(N) + 7,
            "size": size,
            "count": rng.integers(0, 9, N),
            "colour": colour,
            "rare": rare,
            "member": rng.choice(["yes", "no"], N),
            "flag": rng.integers(0, 2, N).astype(bool),
            "same": 3.5,
            "comment": [f"row {i} says something rather long about itself" for i in range(N)],
            "weight": rng.integers(0, 3, N).astype(float),
            "y": 2 * size + rng.normal(size=N) + 5 * (colour == "red"),
        }
    )
    whole["day"] = np.datetime64("2020-01-01") + rng.integers(0, 900, N).astype("timedelta64[D]")
    whole.loc[::7, "size"] = np.nan
    whole.loc[5::11, "colour"] = None
    whole.loc[4_100:4_110, "day"] = None
    whole.loc[3::500, "y"] = np.nan
    return whole


@pytest.fixture
def folder(frame, tmp_path):
    for number, start in enumerate(range(0, N, 3_500)):
        frame[start : start + 3_500].to_parquet(tmp_path / f"part{number}.parquet")
    return str(tmp_path / "*.parquet")


def together(found):
    parts = list(found)
    return [np.concatenate([np.asarray(part[i]) for part in parts]) for i in range(len(parts[0]))]


@pytest.mark.parametrize("standardize", [False, True, "min-max"])
def test_chunks_are_the_encoded_table(folder, standardize):
    encoder = Encoder(standardize=standardize)
    table = read(folder, target="y", weight="weight")
    expected = clone(encoder).set_params(kinds=table.kinds).fit(table.X)
    found = chunks(folder, target="y", weight="weight", rows=2_000, encoder=encoder)
    assert found.kinds == table.kinds
    assert found.encoder.levels_ == expected.levels_
    assert found.encoder.missing_level_ == expected.missing_level_
    np.testing.assert_array_equal(found.encoder.fill_, expected.fill_)
    np.testing.assert_array_equal(found.encoder.marked_, expected.marked_)
    # Means of blocks in another order of summation.
    np.testing.assert_allclose(found.encoder.center_, expected.center_, rtol=1e-12)
    np.testing.assert_allclose(found.encoder.scale_, expected.scale_, rtol=1e-12)
    for _ in range(2):  # as often as one likes
        X, y, w = together(found)
        np.testing.assert_allclose(X, expected.transform(table.X), rtol=1e-11, atol=1e-11)
        np.testing.assert_array_equal(y, table.y)
        np.testing.assert_array_equal(w, table.weight)
    first, *_ = next(iter(found))
    assert list(first.columns) == expected.get_feature_names_out().tolist()


# Gradient boosting has cut points of its own in chunks: see tests/tree/test_chunk_columns.py. What
# takes no weights, and no negative numbers, is in tests/latent/test_factor_chunks.py.
OTHERS = ("GradientBoostingClassifier", "GradientBoostingRegressor")
CHUNKED = [
    each
    for each in estimators()
    if each.card.chunks and each.card.weights and each.__name__ not in OTHERS
]
# Networks see the rows in their order, and scale them by moments that blocks add up to.
IN_ORDER = {"hidden_layer_sizes": (4,), "max_iter": 3, "shuffle": False, "dtype": "float64"}
# What is found by iteration is the same to its tolerance: a relative gap of 1e-12 in the likelihood
# leaves about its root, 1e-6, in the probabilities.
SETTINGS = {
    "AdaBoostClassifier": ({"thresholds": "binned", "n_estimators": 10}, 1e-9),
    "NetworkClassifier": (IN_ORDER, 1e-9),
    "NetworkRegressor": (IN_ORDER, 1e-9),
    "TreeClassifier": ({"thresholds": "binned", "ccp_alpha": 0.01}, 1e-9),
    "TreeRegressor": ({"thresholds": "binned", "ccp_alpha": 0.01}, 1e-9),
    "LogisticRegression": ({"tol": 1e-12}, 1e-6),
    "KMeans": ({"n_clusters": 3, "random_state": 0}, 1e-9),
    "GaussianMixture": (
        {"n_components": 2, "covariance_type": "diag", "random_state": 0, "tol": 1e-9},
        1e-6,
    ),
    "FactorAnalysis": ({"n_components": 1}, 1e-6),
    "PCA": ({"n_components": 2}, 1e-9),
    "ProbabilisticPCA": ({"n_components": 2}, 1e-9),
}


# One column per level is collinear with the intercept, of which least squares warns.
@pytest.mark.filterwarnings("ignore::bottega.core.errors.DataWarning")
@pytest.mark.parametrize("each", CHUNKED, ids=lambda each: each.__name__)
def test_every_fit_in_chunks_is_the_fit_of_the_encoded_table(each, folder):
    target = "member" if each.card.task == "classification" else "y"
    found = chunks(folder, target=target, weight="weight", rows=2_000)
    table = read(folder, target=target, weight="weight")
    encoder = Encoder(standardize=False, kinds=table.kinds).fit(table.X)
    names = encoder.get_feature_names_out()
    X = pd.DataFrame(encoder.transform(table.X), columns=names)
    settings, near = SETTINGS.get(each.__name__, ({}, 1e-9))
    made = each(**settings)
    whole = clone(made).fit(X, table.y, sample_weight=table.weight)
    parts = clone(made).fit_chunks(found)
    assert parts.feature_names_in_.tolist() == names.tolist()
    answers = [
        next(
            getattr(model, name)(X)
            for name in ("predict_proba", "decision_function", "score_samples", "predict")
            if hasattr(model, name)
        )
        for model in (parts, whole)
    ]
    size = np.ptp(answers[1])
    np.testing.assert_allclose(answers[0], answers[1], rtol=near, atol=near * size)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_and_kinds_that_are_given(make):
    data = make(
        {"zip": [10, 20, 10, 30, 20], "x": ["1", "2", "3", None, "5"], "y": [1.0, 2, 3, 4, 5]}
    )
    kinds = {"zip": "category", "x": "number"}
    found = chunks(data, target="y", rows=2, kinds=kinds)
    table = Table(data, target="y", kinds=kinds)
    X, y = together(found)
    encoder = Encoder(standardize=False, kinds=table.kinds).fit(table.X)
    np.testing.assert_array_equal(X, encoder.transform(table.X))
    np.testing.assert_array_equal(y, table.y)
    assert isinstance(next(iter(found))[0], make)


def test_labels_and_a_query_of_a_database(tmp_path, frame):
    path = tmp_path / "rows.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT size, colour, member FROM frame")
    found = chunks(path, target="member", query="SELECT * FROM t WHERE size > 60", rows=3_000)
    _, y = together(found)
    expected = frame["member"][frame["size"] > 60]
    assert y.tolist() == expected.tolist()
    assert found.kinds == {"size": "number", "colour": "category"}


@pytest.mark.parametrize("n", [999, 1000])
def test_medians_of_columns_too_long_to_keep(monkeypatch, n):
    """Found digit by digit: exact for every number, ties, signs and gaps included."""
    rng = np.random.default_rng(1)
    X = np.column_stack(
        [
            rng.normal(size=n) * 10.0 ** rng.integers(-100, 100, n),
            rng.integers(-2, 3, n),
            np.where(np.arange(n) % 2, -1.5, 2.5),
            np.full(n, np.nan),
            rng.normal(size=n),
        ]
    )
    X[::3, 4] = np.nan
    monkeypatch.setattr(statistics, "HELD", 500)
    blocks = [X[i : i + 100] for i in range(0, n, 100)]
    found = NumberStatistics()
    for block in blocks:
        found.update(block)
    with np.errstate(all="ignore"):
        expected = [0.0 if j == 3 else np.nanmedian(X[:, j]) for j in range(5)]
    np.testing.assert_array_equal(found.medians(lambda: iter(blocks)), expected)
    np.testing.assert_array_equal(NumberStatistics().update(X).medians(), expected)
    np.testing.assert_allclose(found.mean[[1, 2, 4]], np.nanmean(X[:, [1, 2, 4]], axis=0))
    assert found.seen.tolist() == np.sum(~np.isnan(X), axis=0).tolist()


def test_whole_numbers_that_repeat_in_another_chunk_are_no_key():
    data = pd.DataFrame({"id": np.tile(np.arange(50), 2), "x": np.arange(100.0)})
    data["y"] = data["x"] + 1
    assert chunks(data, target="y", rows=50).kinds == {"id": "number", "x": "number"}
    once = data[:50]
    expected = Table(once, target="y").kinds
    assert chunks(once, target="y", rows=20).kinds == expected == {"x": "number"}


def test_what_cannot_be_used_in_chunks(folder, frame):
    with pytest.raises(InputError, match="the rows of an executed query come once"):
        chunks(duckdb.sql("SELECT * FROM frame"), target="y")
    with pytest.raises(InputError, match="There is no column 'yy' to use as target"):
        chunks(folder, target="yy")
    with pytest.raises(InputError, match="kinds names a column 'colors'"):
        chunks(folder, target="y", kinds={"colors": "category"})
    with pytest.raises(InputError, match="No column is left to learn from"):
        chunks(frame[["key", "y"]], target="y")
    mixed = pd.DataFrame({"x": ["1", "2", "3", "4", "a"], "y": 1.0})
    assert (
        chunks(mixed, target="y", rows=2).kinds == Table(mixed.assign(y=range(5)), target="y").kinds
    )
    gone = pd.DataFrame({"x": [None, None, None], "z": [1.0, 2, 3], "y": 1.0})
    assert chunks(gone, target="y", rows=2).kinds == {"z": "number"}
