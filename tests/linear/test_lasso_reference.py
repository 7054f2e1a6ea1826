"""The lasso family against R's glmnet and scikit-learn."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import enet_path, lasso_path

from bottega.linear import ElasticNet, Lasso

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "linear" / "glmnet.json").read_text()
)


@pytest.mark.parametrize("case", REFERENCE["gaussian"])
def test_glmnet_at_given_penalties(case):
    X = np.array(REFERENCE["data"][case["set"]]["X"])
    for alpha, coef, intercept in zip(case["alphas"], case["coef"], case["intercept"], strict=True):
        model = ElasticNet(
            alpha,
            l1_ratio=case["l1_ratio"],
            standardize=case["standardize"],
            weights=case["weights"],
        ).fit(X, case["y"], sample_weight=case["sample_weight"])
        # glmnet stops on the change of the objective, which is flat: 1e-8 is what it reaches here.
        assert model.coef_ == pytest.approx(np.array(coef), abs=1e-7)
        assert model.intercept_ == pytest.approx(intercept, abs=1e-6)


@pytest.mark.parametrize(("n", "p"), [(80, 10), (30, 60)])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
def test_scikit_learn_paths(n, p, l1_ratio):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, p)) @ np.diag(rng.uniform(0.5, 2, p))
    y = X[:, :3].sum(axis=1) + rng.normal(size=n)
    model = ElasticNet(l1_ratio=l1_ratio, standardize=False, eps=0.02, alphas=20)
    curve = model.path(X, y)
    A, b = X - X.mean(axis=0), y - y.mean()
    tight = {"alphas": curve.values, "tol": 1e-12, "max_iter": 100_000}
    if l1_ratio == 1:
        _, expected, _ = lasso_path(A, b, **tight)
    else:
        _, expected, _ = enet_path(A, b, l1_ratio=l1_ratio, **tight)
    # The gap of 1e-12 that scikit-learn stops at allows errors of its root in the coefficients.
    assert curve.coef == pytest.approx(expected.T, abs=1e-5)


def test_duplicated_columns_share_the_coefficient_of_one():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, -1.0, 0.0] + rng.normal(size=40)
    once = Lasso(0.1).fit(X, y)
    twice = Lasso(0.1).fit(np.hstack([X, X]), y)
    assert twice.converged_
    assert twice.coef_[:3] + twice.coef_[3:] == pytest.approx(once.coef_, abs=1e-10)
    assert np.abs(twice.coef_).sum() == pytest.approx(np.abs(once.coef_).sum(), abs=1e-10)
