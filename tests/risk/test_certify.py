"""Certificates: which interval is taken, what is refused, what is said."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bottega.core import BaselineClassifier, BaselineRegressor
from bottega.core.errors import InputError, ParameterError, TestSetAlreadyUsed
from bottega.data import Table, make, read
from bottega.linear import LeastSquares, Ridge
from bottega.neighbors import NearestNeighborsClassifier, NearestNeighborsRegressor
from bottega.risk import (
    certify,
    certify_losses,
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
    student,
)
from bottega.smooth import SmoothingSpline


def told(claim, word):
    return any(word in sentence for sentence in claim.assumptions)


# ---- which interval ------------------------------------------------------------------------------


def test_certificate_of_a_classifier_is_exact_and_says_what_it_assumes():
    model = BaselineClassifier().fit(np.zeros((4, 1)), [0, 0, 0, 1])
    claim = certify(model, np.zeros((50, 1)), [0] * 45 + [1] * 5)
    assert claim.method == "Clopper-Pearson"
    assert (claim.lower, claim.upper) == clopper_pearson(5, 50)
    assert claim.estimate == 0.1
    assert not claim.approximate
    assert told(claim, "independent")
    assert told(claim, "taken on trust")
    assert told(claim, "was not checked; give X_train=")


def test_several_candidates_widen_the_interval():
    model = BaselineClassifier().fit(np.zeros((4, 1)), [0, 0, 0, 1])
    X, y = np.zeros((50, 1)), [0] * 45 + [1] * 5
    one, ten = certify(model, X, y), certify(model, X, y, candidates=10)
    assert (ten.lower, ten.upper) == clopper_pearson(5, 50, 0.005)
    assert ten.upper > one.upper
    assert told(ten, "10 models")


def test_certificate_of_a_regressor_is_marked_approximate():
    model = BaselineRegressor().fit(np.zeros((2, 1)), [0.0, 2.0])
    y = np.array([0.0, 1.0, 2.0, 5.0])
    claim = certify(model, np.zeros((4, 1)), y)
    assert claim.approximate
    assert claim.estimate == pytest.approx(np.mean((y - 1) ** 2))
    assert (claim.lower, claim.upper) == student((y - 1) ** 2)


@pytest.mark.parametrize("weight", [None, [1.0] * 30 + [2.0] * 29])
def test_losses_that_are_all_equal_give_that_of_other_rows_no_limit(weight):
    found = certify_losses(np.zeros(59), sample_weight=weight)
    assert (found.estimate, found.lower, found.upper) == (0, 0, np.inf)
    assert found.method == "no interval: all losses are equal"
    # (1 - share)^59 = 0.05: so many equal losses in a row are that likely.
    assert any("at most 5% of those to come have another one" in each for each in found.assumptions)
    signed = certify_losses(np.full(20, -1.0))
    assert (signed.lower, signed.upper) == (-np.inf, np.inf)
    assert str(signed) == "loss -1 (no interval: all losses are equal, n = 20)"
    rounded = certify_losses(np.full(50, 0.1), groups=np.arange(50) // 7)
    assert rounded.upper == np.inf
    errors = np.abs((np.arange(50) / 7 + 0.1) - np.arange(50) / 7)  # 0.1, and what is lost
    assert 0 < np.ptp(errors) < 1e-12
    assert certify_losses(errors).upper == np.inf
    limited = certify_losses(np.full(20, 0.5), method="student", loss_range=(0, 2))
    assert (limited.lower, limited.upper) == (0, 2)
    assert told(limited, "outside [0, 2]")
    assert "between 0 and 2" in str(limited)


@pytest.mark.parametrize("weight", [None, [1.0] * 25 + [2.0] * 25])
@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_losses_whose_squares_are_no_numbers_have_an_interval(unit, weight):
    losses = np.r_[np.full(49, 1.0), 1.1]
    found = certify_losses(unit * losses, sample_weight=weight)
    near = certify_losses(losses, sample_weight=weight)
    assert (found.lower, found.upper) == pytest.approx((unit * near.lower, unit * near.upper))


def test_each_sample_has_a_unit_of_its_own():
    small, large = np.array([1.0, 2.0, 3.0]) * 1e-100, np.array([1.0, 1.1, 1.2]) * 1e308
    low, high = student([small, large])
    for k, alone in enumerate((small, large)):
        assert (low[k], high[k]) == student(alone)
    near = student(np.array([1.0, 1.1, 1.2]))
    assert low[1] == pytest.approx(1e308 * near[0])
    assert np.isfinite(low).all()


def test_named_losses_and_functions_are_used():
    model = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    X, y = np.arange(5.0)[:, None], np.array([1.0, 1, 2, 3, 6])
    absolute = certify(model, X, y, loss="absolute_error")
    assert absolute.quantity == "absolute error"
    assert absolute.estimate == pytest.approx(np.mean(np.abs(y - np.arange(5))))
    big = certify(model, X, y, loss=lambda y, z: np.minimum(abs(y - z), 1.0), loss_range=(0, 1))
    assert big.method == "Hoeffding"
    assert big.estimate == pytest.approx(0.4)


def test_the_methods_that_are_named_are_the_bounds():
    rng = np.random.default_rng(0)
    losses = 2 + 3 * rng.beta(1, 8, size=400)
    flat = certify_losses(losses, method="hoeffding", loss_range=(2, 5))
    assert (flat.lower, flat.upper) == hoeffding(losses.mean(), 400, low=2, high=5)
    sharp = certify_losses(losses, method="empirical_bernstein", loss_range=(2, 5))
    assert (sharp.lower, sharp.upper) == empirical_bernstein(losses, low=2, high=5)
    rough = certify_losses(losses, method="student")
    assert (rough.lower, rough.upper) == student(losses)
    assert [claim.approximate for claim in (rough, flat, sharp)] == [True, False, False]


def test_auto_intersects_two_bounds_at_half_of_delta_each():
    losses = np.tile([0.1, 0.2], 500)
    claim = certify_losses(losses, loss_range=(0, 1))
    flat, sharp = hoeffding(0.15, 1000, 0.025), empirical_bernstein(losses, 0.025)
    assert claim.lower == pytest.approx(max(flat[0], sharp[0]))
    assert claim.upper == pytest.approx(min(flat[1], sharp[1]))
    assert claim.upper < hoeffding(0.15, 1000)[1]


def test_auto_spends_nothing_on_a_bound_that_cannot_help():
    """With few rows the second term of the Bernstein interval alone exceeds Hoeffding's."""
    claim = certify_losses(np.full(40, 0.5), loss_range=(0, 1))
    assert claim.method == "Hoeffding"
    assert (claim.lower, claim.upper) == hoeffding(0.5, 40)


