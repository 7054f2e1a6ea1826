"""Rows gathered for the processor's cache give the tree that rows as they stand give."""

from dataclasses import fields

import numpy as np
import pytest

from bottega.tree import TreeRegressor
from bottega.tree._grow import exact
from bottega.tree._grow.columns import Columns, by_column
from bottega.tree._grow.options import GrowOptions

SQUARES = {"criterion": "squared_error"}
CASES = {
    "regression": (0, SQUARES),
    "two classes": (2, {}),
    "entropy": (4, {"criterion": "entropy"}),
    "surrogates": (0, SQUARES | {"missing": "surrogate", "n_surrogates": 2}),
    "some columns": (0, SQUARES | {"max_features": 2, "seed": 3}),
}


@pytest.mark.parametrize("case", CASES)
def test_gathered_rows_give_the_same_tree(case, monkeypatch):
    n_classes, options = CASES[case]
    rng = np.random.default_rng(0)
    n, p = 700, 4
    X = np.round(rng.normal(size=(n, p)), 1)
    X[rng.uniform(size=(n, p)) < 0.05] = np.nan
    X[:, 3] = rng.integers(6, size=n)
    columns = Columns(
        np.asfortranarray(X), np.array([False, False, False, True]), np.array([0, 0, 0, 6])
    )
    y = rng.integers(n_classes, size=n) if n_classes else rng.normal(size=n)
    w = rng.integers(1, 4, size=n).astype(float)

    def grown(near):
        monkeypatch.setattr(exact, "_NEAR", near)
        return exact.grow(columns, y, w, GrowOptions(**options), n_classes=n_classes)

    plain, gathered = grown(n), grown(20)
    assert len(plain.threshold) > 50
    for each in fields(plain):
        np.testing.assert_array_equal(
            getattr(plain, each.name), getattr(gathered, each.name), err_msg=each.name
        )


@pytest.mark.parametrize("case", CASES)
def test_weights_of_one_take_no_part(case, monkeypatch):
    """Rows without weights are kept without them, and give the tree of weights that are one."""
    n_classes, options = CASES[case]
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(300, 4)), 1)
    X[rng.uniform(size=X.shape) < 0.05] = np.nan
    y = rng.integers(n_classes, size=300) if n_classes else rng.normal(size=300)
    grown = exact.grow(Columns.numeric(X), y, None, GrowOptions(**options), n_classes=n_classes)
    kept = exact._weighed(np.ones(3), np.arange(3.0))
    assert kept.tolist() == [[0.0], [1.0], [2.0]]
    monkeypatch.setattr(exact, "_weighed", lambda w, z: np.column_stack([w, w * z]))
    again = exact.grow(Columns.numeric(X), y, None, GrowOptions(**options), n_classes=n_classes)
    for field in fields(grown):
        assert np.array_equal(getattr(grown, field.name), getattr(again, field.name)), field.name


@pytest.mark.parametrize("n", [3, 2048, 2049, 5000])
def test_a_matrix_is_turned_in_pieces(n):
    X = np.arange(3.0 * n).reshape(n, 3)
    for given in (X, np.asfortranarray(X), X[::-1], X[:, ::2]):
        turned = by_column(given)
        assert turned.flags.f_contiguous
        assert np.array_equal(turned, given)


def test_a_tree_that_is_not_pruned_needs_no_sequence(monkeypatch):
    X = np.random.default_rng(2).normal(size=(60, 2))
    y = X[:, 0] + X[:, 1] ** 2
    pruned = TreeRegressor(1e-9).fit(X, y)
    monkeypatch.setattr(TreeRegressor, "_sequence", None)
    grown = TreeRegressor(0.0).fit(X, y)
    assert grown.nodes_.n_leaves == pruned.nodes_.n_leaves == 60
    assert grown.predict(X) == pytest.approx(y)
