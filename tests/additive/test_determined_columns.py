"""Which coefficients rows determine: a choice among columns that tie, not left to rounding."""

import numpy as np

from bottega.additive._penalized.identify import determined
from bottega.additive._terms.bases import ValueBasis
from bottega.additive._terms.blocks import Block, Margin


def lines(count):
    return [Block(f"x{j}", "linear", (Margin((j,), ValueBasis(0.0, 1.0)),)) for j in range(count)]


def test_of_columns_that_say_the_same_the_first_stays():
    rng = np.random.default_rng(0)
    one = np.linalg.qr(rng.normal(size=(20, 4)))[0]
    for _ in range(10):
        X = np.hstack([one, one, one[:, ::-1]]) * rng.uniform(0.1, 10, size=12)
        kept = determined(lines(12), X.T @ X, shrink=False)
        assert np.flatnonzero(kept).tolist() == [0, 1, 2, 3]


def test_which_columns_stay_does_not_hang_on_the_last_bit():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9, 30))
    X = np.column_stack([np.ones(9), X - X.mean(axis=0)])
    kept = determined(lines(31), X.T @ X, shrink=False)
    assert kept[0]
    assert kept.sum() == 9
    for _ in range(20):
        noise = 1 + 4e-16 * rng.normal(size=(31, 31))
        gram = X.T @ X * (noise + noise.T) / 2
        assert np.array_equal(determined(lines(31), gram, shrink=False), kept)
