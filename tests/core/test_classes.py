"""Classifiers that have scores and no probabilities."""

import pytest

from bottega.classify import IndicatorRegression
from bottega.kernel import KernelPerceptron, LinearSVM


@pytest.mark.parametrize("each", [LinearSVM, KernelPerceptron, IndicatorRegression])
def test_probabilities_that_are_not_there_name_the_way_to_get_them(each):
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    model = each().fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert not each.card.probabilities
    with pytest.raises(AttributeError, match=rf"{each.__name__} has no predict_proba.*Calibrated"):
        model.predict_proba(X)
