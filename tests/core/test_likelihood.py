"""Families and criteria against closed forms, scipy's densities and each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bottega.core.errors import ParameterError
from bottega.core.likelihood import (
    BINOMIAL,
    FAMILIES,
    GAMMA,
    GAUSSIAN,
    POISSON,
    gaussian_criteria,
    gaussian_path,
    get_family,
    information_criteria,
    residual_scale,
)
from bottega.core.links import LINKS, get_link
from bottega.core.path import along

Y = {"gaussian": [-1.0, 0.5], "binomial": [0.0, 1.0], "poisson": [0.0, 4.0]}
Y |= {"gamma": [0.4, 2.0], "negative_binomial": [0.0, 4.0]}
MU = {"gaussian": [0.2, 0.1], "binomial": [0.3, 0.6], "poisson": [1.5, 2.0]}
MU |= {"gamma": [0.5, 1.5], "negative_binomial": [1.5, 2.0]}


@pytest.mark.parametrize("name", FAMILIES)
def test_deviance_is_twice_the_gap_of_the_log_likelihoods(name):
    y, mu = np.array(Y[name]), np.array(MU[name])
    density = {
        "gaussian": lambda m: stats.norm.logpdf(y, m),
        "binomial": lambda m: stats.bernoulli.logpmf(y, m),
        "poisson": lambda m: stats.poisson.logpmf(y, m),
        "gamma": lambda m: stats.gamma.logpdf(y, 1.0, scale=m),
        "negative_binomial": lambda m: stats.nbinom.logpmf(y, 1.0, 1 / (1 + m)),
    }[name]
    expected = 2 * (density(y) - density(mu))
    family = get_family(name)
    assert family.unit_deviance(y, mu) == pytest.approx(expected, rel=1e-12)
    assert family.deviance(y, mu, [2.0, 3.0]) == pytest.approx(expected @ [2.0, 3.0])


@pytest.mark.parametrize("name", FAMILIES)
def test_link_and_mean_undo_each_other_and_the_variance_is_the_slope(name):
    family = FAMILIES[name]
    mu = np.array([0.2, 0.5, 0.9])
    assert family.mean(family.link(mu)) == pytest.approx(mu, rel=1e-12)
    # With the canonical link d mu / d eta = V(mu); central differences of step 1e-6.
    eta, h = family.link(mu), 1e-6
    slope = (family.mean(eta + h) - family.mean(eta - h)) / (2 * h)
    assert family.mean_slope(eta) == pytest.approx(slope, rel=1e-8)
    assert family.is_canonical == (name in ("gaussian", "binomial", "poisson"))
    if family.is_canonical:
        assert family.variance(mu) == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize("name", FAMILIES)
def test_greatest_log_likelihood_and_its_slopes_in_the_scale(name):
    y, w = np.array(Y[name]), np.array([1.0, 3.0])
    family = FAMILIES[name]
    scale = 1.0 if family.known_scale else 0.7
    mu = np.array(MU[name])
    density = {
        "gaussian": lambda: stats.norm.logpdf(y, mu, np.sqrt(scale / w)),
        "binomial": lambda: stats.binom.logpmf(w * y, w, mu),
        "poisson": lambda: w * stats.poisson.logpmf(y, mu),
        "gamma": lambda: stats.gamma.logpdf(y, w / scale, scale=mu * scale / w),
        "negative_binomial": lambda: w * stats.nbinom.logpmf(y, 1.0, 1 / (1 + mu)),
    }[name]()
    top = family.saturated(y, w, scale)
    assert top[0] - family.deviance(y, mu, w) / (2 * scale) == pytest.approx(density.sum())
    # Central differences in log scale: error of order 1e-8.
    h = 1e-4
    if not family.known_scale:
        up, down = (family.saturated(y, w, scale * np.exp(each)) for each in (h, -h))
        assert top[1] == pytest.approx((up[0] - down[0]) / (2 * h), rel=1e-6)
        assert top[2] == pytest.approx((up[1] - down[1]) / (2 * h), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", LINKS)
def test_links_and_three_derivatives_of_their_inverse(name):
    link, h = get_link(name), 1e-5
    mu = np.array([0.2, 0.5, 0.9])
    eta = link.link(mu)
    assert link.mean(eta) == pytest.approx(mu, rel=1e-12)
    at = [link.mean(eta), *link.slopes(eta)]
    up, down = ([link.mean(e), *link.slopes(e)] for e in (eta + h, eta - h))
    for k in range(3):
        # Central differences of step 1e-5 are good to about 1e-9.
        assert at[k + 1] == pytest.approx((up[k] - down[k]) / (2 * h), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", FAMILIES)
def test_variances_have_their_derivatives(name):
    family, mu, h = FAMILIES[name], np.array([0.2, 0.5, 0.9]), 1e-6
    at, up, down = (family.variances(m) for m in (mu, mu + h, mu - h))
    for k in range(2):
        slope = (np.asarray(up[k]) - np.asarray(down[k])) / (2 * h)
        assert np.broadcast_to(at[k + 1], 3) == pytest.approx(np.broadcast_to(slope, 3), abs=1e-6)


@pytest.mark.parametrize("name", FAMILIES)
def test_scores_are_slopes_and_the_information_their_variance(name):
    family, y, mu, w = FAMILIES[name], np.array(Y[name]), np.array(MU[name]), np.array([2.0, 3.0])
    eta, h = family.link(mu), 1e-6
    score, information = family.scores(eta, y, w)
    up, down = (family.unit_deviance(y, family.mean(eta + e)) for e in (h, -h))
    assert score == pytest.approx(-w * (up - down) / (4 * h), rel=1e-6, abs=1e-8)
    assert information == pytest.approx(w * family.mean_slope(eta) ** 2 / family.variance(mu))


def test_a_family_takes_the_links_that_suit_it():
    probit = get_family("binomial", "probit")
    assert probit.mean(0.0) == 0.5
    assert probit != BINOMIAL
    assert BINOMIAL.with_link("logit") is BINOMIAL
    assert repr(probit) == "BINOMIAL.with_link('probit')"
    assert GAMMA.link(2.0) == pytest.approx(np.log(2))
    with pytest.raises(ParameterError, match="does not suit family='poisson'"):
        get_family("poisson", "logit")
    with pytest.raises(ParameterError, match="Did you mean 'logit'"):
        get_family("binomial", "logitt")


def test_families_have_names():
    assert get_family(POISSON) is POISSON
    assert repr(BINOMIAL) == "BINOMIAL"
    assert not GAUSSIAN.known_scale
    with pytest.raises(ParameterError, match="Did you mean 'poisson'"):
        get_family("poison")


def test_information_criteria_by_hand():
    found = information_criteria(10.0, 3.0, 20, hq_constant=2.0)
    assert found["aic"] == 16.0
    assert found["aicc"] == pytest.approx(10 + 2 * 3 * 20 / 16)
    assert found["bic"] == pytest.approx(10 + 3 * np.log(20))
    assert found["hq"] == pytest.approx(10 + 2 * 2 * 3 * np.log(np.log(20)))
    assert information_criteria(10.0, 19.0, 20)["aicc"] == np.inf


def test_the_scale_of_cp_is_that_of_a_rich_model_far_from_interpolation():
    rss, df = np.array([9.0, 8.0, 2.0, 0.0]), np.array([1.0, 4.0, 9.0, 10.0])
    assert residual_scale(rss, df, 10) == pytest.approx(np.sqrt(8 / 6))
    assert residual_scale(rss[2:], df[2:], 10) == pytest.approx(np.sqrt(2 / 1))
    assert residual_scale(rss[3:], df[3:], 10) is None
    both = residual_scale(np.column_stack([rss, 4 * rss]), df, 10)
    assert both == pytest.approx([np.sqrt(8 / 6), 2 * np.sqrt(8 / 6)])


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 1000), st.floats(1e-6, 1e6))
def test_criteria_pick_the_same_model_in_any_unit_of_the_response(seed, unit):
    rng = np.random.default_rng(seed)
    df = np.arange(1.0, 8.0)
    rss = np.sort(rng.uniform(1, 5, size=7))[::-1]
    plain, scaled = (
        gaussian_path(along("k", df), rss=factor * rss, df=df, n=30) for factor in (1, unit**2)
    )
    for rule in plain.criteria:
        assert plain.best(rule) == scaled.best(rule)


def test_a_path_of_several_responses_adds_up_their_criteria():
    df, n = np.array([1.0, 3.0]), 12
    rss = np.array([[4.0, 9.0], [2.0, 5.0]])
    both = gaussian_path(along("k", df), rss=rss, df=df, n=n, error="gcv")
    parts = [
        gaussian_criteria(rss[:, j], df, n, scale=residual_scale(rss[:, j], df, n)) for j in (0, 1)
    ]
    for name, column in both.criteria.items():
        total = parts[0][name] + parts[1][name]
        assert column == pytest.approx(total / 2 if name == "gcv" else total)
    assert both.estimate == "gcv"
    assert both.error == pytest.approx(both.criteria["gcv"])
    assert both.train_error == pytest.approx(rss.mean(axis=1) / n)
