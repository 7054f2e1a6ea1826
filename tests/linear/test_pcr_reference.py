"""Principal components regression against R's pls::pcr and scikit-learn."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

from bottega.linear import PrincipalComponentsRegression

CASES = {
    case["name"]: case
    for case in json.loads(
        (Path(__file__).parents[1] / "reference" / "linear" / "pcr.json").read_text()
    )["cases"]
}
# Two backward-stable decompositions differ by the condition number of the inputs (up to 1e3 here)
# times rounding, and JSON keeps 15 digits.
TIGHT = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(params=[(name, scaled) for name in CASES for scaled in (True, False)], ids=str)
def case(request):
    name, scaled = request.param
    found = CASES[name]
    X, y = np.array(found["X"], dtype=float), np.array(found["y"], dtype=float)
    return X, y, scaled, found["scaled" if scaled else "unscaled"]


def test_coefficients_for_every_number_of_components_equal_pcr(case):
    X, y, scaled, expected = case
    theirs = np.array(expected["coef"])
    if scaled:  # pcr reports the coefficients of the inputs divided by their standard deviation
        theirs = theirs / X.std(axis=0, ddof=1)
    path = PrincipalComponentsRegression(standardize=scaled).path(X, y)
    most = expected["ncomp"]
    assert_allclose(path.coef[1 : most + 1], theirs, **TIGHT)
    for count in (1, most // 2, most):
        model = PrincipalComponentsRegression(count, standardize=scaled).fit(X, y)
        assert_allclose(model.coef_, theirs[count - 1], **TIGHT)
        assert_allclose(model.intercept_, expected["intercept"][count - 1], **TIGHT)
        assert_allclose(model.smoother_.fitted, expected["fitted"][count - 1], **TIGHT)
        assert_allclose(model.predict(X), expected["fitted"][count - 1], **TIGHT)
        assert_allclose(
            model.explained_variance_ratio_[:most], expected["explained"], rtol=1e-9, atol=1e-12
        )


def test_leave_one_out_equals_the_press_of_pcr(case):
    X, y, scaled, expected = case
    path = PrincipalComponentsRegression(standardize=scaled, cv="loo").path(X, y)
    assert path.estimate == "loo"
    press = np.concatenate([np.ravel(expected["press0"]), expected["press"]])
    assert_allclose(len(y) * path.error[: len(press)], press, rtol=1e-9)


def test_equals_scikit_learn_pca_and_least_squares():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 6)) @ rng.normal(size=(6, 6)), rng.normal(size=(40, 2))
    for count in range(1, 7):
        pca = PCA(count).fit(X)
        theirs = LinearRegression().fit(pca.transform(X), Y)
        ours = PrincipalComponentsRegression(count, standardize=False).fit(X, Y)
        assert_allclose(ours.predict(X), theirs.predict(pca.transform(X)), rtol=1e-9, atol=1e-11)
        # scikit-learn's variances have divisor n - 1.
        assert_allclose(ours.explained_variance_[:count] * 40 / 39, pca.explained_variance_)
        assert_allclose(np.abs(ours.rotation_.T), np.abs(pca.components_), rtol=1e-8, atol=1e-10)
