"""The least number of rows for which a bound holds what it shall."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bottega.core.errors import ParameterError
from bottega.risk import (
    bernstein_deviation,
    bounds,
    clopper_pearson,
    erm_boolean_trees,
    erm_finite,
    erm_trees,
    hoeffding_deviation,
    nn_asymptotic,
    nn_lipschitz,
    ogd_regret,
    ogd_strongly_convex_regret,
    perceptron_compression,
    rate,
    sample_size,
    srm,
    srm_code,
    srm_tree,
    student,
)
from bottega.risk.bounds.sample_size import _clopper_pearson

# (name, options, the bound as a function of n and delta, whether there is a delta)
CASES = [
    ("hoeffding", {}, hoeffding_deviation, True),
    (
        "hoeffding",
        {"sides": 1, "low": -1.0, "high": 4.0},
        lambda n, delta: hoeffding_deviation(n, delta, 1, low=-1, high=4),
        True,
    ),
    (
        "empirical_bernstein",
        {"variance": 0.04},
        lambda n, delta: bernstein_deviation(0.04, n, delta),
        True,
    ),
    (
        "clopper_pearson",
        {"rate": 0},
        lambda n, delta: clopper_pearson(0, n, delta)[1],
        True,
    ),
    (
        "student",
        {"sd": 0.7},
        lambda n, delta: stats.t.ppf(1 - delta / 2, n - 1) * 0.7 / math.sqrt(n),
        True,
    ),
    ("erm_finite", {"n_hypotheses": 32}, lambda n, delta: erm_finite(n, 32, delta), True),
    ("erm_boolean_trees", {"d": 4}, lambda n, delta: erm_boolean_trees(n, 4, delta), True),
    ("erm_trees", {"n_nodes": 7, "d": 10}, lambda n, delta: erm_trees(n, 7, 10, delta), True),
    ("srm", {"weight": 0.01}, lambda n, delta: srm(n, 0.01, delta), True),
    ("srm_code", {"length": 37}, lambda n, delta: srm_code(n, 37, delta), True),
    ("srm_tree", {"n_nodes": 7, "d": 10}, lambda n, delta: srm_tree(n, 7, 10, delta), True),
    (
        "perceptron_compression",
        {"n_updated": 5},
        lambda n, delta: perceptron_compression(0.0, 5, n, delta),
        True,
    ),
    ("ogd_regret", {"U": 2, "G": 0.5}, lambda n: ogd_regret(2, 0.5, n), False),
    (
        "ogd_strongly_convex_regret",
        {"G": 2, "sigma": 0.5},
        lambda n: ogd_strongly_convex_regret(2, 0.5, n),
        False,
    ),
    ("nn_lipschitz", {"c": 0.5, "d": 2}, lambda n: nn_lipschitz(0, 0.5, 2, n), False),
    ("nn_asymptotic", {"bayes_risk": 0.2}, lambda n: nn_asymptotic(0.2, n) - 0.2, False),
    ("rate", {"d": 3}, lambda n: rate(n, 3), False),
    ("rate", {}, rate, False),
]


@pytest.mark.parametrize(
    ("name", "options", "bound", "chance"), CASES, ids=lambda c: getattr(c, "__name__", str(c))[:40]
)
@settings(max_examples=15, deadline=None)
@given(eps=st.floats(0.01, 0.9), delta=st.floats(1e-4, 0.5))
def test_n_is_enough_and_one_less_is_not(name, options, bound, chance, eps, delta):
    level = (delta,) if chance else ()
    n = sample_size(name, eps, *level, **options)
    # The student case is computed in another way here: equal to rounding only.
    assert bound(n, *level) <= eps * (1 + 1e-12)
    least = {"student": 2, "empirical_bernstein": 2, "perceptron_compression": 10}.get(name, 1)
    assert n == least or bound(n - 1, *level) > eps * (1 - 1e-12)


def test_every_bound_that_falls_with_rows_can_be_asked():
    asked = {name for name, *_ in CASES}
    without = set()
    for name in set(bounds.__all__) - asked - {"hoeffding_deviation", "bernstein_deviation"}:
        with pytest.raises(ParameterError, match=r"nothing to solve for|not known"):
            sample_size(name, 0.1)
        without.add(name)
    assert without == {
        "NoFreeLunch",
        "code_length",
        "cover_hart",
        "hoeffding_probability",
        "kernel_perceptron",
        "no_free_lunch",
        "perceptron_convergence",
        "perceptron_mistakes",
        "union",
        "union_probability",
    }


def test_closed_forms():
    assert sample_size("hoeffding", 0.05, 0.05) == 738  # A35
    assert sample_size(bounds.hoeffding, 0.05) == 738
    assert sample_size(bounds.hoeffding_deviation, 0.05) == 738
    for eps, delta in ((0.1, 0.05), (0.033, 0.2), (0.007, 1e-6)):
        assert sample_size("hoeffding", eps, delta) == math.ceil(math.log(2 / delta) / (2 * eps**2))
        assert sample_size("erm_finite", eps, delta, n_hypotheses=7) == math.ceil(
            2 * math.log(14 / delta) / eps**2
        )
        # No error seen in n tosses: (1 - eps)^n <= delta.
        assert sample_size("clopper_pearson", eps, delta, rate=0, sides=1) == math.ceil(
            math.log(delta) / math.log1p(-eps)
        )
        assert sample_size("ogd_regret", eps, U=3, G=2) == math.ceil(8 * 36 / eps**2)
    # A58: eps^-(d+1), with powers of 1/2 so that nothing is rounded.
    assert sample_size("rate", 0.5, d=9) == 2**10
    assert sample_size("nn_lipschitz", 0.5, c=1, d=4) == 16**5
    assert sample_size("nn_asymptotic", 0.5, bayes_risk=0.25) == 4


def test_the_curse_takes_more_rows_than_there_are():
    assert sample_size("rate", 0.1, d=99) == pytest.approx(1e100, rel=1e-12)
    with pytest.raises(ParameterError, match="No number of rows"):
        sample_size("rate", 1e-6, d=200)


@settings(max_examples=20, deadline=None)
@given(st.floats(0, 1), st.floats(0.02, 0.4))
def test_the_exact_interval_narrows_with_every_row(rate, eps):
    """Bisection needs it: the farther end comes nearer for shares that need not be whole."""
    widths = [_clopper_pearson(float(n), np.array(0.05), rate=rate) for n in range(1, 400)]
    assert np.all(np.diff(widths) <= 1e-12)
    n = sample_size("clopper_pearson", eps, rate=rate)
    assert n > 399 or widths[n - 1] <= eps
    assert n == 1 or n > 400 or widths[n - 2] > eps


def test_whole_numbers_of_errors_agree_with_the_plan():
    n = sample_size("clopper_pearson", 0.05, rate=0.25)
    low, high = clopper_pearson(round(n / 4), n)
    # One error more or less moves the interval by about 1/n.
    assert max(0.25 - low, high - 0.25) == pytest.approx(0.05, abs=2 / n)
    assert n < sample_size("hoeffding", 0.05)


def test_a_planned_student_interval_has_the_width():
    n = sample_size("student", 0.1, sd=1.0)
    losses = 5 + stats.norm.ppf((np.arange(n) + 0.5) / n)
    losses = 5 + (losses - 5) / losses.std(ddof=1)
    low, high = student(losses)
    assert (high - low) / 2 <= 0.1


def test_several_weights_are_all_served():
    both = sample_size("srm", 0.1, weight=[0.5, 0.01])
    assert both == sample_size("srm", 0.1, weight=0.01) > sample_size("srm", 0.1, weight=0.5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sample_size("hoefding", 0.1), "Did you mean 'hoeffding'"),
        (lambda: sample_size(3, 0.1), "not known"),
        (lambda: sample_size("hoeffding", 0), "eps"),
        (lambda: sample_size("hoeffding", math.nan), "eps"),
        (lambda: sample_size("hoeffding", 0.1, 1.0), "delta"),
        (lambda: sample_size("hoeffding", 0.1, d=3), "takes no 'd'"),
        (lambda: sample_size("erm_trees", 0.1, d=3), "needs n_nodes"),
        (lambda: sample_size("erm_finite", 0.1), "needs n_hypotheses"),
        (lambda: sample_size("rate", 0.1, 0.05, d=3), "takes no delta"),
        (lambda: sample_size("perceptron_mistakes", 0.1), "nothing to solve"),
        (lambda: sample_size("empirical_bernstein", 0.1, variance=0.5), "not possible"),
        (lambda: sample_size("student", 0.1, sd=-1), "sd"),
        (lambda: sample_size("clopper_pearson", 0.1, rate=1.5), "rate"),
    ],
)
def test_bad_requests_are_refused(call, words):
    with pytest.raises(ParameterError, match=words):
        call()
