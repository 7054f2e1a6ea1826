"""Moments do not depend on how the rows are cut."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from bottega.additive import AdditiveClassifier
from bottega.classify import NaiveBayes
from bottega.core.chunks import CheckedChunks, Mergeable
from bottega.core.errors import InputError
from bottega.core.labels import CodedLabels
from bottega.core.moments import Moments
from bottega.core.parts import RowSource
from bottega.core.rows import split_rows
from bottega.linear import BayesianRegression, Lasso, LeastSquares, Ridge
from bottega.online import OnlineGradientDescentRegressor, OnlineRidge
from bottega.scale import source


def exact_moments(X, w):
    """Mean and scatter in extended precision."""
    X, w = X.astype(np.longdouble), w.astype(np.longdouble)
    mean = (w[:, None] * X).sum(axis=0) / w.sum()
    centred = X - mean
    return mean, (w[:, None] * centred).T @ centred


def relative(found, expected):
    """Largest error, relative to the size of each entry's row and column."""
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    return float(np.max(np.abs(found - expected) / size))


def test_means_that_are_large_beside_the_spread_cost_no_digits():
    rng = np.random.default_rng(0)
    X = 1e8 + 1e-2 * rng.normal(size=(900, 2))
    total = Moments()
    for part in split_rows(900, 50):
        total.merge(Moments().update(X[part]))
    mean, scatter = exact_moments(X, np.ones(900))
    assert relative(total.scatter, scatter) < 1e-12
    np.testing.assert_allclose(total.mean, mean.astype(float), rtol=1e-15)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10_000),
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
    st.sampled_from([0.0, 1.0, 1e3]),
    st.booleans(),
)
def test_any_split_and_any_order_give_the_same_moments(seed, sizes, offset, weighted):
    rng = np.random.default_rng(seed)
    n = sum(sizes) + 1
    X = rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1] + offset
    w = rng.uniform(0.1, 2.0, size=n) if weighted else np.ones(n)
    given_weight = w if weighted else None
    cuts = np.cumsum([0, *sizes, 1])
    parts = [
        Moments().update(X[a:b], w=None if given_weight is None else w[a:b])
        for a, b in pairwise(cuts)
    ]
    rng.shuffle(parts)
    merged = Moments()
    for part in parts:
        merged.merge(part)
    mean, scatter = exact_moments(X, w)
    assert merged.count == n
    assert merged.weight == pytest.approx(w.sum(), rel=1e-14)
    # Means of blocks are rounded to eps times their size, and their gaps enter the scatter: what
    # counts is that rounding against the spread of the column.
    spread = np.sqrt(np.diag(np.asarray(scatter, dtype=float)) / w.sum())
    rounding = np.max(np.finfo(float).eps * np.abs(X).max(axis=0) / spread)
    assert relative(merged.scatter, scatter) < 1e-13 + 16 * rounding
    assert np.allclose(merged.mean, np.asarray(mean, dtype=float), rtol=1e-13, atol=1e-13)


def test_row_by_row_is_the_same_to_twelve_digits():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 2)) + 5
    whole = Moments().update(X)
    rows = Moments()
    for row in X:
        rows.update(row[None])
    assert relative(rows.scatter, whole.scatter) < 1e-12


def test_responses_join_the_columns_and_zero_weights_count_for_nothing():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    w = np.ones(30)
    w[5:] = 0
    kept = Moments().update(X, y, w)
    assert kept.count == 5
    assert kept.covariance() == pytest.approx(np.cov(np.column_stack([X, y])[:5].T))
    nothing = Moments().update(X, y, np.zeros(30))
    assert nothing.count == 0
    assert Moments().update(X[:0]).count == 0
    assert isinstance(nothing, Mergeable)


