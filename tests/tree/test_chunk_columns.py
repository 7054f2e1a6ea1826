"""Trees on rows in chunks: the same bins, the same trees, whatever the chunks."""

import tempfile
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core import scratch
from bottega.core.errors import InputError
from bottega.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from bottega.tree import TreeClassifier, TreeRegressor
from bottega.tree._grow import chunk_columns
from bottega.tree._grow.bins import Bins
from bottega.workbench.persist import trusted_types

N = 400
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 3))
X[rng.random((N, 3)) < 0.05] = np.nan
Y = np.nan_to_num(X[:, 0]) ** 2 + np.nan_to_num(X[:, 1]) + 0.3 * rng.normal(size=N)
LABEL = np.array(["a", "b", "c"])[np.digitize(Y, [0, 1])]

IN_MEMORY = {  # what a fit in memory takes to do what a fit in chunks does
    TreeRegressor: {"thresholds": "binned", "max_leaf_nodes": 12},
    TreeClassifier: {"thresholds": "binned", "ccp_alpha": 0.01},
    RandomForestRegressor: {"n_estimators": 3},
    RandomForestClassifier: {"n_estimators": 3, "max_features": 1},
    AdaBoostClassifier: {"thresholds": "binned", "n_estimators": 5},
}


def target_of(each):
    return LABEL if each.card.task == "classification" else Y


def cut(ends, *arrays):
    return [tuple(each[a:b] for each in arrays) for a, b in pairwise(ends)]


def shown(model, rows):
    found = model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)
    return np.asarray(found)


@pytest.fixture(scope="module")
def whole():
    """What the fits in memory predict."""
    return {
        each: shown(each(**options).fit(X, target_of(each)), X)
        for each, options in IN_MEMORY.items()
    }


@settings(max_examples=6, deadline=None)
@given(ends=st.lists(st.integers(0, N), max_size=6), few=st.sampled_from([1, 1 << 22]))
def test_the_answer_is_that_of_all_rows_in_memory(whole, ends, few):
    ends = sorted({0, N, *ends})
    kept = chunk_columns.FEW_NUMBERS
    chunk_columns.FEW_NUMBERS = few  # 1: nothing stays from the first pass
    try:
        for each, options in IN_MEMORY.items():
            free = {name: value for name, value in options.items() if name != "thresholds"}
            model = each(**free).fit_chunks(cut(ends, X, target_of(each)))
            np.testing.assert_array_equal(shown(model, X), whole[each])
    finally:
        chunk_columns.FEW_NUMBERS = kept


def test_bins_of_many_rows_are_learnt_from_the_same_rows(monkeypatch):
    monkeypatch.setattr("bottega.tree._grow.bins.SAMPLE", 100)  # as of more than 100,000 rows
    monkeypatch.setattr(chunk_columns, "FEW_NUMBERS", 1)
    for each in (TreeRegressor, RandomForestRegressor):
        whole = each(**IN_MEMORY[each]).fit(X, Y)
        chunked = each(**IN_MEMORY[each]).fit_chunks(cut([0, 7, 300, N], X, Y))
        np.testing.assert_array_equal(chunked.predict(X), whole.predict(X))


@pytest.mark.parametrize("each", [GradientBoostingRegressor, GradientBoostingClassifier])
def test_boosting_is_that_in_memory_where_every_value_has_a_bin(each):
    rounded, y = X.round(1), target_of(each)
    whole = each(n_estimators=4).fit(rounded, y)
    chunked = each(n_estimators=4).fit_chunks(cut([0, 30, 31, N], rounded, y))
    np.testing.assert_allclose(shown(chunked, rounded), shown(whole, rounded), rtol=1e-12)
    # Of other columns the cut points differ: the fit is about as good.
    error = {
        "whole": np.mean(
            (GradientBoostingRegressor(n_estimators=30).fit(X, Y).predict(X) - Y) ** 2
        ),
        "chunks": np.mean(
            (
                GradientBoostingRegressor(n_estimators=30)
                .fit_chunks(cut([0, 100, N], X, Y))
                .predict(X)
                - Y
            )
            ** 2
        ),
    }
    assert error["chunks"] < 1.2 * error["whole"]


