"""Logistic regression against R's glmnet, two classes and three."""

import json
from pathlib import Path

import numpy as np
import pytest

from bottega.classify import LogisticRegression

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "linear" / "glmnet.json").read_text()
)


@pytest.mark.parametrize("case", REFERENCE["logistic"])
def test_glmnet_at_given_penalties(case):
    X, y = np.array(case["X"]), np.array(case["y"])
    for k, alpha in enumerate(case["alphas"]):
        model = LogisticRegression(alpha=alpha, l1_ratio=case["l1_ratio"], tol=1e-12).fit(X, y)
        assert model.converged_
        # glmnet reaches about 1e-8 here. Three classes have one median, so the coefficients,
        # free up to a number added to all classes, are unique.
        assert model.coef_ == pytest.approx(np.array(case["coef"])[:, k], abs=1e-6)
        intercept = np.array(case["intercept"])[:, k]
        if len(intercept) > 1:
            intercept = intercept - intercept.mean()
        assert model.intercept_ == pytest.approx(intercept, abs=1e-6)
        chosen = model.predict_proba(X)[np.arange(len(y)), y]
        assert -2 * np.log(chosen).sum() == pytest.approx(case["deviance"][k], rel=1e-6)