def test_wrong_chunks_are_named():
    with pytest.raises(InputError, match="2 so far, 3 now"):
        Moments().update(np.ones((2, 2))).update(np.ones((2, 3)))
    with pytest.raises(InputError, match="1-D"):
        Moments().update(np.ones(3))
    two = np.ones((2, 1)), np.ones(2)
    with pytest.raises(InputError, match="Chunk 1 is sparse"):
        list(CheckedChunks([(csr_array(np.eye(2)), np.ones(2))], 2, 1))
    with pytest.raises(InputError, match="Chunk 2 has 2 columns and the first one 1"):
        list(CheckedChunks([two, (np.ones((2, 2)), np.ones(2))], 1, 1))
    with pytest.raises(InputError, match="Chunk 1 has a response with 1 axes and the first one 2"):
        list(CheckedChunks([two], 1, 2))
    with pytest.raises(InputError, match=r"Chunk 1 cannot be used: .*NaN"):
        list(CheckedChunks([(np.full((2, 1), np.nan), np.ones(2))], 1, 1))
    with pytest.raises(InputError, match="Chunk 1 cannot be used: sample_weight"):
        list(CheckedChunks([(*two, [-1.0, 1.0])], 1, 1))


def test_rows_are_cut_without_loss():
    assert [range(10)[part] for part in split_rows(10, 4)] == [
        range(4),
        range(4, 8),
        range(8, 10),
    ]


def test_checked_chunks_leave_out_what_counts_for_nothing_and_start_afresh():
    X, y = np.arange(2.0)[:, None], np.arange(2.0)
    chunks = CheckedChunks([(X, y), (X[:0], y[:0]), (X, y, [0, 2]), (X, y, [0, 0])], 1, 1)
    for _ in range(2):
        (_, first, none), (rows, second, w) = chunks
        assert none is None
        assert first.shape == (2, 1)
        assert rows.tolist() == [[1.0]]
        assert second.tolist() == [[1.0]]
        assert w.tolist() == [2.0]


@pytest.mark.parametrize(("step", "word"), [(-1, "fewer"), (1, "more")])
def test_chunks_that_are_not_the_same_each_time_are_refused(step, word):
    class Changing:
        rows = 8

        def __iter__(self):
            yield np.ones((5, 2)), None
            yield np.ones((self.rows - 5, 2)), None

    chunks = Changing()
    checked = CheckedChunks(chunks, 2, 0)
    assert sum(len(X) for X, _, _ in checked) == sum(len(X) for X, _, _ in checked) == 8
    chunks.rows += step
    with pytest.raises(InputError, match=f"{word} rows than the 8 of an earlier pass"):
        list(checked)


def moments_alone(X, *_):
    return Moments().update(X)


def count_rows(X, *_):
    return len(X)


class Parts(RowSource):
    """Chunks in parts that are read apart."""

    def __init__(self, parts):
        self._parts = parts

    def __iter__(self):
        return (chunk for part in self._parts for chunk in part)

    def parts(self):
        return [Parts([part]) for part in self._parts]


def test_parts_are_worked_on_side_by_side_and_merged_in_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 3))
    cuts = np.array_split(X, [10, 11, 400, 900])
    parts = Parts([[(each,) for each in np.array_split(part, 3)] for part in cuts])
    checked = CheckedChunks(parts, 3, 0)
    expected = CheckedChunks([(X,)], 3, 0).reduce(moments_alone)
    found = [checked.reduce(moments_alone) for _ in range(5)]
    np.testing.assert_allclose(found[0].scatter, expected.scatter, rtol=1e-12)
    for other in found[1:]:
        np.testing.assert_array_equal(other.scatter, found[0].scatter)
    sizes = list(checked.map(count_rows))
    assert sizes == [len(X) for X, _, _ in checked]
    assert checked.count == 1_000


def test_a_chunk_that_cannot_be_used_is_named_with_its_part():
    good, bad = np.zeros((4, 2)), np.full((4, 2), np.nan)
    checked = CheckedChunks(Parts([[(good,)], [(good,), (bad,)], [(good,)]]), 2, 0)
    with pytest.raises(InputError, match="Chunk 2 of part 2 cannot be used"):
        checked.reduce(moments_alone)


