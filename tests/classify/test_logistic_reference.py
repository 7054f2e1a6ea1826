"""Logistic regression against R's glm, nnet and glmnet, and scikit-learn's class of this name."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression as Theirs

from bottega.classify import LogisticRegression, likelihood_ratio_test

FOLDER = Path(__file__).parents[1] / "reference"
GLMNET = json.loads((FOLDER / "linear" / "glmnet.json").read_text())["logistic"]
REFERENCE = json.loads((FOLDER / "classify" / "logistic.json").read_text())
X, Y = np.array(REFERENCE["X"]), np.array(REFERENCE["y"])


def check_glmnet(case, X, y, coef, intercept, probability, k):
    # glmnet reaches about 1e-8 here. Three classes have one median, so the coefficients, free up
    # to a number added to all classes, are unique.
    assert coef == pytest.approx(np.array(case["coef"])[:, k], abs=1e-6)
    expected = np.array(case["intercept"])[:, k]
    if len(expected) > 1:
        expected = expected - expected.mean()
    assert intercept == pytest.approx(expected, abs=2e-6)
    chosen = probability[np.arange(len(y)), y]
    assert -2 * np.log(chosen).sum() == pytest.approx(case["deviance"][k], rel=1e-6)


@pytest.mark.parametrize("case", GLMNET)
def test_glmnet_at_given_penalties(case):
    X, y = np.array(case["X"]), np.array(case["y"])
    for k, alpha in enumerate(case["alphas"]):
        model = LogisticRegression(alpha=alpha, l1_ratio=case["l1_ratio"], tol=1e-12).fit(X, y)
        assert model.converged_
        found = model.coef_, model.intercept_, model.predict_proba(X)
        check_glmnet(case, X, y, *found, k)


@pytest.mark.parametrize("case", REFERENCE["paths"])
def test_glmnet_paths(case):
    two = case["family"] == "binomial"
    several = REFERENCE["several"]
    inputs, y = (X, Y) if two else (np.array(several["X"]), np.array(several["y"]))
    model = LogisticRegression(l1_ratio=case["l1_ratio"], tol=1e-12)
    curve = model.path(inputs, y, values=case["alphas"], cv=2)
    for k in range(len(case["alphas"])):
        found = curve.at(k)
        given = found.coef_, found.intercept_, found.predict_proba(inputs)
        check_glmnet(case, inputs, y, *given, k)
        assert curve.coef[k] == pytest.approx(found.coef_[0] if two else found.coef_)


@cache
def free(place):
    case = REFERENCE["binary"][place]
    weight = np.array(case["weight"])
    return case, weight, LogisticRegression(C=np.inf).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("place", [0, 1], ids=["plain", "weighted"])
def test_glm(place):
    case, _, model = free(place)
    terms = model.tidy()
    # glm stops where the deviance changes by 1e-14 of itself: estimates to about 1e-7.
    assert_allclose(terms["estimate"], case["estimate"], rtol=1e-6)
    assert_allclose(terms["std_error"], case["std_error"], rtol=1e-6)
    assert_allclose(terms["p_value"], case["p_value"], rtol=1e-5)
    row = model.glance().iloc[0]
    assert_allclose(
        [row["deviance"], row["null_deviance"]], [case["deviance"], case["null_deviance"]]
    )
    assert row["df"] == 7


@pytest.mark.parametrize("place", [0, 1], ids=["plain", "weighted"])
def test_profiles_and_likelihood_ratios_of_glm(place):
    case, weight, model = free(place)
    limits = model.profile_intervals(X, Y, sample_weight=weight)
    # uniroot stops at 1e-10, on deviances known to about 1e-10: limits to about 1e-8.
    assert_allclose(limits["conf_low"], case["low"], rtol=1e-6)
    assert_allclose(limits["conf_high"], case["high"], rtol=1e-6)
    dropped = model.drop_terms(X, Y, sample_weight=weight)
    assert_allclose(dropped["deviance"], case["dropped"], rtol=1e-9)
    assert_allclose(dropped["p_value"], case["drop_p"], rtol=1e-6)
    small = LogisticRegression(C=np.inf).fit(X[:, 1:], Y, sample_weight=weight)
    test = likelihood_ratio_test(small, model)
    assert test.df == 1
    assert_allclose(test.p_value, case["drop_p"][0], rtol=1e-6)
    # With one term Wald's statistic is the square of the z statistic.
    z = model.tidy()["statistic"][1]
    assert_allclose(model.wald_test("x0").statistic, z**2)


def test_multinom():
    case = REFERENCE["several"]
    inputs, y = np.array(case["X"]), np.array(case["y"])
    model = LogisticRegression(C=np.inf).fit(inputs, y)
    terms = model.tidy(reference=0)
    # multinom stops where the objective changes by 1e-15 of itself: estimates to about 1e-5.
    assert_allclose(terms["estimate"], np.ravel(case["coef"]), rtol=1e-4)
    assert_allclose(terms["std_error"], np.ravel(case["std_error"]), rtol=1e-4)
    assert_allclose(model.predict_proba(inputs), case["probability"], atol=1e-6)
    assert_allclose(model.glance()["deviance"][0], case["deviance"], rtol=1e-9)
    assert model.df_ == 8
    # Contrasts with another class are differences of these.
    other = model.tidy(reference=1).set_index(["response", "term"])["estimate"]
    first = terms.set_index(["response", "term"])["estimate"]
    assert_allclose(other[2], first[2] - first[1])
    assert_allclose(other[0], -first[1])


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("given", [{}, {"C": 0.1}, {"C": 10.0, "fit_intercept": False}])
def test_the_defaults_are_scikit_learns(K, given):
    several = REFERENCE["several"]
    inputs, y = (X, Y) if K == 2 else (np.array(several["X"]), np.array(several["y"]))
    ours = LogisticRegression(**given).fit(inputs, y)
    theirs = Theirs(**given, solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(inputs, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    assert_allclose(ours.C_, given.get("C", 1.0))


def test_penalties_by_scikit_learns_words():
    scaled = X / X.std(axis=0)
    for words in ({"penalty": "l1"}, {"l1_ratio": 1.0}, {"penalty": "elasticnet", "l1_ratio": 0.3}):
        ours = LogisticRegression(**words, C=0.5, solver="saga", tol=1e-10).fit(scaled, Y)
        ratio = words.get("l1_ratio", 1.0)
        theirs = Theirs(C=0.5, l1_ratio=ratio, solver="saga", tol=1e-10, max_iter=100_000)
        assert_allclose(ours.coef_, theirs.fit(scaled, Y).coef_, atol=1e-5)
    weighted = LogisticRegression(class_weight="balanced").fit(scaled, Y)
    theirs = Theirs(class_weight="balanced", solver="newton-cholesky", tol=1e-10).fit(scaled, Y)
    assert_allclose(weighted.coef_, theirs.coef_, atol=1e-6)
