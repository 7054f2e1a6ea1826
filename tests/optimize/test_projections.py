import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bottega.core.errors import InputError, ParameterError
from bottega.optimize import onto_ball, onto_box, onto_l1_ball, onto_simplex

VECTORS = arrays(np.float64, st.integers(1, 8), elements=st.floats(-100, 100, width=32))
RADII = st.floats(0.01, 50)


def corners(kind, d, radius):
    """Points whose mixtures are the set (for the box: enough to test each entry by itself)."""
    unit = radius * np.eye(d)
    return unit if kind is onto_simplex else np.vstack([unit, -unit])


@settings(max_examples=100, deadline=None)
@given(VECTORS, RADII, st.sampled_from([onto_simplex, onto_l1_ball]))
def test_simplex_and_l1_ball_by_the_optimality_condition(w, radius, kind):
    p = kind(w, radius)
    if kind is onto_simplex:
        assert np.all(p >= 0)
        assert p.sum() == pytest.approx(radius, rel=1e-9, abs=1e-9)
    else:
        assert np.abs(p).sum() <= radius * (1 + 1e-9)
    # p is nearest if and only if no point v of the set has (w - p).(v - p) > 0; corners suffice.
    scale = (1 + np.abs(w).sum()) * (1 + radius)
    assert np.all((corners(kind, len(w), radius) - p) @ (w - p) <= 1e-10 * scale)
    assert kind(p, radius) == pytest.approx(p, rel=1e-9, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(VECTORS, RADII)
def test_ball_and_box_by_their_formulas(w, radius):
    ball = onto_ball(w, radius)
    norm = np.linalg.norm(w)
    assert ball == pytest.approx(w if norm <= radius else w * radius / norm)
    assert np.array_equal(onto_box(w, radius), np.clip(w, -radius, radius))


def test_points_inside_stay():
    w = np.array([0.2, -0.3])
    for kind in (onto_ball, onto_box, onto_l1_ball):
        assert np.array_equal(kind(w), w)
    assert onto_simplex([0.25, 0.75]) == pytest.approx([0.25, 0.75])
    assert onto_simplex([0.0, 0.0, 0.0, 0.0], 2.0) == pytest.approx([0.5] * 4)


def test_what_is_given_is_not_changed():
    w = np.array([3.0, 4.0])
    onto_ball(w)
    assert w.tolist() == [3, 4]


@pytest.mark.parametrize("kind", [onto_ball, onto_box, onto_simplex, onto_l1_ball])
def test_bad_input(kind):
    for radius in (0, -1, np.inf, np.nan):
        with pytest.raises(ParameterError, match="radius="):
            kind([1.0], radius)
    with pytest.raises(InputError, match="shape"):
        kind([[1.0]])
    with pytest.raises(InputError, match="shape"):
        kind([])
    with pytest.raises(InputError, match="missing or infinite"):
        kind([np.nan])
