"""Subset selection against R's leaps::regsubsets."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bottega.linear import SubsetSelection

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "linear" / "leaps.json").read_text()
)
CASES = {case["name"]: case for case in REFERENCE["cases"]}


def arrays(case):
    return np.array(case["X"], dtype=float), np.array(case["y"], dtype=float)


def agree(found, expected, first):
    """Compare from the first size leaps reports on; its sizes leave out the empty model."""
    subsets = [each.tolist() for each in found.subsets_[first:]]
    assert subsets == [list(each) for each in expected["subsets"]]
    # Two QR factorisations of data conditioned up to 1e4 (longley), and 15 digits of JSON.
    assert_allclose(found.rss_[first:], expected["rss"], rtol=1e-8)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("method", ["best", "forward", "backward"])
def test_same_subsets_and_rss(name, method):
    case = CASES[name]
    X, y = arrays(case)
    found = SubsetSelection(1, method=method).fit(X, y)
    agree(found, case[method], 1)
    assert_allclose(found.rss_[0], case[method]["nullrss"], rtol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_same_subsets_with_weights(name):
    case = CASES[name]
    X, y = arrays(case)
    found = SubsetSelection(1).fit(X, y, sample_weight=case["weight"])
    agree(found, case["weighted"], 1)


@pytest.mark.parametrize("name", CASES)
def test_same_subsets_with_forced_columns(name):
    case = CASES[name]
    X, y = arrays(case)
    found = SubsetSelection(3, force=[2, 4]).fit(X, y)
    assert found.subsets_[0].tolist() == [2, 4]
    agree(found, case["forced"], 1)


@pytest.mark.parametrize("name", CASES)
def test_same_subsets_without_an_intercept(name):
    case = CASES[name]
    X, y = arrays(case)
    found = SubsetSelection(1, fit_intercept=False).fit(X, y)
    agree(found, case["no_intercept"], 1)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("method", ["best", "forward", "backward"])
def test_cp_and_bic(name, method):
    case = CASES[name]
    X, y = arrays(case)
    n, expected = len(y), case[method]
    path = SubsetSelection(method=method, cv=2).path(X, y)
    assert_allclose(path.criteria["cp"][1:], expected["cp"], rtol=1e-7, atol=1e-8 * n)
    # Theirs is n log(rss / nullrss) + k log n: relative to the model without columns, and the
    # scale is not counted as a parameter.
    null = n * (np.log(2 * np.pi * expected["nullrss"] / n) + 1) + np.log(n)
    assert_allclose(path.criteria["bic"][1:], null + expected["bic"], rtol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_hybrid_lies_between_forward_and_best(name):
    case = CASES[name]
    X, y = arrays(case)
    found = SubsetSelection(1, method="hybrid").fit(X, y).rss_[1:]
    forward, best = case["forward"]["rss"], np.array(case["best"]["rss"])
    assert found[0] == pytest.approx(forward[0])
    assert np.all(found >= best * (1 - 1e-9))
