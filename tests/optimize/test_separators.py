"""Planes that separate rows: some one, the shortest one, the one of fewest violations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from bottega.optimize.half_space import count_violations, fewest_violations
from bottega.optimize.separators import separator, shortest_separator


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(3, 60))
def test_the_shortest_separator_fulfils_the_conditions_of_karush_kuhn_and_tucker(seed, d, m):
    rng = np.random.default_rng(seed)
    truth, rows = rng.normal(size=d), rng.normal(size=(m, d))
    rows *= np.sign(rows @ truth)[:, None]
    start = separator(rows)
    assert np.all(rows @ start > 0)
    u = shortest_separator(rows, start)
    if u is None:  # a margin that rounding hides: rows nearly orthogonal to every separator
        assert np.min(rows @ truth) < 1e-3
        return
    products = rows @ u
    assert products.min() == pytest.approx(1)
    # u is a combination, with weights of at least zero, of the rows whose product is 1.
    tight = rows[products < 1 + 1e-6]
    _, left = nnls(tight.T, u)
    assert left <= 1e-6 * np.linalg.norm(u)
    assert np.linalg.norm(u) <= np.linalg.norm(start) * (1 + 1e-9)


def test_rows_without_a_separator_have_none_and_the_fewest_violations_are_found():
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.5, 1.0]])
    assert separator(rows) is None
    w, seen = fewest_violations(rows, 100)
    assert count_violations(rows, w) == 1
    assert 0 < seen <= 100
