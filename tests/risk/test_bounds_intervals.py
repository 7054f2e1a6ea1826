"""Hoeffding, empirical Bernstein, Clopper-Pearson, Student: formulas, references, coverage.

A simulated coverage counts the misses of R independent samples. A bound that is right misses with
probability delta at most, so the count exceeds `most_misses(R, delta)` with probability below
1e-6: that is the false-alarm rate of every simulation here. Sums over all outcomes of a binomial
sample are exact and raise no false alarm.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bottega.core.errors import InputError, ParameterError
from bottega.risk import (
    bernstein_deviation,
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
    hoeffding_deviation,
    hoeffding_probability,
    student,
    union,
    union_probability,
)

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "risk" / "binom_test.json").read_text("utf-8")
)


def most_misses(repetitions, delta):
    return stats.binom.isf(1e-6, repetitions, delta)


def test_hoeffding_numbers_of_the_notes():
    """A35."""
    assert hoeffding_deviation(100) == pytest.approx(0.135810, abs=5e-7)
    assert hoeffding_deviation(1000) == pytest.approx(0.042947, abs=5e-7)
    assert hoeffding_deviation(738) <= 0.05 < hoeffding_deviation(737)
    assert hoeffding_deviation(50, 0.1, sides=1) == pytest.approx(math.sqrt(math.log(10) / 100))
    np.testing.assert_allclose(
        hoeffding_deviation([10, 20], [[0.1], [0.2]]),
        np.sqrt(np.log(2 / np.array([[0.1], [0.2]])) / (2 * np.array([10, 20]))),
    )


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 10**6), st.floats(1e-6, 0.99), st.sampled_from([1, 2]))
def test_probability_and_deviation_are_inverse(n, delta, sides):
    eps = hoeffding_deviation(n, delta, sides)
    assert hoeffding_probability(eps, n, sides=sides) == pytest.approx(delta, rel=1e-9)


def test_a_probability_is_never_above_one():
    assert hoeffding_probability(0.0, 5) == 1
    assert hoeffding_probability(0.0, 5, sides=1) == 1


def test_the_range_scales_the_width():
    low, high = hoeffding(3.0, 400, low=-2.0, high=8.0)
    unit_low, unit_high = hoeffding(0.5, 400)
    assert (high - low) == pytest.approx(10 * (unit_high - unit_low))
    assert hoeffding(-2.0, 4, low=-2.0, high=8.0)[0] == -2.0
    assert hoeffding(8.0, 4, low=-2.0, high=8.0)[1] == 8.0
    low, high = hoeffding([0.1, 0.5], 100)
    assert low.shape == high.shape == (2,)


@pytest.mark.parametrize("n", [5, 40, 300])
@pytest.mark.parametrize("p", [0.02, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("delta", [0.3, 0.05])
@pytest.mark.parametrize("sides", [1, 2])
def test_intervals_cover_a_probability_of_error_in_every_binomial_sample(n, p, delta, sides):
    """Exact: the outcomes whose interval misses p weigh delta at most."""
    k = np.arange(n + 1)
    weight = stats.binom.pmf(k, n, p)
    samples = (np.arange(n) < k[:, np.newaxis]).astype(float)
    for low, high in (
        hoeffding(k / n, n, delta, sides=sides),
        empirical_bernstein(samples, delta, sides=sides),
        clopper_pearson(k, n, delta, sides=sides),
    ):
        missed = (p < low) | (p > high)
        assert weight[missed].sum() <= delta + 1e-12
        if sides == 1:
            assert np.all(low == 0)


def test_hoeffding_is_near_the_truth_for_a_fair_coin():
    """At 0.13 above the mean of 100 tosses the bound is less than six times the probability."""
    exact = stats.binom.sf(62, 100, 0.5)  # 63 heads or more
    assert exact <= hoeffding_probability(0.13, 100, sides=1) <= 6 * exact


@pytest.mark.parametrize("shape", [(0.5, 3.0), (0.05, 0.05), (20.0, 400.0)])
@pytest.mark.parametrize(("n", "delta"), [(20, 0.2), (500, 0.05)])
def test_intervals_cover_the_mean_of_losses_between_zero_and_one(shape, n, delta):
    rng = np.random.default_rng(7)
    repetitions = 2000
    losses = rng.beta(*shape, size=(repetitions, n))
    mean = shape[0] / sum(shape)
    for sides in (1, 2):
        for low, high in (
            hoeffding(losses.mean(axis=1), n, delta, sides=sides),
            empirical_bernstein(losses, delta, sides=sides),
        ):
            assert np.sum((mean < low) | (mean > high)) <= most_misses(repetitions, delta)
        scaled = empirical_bernstein(3 * losses - 1, delta, low=-1, high=2, sides=sides)
        np.testing.assert_allclose(
            (np.asarray(scaled) + 1) / 3,
            empirical_bernstein(losses, delta, sides=sides),
            atol=1e-12,
        )


def test_empirical_bernstein_is_the_formula_of_maurer_and_pontil():
    losses = np.random.default_rng(0).uniform(size=50) ** 3
    one = math.log(2 / 0.1)
    low, high = empirical_bernstein(losses, 0.1, sides=1)
    assert low == 0
    assert high - losses.mean() == pytest.approx(
        math.sqrt(2 * losses.var(ddof=1) * one / 50) + 7 * one / (3 * 49)
    )
    two = math.log(3 / 0.1)
    assert bernstein_deviation(0.02, 80, 0.1) == pytest.approx(
        math.sqrt(2 * 0.02 * two / 80) + 7 * two / (3 * 79)
    )


def test_the_standard_deviation_is_rarely_above_what_the_bound_allows():
    """Theorem 10 of Maurer and Pontil, on which the two-sided form rests.

    sigma <= s_n + sqrt(2 ln(1/delta)/(n-1)) with probability 1 - delta at least.
    """
    rng = np.random.default_rng(11)
    repetitions, delta = 4000, 0.1
    for n, p in ((5, 0.5), (30, 0.05), (200, 0.01)):
        losses = (rng.uniform(size=(repetitions, n)) < p).astype(float)
        limit = losses.std(axis=1, ddof=1) + math.sqrt(2 * math.log(1 / delta) / (n - 1))
        assert np.sum(math.sqrt(p * (1 - p)) > limit) <= most_misses(repetitions, delta)


def test_the_variance_pays_for_many_quiet_losses_only():
    quiet = np.tile([0.1, 0.12], 1000)
    assert empirical_bernstein(quiet)[1] < hoeffding(quiet.mean(), len(quiet))[1]
    few = quiet[:20]
    assert empirical_bernstein(few)[1] > hoeffding(few.mean(), len(few))[1]


@pytest.mark.parametrize(
    "case", REFERENCE["binomial"], ids=lambda c: f"{c['errors']}-{c['n']}-{c['delta']}"
)
def test_clopper_pearson_agrees_with_r(case):
    """R's binom.test: the same beta quantiles, which R finds to about 1e-13 of their size.

    R forms (1 - conf.level)/2 from a rounded conf.level: relative error 1e-16/delta, so 1e-8 for
    delta = 1e-8, and less in the quantile.
    """
    tolerance = 1e-11 if case["delta"] > 1e-6 else 1e-8
    errors, n, delta = case["errors"], case["n"], case["delta"]
    np.testing.assert_allclose(clopper_pearson(errors, n, delta), case["two"], rtol=tolerance)
    np.testing.assert_allclose(
        clopper_pearson(errors, n, delta, sides=1), case["one"], rtol=tolerance
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3000), st.floats(0, 1), st.sampled_from([0.3, 0.05, 1e-4]))
def test_clopper_pearson_agrees_with_scipy(n, share, delta):
    errors = round(share * n)
    peer = stats.binomtest(errors, n).proportion_ci(1 - delta, method="exact")
    # scipy searches a root of the binomial's distribution function to 2e-12.
    np.testing.assert_allclose(clopper_pearson(errors, n, delta), peer, rtol=1e-8, atol=1e-11)


def test_student_agrees_with_r():
    losses = np.array(REFERENCE["losses"])
    for case in REFERENCE["t_test"]:
        low, high = student(losses, case["delta"], low=-math.inf)
        # t quantiles of two libraries, each good to about 1e-12.
        np.testing.assert_allclose([low, high], case["interval"], rtol=1e-10)
    assert student(losses, 0.001)[0] == 0
    rows = student(np.stack([losses, 2 * losses]), 0.05)
    np.testing.assert_allclose(rows[1][1], 2 * student(losses, 0.05)[1])


def test_student_covers_normal_numbers_exactly():
    """Its misses of a normal mean are Binomial(R, delta): both tails at 1e-6 are checked."""
    rng = np.random.default_rng(5)
    repetitions, delta = 4000, 0.1
    low, high = student(rng.normal(2.0, 1.0, size=(repetitions, 6)), delta, low=-math.inf)
    misses = np.sum((low > 2) | (high < 2))
    assert stats.binom.ppf(1e-6, repetitions, delta) <= misses <= most_misses(repetitions, delta)


def test_union_shares_delta_out():
    assert union(0.05, 10) == pytest.approx(0.005)
    assert union(0.05) == 0.05
    np.testing.assert_allclose(union(0.1, weights=[0.5, 0.3, 0.2]), [0.05, 0.03, 0.02])
    np.testing.assert_allclose(union(0.1, [1, 2, 4]), [0.1, 0.05, 0.025])
    assert union_probability([0.7, 0.6]) == 1
    assert union_probability(np.asarray(union(0.1, weights=[0.4, 0.6]))) == pytest.approx(0.1)


def test_the_best_of_many_candidates_needs_the_union():
    """50 coins, the one with the least errors of 100 tosses: judged alone it misses, shared not.

    The misses with the union are Binomial(2000, at most 0.1); without it the least of 50 has a
    mean error of about 0.39, so the uncorrected interval misses the 0.5 most of the time.
    """
    rng = np.random.default_rng(2)
    least = rng.binomial(100, 0.5, size=(2000, 50)).min(axis=1)
    alone = clopper_pearson(least, 100, 0.1)[1] < 0.5
    shared = clopper_pearson(least, 100, union(0.1, 50))[1] < 0.5
    assert shared.sum() <= most_misses(2000, 0.1)
    assert alone.mean() > 0.5


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2, math.nan, "much", None])
@pytest.mark.parametrize(
    "call",
    [
        lambda delta: hoeffding(0.1, 10, delta),
        lambda delta: hoeffding_deviation(10, delta),
        lambda delta: empirical_bernstein([0.1, 0.2], delta),
        lambda delta: bernstein_deviation(0.1, 10, delta),
        lambda delta: clopper_pearson(1, 10, delta),
        lambda delta: student([1.0, 2.0], delta),
        lambda delta: union(delta, 3),
    ],
)
def test_delta_must_be_a_probability(call, delta):
    with pytest.raises(ParameterError, match="delta"):
        call(delta)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hoeffding(1.2, 10), "losses in \\[0, 1\\]"),
        (lambda: hoeffding(-0.1, 10), "low= and high="),
        (lambda: hoeffding(math.nan, 10), "not allowed"),
        (lambda: hoeffding(0.1, 0), "n=0"),
        (lambda: hoeffding(0.1, 10.5), "whole number"),
        (lambda: hoeffding(0.1, 10, low=1, high=0), "low < high"),
        (lambda: hoeffding(0.1, 10, sides=3), "sides"),
        (lambda: hoeffding_probability(-0.1, 10), "eps"),
        (lambda: empirical_bernstein([]), "at least 2 rows; got 0"),
        (lambda: empirical_bernstein([0.5]), "at least 2 rows; got 1"),
        (lambda: empirical_bernstein([0.5, math.nan]), "NaN"),
        (lambda: empirical_bernstein([0.5, 1.5]), "outside"),
        (lambda: bernstein_deviation(0.3, 1000), "not possible"),
        (lambda: clopper_pearson(3, 2), "need"),
        (lambda: clopper_pearson(0, 0), "need"),
        (lambda: clopper_pearson(0.5, 3), "whole"),
        (lambda: clopper_pearson(math.nan, 3), "need"),
        (lambda: student([]), "at least 2"),
        (lambda: student([1.0, math.inf]), "NaN or infinity"),
        (lambda: student([1.0, -1.0]), "below low=0"),
        (lambda: union(0.05, 0), "candidates"),
        (lambda: union(0.05, weights=[0.7, 0.4]), "sum to 1.1"),
        (lambda: union(0.05, weights=[-0.1, 0.4]), "weights"),
        (lambda: union(0.05, 2, weights=[0.5, 0.5]), "not both"),
        (lambda: union_probability([0.5, -1]), "deltas"),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()
