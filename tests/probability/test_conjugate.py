"""Conjugate models: the coin of the notes, R's numbers, updates in any order, extremes."""

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from bottega.core.errors import InputError, ParameterError
from bottega.probability import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    NormalGamma,
    NormalNormal,
)

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference/probability/conjugate.json").read_text()
)
# M303, with Tail as 1 (E12: ten tosses, of which three are tails).
TOSSES = [int(side == "T") for side in "HTHHTHHHTH"]


def coin(a, b, tails, heads):
    return BetaBernoulli(a, b).update([1, 0], sample_weight=[tails, heads])


# ---- the coin of the notes (M302 to M324) --------------------------------------------------------


def test_likelihood_of_ten_tosses():
    """M303 to M307: theta^3 (1 - theta)^7 is highest at 0.3, and is no density of theta."""
    model = BetaBernoulli().update(TOSSES)
    theta = np.linspace(0, 1, 11)
    assert model.likelihood(theta) == pytest.approx(theta**3 * (1 - theta) ** 7, rel=1e-13)
    assert model.mle() == pytest.approx(0.3)
    assert model.likelihood(0.3) == pytest.approx(0.0022235661, rel=1e-8)
    assert model.log_likelihood(0.3) == pytest.approx(-6.1086430, abs=1e-7)
    area = integrate.quad(model.likelihood, 0, 1)[0]
    assert area == pytest.approx(1 / 1320, rel=1e-10)
    assert model.evidence() == pytest.approx(area, rel=1e-10)  # under a uniform prior


def test_maximum_likelihood_overfits_two_heads():
    """M308, M315, M323: heads twice; the MLE calls tails impossible."""
    model = coin(5, 5, 0, 2)
    assert model.mle() == 0
    assert model.map() == pytest.approx(0.4)
    assert model.mean() == pytest.approx(5 / 12)
    assert model.predictive().pmf(1) == pytest.approx(0.416667, abs=1e-6)


def test_three_methods_side_by_side():
    """M324."""
    few = coin(5, 5, 4, 8).compare()
    assert list(few["method"]) == ["mle", "map", "bayes"]
    assert few["probability"].to_numpy() == pytest.approx([4 / 12, 8 / 20, 9 / 22], rel=1e-14)
    assert few["predictive_mean"].to_numpy() == pytest.approx([4 / 12, 8 / 20, 9 / 22], rel=1e-14)
    many = coin(5, 5, 304, 306).compare()["probability"].to_numpy()
    assert many == pytest.approx([0.498361, 0.498382, 0.498387], abs=5e-7)


@pytest.mark.parametrize(
    ("tails", "heads", "mean", "sd", "low", "high"),
    [
        (1, 4, 0.285714, 0.159719, 0.0433, 0.6412),
        (10, 40, 0.211538, 0.056098, 0.1129, 0.3312),
        (100, 400, 0.201195, 0.017875, 0.1673, 0.2373),
    ],
)
def test_posteriors_grow_more_peaked(tails, heads, mean, sd, low, high):
    """M321, with a uniform prior."""
    model = coin(1, 1, tails, heads)
    assert model.mean() == pytest.approx(mean, abs=1e-6)
    assert model.std() == pytest.approx(sd, abs=1e-6)
    assert model.interval() == pytest.approx((low, high), abs=1e-4)
    assert model.map() == pytest.approx(model.mle())  # M320


def test_posterior_is_prior_times_likelihood_over_the_evidence():
    """M310, M316, M317: the integral and the pattern give the same constant."""
    model = coin(2.5, 0.7, 3, 7)
    theta = np.linspace(0.05, 0.95, 7)
    product = model.prior().pdf(theta) * model.likelihood(theta)
    assert product / model.evidence() == pytest.approx(model.posterior().pdf(theta), rel=1e-11)


def test_mass_at_both_ends():
    """M312: a = b = 0.1 has its mass at 0 and 1; its region of highest density is in two pieces."""
    model = BetaBernoulli(0.1, 0.1)
    (first, second) = model.highest_density_region(0.8)
    assert first[0] == 0
    assert second[1] == 1
    law = model.prior()
    assert law.cdf(first[1]) + law.sf(second[0]) == pytest.approx(0.8)
    assert law.pdf(first[1]) == pytest.approx(law.pdf(second[0]), rel=1e-6)
    with pytest.raises(InputError, match="no interval"):
        model.interval(kind="highest_density")
    with pytest.raises(InputError, match="more than one place"):
        model.map()


