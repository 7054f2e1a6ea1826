"""What rounding would choose if no rule did: columns that stay, bases of equal eigenvalues."""

import numpy as np
import pytest

from bottega.additive import AdditiveModel
from bottega.additive._penalized.identify import determined
from bottega.additive._penalized.rotation import Rotation
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


def test_the_straight_part_of_a_block_has_one_basis(monkeypatch):
    """Eigenvectors of equal eigenvalues may be any: those of another library are turned ones."""
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(80, 2))
    y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=80)
    (block,) = (
        each for each in AdditiveModel("tensor(x0, x1)").fit(X, y).blocks_ if each.kind == "tensor"
    )
    found = Rotation([block]).matrix()
    eigh = np.linalg.eigh

    def another(S):
        values, vectors = eigh(S)
        null = values < 1e-10 * values[-1]
        turn = np.linalg.qr(rng.normal(size=(null.sum(), null.sum())))[0]
        vectors[:, null] = vectors[:, null] @ turn
        return values, vectors

    monkeypatch.setattr(np.linalg, "eigh", another)
    turned = Rotation([block]).matrix()
    assert np.abs(np.sum(found * turned, axis=0)) == pytest.approx(1, abs=1e-10)
