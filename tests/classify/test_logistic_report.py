"""What a logistic regression tells of itself, and inputs that broke one once."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss

from bottega.classify import LogisticRegression
from bottega.core.errors import InputError

NAMES = list("abcdef")


def lasso(alpha="auto", **given):
    """Return logistic regression with absolute values as its penalty."""
    return LogisticRegression(alpha=alpha, l1_ratio=1.0, **given)


def draw(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, 2 * X[:, 1] - X[:, 4] + rng.normal(size=n)


def classes(seed=0, n=40, p=2):
    X, y = draw(seed, n)
    return X[:, :p], np.where(y > np.median(y), "yes", "no")


def test_honest_error_is_that_of_the_path():
    X, y = draw(2)
    model = lasso().fit(X, y > 0)
    row = model.glance().iloc[0]
    place = model.path_.best(model.select)
    assert row["error"] == model.path_.error[place]
    assert row["error_se"] == model.path_.error_se[place]
    assert row["alpha"] == model.path_.values[place]
    assert_allclose(row["train_error"], model.path_.train_error[place], rtol=1e-6)
    text = str(model.summary())
    assert text.startswith("Logistic regression")
    assert "on new rows, estimated by cross-validation" in text
    assert "none are shown" in text
    assert "Estimates are effects on the log odds of True." in text
    assert "<th scope=" in model.summary().to_html()


def test_gaps_are_kept_for_every_penalty_of_the_path():
    X, y = draw(3)
    model = lasso().fit(X, y > 0)
    assert model.gap_path_.shape == model.path_.values.shape
    assert np.all(model.gap_path_ <= model.tol)
    assert model.glance()["dual_gap"][0] == model.dual_gap_
    model.set_params(alpha=0.1).fit(X, y > 0)
    assert not hasattr(model, "gap_path_")
    assert not hasattr(model, "path_")


@pytest.mark.parametrize("classes", [2, 3])
def test_one_row_about_a_classification(classes):
    X, y = draw(5, n=90)
    labels = np.digitize(y, [0.0] if classes == 2 else [-1.0, 1.0])
    model = lasso(0.05).fit(X, labels)
    row = model.glance().iloc[0]
    deviance = 2 * 90 * log_loss(labels, model.predict_proba(X))
    assert_allclose([row["deviance"], row["loglik"]], [deviance, -deviance / 2])
    assert row["df"] == np.count_nonzero(model.coef_) + classes - 1
    assert_allclose(row["aic"], deviance + 2 * row["df"])
    assert_allclose(row["bic"], deviance + np.log(90) * row["df"])
    assert_allclose(row["train_error"], np.mean(model.predict(X) != labels))
    w = np.random.default_rng(2).integers(1, 4, size=90).astype(float)
    weighted = lasso(0.05).fit(X, labels, sample_weight=w)
    wrong = weighted.predict(X) != labels
    assert_allclose(weighted.glance()["train_error"][0], np.average(wrong, weights=w))


def test_terms_of_classes():
    X, y = draw(6)
    two = lasso(0.1).fit(pd.DataFrame(X, columns=NAMES), np.where(y > 0, "yes", "no"))
    terms = two.tidy()
    assert terms["term"].tolist() == ["(Intercept)", *NAMES]
    assert_allclose(terms["estimate"], [*two.intercept_, *two.coef_[0]])
    labels = np.array(["low", "mid", "high"])[np.digitize(y, [-1, 1])]
    three = lasso(0.1).fit(pl.DataFrame(X, schema=NAMES), labels)
    terms = three.tidy()
    assert isinstance(terms, pl.DataFrame)
    assert terms["response"].to_list() == [
        name for name in ("high", "low", "mid") for _ in range(7)
    ]
    expected = np.column_stack([three.intercept_, three.coef_]).ravel()
    assert_allclose(terms["estimate"].to_numpy(), expected)
    text = str(three.summary())
    assert "log odds of" not in text  # each row names its class
    used = np.count_nonzero(three.coef_.any(axis=0))
    assert f"{used} of 6 columns are in the model" in text
    lines = text.split("Terms\n")[1].splitlines()
    assert len([line for line in lines if not line.startswith("Note")]) == 1 + 3 + np.count_nonzero(
        three.coef_
    )
    assert lasso(0.1, fit_intercept=False).fit(X, y > 0).tidy()["term"][0] == "x0"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("heavy", [1e6, 1e12])
def test_one_heavy_row_does_not_hold_up_the_logistic_lasso(heavy):
    X, y = classes()
    weight = np.ones(40)
    weight[7] = heavy
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lasso().fit(X, y, sample_weight=weight)
    assert model.predict(X[7:8])[0] == y[7]


def test_logistic_lasso_of_two_rows_and_of_constant_inputs():
    model = lasso().fit([[0.0], [1.0]], ["a", "b"])
    assert set(model.predict([[0.0], [1.0]])) <= {"a", "b"}
    X, y = np.full((20, 2), 3.0), np.repeat(["a", "b"], [8, 12])
    for model in (lasso(), lasso(0.1)):
        assert_array_equal(model.fit(X, y).coef_, 0)
        assert_array_equal(model.predict(X[:2]), "b")
        assert_allclose(model.predict_proba(X[:1]), [[0.4, 0.6]], rtol=1e-6)


def test_classes_that_are_equally_probable_go_to_the_first():
    X = np.array([[-1.0], [1.0], [-2.0], [2.0]])
    model = lasso(0.1).fit(X, [0, 1, 0, 1])
    # By symmetry the point between is on the boundary, up to rounding.
    assert model.predict([[0.0]])[0] == 0
    assert abs(model.decision_function([[0.0]])[0]) < 1e-12


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150, 1e155, 1e300])
@pytest.mark.parametrize("model", [LogisticRegression(), lasso()], ids=["default", "path"])
def test_inputs_whose_squares_are_lost_are_refused(model, scale):
    X, y = classes()
    for units in (np.full(2, scale), np.array([1.0, scale])):
        with pytest.raises(InputError, match=r"overflow|vanish"), np.errstate(all="ignore"):
            model.fit(X * units, y)
