"""Streams of hard numbers: ties, masks, squares that overflow; a word, never NaN."""

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.online import (
    ExponentialWeights,
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
    OnlineRidge,
    Perceptron,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X @ [1.0, -2.0, 0.5]
CLASSES = np.digitize(Y, [-1.0, 1.0])


@pytest.mark.parametrize("each", [Perceptron, OnlineGradientDescentClassifier])
def test_scores_that_only_rounding_tells_apart_are_equal(each):
    """0.1 + 0.2 is above 0.3 in its last digit: the first of equal classes wins all the same."""
    model = each().fit(X, CLASSES)
    model._weights = np.array([[0.3, 0.0, 0.0, 0.0], [0.1 + 0.2, 0.0, 0.0, 0.0], [0.0] * 4])
    model._past = np.zeros((3, 0))
    assert model._weights[1, 0] > model._weights[0, 0]
    assert model.predict([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]).tolist() == [0, 0]


def test_votes_and_losses_that_only_rounding_tells_apart_are_equal():
    model = ExponentialWeights(loss="zero_one")
    model.learn_losses(np.array([[0.3, 0.1, 1.0], [0.0, 0.2, 1.0]]))
    assert model.expert_losses_[0] != model.expert_losses_[1]
    assert model.best_expert_ == 0
    assert model.predict(np.array([["b", "a", "a"]])).tolist() == ["a"]
    reverse = ExponentialWeights(loss="zero_one")
    reverse.learn_losses(np.array([[0.1, 0.3], [0.2, 0.0]]))
    assert reverse.best_expert_ == 0  # the first of equals, though its sum is the larger
    assert reverse.predict(np.array([["b", "a"]])).tolist() == ["a"]


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150, 1e155, 1e300])
@pytest.mark.parametrize(
    ("each", "y"),
    [
        (Perceptron, CLASSES),
        (OnlineGradientDescentClassifier, CLASSES),
        (OnlineGradientDescentRegressor, Y),
        (OnlineRidge, Y),
    ],
)
def test_extremes_give_numbers_or_a_word(each, y, scale):
    for learn in (lambda m: m.fit(X * scale, y), lambda m: m.partial_fit(X * scale, y)):
        try:
            model = learn(each())
        except InputError:
            refused = True
        else:
            refused = False
            assert np.all(np.isfinite(model.coef_))
            assert np.all(np.isfinite(np.asarray(model.predict(X * scale), dtype=float)))
        assert not refused or scale > 1  # small numbers can be learned


@pytest.mark.parametrize("each", [Perceptron, OnlineGradientDescentRegressor, OnlineRidge])
def test_masked_values_are_refused_in_a_stream(each):
    masked = np.ma.masked_greater(X, 1.5)
    y = CLASSES if each is Perceptron else Y
    with pytest.raises(InputError, match=r"X has \d+ masked value"):
        each().partial_fit(masked, y)
    with pytest.raises(InputError, match=r"X has \d+ masked value"):
        ExponentialWeights().learn_losses(np.ma.masked_greater(RNG.random((5, 2)), 0.5))


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of scikit-learn's own sums
@pytest.mark.parametrize("y", [CLASSES, CLASSES > 0], ids=["three classes", "two"])
@pytest.mark.parametrize("each", [Perceptron, OnlineGradientDescentClassifier])
def test_rows_at_the_largest_number_have_the_scores_of_their_direction(each, y):
    model = each(fit_intercept=False).fit(X, y)
    far = X / np.abs(X).max(axis=1, keepdims=True) * np.finfo(np.float64).max
    scores, near = model.decision_function(far), model.decision_function(X)
    assert np.all(np.isfinite(scores))
    assert np.array_equal(np.sign(scores), np.sign(near))
    assert np.array_equal(model.predict(far), model.predict(X))