def test_parts_that_change_between_passes_are_refused():
    parts = [[(np.zeros((4, 2)),)], [(np.zeros((3, 2)),)]]
    checked = CheckedChunks(Parts(parts), 2, 0)
    assert sum(checked.map(count_rows)) == 7
    parts[1] = [(np.zeros((2, 2)),)]
    with pytest.raises(InputError, match="fewer rows than the 7"):
        list(checked.map(count_rows))


def test_every_pass_counts_the_rows():
    parts = [[(np.zeros((4, 2)),)], [(np.zeros((3, 2)),)]]
    checked = CheckedChunks(Parts(parts), 2, 0)
    assert checked.reduce(moments_alone).count == checked.count == 7
    parts[1] = [(np.zeros((5, 2)),)]
    with pytest.raises(InputError, match="more rows than the 7"):
        checked.reduce(moments_alone)
    assert CheckedChunks([(np.zeros((0, 2)),)], 2, 0).reduce(moments_alone) is None


def test_a_part_is_named_by_every_way_to_pass_over_parts():
    good, bad = np.zeros((4, 2)), np.full((4, 2), np.nan)
    checked = CheckedChunks(Parts([[(good,)], [(good,), (bad,)]]), 2, 0)
    with pytest.raises(InputError, match="Chunk 2 of part 2 cannot be used"):
        list(checked.map(count_rows))


def test_a_source_that_names_plain_columns_gives_its_chunks_as_arrays():
    class Plain(Parts):
        plain = ("a", "b")

    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    ((X, y, w),) = CheckedChunks(Plain([[(frame,)]]), 2, 0, names=["a", "b"])
    assert isinstance(X, np.ndarray)
    assert X.tolist() == frame.to_numpy().tolist()
    assert y is None
    assert w is None


def test_a_class_that_was_not_there_when_classes_were_read_is_refused():
    class Growing(Parts):
        def responses(self):
            return iter([(np.array(["a", "b"]), None)])

        def __iter__(self):
            for codes in ([0, 1], [0, 2]):
                yield np.zeros((2, 1)), CodedLabels(np.array(codes), np.array(["a", "b", "c"]))

        def parts(self):
            return [self]

    with pytest.raises(InputError, match="A class appears"):
        NaiveBayes().fit_chunks(Growing([]))


def test_a_first_chunk_of_one_class_is_no_reason_to_refuse_the_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    order = np.argsort(y)
    model = AdditiveClassifier().fit(source(X[order], y[order], rows=50))
    expected = AdditiveClassifier().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-9)
    with pytest.raises(InputError, match="y has only one class, 'no'"):
        AdditiveClassifier().fit(source(X, np.full(300, "no"), rows=50))


@pytest.mark.parametrize(
    "model",
    [
        Ridge(),
        Lasso(),
        LeastSquares(),
        BayesianRegression(),
        OnlineRidge(),
        OnlineGradientDescentRegressor(),
        OnlineGradientDescentRegressor(shuffle=True, random_state=0),
    ],
)
def test_responses_whose_squares_vanish_are_refused_as_in_memory(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + rng.normal(size=200)
    for factor in (1e-155, 1e-165):
        for rows in (source(X, y * factor, rows=50), [(X[:90], y[:90] * factor)] * 2):
            with pytest.raises(InputError, match=r"y is at most .*e-1.5 in size, .* vanish"):
                model.fit_chunks(rows)
            assert not hasattr(model, "n_features_in_")
    # Rows of one chunk may be small, or zero: all of them are judged.
    y[:50] *= 1e-165
    y[50:100] = 0.0
    model.fit_chunks(source(X, y, rows=50))
    if not isinstance(model, OnlineGradientDescentRegressor):
        small = model.predict(X)
        np.testing.assert_allclose(small, model.fit(X, y).predict(X), rtol=1e-7, atol=1e-9)
    if not isinstance(model, BayesianRegression):  # which needs responses that vary
        model.fit_chunks(source(X, np.zeros(200), rows=50))
        assert np.all(model.predict(X) == 0)
