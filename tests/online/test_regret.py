"""The tracker's account: exact, the same however the stream is cut, bounded in memory, honest."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats

from bottega.core.errors import InputError, ParameterError
from bottega.core.losses import ABSOLUTE_ERROR, HINGE, LOGISTIC, SQUARED_ERROR, ZERO_ONE, Huber
from bottega.online import (
    ExponentialWeights,
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
    OnlineRidge,
    Perceptron,
    RegretTracker,
    best_comparator,
    hashed_rows,
)
from bottega.online._regret.bounds import slope_of_loss
from bottega.online._regret.hindsight import KeptRows
from bottega.online._stream.blocks import next_checkpoint


class Crawler:
    """A learner of the plainest kind: predicts w.x, steps against the gradient."""

    loss = "squared_error"

    def __init__(self, eta=0.01):
        self.eta, self.w = eta, None

    def learn_block(self, X, y):
        if self.w is None:
            self.w = np.zeros(X.shape[1])
        losses = []
        for x, truth in zip(np.asarray(X), y, strict=True):
            error = self.w @ x - truth
            losses.append(error**2)
            self.w = self.w - self.eta * 2 * error * x
        return np.array(losses)


def numbers(n=500, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ rng.normal(size=p) / p + 0.3 * rng.normal(size=n)


def classes(n=500, p=3, seed=0):
    X, y = numbers(n, p, seed)
    return X, np.where(y > 0, "up", "down")


def fed(learner, X, y, size=100, **options):
    tracker = RegretTracker(learner, **options)
    for start in range(0, len(y), size):
        tracker.update(X[start : start + size], y[start : start + size])
    return tracker


# ---- the account ---------------------------------------------------------------------------------


def test_risk_and_regret_are_what_their_definitions_say():
    X, y = numbers()
    tracker = fed(Crawler(), X, y, radius=0.5, comparator="ball")
    losses = Crawler().learn_block(X, y)
    best = best_comparator(X, y, radius=0.5)
    assert tracker.rows == 500
    assert tracker.risk == pytest.approx(losses.mean(), rel=1e-12)
    assert tracker.regret == pytest.approx(losses.sum() - best.loss, rel=1e-9)
    assert tracker.average_regret == pytest.approx(tracker.regret / 500)
    assert np.allclose(tracker.comparator().u, best.u)
    assert np.isnan(tracker.bound)  # nothing is known of such a learner
    assert "no bound is known" in str(tracker)


def test_gradients_of_a_learner_that_does_not_know_them_come_from_its_losses():
    X, y = numbers()
    tracker = fed(Crawler(), X, y, radius=1.0)
    largest, crawler = 0.0, Crawler()
    for x, truth in zip(X, y, strict=True):
        before = np.zeros(3) if crawler.w is None else crawler.w
        largest = max(largest, np.linalg.norm(2 * (before @ x - truth) * x))
        crawler.learn_block(x[None], np.array([truth]))
    assert tracker.gradient == pytest.approx(largest, rel=1e-9)


@pytest.mark.parametrize("loss", [ABSOLUTE_ERROR, SQUARED_ERROR, HINGE, LOGISTIC, Huber(0.7)])
def test_the_value_of_a_loss_tells_its_slope(loss):
    z = np.linspace(-5, 5, 41)
    for truth in (-1.0, 1.0):
        y = np.full(41, truth)
        found = slope_of_loss(loss, loss(y, z))
        assert np.allclose(found, np.abs(loss.gradient(y, z)), atol=1e-7)  # roots of roundings
    assert np.isnan(slope_of_loss(ZERO_ONE, np.zeros(2))).all()


LEARNERS = {
    "ball": (OnlineGradientDescentRegressor(projection="ball"), numbers),
    "strongly convex": (
        OnlineGradientDescentRegressor(learning_rate="strongly_convex", alpha=0.5),
        numbers,
    ),
    "absolute_error": (
        OnlineGradientDescentRegressor(loss="absolute_error", projection="box"),
        numbers,
    ),
    "huber": (
        OnlineGradientDescentRegressor(loss="huber", delta=0.2, projection="l1_ball"),
        numbers,
    ),
    "simplex": (
        OnlineGradientDescentRegressor(projection="simplex", fit_intercept=False),
        numbers,
    ),
    "logistic": (OnlineGradientDescentClassifier(projection="ball", radius=2.0), classes),
    "hinge": (
        OnlineGradientDescentClassifier(
            loss="hinge", learning_rate="constant", horizon=500, gradient_bound=20.0
        ),
        classes,
    ),
    "ridge": (OnlineRidge(alpha=2.0), numbers),
    "perceptron": (Perceptron(), classes),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("size", [1, 7, 500])
def test_the_same_curve_however_the_stream_is_cut(name, size):
    from sklearn.base import clone

    learner, make = LEARNERS[name]
    X, y = make(150)
    if size == 1 and make is classes:
        # One row has one label: the classes are told with the first.
        tracker = RegretTracker(clone(learner), max_rows=60)
        for i in range(150):
            tracker.update(X[i : i + 1], y[i : i + 1], classes=["down", "up"])
    else:
        tracker = fed(clone(learner), X, y, size, max_rows=60)
    whole = fed(clone(learner), X, y, 150, max_rows=60)
    one, other = tracker.to_frame(), whole.to_frame()
    assert list(one["rows"]) == [1, 2, 3, 4, 5, 6, 8, 10, 14, 18, 24, 32, 43, 57, 75, 100, 134, 150]
    # Sums in another order; the interior-point method stops at 1e-9 of the loss.
    pd.testing.assert_frame_equal(one, other, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "perceptron"])
def test_regret_stays_below_its_bound_and_the_steps_bound_below_the_theorems(name):
    from sklearn.base import clone

    learner, make = LEARNERS[name]
    X, y = make(400)
    curve = fed(clone(learner), X, y).to_frame()
    slack = 1e-9 * curve["risk"] + curve["gap"]
    assert (curve["average_regret"] <= curve["bound"] + slack).all()
    assert (curve["gap"] >= 0).all()
    known = curve["bound_of_steps"].notna()
    tighter = curve["bound_of_steps"][known] <= curve["bound"][known] * (1 + 1e-9)
    assert tighter.all()
    assert (curve["best_se"] == 0).all()


def test_experts_are_compared_with_the_best_of_them():
    rng = np.random.default_rng(0)
    y = rng.random(600)
    P = np.clip(y[:, None] + rng.normal(size=(600, 4)) * [0.3, 0.1, 0.5, 0.2], 0, 1)
    tracker = fed(ExponentialWeights(loss="absolute_error"), P, y)
    best = tracker.comparator()
    assert best.u.tolist() == [0, 1, 0, 0]
    assert best.loss == pytest.approx(np.abs(P[:, 1] - y).sum(), rel=1e-12)
    assert tracker.regret == pytest.approx(tracker.learner.regret_, rel=1e-12)
    assert tracker.bound == pytest.approx(tracker.learner.regret_bound_ / 600)
    assert (tracker.to_frame()["average_regret"] <= tracker.to_frame()["bound"]).all()


def test_several_classes_are_compared_one_against_the_rest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.array(["a", "b", "c"])[np.argmax(X + rng.normal(size=(300, 3)), axis=1)]
    tracker = fed(OnlineGradientDescentClassifier(projection="ball", radius=2.0), X, y, 300)
    rows = np.column_stack([X, np.ones(300)])
    expected = sum(
        best_comparator(rows, np.where(y == k, 1.0, -1.0), loss="logistic", radius=2.0).loss
        for k in "abc"
    )
    assert tracker.comparator().loss == pytest.approx(expected, rel=1e-7)
    assert tracker.comparator().u.shape == (3, 4)
    assert 0 < tracker.average_regret < tracker.bound


def test_online_ridge_is_compared_with_the_least_penalised_loss():
    X, y = numbers()
    tracker = fed(OnlineRidge(alpha=3.0, fit_intercept=False), X, y)
    w = np.linalg.solve(X.T @ X + 3 * np.eye(3), X.T @ y)
    assert tracker.comparator().loss == pytest.approx(np.sum((y - X @ w) ** 2) + 3 * w @ w)
    assert tracker.regret < tracker.learner.regret_bound_


@pytest.mark.parametrize("form", [sparse.csr_matrix, pd.DataFrame, pl.from_numpy, list])
def test_rows_of_any_form(form):
    X, y = numbers(120)
    plain = fed(OnlineGradientDescentRegressor(projection="ball"), X, y, 120)
    other = RegretTracker(OnlineGradientDescentRegressor(projection="ball"))
    other.update(form(X), y)
    assert other.regret == pytest.approx(plain.regret, rel=1e-9)


def test_no_comparator_wanted_hashed_rows_of_many_columns():
    rows = hashed_rows([{"word": f"w{i % 7}", "n": float(i % 3)} for i in range(200)])
    y = np.arange(200) % 2
    tracker = RegretTracker(OnlineGradientDescentClassifier(), comparator=None)
    losses = tracker.update(rows, y)
    assert tracker.risk == pytest.approx(losses.mean())
    assert np.isnan(tracker.regret)
    with pytest.raises(InputError, match="262,144 columns"):
        RegretTracker(OnlineGradientDescentClassifier()).update(rows, y)
    with pytest.raises(InputError, match="comparator=None was asked for"):
        tracker.comparator()


# ---- bounded memory ------------------------------------------------------------------------------


def test_kept_rows_are_a_uniform_sample():
    """Each of 100 rows is kept with probability 0.2; false alarm of the test: one in a million."""
    counts = np.zeros(100)
    for seed in range(500):
        kept = KeptRows(20, 1, 1, seed)
        for start in range(0, 100, 9):
            X = np.arange(start, min(start + 9, 100), dtype=float)[:, None]
            which, where = kept.places(len(X))
            kept.put(where, X[which], X[which], X[which, 0], len(X))
        assert len(np.unique(kept.X)) == 20
        counts[kept.X[:, 0].astype(int)] += 1
    # Rows of one sample exclude one another a little, so chi-squared is slightly conservative.
    statistic = np.sum((counts - 100) ** 2 / (100 * 0.8))
    assert statistic < stats.chi2.ppf(1 - 1e-6, 99)


def test_a_long_stream_takes_no_more_memory_and_says_that_it_estimates():
    X, y = classes(20_000, 4, seed=2)
    model = OnlineGradientDescentClassifier(projection="ball", radius=2.0)
    tracker = fed(model, X, y, 1000, max_rows=1000)
    exact = fed(
        OnlineGradientDescentClassifier(projection="ball", radius=2.0),
        X,
        y,
        1000,
        max_rows=20_000,
    )
    assert tracker._hindsight.memory._X.shape == (1000, 5)
    best, truth = tracker.comparator(), exact.comparator()
    assert not best.exact
    assert truth.exact
    assert best.kept == 1000
    assert best.se > 0
    # Chosen on the sample that judges it, the estimate is too low by about d / (2 * kept) a row;
    # beyond that 5 standard errors: false alarm below one in a million.
    too_low = 20_000 * 5 / 2000
    assert -5 * best.se - 3 * too_low < best.loss - truth.loss < 5 * best.se
    # The difference to the learner's losses is known far better than the losses themselves.
    losses = LOGISTIC(tracker._hindsight.memory.targets[:, 0], tracker._hindsight.memory.X @ best.u)
    assert best.se < 0.5 * tracker._hindsight.memory.standard_error(losses)
    assert "estimated from 1,000 of 20,000 rows" in str(tracker)
    assert tracker.to_frame()["best_se"].iloc[-1] == pytest.approx(best.se / 20_000)


def test_squared_loss_is_exact_on_a_stream_of_any_length():
    X, y = numbers(30_000)
    tracker = fed(OnlineGradientDescentRegressor(projection="ball"), X, y, 5000, max_rows=10)
    rows = np.column_stack([X, np.ones(30_000)])
    assert tracker.comparator().exact
    assert tracker.comparator().loss == pytest.approx(best_comparator(rows, y).loss, rel=1e-10)


def test_checkpoints_grow_in_proportion():
    points, at = [], 0
    while at < 10**6:
        at = next_checkpoint(at)
        points.append(at)
    assert len(points) < 50
    assert points[-1] == 10**6
    ratio = np.diff(np.log10(points))[10:]
    assert np.all((ratio > 0.1) & (ratio < 0.15))


# ---- which bound, and when none ------------------------------------------------------------------


def test_the_theorems_number_is_the_notes():
    X, y = numbers()
    model = OnlineGradientDescentRegressor(projection="ball", radius=2.0)
    tracker = fed(model, X, y)
    assert tracker.bound == pytest.approx(2.0 * model.max_gradient_ * np.sqrt(8 / 500))
    assert "U G sqrt(8 / T), U = 2" in str(tracker)
    strong = OnlineGradientDescentRegressor(learning_rate="strongly_convex", alpha=0.5)
    tracker = fed(strong, X, y)
    expected = strong.max_gradient_**2 * (1 + np.log(500)) / (2 * 0.5 * 500)
    assert tracker.bound == pytest.approx(expected)
    assert tracker.comparator().region == "all vectors (penalised)"


def test_a_gradient_bound_that_was_too_small_leaves_only_the_bound_of_the_steps():
    X, y = numbers()
    model = OnlineGradientDescentRegressor(projection="ball", gradient_bound=0.01)
    tracker = fed(model, X, y)
    assert model.max_gradient_ > 0.01
    assert tracker.bound == pytest.approx(model.regret_bound_ / 500)
    large = OnlineGradientDescentRegressor(projection="ball", gradient_bound=1e3)
    assert fed(large, X, y).bound == pytest.approx(1e3 * np.sqrt(8 / 500))


@pytest.mark.parametrize(
    ("options", "against"),
    [
        ({"projection": "ball"}, {"radius": 3.0}),
        ({"projection": "ball"}, {"comparator": "all"}),
        ({"projection": "ball"}, {"comparator": "box"}),
        ({"learning_rate": "invscaling"}, {}),
        ({"learning_rate": "constant", "eta0": 0.01}, {"radius": 2.0}),
        ({"learning_rate": "adagrad", "projection": "ball"}, {}),
    ],
)
def test_no_bound_where_the_theory_is_silent(options, against):
    X, y = numbers(100)
    tracker = fed(OnlineGradientDescentRegressor(**options), X, y, **against)
    assert np.isnan(tracker.bound)
    assert "no bound" in str(tracker)
    assert np.isfinite(tracker.regret)


def test_a_smaller_set_of_comparators_is_covered():
    X, y = numbers(200)
    tracker = fed(OnlineGradientDescentRegressor(projection="ball"), X, y, radius=0.2)
    assert tracker.comparator().region == "the ball of radius 0.2"
    assert tracker.average_regret < tracker.bound


# ---- showing -------------------------------------------------------------------------------------


def test_charts_show_regret_and_both_bounds_on_logarithmic_axes():
    X, y = numbers()
    chart = fed(OnlineGradientDescentRegressor(projection="ball"), X, y).plot().to_dict()
    names = {row["line"] for row in chart["data"]["values"]}
    assert names == {"average regret", "bound", "bound of the steps taken"}
    scales = chart["layer"][0]["encoding"]
    assert scales["x"]["scale"]["type"] == scales["y"]["scale"]["type"] == "log"


def test_chart_says_how_many_points_a_logarithm_cannot_show():
    rng = np.random.default_rng(0)
    P = rng.random((100, 2))
    y = np.clip(P.mean(axis=1), 0, 1)  # the mean of the experts beats both: negative regret
    tracker = fed(ExponentialWeights(), P, y)
    assert tracker.regret < 0
    title = tracker.plot().to_dict()["title"]
    assert any("at or below zero" in line for line in title["subtitle"])


def test_chart_of_mistakes():
    X, y = classes(200)
    chart = fed(Perceptron(), X, y).plot().to_dict()
    names = {row["line"] for row in chart["data"]["values"]}
    assert names == {"mistakes", "mistake bound, best comparator"}


def test_frames_in_the_library_asked_for():
    X, y = numbers(50)
    tracker = fed(OnlineGradientDescentRegressor(projection="ball"), X, y)
    assert isinstance(tracker.to_frame("polars"), pl.DataFrame)
    assert "<table>" in tracker._repr_html_()
    assert "no rows yet" in str(RegretTracker(OnlineRidge()))


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": 0.0}, "radius=0.0 is not allowed"),
        ({"comparator": "sphere"}, "is not a known region"),
        ({"max_rows": 3}, "max_rows=3"),
        ({"loss": "absolute_error"}, "compares like with like"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ParameterError, match=message):
        RegretTracker(OnlineGradientDescentRegressor(), **options)


def test_learners_that_cannot_be_followed():
    X, y = numbers()
    with pytest.raises(InputError, match="already seen 500 rows"):
        RegretTracker(OnlineRidge().fit(X, y))
    with pytest.raises(InputError, match="no learn_block"):
        RegretTracker(object())
    tracker = RegretTracker(OnlineRidge())
    tracker.update(X, y)
    tracker.learner.partial_fit(X, y)
    with pytest.raises(InputError, match="trained elsewhere"):
        tracker.update(X, y)

    class Silent(Crawler):
        loss = None

    with pytest.raises(ParameterError, match="does not say which loss"):
        RegretTracker(Silent(), radius=1.0)
    with pytest.raises(ParameterError, match="needs a radius"):
        RegretTracker(Crawler())
    with pytest.raises(ParameterError, match="with their experts"):
        RegretTracker(ExponentialWeights(), comparator="ball")


def test_bad_rows():
    X, y = numbers()
    tracker = RegretTracker(OnlineGradientDescentRegressor(projection="ball"))
    with pytest.raises(InputError, match="No rows have been seen"):
        _ = tracker.regret
    with pytest.raises(InputError, match="one truth per row"):
        tracker.update(X, y[:-1])
    with pytest.raises(InputError, match="a table of rows"):
        tracker.update(X[0], y[:1])
    with pytest.raises(ValueError, match="NaN"):
        tracker.update(np.full((1, 3), np.nan), y[:1])
    tracker.update(X, y)
    with pytest.raises(InputError, match="counted for a Perceptron"):
        tracker.mistake_bound()
