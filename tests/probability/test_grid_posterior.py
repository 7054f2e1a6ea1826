"""Bayes' rule on a grid: closed forms, priors of any form, priors that are none."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bottega.core.errors import DataWarning, InputError, ParameterError
from bottega.probability import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    GridPosterior,
    NormalNormal,
    grid_posterior,
)


def coin(a, b, ones, zeros):
    return BetaBernoulli(a, b).update([1, 0], sample_weight=[ones, zeros])


def agrees(grid, model, quantiles=5e-5):
    """Moments and evidence to rounding, quantiles to cubic interpolation between edges."""
    spread = model.std()
    assert grid.mean() == pytest.approx(model.mean(), abs=1e-6 * spread)
    assert grid.std() == pytest.approx(spread, rel=1e-6)
    assert grid.log_evidence == pytest.approx(model.log_evidence(), rel=1e-9, abs=1e-6)
    assert grid.interval() == pytest.approx(model.interval(), abs=5 * quantiles * spread)
    assert float(grid.mass.sum()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "ones", "zeros"),
    [
        (5, 5, 4, 8),
        (1, 1, 0, 2),
        (0.1, 0.1, 3, 7),
        (0.1, 0.1, 0, 2),
        (0.1, 0.1, 0, 0),
        (1, 1, 30_000, 70_000),
        (2, 3, 3e8, 7e8),
    ],
)
def test_coins_as_in_closed_form(a, b, ones, zeros):
    """M310: the grid's posterior is Beta's, with infinite densities and 10^9 tosses too."""
    model = coin(a, b, ones, zeros)
    found = grid_posterior(model, stats.beta(a, b))
    agrees(found, model)
    if ones:
        ends = model.interval(kind="highest_density")
        # To the spacing of the grid.
        close = 0.01 * model.std()
        assert found.interval(kind="highest_density") == pytest.approx(ends, abs=close)
        assert found.map() == pytest.approx(model.map(), abs=1e-4 * model.std())
        assert found.mle() == pytest.approx(model.mle(), abs=1e-4 * model.std())


@pytest.mark.parametrize(
    ("model", "prior", "support"),
    [
        (NormalNormal(0.0, 1.0, 1e-3).update([100.0]), stats.norm(0, 1), None),
        (NormalNormal(1e7, 1.0, 1.0).update([1e7 + 1, 1e7 + 2]), stats.norm(1e7, 1), None),
        (NormalNormal(0.0, 1e150, 1e150).update([1e150]), stats.norm(0, 1e150), None),
        (NormalNormal(0.0, 1e-150, 1e-150).update([1e-150]), stats.norm(0, 1e-150), None),
        (GammaPoisson(2.0, 1.0).update([3, 5, 4]), stats.gamma(2), None),
        (GammaPoisson(2.0, 1.0).update([3, 5, 4]), lambda t: 9 * t * np.exp(-t), (0, np.inf)),
        (GammaPoisson(0.2, 1.0).update([0]), lambda t: t**-0.8 * np.exp(-t), (0, np.inf)),
        (NormalNormal(3.0, 2.0).update([1.0]), lambda t: np.exp(-((t - 3) ** 2) / 8),
         (-np.inf, np.inf)),
    ],
)  # fmt: skip
def test_other_conjugate_models(model, prior, support):
    agrees(grid_posterior(model, prior, support=support), model)


def test_prior_that_is_zero_somewhere_stays_zero():
    """M309: whatever the data."""
    found = grid_posterior(coin(1, 1, 900, 100), stats.uniform(0, 0.5))
    assert found.theta.max() < 0.5
    assert found.interval()[1] <= 0.5
    model = coin(1, 1, 900, 100)
    inside = model.posterior().cdf(0.5)  # some 1e-170
    expected = model.log_evidence() + math.log(inside) + math.log(2)
    assert found.log_evidence == pytest.approx(expected, rel=1e-9)
    other = grid_posterior(model, lambda t: np.where(t < 0.5, 3.0, 0.0), support=(0, 1))
    # The step is no edge of the grid: one panel of 256 is halved.
    assert other.log_evidence == pytest.approx(expected, rel=1e-2)
    assert other.density[other.theta > 0.5].max() == 0


def test_unit_of_a_prior_function_does_not_matter():
    first, second = (
        grid_posterior(coin(1, 1, 3, 7), lambda t, c=c: c * t, support=(0, 1)) for c in (1e-9, 1e9)
    )
    assert first.log_evidence == pytest.approx(second.log_evidence, rel=1e-12)
    agrees(first, coin(2, 1, 3, 7))


def test_likelihood_itself_or_its_logarithm():
    logs = grid_posterior(lambda t: 3 * np.log(t) + 7 * np.log1p(-t), stats.beta(2, 2))
    plain = grid_posterior(lambda t: t**3 * (1 - t) ** 7, stats.beta(2, 2), log=False)
    assert plain.log_evidence == pytest.approx(logs.log_evidence, rel=1e-12)


def test_a_likelihood_taken_for_its_logarithm_is_said():
    with pytest.warns(DataWarning, match="pass log=False"):
        grid_posterior(lambda t: t**3 * (1 - t) ** 7, stats.beta(2, 2))


def test_two_peaks_have_two_pieces():
    def log_likelihood(t):
        return np.logaddexp(stats.norm.logpdf(t, 3, 0.1), stats.norm.logpdf(t, -3, 0.1))

    found = grid_posterior(log_likelihood, stats.norm(0, 5))
    (a, b), (c, d) = found.highest_density_region(0.95)
    assert (a, b) == pytest.approx((-3.196, -2.804), abs=0.01)
    assert (c, d) == pytest.approx((2.804, 3.196), abs=0.01)
    with pytest.raises(InputError, match="2 pieces"):
        found.interval(kind="highest_density")


def test_predictive_and_expectations():
    """M322, M323: the next toss, with the parameter integrated out."""
    found = grid_posterior(coin(5, 5, 0, 2), stats.beta(5, 5))
    assert found.expect(lambda t: t) == pytest.approx(5 / 12, rel=1e-10)
    both = found.expect(lambda t: np.stack([t, 1 - t]))
    assert both == pytest.approx([5 / 12, 7 / 12], rel=1e-10)


def test_draws_follow_the_posterior():
    found = grid_posterior(coin(5, 5, 4, 8), stats.beta(5, 5))
    drawn = found.sample(2000, random_state=0)
    # False alarm 1e-4; the seed is fixed.
    assert stats.kstest(drawn, stats.beta(9, 13).cdf).pvalue > 1e-4
    assert np.array_equal(drawn, found.sample(2000, random_state=0))


def test_shown_stored_and_drawn():
    found = grid_posterior(coin(1, 1, 3, 7), lambda t: 1 - abs(2 * t - 1), support=(0, 1))
    assert "log evidence" in str(found)
    assert list(found.to_frame().columns)[:2] == ["theta", "weight"]
    assert isinstance(pickle.loads(pickle.dumps(found)), GridPosterior)
    rows = found.plot("p").to_dict()["data"]["values"]
    panels = sorted({row["panel"] for row in rows})
    assert [name[0] for name in panels] == ["1", "2", "3", "4"]
    last = [row for row in rows if row["panel"] == "4. posterior"]
    width = last[1]["x"] - last[0]["x"]
    assert sum(row["y"] for row in last) * width == pytest.approx(1, abs=1e-3)
    top = max((row for row in rows if row["panel"].startswith("2.")), key=lambda row: row["y"])
    assert top["x"] == pytest.approx(0.3, abs=width)


@settings(deadline=None, max_examples=25)
@given(st.floats(0.3, 50), st.floats(0.3, 50), st.integers(0, 10**5), st.integers(0, 10**5))
def test_any_coin(a, b, ones, zeros):
    model = coin(a, b, ones, zeros)
    agrees(grid_posterior(model, stats.beta(a, b)), model)


@pytest.mark.parametrize(
    ("prior", "support", "message"),
    [
        (lambda t: 1 / t, (0, 1), "does not integrate: towards 0"),
        (lambda t: 1 / (1 - t), (0, 1), "does not integrate: towards 1"),
        (lambda t: t**0, (-np.inf, np.inf), "does not integrate: towards infinity"),
        (lambda t: 1 / (1 + t), (0, np.inf), "does not integrate: towards infinity"),
        (lambda t: t - 0.5, (0, 1), "negative"),
        (lambda t: t * np.nan, (0, 1), "nan"),
        (lambda t: 0.0 * t, (0, 1), "integrates to 0"),
        (lambda t: t[:3], (0, 1), "called with an array"),
    ],
)
def test_priors_that_are_none(prior, support, message):
    with pytest.raises(InputError, match=message):
        grid_posterior(coin(1, 1, 1, 1), prior, support=support)


@pytest.mark.parametrize("call", [
    lambda: grid_posterior(coin(1, 1, 1, 1), lambda t: t),
    lambda: grid_posterior(coin(1, 1, 1, 1), lambda t: t, support=(1, 0)),
    lambda: grid_posterior(coin(1, 1, 1, 1), stats.beta(-1, 2)),
    lambda: grid_posterior(coin(1, 1, 1, 1), stats.beta(1, 2), support=(0, 1)),
    lambda: grid_posterior(coin(1, 1, 1, 1), 3.0),
    lambda: grid_posterior(coin(1, 1, 1, 1), stats.beta(1, 1), n_points=3),
])  # fmt: skip
def test_bad_arguments(call):
    with pytest.raises(ParameterError, match=r"\w"):
        call()


@pytest.mark.parametrize(
    ("likelihood", "log", "message"),
    [
        (lambda t: t * np.nan, True, "nan"),
        (lambda t: t * 0 - np.inf, True, "zero at all values"),
        (lambda t: -t, False, "negative"),
        (lambda t: t * 0, False, "underflowed"),
        (3.0, True, "must be a function"),
        (DirichletCategorical([1, 1]), True, "a grid is of one"),
    ],
)
def test_likelihoods_that_are_none(likelihood, log, message):
    with pytest.raises(InputError, match=message):
        grid_posterior(likelihood, stats.beta(1, 1), log=log)


def test_flat_curves_have_no_top():
    found = grid_posterior(BetaBernoulli(), stats.beta(1, 1))
    with pytest.raises(InputError, match="same everywhere"):
        found.map()
    assert found.interval() == pytest.approx((0.025, 0.975), abs=1e-9)
    assert "-" in str(found)