# ---- R -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", REFERENCE["beta"], ids=lambda c: f"{c['a']}-{c['ones']}")
def test_beta_as_in_r(case):
    model = coin(case["a"], case["b"], case["ones"], case["zeros"])
    # R's density and quantiles are good to 1e-12 or so; JSON keeps 15 digits.
    assert model.prior().pdf(case["x"]) == pytest.approx(case["prior"], rel=1e-11)
    assert model.posterior().pdf(case["x"]) == pytest.approx(case["posterior"], rel=1e-10)
    for level, low, high in zip(case["levels"], case["lower"], case["upper"], strict=True):
        assert model.interval(level) == pytest.approx((low, high), rel=1e-9)
    assert model.mean() == pytest.approx(case["mean"], rel=1e-13)
    assert model.std() == pytest.approx(case["sd"], rel=1e-12)
    assert model.log_evidence() == pytest.approx(case["log_evidence"], rel=1e-11, abs=1e-13)
    for level, ends in zip(case["levels"], case.get("shortest") or (), strict=False):
        found = model.interval(level, kind="highest_density")
        # R minimises the width, which is flat there: the square root of its accuracy.
        assert found == pytest.approx(ends, abs=1e-6)
        assert found[1] - found[0] <= ends[1] - ends[0] + 1e-10


@pytest.mark.parametrize("case", REFERENCE["gamma"])
def test_gamma_as_in_r(case):
    model = GammaPoisson(case["a"], case["b"]).update(case["x"])
    for level, low, high in zip(case["levels"], case["lower"], case["upper"], strict=True):
        assert model.interval(level) == pytest.approx((low, high), rel=1e-9)
    assert model.predictive().pmf(np.arange(13)) == pytest.approx(case["predictive"], rel=1e-11)
    assert model.evidence() == pytest.approx(case["evidence"], rel=1e-8)  # integrated by R


@pytest.mark.parametrize("case", REFERENCE["normal_gamma"])
def test_normal_gamma_as_in_r(case):
    model = NormalGamma(*(case[name] for name in ("m", "kappa", "a", "b"))).update(case["x"])
    low, high = model.interval()
    assert (low[0], high[0]) == pytest.approx((case["low"], case["high"]), rel=1e-10)
    assert (low[1], high[1]) == pytest.approx(case["precision"], rel=1e-9)
    assert model.evidence() == pytest.approx(case["evidence"], rel=1e-6)  # integrated twice by R


# ---- every model ---------------------------------------------------------------------------------

MODELS = {
    "coin": (BetaBernoulli(2.0, 3.0), [0, 1, 1, 0, 1], 0.3),
    "votes": (DirichletCategorical([1.0, 2.0, 0.5], list("abc")), list("abacab"), [0.5, 0.2, 0.3]),
    "scale": (NormalNormal(1.0, 2.0, 0.5), [0.3, -1.2, 2.2, 0.9], 0.7),
    "both": (NormalGamma(1.0, 0.5, 2.0, 1.5), [0.3, -1.2, 2.2, 0.9], [0.5, 0.8]),
    "calls": (GammaPoisson(2.0, 0.5), [3, 0, 4, 1, 7], 2.5),
}


@pytest.fixture(params=MODELS)
def case(request):
    return MODELS[request.param]


def same(a, b):
    # Sums in another order differ by rounding.
    assert np.asarray(a.mean()) == pytest.approx(np.asarray(b.mean()), rel=1e-12)
    assert np.asarray(a.std()) == pytest.approx(np.asarray(b.std()), rel=1e-12)
    assert a.log_evidence() == pytest.approx(b.log_evidence(), rel=1e-11)
    assert np.asarray(a.mle()) == pytest.approx(np.asarray(b.mle()), rel=1e-12)


def test_updates_in_any_order_and_number(case):
    model, data, _ = case
    whole = model.update(data)
    same(whole, model.update(data[2:]).update(data[:2]))
    step = model
    for each in reversed(data):
        step = step.update([each])
    same(whole, step)
    assert model.n == 0  # models do not change
    assert whole.n == len(data)


