"""Maximum likelihood of SciPy's distributions: R's numbers, SciPy's fit, borders, profiles."""

import json
import math
import warnings
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from bottega.core.errors import InputError, ParameterError
from bottega.probability import maximum_likelihood

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference/probability/maximum_likelihood.json").read_text()
)
# R's parameters as functions of ours (with derivatives that are one but for a rate and a log).
AS_IN_R = {
    "normal": ("norm", {"mean": "loc", "sd": "scale"}),
    "lognormal": ("lognorm", {"sdlog": "s"}),
    "poisson": ("poisson", {"lambda": "mu"}),
    "weibull": ("weibull_min", {"shape": "c", "scale": "scale"}),
    "beta": ("beta", {"shape1": "a", "shape2": "b"}),
    "gamma": ("gamma", {"shape": "a"}),
    "t": ("t", {"m": "loc", "s": "scale", "df": "df"}),
    "negative binomial": ("nbinom", {"size": "n"}),
}
CLOSED = ("normal", "lognormal", "poisson")


@pytest.mark.parametrize(
    "case", [c for c in REFERENCE["cases"] if c["name"] in AS_IN_R], ids=lambda c: c["name"]
)
def test_as_fitdistr_in_r(case):
    name, words = AS_IN_R[case["name"]]
    found = maximum_likelihood(name, case["x"])
    assert found.converged
    # fitdistr maximises numerically but for the closed forms: ours is never lower.
    assert found.log_likelihood >= case["loglik"] - 1e-8
    assert found.log_likelihood == pytest.approx(case["loglik"], abs=1e-6)
    for theirs, ours in words.items():
        # Where the likelihood is flat to 1e-7 its maximum is known to sqrt(2e-7) errors; standard
        # errors of R are from differences of gradients by differences.
        tight = case["name"] in CLOSED
        error = case["sd"][theirs]
        close = 1e-6 if tight else 1e-3
        assert found.params[ours] == pytest.approx(case["estimate"][theirs], abs=close * error)
        assert found.std_errors[ours] == pytest.approx(error, rel=1e-6 if tight else 2e-3)


def test_closed_forms():
    """Exponential and geometric, whose parameters are R's inverted (shifted)."""
    cases = {each["name"]: each for each in REFERENCE["cases"]}
    rate, rate_sd = (cases["exponential"][key]["rate"] for key in ("estimate", "sd"))
    found = maximum_likelihood("expon", cases["exponential"]["x"])
    assert 1 / found.params["scale"] == pytest.approx(rate, rel=1e-8)
    # By the delta method sd(1 / rate) = sd(rate) / rate^2.
    assert found.std_errors["scale"] == pytest.approx(rate_sd / rate**2, rel=1e-6)
    p, p_sd = (cases["geometric"][key]["prob"] for key in ("estimate", "sd"))
    found = maximum_likelihood("geom", np.array(cases["geometric"]["x"]) + 1)
    assert found.params["p"] == pytest.approx(p, rel=1e-8)
    assert found.std_errors["p"] == pytest.approx(p_sd, rel=1e-5)


def test_profile_interval_as_in_r():
    case = REFERENCE["normal_profile"]
    found = maximum_likelihood("norm", case["x"])
    profile = found.profile("scale")
    assert profile.interval == pytest.approx(case["interval"], rel=1e-7)
    assert profile.log_likelihood.max() == pytest.approx(0, abs=1e-9)
    assert (np.diff(profile.values) > 0).all()
    # The mean stays where it is, whatever the scale.
    assert profile.others["loc"] == pytest.approx(np.mean(case["x"]), rel=1e-7)
    s = found.params["scale"]
    v = profile.values
    exact = -len(case["x"]) * (np.log(v / s) + (s**2 / v**2 - 1) / 2)
    assert profile.log_likelihood == pytest.approx(exact, abs=1e-7)


