import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.linear_model import SGDClassifier, SGDRegressor

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError
from bottega.core.losses import LOSSES, Huber, Loss, get_loss
from bottega.online import (
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
)
from bottega.online._kernels import gradient_descent as kernels
from bottega.optimize import onto_ball, onto_box, onto_l1_ball, onto_simplex

REFERENCE = Path(__file__).parents[1] / "reference/online"
# The same sums in another order: rounding, amplified by some hundred steps.
SAME = {"rel": 1e-9, "abs": 1e-11}
SETS = {
    None: lambda w, _: w,
    "ball": onto_ball,
    "box": onto_box,
    "simplex": onto_simplex,
    "l1_ball": onto_l1_ball,
}


def rows(n=120, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[rng.random(X.shape) < 0.4] = 0
    return X, X @ rng.normal(size=p) + 0.5 + rng.normal(size=n)


def make(loss, **given):
    if loss in ("logistic", "hinge"):
        theirs = "log_loss" if loss == "logistic" else loss
        return OnlineGradientDescentClassifier(loss=theirs, **given)
    return OnlineGradientDescentRegressor(loss=loss, **given)


def data(loss, **given):
    X, y = rows(**given)
    return (X, np.where(y > 0, 1, -1)) if loss in ("logistic", "hinge") else (X, y)


def vector(model):
    coef, intercept = np.ravel(model.coef_), np.ravel(model.intercept_)
    return np.append(coef, intercept) if model.fit_intercept else coef


def naive(loss, X, y, *, step, eta, radius, G, T, sigma, projection, intercept):
    """Online gradient descent as the notes write it, with the step sizes of the theory."""
    loss = get_loss(loss)
    X = np.column_stack([X, np.ones(len(X))]) if intercept else X
    d = X.shape[1]
    w = onto_simplex(np.zeros(d), radius) if projection == "simplex" else np.zeros(d)
    U = radius * math.sqrt(d) if projection == "box" else radius
    squares, largest, charged, path = np.zeros(d), 0.0, [], []
    for t, (x, truth) in enumerate(zip(X, y, strict=True), start=1):
        charged.append(float(loss(truth, w @ x)) + sigma / 2 * w @ w)
        g = loss.gradient(truth, w @ x) * x + sigma * w
        largest = max(largest, np.linalg.norm(g))
        if step == "adagrad":
            squares += g**2
            root = np.sqrt(squares, where=squares > 0, out=np.ones(d))
            w = w - (eta or math.sqrt(2) * radius) * g / root
        elif np.any(g):
            limit = G or largest
            rate = {
                "invscaling": (eta or math.sqrt(2) * U / limit) / math.sqrt(t),
                "constant": eta or math.sqrt(2) * U / (limit * math.sqrt(T or 1)),
                "strongly_convex": 1 / (sigma * t) if sigma else None,
            }[step]
            w = w - rate * g
        w = SETS[projection](w, radius)
        path.append(w)
    return np.array(charged), np.array(path)


# ---- against the definition ----------------------------------------------------------------------

RULES = [
    {"learning_rate": "invscaling"},
    {"learning_rate": "invscaling", "eta0": 0.3},
    {"learning_rate": "invscaling", "gradient_bound": 5.0},
    {"learning_rate": "constant", "eta0": 0.05},
    {"learning_rate": "constant", "horizon": 120},
    {"learning_rate": "strongly_convex", "alpha": 0.1},
    {"learning_rate": "adagrad"},
    {"learning_rate": "adagrad", "alpha": 0.1},
    {"learning_rate": "invscaling", "alpha": 0.2},
]


# Strongly convex steps for the squared error without a set overshoot, and warn of it.
@pytest.mark.filterwarnings(
    "ignore:learning_rate='strongly_convex':sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("projection", SETS)
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_every_rule_and_set_by_the_definition_dense_and_sparse(rule, projection, average):
    for loss in ("hinge", "squared_error"):
        X, y = data(loss)
        intercept = projection != "simplex"
        charged, path = naive(
            loss,
            X,
            y,
            step=rule["learning_rate"],
            eta=rule.get("eta0"),
            radius=0.7,
            G=rule.get("gradient_bound"),
            T=rule.get("horizon"),
            sigma=rule.get("alpha", 0.0),
            projection=projection,
            intercept=intercept,
        )
        expected = path.mean(axis=0) if average else path[-1]
        for block in (X, sparse.csr_matrix(X)):
            model = make(
                loss,
                radius=0.7,
                projection=projection,
                fit_intercept=intercept,
                average=average,
                **rule,
            )
            assert model.learn_block(block, y) == pytest.approx(charged, **SAME)
            assert vector(model) == pytest.approx(expected, **SAME)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_error", "absolute_error", "huber"])
def test_losses_and_slopes_are_those_of_the_risk_module(loss):
    assert LOSSES[loss].code == getattr(kernels, loss.upper())
    X, y = data(loss)
    delta = {"delta": 0.4} if loss == "huber" else {}
    known = Huber(0.4) if loss == "huber" else get_loss(loss)
    model = make(loss, learning_rate="constant", eta0=0.05, **delta)
    w = np.zeros(5)
    for x, truth in zip(X, y, strict=True):
        charged = model.learn_block(x[None], np.array([truth]), **(classes(loss)))
        full = np.append(x, 1.0)
        assert charged[0] == pytest.approx(float(known(truth, w @ full)), **SAME)
        w = w - 0.05 * known.gradient(truth, w @ full) * full
        assert vector(model) == pytest.approx(w, **SAME)


def classes(loss):
    return {"classes": [-1, 1]} if loss in ("logistic", "hinge") else {}


def test_large_scores_neither_overflow_nor_charge_wrongly():
    model = make("logistic", learning_rate="constant", eta0=1000.0, fit_intercept=False)
    losses = model.learn_block(np.array([[1.0], [2.0], [-2.0]]), np.array([1, 1, 1]), [-1, 1])
    # The first step takes w to 500: right by 1000, then wrong by 1000.
    assert losses == pytest.approx([math.log(2), 0.0, 1000.0])
    assert model.coef_[0, 0] == pytest.approx(500 - 2000)


def test_strongly_convex_steps_are_a_mean_of_gradients():
    # With steps 1/(sigma t) the penalty telescopes: w is minus the mean gradient over sigma.
    X, y = data("hinge")
    model = make("hinge", learning_rate="strongly_convex", alpha=0.5, fit_intercept=False)
    total = np.zeros(4)
    for t, (x, truth) in enumerate(zip(X, y, strict=True), start=1):
        w = np.ravel(model.coef_) if t > 1 else np.zeros(4)
        total += LOSSES["hinge"].gradient(truth, w @ x) * x
        model.partial_fit(x[None], np.array([truth]), classes=[-1, 1])
        assert np.ravel(model.coef_) == pytest.approx(-total / (0.5 * t), **SAME)


# ---- peers ---------------------------------------------------------------------------------------


def test_river_row_by_row():
    known = json.loads((REFERENCE / "river_logistic.json").read_text())
    X, y = np.array(known["X"]), np.array(known["y"])
    model = OnlineGradientDescentClassifier(learning_rate="constant", eta0=known["rate"])
    for t in range(len(X)):
        if t:
            forecast = model.predict_proba(X[t : t + 1])[0, 1]
            # River cuts the score it turns into a probability at +-20; none of these comes near.
            assert forecast == pytest.approx(known["forecasts"][t], rel=1e-9)
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[False, True])
        if str(t + 1) in known["weights"]:
            assert vector(model) == pytest.approx(known["weights"][str(t + 1)], rel=1e-9)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("epochs", [1, 4])
@pytest.mark.parametrize(("loss", "theirs"), [("hinge", "hinge"), ("logistic", "log_loss")])
def test_scikit_learns_classifier_step_for_step(loss, theirs, epochs, average):
    X, y = data(loss)
    peer = SGDClassifier(
        loss=theirs,
        learning_rate="constant",
        eta0=0.05,
        alpha=0,
        penalty=None,
        shuffle=False,
        max_iter=epochs,
        tol=None,
        average=average,
    ).fit(X, y)
    model = make(loss, learning_rate="constant", eta0=0.05, max_iter=epochs, average=average).fit(
        X, y
    )
    # Theirs takes other branches of exp for scores far from 0: equal to about 1e-9.
    assert vector(model) == pytest.approx([*peer.coef_[0], *peer.intercept_], rel=1e-7)


def test_scikit_learns_classifier_row_by_row():
    X, y = data("logistic")
    peer = SGDClassifier(
        loss="log_loss", learning_rate="constant", eta0=0.1, alpha=0, penalty=None, shuffle=False
    )
    model = make("logistic", learning_rate="constant", eta0=0.1)
    for t in range(40):
        peer.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        assert vector(model) == pytest.approx([*peer.coef_[0], *peer.intercept_], rel=1e-7)


@pytest.mark.parametrize(
    ("loss", "theirs", "factor"),
    [
        ("squared_error", "squared_error", 0.5),  # theirs is half of the square
        ("huber", "huber", 1.0),
        ("absolute_error", "epsilon_insensitive", 1.0),
    ],
)
def test_scikit_learns_regressor_step_for_step(loss, theirs, factor):
    X, y = data(loss)
    peer = SGDRegressor(
        loss=theirs,
        epsilon=0.5 if loss == "huber" else 0.0,
        learning_rate="constant",
        eta0=0.02,
        alpha=0,
        penalty=None,
        shuffle=False,
        max_iter=2,
        tol=None,
    ).fit(X, y)
    model = make(loss, learning_rate="constant", eta0=0.02 * factor, max_iter=2, delta=0.5).fit(
        X, y
    )
    assert vector(model) == pytest.approx([*peer.coef_, *peer.intercept_], rel=1e-7)


# ---- blocks and classes --------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "squared_error"])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"average": True},
        {"projection": "ball", "radius": 0.5},
        {"learning_rate": "strongly_convex", "alpha": 0.01, "projection": "ball"},
        {"learning_rate": "adagrad", "projection": "box"},
    ],
    ids=str,
)
def test_rows_and_blocks_are_the_same(loss, given):
    X, y = data(loss)
    whole = make(loss, **given)
    losses = whole.learn_block(X, y)
    for size, as_block in ((1, np.asarray), (1, sparse.csr_array), (17, sparse.csr_matrix)):
        parts = make(loss, **given)
        found = []
        for start in range(0, len(X), size):
            block = slice(start, start + size)
            found.append(parts.learn_block(as_block(X[block]), y[block], **classes(loss)))
        assert np.concatenate(found) == pytest.approx(losses, **SAME)
        assert vector(parts) == pytest.approx(vector(whole), **SAME)
        assert parts.regret_bound_ == pytest.approx(whole.regret_bound_)
        assert parts.max_gradient_ == pytest.approx(whole.max_gradient_)
    quiet = make(loss, **given).partial_fit(X, y)
    assert np.array_equal(vector(quiet), vector(whole))