@pytest.mark.parametrize("n", [30, 2000])
def test_the_interval_that_auto_takes_covers(n):
    """2,000 samples at delta = 0.2: misses are at most Binomial(2000, 0.2), mean 400, sd 18.

    More than 500 of them would come with a probability below 1e-7.
    """
    rng = np.random.default_rng(n)
    misses = 0
    for _ in range(2000):
        claim = certify_losses(rng.beta(0.2, 1.8, size=n), delta=0.2, loss_range=(0, 1))
        misses += not claim.lower <= 0.1 <= claim.upper
    assert misses <= 500


# ---- weights and groups --------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "hoeffding", "empirical_bernstein", "student"])
def test_equal_weights_and_groups_of_one_row_change_nothing(method):
    losses = np.random.default_rng(0).beta(1, 8, size=400)
    plain = certify_losses(losses, method=method, loss_range=(0, 1))
    twice = certify_losses(losses, method=method, loss_range=(0, 1), sample_weight=np.full(400, 2))
    alone = certify_losses(losses, method=method, loss_range=(0, 1), groups=np.arange(400))
    for claim in (twice, alone):
        assert (claim.lower, claim.upper, claim.method) == (plain.lower, plain.upper, plain.method)
    copies = np.repeat(np.arange(400), 3)
    found = certify_losses(losses[copies], method=method, loss_range=(0, 1), groups=copies)
    assert (found.lower, found.upper) == pytest.approx((plain.lower, plain.upper))
    assert found.n == 1200
    assert told(found, "groups of rows")
    assert found.n_groups == 400
    assert "n = 400 groups with 1,200 rows" in str(found)


