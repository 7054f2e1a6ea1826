"""Every link of every family, and classes, against mgcv.

mgcv's P-splines have their outermost knots a thousandth of the range outside of the data, ours at
the data: the fits differ in the fourth digit.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bottega.additive import AdditiveClassifier, AdditiveModel

FOLDER = Path(__file__).parents[1] / "reference" / "additive"
REFERENCE = json.loads((FOLDER / "links.json").read_text())
DATA = pd.DataFrame(REFERENCE["data"])
X, ROWS = DATA[["x0", "x1"]], np.array(REFERENCE["rows"]) - 1
CASES = {
    "binomial_probit": ("binary", {"family": "binomial", "link": "probit"}),
    "binomial_cloglog": ("binary", {"family": "binomial", "link": "cloglog"}),
    "poisson_sqrt": ("count", {"family": "poisson", "link": "sqrt"}),
    "poisson_identity": ("count", {"family": "poisson", "link": "identity"}),
    "gamma_inverse": ("positive", {"family": "gamma", "link": "inverse"}),
    "gamma_identity": ("positive", {"family": "gamma", "link": "identity"}),
    "gaussian_log": ("positive", {"family": "gaussian", "link": "log"}),
    "poisson_gcv": ("count", {"family": "poisson", "method": "ubre"}),
}


@pytest.mark.parametrize("name", CASES)
def test_links_agree_with_mgcv(name):
    expected = REFERENCE["fits"][name]
    response, given = CASES[name]
    model = AdditiveModel(n_splines=10, **given).fit(X, DATA[response])
    fit = model.fit_
    assert fit.score == pytest.approx(expected["score"], rel=1e-3, abs=1e-4)
    assert fit.block_df()[1:] == pytest.approx(expected["edf"], abs=0.1)
    fitted = np.array(expected["fitted"])
    assert model.predict(X.iloc[ROWS]) == pytest.approx(fitted, abs=0.01 * np.ptp(fitted))
    assert fit.deviance == pytest.approx(expected["deviance"], rel=2e-3)


def test_classes_are_estimated_as_by_mgcv():
    # mgcv penalises differences from the first class, each with a parameter of its own; ours are
    # the same whichever class is the first: the two estimate the same probabilities, no more.
    expected = REFERENCE["fits"]["classes"]
    model = AdditiveClassifier(n_splines=10).fit(X, DATA["code"])
    assert model.fit_.deviance == pytest.approx(expected["deviance"], rel=0.02)
    gap = np.abs(model.predict_proba(X.iloc[ROWS]) - np.array(expected["fitted"]))
    assert gap.mean() < 0.02
