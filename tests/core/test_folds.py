"""Folds are balanced, the same in chunks as together, and free of patterns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.model_selection import KFold

from bottega.core import chunks, deal
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError, ParameterError
from bottega.core.folds import (
    FoldDealer,
    deal_folds,
    deal_rows,
    fold_of_rows,
    folds_that_count,
    is_partition,
    make_folds,
)
from bottega.core.rows import Rows


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(2, 11), st.booleans())
def test_chunks_get_the_folds_of_all_rows_together(sizes, folds, stratified):
    n = sum(sizes)
    strata = np.arange(n) % 3 if stratified else None
    dealer, start, parts = FoldDealer(folds), 0, []
    for size in sizes:
        rows = slice(start, start + size)
        parts.append(dealer.deal(size, None if strata is None else strata[rows]))
        start += size
    assert np.array_equal(np.concatenate(parts), deal_folds(n, folds, strata))


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 300), st.integers(2, 12), st.integers(1, 4))
def test_every_stratum_is_spread_evenly(n, folds, classes):
    strata = np.random.default_rng(n).integers(0, classes, n)
    dealt = deal_folds(n, folds, strata)
    for label in range(classes):
        counts = np.bincount(dealt[strata == label], minlength=folds)
        assert counts.max() - counts.min() <= 1


def test_a_pattern_of_the_period_of_the_folds_is_broken_up():
    """Rows i, i + K, i + 2K, ... fall in all folds alike.

    Chi-squared over 10 places by 10 folds of 10,000 blocks has 81 free cells; it passes 160 by
    chance with probability 4e-7.
    """
    dealt = deal_folds(100_000, 10).reshape(-1, 10)
    table = np.stack([np.bincount(column, minlength=10) for column in dealt.T])
    statistic = np.sum((table - 1000.0) ** 2 / 1000.0)
    assert statistic < 160
    assert stats.chi2.sf(160, 81) < 1e-6


def test_a_chunk_is_dealt_from_its_first_row_on():
    together = deal_folds(23, 4)
    assert np.array_equal(deal_folds(9, 4, start=14), together[14:])


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 60), st.integers(2, 9), st.sampled_from([None, 3]))
def test_numbered_folds_are_a_balanced_partition(n, k, seed):
    if k > n:
        with pytest.raises(ParameterError, match=f"folds are not possible with {n} rows"):
            make_folds(k, n, random_state=seed)
        return
    folds = make_folds(k, n, random_state=seed)
    assert is_partition(folds, n)
    sizes = [len(test) for _, test in folds]
    assert max(sizes) - min(sizes) <= 1


def test_groups_stay_together_and_time_goes_forward():
    groups = np.repeat(np.arange(10), 3)
    for train, test in make_folds(5, 30, groups=groups):
        assert not set(groups[train]) & set(groups[test])
    time = np.random.default_rng(0).permutation(30)
    folds = make_folds(4, 30, time=time)
    assert len(folds) == 4
    for train, test in folds:
        assert time[train].max() < time[test].min()
    for missing in (np.append(np.arange(29.0), np.nan), np.array([None, *range(29)], dtype=object)):
        with pytest.raises(InputError, match="has missing values"):
            make_folds(3, 30, groups=missing)
    with pytest.raises(InputError, match="groups or time"):
        make_folds(3, 30, groups=groups, time=time)
    with pytest.raises(InputError, match="at least 11 groups"):
        make_folds(11, 30, groups=groups)


def test_a_share_holds_out_one_part():
    for options in (
        {},
        {"random_state": 1},
        {"time": np.arange(40)},
        {"groups": np.arange(40) // 2},
    ):
        [(train, test)] = make_folds(0.25, 40, **options)
        assert len(test) == pytest.approx(10, abs=1)
        assert sorted([*train, *test]) == list(range(40))
    with pytest.raises(ParameterError, match="share between 0 and 1"):
        make_folds(1.5, 40)
    with pytest.raises(InputError, match="at least 2"):
        make_folds(0.5, 1)


def test_folds_may_be_given_and_are_checked():
    by_splitter = make_folds(KFold(3), 7)
    assert [test.tolist() for _, test in by_splitter] == [[0, 1, 2], [3, 4], [5, 6]]
    mask = np.arange(7) < 3
    [(train, test)] = make_folds([(mask, ~mask)], 7)
    assert train.tolist() == [0, 1, 2]
    assert test.tolist() == [3, 4, 5, 6]
    assert len(make_folds("loo", 4)) == 4
    for wrong, message in [
        ("five", "cv='five' is not allowed"),
        (True, "cv=True is not allowed"),
        ([([0, 1], [1])], "trains and tests on row 1"),
        ([([0], [9])], "outside 0 to 6"),
        ([([0.5], [1])], "whole numbers"),
        ([3], "not a pair"),
        ([], "no folds"),
    ]:
        with pytest.raises(ParameterError, match=message):
            make_folds(wrong, 7)
    with pytest.raises(ParameterError, match="tested more than once"):
        fold_of_rows([(np.array([0]), np.array([1])), (np.array([0]), np.array([1]))], 3)


# ---- by what is in the rows ----------------------------------------------------------------------


def contents(X, y, fold):
    """Return what is in each fold, whatever the order of its rows."""
    return sorted((k, *row) for k, row in zip(fold, np.column_stack([y, X]).tolist(), strict=True))


@settings(deadline=None, max_examples=60)
@given(
    st.integers(2, 60),
    st.integers(2, 7),
    st.integers(1, 4),
    st.sampled_from([2, 4, None]),
    st.booleans(),
    st.integers(0, 1000),
)
def test_neither_the_order_of_rows_nor_units_change_the_folds(n, k, p, levels, stratified, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    if levels is not None:  # rows that are told apart by several columns, or not at all
        X, y = np.floor(levels * X), np.floor(levels * y)
    strata = (rng.random(n) < 0.4).astype(int) if stratified else None
    order = rng.permutation(n)
    fold = deal_rows(k, n, X, y, strata=strata)
    moved = deal_rows(
        k, n, 1e6 * X[order], 1e-3 * y[order], strata=None if strata is None else strata[order]
    )
    key = y if strata is None else strata
    assert contents(X, key, fold) == contents(X[order], key[order], moved)
    if levels is None:
        assert np.array_equal(fold[order], moved)
    for part in (fold, *([] if strata is None else [fold[strata == c] for c in (0, 1)])):
        sizes = np.bincount(part, minlength=k)
        assert sizes.max() - sizes.min() <= 1


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 60), st.floats(0.01, 0.99), st.booleans(), st.integers(0, 1000))
def test_a_share_is_held_out_by_what_is_in_the_rows(n, share, stratified, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    strata = (rng.random(n) < 0.3).astype(int) if stratified else None
    order = rng.permutation(n)
    [(train, held)] = make_folds(share, n, X=X, y=y, strata=strata)
    [(_, moved)] = make_folds(
        share, n, X=X[order], y=y[order], strata=None if strata is None else strata[order]
    )
    assert set(order[moved]) == set(held)
    assert len(held) == min(max(int(np.floor(share * n + 0.5)), 1), n - 1)
    assert sorted([*train, *held]) == list(range(n))
    if strata is not None:
        for c in (0, 1):
            assert abs(np.sum(strata[held] == c) - share * np.sum(strata == c)) < 2


def test_only_what_is_needed_is_read():
    class Unread:
        def iter_columns(self):
            raise AssertionError("distinct responses tell the rows apart")
            yield

    y = np.arange(10.0)
    assert np.array_equal(deal_rows(3, 10, Unread(), y), deal_rows(3, 10, None, y))


def test_weights_tell_equal_rows_apart():
    X, y, w = np.zeros((8, 1)), np.zeros(8), np.arange(1.0, 9.0)
    fold = deal_rows(3, 8, X, y, w)
    assert np.array_equal(deal_rows(3, 8, X, y, w[::-1]), fold[::-1])


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=5), st.booleans(), st.integers(0, 1000))
def test_chunks_are_dealt_what_all_rows_together_are(sizes, ties, seed):
    n = sum(sizes)
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 12)), rng.normal(size=n)
    if ties:
        X, y = np.sign(X), np.sign(y)
    w = rng.integers(0, 3, n).astype(float)
    parts = [(X[rows], y[rows], w[rows]) for rows in np.split(np.arange(n), np.cumsum(sizes)[:-1])]
    counted = w > 0
    found = list(CheckedChunks(parts, 12, 1).dealt(4))
    together = (
        np.zeros(0)
        if not counted.any()
        else deal_rows(4, int(counted.sum()), X[counted], y[counted], w[counted])
    )
    assert np.array_equal(np.concatenate([np.zeros(0), *(part[3] for part in found)]), together)


def test_very_many_rows_are_dealt_by_their_number(monkeypatch):
    monkeypatch.setattr(deal, "MOST_ORDERED", 20)
    monkeypatch.setattr(chunks, "MOST_ORDERED", 20)
    X, y = np.random.default_rng(0).normal(size=(21, 2)), np.arange(21.0)
    by_number = deal_folds(21, 4)
    assert np.array_equal(deal_rows(4, 21, X, y), by_number)
    parts = CheckedChunks([(X[:9], y[:9]), (X[9:], y[9:])], 2, 1).dealt(4)
    assert np.array_equal(np.concatenate([fold for *_, fold in parts]), by_number)
    assert not np.array_equal(deal_rows(4, 20, X[:20], y[:20]), deal_folds(20, 4))


def test_folds_that_are_given_speak_of_the_rows_as_given():
    weight = np.array([1.0, 0.0, 2.0, 1.0, 0.0, 1.0])
    rows = Rows.of(np.arange(12.0).reshape(6, 2), np.arange(6.0), weight)
    given = [([0, 1, 2], [3, 4, 5]), ([3, 4, 5], [0, 1, 2]), ([0, 2, 3], [1, 4])]
    found = folds_that_count(given, rows)
    assert [[part.tolist() for part in pair] for pair in found] == [
        [[0, 1], [2, 3]],
        [[2, 3], [0, 1]],
    ]
    assert is_partition(folds_that_count(2, rows), 4)
