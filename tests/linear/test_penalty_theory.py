"""What the notes prove: the irrepresentable condition, orthogonal shrinkage, penalty regions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from bottega.core.errors import InputError
from bottega.linear import LeastAngle, irrepresentable, orthogonal_shrinkage, penalty_region


def orthonormal(n, p, seed=0):
    """Return centred columns, orthogonal and of unit variance."""
    drawn = np.random.default_rng(seed).normal(size=(n, p))
    return np.linalg.qr(np.column_stack([np.ones(n), drawn]))[0][:, 1:] * np.sqrt(n)


# ---- the irrepresentable condition ---------------------------------------------------------------


def design(cross):
    """Columns 0 and 1 orthogonal; column 2 leans on both by `cross`."""
    Q = orthonormal(300, 3)
    third = cross * (Q[:, 0] + Q[:, 1]) + np.sqrt(1 - 2 * cross**2) * Q[:, 2]
    return np.column_stack([Q[:, :2], third])


@pytest.mark.parametrize(("cross", "holds"), [(0.2, True), (0.49, True), (0.51, False)])
def test_value_by_hand(cross, holds):
    X = design(cross)
    found = irrepresentable(X, [0, 1])
    assert found.value == pytest.approx(2 * cross)
    assert found.margin == pytest.approx(1 - 2 * cross)
    assert found.holds is holds
    assert found.worst == 2
    assert irrepresentable(X, [True, True, False]).value == pytest.approx(found.value)
    assert irrepresentable(X, [0, 1], signs=[1, 1]).value == pytest.approx(2 * cross)
    assert irrepresentable(X, [0, 1], signs=[3, -2]).value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("third", [[1.0, 0.0], [0.5, 0.5], [0.3, -0.7]])
def test_one_is_not_enough(third):
    # The notes let epsilon be zero; a value of one leaves no room.
    found = irrepresentable(np.column_stack([np.eye(2), third]), [0, 1])
    assert found.value == pytest.approx(1)
    assert not found.holds


@pytest.mark.parametrize(("cross", "found"), [(0.4, True), (0.6, False)])
def test_the_noiseless_lasso_finds_the_support_just_when_it_holds(cross, found):
    X = design(cross)
    y = X[:, 0] + X[:, 1]
    path = LeastAngle(1, method="lasso", standardize=False).fit(X, y).coef_path_
    # Without noise least squares, at the end, is the truth; before it the third column must stay
    # out at every penalty.
    assert_allclose(path[-1], [1, 1, 0], atol=1e-9)
    assert np.all(np.abs(path[:-1, 2]) < 1e-9) == found
    assert irrepresentable(X, [0, 1]).holds is found


def test_verdict_is_in_words():
    good, bad = (irrepresentable(design(c), [0, 1]) for c in (0.2, 0.6))
    assert "can find the support" in str(good)
    assert "adaptive lasso" in str(bad)
    assert "every choice of signs" in bad._repr_html_()
    everything = irrepresentable(np.eye(3), [0, 1, 2])
    assert everything.value == 0
    assert everything.worst is None


@pytest.mark.parametrize(
    ("support", "signs", "words"),
    [
        ([], None, "support must name"),
        ([0, 0], None, "support must name"),
        ([3], None, "from 0 to 2"),
        ([0.5], None, "support must name"),
        ([0, 1], [1], "signs must be 2 numbers"),
        ([0, 1], [1, 0], "not zero"),
    ],
)
def test_bad_support_is_named(support, signs, words):
    with pytest.raises(InputError, match=words):
        irrepresentable(np.eye(4)[:, :3], support, signs=signs)


def test_bad_designs_are_named():
    X = np.column_stack([np.ones(5), np.ones(5), np.arange(5.0)])
    with pytest.raises(InputError, match="collinear"):
        irrepresentable(X, [0, 1])
    X[0, 0] = np.nan
    with pytest.raises(InputError, match="finite"):
        irrepresentable(X, [2])


# ---- orthogonal shrinkage ------------------------------------------------------------------------


def test_the_notes_numbers_with_the_misprint_corrected():
    assert orthogonal_shrinkage(2, 0.5, penalty="ridge") == pytest.approx(4 / 3)
    assert orthogonal_shrinkage(2, 0.5) == 1.5
    assert orthogonal_shrinkage(0.3, 0.5, penalty="ridge") == pytest.approx(0.2)
    assert orthogonal_shrinkage(0.3, 0.5) == 0
    # The printed (|b - alpha|)+ would give 0.2 for b = 0.3, and -2.5 for b = -2.
    assert orthogonal_shrinkage(-2, 0.5) == -1.5
    assert_allclose(orthogonal_shrinkage([0.9, 1.1, -1.1], 0.5, penalty="subset"), [0, 1.1, -1.1])


@settings(max_examples=40, deadline=None)
@given(b=st.floats(-5, 5), lam=st.floats(0, 5))
def test_each_rule_minimises_its_objective(b, lam):
    objectives = {
        "ridge": lambda t: (t - b) ** 2 + lam * t**2,
        "lasso": lambda t: (t - b) ** 2 / 2 + lam * abs(t),
        "subset": lambda t: (t - b) ** 2 / 2 + lam * (t != 0),
    }
    for rule, objective in objectives.items():
        found = objective(orthogonal_shrinkage(b, lam, penalty=rule))
        rival = minimize_scalar(objective, bounds=(-6, 6), method="bounded").fun
        assert found <= min(rival, objective(0.0), objective(b)) + 1e-9


def test_the_lasso_rule_is_the_lasso_on_an_orthogonal_design():
    Q = orthonormal(50, 4)
    y = np.random.default_rng(1).normal(size=50)
    model = LeastAngle(2, method="lasso").fit(Q, y)
    assert_allclose(model.coef_, orthogonal_shrinkage(Q.T @ y / 50, model.alpha_), atol=1e-12)


@pytest.mark.parametrize(
    ("alpha", "rule", "words"),
    [(-1, "lasso", "at least 0"), (np.nan, "lasso", "at least 0"), (1, "bridge", "use one of")],
)
def test_bad_rules_are_named(alpha, rule, words):
    with pytest.raises(InputError, match=words):
        orthogonal_shrinkage(1.0, alpha, penalty=rule)


# ---- penalty regions -----------------------------------------------------------------------------


@pytest.mark.parametrize("q", [0.3, 0.5, 1, 1.5, 2, 4])
def test_points_lie_on_the_boundary(q):
    region = penalty_region(q, s=2.5, points=80)
    assert_allclose(np.abs(region.b1) ** q + np.abs(region.b2) ** q, 2.5, rtol=1e-9)
    assert len(region.b1) == 81
    assert region.b1[0] == region.b1[-1]
    ends = [region.b1.max(), region.b2.max(), -region.b1.min(), -region.b2.min()]
    assert_allclose(ends, 2.5 ** (1 / q))
    # All four quadrants, once round: the angle only grows.
    angle = np.unwrap(np.arctan2(region.b2, region.b1))
    assert np.all(np.diff(angle) >= -1e-12)
    assert angle[-1] - angle[0] == pytest.approx(2 * np.pi)


@pytest.mark.parametrize("q", [0.3, 0.5, 0.99, 1, 1.01, 2, 4])
def test_convex_from_one_on_and_corners_up_to_one(q):
    region = penalty_region(q)
    assert region.convex == (q >= 1)
    assert region.corners == (q <= 1)
    # Midpoints of neighbours but one stay inside just when the region is convex.
    middle = np.abs((region.b1[:-2] + region.b1[2:]) / 2) ** q
    middle += np.abs((region.b2[:-2] + region.b2[2:]) / 2) ** q
    assert np.all(middle <= 1 + 1e-9) == region.convex


@pytest.mark.parametrize(
    ("q", "options", "words"),
    [(0, {}, "q=0"), (-1, {}, "q=-1"), (1, {"s": 0}, "s=0"), (1, {"points": 10}, "multiple of 4")],
)
def test_bad_regions_are_named(q, options, words):
    with pytest.raises(InputError, match=words):
        penalty_region(q, **options)