def test_weighted_intervals_are_the_bounds_with_the_effective_number_of_rows():
    rng = np.random.default_rng(1)
    losses, weight = rng.beta(1, 8, size=300), rng.uniform(0, 2, size=300)
    weight[:10] = 0.0
    share = weight / weight.sum()
    n_effective = 1 / np.sum(share**2)
    mean = share @ losses
    flat = certify_losses(losses, sample_weight=weight, method="hoeffding", loss_range=(0, 1))
    half = math.sqrt(math.log(2 / 0.05) / (2 * n_effective))
    assert (flat.estimate, flat.n) == (pytest.approx(mean), 290)
    assert flat.upper == pytest.approx(mean + half)
    assert told(flat, "counted by their weights")
    scaled = 290 * share[10:] * losses[10:]
    high = 290 * share.max()
    sharp = certify_losses(
        losses, sample_weight=weight, method="empirical_bernstein", loss_range=(0, 1)
    )
    assert sharp.upper == pytest.approx(empirical_bernstein(scaled, low=0, high=high)[1])
    rough = certify_losses(losses, sample_weight=weight)
    variance = 290 / 289 * np.sum(share**2 * (losses - mean) ** 2)
    half = stats.t.ppf(0.975, n_effective - 1) * math.sqrt(variance)
    assert (rough.lower, rough.upper) == pytest.approx((mean - half, mean + half))
    with pytest.raises(InputError, match="weigh the same"):
        certify_losses(losses > 0.2, sample_weight=weight, zero_one=True, method="clopper_pearson")
    with pytest.raises(InputError, match="known limits"):
        certify_losses(losses, sample_weight=weight, method="hoeffding")
    counted = certify_losses(losses > 0.2, sample_weight=weight, zero_one=True)
    assert not counted.approximate


@pytest.mark.parametrize("n", [40, 1500])
def test_the_weighted_interval_covers(n):
    """2,000 samples at delta = 0.2: misses are at most Binomial(2000, 0.2), mean 400, sd 18.

    More than 500 of them would come with a probability below 1e-7. The rows of large weight err
    more, so the unweighted mean would be far off.
    """
    rng = np.random.default_rng(n)
    weight = rng.choice([1.0, 4.0], size=n)
    risk = np.where(weight == 4, 0.3, 0.1)
    target = np.average(risk, weights=weight)
    misses = 0
    for _ in range(2000):
        wrong = rng.uniform(size=n) < risk
        claim = certify_losses(wrong, sample_weight=weight, zero_one=True, delta=0.2)
        misses += not claim.lower <= target <= claim.upper
    assert misses <= 500


# ---- what is refused -----------------------------------------------------------------------------


def test_an_invalid_method_is_refused_with_the_reason():
    losses = [0.2, 0.5, 0.7]
    with pytest.raises(InputError, match="counts errors"):
        certify_losses(losses, method="clopper_pearson", loss_range=(0, 1))
    with pytest.raises(InputError, match="known limits"):
        certify_losses(losses, method="hoeffding")
    with pytest.raises(InputError, match="known limits"):
        certify_losses(losses, method="empirical_bernstein")
    with pytest.raises(InputError, match="outside loss_range"):
        certify_losses(losses, loss_range=(0, 0.6))
    with pytest.raises(ParameterError, match=r"Did you mean 'hoeffding'"):
        certify_losses(losses, method="hoefding")
    with pytest.raises(InputError, match="0 or 1 on every row"):
        certify_losses(losses, zero_one=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"delta": 0}, "delta"),
        ({"delta": 1.5}, "delta"),
        ({"candidates": 0}, "candidates"),
        ({"loss_range": (1, 0)}, "low below high"),
        ({"loss_range": 3}, "two numbers"),
        ({"loss_range": (0, math.inf)}, "finite"),
    ],
)
def test_impossible_settings_are_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        certify_losses([0.5, 0.5], **given)


def test_rows_that_make_no_certificate_are_refused():
    model = BaselineRegressor().fit(np.zeros((2, 1)), [0.0, 2.0])
    with pytest.raises(InputError, match="no rows"):
        certify(model, np.zeros((0, 1)), [])
    with pytest.raises(InputError, match="3 rows and y has 2"):
        certify(model, np.zeros((3, 1)), [1.0, 2.0])
    with pytest.raises(InputError, match="give y_test"):
        certify(model, np.zeros((3, 1)))
    with pytest.raises(InputError, match="row 1 is nan"):
        certify(model, np.zeros((2, 1)), [1.0, np.nan])
    with pytest.raises(InputError, match="at least 2 test rows"):
        certify(model, np.zeros((1, 1)), [1.0])
    with pytest.raises(InputError, match="One response"):
        certify(model, np.zeros((2, 1)), np.zeros((2, 2)))
    with pytest.raises(InputError, match="one number per row"):
        certify(model, np.zeros((2, 1)), [1.0, 2.0], loss=lambda *_: 1.0)
    with pytest.raises(ParameterError, match="loss=3"):
        certify(model, np.zeros((2, 1)), [1.0, 2.0], loss=3)


# ---- test rows that were trained on --------------------------------------------------------------


