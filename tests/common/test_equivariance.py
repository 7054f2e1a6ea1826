"""Answers depend neither on units nor on the order of rows, where a method has no reason to.

Every class of the catalogue is fitted so that it chooses by itself: its choices are on trial too.
What cannot hold is named with its reason, and must fail: an exception that is no longer one is
removed.
"""

import warnings
from functools import cache

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.registry import estimators, methods

ALL = [each for each in estimators() if each.card.task in ("regression", "classification")]
REGRESSORS = [each for each in ALL if each.card.task == "regression"]

# What only takes time is small.
SMALL = {"n_estimators": 10, "max_estimators": 10, "max_iter": 50, "max_epochs": 12}

_STEPS = "its steps are of a given length, whatever the units"
_PRIOR = "its prior, or penalty, is a given number in the units of the inputs"
_GAMMA = "where it chooses C, gamma is a number in units of the inputs: compare standardises them"
_SHARED = "its weights are the same for every column, or step: all are to be in one unit"
_DISTANCE = "distances mix the columns: their units are the weights of the columns"

Y_UNITS = {"OnlineGradientDescentRegressor": _STEPS}
X_UNIT = {
    "LinearSVM": _PRIOR,
    "OnlineGradientDescentClassifier": _STEPS,
    "OnlineGradientDescentRegressor": _STEPS,
    "OnlineRidge": _PRIOR,
    "Perceptron": "its intercept is the weight of one more column, whose values are one",
    "SupportVectorClassifier": _GAMMA,
    "SupportVectorRegressor": _GAMMA,
}
X_UNITS = X_UNIT | {
    "AttentionClassifier": _SHARED,
    "BayesianRegression": _PRIOR,
    "ConvolutionalClassifier": _SHARED,
    "KernelPerceptron": _DISTANCE,
    "KernelRidge": _DISTANCE,
    "NearestNeighborsClassifier": _DISTANCE,
    "NearestNeighborsRegressor": _DISTANCE,
    "ParzenClassifier": _DISTANCE,
    "RecurrentClassifier": _SHARED,
    "RecurrentRegressor": _SHARED,
    "ThinPlateSpline": "its penalty is on bends in all directions alike",
}


def small(each):
    model = each(**getattr(each, "walks", {}))
    given = model.get_params(deep=False)
    chosen = {name: value for name, value in SMALL.items() if type(given.get(name)) is int}
    if "estimators" in given:
        tree = methods(each.card.task)["tree"]
        chosen["estimators"] = [(f"depth {d}", tree(ccp_alpha=0.0, max_depth=d)) for d in (2, 4)]
    return model.set_params(**chosen)


@cache
def sample(each):
    """Return rows of a regression or a classification, and further points."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 3)) + np.array([0.0, 3.0, -1.0])
    signal = X[:, 0] - 0.5 * (X[:, 1] - 3) ** 2 + 0.3 * rng.normal(size=80)
    X = X[:, : each.card.n_inputs]
    y = signal
    if each.card.task == "classification":
        y = np.where(signal > np.median(signal), "yes", "no")
    return X[:60], y[:60], X[60:]


@cache
def answer(each):
    X, y, new = sample(each)
    return fitted(each, X, y, new)


def fitted(each, X, y, new):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what did not converge in so few steps
        return small(each).fit(X, y).predict(new)


def same(each, found, expected, tolerance):
    if each.card.task == "classification":
        return bool(np.mean(found != expected) == 0)
    return bool(np.all(np.abs(found - expected) <= tolerance * np.max(np.abs(expected))))


def cases(classes, exceptions):
    """Return the classes as parameters; those with a reason are expected to fail."""
    unknown = set(exceptions) - {each.__name__ for each in classes}
    assert not unknown, unknown
    return [
        pytest.param(
            each,
            id=each.__name__,
            marks=[pytest.mark.xfail(reason=exceptions[each.__name__], raises=AssertionError)]
            if each.__name__ in exceptions
            else [],
        )
        for each in classes
    ]


ORDERED = {each.__name__: "it learns the rows in their order" for each in ALL if each.card.ordered}


@pytest.mark.parametrize("each", cases(ALL, ORDERED))
def test_the_order_of_rows_does_not_matter(each):
    X, y, new = sample(each)
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(y))
        found = fitted(each, X[order], y[order], new)
        # Sums in another order differ in their last digits, a solver stops within its tolerance.
        assert same(each, found, answer(each), 1e-6)


@pytest.mark.parametrize("each", cases(REGRESSORS, Y_UNITS))
def test_the_unit_of_the_response_does_not_matter(each):
    X, y, new = sample(each)
    for unit in (1e3, 1e5, 2.0**-17):
        assert same(each, fitted(each, X, y * unit, new) / unit, answer(each), 1e-6)


@pytest.mark.parametrize("each", REGRESSORS, ids=lambda each: each.__name__)
def test_responses_whose_squares_are_lost_are_refused(each):
    X, y, _ = sample(each)
    for unit in (1e-160, 1e160):
        with pytest.raises(InputError, match="the squares of these numbers"):
            small(each).fit(X, y * unit)


@pytest.mark.parametrize("each", cases(ALL, X_UNIT))
def test_a_common_unit_of_the_inputs_does_not_matter(each):
    X, y, new = sample(each)
    for unit in (1e-6, 1e6):
        assert same(each, fitted(each, X * unit, y, new * unit), answer(each), 1e-6)


@pytest.mark.parametrize("each", cases(ALL, X_UNITS))
def test_units_of_each_input_do_not_matter(each):
    X, y, new = sample(each)
    units = np.array([1e-3, 1e4, 10.0])[: X.shape[1]]
    assert same(each, fitted(each, X * units, y, new * units), answer(each), 1e-6)