def test_weights_are_repeated_rows(case):
    model, data, _ = case
    weights = np.arange(len(data))
    repeated = [each for each, w in zip(data, weights, strict=True) for _ in range(w)]
    same(model.update(data, sample_weight=weights), model.update(repeated))


def test_no_data_change_nothing(case):
    model, _, theta = case
    assert model.update([]) == model
    assert model.log_evidence() == 0
    assert model.log_likelihood(theta) == 0
    with pytest.raises(InputError, match="no data"):
        model.mle()
    assert np.isnan(model.to_frame()["mle"]).all()
    assert "observations seen" in str(model)


def test_bayes_rule_holds_at_any_parameter(case):
    """log posterior + log evidence = log prior + log likelihood."""
    model, data, theta = case
    seen = model.update(data)
    at = (lambda law: law.logpdf(*theta)) if isinstance(model, NormalGamma) else (
        lambda law: law.logpdf(theta)
    )  # fmt: skip
    left = at(seen.posterior()) + seen.log_evidence()
    assert left == pytest.approx(at(model.prior()) + seen.log_likelihood(theta), rel=1e-11)


def test_evidence_is_the_product_of_predictions(case):
    """The chain rule; and the next observation's distribution is what log_predictive says."""
    model, data, _ = case
    total, now = 0.0, model
    for each in data:
        gain = now.log_predictive([each])
        law = now.predictive()
        code = "abc".index(each) if isinstance(each, str) else each
        one = law.logpmf(code) if hasattr(law, "pmf") else law.logpdf(code)
        assert gain == pytest.approx(float(one), rel=1e-10)
        total, now = total + gain, now.update([each])
    assert total == pytest.approx(now.log_evidence(), rel=1e-11)
    both = model.log_predictive(data[:2]) + model.update(data[:2]).log_predictive(data[2:])
    assert both == pytest.approx(now.log_evidence(), rel=1e-11)


def test_estimates_are_where_the_curves_are_highest(case):
    model, data, _ = case
    seen = model.update(data)
    rng = np.random.default_rng(0)
    best = seen.log_likelihood(seen.mle())
    for draw in seen.sample(200, random_state=rng):
        assert seen.log_likelihood(draw) <= best + 1e-12
    law = seen.posterior()
    height = law.logpdf(*seen.map()) if isinstance(model, NormalGamma) else law.logpdf(seen.map())
    for draw in seen.sample(200, random_state=rng):
        other = law.logpdf(*draw) if isinstance(model, NormalGamma) else law.logpdf(draw)
        assert other <= height + 1e-9


def test_draws_have_the_moments_of_the_posterior(case):
    model, data, _ = case
    seen = model.update(data)
    drawn = seen.sample(40_000, random_state=1)
    error = np.asarray(seen.std()) / math.sqrt(len(drawn))
    # Five standard errors, at most two parameters: false alarm below 2e-6; the seed is fixed.
    assert (np.abs(drawn.mean(axis=0) - seen.mean()) < 5 * error).all()
    assert np.array_equal(seen.sample(5, random_state=3), seen.sample(5, random_state=3))


def test_intervals_hold_their_probability(case):
    model, data, _ = case
    seen = model.update(data)
    for name in seen.parameters:
        law = seen._marginals()[name].frozen()
        for level in (0.5, 0.95):
            pieces = seen.highest_density_region(level, parameter=name)
            held = sum(law.cdf(high) - law.cdf(low) for low, high in pieces)
            assert held == pytest.approx(level, abs=1e-9)
            low, high = seen._marginals()[name].equal_tailed(level)
            assert pieces[0][1] - pieces[0][0] <= high - low + 1e-12
            assert law.cdf(low) == pytest.approx((1 - level) / 2, abs=1e-9)


