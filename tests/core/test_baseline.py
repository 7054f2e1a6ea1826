"""The baselines: what every comparison starts from."""

import numpy as np
import pandas as pd
import pytest

from bottega.core import BaselineClassifier, BaselineRegressor
from bottega.core.errors import InputError


def test_mean_is_a_linear_smoother_with_one_degree_of_freedom():
    y = np.array([1.0, 2.0, 6.0, 3.0])
    model = BaselineRegressor().fit(np.zeros((4, 2)), y)
    assert model.predict(np.ones((2, 2))).tolist() == [3.0, 3.0]
    assert model.df_ == 1.0
    by_hand = [y[i] - np.delete(y, i).mean() for i in range(4)]
    assert model.loo_residuals_ == pytest.approx(by_hand)
    assert model.sigma_ == pytest.approx(y.std(ddof=1))
    assert model.predict(np.zeros((1, 2)), return_std=True)[1] == pytest.approx(
        [y.std(ddof=1) / np.sqrt(4)]
    )
    low, high = model.interval(np.zeros((1, 2)))
    # Student's 97.5% point with 3 degrees of freedom is 3.182446.
    assert high - low == pytest.approx(2 * 3.182446 * y.std(ddof=1) / 2, rel=1e-6)


def test_weights_move_the_mean_as_repeated_rows_do():
    weighted = BaselineRegressor().fit(np.zeros((2, 1)), [0.0, 1.0], sample_weight=[1, 3])
    assert weighted.predict([[0.0]])[0] == 0.75
    shares = BaselineClassifier().fit(np.zeros((2, 1)), ["a", "b"], sample_weight=[1, 3])
    assert shares.predict_proba([[0.0]]).tolist() == [[0.25, 0.75]]
    assert shares.predict([[0.0]]).tolist() == ["b"]


def test_majority_is_right_nine_times_in_ten():
    """M116 and M124: with 90 % of one class, always naming it has accuracy 0.9."""
    y = np.array(["blue"] * 90 + ["green"] * 10)
    model = BaselineClassifier().fit(np.zeros((100, 1)), y)
    assert model.score(np.zeros((100, 1)), y) == pytest.approx(0.9)


def test_equally_frequent_classes_go_to_the_first():
    model = BaselineClassifier().fit(np.zeros((4, 1)), ["b", "a", "b", "a"])
    assert model.predict([[0.0]]).tolist() == ["a"]


def test_any_inputs_will_do():
    X = pd.DataFrame({"colour": ["red", None, "blue"], "size": [1.0, np.nan, np.inf]})
    assert BaselineRegressor().fit(X, [1.0, 2.0, 3.0]).predict(X).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("bad", [[1.0], [1.0, -1.0], [0.0, 0.0], [np.nan, 1.0]])
def test_bad_weights_are_said(bad):
    with pytest.raises(InputError, match="sample_weight"):
        BaselineRegressor().fit(np.zeros((2, 1)), [0.0, 1.0], sample_weight=bad)