def test_the_path_is_that_in_memory_where_every_value_has_a_bin():
    rounded = X.round(1)
    whole = TreeRegressor(thresholds="binned", cv=3).fit(rounded, Y)
    chunked = TreeRegressor(cv=3).fit_chunks(cut([0, 90, N], rounded, Y))
    np.testing.assert_allclose(chunked.path_.error, whole.path_.error, rtol=1e-9)
    np.testing.assert_array_equal(chunked.predict(rounded), whole.predict(rounded))


def messy():
    """Texts with a late level, a column that is missing in the first chunk, truth values."""
    town = rng.choice(["Rome", "Milan"], N).astype(object)
    town[-4:] = "Turin"
    town[5] = None
    return pd.DataFrame(
        {
            "size": X[:, 0],
            "late": np.where(np.arange(N) < 100, np.nan, X[:, 1]),
            "town": town,
            "member": rng.random(N) < 0.5,
        }
    )


@pytest.mark.parametrize("each", [TreeClassifier, RandomForestRegressor])
def test_frames_with_texts_and_late_levels(each):
    frame, y = messy(), target_of(each)
    options = IN_MEMORY[each]
    whole = each(**options).fit(frame, y)
    chunks = [(frame[:100], y[:100]), (frame[100:100], y[:0])]
    chunks += [(frame[100:].iloc[:, ::-1], y[100:])]  # columns may come in another order
    chunked = each(**options).fit_chunks(chunks)
    np.testing.assert_array_equal(shown(chunked, frame), shown(whole, frame))
    assert chunked.columns_in_.levels[2] == ["Milan", "Rome", "Turin"]


def test_numbers_declared_as_categories():
    table = np.column_stack([rng.integers(0, 6, N), X[:, 0]])
    y = np.isin(table[:, 0], [1, 4]) + 0.1 * rng.normal(size=N)
    options = {"categorical_features": [0], "max_depth": 2}
    whole = TreeRegressor(thresholds="binned", **options).fit(table, y)
    chunked = TreeRegressor(**options).fit_chunks(cut([0, 3, N], table, y))
    np.testing.assert_array_equal(chunked.predict(table), whole.predict(table))
    assert chunked.columns_in_.levels[0] == ["0", "1", "2", "3", "4", "5"]


@settings(max_examples=30, deadline=None)
@given(
    values=st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=400),
    seed=st.integers(0, 99),
)
def test_what_stands_for_a_bin_has_its_code(values, seed):
    column = np.array(values)
    more = np.random.default_rng(seed).normal(size=300)  # beyond 255 values: quantiles
    table = np.concatenate([column, more] if seed % 2 else [column])[:, None]
    bins = Bins.learn(table, np.array([False]), np.array([0]))
    codes = bins.encode(table)
    decoded = bins.decode(codes)
    np.testing.assert_array_equal(bins.encode(decoded), codes)
    assert np.all(np.isfinite(decoded))


def test_large_arrays_are_in_a_file(monkeypatch, tmp_path):
    monkeypatch.setattr(scratch, "_IN_MEMORY", 100)
    monkeypatch.setattr(chunk_columns, "FEW_NUMBERS", 1)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    chunks = cut([0, 30, N], X, Y)
    filed = TreeRegressor(max_depth=3).fit_chunks(chunks)
    monkeypatch.setattr(scratch, "_IN_MEMORY", 1 << 30)
    np.testing.assert_array_equal(
        filed.predict(X), TreeRegressor(max_depth=3).fit_chunks(chunks).predict(X)
    )
    assert not list(tmp_path.iterdir())  # nothing is left of it

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(scratch, "_IN_MEMORY", 100)
    monkeypatch.setattr(scratch.os, "posix_fallocate", full, raising=False)
    with pytest.raises(InputError, match=r"No room for .* No space left .*TMPDIR"):
        TreeRegressor().fit_chunks(chunks)


