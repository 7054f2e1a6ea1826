"""Intervals of risk: their formulas, their coverage, their words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bottega.core import BaselineClassifier, BaselineRegressor
from bottega.core.errors import ParameterError
from bottega.risk import certify, clopper_pearson, hoeffding, student


@given(st.integers(1, 400), st.floats(0, 1), st.floats(0.001, 0.5))
def test_clopper_pearson_inverts_the_binomial_test(n, share, delta):
    errors = round(share * n)
    low, high = clopper_pearson(errors, n, delta)
    assert 0 <= low <= errors / n <= high <= 1
    if errors > 0:
        assert stats.binom.sf(errors - 1, n, low) == pytest.approx(delta / 2, rel=1e-6)
    if errors < n:
        assert stats.binom.cdf(errors, n, high) == pytest.approx(delta / 2, rel=1e-6)


@pytest.mark.parametrize("p", [0.02, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("n", [10, 100])
def test_clopper_pearson_covers_exactly_enough(p, n):
    """Its coverage, summed over all outcomes, is never below what it claims."""
    outcomes = np.arange(n + 1)
    limits = np.array([clopper_pearson(int(k), n, 0.05) for k in outcomes])
    covered = (limits[:, 0] <= p) & (p <= limits[:, 1])
    assert stats.binom.pmf(outcomes, n, p)[covered].sum() >= 0.95


def test_hoeffding_is_the_notes_formula():
    """A35: half width sqrt(ln(2/delta) / (2n))."""
    low, high = hoeffding(0.5, 1000, 0.05)
    assert (high - low) / 2 == pytest.approx(np.sqrt(np.log(40) / 2000))
    assert hoeffding(0.0, 10)[0] == 0.0
    assert hoeffding(1.0, 10)[1] == 1.0


def test_clopper_pearson_is_tighter_than_hoeffding_for_small_risk():
    exact, loose = clopper_pearson(5, 200), hoeffding(5 / 200, 200)
    assert exact[1] < loose[1]


def test_student_covers_at_its_level():
    """500 samples of 200 squared normals: misses ~ Binomial(500, ~0.055).

    The false-alarm probability of the bound at 50 misses is below 1e-4.
    """
    rng = np.random.default_rng(3)
    misses = 0
    for _ in range(500):
        low, high = student(rng.normal(size=200) ** 2, 0.05)
        misses += not low <= 1.0 <= high
    assert misses < 50


def test_certificate_of_a_classifier_is_exact_and_says_what_it_assumes():
    model = BaselineClassifier().fit(np.zeros((4, 1)), [0, 0, 0, 1])
    claim = certify(model, np.zeros((50, 1)), [0] * 45 + [1] * 5)
    assert claim.method == "Clopper-Pearson"
    assert (claim.lower, claim.upper) == clopper_pearson(5, 50)
    assert claim.estimate == 0.1
    assert not claim.approximate
    assert any("independent" in sentence for sentence in claim.assumptions)


def test_several_candidates_widen_the_interval():
    model = BaselineClassifier().fit(np.zeros((4, 1)), [0, 0, 0, 1])
    X, y = np.zeros((50, 1)), [0] * 45 + [1] * 5
    one, ten = certify(model, X, y), certify(model, X, y, candidates=10)
    assert (ten.lower, ten.upper) == clopper_pearson(5, 50, 0.005)
    assert ten.upper > one.upper
    assert any("10 models" in sentence for sentence in ten.assumptions)


def test_certificate_of_a_regressor_is_marked_approximate():
    model = BaselineRegressor().fit(np.zeros((2, 1)), [0.0, 2.0])
    y = np.array([0.0, 1.0, 2.0, 5.0])
    claim = certify(model, np.zeros((4, 1)), y)
    assert claim.approximate
    assert claim.estimate == pytest.approx(np.mean((y - 1) ** 2))
    assert (claim.lower, claim.upper) == student((y - 1) ** 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: clopper_pearson(3, 2),
        lambda: clopper_pearson(0, 0),
        lambda: hoeffding(0.1, 10, delta=0),
        lambda: student([1.0]),
    ],
)
def test_impossible_requests_are_refused(call):
    with pytest.raises(ParameterError, match=r"need|delta|at least"):
        call()
