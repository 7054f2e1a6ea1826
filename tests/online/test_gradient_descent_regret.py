"""What is promised about the regret holds on every stream."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.losses import get_loss
from bottega.online import (
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
)
from bottega.optimize import onto_ball, onto_box, onto_l1_ball, onto_simplex
from bottega.risk.bounds import ogd_regret, ogd_strongly_convex_regret

SETS = {"ball": onto_ball, "box": onto_box, "simplex": onto_simplex, "l1_ball": onto_l1_ball}


def comparators(rng, kind, radius, d):
    """Return points of the set, its border among them."""
    points = [SETS[kind](scale * rng.normal(size=d), radius) for scale in (0.1, 1, 10, 100)]
    start = onto_simplex(np.zeros(d), radius) if kind == "simplex" else np.zeros(d)
    return [start, *points]


def regret(loss, losses, X, y, u, alpha=0.0):
    summed = get_loss(loss)(y, X @ u).sum() + len(y) * alpha / 2 * (u @ u)
    return losses.sum() - summed


def stream(seed, loss, T=80):
    """Return a stream that turns round half way, with rows of very different lengths."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, 3)) * rng.lognormal(sigma=1.0, size=(T, 1))
    y = X @ rng.normal(size=3) * np.where(np.arange(T) < T / 2, 1, -1) + rng.normal(size=T)
    return rng, X, (np.where(y > 0, 1.0, -1.0) if loss in ("hinge", "logistic") else y)


def make(loss, **options):
    kind = (
        OnlineGradientDescentClassifier
        if loss in ("hinge", "logistic")
        else OnlineGradientDescentRegressor
    )
    return kind(loss=get_loss(loss), fit_intercept=False, **options)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["hinge", "logistic", "squared_error", "absolute_error"]),
    st.sampled_from(list(SETS)),
    st.sampled_from(
        [
            {"learning_rate": "invscaling"},
            {"learning_rate": "invscaling", "eta0": 0.5},
            {"learning_rate": "invscaling", "alpha": 0.3},
            {"learning_rate": "constant", "eta0": 0.1},
            {"learning_rate": "constant", "horizon": 80},
            {"learning_rate": "strongly_convex", "alpha": 0.3},
        ]
    ),
    st.sampled_from([0.3, 2.0]),
)
def test_the_bound_holds_against_every_comparator_of_the_set(seed, loss, kind, rule, radius):
    rng, X, y = stream(seed, loss)
    model = make(loss, projection=kind, radius=radius, **rule)
    losses = model.learn_block(X, y)
    for u in comparators(rng, kind, radius, 3):
        found = regret(loss, losses, X, y, u, rule.get("alpha", 0.0))
        assert found <= model.regret_bound_ * (1 + 1e-9) + 1e-9


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([None, 0.2, 3.0]))
def test_adagrad_in_the_box(seed, eta):
    rng, X, y = stream(seed, "absolute_error")
    model = make("absolute_error", learning_rate="adagrad", projection="box", radius=0.5, eta0=eta)
    losses = model.learn_block(X, y)
    for u in comparators(rng, "box", 0.5, 3):
        assert regret("absolute_error", losses, X, y, u) <= model.regret_bound_ * (1 + 1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_constant_steps_need_no_set(seed):
    rng, X, y = stream(seed, "hinge")
    G = float(np.linalg.norm(X, axis=1).max())
    model = make("hinge", learning_rate="constant", horizon=80, gradient_bound=G, radius=2.0)
    losses = model.learn_block(X, y)
    for u in comparators(rng, "ball", 2.0, 3):
        assert regret("hinge", losses, X, y, u) <= model.regret_bound_ * (1 + 1e-9)
    # sqrt(2) U / (G sqrt T) for the step: at most (1/sqrt 8 + 1/sqrt 2) U G sqrt T.
    assert model.regret_bound_ <= (1 / math.sqrt(8) + 1 / math.sqrt(2)) * 2 * G * math.sqrt(80)


# Strongly convex steps for the squared error without a set overshoot, and warn of it.
@pytest.mark.filterwarnings(
    "ignore:learning_rate='strongly_convex':sklearn.exceptions.ConvergenceWarning"
)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["hinge", "squared_error"]))
def test_the_notes_bounds_are_never_smaller(seed, loss):
    _, X, y = stream(seed, loss)
    T = len(y)
    ball = make(loss, projection="ball", radius=1.5).partial_fit(X, y)
    assert ball.regret_bound_ <= T * ogd_regret(1.5, ball.max_gradient_, T) * (1 + 1e-12)
    curved = make(loss, learning_rate="strongly_convex", alpha=0.2).partial_fit(X, y)
    limit = T * ogd_strongly_convex_regret(curved.max_gradient_, 0.2, T)
    assert curved.regret_bound_ <= limit * (1 + 1e-12)


def test_the_bound_of_the_notes_with_a_known_gradient_bound():
    # Linear losses on the line, all of slope 1: absolute loss far from the truth.
    T = 400
    X, y = np.ones((T, 1)), np.full(T, 100.0)
    model = make("absolute_error", projection="ball", radius=1.0, gradient_bound=1.0)
    losses = model.learn_block(X, y)
    # w moves by sqrt(2 / t) and stays at 1 once it is there: after one step.
    assert losses.sum() == pytest.approx(100 + 99 * (T - 1))
    assert model.regret_bound_ == pytest.approx(
        4 / (2 * math.sqrt(2 / T)) + 0.5 * np.sum(math.sqrt(2) / np.sqrt(np.arange(1, T + 1)))
    )
    assert model.regret_bound_ <= math.sqrt(8 * T)


def test_where_nothing_is_promised_the_bound_is_infinite():
    _, X, y = stream(0, "squared_error")
    for options in (
        {"learning_rate": "invscaling"},
        {"learning_rate": "adagrad"},
        {"learning_rate": "adagrad", "projection": "ball"},
        {"learning_rate": "constant", "horizon": 80},
    ):
        assert math.isinf(make("squared_error", **options).partial_fit(X, y).regret_bound_)
    assert make("squared_error").partial_fit(X, np.zeros(len(X))).regret_bound_ == 0


def test_bounds_of_several_classes_add_up():
    _, X, _ = stream(1, "hinge")
    y = np.arange(len(X)) % 3
    model = make("hinge", projection="ball").partial_fit(X, y)
    each = [
        make("hinge", projection="ball").partial_fit(X, np.where(y == k, 1, -1)).regret_bound_
        for k in range(3)
    ]
    assert model.regret_bound_ == pytest.approx(sum(each))
