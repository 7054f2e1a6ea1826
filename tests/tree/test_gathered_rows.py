"""Rows gathered for the processor's cache give the tree that rows as they stand give."""

from dataclasses import fields

import numpy as np
import pytest

from bottega.tree._grow import exact
from bottega.tree._grow.columns import Columns
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