def test_several_classes_are_one_learner_each():
    X, y = make_blobs(200, centers=3, n_features=4, random_state=0)
    model = OnlineGradientDescentClassifier(radius=2.0)
    charged = model.learn_block(X, y)
    total = np.zeros(200)
    for k in range(3):
        alone = OnlineGradientDescentClassifier(radius=2.0)
        total += alone.learn_block(X, np.where(y == k, 1, -1))
        assert model.coef_[k] == pytest.approx(alone.coef_[0])
        assert model.intercept_[k] == pytest.approx(alone.intercept_[0])
    assert charged == pytest.approx(total)
    probabilities = model.predict_proba(X)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(200))
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    assert not hasattr(OnlineGradientDescentClassifier(loss="hinge"), "predict_proba")


# ---- any loss ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cosh(Loss):
    """log cosh of the error: a loss that the kernels do not know."""

    name, title = "log_cosh", "log cosh"

    def _value(self, y, z):
        return np.logaddexp(z - y, y - z) - math.log(2)

    def _gradient(self, y, z):
        return np.tanh(z - y)


class Squares(type(LOSSES["squared_error"])):
    """The squared error by another class, so that it is followed row by row in Python."""


@pytest.mark.parametrize(
    "given",
    [
        {"average": True, "alpha": 0.1},
        {"learning_rate": "adagrad", "projection": "box"},
        {"learning_rate": "constant", "eta0": 0.02, "projection": "l1_ball"},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix])
