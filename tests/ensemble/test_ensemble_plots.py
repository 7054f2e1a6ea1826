"""What an ensemble draws of itself is what it computed."""

import numpy as np
import pytest

from bottega.ensemble import AdaBoostClassifier, RandomForestClassifier, RandomForestRegressor


def sample(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, X[:, 0] + X[:, 1] > 0.3


@pytest.mark.parametrize("each", [RandomForestClassifier, RandomForestRegressor])
def test_a_forest_draws_its_errors_against_trees(each):
    X, y = sample(150, 0)
    X_new, y_new = sample(80, 1)
    model = each(max_features=2, n_estimators=12).fit(
        X, y.astype(float) if each is RandomForestRegressor else y
    )
    y_new = y_new.astype(float) if each is RandomForestRegressor else y_new
    text = str(model.plot(X_new, y_new).to_dict())
    # The subtitle says where the curves end.
    assert f"test rows {model.staged_error(X_new, y_new)[-1]:.4g}" in text
    assert f"out of bag {model.oob_path_.error[-1]:.4g}" in text
    assert "test rows" not in str(model.plot().to_dict())


def test_adaboost_draws_its_error_against_rounds():
    X, y = sample(150, 0)
    model = AdaBoostClassifier(n_estimators=8).fit(X, y)
    chart = model.plot(*sample(80, 1)).to_dict()
    assert chart["title"]["text"] == "Error against rounds"
    assert repr(float(model.staged_error(*sample(80, 1))[-1])) in str(chart)
