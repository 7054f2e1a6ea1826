"""The functions themselves: formulas of the notes, R's poly, and high degrees."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from sklearn.preprocessing import PolynomialFeatures

from bottega.basis import GaussianBasis, Polynomial, SigmoidBasis
from bottega.core.errors import InputError
from bottega.linear import LeastSquares, Ridge

CASES = {
    case["name"]: case
    for case in json.loads(
        (Path(__file__).parents[1] / "reference" / "basis" / "poly.json").read_text()
    )["cases"]
}


@pytest.mark.parametrize("name", CASES)
def test_orthogonal_polynomials_equal_r_up_to_sign(name):
    case = CASES[name]
    x, expected = np.array(case["x"], dtype=float)[:, None], np.array(case["basis"])
    model = Polynomial(case["degree"]).fit(x)
    found = model.transform(x)
    sign = np.sign(np.sum(found * expected, axis=0))
    # JSON keeps 15 digits, and the entries are at most one.
    assert_allclose(found * sign, expected, rtol=0, atol=1e-13)
    new = model.transform(np.array(case["new"], dtype=float)[:, None])
    assert_allclose(new * sign, case["at_new"], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("spread", ["even", "random"])
def test_degree_29_on_30_points_stays_orthogonal(spread):
    x = np.linspace(0, 1, 30) if spread == "even" else np.random.default_rng(0).uniform(size=30)
    basis = Polynomial(29).fit(x[:, None])
    Q = basis.transform(x[:, None])
    assert_array_equal(basis.degree_, [29])
    assert_allclose(Q.T @ Q, np.eye(29), atol=1e-13)  # rounding alone
    assert_allclose(Q.sum(axis=0), 0, atol=1e-13)
    # A row is the same whatever rows come with it.
    assert_array_equal(basis.transform(x[[7, 3], None]), Q[[7, 3]])
    # Degree n - 1 goes through every point (D37); plain powers cannot even be solved for.
    y = np.sin(2 * np.pi * x) + 0.3 * np.random.default_rng(1).normal(size=30)
    assert_allclose(Q @ (Q.T @ y) + y.mean(), y, atol=1e-12)
    assert np.linalg.cond(Polynomial(29, orthogonal=False).fit_transform(x[:, None])) > 1e14


def test_training_error_falls_with_the_degree_and_ends_at_zero():
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(size=30))
    y = np.sin(2 * np.pi * x) + 0.3 * rng.normal(size=30)
    errors = []
    for degree in (3, 6, 12, 18, 24, 29):  # the degrees drawn in the notes (D37)
        Q = Polynomial(degree).fit_transform(x[:, None])
        errors.append(np.mean((y - y.mean() - Q @ (Q.T @ y)) ** 2))
    assert np.all(np.diff(errors) < 0)
    assert errors[-1] < 1e-20


def test_coefficients_blow_up_with_the_degree_and_a_penalty_tames_them():
    # M412, M415: ten points of sin(2 pi x) with noise; the notes' data are not given, so the orders
    # of magnitude are what can be checked: below 1, about 1, tens, hundred thousands.
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 10)
    y = np.sin(2 * np.pi * x) + 0.3 * rng.normal(size=10)
    largest = []
    for degree in (1, 3, 9):
        powers = Polynomial(degree, orthogonal=False, include_bias=True).fit_transform(x[:, None])
        w = np.linalg.lstsq(powers, y, rcond=None)[0]
        largest.append(np.abs(w).max())
    assert largest[0] < 3
    assert 3 < largest[1] < 100
    assert largest[2] > 1e4
    powers = Polynomial(9, orthogonal=False).fit_transform(x[:, None])
    norms = [
        np.linalg.norm(Ridge(np.exp(ln), standardize=False).fit(powers, y).coef_)
        for ln in (-18, -9, 0)
    ]
    assert largest[2] > norms[0] > norms[1] > norms[2]
    assert norms[2] < 3


def test_powers_are_powers_and_the_design_matrix_has_a_row_per_sample():
    x = np.array([[2.0, -1.0], [0.5, 3.0]])
    made = Polynomial(3, orthogonal=False, include_bias=True).fit_transform(x)
    # M408: one row per sample, the first column ones (phi_0(x) = 1, not phi_j(0) = 1: E17).
    assert_allclose(made, [[1, 2, 4, 8, -1, 1, -1], [1, 0.5, 0.25, 0.125, 3, 9, 27]])


def test_gaussian_and_sigmoid_formulas():
    x = np.array([[0.0], [1.0], [2.5]])
    centers, s = np.array([-1.0, 0.5]), 0.7
    bumps = GaussianBasis(centers, width=s).fit_transform(x)
    steps = SigmoidBasis(centers, width=s).fit_transform(x)
    for i, value in enumerate(x[:, 0]):
        for j, mu in enumerate(centers):
            assert bumps[i, j] == pytest.approx(np.exp(-((value - mu) ** 2) / (2 * s**2)))
            assert steps[i, j] == pytest.approx(1 / (1 + np.exp(-(value - mu) / s)))


def test_centers_are_spread_over_each_column_and_the_width_is_their_distance():
    X = np.column_stack([np.linspace(0, 8, 7), np.linspace(-1, 1, 7)])
    for each in (GaussianBasis, SigmoidBasis):
        model = each(n_basis=5).fit(X)
        assert_allclose(model.centers_, [[0, 2, 4, 6, 8], [-1, -0.5, 0, 0.5, 1]])
        assert_allclose(model.width_, [2, 0.5])
        alone = each(n_basis=1).fit(X)
        assert_allclose(alone.centers_, [[4], [0]])
        assert_allclose(alone.width_, [4, 1])
        own = each([[0.0, 4.0], [1.0, 0.0]]).fit(X)
        assert_allclose(own.width_, [4, 1])
        assert own.transform(X).shape == (7, 4)


def test_constant_and_coarse_columns():
    X = np.column_stack([np.full(6, 3.0), [0, 1, 0, 1, 2, 2]])
    model = Polynomial(3).fit(X)
    made = model.transform(X)
    assert_array_equal(model.degree_, [0, 2])
    assert_array_equal(made[:, [0, 1, 2, 5]], 0)  # degrees that say nothing new
    assert_allclose(made[:, 3:5].T @ made[:, 3:5], np.eye(2), atol=1e-14)
    assert np.all(np.isfinite(GaussianBasis().fit_transform(X)))


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.floats(-1e3, 1e3), st.floats(1e-2, 1e3))
@settings(max_examples=30, deadline=None)
def test_columns_do_not_depend_on_origin_and_scale(seed, degree, origin, scale):
    x = np.random.default_rng(seed).normal(size=(20, 1))
    shifted = scale * x + origin
    # Adding the origin rounds x to 1e-11 of its spread at worst; a polynomial of degree 8 on 20
    # random points magnifies that by some thousands.
    assert_allclose(
        Polynomial(degree).fit_transform(shifted), Polynomial(degree).fit_transform(x), atol=1e-6
    )


@pytest.mark.parametrize(("p", "degree"), [(1, 3), (2, 2), (3, 3), (2, 5)])
def test_interactions_are_all_monomials(p, degree):
    X = np.random.default_rng(0).normal(size=(6, p))
    made = Polynomial(degree, orthogonal=False, interactions=True, include_bias=True).fit(X)
    peer = PolynomialFeatures(degree).fit(X)
    assert made.transform(X).shape[1] == math.comb(p + degree, degree)
    # Powers and their products, in another order of multiplication.
    assert_allclose(made.transform(X), peer.transform(X), rtol=1e-12)
    assert list(made.get_feature_names_out()) == list(peer.get_feature_names_out())


def test_conics_are_lines_in_the_expanded_space():
    """A75: for two inputs and degree 2 the map is (1, x1, x2, x1^2, x1 x2, x2^2), N = 6.

    A circle and the exclusive or are no lines in the plane, and lines after the map.
    """
    X = np.random.default_rng(1).uniform(-1, 1, size=(300, 2))
    for labels in (np.sign((X**2).sum(axis=1) - 0.5), np.sign(X[:, 0] * X[:, 1])):
        Z = Polynomial(2, orthogonal=False, interactions=True, include_bias=True).fit_transform(X)
        assert Z.shape[1] == 6
        flat = np.column_stack([np.ones(300), X])
        assert not _separable(flat, labels)
        assert _separable(Z, labels)


def _separable(Z, labels):
    """Return True if some w has labels * (Z w) >= 1 in every row, by linear programming."""
    found = linprog(
        np.zeros(Z.shape[1]), A_ub=-labels[:, None] * Z, b_ub=-np.ones(len(Z)), bounds=(None, None)
    )
    return found.status == 0


def test_orthogonal_products_span_the_monomials():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    new = rng.normal(size=(5, 3))
    fits = []
    for orthogonal in (True, False):
        basis = Polynomial(3, orthogonal=orthogonal, interactions=True).fit(X)
        fits.append(LeastSquares().fit(basis.transform(X), y).predict(basis.transform(new)))
    assert_allclose(fits[0], fits[1], rtol=1e-8, atol=1e-8)  # plain powers lose some digits
    assert basis.get_feature_names_out()[10] == "x0^2 x1"
    grid = np.array([[a, b] for a in range(4) for b in range(5)], dtype=float)
    Z = Polynomial(2, interactions=True).fit_transform(grid)
    off = Z.T @ Z - np.diag(np.diag(Z.T @ Z))
    assert_allclose(off, 0, atol=1e-13)  # on a grid products of orthogonal columns are orthogonal


def test_too_many_products_are_refused():
    with pytest.raises(InputError, match="up to degree 5 are 96,560,645 columns"):
        Polynomial(5, interactions=True).fit(np.ones((3, 100)))


def test_functions_that_overflow_are_refused():
    x = np.linspace(-1, 1, 9)[:, None]
    for basis in (Polynomial(3, orthogonal=False), Polynomial(3)):
        with pytest.raises(InputError, match="basis functions overflow"):
            basis.fit(x).transform(x * 1e150)
    assert not GaussianBasis().fit(x).transform([[1e200]]).any()