def test_a_locked_part_is_opened_once():
    parts = read("diabetes").split(train_size=0.75, validation_size=0, test_size=0.25)
    model = Ridge().fit(parts.train.X, parts.train.y)
    with pytest.raises(ParameterError, match="method"):
        certify(model, parts.test, method="wrong")
    assert parts.test.looks == 0  # not opened for nothing
    claim = certify(model, parts.test)
    assert parts.test.looks == 1
    assert claim.n == 110
    with pytest.raises(TestSetAlreadyUsed):
        certify(model, parts.test)
    again = certify(model, parts.test.open(again=True))
    assert again.estimate == claim.estimate
    with pytest.raises(InputError, match="leave out y_test"):
        certify(model, parts.test, np.zeros(110))


SAMPLE = make.friedman1(120, n_features=5, random_state=1)
OTHER = make.friedman1(40, n_features=5, random_state=2)


@pytest.mark.parametrize(
    "model",
    [
        NearestNeighborsRegressor(n_neighbors=3),
        make_pipeline(StandardScaler(), NearestNeighborsRegressor(n_neighbors=3)),
        GridSearchCV(NearestNeighborsRegressor(), {"n_neighbors": [2, 3]}),
        LeastSquares(),
        Ridge(),
    ],
)
def test_rows_that_the_model_was_fitted_to_are_refused(model):
    model.fit(SAMPLE.X, SAMPLE.y)
    with pytest.raises(InputError, match="30 of the 30 test rows"):
        certify(model, SAMPLE.X[:30], SAMPLE.y[:30])
    claim = certify(model, OTHER.X, OTHER.y)
    assert told(claim, "none of the 40 test rows")


def test_training_rows_can_be_given():
    model = LinearRegression().fit(SAMPLE.X, SAMPLE.y)
    assert told(certify(model, SAMPLE.X[:30], SAMPLE.y[:30]), "not checked")
    with pytest.raises(InputError, match="fitted to"):
        certify(model, SAMPLE.X[:30], SAMPLE.y[:30], X_train=SAMPLE.X)
    mixed = np.vstack([OTHER.X, SAMPLE.X[:1]]), np.append(OTHER.y, SAMPLE.y[:1])
    assert told(certify(model, *mixed, X_train=SAMPLE.X), "1 of the 41 test rows equal")


def test_equal_rows_are_no_proof_where_training_rows_have_equals_too():
    """A table of two categories: every new row has an equal. So have the training rows."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(300, 2)).astype(float), rng.integers(0, 2, size=300)
    model = NearestNeighborsClassifier(n_neighbors=5).fit(X[:200], y[:200])
    claim = certify(model, X[200:], y[200:])
    assert told(claim, "100 of the 100 test rows equal a training row, which may be chance")


def test_frames_of_words_can_be_compared():
    names = [f"n{i}" for i in range(60)]
    frame = pd.DataFrame({"name": names, "group": ["a", "b"] * 30})
    model = BaselineRegressor().fit(frame, np.arange(60.0))
    with pytest.raises(InputError, match="fitted to"):
        certify(model, frame[:20], np.arange(20.0) + 0.5, X_train=frame)
    fresh = pd.DataFrame({"name": [f"m{i}" for i in range(20)], "group": ["a", "b"] * 10})
    assert told(certify(model, fresh, np.arange(20.0), X_train=frame), "none of the 20")


def test_fresh_rows_are_not_refused_for_a_smoother_of_rounded_numbers():
    rng = np.random.default_rng(5)
    x = rng.integers(0, 15, size=(400, 1)).astype(float)
    y = np.round(np.sin(x[:, 0]) + rng.normal(size=400), 1)
    model = SmoothingSpline().fit(x[:300], y[:300])
    assert certify(model, x[300:], y[300:]).n == 100
    with pytest.raises(InputError, match="fitted to"):
        certify(model, x[:100], y[:100])


def test_rows_in_time_are_not_called_independent_draws():
    losses = np.random.default_rng(0).uniform(size=50)
    claim = certify_losses(losses, time=np.arange(50))
    assert told(claim, "neither a drift nor runs of similar errors are allowed for")
    assert not told(claim, "independent draws")
    assert claim.upper == certify_losses(losses).upper


def test_a_locked_part_tells_what_is_known_about_it():
    frame = pd.DataFrame({"x": np.arange(60.0) % 13, "y": np.arange(60) % 7})
    table = Table(frame, target="y", task="regression")
    split = table.split(random_state=8)
    model = BaselineRegressor().fit(split.train.X, split.train.y)
    assert told(certify(model, split.test), "knows of no other look")
    other = table.split(random_state=9)
    assert told(certify(model, other.test), "of the locked rows were in another test part")