def test_stored_shown_and_framed(case):
    model, data, _ = case
    seen = model.update(data)
    assert pickle.loads(pickle.dumps(seen)) == seen
    skops = pytest.importorskip("skops.io")
    from bottega.core.stored import stored_types

    kept = skops.dumps(seen)
    assert set(skops.get_untrusted_types(data=kept)) <= stored_types()
    assert skops.loads(kept, trusted=list(stored_types())) == seen
    assert isinstance(seen.to_frame(), pd.DataFrame)
    assert isinstance(seen.compare(like="polars"), pl.DataFrame)
    assert "<table>" in seen._repr_html_()
    assert seen.plot().to_dict()["title"]["text"] == seen.title
    rows = seen.plot_predictive().to_dict()["data"]["values"]
    assert all(row["y"] is not None and row["y"] >= 0 for row in rows)


def test_frames_and_series_are_data():
    assert BetaBernoulli().update(pd.Series([1, 0, 1])).seen.of == (1, 2)
    assert NormalNormal().update(pl.Series([1.0, 3.0])).seen.mean == 2


# ---- properties ----------------------------------------------------------------------------------

SIZES = st.floats(0.05, 1e3)


# Smaller parameters have mass between 1 and the floating-point number before it.
@settings(deadline=None, max_examples=30)
@given(*[st.floats(0.7, 1e3)] * 2, *[st.integers(0, 500)] * 2, st.floats(0.05, 0.99))
def test_highest_density_is_the_shortest(a, b, s, f, level):
    model = coin(a, b, s, f)
    pieces = model.highest_density_region(level)
    low, high = model.interval(level)
    assert sum(y - x for x, y in pieces) <= (high - low) * (1 + 1e-9) + 1e-12
    law = model.posterior()
    # The probabilities of SciPy's Beta, beyond which quantiles cannot be known.
    assert sum(law.cdf(y) - law.cdf(x) for x, y in pieces) == pytest.approx(level, abs=1e-7)
    assert 0 <= low <= high <= 1


@settings(deadline=None, max_examples=60)
@given(SIZES, SIZES, st.lists(st.integers(0, 1), max_size=30), st.randoms())
def test_order_of_tosses_does_not_matter(a, b, tosses, random):
    other = list(tosses)
    random.shuffle(other)
    cut = len(other) // 3
    model = BetaBernoulli(a, b)
    assert model.update(tosses) == model.update(other[:cut]).update(other[cut:])


@settings(deadline=None, max_examples=40)
@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.lists(st.floats(-50, 50), min_size=1))
def test_units_of_normal_data(shift, factor, data):
    """Other units: the answer in other units (and the density by their factor)."""
    plain = NormalGamma(0.0, 1.0, 1.0, 1.0).update(data)
    moved = NormalGamma(shift, 1.0, 1.0, factor**2).update(shift + factor * np.array(data))
    scale = factor * (1 + np.abs(data).max()) + abs(shift)
    assert moved.mean()[0] == pytest.approx(shift + factor * plain.mean()[0], abs=1e-9 * scale)
    # Data shifted by much more than their spread lose digits that no method gets back.
    lost = 1e-9 * (1 + (shift / factor) ** 2)
    assert moved.mean()[1] * factor**2 == pytest.approx(plain.mean()[1], rel=1e-8 + lost)


# ---- extremes ------------------------------------------------------------------------------------


def test_prior_of_almost_nothing():
    model = coin(1e-8, 1e-8, 3, 7)
    assert model.mean() == pytest.approx(0.3, abs=1e-8)
    # B(a + 3, b + 7) / B(a, b) -> B(3, 7) a b / (a + b)
    assert model.log_evidence() == pytest.approx(math.log(5e-9 / 252), abs=1e-6)
    first, second = BetaBernoulli(1e-8, 1e-8).highest_density_region(0.9)
    assert first[1] < 1e-300
    assert second[0] == 1
    assert GammaPoisson(1e-8, 1e-8).update([0]).interval(0.95) == (0.0, 0.0)
    low, high = NormalGamma(0.0, 1.0, 1e-8, 1.0).interval()
    assert (low[0], high[0]) == (-math.inf, math.inf)  # beyond all floating-point numbers


