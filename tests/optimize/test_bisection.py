"""Bisection: the rule as written, and what it certifies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from bottega.core.errors import InputError
from bottega.optimize import bisection


def by_hand(slope, a, b, tol):
    low, high = a, b
    brackets = [(low, high)]
    while (high - low) * min(abs(slope(low)), abs(slope(high))) > tol:
        middle = (low + high) / 2
        if slope(middle) > 0:
            high = middle
        else:
            low = middle
        brackets.append((low, high))
    return brackets


def test_the_parabola():
    found = bisection(lambda x: (x - 2) ** 2, 0, 5, gradient=lambda x: 2 * (x - 2), tol=1e-8)
    assert found.x == pytest.approx([2.0], abs=1e-4)
    assert found.midpoint == pytest.approx(2.0, abs=1e-3)
    assert found.brackets.tolist() == [
        list(pair) for pair in by_hand(lambda x: 2 * (x - 2), 0.0, 5.0, 1e-8)
    ]
    assert found.gradient_evaluations == found.n_iter + 2
    assert "Interval" in str(found)


@settings(max_examples=60, deadline=None)
@given(
    best=st.floats(-8, 8),
    steep=st.floats(0.1, 50),
    a=st.floats(-10, -0.01),
    b=st.floats(0.01, 10),
    tol=st.sampled_from([1e-2, 1e-5, 1e-9]),
)
def test_the_end_is_certified(best, steep, a, b, tol):
    def f(x):
        return np.cosh(x - best) * steep + 0.3 * x

    def slope(x):
        return np.sinh(x - best) * steep + 0.3

    found = bisection(f, a, b, gradient=slope, tol=tol)
    assert found.converged
    optimum = np.clip(best - np.arcsinh(0.3 / steep), a, b)  # by hand
    rounding = 1e-14 * (abs(f(optimum)) + 0.3 * abs(optimum))
    assert -rounding <= found.value - f(optimum) <= tol + rounding
    assert np.all(np.diff(found.brackets[:, 0]) >= 0)
    assert np.all(np.diff(found.brackets[:, 1]) <= 0)


def test_the_middle_is_not_certified():
    """The first middle of (x - 2)^2 on [0, 4] is the minimum; what is left has 3 in the middle."""
    found = bisection(lambda x: (x - 2) ** 2, 0, 4, gradient=lambda x: 2 * (x - 2))
    assert found.n_iter == 1
    assert found.value == 0.0
    assert found.bounds[-1] == 0.0
    assert found.midpoint == 3.0
    assert (found.midpoint - 2) ** 2 > 1e-10


def test_minimum_at_an_end():
    for sign, end in ((1, 1.0), (-1, 3.0)):
        found = bisection(lambda x, s=sign: s * x + 0.01 * x * x, 1.0, 3.0)
        assert found.x == pytest.approx([end], abs=1e-6)
        assert "widen it" in found.message


def test_a_corner():
    """|x - 1| has slope 1 or -1 at both ends for ever: the interval ends at rounding."""

    def slope(x):
        return 1.0 if x >= 1 else -1.0

    with pytest.warns(ConvergenceWarning, match="a corner"):
        found = bisection(lambda x: abs(x - 1), 0, 3, gradient=slope, tol=0.0)
    assert found.verdict == "stalled"
    assert found.x == pytest.approx([1.0], abs=1e-15)


def test_torch():
    torch = pytest.importorskip("torch")
    found = bisection(lambda x: torch.exp(x) - 2 * x, 0, 3, gradient="torch")
    assert found.x == pytest.approx([np.log(2)], abs=1e-4)


def test_bad_input():
    with pytest.raises(InputError, match="below"):
        bisection(abs, 1, 0)
    with pytest.raises(InputError, match="finite"):
        bisection(abs, 0, np.inf)
    with pytest.raises(InputError, match="two numbers"):
        bisection(abs, "a", 1)
    with pytest.raises(InputError, match=r"f\(x0\) is inf"):
        bisection(lambda x: np.inf if x == 0 else x, 0, 1, gradient=lambda x: 1.0)  # noqa: ARG005
    with pytest.warns(ConvergenceWarning, match="not finite between"):
        found = bisection(lambda x: x * x, -1, 2, gradient=lambda x: np.nan if 0 < x < 1 else 2 * x)
    assert found.verdict == "not finite"
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        assert bisection(lambda x: x * x, -1, 2, max_iter=2).verdict == "max_iter"