# Each with parameters far from where searches start.
LAWS = [
    ("norm", (3, 2), {}), ("gamma", (2.5, 0, 3), {}), ("gamma", (0.3, 0, 3), {}),
    ("gamma", (300, 0, 0.01), {}), ("weibull_min", (1.7, 0, 2), {}), ("lognorm", (0.8, 0, 2), {}),
    ("beta", (0.7, 2), {}), ("t", (4, 1, 2), {}), ("cauchy", (1, 2), {}), ("logistic", (1, 2), {}),
    ("laplace", (1, 2), {}), ("gumbel_r", (1, 2), {}), ("genextreme", (-0.2, 1, 2), {}),
    ("genextreme", (0.3, 1, 2), {}), ("skewnorm", (3, 1, 2), {}), ("pareto", (2.5, 0, 3), {}),
    ("uniform", (2, 5), {}), ("invgauss", (0.7, 0, 2), {}), ("chi2", (4,), {"scale": 1}),
    ("f", (4, 9), {"scale": 1}), ("genpareto", (0.2, 0, 2), {}), ("burr12", (2, 1.5, 0, 3), {}),
    ("exponnorm", (2, 1, 2), {}), ("gennorm", (1.3, 1, 2), {}), ("vonmises", (2, 1), {"scale": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "truth", "fixed"), LAWS, ids=[f"{n}{t}" for n, t, _ in LAWS])
def test_at_least_as_likely_as_scipys_fit(name, truth, fixed):
    law = getattr(stats, name)
    x = law(*truth).rvs(120, random_state=np.random.default_rng(3))
    found = maximum_likelihood(law, x, fixed=fixed)
    held = {f"f{key}": value for key, value in found.space.held.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = law.logpdf(x, *law.fit(x, **held)).sum()
    assert found.log_likelihood >= theirs - 1e-7
    assert found.log_likelihood >= law.logpdf(x, *truth).sum()
    assert found.log_likelihood == pytest.approx(found.distribution().logpdf(x).sum(), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "truth", "fixed"),
    [
        ("poisson", (3.2,), {}),
        ("geom", (0.3,), {}),
        ("nbinom", (3.5, 0.4), {}),
        ("binom", (10, 0.4), {"n": 10}),
        ("zipf", (2.5,), {}),
        ("logser", (0.6,), {}),
        ("betabinom", (10, 2, 3), {"n": 10}),
    ],
)
def test_discrete_distributions(name, truth, fixed):
    law = getattr(stats, name)
    x = law(*truth).rvs(200, random_state=np.random.default_rng(5))
    found = maximum_likelihood(name, x, fixed=fixed)
    assert found.converged
    # Twice the gain over the truth is chi-squared with at most two degrees: false alarm 5e-7.
    gain = found.log_likelihood - law.logpmf(x, *truth).sum()
    assert 0 <= gain < 14.5
    assert all(math.isfinite(found.std_errors[key]) for key in found.free)


def test_weights_are_repeated_rows():
    x = np.array([0.5, 1.2, 3.0, 2.2])
    weights = np.array([3, 0, 2, 5])
    first = maximum_likelihood("gamma", x, sample_weight=weights)
    second = maximum_likelihood("gamma", np.repeat(x, weights))
    assert first.log_likelihood == pytest.approx(second.log_likelihood, abs=1e-8)
    assert first.n == 10
    for key in ("a", "scale"):
        assert first.params[key] == pytest.approx(second.params[key], rel=1e-4)
        assert first.std_errors[key] == pytest.approx(second.std_errors[key], rel=1e-3)


@pytest.mark.parametrize("unit", [1e150, 1e-150, 1e300, 1e-300])
def test_units_do_not_matter(unit):
    x = stats.gamma(2.5).rvs(60, random_state=1)
    plain, other = maximum_likelihood("gamma", x), maximum_likelihood("gamma", x * unit)
    # Both searches stop 1e-11 or so below the maximum: 1e-5 standard errors.
    assert other.params["a"] == pytest.approx(plain.params["a"], rel=1e-5)
    assert other.std_errors["scale"] == pytest.approx(unit * plain.std_errors["scale"], rel=1e-4)
    for kind in ("wald", "profile"):
        ends = [np.array(each.interval("scale", kind=kind)) for each in (other, plain)]
        assert ends[0] / unit == pytest.approx(ends[1], rel=1e-4)


def test_data_far_from_zero():
    x = stats.norm(0, 2).rvs(50, random_state=0)
    near, far = maximum_likelihood("norm", x), maximum_likelihood("norm", x + 1e7)
    assert far.params["loc"] - 1e7 == pytest.approx(near.params["loc"], abs=1e-5)
    assert far.params["scale"] == pytest.approx(near.params["scale"], rel=1e-5)


@settings(deadline=None, max_examples=15)
@example([0.010000000000000002, 0.01, 0.01], Random(0))  # nearly equal, and far from the origin
@given(st.lists(st.floats(0.01, 100), min_size=3, max_size=30), st.randoms())
def test_exponential_in_closed_form_in_any_order(x, random):
    found = maximum_likelihood("expon", x)
    mean = float(np.mean(x))
    assert found.params["scale"] == pytest.approx(mean, rel=1e-6)
    assert found.std_errors["scale"] == pytest.approx(mean / math.sqrt(len(x)), rel=1e-4)
    random.shuffle(x)
    assert maximum_likelihood("expon", x).params["scale"] == pytest.approx(mean, rel=1e-6)
    low, high = found.interval("scale")
    assert low < mean < high


# ---- borders, edges, corners ---------------------------------------------------------------------


def test_parameters_at_a_border_are_said():
    """Counts that vary less than Poisson's: the negative binomial's best is at infinity."""
    x = stats.binom(10, 0.4).rvs(200, random_state=0)
    found = maximum_likelihood("nbinom", x)
    assert found.status["n"] == "at the border"
    assert math.isnan(found.std_errors["n"])
    # There it is Poisson.
    poisson = maximum_likelihood("poisson", x)
    assert found.log_likelihood == pytest.approx(poisson.log_likelihood, abs=1e-2)
    assert "n is at the border" in str(found)
    with pytest.raises(InputError, match="at the border"):
        found.interval("n", kind="wald")
    none = maximum_likelihood("poisson", [0, 0, 0])
    assert none.status["mu"] == "at the border"
    assert none.params["mu"] < 1e-5
    low, high = none.interval("mu")
    # exp(-3 mu) has fallen by half a chi-squared quantile.
    assert low == 0
    assert high == pytest.approx(stats.chi2.ppf(0.95, 1) / 6, rel=1e-4)


def test_edges_of_the_support_have_no_standard_error():
    x = np.array([2.0, 3.0, 7.0, 4.5])
    found = maximum_likelihood("uniform", x)
    assert found.params == pytest.approx({"loc": 2.0, "scale": 5.0})
    assert set(found.status.values()) == {"on the edge of the support"}
    assert np.isnan(list(found.std_errors.values())).all()
    pareto = maximum_likelihood("pareto", x)
    assert pareto.params["scale"] == pytest.approx(2.0, rel=1e-6)
    shape = len(x) / np.log(x / 2).sum()
    assert pareto.params["b"] == pytest.approx(shape, rel=1e-4)
    assert pareto.std_errors["b"] == pytest.approx(shape / 2, rel=1e-3)
    with pytest.raises(InputError, match="fix it"):
        pareto.profile("b")


def test_corners_have_no_standard_error():
    x = stats.laplace(1, 2).rvs(31, random_state=0)
    found = maximum_likelihood("laplace", x)
    assert found.params["loc"] == pytest.approx(np.median(x), abs=1e-5)
    assert found.status["loc"] == "at a corner"
    scale = np.abs(x - np.median(x)).mean()
    assert found.std_errors["scale"] == pytest.approx(scale / math.sqrt(31), rel=1e-3)


def test_location_is_free_only_if_asked():
    x = 5 + stats.gamma(3).rvs(300, random_state=2)
    held = maximum_likelihood("gamma", x)
    assert held.status["loc"] == "fixed"
    freed = maximum_likelihood("gamma", x, free=["loc"])
    assert freed.log_likelihood > held.log_likelihood + 1
    assert abs(freed.params["loc"] - 5) < 5 * freed.std_errors["loc"]
    fixed = maximum_likelihood("gamma", x, fixed={"loc": 5.0, "a": 3.0})
    assert fixed.free == ("scale",)


@pytest.mark.slow
def test_standard_errors_are_those_of_repetition():
    """Weibull, 200 samples of 80: the spread of estimates is the mean standard error within 20 %.

    The spread of 200 has a standard error of 5 %: false alarm 1e-4.
    """
    rng = np.random.default_rng(0)
    estimates, errors = [], []
    for _ in range(200):
        found = maximum_likelihood("weibull_min", 2 * rng.weibull(1.6, size=80))
        estimates.append(found.params["c"])
        errors.append(found.std_errors["c"])
    assert np.std(estimates) == pytest.approx(np.mean(errors), rel=0.2)


def test_shown_and_drawn():
    x = stats.gamma(2.5).rvs(60, random_state=1)
    found = maximum_likelihood("gamma", x)
    assert "Maximum likelihood: gamma" in str(found)
    frame = found.to_frame(like="polars")
    assert isinstance(frame, pl.DataFrame)
    assert frame["status"].to_list() == ["estimated", "fixed", "estimated"]
    assert found.aic == pytest.approx(4 - 2 * found.log_likelihood)
    assert found.bic == pytest.approx(2 * math.log(60) - 2 * found.log_likelihood)
    low, high = found.interval("a", kind="wald")
    assert high - low == pytest.approx(2 * 1.959964 * found.std_errors["a"], rel=1e-6)
    rows = found.plot().to_dict()["data"]["values"]
    bars = [row for row in rows if row["kind"] == "data"]
    area = sum(row["share"] * (row["right"] - row["left"]) for row in bars)
    assert area == pytest.approx(1, abs=1e-5)
    counts = maximum_likelihood("poisson", [0, 1, 1, 4]).plot().to_dict()["data"]["values"]
    assert [row["share"] for row in counts if row["kind"] == "data"] == [0.25, 0.5, 0, 0, 0.25]
    profile = found.profile("a", n_points=11)
    assert profile.plot().to_dict()["title"]["text"] == "Profile likelihood of a"
    assert list(profile.to_frame().columns) == ["value", "log_likelihood", "scale"]
    assert "Profile likelihood" in str(profile)


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "options", "message"),
    [
        ("gamma", [-1.0, 2.0], {}, "outside its support"),
        ("beta", [0.5, 1.5], {}, "outside its support"),
        ("norm", [1.0, 1.0], {}, "without bound"),
        ("gamma", [2.0, 2.0, 2.0], {}, "without bound"),
        ("norm", [1.0, math.nan], {}, "observation 1 is nan"),
        ("norm", [], {}, "no observations"),
        ("norm", [1.0, 2.0], {"sample_weight": [0, 0]}, "no observations"),
        ("norm", [1.0, 2.0], {"sample_weight": [1, -1]}, "sample_weight"),
        ("poisson", [1.5], {}, "whole number"),
        ("weibull_min", stats.weibull_min(0.6).rvs(50, random_state=1), {"free": ["loc"]},
         "without bound as loc"),
    ],
)  # fmt: skip
def test_data_without_a_maximum(name, data, options, message):
    with pytest.raises(InputError, match=message):
        maximum_likelihood(name, data, **options)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("gama", {}, "Did you mean 'gamma'"),
        (stats.gamma(2), {}, "not frozen"),
        (3, {}, "scipy.stats"),
        ("binom", {}, "whole number"),
        ("gamma", {"fixed": {"b": 1}}, "no parameter 'b'"),
        ("gamma", {"fixed": {"a": -1}}, "not a distribution"),
        ("gamma", {"fixed": {"a": math.nan}}, "finite"),
        ("gamma", {"fixed": {"a": 1}, "free": ["a"]}, "both"),
        ("norm", {"fixed": {"loc": 0, "scale": 1}}, "all parameters"),
        ("norm", {"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_arguments(name, options, message):
    with pytest.raises(ParameterError, match=message):
        maximum_likelihood(name, [1.0, 2.0, 4.0], **options)


def test_bad_questions():
    found = maximum_likelihood("gamma", [1.0, 2.0, 4.0])
    for call in (
        lambda: found.interval("loc"),
        found.interval,
        lambda: found.interval("a", 2.0),
        lambda: found.interval("a", kind="score"),
        lambda: found.profile("a", n_points=2),
    ):
        with pytest.raises(ParameterError):
            call()