def test_prior_of_very_much():
    model = coin(1e12, 1e12, 3, 7)
    assert model.log_evidence() == pytest.approx(10 * math.log(0.5), rel=1e-9)
    low, high = model.interval(kind="highest_density")
    half = 1.959963984540054 * math.sqrt(0.125 / 1e12)
    assert (low - 0.5, high - 0.5) == pytest.approx((-half, half), rel=1e-5)
    rate = GammaPoisson(1e12, 1e12).update([3, 1, 2])
    assert rate.log_evidence() == pytest.approx(-3 - math.log(12), rel=1e-9)
    assert rate.interval(kind="highest_density")[1] - 1 == pytest.approx(1.96e-6, rel=1e-3)
    normal = NormalGamma(0.0, 1e12, 1e12, 1e12).update([0.5, -1.0])
    assert normal.log_evidence() == pytest.approx(stats.norm.logpdf([0.5, -1.0]).sum(), rel=1e-9)


def test_quantiles_of_beta_far_from_square():
    """SciPy's inverse is wrong here: 1 - theta is Gamma(1000) / 1e15 but for 1e-9."""
    low, high = BetaBernoulli(1e15, 1e3).interval()
    law = stats.gamma(1e3, scale=1e-15)
    # 1 - theta is known to the rounding of theta.
    assert 1 - low == pytest.approx(law.ppf(0.975), abs=2e-16)
    assert 1 - high == pytest.approx(law.ppf(0.025), abs=2e-16)


@pytest.mark.parametrize("unit", [1e150, 1e-150])
def test_normal_data_of_any_size(unit):
    data = np.array([0.3, -1.2, 2.2, 0.9])
    plain = NormalNormal(1.0, 2.0, 0.5).update(data)
    model = NormalNormal(unit, 2 * unit, 0.5 * unit).update(data * unit)
    assert model.mean() / unit == pytest.approx(plain.mean(), rel=1e-12)
    shift = -4 * math.log(unit)
    assert model.log_evidence() == pytest.approx(plain.log_evidence() + shift, rel=1e-12)
    both = NormalGamma(1.0, 0.5, 2.0, 1.5).update(data)
    large = NormalGamma(unit, 0.5, 2.0, 1.5 * unit * unit).update(data * unit)
    # 1e-300 is near the smallest normal number: eight digits are left.
    assert large.mean()[0] / unit == pytest.approx(both.mean()[0], rel=1e-12)
    assert large.mean()[1] * unit * unit == pytest.approx(both.mean()[1], rel=1e-7)


def test_normal_data_far_from_zero():
    data = np.array([0.3, -1.2, 2.2, 0.9])
    # 1e7 has ten digits less than 1e-3.
    near, far = NormalGamma().update(data), NormalGamma(1e7).update(data + 1e7)
    assert far.mean()[1] == pytest.approx(near.mean()[1], rel=1e-8)
    assert far.mean()[0] - 1e7 == pytest.approx(near.mean()[0], abs=1e-8)


def test_overflowing_squares_are_refused():
    with pytest.raises(InputError, match="another unit"):
        NormalGamma().update([1e200, -1e200])


def test_many_observations_do_not_underflow():
    model = coin(1, 1, 30_000, 70_000)
    assert model.evidence() == 0
    entropy = stats.bernoulli(0.3).entropy()
    # Stirling: the evidence is near exp(-n H), but for a power of n.
    assert model.log_evidence() == pytest.approx(-1e5 * entropy, rel=1e-3)


# ---- coverage ------------------------------------------------------------------------------------


def test_highest_density_intervals_cover():
    """With parameters drawn from the prior an interval holds them with exactly its probability.

    800 draws at level 0.9: a share off by 0.05 is 4.7 standard errors, false alarm 3e-6 per model.
    """
    rng = np.random.default_rng(7)
    hits = {"coin": 0, "calls": 0}
    for _ in range(800):
        p, rate = rng.beta(2, 3), rng.gamma(3.0) / 0.5
        low, high = coin(2, 3, s := rng.binomial(12, p), 12 - s).interval(
            0.9, kind="highest_density"
        )
        hits["coin"] += low <= p <= high
        seen = GammaPoisson(3.0, 0.5).update(rng.poisson(rate, size=4))
        low, high = seen.interval(0.9, kind="highest_density")
        hits["calls"] += low <= rate <= high
    for count in hits.values():
        assert abs(count / 800 - 0.9) < 0.05


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, "1"])
@pytest.mark.parametrize("make", [
    lambda v: BetaBernoulli(v, 1), lambda v: BetaBernoulli(1, v), GammaPoisson,
    lambda v: NormalNormal(0.0, v), lambda v: NormalNormal(0.0, 1.0, v),
    lambda v: NormalGamma(0.0, v), lambda v: NormalGamma(b=v),
    lambda v: DirichletCategorical([1.0, v]) if v != "1" else BetaBernoulli(v),
])  # fmt: skip
def test_priors_that_do_not_integrate(make, value):
    with pytest.raises(ParameterError, match="does not integrate"):
        make(value)


