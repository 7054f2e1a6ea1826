"""Bases, penalties and constraints of the terms of an additive model."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.additive import additive_model
from bottega.additive._terms.bases import (
    CurveBasis,
    LevelsBasis,
    RingBasis,
    ValueBasis,
    plate_basis,
    ring_penalty,
    uneven_knots,
    uneven_penalty,
)
from bottega.additive._terms.blocks import Block, Margin, row_products
from bottega.additive._terms.facts import TableFacts
from bottega.basis.spline_functions import difference_penalty, even_knots

AdditiveModel = additive_model.AdditiveModel


def even(low, high, size, degree=3):
    return CurveBasis(low, high, even_knots(0.0, 1.0, size, degree), degree)


def test_b_splines_add_up_to_one_and_go_on_as_lines():
    basis = even(-2.0, 5.0, 8)
    inside = basis.at(np.linspace(-2, 5, 50)[:, None])
    assert inside.sum(axis=1) == pytest.approx(np.ones(50))
    beyond = basis.at(np.array([[5.0], [6.0], [7.0]]))
    assert beyond[2] - beyond[1] == pytest.approx(beyond[1] - beyond[0])


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e150, 1e300])
def test_the_units_of_a_column_do_not_matter(scale):
    x = np.linspace(-1, 1, 11)
    assert even(-scale, scale, 8).at(scale * x[:, None]) == pytest.approx(
        even(-1.0, 1.0, 8).at(x[:, None])
    )


def test_missing_values_have_rows_of_zeros_but_a_level_of_their_own():
    gap = np.array([[np.nan]])
    for basis in (even(0.0, 1.0, 5), RingBasis(0.0, 1.0, 5, 3), ValueBasis(), LevelsBasis(3)):
        assert not np.any(basis.at(gap))
    assert LevelsBasis(2, gaps=True).at(np.array([[1.0], [np.nan], [0.0]])).tolist() == [
        [0, 1, 0],
        [0, 0, 1],
        [1, 0, 0],
    ]


def test_a_ring_closes_with_its_derivatives():
    basis = RingBasis(0.0, 24.0, 8, 3)
    assert basis.at(np.array([[24.0]])) == pytest.approx(basis.at(np.array([[0.0]])))
    assert basis.at(np.array([[27.5]])) == pytest.approx(basis.at(np.array([[3.5]])))
    h = 1e-4
    ends = basis.at(np.array([[-h], [0.0], [h]]))
    assert (ends[2] - ends[1]) / h == pytest.approx((ends[1] - ends[0]) / h, abs=1e-3)
    # Around a ring only a constant is free of penalty.
    values = np.linalg.eigvalsh(ring_penalty(8, 2))
    assert values[0] == pytest.approx(0, abs=1e-12)
    assert values[1] > 0.1


def test_uneven_knots_penalise_no_line_and_even_ones_as_differences():
    assert uneven_penalty(even_knots(0.0, 1.0, 9, 3), 3) == pytest.approx(difference_penalty(9, 2))
    u = np.sort(np.random.default_rng(0).beta(0.3, 2.0, 500))
    u = (u - u[0]) / (u[-1] - u[0])
    knots = uneven_knots(u, np.ones(500), 10, 3)
    assert len(knots) == 14
    basis = CurveBasis(0.0, 1.0, knots, 3)
    coef = np.linalg.lstsq(basis.at(u[:, None]), 3 * u - 1, rcond=None)[0]
    assert basis.at(u[:, None]) @ coef == pytest.approx(3 * u - 1)
    assert coef @ uneven_penalty(knots, 3) @ coef == pytest.approx(0, abs=1e-12)


def test_a_thin_plate_bends_no_plane_and_does_not_know_directions():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(80, 2))
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    basis = plate_basis(points, np.ones(80), 20)
    turned = plate_basis(points @ turn, np.ones(80), 20)
    assert basis.size == 20
    B, C = basis.at(points), turned.at(points @ turn)
    plane = 2 + points @ [1.0, -3.0]
    coef = np.linalg.lstsq(B, plane, rcond=None)[0]
    assert B @ coef == pytest.approx(plane)
    assert coef @ basis.penalty() @ coef == pytest.approx(0, abs=1e-9)
    y = np.sin(points[:, 0]) + points[:, 1] ** 2

    def fitted(M, S):
        return M @ np.linalg.solve(M.T @ M + 0.1 * S, M.T @ y)

    assert fitted(B, basis.penalty()) == pytest.approx(fitted(C, turned.penalty()), abs=1e-7)


def test_a_block_is_the_product_of_its_margins():
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(6, 2))
    left, right = Margin((0,), even(0.0, 1.0, 4)), Margin((1,), even(0.0, 1.0, 5))
    block = Block("tensor(a, b)", "tensor", (left, right))
    rows = block.design(X)
    by_hand = [np.kron(a, b) for a, b in zip(left.rows(X[:, 0]), right.rows(X[:, 1]), strict=True)]
    assert rows == pytest.approx(np.array(by_hand))
    assert row_products(np.ones((6, 1)), X) == pytest.approx(X)
    assert block.columns == (0, 1)
    assert (block.raw_size, block.size, block.centred) == (20, 20, False)


@pytest.fixture(scope="module")
def fitted():
    """A model with a term of each kind, on weighted rows."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.uniform(size=(300, 4)), rng.integers(0, 4, 300)])
    y = np.sin(6 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 4] + 0.1 * rng.normal(size=300)
    w = rng.integers(1, 4, 300)
    terms = "smooth(x0, df=5) + tensor(x1, x2) + smooth(x3, by=x4) + factor(x4)"
    return AdditiveModel(terms).fit(X, y, sample_weight=w), X, w


