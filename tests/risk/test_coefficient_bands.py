"""Bands of coefficients along a path."""

import numpy as np
import pandas as pd
import pytest

from bottega.classify import LogisticRegression
from bottega.core.errors import InputError
from bottega.core.tuned import bare_path
from bottega.linear import Lasso, LeastSquares, Ridge
from bottega.risk import coefficient_bands


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    return X, 2 * X[:, 0] - X[:, 1] + rng.normal(size=150)


def test_without_a_penalty_the_bands_are_those_of_least_squares(sample):
    """The spread of 400 replicates has a standard error of 4 %; heteroscedastic errors are not
    assumed away by the bootstrap, so it may differ from the classical one by some more."""
    X, y = sample
    found = coefficient_bands(Ridge(), X, y, values=[1e4, 1e-9], n_resamples=400, level=0.95)
    fit = LeastSquares().fit(X, y).tidy()[1:]
    assert found.coef[-1] == pytest.approx(fit["estimate"].to_numpy(), abs=1e-6)
    width = found.upper[-1] - found.lower[-1]
    classical = (fit["conf_high"] - fit["conf_low"]).to_numpy()
    assert width == pytest.approx(classical, rel=0.25)
    assert np.all(found.upper[0] - found.lower[0] < 0.2 * width)


def test_a_lasso_keeps_what_matters_in_every_replicate(sample):
    X, y = sample
    frame = pd.DataFrame(X, columns=["big", "small", "none"])
    found = coefficient_bands(Lasso(), frame, y, values=[1.0, 0.3, 0.1], n_resamples=50)
    assert found.nonzero[:, 0].min() == 1
    assert found.nonzero[1, 2] < 0.2
    table = found.tidy()
    assert len(table) == 9
    assert set(table["term"]) == {"big", "small", "none"}
    rows = found.plot().to_dict()["data"]["values"]
    assert all(row["low"] <= row["coef"] <= row["high"] for row in rows)
    assert "conf_low" in str(found)
    again = coefficient_bands(Lasso(), frame, y, values=[1.0, 0.3, 0.1], n_resamples=50)
    assert np.array_equal(again.lower, found.lower)


def test_classes_have_coefficients_of_their_own(sample):
    X, y = sample
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-1, 1])]
    model = LogisticRegression(alpha="auto", select="bic")
    options = {"values": [0.1, 0.01], "n_resamples": 10}
    found = coefficient_bands(model, X, labels, label="high", **options)
    assert found.coef.shape == (2, 3)
    assert found.coef[1, 0] > 0 > found.coef[1, 1]
    with pytest.raises(InputError, match="say whose coefficients"):
        coefficient_bands(model, X, labels, **options)


def test_a_bare_path_has_the_coefficients_of_the_path(sample):
    X, y = sample
    curve = Ridge().path(X, y)
    bare = bare_path(Ridge(), X, y, values=curve.values)
    assert bare.coef == pytest.approx(curve.coef)


def test_bad_input_is_refused(sample):
    X, y = sample
    for model, options, says in (
        (LeastSquares(), {}, "no path over a knob"),
        (Ridge(), {"level": 2}, "level=2"),
        (Ridge(), {"n_resamples": 1}, "n_resamples=1"),
    ):
        with pytest.raises(InputError, match=says):
            coefficient_bands(model, X, y, **options)
