"""Spline bases: R's functions, derivatives, penalties, knots and the transformer contract."""

import inspect
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpydoc.docscrape import NumpyDocString
from scipy import integrate, interpolate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from bottega.basis import BSpline, NaturalSpline, TruncatedPower
from bottega.basis.spline_functions import (
    check_knots,
    clamped_knots,
    design,
    difference_penalty,
    even_knots,
    natural_transform,
    penalty,
    place_knots,
)
from bottega.core.errors import InputError, ParameterError
from bottega.core.params import schema
from bottega.linear import LeastSquares

ALL = [BSpline, NaturalSpline, TruncatedPower]
REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "smooth" / "splines.json").read_text()
)


@parametrize_with_checks([BSpline(), NaturalSpline(2), TruncatedPower(2), BSpline(intercept=True)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("each", ALL)
def test_declaration_signature_and_documentation_agree(each):
    signature = list(inspect.signature(each).parameters)
    doc = NumpyDocString(inspect.cleandoc(each.__doc__))
    assert [entry.name for entry in doc["Parameters"]] == signature == list(each.params)
    assert list(schema(each)["properties"]) == signature


@pytest.mark.parametrize("case", REFERENCE["bases"], ids=lambda c: f"{c['kind']}-{c['degree']}")
def test_bases_equal_r(case):
    x, new = np.array(REFERENCE["x"])[:, None], np.array(REFERENCE["new"], dtype=float)[:, None]
    chosen = {"boundary": case["boundary"], "intercept": case["intercept"]}
    chosen |= {"n_knots": case["n_knots"]} if "n_knots" in case else {"knots": case["knots"]}
    if case["kind"] == "bs":
        basis = BSpline(degree=case["degree"], **chosen)
    else:
        basis = NaturalSpline(**chosen)
    # JSON keeps 15 digits, and the entries are of the order of one.
    assert_allclose(basis.fit_transform(x), case["basis"], atol=1e-13)
    assert_allclose(basis.knots_[0], case["knots"], rtol=1e-14)
    assert_allclose(basis.transform(new), case["at_new"], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 5])
def test_functions_and_derivatives_equal_scipy(degree):
    knots = clamped_knots([0.2, 0.3, 0.7], -1.0, 2.0, degree)
    x = np.concatenate([[-1.0, 0.2, 0.7, 2.0], np.random.default_rng(0).uniform(-1, 2, 30)])
    size = len(knots) - degree - 1
    for derivative in range(degree + 1):
        peer = interpolate.BSpline(knots, np.eye(size), degree)(x, nu=derivative)
        found = design(x, knots, degree, derivative)
        scale = np.abs(peer).max()
        assert_allclose(found.toarray(), peer, atol=1e-13 * max(scale, 1))
        assert_array_equal(found.tocsr().toarray(), found.toarray())
        coef = np.arange(size, dtype=float) ** 2
        assert_allclose(found @ coef, peer @ coef, atol=1e-11 * max(scale, 1))
    assert not np.any(design(x, knots, degree, degree + 1).toarray())


@given(st.integers(0, 8), st.integers(1, 4), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_partition_of_unity_local_support_and_span(count, degree, seed):
    rng = np.random.default_rng(seed)
    interior = np.sort(rng.uniform(0.05, 0.95, size=count))
    x = rng.uniform(size=200)
    B = BSpline(knots=interior, degree=degree, boundary=(0, 1), intercept=True).fit_transform(
        x[:, None]
    )
    assert B.shape[1] == count + degree + 1  # K + 4 for a cubic (D116)
    assert_allclose(B.sum(axis=1), 1, atol=1e-12)
    assert B.min() >= -1e-15
    assert np.all(np.count_nonzero(B, axis=1) <= degree + 1)
    T = TruncatedPower(knots=interior, degree=degree, boundary=(0, 1), intercept=True)
    powers = T.fit_transform(x[:, None])
    # Both span the same functions: one reproduces the other.
    coef = np.linalg.lstsq(B, powers, rcond=None)[0]
    assert_allclose(B @ coef, powers, atol=1e-7)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_penalty_is_the_integral(order):
    knots = clamped_knots([0.2, 0.3, 0.7], -1.0, 2.0, 3)
    found = penalty(knots, 3, order)
    pieces = [-1.0, 0.2, 0.3, 0.7, 2.0]
    for j, k in ((0, 0), (2, 3), (1, 4), (6, 6), (0, 5)):
        splines = [interpolate.BSpline(knots, np.eye(7)[i], 3) for i in (j, k)]
        expected = sum(
            integrate.quad(lambda t, s=splines: s[0](t, order) * s[1](t, order), a, b)[0]
            for a, b in itertools.pairwise(pieces)
        )
        assert found[j, k] == pytest.approx(expected, abs=1e-9 * max(1, np.abs(found).max()))
    # Polynomials below the order cost nothing.
    x = np.linspace(-1, 2, 50)
    line = np.linalg.lstsq(design(x, knots).toarray(), x ** max(order - 1, 0), rcond=None)[0]
    if order:
        assert line @ found @ line == pytest.approx(0, abs=1e-9 * np.abs(found).max())


def test_difference_penalty_and_even_knots():
    coef = np.array([1.0, 4.0, 9.0, 16.0, 30.0])
    assert coef @ difference_penalty(5, 2) @ coef == pytest.approx(np.sum(np.diff(coef, 2) ** 2))
    knots = even_knots(2.0, 5.0, 9, 3)
    assert len(knots) == 13
    assert_allclose(np.diff(knots), 0.5)
    assert (knots[3], knots[9]) == (2.0, 5.0)
    with pytest.raises(InputError, match="at least 4"):
        even_knots(0, 1, 3, 3)


def test_natural_functions_are_linear_beyond_the_ends_and_not_inside():
    x = np.linspace(0, 1, 40)[:, None]
    basis = NaturalSpline(4, intercept=True).fit(x)
    assert basis.transform(x).shape[1] == 6
    knots = clamped_knots(basis.knots_[0], 0.0, 1.0, 3)
    bend = design([0.0, 1.0], knots, 3, 2).toarray() @ natural_transform(knots)
    assert_allclose(bend, 0, atol=1e-9 * 300)  # second derivatives are of the order of 300
    out = basis.transform(np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0], [3.0]]))
    assert_allclose(np.diff(out[:3], 2, axis=0), 0, atol=1e-12)
    assert_allclose(np.diff(out[3:], 2, axis=0), 0, atol=1e-12)
    # It holds every line.
    Z = basis.transform(x)
    assert_allclose(Z @ np.linalg.lstsq(Z, x, rcond=None)[0], x, atol=1e-12)