def test_effects_have_mean_zero_over_the_weighted_rows(fitted):
    model, X, w = fitted
    matrix = model.columns_in_.read(model, X)
    for block in model.blocks_[1:]:
        assert np.abs(w @ block.design(matrix)).max() < 1e-9 * w.sum(), block.name
        assert block.transform.T @ block.transform == pytest.approx(np.eye(block.size))


def test_a_factor_in_by_makes_a_block_for_each_level(fitted):
    model, _, _ = fitted
    named = [block.name for block in model.blocks_ if block.term == 2]
    assert named == [f"smooth(x3, x4={level})" for level in (0.0, 1.0, 2.0, 3.0)]


def test_degrees_of_freedom_that_are_asked_for_are_those_of_the_term_alone(fitted):
    model, X, w = fitted
    block = model.blocks_[1]
    B = block.design(model.columns_in_.read(model, X))
    G = B.T @ (w[:, None] * B)
    S = block.fixed[0] * block.penalties[0]
    assert np.trace(np.linalg.solve(G + S, G)) == pytest.approx(5.0, abs=1e-6)


def test_what_selection_adds_penalises_what_the_penalty_leaves(fitted):
    model, _, _ = fitted
    block = model.blocks_[1]
    assert np.linalg.matrix_rank(block.penalties[0]) == block.size - 1
    assert np.linalg.matrix_rank(block.penalties[0] + block.shrink) == block.size
    assert np.abs(block.penalties[0] @ block.shrink).max() < 1e-9


@settings(max_examples=30)
@given(st.integers(1, 29), st.integers(0, 1000))
def test_facts_of_chunks_are_those_of_all_rows(cut, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3)) * [1.0, 1e-200, 1e200]
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    w = rng.uniform(0.5, 2, 30)
    whole = TableFacts(X, w).columns()
    parts = TableFacts(X[:cut], w[:cut]).merge(TableFacts(X[cut:], w[cut:])).columns()
    for one, other in zip(whole, parts, strict=True):
        assert (one.low, one.high, one.distinct, one.gaps) == (
            *(other.low, other.high),
            *(other.distinct, other.gaps),
        )
        assert one.spread == pytest.approx(other.spread)
        assert one.centre == pytest.approx(other.centre, abs=1e-9 * one.spread)
