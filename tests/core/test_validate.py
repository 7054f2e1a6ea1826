"""Masks, names that stand twice and numbers without squares are refused where rows are read."""

import numpy as np
import pandas as pd
import pytest

from bottega.additive import AdditiveModel
from bottega.classify import NaiveBayes
from bottega.core import BaselineRegressor
from bottega.core.errors import DataWarning, InputError
from bottega.linear import Lasso, LeastSquares, RecursiveLeastSquares
from bottega.registry import estimators, methods

ALL = [each for each in estimators() if each.card.task in ("regression", "classification")]


def sample(each):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X[:, 0] + rng.normal(size=30)
    X = X[:, : each.card.n_inputs]
    return X, y if each.card.task == "regression" else np.where(y > 0, "yes", "no")


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.__name__)
def test_masked_values_are_never_learnt_from(each):
    X, y = sample(each)
    mask = np.zeros(X.shape, dtype=bool)
    mask[3, 0] = True
    with pytest.raises(InputError, match="X has 1 masked value;"):
        each().fit(np.ma.array(X, mask=mask), y)
    with pytest.raises(InputError, match="y has 2 masked values;"):
        each().fit(X, np.ma.array(y, mask=np.arange(30) < 2))


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.__name__)
def test_masked_values_are_never_predicted_from(each):
    X, y = sample(each)
    model = each()
    few = [name for name in ("n_estimators", "max_estimators") if name in model.get_params()]
    model.set_params(**dict.fromkeys(few, 5)).fit(X, y)
    with pytest.raises(InputError, match="X has 1 masked value;"):
        model.predict(np.ma.masked_equal(X, X[4, 0]))


def test_a_mask_without_masked_values_is_an_array():
    X, y = sample(LeastSquares)
    plain = LeastSquares().fit(X, y)
    assert np.array_equal(LeastSquares().fit(np.ma.array(X), np.ma.array(y)).coef_, plain.coef_)
    mask = np.zeros(X.shape, dtype=bool)
    mask[0, 0] = True
    with pytest.raises(InputError, match="X has 1 masked value;"):
        plain.predict(np.ma.array(X, mask=mask))
    with pytest.raises(InputError, match="sample_weight has 1 masked value;"):
        LeastSquares().fit(X, y, np.ma.array(np.ones(30), mask=np.arange(30) == 4))
    with pytest.raises(InputError, match="X has 1 masked value;"):
        Lasso().fit_chunks([(np.ma.array(X, mask=mask), y)])
    with pytest.raises(InputError, match="X has 1 masked value;"):
        RecursiveLeastSquares().fit(X, y).partial_fit(np.ma.array(X, mask=mask), y)


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.__name__)
def test_columns_of_one_name_are_refused(each):
    X, y = sample(each)
    frame = pd.DataFrame(np.hstack([X[:, :1], X[:, :1] ** 2]), columns=["size", "size"])
    with pytest.raises(InputError, match="more than one column named 'size'"):
        each().fit(frame, y)


def test_new_rows_with_columns_of_one_name_are_refused():
    X, y = sample(LeastSquares)
    model = LeastSquares().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    with pytest.raises(InputError, match="more than one column named 'b'"):
        model.predict(pd.DataFrame(X, columns=["a", "b", "b"]))


def test_responses_must_have_squares():
    X, y = sample(BaselineRegressor)
    for unit, words in ((1e-160, "squares of these numbers vanish"), (1e200, "overflow")):
        with pytest.raises(InputError, match=words):
            BaselineRegressor().fit(X, y * unit)
    assert BaselineRegressor().fit(X, 0 * y).constant_ == 0


@pytest.mark.parametrize(
    "each", [each for each in ALL if each.card.weights], ids=lambda each: each.__name__
)
@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_weights_beyond_what_sums_hold_are_refused(each, size):
    X, y = sample(each)
    with pytest.raises(InputError, match="sample_weight runs from"):
        each().fit(X, y, sample_weight=np.full(30, size))


def test_the_column_that_holds_texts_is_named():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "kind": ["x", "y", "x", "y"]})
    y = np.arange(4.0)
    with pytest.raises(InputError, match=r"Column 'kind' of X does not hold numbers.*Encoder"):
        LeastSquares().fit(frame, y)
    model = LeastSquares().fit(frame.assign(kind=[1, 2, 2, 1]), y)
    with pytest.raises(InputError, match="Column 'kind' of X"):
        model.predict(frame)


@pytest.mark.parametrize("name", ["lasso", "tree", "least_angle", "elastic_net"])
@pytest.mark.parametrize("size", [1e-90, 1e90])
def test_the_size_of_all_weights_does_not_change_the_choice(name, size):
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 2))
        y = X[:, 0] - X[:, 1] ** 2 + 0.3 * rng.normal(size=40)
        w = rng.integers(1, 4, 40).astype(float)
        each = methods("regression")[name]
        plain = each(select="one_se").fit(X, y, sample_weight=w)
        sized = each(select="one_se").fit(X, y, sample_weight=size * w)
        assert sized.path_.error_se == pytest.approx(plain.path_.error_se, rel=1e-6)
        assert sized.predict(X) == pytest.approx(plain.predict(X), rel=1e-6, abs=1e-9)


def test_predictions_and_inputs_beyond_all_numbers_get_a_word():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = X @ [1.0, 2.0]
    for each in (LeastSquares(), Lasso(alpha=0.01)):
        model = each.fit(X, y)
        with pytest.warns(DataWarning, match="2 of 3 predictions are beyond the largest number"):
            model.predict([[1e308, 1e308], [1.0, 1.0], [-1e308, -1e308]])
        with pytest.raises(InputError, match="X holds a number beyond the largest one"):
            model.predict(np.array([[10**400, 1.0]], dtype=object))
    with pytest.raises(InputError, match=r"list of \(X, y\).*got 5"):
        LeastSquares().fit_chunks(5)


@pytest.mark.parametrize("y", [["yes", "no"] * 5, pd.Series(["yes", "no"] * 5)])
@pytest.mark.parametrize("model", [LeastSquares(), AdditiveModel(family="binomial")])
def test_a_regression_on_labels_names_classifiers(model, y):
    X = np.arange(10.0)[:, None]
    with pytest.raises(InputError, match=r"texts such as 'yes'.*use a classifier"):
        model.fit(X, y)


def test_numbers_among_objects_are_a_response():
    X, y = np.arange(10.0)[:, None], np.arange(10.0)
    fitted = LeastSquares().fit(X, y.astype(object))
    np.testing.assert_allclose(fitted.predict(X), y, atol=1e-12)


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
def test_missing_labels_are_told_in_memory_and_in_chunks(gap):
    X, y = np.arange(8.0).reshape(-1, 1), np.array(["a", "b", gap, "a"] * 2, dtype=object)
    for fit in (lambda m: m.fit(X, y), lambda m: m.fit_chunks([(X[:4], y[:4]), (X[4:], y[4:])])):
        with pytest.raises(InputError, match=r"missing labels? \(None, NaN or NA\).*in row 2 "):
            fit(NaiveBayes())