def test_knots_by_quantiles_ties_and_weights():
    x = np.concatenate([np.zeros(50), np.arange(10.0)])
    basis = BSpline(3).fit(x[:, None])
    assert np.all(np.diff(basis.knots_[0]) > 0)  # of the distinct values: most rows are tied
    assert_allclose(basis.knots_[0], np.quantile(np.arange(10.0), [0.25, 0.5, 0.75]))
    binary = BSpline(3).fit(np.array([[0.0], [1.0], [1.0]]))
    assert_allclose(binary.knots_[0], [0.25, 0.5, 0.75])
    constant = BSpline(1).fit_transform(np.full((4, 1), 3.0))
    assert np.all(np.isfinite(constant))
    rng = np.random.default_rng(0)
    values, weight = rng.normal(size=30), rng.integers(0, 4, size=30)
    for count in (1, 2, 5):
        assert_allclose(
            place_knots(values, count, weight=weight.astype(float)),
            place_knots(np.repeat(values, weight), count),
            atol=1e-12,
        )
        # Other weights are relative: equal ones change nothing, nor does their unit.
        assert_allclose(
            place_knots(values, count, weight=np.full(30, 0.2)), place_knots(values, count)
        )
        share = rng.uniform(0.5, 3, size=30)
        knots = place_knots(values, count, weight=share)
        assert_allclose(place_knots(values, count, weight=1e-6 * share), knots, rtol=1e-9)
        nearly = place_knots(values, count, weight=1 + 1e-9 * share)
        assert_allclose(nearly, place_knots(values, count), atol=1e-6)


def test_names_several_columns_and_a_model():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(100, 2))
    basis = BSpline(2).fit(X)
    assert basis.get_feature_names_out(["a", "b"])[[0, 5]].tolist() == [
        "bspline(a, 1)",
        "bspline(b, 1)",
    ]
    assert TruncatedPower(1, degree=1).fit(X).get_feature_names_out().tolist() == [
        "power(x0, 1)",
        "power(x0, 2)",
        "power(x1, 1)",
        "power(x1, 2)",
    ]
    y = np.sin(6 * X[:, 0]) + X[:, 1] ** 2
    for each in (BSpline(5), NaturalSpline(5), TruncatedPower(5)):
        assert make_pipeline(each, LeastSquares()).fit(X, y).score(X, y) > 0.99


@pytest.mark.parametrize(
    ("basis", "message"),
    [
        (BSpline(knots=[0.5, 3.0]), "The knot 3 lies outside the data, which go from 0 to 1"),
        (BSpline(knots=[0.5, 0.5]), "The knot 0.5 is given twice"),
        (BSpline(knots=[0.5, np.nan]), "must be finite"),
        (BSpline(knots="many"), "knots must be 'quantile', 'even' or numbers"),
        (BSpline(boundary=(1, 0)), "the lower first"),
        (BSpline(boundary="wide"), "boundary must be None or two"),
        (TruncatedPower(knots=[[0.1], [0.2], [0.3]]), "3 rows for 1 columns"),
    ],
)
def test_bad_knots_are_named(basis, message):
    with pytest.raises(InputError, match=message):
        basis.fit(np.linspace(0, 1, 20)[:, None])


def test_bad_parameters_are_named():
    with pytest.raises(ParameterError, match="BSpline: n_knots=-1 is not allowed"):
        BSpline(-1).fit(np.ones((3, 1)))
    with pytest.raises(ParameterError, match="degree=0 is not allowed"):
        TruncatedPower(degree=0).fit(np.ones((3, 1)))
    with pytest.raises(InputError, match="finite numbers"):
        check_knots(["a"], 0, 1)
