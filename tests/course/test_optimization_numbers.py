"""Numbers of the chapters on optimisation, by hand, and verdicts that fail when they should."""

import numpy as np
import pytest

from bottega import course
from bottega.course.machine_learning import constrained_optimization as constrained
from bottega.course.machine_learning import mathematical_tools


def parts(name, **options):
    frame = getattr(course, name)(**options).to_frame()
    return {row["part"]: row for row in frame.to_dict("records")}


def test_x37_on_round_quadratics_exact_searches_need_not_zigzag():
    assert not course.two_line_searches(conditions=(1.0, 1.5), starts=1).holds


def test_x38_factors_by_hand():
    """((L - m) / (L + m))^2 is 1/9 for a condition of 2 and 4/9 for one of 5."""
    found = parts("linear_convergence", conditions=(2.0, 5.0))
    factor = found["factor per step, fixed steps, condition 2"]
    assert factor["compared with"] == pytest.approx(1 / 9)
    assert factor["found"] == pytest.approx(1 / 9, rel=1e-6)
    steps = found["steps to 1e-08 of the gap, exact searches, condition 5"]
    assert steps["compared with"] == 23  # 8 ln 10 / ln(9 / 4) = 22.7


def test_x39_distances_by_hand():
    """A step of s / curvature multiplies the distance by 1 - s."""
    found = parts("lengths_of_steps", curvature=10.0, steps=40)
    assert found["distance after 40 steps of 1.9 / curvature"]["found"] == pytest.approx(0.9**40)
    assert found["distance after 1 steps of 1 / curvature"]["found"] == 0
    slow = parts("lengths_of_steps", decay=0.999)
    left = slow["distance that decaying steps leave, and the product of theory"]
    assert left["found"] < 1e-12
    assert not left["supported"]  # they arrive: the verdict is about fast decay


def test_x40_without_bad_scaling_there_is_no_lead():
    assert not course.memory_of_gradients(conditions=(2.0, 4.0)).holds


def test_x45_least_values_by_hand():
    """0.5 |x - c|^2 less 0.5 |c|^2, whose minimum over each set is at the projection of c."""
    A, c = np.eye(2), np.array([3.0, 4.0])
    assert constrained._least_over("box", A, -c) == pytest.approx(-3.25)  # at (0.5, 0.5)
    assert constrained._least_over("ball", A, -c) == pytest.approx(-4.5)  # at (0.6, 0.8)
    assert constrained._least_over("L1 ball", A, -c) == pytest.approx(-3.5)  # at (0, 1)


def test_x46_bounds_by_hand():
    """On the circle g(alpha) = -1 / (2 alpha) - alpha; the wells leave a gap of a chord."""
    circle = constrained._circle()
    assert circle.dual([0.5]).value == pytest.approx(-1.5)
    assert circle.solve_dual().value == pytest.approx(-np.sqrt(2))
    best, least = constrained._two_wells()
    assert best == pytest.approx(0.15, abs=1e-3)  # the chord 0.3 x of the two wells, at 0.5
    assert least == pytest.approx(0.2941, abs=1e-4)
    assert constrained._lagrangian_without_slater(7.0) == pytest.approx(7e-10)


def test_nx21_sums_of_both_labels_by_hand():
    """With ln 2 the hinge adds up to 1 at 0, 1 + 1/4 at 1 and 1 + 2^-4 at 3."""
    sums = mathematical_tools._both_labels("hinge", np.array([0.0, 1.0, 3.0]), np.log(2))
    assert sums == pytest.approx([1, 1.25, 1.0625])
    rng = np.random.default_rng(0)
    assert max(mathematical_tools._losses_and_likelihoods(rng).values()) < 1e-12