def test_a_loss_that_kernels_do_not_know_takes_the_same_steps(given, kind):
    X, y = rows()
    known, other = make("squared_error", **given), make(Squares(), **given)
    assert other.learn_block(kind(X), y) == pytest.approx(known.learn_block(kind(X), y), **SAME)
    assert vector(other) == pytest.approx(vector(known), **SAME)
    assert other.regret_bound_ == pytest.approx(known.regret_bound_)
    classes = OnlineGradientDescentClassifier(loss=Squares(), **given).fit(X, y > 0)
    same = OnlineGradientDescentClassifier(loss="squared_error", **given).fit(X, y > 0)
    assert vector(classes) == pytest.approx(vector(same), **SAME)
    assert not hasattr(classes, "predict_proba")


def test_a_loss_of_ones_own_is_followed_by_its_gradient():
    X, y = rows()
    losses = make(Cosh(), projection="ball").learn_block(X, y)
    loss, w, largest, expected = Cosh(), np.zeros(5), 0.0, []
    for t, (x, truth) in enumerate(zip(np.column_stack([X, np.ones(len(X))]), y, strict=True), 1):
        expected.append(float(loss(truth, w @ x)))
        g = loss.gradient(truth, w @ x) * x
        largest = max(largest, np.linalg.norm(g))
        w = onto_ball(w - math.sqrt(2 / t) / largest * g)
    assert losses == pytest.approx(expected, **SAME)


