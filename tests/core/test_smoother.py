"""The algebra of linear smoothers against refitting, closed forms and the notes' numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bottega.core.errors import BottegaError, InputError
from bottega.core.judge import mean_and_se
from bottega.core.likelihood import gaussian_criteria
from bottega.core.smoother import Smoother, f_test, interval

RNG = np.random.default_rng(7)


def least_squares(X, y, weight=None):
    w = np.ones(len(X)) if weight is None else weight
    hat = X @ np.linalg.solve((X * w[:, None]).T @ X, (X * w[:, None]).T)
    return Smoother(y, hat @ y, np.diag(hat), weight=weight, trace_sst=float(np.sum(hat**2))), hat


def cubic(n):
    x = np.linspace(-1, 1, n)
    return np.vander(x, 4, increasing=True), np.sin(3 * x) + 0.1 * RNG.normal(size=n)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(6, 25), st.integers(1, 4), st.booleans())
def test_leave_one_out_equals_refitting(seed, n, p, weighted):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    weight = rng.uniform(0.5, 2, size=n) if weighted else None
    fit, _ = least_squares(X, y, weight)
    w = np.ones(n) if weight is None else weight
    for i in range(n):
        kept = np.arange(n) != i
        Xk, wk = X[kept], w[kept]
        beta = np.linalg.solve((Xk * wk[:, None]).T @ Xk, (Xk * wk[:, None]).T @ y[kept])
        # Both sides solve well-conditioned systems of a handful of columns.
        assert fit.loo_residuals[i] == pytest.approx(y[i] - X[i] @ beta, rel=1e-8, abs=1e-8)


def test_three_degrees_of_freedom_agree_for_a_projection():
    X, y = cubic(30)
    fit, _ = least_squares(X, y)
    for value in fit.df_definitions.values():
        assert value == pytest.approx(4, abs=1e-10)
    with pytest.raises(BottegaError, match="tr SS'"):
        _ = Smoother(y, y, np.ones(30)).df_definitions


def test_three_degrees_of_freedom_of_a_shrinking_smoother():
    X, y = cubic(20)
    u = np.linalg.svd(X, full_matrices=False)[0]
    shrink = np.array([1.0, 0.5, 0.2, 0.1])
    hat = (u * shrink) @ u.T
    fit = Smoother(y, hat @ y, np.diag(hat), trace_sst=float(np.sum(hat**2)))
    assert fit.df == pytest.approx(shrink.sum())
    assert fit.df_definitions["tr SS'"] == pytest.approx((shrink**2).sum())
    assert fit.df_definitions["tr(2S - SS')"] == pytest.approx((2 * shrink - shrink**2).sum())


def test_criteria_have_their_closed_forms():
    X, y = cubic(40)
    fit, _ = least_squares(X, y)
    n, df, rss = 40, 4, float(fit.rss)
    sigma_ml = np.sqrt(rss / n)
    loglik = stats.norm.logpdf(fit.residuals, scale=sigma_ml).sum()
    assert fit.loglik == pytest.approx(loglik)
    assert fit.criteria["aic"] == pytest.approx(-2 * loglik + 2 * (df + 1))
    assert fit.criteria["bic"] == pytest.approx(-2 * loglik + np.log(n) * (df + 1))
    assert fit.criteria["hq"] == pytest.approx(-2 * loglik + 2 * np.log(np.log(n)) * (df + 1))
    assert fit.criteria["gcv"] == pytest.approx((rss / n) / (1 - df / n) ** 2)
    # Against its own scale Cp is the number of parameters.
    assert fit.criteria["cp"] == pytest.approx(df)
    assert fit.sigma == pytest.approx(np.sqrt(rss / (n - df)))


def test_aicc_penalty_of_the_notes():
    """D54: with n = 20 and p = 3 parameters the penalty is 7.5."""
    with_penalty = gaussian_criteria(1.0, 2.0, 20)  # two coefficients and the scale
    minus_two_loglik = with_penalty["aic"] - 2 * 3
    assert with_penalty["aicc"] - minus_two_loglik == pytest.approx(7.5)


def test_aic_with_known_scale_differs_from_cp_by_n():
    """D60 and D61: rss/sigma^2 + 2p and Cp rank alike, n apart."""
    rss, df = np.array([9.0, 7.0, 6.5]), np.array([1.0, 2.0, 3.0])
    cp = gaussian_criteria(rss, df, 12, scale=0.8)["cp"]
    assert rss / 0.8**2 + 2 * df - cp == pytest.approx(np.full(3, 12.0))


def test_saturated_fits_never_look_good():
    found = gaussian_criteria([1e-30, 1.0], [10.0, 9.5], 10)
    assert np.isinf(found["gcv"][0])
    assert np.all(np.isinf(found["aicc"]))
    y = RNG.normal(size=5)
    assert np.isnan(Smoother(y, y, np.ones(5)).sigma)


def test_weights_of_zero_are_rows_left_out():
    X, y = cubic(25)
    weight = np.ones(25)
    weight[[3, 8]] = 0
    fit, _ = least_squares(X, y, weight)
    kept = weight > 0
    alone, _ = least_squares(X[kept], y[kept])
    assert fit.n == 23
    assert fit.df == pytest.approx(alone.df)
    for name, value in alone.criteria.items():
        assert fit.criteria[name] == pytest.approx(value)
    assert fit.loo == pytest.approx(alone.loo)
    assert fit.r_squared == pytest.approx(alone.r_squared)


def test_standardised_residuals_and_cooks_distance_by_deletion():
    X, y = cubic(30)
    fit, _ = least_squares(X, y)
    i = 11
    kept = np.arange(30) != i
    beta = np.linalg.lstsq(X[kept], y[kept], rcond=None)[0]
    moved = np.sum((fit.fitted - X @ beta) ** 2)
    assert fit.cooks[i] == pytest.approx(moved / (4 * fit.sigma**2), rel=1e-9)
    left = 1 - fit.leverage[i]
    assert fit.std_residuals[i] == pytest.approx(fit.residuals[i] / (fit.sigma * np.sqrt(left)))


def test_several_responses_are_each_their_own():
    X, y = cubic(30)
    Y = np.column_stack([y, 2 * y[::-1]])
    _, hat = least_squares(X, y)
    both = Smoother(Y, hat @ Y, np.diag(hat))
    alone = [Smoother(column, hat @ column, np.diag(hat)) for column in Y.T]
    assert both.sigma == pytest.approx([each.sigma for each in alone])
    assert both.criteria["aic"] == pytest.approx(sum(each.criteria["aic"] for each in alone))
    assert both.loglik == pytest.approx(sum(each.loglik for each in alone))
    assert both.loo == pytest.approx(np.mean([each.loo for each in alone]))


def test_f_test_is_the_classical_one_for_projections():
    X, y = cubic(40)
    big, _ = least_squares(X, y)
    small, _ = least_squares(X[:, :2], y)
    test = f_test(small, big)
    expected = ((small.rss - big.rss) / 2) / (big.rss / 36)
    assert test.statistic == pytest.approx(expected)
    assert test.p_value == pytest.approx(stats.f.sf(expected, 2, 36))
    assert "F test" in str(test)
    with pytest.raises(InputError, match="must be the smaller"):
        f_test(big, small)
    with pytest.raises(InputError, match="same response"):
        f_test(small, Smoother(y + 1, y, np.full(40, 0.5)))


def test_prediction_interval_is_wider_by_the_noise():
    """D36: the interval of a new observation holds that of the mean."""
    X, y = cubic(40)
    fit, hat = least_squares(X, y)
    se = fit.sigma * np.sqrt(np.diag(hat @ hat.T))
    low, high = interval(fit.fitted, se, fit)
    wide_low, wide_high = interval(fit.fitted, se, fit, kind="prediction")
    assert np.all(wide_low < low)
    assert np.all(wide_high > high)
    quantile = stats.t.ppf(0.975, 36)
    assert (wide_high - wide_low) / 2 == pytest.approx(quantile * np.sqrt(se**2 + fit.sigma**2))
    for bad in ({"level": 1.0}, {"kind": "both"}):
        with pytest.raises(InputError, match="not allowed"):
            interval(fit.fitted, se, fit, **bad)


def test_mean_and_its_standard_error():
    """D14: sqrt(sum (x - mean)^2 / (n (n - 1)))."""
    x = np.array([1.0, 2.0, 6.0])
    mean, se = mean_and_se(x)
    assert (mean, se) == pytest.approx((3.0, np.sqrt(14 / 6)))
    weighted, _ = mean_and_se(x, np.array([1.0, 1.0, 2.0]))
    assert weighted == pytest.approx(15 / 4)
