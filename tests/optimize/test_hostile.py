"""Functions and input that no method can do much with: each is stopped, and said what it is."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bottega.core.errors import InputError, ParameterError
from bottega.optimize import (
    Problem,
    bisection,
    coordinate_descent,
    gradient_descent,
    l1_penalty,
    lbfgs,
    minimize,
    nonnegative_least_squares,
    onto_ball,
    onto_orthant,
    onto_simplex,
    projected_gradient,
    proximal_gradient,
    quadratic_program,
)


def square(x):
    return float(np.sum(x**2))


def falling(x):
    return -float(np.sum(x))


@pytest.mark.parametrize("method", [coordinate_descent, gradient_descent, lbfgs])
def test_a_function_without_a_minimum_is_unbounded(method):
    with pytest.warns(ConvergenceWarning):
        assert method(falling, [1.0, 1.0]).verdict == "unbounded"


def test_the_whole_way_of_an_exact_search():
    """The step to minus infinity, which has no length, is not taken."""
    with pytest.warns(ConvergenceWarning):
        found = gradient_descent(falling, [1.0, 1.0], line_search="exact")
    assert found.verdict == "unbounded"
    assert found.x.tolist() == [1, 1]


def test_a_constant_is_at_its_minimum():
    found = coordinate_descent(lambda x: 3.0 + 0 * x[0], [1.0, 1.0])
    assert found.converged
    assert found.x.tolist() == [1, 1]


def test_projected_steps_that_rounding_hides_are_no_minimum():
    """Far out a step of 1 is less than the spacing of numbers."""
    for run in (
        lambda: projected_gradient(falling, [1.0, 1.0], onto_orthant),
        lambda: proximal_gradient(falling, [1.0, 1.0], l1_penalty(0.1)),
    ):
        with pytest.warns(ConvergenceWarning):
            assert run().verdict == "unbounded"


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_the_units_of_f_do_not_matter(scale):
    def f(x):
        return scale * square(x)

    def slope(x):
        return 2 * scale * x

    for kind in ("exact", "backtracking"):
        found = gradient_descent(f, [1.0, 1.0], gradient=slope, line_search=kind)
        assert found.converged
        assert np.max(np.abs(found.x)) < 1e-5
    if scale > 1:  # projected steps have a tolerance in the units of f
        with pytest.warns(ConvergenceWarning):
            found = projected_gradient(f, [1.0, 1.0], onto_ball, gradient=slope, max_iter=50)
        assert np.max(np.abs(found.x)) < 1e-5


@pytest.mark.parametrize("beyond", [np.nan, np.inf])
@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS"])
def test_scipys_solvers_say_where_f_is_not_finite(method, beyond):
    def f(x):
        return beyond if np.any(x < 0.3) else square(x)

    with pytest.warns(ConvergenceWarning, match=rf"not finite.*f is {beyond} at x = |not finite"):
        found = minimize(f, [1.0, 1.0], method=method)
    assert found.verdict == "not finite"
    assert np.all(found.x >= 0.3)


def test_a_search_that_leaves_for_infinity_is_unbounded():
    """From (1, 1), -|x|^2 falls for ever; (0, 0) is stationary, and its largest value."""
    found = Problem(lambda x: -square(x), x0=[1.0, 1.0], inequality=[lambda x: -x[0]]).solve()
    assert found.verdict == "unbounded"


@pytest.mark.parametrize(
    "call",
    [
        lambda: gradient_descent(square, [1.0, 2.0], gradient=str),
        lambda: onto_simplex(["a", "b"]),
        lambda: quadratic_program([["a"]], [1.0]),
        lambda: nonnegative_least_squares([["a"]], [1.0]),
        lambda: Problem(square, x0=[1.0], inequality=[square]).kkt([1.0], multipliers=["a"]),
    ],
)
def test_what_is_no_number_is_said(call):
    with pytest.raises(InputError, match="no array of numbers"):
        call()


def test_parameters_of_another_kind():
    with pytest.raises(ParameterError, match="tol='small' is not allowed"):
        gradient_descent(square, [1.0], tol="small")
    with pytest.raises(ParameterError, match="f=3 is not a function"):
        bisection(3, 0, 1)