def test_losses_of_probabilities_are_followed_on_the_simplex():
    """A mixture of forecasters is charged its log loss, which a simplex keeps finite."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.05, 0.95, size=(3000, 3))
    y = (rng.random(3000) < X @ [0.7, 0.3, 0.0]).astype(float)
    for loss in ("log_loss", "brier_score"):
        model = make(loss, projection="simplex", fit_intercept=False).fit(X, y)
        assert model.coef_.sum() == pytest.approx(1)
        assert model.coef_ == pytest.approx([0.7, 0.3, 0.0], abs=0.15)
    with pytest.raises(InputError, match="labels 0 and 1"):
        make("log_loss", projection="simplex", fit_intercept=False).fit(X, y + 1)
    with pytest.raises(InputError, match="strictly between"):
        make("log_loss").fit(X, y)
    with pytest.raises(InputError, match=r"labels -1 and \+1"):
        OnlineGradientDescentRegressor(loss="hinge").fit(X, y)


def test_huber_as_an_object_has_its_own_bend():
    X, y = rows()
    by_name, as_object = make("huber", delta=0.3), make(Huber(0.3))
    assert np.array_equal(by_name.learn_block(X, y), as_object.learn_block(X, y))


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (LOSSES["zero_one"], "has no gradient"),
        (lambda y, z: abs(y - z), "has no gradient"),
        (LOSSES["brier_score"], "takes labels 0 and 1"),
    ],
)
def test_losses_that_cannot_be_followed_are_refused(loss, words):
    X, y = data("hinge")
    with pytest.raises(ParameterError, match=words):
        OnlineGradientDescentClassifier(loss=loss).fit(X, y)


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"radius": 0}, "radius=0"),
        ({"radius": 0.0, "projection": "ball"}, "radius=0.0"),
        ({"learning_rate": "strongly_convex"}, "alpha above 0"),
        ({"learning_rate": "constant"}, "eta0, or horizon"),
        ({"projection": "simplex"}, "fit_intercept=False"),
        ({"projection": "cube"}, "projection='cube'"),
        ({"alpha": -1.0}, "alpha=-1"),
        ({"eta0": 0.0}, "eta0=0"),
        ({"loss": "zero_one"}, "loss='zero_one'"),
    ],
)
def test_parameters_are_checked(given, words):
    X, y = rows()
    model = OnlineGradientDescentRegressor(**given)
    with pytest.raises(ParameterError, match=words):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")


def test_steps_that_run_away_are_stopped_and_taken_back():
    X, y = rows()
    model = make("squared_error", learning_rate="constant", eta0=10.0).partial_fit(X[:2], y[:2])
    before = vector(model)
    with pytest.raises(InputError, match="smaller eta0"):
        model.partial_fit(np.tile(X, (20, 1)), np.tile(y, 20))
    assert np.array_equal(vector(model), before)


@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix])
def test_strongly_convex_steps_that_will_explode_are_warned_of(kind):
    """Steps 1 / (sigma t) exceed what the curvature allows while t is below its ratio to sigma."""
    X, y = rows(n=400)
    model = OnlineGradientDescentRegressor(learning_rate="strongly_convex", alpha=0.01)
    with pytest.warns(ConvergenceWarning, match=r"overshoots in the first .*projection='ball'"):
        model.partial_fit(kind(X[:30]), y[:30])
    assert np.abs(model.coef_).max() > 1e6  # so it does
    with pytest.warns(ConvergenceWarning, match="overshoots"):
        OnlineGradientDescentRegressor(learning_rate="strongly_convex", alpha=0.01).fit(kind(X), y)
    # Nothing is said where steps are safe: by a set, a penalty, a bounded slope, or late rows.
    for given in ({"projection": "ball"}, {"alpha": 5.0}, {"loss": "huber"}):
        safe = OnlineGradientDescentRegressor(
            **{"learning_rate": "strongly_convex", "alpha": 0.01, **given}
        ).partial_fit(kind(X), y)
        assert np.abs(safe.coef_).max() < 1e3
    model = OnlineGradientDescentRegressor(learning_rate="strongly_convex", alpha=1.0)
    model.partial_fit(kind(X[:200] / 10), y[:200]).partial_fit(kind(X[200:]), y[200:])


def test_parameters_may_not_change_in_mid_stream():
    X, y = rows()
    model = OnlineGradientDescentRegressor().partial_fit(X, y)
    with pytest.raises(InputError, match="has changed since the first rows"):
        model.set_params(eta0=0.5).partial_fit(X, y)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_streams_with_missing_values_are_refused(bad):
    X, y = rows()
    model = OnlineGradientDescentRegressor().partial_fit(X, y)
    before = vector(model)
    broken = X.copy()
    broken[-1, 0] = bad
    for block, truth in ((broken, y), (sparse.csr_matrix(broken), y), (X, np.where(y > 0, y, bad))):
        with pytest.raises(ValueError, match="contains"):
            model.partial_fit(block, truth)
    assert np.array_equal(vector(model), before)
    assert model.n_samples_seen_ == len(X)


def test_a_new_label_in_mid_stream_is_refused():
    X, y = data("logistic")
    model = OnlineGradientDescentClassifier().partial_fit(X, y)
    before = vector(model)
    with pytest.raises(InputError, match=r"label .*3.* is not among the classes"):
        model.learn_block(X, np.where(np.arange(len(y)) == 50, 3, y))
    assert np.array_equal(vector(model), before)