def test_columns_of_marks_are_known_in_chunks_as_in_memory():
    rows = np.column_stack([X, rng.integers(0, 2, (N, 2)), np.full(N, 1.0)])
    rows[:, 3][::50] = np.nan
    rows[:, 1] = np.clip(rows[:, 1], 0, 1)  # its ends are those of marks
    rows[:2, 1] = 0, 1
    options = IN_MEMORY[TreeClassifier]
    whole = TreeClassifier(**options).fit(rows, LABEL)
    chunked = TreeClassifier(**options).fit_chunks(cut([0, 30, N], rows, LABEL))
    np.testing.assert_array_equal(chunked._boolean, whole._boolean)
    assert chunked._boolean.tolist() == [False, False, False, True, True, True]
    np.testing.assert_array_equal(shown(chunked, rows), shown(whole, rows))


def refused(model, match, chunks=None):
    with pytest.raises(InputError, match=match):
        model.fit_chunks(chunks or cut([0, 200, N], X, target_of(type(model))))
    assert not hasattr(model, "n_features_in_")


def test_what_needs_the_rows_themselves_is_refused():
    refused(TreeRegressor(thresholds="random"), "grows the tree on bins.*thresholds='random'")
    refused(TreeRegressor(splitter="random"), "splitter='random'")
    refused(TreeRegressor(criterion="absolute_error"), "criterion='absolute_error'")
    refused(TreeRegressor(monotonic_cst=[1, 0, 0]), "monotonic_cst")
    refused(TreeRegressor(missing="surrogate"), "missing='surrogate'")
    refused(RandomForestRegressor(ccp_alpha=0.1), "leave out ccp_alpha")
    refused(AdaBoostClassifier(TreeClassifier()), "boosts trees, not TreeClassifier")
    two = np.column_stack([Y, Y])
    refused(TreeRegressor(), "one response only", cut([0, N], X, two))
    refused(
        TreeClassifier(class_weight={"a": 0.0, "b": 1.0, "c": 1.0}), "weight of 0; leave its rows"
    )


def test_chunks_that_do_not_go_together_are_refused():
    refused(TreeRegressor(), "no rows to fit", [(X[:0], Y[:0])])
    refused(TreeRegressor(), "Chunk 2 has 2 columns and the first one 3",
            [(X[:9], Y[:9]), (X[9:, :2], Y[9:])])  # fmt: skip
    frame = messy()
    number = frame.assign(town=1.0)
    refused(TreeRegressor(), r"Column 'town' holds a category in one chunk and a number",
            [(frame[:9], Y[:9]), (number[9:], Y[9:])])  # fmt: skip
    refused(TreeRegressor(), "other columns than the first one: without 'town'",
            [(frame[:9], Y[:9]), (frame[9:].rename(columns={"town": "city"}), Y[9:])])  # fmt: skip


def test_a_boosted_model_of_chunks_is_stored_with_its_bins():
    model = GradientBoostingRegressor(n_estimators=3).fit_chunks(cut([0, 9, N], X, Y))
    content = skops.io.dumps(model)
    assert not set(skops.io.get_untrusted_types(data=content)) - set(trusted_types())
    loaded = skops.io.loads(content, trusted=trusted_types())
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    again = model.fit(X, Y)  # in memory, where values are read as they are
    assert again.columns_in_.bins is None


def test_many_rows_are_not_kept_while_parts_are_read_side_by_side(monkeypatch):
    monkeypatch.setattr(chunk_columns, "FEW_NUMBERS", 100)
    few = chunk_columns._FewNumbers()
    block, y = np.zeros((20, 2)), np.zeros(20)
    found = [chunk_columns.facts_of_block(block, y, None, few=few)[0] for _ in range(4)]
    assert [each is not None for each in found] == [True, True, False, False]
