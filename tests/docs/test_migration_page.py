"""The page for those who come from elsewhere says what is true."""

import doctest
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.mixture
from sklearn.base import is_classifier

from bottega import registry
from bottega.classify import LogisticRegression
from bottega.cluster import GaussianMixture
from bottega.linear import LeastSquares

PAGE = Path(__file__).parents[2] / "docs/guide/migration.rst"
OURS = {each.__name__: each for each in registry.estimators()}
# Calls in the right-hand columns of the tables, as ``Ridge(alpha=1.0)``.
CALLS = sorted(
    {
        call
        for cell in re.findall(r"^     - (.*(?:\n       .*)*)", PAGE.read_text(), re.MULTILINE)
        for call in re.findall(r"``(\w+\([^`]*\))", cell)
        if call.partition("(")[0] in OURS
    }
)


def sample(each):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1 if ".smooth." in each.__module__ else 12))
    if each.card.task not in ("regression", "classification"):
        return np.abs(X), None  # a table that nonnegative factors take too
    y = X[:, 0] + 0.5 * rng.normal(size=60)
    X = np.abs(X) if each.__name__ == "NonnegativeFactorization" else X
    return X, (y > 0).astype(int) if is_classifier(each()) else y


def test_the_examples_run():
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags)
    assert found.attempted > 10
    assert found.failed == 0


def test_there_are_calls_to_try():
    assert len(CALLS) > 40


def test_every_class_that_we_share_with_scikit_learn_is_on_the_page():
    """The classes whose tests ``make dropin`` runs, by their names there."""
    source = (Path(__file__).parents[1] / "dropin/swap.py").read_text()
    shared = re.findall(r'^    \("[\w.]+", "(\w+)", "[\w.]+"\),$', source, re.MULTILINE)
    assert len(shared) > 30
    table = PAGE.read_text().partition("\nscikit-learn\n---")[2].partition("\nstatsmodels\n---")[0]
    assert not [name for name in shared if f"``{name}" not in table]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_every_call_of_the_tables_can_be_made_and_fitted(call):
    name = call.partition("(")[0]
    model = eval(call.partition(".fit")[0], OURS)
    assert set(model.get_params(deep=False)) == set(inspect.signature(OURS[name]).parameters)
    model.fit(*sample(OURS[name]))


def test_the_penalty_of_logistic_regression():
    X, y = sample(LogisticRegression)
    ours = LogisticRegression(alpha=0.05, l1_ratio=1.0, standardize=False).fit(X, y)
    theirs = sklearn.linear_model.LogisticRegression(
        l1_ratio=1.0, C=1 / (0.05 * 60), solver="saga", max_iter=100_000, tol=1e-9
    ).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-5)


def test_the_least_variance_of_a_mixture_is_a_share_of_the_data_s():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(100, 2)), rng.normal(6, 1, size=(100, 2))]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    how = {"random_state": 0, "tol": 1e-9, "max_iter": 500}
    ours, theirs = (
        np.sort(each(2, **how).fit(X).covariances_.ravel())
        for each in (GaussianMixture, sklearn.mixture.GaussianMixture)
    )
    assert np.max(np.abs(ours - theirs)) == pytest.approx(1e-6, rel=1e-3)


def test_criteria_count_the_variance():
    X, y = sample(LeastSquares)
    model = LeastSquares().fit(X, y)
    parameters = X.shape[1] + 2
    assert model.aic_ == pytest.approx(-2 * model.loglik_ + 2 * parameters)
    assert model.bic_ == pytest.approx(-2 * model.loglik_ + np.log(60) * parameters)
