"""Gradient descent: rates as in theory, searches as written, and an honest verdict."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from bottega.core.errors import InputError, ParameterError
from bottega.optimize import Minimum, gradient_descent


def quadratic(*eigenvalues):
    curvature = np.array(eigenvalues)
    return lambda x: float(x @ (curvature * x)) / 2, lambda x: curvature * x


def rosenbrock(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def rosenbrock_gradient(x):
    r = x[1] - x[0] ** 2
    return np.array([-2 * (1 - x[0]) - 400 * x[0] * r, 200 * r])


@pytest.mark.parametrize("k", [3.0, 10.0, 50.0])
def test_exact_search_reaches_its_worst_rate(k):
    """From (k, 1) every step lowers f by ((k - 1) / (k + 1))^2 exactly: theory, within 5 %."""
    f, g = quadratic(1.0, k)
    found = gradient_descent(f, [k, 1.0], gradient=g, line_search="exact", tol=1e-4)
    values = found.trace.values[found.trace.values > 1e-12 * found.trace.values[0]]
    rate = -np.mean(np.diff(np.log(values)))
    assert rate == pytest.approx(-2 * np.log((k - 1) / (k + 1)), rel=0.05)


@pytest.mark.parametrize("k", [3.0, 10.0, 50.0])
def test_best_fixed_step_reaches_its_rate(k):
    """With 2 / (L + m) the distance falls by (k - 1) / (k + 1) per step."""
    f, g = quadratic(1.0, k)
    found = gradient_descent(
        f, [1.0, 1.0], gradient=g, line_search="fixed", learning_rate=2 / (k + 1), max_iter=2000
    )
    distance = np.linalg.norm(found.trace.points, axis=1)
    rate = -np.mean(np.diff(np.log(distance)))
    assert rate == pytest.approx(-np.log((k - 1) / (k + 1)), rel=0.05)
    # The bound on the number of steps to a given gap (M618).
    c = ((k - 1) / (k + 1)) ** 2
    gap = found.trace.values
    needed = np.log(gap[0] / 1e-6) / np.log(1 / c)
    assert np.argmax(gap < 1e-6) <= np.ceil(needed) + 1


def test_thresholds_of_the_fixed_step():
    """On x^2 / 2: below 1 from one side, above it alternating, from 2 on astray."""
    f, g = quadratic(1.0)

    def run(rate):
        return gradient_descent(f, [1.0], gradient=g, line_search="fixed", learning_rate=rate)

    assert np.all(run(0.5).trace.points > 0)
    assert np.all(np.diff(np.sign(run(1.5).trace.points[:-1, 0])) != 0)
    assert run(1.0).n_iter == 1
    with pytest.warns(ConvergenceWarning, match="steps are too long"):
        found = run(2.1)
    assert found.verdict == "diverged"
    assert found.x == pytest.approx([1.0])  # the best point met
    with pytest.warns(ConvergenceWarning, match="has not fallen since step 0 of 1000"):
        found = run(2.0)
    assert found.verdict == "stalled"


def test_backtracking_is_the_rule_as_written():
    """t = 1; while not f(x + t d) < f(x) + t alpha g'd: t = beta t."""
    f, g = rosenbrock, rosenbrock_gradient
    found = gradient_descent(f, [-1.2, 1.0], gradient=g, alpha=0.3, beta=0.7, tol=1e-3)
    assert found.converged
    for x, t in zip(found.trace.points[:30], found.trace.steps[:30], strict=True):
        step, d = 1.0, -g(x)
        while not f(x + step * d) < f(x) + step * 0.3 * g(x) @ d:
            step *= 0.7
        assert t == step


def test_decaying_steps():
    f, g = quadratic(1.0, 2.0)
    found = gradient_descent(
        f, [1.0, 1.0], gradient=g, line_search="decaying", learning_rate=0.4, decay=0.9, tol=1e-2
    )
    assert found.converged
    assert found.trace.steps == pytest.approx(0.4 * 0.9 ** np.arange(found.n_iter))


