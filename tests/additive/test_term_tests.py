"""Tests of the terms of an additive model: tails of chi-squares, mgcv's parts, invariances."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import integrate, stats

from bottega.additive._inference.chi_squares import chi_squares_sf
from bottega.additive._inference.term_tests import (
    NO_TEST,
    random_test,
    reference_df,
    smooth_test,
    wald_test,
)
from bottega.additive._penalized.fit import Fit
from bottega.core.likelihood import BINOMIAL, GAUSSIAN

FOLDER = Path(__file__).parents[1] / "reference" / "additive"
REFERENCE = json.loads((FOLDER / "mgcv.json").read_text())

# ---- tails of weighted sums of chi-squares ------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 10, 100])
@pytest.mark.parametrize("times", [1e-6, 0.01, 0.5, 1.0, 2.0, 10.0, 50.0])
def test_equal_weights_are_a_chi_square_or_an_f(k, times):
    q = times * k
    expected = stats.chi2.sf(q, k)
    if expected > 0:
        assert chi_squares_sf(q, np.ones(k)) == pytest.approx(expected, rel=1e-9)
    assert chi_squares_sf(3 * q, np.full(k, 3.0)) == pytest.approx(expected, rel=1e-9)
    for df in (2.0, 7.5, 1000.0):
        assert chi_squares_sf(q, np.ones(k), df) == pytest.approx(
            stats.f.sf(times, k, df), rel=1e-8
        )


@pytest.mark.parametrize("case", REFERENCE["tails"], ids=lambda c: f"{len(c['weights'])}-{c['q']}")
def test_tails_equal_davies_of_mgcv(case):
    # psum.chisq integrates to an absolute error of 1e-7; that of 30 weights is off by 9e-7 where
    # the tail is near one.
    weights = np.array(case["weights"])
    assert chi_squares_sf(case["q"], weights) == pytest.approx(case["known"], abs=2e-6)
    assert chi_squares_sf(case["q"], weights, case["df"]) == pytest.approx(case["ratio"], abs=2e-6)


@given(
    k=st.integers(1, 8),
    nu=st.floats(0.01, 0.99),
    q=st.floats(0.01, 60.0),
    df=st.sampled_from([3.0, 40.0, np.inf]),
)
def test_a_share_of_one_more_chi_square_as_one_integral(k, nu, q, df):
    # chi2_k + nu chi2_1 is chi2_(k + 1) times 1 - (1 - nu) B, with B independent: beta(1/2, k/2).
    def tail(angle):
        at = q / (1 - (1 - nu) * np.sin(angle) ** 2)
        far = stats.chi2.sf(at, k + 1) if np.isinf(df) else stats.f.sf(at / (k + 1), k + 1, df)
        return far * np.cos(angle) ** (k - 1)

    mass = integrate.quad(lambda a: np.cos(a) ** (k - 1), 0, np.pi / 2)[0]
    expected = integrate.quad(tail, 0, np.pi / 2, epsrel=1e-11, epsabs=0)[0] / mass
    weights = np.append(np.ones(k), nu)
    assert chi_squares_sf(q, weights, df) == pytest.approx(expected, rel=1e-7)


def test_what_is_no_tail():
    assert chi_squares_sf(0.0, [1.0]) == 1.0
    assert chi_squares_sf(2.0, [0.0]) == 0.0
    assert np.isnan(chi_squares_sf(np.nan, [1.0]))
    assert chi_squares_sf(1e6, np.ones(4)) == 0.0


# ---- the tests on mgcv's own parts --------------------------------------------------------------


def fit_of(parts):
    arrays = {
        name: np.array(parts[name], dtype=float)
        for name in ("coef", "penalty", "gram", "covariance", "covariance_freq", "edf")
    }
    sizes = (1, *(b - a + 1 for a, b in zip(parts["first"], parts["last"], strict=True)))
    return Fit(
        **arrays,
        sizes=sizes,
        family=BINOMIAL if parts["known"] else GAUSSIAN,
        alphas=(),
        scale=parts["scale"],
        scale_known=parts["known"],
        method="reml",
        score=0.0,
        deviance=0.0,
        null_deviance=0.0,
        loglik=0.0,
        n=parts["n"],
        weight=parts["n"],
        n_iter=1,
        converged=True,
        gradient=0.0,
        dropped=np.zeros(len(parts["coef"]), dtype=bool),
    )


@pytest.mark.parametrize("name", REFERENCE["inside"])
def test_each_test_on_the_covariances_of_mgcv(name):
    parts = REFERENCE["inside"][name]
    fit = fit_of(parts)
    df = np.inf if fit.scale_known else fit.df_residual
    r = reference_df(fit)
    assert_allclose(r, parts["edf1"], atol=1e-10)
    named = dict(zip(parts["smooth"]["names"], fit.slices[1:], strict=True))
    random = {each: part for each, part in named.items() if each in ("s(id)", "s(empty)")}
    for (term, part), row in zip(named.items(), parts["smooth"]["values"], strict=True):
        _, ref_df, statistic, p_value = row
        if term in random:
            others = [part for each, part in random.items() if each != term]
            found = random_test(fit, part, others, df)
            assert found.statistic == pytest.approx(statistic, rel=1e-4)
            # Davies' method in mgcv is exact to about 1e-5.
            assert found.p_value == pytest.approx(p_value, rel=1e-4, abs=1e-5)
            assert found.df == ref_df
            continue
        own = fit.covariance[part, part], fit.gram[part, part]
        found = smooth_test(fit.coef[part], *own, float(r[part].sum()), df)
        assert found.df == pytest.approx(ref_df, abs=1e-9)
        # mgcv adds a product of two components whose sign is that of an eigenvector, hence
        # arbitrary; ours is the mean over both signs.
        times = 1.0 if fit.scale_known else ref_df
        cross = _cross_product(fit.coef[part], *own, ref_df)
        assert abs(found.statistic - statistic) * times == pytest.approx(cross, rel=1e-6)
        assert 0.4 < found.p_value / p_value < 2.5


def _cross_product(coef, covariance, gram, r):
    root = np.linalg.cholesky(gram).T
    values, vectors = np.linalg.eigh(root @ covariance @ root.T)
    z = (vectors.T @ root @ coef / np.sqrt(values))[::-1]
    k, nu = int(r), r - int(r)
    return 2 * np.sqrt(nu * (1 - nu) / 2) * abs(z[k - 1] * z[k])


# ---- properties ---------------------------------------------------------------------------------


def random_parts(seed, size=5):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(40, size))
    gram = B.T @ B
    V = np.linalg.inv(gram + np.diag(rng.uniform(0.1, 30, size=size)))
    return rng.normal(size=size), V, gram


@given(seed=st.integers(0, 1000), r=st.floats(0.2, 5.0))
def test_a_smooth_test_does_not_depend_on_the_basis_nor_on_the_unit(seed, r):
    coef, V, gram = random_parts(seed)
    A = np.random.default_rng(seed + 1).normal(size=(5, 5)) + 3 * np.eye(5)
    back = np.linalg.inv(A)
    plain = smooth_test(coef, V, gram, r, 20.0)
    turned = smooth_test(back @ coef, back @ V @ back.T, A.T @ gram @ A, r, 20.0)
    assert turned.statistic == pytest.approx(plain.statistic, rel=1e-6)
    assert turned.p_value == pytest.approx(plain.p_value, rel=1e-6, abs=1e-12)
    scaled = smooth_test(1e6 * coef, 1e12 * V, gram, r, 20.0)
    assert scaled.p_value == pytest.approx(plain.p_value, rel=1e-6, abs=1e-12)


@given(seed=st.integers(0, 1000))
def test_a_smooth_test_of_full_rank_is_walds(seed):
    coef, V, gram = random_parts(seed)
    found, expected = smooth_test(coef, V, gram, 5.0, 30.0), wald_test(coef, V, 30.0)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-8)
    assert found.p_value == pytest.approx(expected.p_value, rel=1e-6, abs=1e-14)


def test_a_smooth_test_changes_steadily_with_the_degrees_of_freedom():
    coef, V, gram = random_parts(3)
    for k in (2, 3, 4):
        below, at, above = (smooth_test(coef, V, gram, k + e, 30.0) for e in (-1e-9, 0, 1e-9))
        assert below.p_value == pytest.approx(at.p_value, rel=1e-6)
        assert above.p_value == pytest.approx(at.p_value, rel=1e-6)
    least = smooth_test(coef, V, gram, 0.3, 30.0)  # its leading direction alone
    assert least.df == 1.0


def test_no_variance_is_no_test():
    assert smooth_test(np.zeros(2), np.zeros((2, 2)), np.eye(2), 1.0, 5.0) is NO_TEST
    assert wald_test(np.zeros(2), np.zeros((2, 2)), 5.0) is NO_TEST
