"""Bins and crossproducts of binned designs, against whole matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.additive._penalized.bins import GRID, MOST_EXACT, Binning, Ranges
from bottega.additive._penalized.design import Design, column_sets
from bottega.additive._terms.bases import CurveBasis, LevelsBasis, ValueBasis
from bottega.additive._terms.blocks import Block, Margin
from bottega.basis.spline_functions import even_knots


def curve(column, size=7):
    return Margin((column,), CurveBasis(0.0, 1.0, even_knots(0.0, 1.0, size, 3), 3))


def every_kind(n, seed=0, digits=2):
    """Rows, and blocks of every kind: curves, a surface, lines, levels, curves times a number."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(size=(n, 3)).round(digits), rng.integers(0, 4, n)])
    Z = np.linalg.qr(rng.normal(size=(7, 1)), mode="complete")[0][:, 1:]
    levels = Margin((3,), LevelsBasis(4))
    line = Margin((2,), ValueBasis(0.4, 0.3))
    blocks = [
        Block("1", "intercept"),
        Block("a", "smooth", (curve(0),), Z, (np.eye(6),)),
        Block("b", "smooth", (curve(1, 9),)),
        Block("surface", "tensor", (curve(0, 5), curve(1, 4))),
        Block("line", "linear", (line,)),
        Block("levels", "factor", (levels,)),
        Block("varying", "smooth", (curve(1), line)),
        Block("each level", "tensor", (levels, curve(2, 5))),
    ]
    return X, blocks, rng


def made(X, blocks, weight=None):
    ranges = Ranges(X.shape[1], categorical=(3,)).update(X)
    return Design(blocks, Binning(ranges, column_sets(blocks), keep=True).update(X, None, weight))


@pytest.mark.parametrize(("n", "digits"), [(60, 8), (3000, 2)])  # row by row, and by tables
def test_products_of_binned_rows_are_those_of_the_matrix(n, digits):
    X, blocks, rng = every_kind(n, digits=digits)
    design = made(X, blocks)
    rows = design.rows(X, np.zeros(n))
    whole = np.hstack([block.design(X) for block in blocks])
    w, coef = rng.normal(size=n), rng.normal(size=design.p)
    M = rng.normal(size=(design.p, design.p))
    M = M + M.T
    assert design.predictor(rows, coef) == pytest.approx(whole @ coef, abs=1e-10)
    assert design.back(rows, w) == pytest.approx(whole.T @ w, abs=1e-9)
    assert design.gram(rows, w) == pytest.approx((whole * w[:, None]).T @ whole, abs=1e-9)
    forms = np.einsum("ij,jk,ik->i", whole, M, whole)
    assert design.forms(rows, M) == pytest.approx(forms, abs=1e-9)


def test_rows_that_come_in_chunks_have_the_same_products():
    X, blocks, rng = every_kind(500)
    chunks = np.split(np.arange(500), [100, 350])
    ranges, design = Ranges(4, (3,)), made(X, blocks)
    for chunk in chunks:
        ranges.merge(Ranges(4, (3,)).update(X[chunk]))
    binning = Binning(ranges, column_sets(blocks))
    for chunk in chunks:
        binning.merge(Binning(ranges, column_sets(blocks)).update(X[chunk]))
    other, w = Design(blocks, binning), rng.uniform(size=500)
    parts = [(other.rows(X[chunk], w[chunk]), w[chunk]) for chunk in chunks]
    whole = design.gram(design.rows(X, w), w)
    assert sum(other.gram(rows, some) for rows, some in parts) == pytest.approx(whole, abs=1e-9)


def test_few_values_are_kept_and_many_are_rounded():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 50, 20_000), rng.uniform(-3, 3, size=20_000)]).astype(
        float
    )
    X[0] = np.nan
    ranges = Ranges(2).update(X)
    few, many = ranges.axis(0), ranges.axis(1)
    assert few.rounding == "none"
    assert few.points[few.codes(X[1:, 0])] == pytest.approx(X[1:, 0])
    assert many.rounding == "even"
    assert len(many.points) == GRID
    # To the nearest point of the grid.
    step = many.points[1] - many.points[0]
    assert np.max(np.abs(many.points[many.codes(X[1:, 1])] - X[1:, 1])) <= step / 2 + 1e-12
    assert few.codes(X[:1, 0]).tolist() == [50]
    assert many.codes(X[:1, 1]).tolist() == [GRID]


def test_codes_of_categories_are_never_rounded():
    X = np.arange(2.0 * MOST_EXACT)[:, None]
    assert Ranges(1).update(X).axis(0).rounding == "even"
    kept = Ranges(1, categorical=(0,)).update(X).axis(0)
    assert kept.points[kept.codes(X[:, 0])] == pytest.approx(X[:, 0])


def test_one_outlier_does_not_put_all_rows_into_one_bin():
    rng = np.random.default_rng(1)
    x = np.append(rng.lognormal(size=20_000), 1e9)
    ranges = Ranges(1).update(x[:, None])
    axis = ranges.axis(0)
    assert axis.rounding == "nearest"
    assert np.max(np.bincount(axis.codes(x))) < 0.02 * len(x)
    # Whatever the order of the rows, and whether they come in chunks.
    again = Ranges(1).update(x[::-1][:7000, None]).merge(Ranges(1).update(x[::-1][7000:, None]))
    assert np.array_equal(again.axis(0).points, axis.points)


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 200), st.integers(0, 10**6), st.sampled_from([1e-250, 1.0, 1e250]))
def test_bins_have_the_weight_of_their_rows(n, seed, unit):
    rng = np.random.default_rng(seed)
    X = (rng.integers(-9, 9, size=(n, 2)) * unit).astype(float)
    X[rng.uniform(size=(n, 2)) < 0.1] = np.nan
    w = rng.uniform(size=n)
    binning = Binning(Ranges(2).update(X), [(0,), (0, 1)], keep=True).update(X, None, w)
    for columns in ((0,), (0, 1)):
        bins = binning.bins(columns)
        codes = bins.codes(X)
        assert bins.weight == pytest.approx(np.bincount(codes, w, len(bins.weight)))
        assert np.array_equal(bins.values[codes], X[:, list(columns)], equal_nan=True)
        assert np.array_equal(binning.kept[columns], codes)