@pytest.mark.parametrize(
    ("model", "data", "message"),
    [
        (BetaBernoulli(), [0, 1, 2], "observation 2 is 2; each must be 0 or 1"),
        (BetaBernoulli(), [0, math.nan], "observation 1 is nan"),
        (BetaBernoulli(), ["H"], "must be numbers"),
        (BetaBernoulli(), [[0, 1]], "shape"),
        (GammaPoisson(), [1.5], "whole numbers"),
        (GammaPoisson(), [-1], "whole numbers"),
        (NormalNormal(), [math.inf], "observation 0 is inf"),
        (DirichletCategorical([1, 1]), [0, 2], "not one of the categories"),
        (DirichletCategorical(1.0, ["a", "b"]), ["a", "z"], "'z' among the observations"),
        (DirichletCategorical(1.0, ["a", "b"]), [["a"]], "shape"),
    ],
)
def test_data_outside_the_support(model, data, message):
    with pytest.raises(InputError, match=message):
        model.update(data)


@pytest.mark.parametrize("weights", [[1], [1, -1], [1, math.nan], [[1, 1]], ["x", "y"]])
def test_bad_weights(weights):
    with pytest.raises(InputError, match="sample_weight"):
        BetaBernoulli().update([0, 1], sample_weight=weights)


@pytest.mark.parametrize("call", [
    lambda: BetaBernoulli().interval(1.0),
    lambda: BetaBernoulli().interval(kind="hpd"),
    lambda: DirichletCategorical([1, 1]).highest_density_region(),
    lambda: DirichletCategorical(1.0),
    lambda: DirichletCategorical([1.0]),
    lambda: DirichletCategorical([1, 1], ["a", "a"]),
    lambda: DirichletCategorical("no"),
    lambda: BetaBernoulli().sample(-1),
    lambda: GammaPoisson().predictive(0.0),
    lambda: NormalNormal(math.nan),
])  # fmt: skip
def test_bad_arguments(call):
    with pytest.raises(ParameterError, match=r"\w"):
        call()


@pytest.mark.parametrize("call", [
    lambda: BetaBernoulli().log_likelihood(1.2),
    lambda: DirichletCategorical([1, 1]).log_likelihood([0.5, 0.6]),
    lambda: NormalGamma().log_likelihood([0.0, 0.0]),
    lambda: GammaPoisson().log_likelihood(-1),
    lambda: GammaPoisson().update([1, 2], exposure=[1.0, -1.0]),
    lambda: NormalGamma().update([2.0, 2.0]).mle(),
    lambda: NormalGamma(a=0.2).map(),
    lambda: DirichletCategorical([0.5, 2.0, 3.0]).map(),
])  # fmt: skip
def test_questions_without_an_answer(call):
    with pytest.raises(InputError, match=r"\w"):
        call()


def test_modes_at_borders():
    assert BetaBernoulli(1, 3).map() == 0
    assert BetaBernoulli(2, 0.5).map() == 1
    assert DirichletCategorical([0.5, 0.7, 3.0]).map().tolist() == [0, 0, 1]
    assert DirichletCategorical([1.0, 2.0, 4.0]).map().tolist() == [0, 0.25, 0.75]
    assert GammaPoisson(0.5).map() == 0


def test_exposure_counts_like_more_units():
    """Three events in two hours, twice: as if each hour had been counted."""
    model = GammaPoisson(2.0, 1.0).update([3, 3], exposure=2.0)
    assert (model.mean(), model.mle()) == (8 / 5, 1.5)
    at = np.array([0.5, 1.5])
    expected = 2 * stats.poisson.logpmf(3, 2 * at)
    assert model.log_likelihood(at) == pytest.approx(expected, rel=1e-13)
    assert model.predictive(3.0).mean() == pytest.approx(3 * 8 / 5)