@settings(max_examples=40, deadline=None)
@given(
    x0=st.lists(st.floats(-3, 3), min_size=2, max_size=2),
    alpha=st.floats(0.01, 0.49),
    beta=st.floats(0.05, 0.95),
    search=st.sampled_from(["backtracking", "exact"]),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_searches_never_raise_f(x0, alpha, beta, search):
    found = gradient_descent(
        rosenbrock,
        x0,
        gradient=rosenbrock_gradient,
        line_search=search,
        alpha=alpha,
        beta=beta,
        max_iter=30,
    )
    # Where f cannot tell two points apart the gradient decides, within rounding of f.
    assert np.all(np.diff(found.trace.values) <= 1e-15 * found.trace.values[:-1])
    assert found.value == found.trace.values[-1] == rosenbrock(found.x)


def test_a_step_of_the_exact_search_goes_lower_and_costs_more():
    """One step does; over a whole run the exact search zigzags, and often takes more of them."""
    f, g = quadratic(1.0, 3.0, 10.0, 30.0)
    for x in np.random.default_rng(0).normal(size=(12, 4)):
        exact = gradient_descent(f, x, gradient=g, line_search="exact")
        back = gradient_descent(f, x, gradient=g)
        assert exact.trace.values[1] <= back.trace.values[1] * (1 + 1e-12)
        # In closed form: g'g / g'Hg.
        slope = g(x)
        assert exact.trace.steps[0] == pytest.approx(slope @ slope / (slope @ g(slope)), rel=1e-6)
        assert exact.evaluations / exact.n_iter > 2 * back.evaluations / back.n_iter


@pytest.mark.parametrize("line_search", ["backtracking", "exact"])
@pytest.mark.parametrize("unit", [1e100, 1e-100])
def test_units_of_f_and_x_do_not_matter(line_search, unit):
    f, g = quadratic(1.0, 7.0)
    start = np.array([3.0, 1.0])
    tall = gradient_descent(
        lambda x: unit * f(x), start, gradient=lambda x: unit * g(x), line_search=line_search
    )
    wide = gradient_descent(
        lambda x: f(x / unit),
        start * unit,
        gradient=lambda x: g(x / unit) / unit,
        line_search=line_search,
    )
    assert tall.converged
    assert wide.converged
    assert np.max(np.abs(tall.x)) < 1e-5
    assert np.max(np.abs(wide.x)) < 1e-5 * unit


def test_a_missing_value_stops_the_run_and_says_where():
    def f(x):
        return float(np.log(x[0]) * x[0] + 10 * x[0])

    with (
        np.errstate(invalid="ignore"),
        pytest.warns(ConvergenceWarning, match=r"not finite at step 1, x = \["),
    ):
        found = gradient_descent(
            f, [1.0], gradient=lambda x: np.log(x) + 11, line_search="fixed", learning_rate=1.0
        )
    assert found.verdict == "not finite"
    assert found.x == pytest.approx([1.0])
    assert found.value == 10.0
    with pytest.raises(InputError, match=r"f\(x0\) is nan"):
        gradient_descent(lambda x: np.nan, [1.0])  # noqa: ARG005
    with pytest.raises(InputError, match="start where f is smooth"):
        gradient_descent(lambda x: 1.0, [0.0], gradient=lambda x: x * np.nan)  # noqa: ARG005


def test_backtracking_keeps_to_where_f_is_defined():
    with np.errstate(invalid="ignore"):
        found = gradient_descent(lambda x: float(x[0] - np.log(x[0])), [0.01])
    assert found.x == pytest.approx([1.0], abs=1e-3)


def test_no_minimum():
    for f, search in ((lambda x: -x[0], "fixed"), (lambda x: x[0] - x[1] ** 2, "exact")):
        with pytest.warns(ConvergenceWarning, match="no minimum"):
            found = gradient_descent(f, [1.0, 1.0], line_search=search, max_iter=50)
        assert found.verdict == "unbounded"
        assert np.all(np.isfinite(found.x))


def test_slow_is_not_unbounded():
    f, g = quadratic(1.0)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        found = gradient_descent(
            f, [1.0], gradient=g, line_search="fixed", learning_rate=1e-6, max_iter=50
        )
    assert found.verdict == "max_iter"


def test_a_corner_is_not_called_converged():
    with pytest.warns(ConvergenceWarning, match="not smooth"):
        found = gradient_descent(
            lambda x: abs(x[0]), [1.05], gradient=np.sign, line_search="fixed", learning_rate=0.1
        )
    assert found.verdict == "stalled"
    assert abs(found.x[0]) < 0.1


def test_a_wrong_gradient_stalls():
    f, g = quadratic(1.0, 2.0)
    with pytest.warns(ConvergenceWarning, match="check_gradient"):
        found = gradient_descent(f, [1.0, 1.0], gradient=lambda x: -g(x))
    assert found.verdict == "stalled"
    assert found.n_iter == 0


def test_starting_at_the_minimum():
    f, g = quadratic(1.0, 2.0)
    found = gradient_descent(f, [0.0, 0.0], gradient=g)
    assert found.converged
    assert found.n_iter == 0


def test_result_shows_itself_and_survives_a_file():
    f, g = quadratic(1.0, 2.0)
    found = gradient_descent(f, [1.0, 1.0], gradient=g)
    frame = found.to_frame()
    assert list(frame.columns) == [
        "iteration", "value", "residual", "step", "evaluations", "gradient_evaluations", "x0", "x1",
    ]  # fmt: skip
    assert len(frame) == found.n_iter + 1
    assert "gradient descent: converged" in str(found)
    assert "<table>" in found._repr_html_()
    again = pickle.loads(pickle.dumps(found))
    assert isinstance(again, Minimum)
    assert np.array_equal(again.trace.points, found.trace.points)
    assert again.f is None
    light = gradient_descent(f, [1.0, 1.0], gradient=g, trace=False)
    assert light.trace.points is None
    assert np.array_equal(light.x, found.x)


def test_counts_are_the_calls():
    calls = {"f": 0, "g": 0}
    f, g = quadratic(1.0, 9.0)

    def counted(name, function):
        def call(x):
            calls[name] += 1
            return function(x)

        return call

    found = gradient_descent(counted("f", f), [1.0, 1.0], gradient=counted("g", g))
    assert found.evaluations == calls["f"]
    assert found.gradient_evaluations == calls["g"] == found.n_iter + 1


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"line_search": "golden"}, "line_search='golden'"),
        ({"alpha": 0.5}, "alpha=0.5"),
        ({"beta": 1.0}, "beta=1.0"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"learning_rate": "auto"}, "learning_rate='auto'"),
        ({"decay": 1.5}, "decay"),
        ({"tol": -1.0}, "tol"),
        ({"tol": np.nan}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"max_iter": 2.5}, "max_iter"),
    ],
)
def test_bad_parameters(wrong, match):
    with pytest.raises(ParameterError, match=match):
        gradient_descent(rosenbrock, [0.0, 0.0], **wrong)
