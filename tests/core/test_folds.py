"""Folds are balanced, the same in chunks as together, and free of patterns."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bottega.core.folds import FoldDealer, deal_folds


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
