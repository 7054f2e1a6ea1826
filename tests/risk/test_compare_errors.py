"""Paired comparison of errors, McNemar's test, and the diagnosis of a bad test error."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LinearRegression

from bottega.core import BaselineRegressor
from bottega.core.errors import InputError, ParameterError
from bottega.data import make
from bottega.linear import Ridge
from bottega.risk import (
    certify_losses,
    compare_errors,
    cross_validate,
    diagnose,
    leave_one_out,
    mcnemar,
)

R = json.loads(
    (Path(__file__).parents[1] / "reference" / "risk" / "compare_errors.json").read_text()
)
LINE = make.sparse_linear(60, n_features=4, n_informative=2, random_state=3)


@pytest.mark.parametrize("case", R["tables"])
def test_mcnemar_is_rs(case):
    found = mcnemar(case["table"])
    for name in ("statistic", "chi2", "statistic_uncorrected", "chi2_uncorrected", "exact"):
        # 1e-12: both compute the same formulas; the JSON has 15 digits.
        assert getattr(found, name) == pytest.approx(case[name], rel=1e-12)


@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=60, deadline=None)
def test_mid_p_takes_half_of_what_was_seen(b, c):
    found = mcnemar([[5, b], [c, 5]])
    half = stats.binom.cdf(min(b, c), b + c, 0.5) - 0.5 * stats.binom.pmf(min(b, c), b + c, 0.5)
    assert found.mid_p == pytest.approx(2 * half if b + c else 1.0)
    assert found.mid_p <= found.exact <= 1


def test_a_table_without_differences_tells_nothing():
    found = mcnemar([[7, 0], [0, 3]])
    assert (found.exact, found.mid_p) == (1.0, 1.0)
    assert np.isnan(found.statistic)


@pytest.mark.parametrize("table", [[[1, 2]], [[1, -1], [0, 2]], [[0.5, 1], [1, 1]], "ab"])
def test_tables_that_are_none_are_refused(table):
    with pytest.raises(InputError, match="table"):
        mcnemar(table)


def test_the_paired_t_test_is_rs():
    case = R["paired"]
    found = compare_errors(case["a"], case["b"], delta=case["delta"])
    for name in ("difference", "lower", "upper", "p_value"):
        assert getattr(found, name) == pytest.approx(case[name], rel=1e-10)
    assert found.mcnemar is None


def test_counted_errors_are_compared_exactly():
    a, b = np.zeros(100), np.zeros(100)
    a[:6], b[6:22], a[22:30], b[22:30] = 1, 1, 1, 1
    found = compare_errors(a, b, names=("ours", "theirs"))
    assert found.mcnemar.table.tolist() == [[70, 16], [6, 8]]
    assert found.p_value == pytest.approx(stats.binomtest(6, 22).pvalue)
    assert found.difference == pytest.approx(-0.1)
    assert found.lower < -0.1 < found.upper
    swapped = compare_errors(b, a)
    assert (swapped.lower, swapped.upper) == pytest.approx((-found.upper, -found.lower))


def test_no_disagreement_still_leaves_room():
    """100 rows without a difference do not show that there is none."""
    found = compare_errors(np.zeros(100), np.zeros(100))
    assert found.lower == pytest.approx(-found.upper)
    assert found.upper == pytest.approx(1 - 0.0125 ** (1 / 100))  # Clopper-Pearson, delta/2
    assert found.p_value == 1.0


@pytest.mark.parametrize(("p", "q", "n"), [(0.1, 0.2, 40), (0.02, 0.05, 200), (0.3, 0.3, 15)])
def test_the_exact_interval_covers(p, q, n):
    """1,500 samples at delta = 0.2: at most Binomial(1500, 0.2) misses, mean 300, sd 15.5.

    More than 385 would come with a probability below 1e-7.
    """
    rng = np.random.default_rng(n)
    misses = 0
    for _ in range(1500):
        kind = rng.choice(3, size=n, p=[p, q, 1 - p - q])
        found = compare_errors((kind == 0).astype(float), (kind == 1).astype(float), delta=0.2)
        misses += not found.lower <= p - q <= found.upper
    assert misses <= 385


def test_models_losses_and_folds():
    a, b = (m.fit(LINE.X[:20], LINE.y[:20]) for m in (LinearRegression(), BaselineRegressor()))
    X, y = LINE.X[20:], LINE.y[20:]
    found = compare_errors(a, b, X, y, names=("line", "mean"))
    losses = [(y - model.predict(X)) ** 2 for model in (a, b)]
    assert found.difference == pytest.approx(np.mean(losses[0] - losses[1]))
    assert found.p_value == pytest.approx(stats.ttest_rel(*losses).pvalue)
    assert found.better == "line"
    assert "line errs less" in str(found)
    one, two = (leave_one_out(model, LINE.X, LINE.y) for model in (a, b))
    assert compare_errors(one, two).n == 60


def test_folds_are_compared_with_the_corrected_variance():
    one, two = (cross_validate(m, LINE.X, LINE.y, cv=6) for m in (Ridge(), BaselineRegressor()))
    found = compare_errors(one, two, delta=0.1)
    gap = one.fold_errors - two.fold_errors
    spread = np.sqrt((1 / 6 + 1 / 5) * gap.var(ddof=1))  # n_test / n_train = 10 / 50
    assert found.upper - found.lower == pytest.approx(2 * stats.t.ppf(0.95, 5) * spread)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(gap.mean()) / spread, 5))
    with pytest.raises(InputError, match="different folds"):
        compare_errors(one, cross_validate(Ridge(), LINE.X, LINE.y, cv=6, random_state=1))
    with pytest.raises(InputError, match="both over the same"):
        compare_errors(one, two.losses)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare_errors([0.1, 0.2], [0.1]), "same rows"),
        (lambda: compare_errors([0.1], [0.2]), "at least 2 rows"),
        (lambda: compare_errors([], []), "at least one row"),
        (lambda: compare_errors([0.1, np.nan], [0.1, 0.2]), "finite"),
        (lambda: compare_errors([0.5, 0.7], [0.25, 0.45]), "every row alike"),
        (lambda: compare_errors(BaselineRegressor(), [0.1, 0.2]), "give X and y"),
        (lambda: compare_errors([0.1, 0.2], [0.1, 0.3], X=[[1], [2]]), "leave out"),
        (lambda: compare_errors([0, 1], [1, 0], delta=2), "delta"),
    ],
)
def test_comparisons_that_make_no_sense_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_same_losses_have_no_difference():
    found = compare_errors([0.1, 0.7, 0.2], [0.1, 0.7, 0.2])
    assert (found.difference, found.p_value, found.better) == (0.0, 1.0, None)


# ---- M112 ----------------------------------------------------------------------------------------


def part(errors, n):
    return np.repeat([1.0, 0.0], [errors, n - errors])


@pytest.mark.parametrize(
    ("train", "validation", "test", "candidates", "verdict"),
    [
        ((5, 400), (8, 200), (8, 200), 1, "good"),
        ((1, 400), (60, 200), (62, 200), 1, "expected"),  # (a) bad on validation as well
        ((1, 400), (8, 200), (62, 200), 1, "shift"),  # (b) bad on the test part alone
        ((1, 400), (8, 200), (62, 200), 1000, "shift"),
        ((1, 400), (8, 200), (30, 200), 1000, "validation overfitted"),  # (c)
        ((1, 400), (8, 200), (30, 200), 1, "shift"),
        ((1, 400), (22, 200), (24, 200), 1, "undecided"),
        ((1, 400), (4, 20), (62, 200), 1, "undecided"),  # too few validation rows
    ],
)
def test_the_branches_of_the_diagnosis(train, validation, test, candidates, verdict):
    found = diagnose(
        part(*train), part(*validation), part(*test), acceptable=0.1, candidates=candidates
    )
    assert found.verdict == verdict
    assert str(found).startswith(verdict)


def test_the_training_error_tells_too_simple_from_too_complex():
    simple = diagnose(part(120, 400), part(60, 200), part(62, 200), acceptable=0.1)
    rich = diagnose(part(2, 400), part(60, 200), part(62, 200), acceptable=0.1)
    assert "too simple" in simple.advice
    assert "too closely" in rich.advice


def test_thresholds_are_the_intervals_and_nothing_else():
    """The verdict turns from undecided to bad where the lower limit passes what is acceptable."""
    losses = part(40, 200)
    low = certify_losses(losses, delta=0.025, zero_one=True).lower
    below = diagnose(losses, losses, losses, acceptable=low - 1e-9)
    above = diagnose(losses, losses, losses, acceptable=low + 1e-9)
    assert (below.verdict, above.verdict) == ("expected", "undecided")


def test_one_source_is_seldom_called_a_shift():
    """Both parts from one source, 2,000 times at delta = 0.1: at most Binomial(2000, 0.1).

    Mean 200, sd 13.4; more than 280 would come with a probability below 1e-7.
    """
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(2000):
        v, t = (rng.uniform(size=60) < 0.3 for _ in range(2))
        alarms += diagnose(v, v, t, acceptable=0.0, delta=0.1).verdict == "shift"
    assert alarms <= 280


def test_losses_that_are_not_counted_have_students_interval():
    rng = np.random.default_rng(0)
    found = diagnose(
        rng.exponential(size=300),
        rng.exponential(size=300),
        3 * rng.exponential(size=300),
        acceptable=1.5,
    )
    assert found.verdict == "shift"
    assert found.test.approximate


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"test": []}, InputError),
        ({"delta": 0}, ParameterError),
        ({"candidates": 0}, ParameterError),
        ({"acceptable": np.nan}, ParameterError),
    ],
)
def test_diagnoses_that_make_no_sense_are_refused(given, kind):
    with pytest.raises(kind):
        diagnose(
            **{"train": [0, 1], "validation": [0, 1], "test": [0, 1], "acceptable": 0.5} | given
        )
