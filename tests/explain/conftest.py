import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from bottega.core.errors import DataWarning
from bottega.core.folds import make_folds
from bottega.core.frames import take_rows
from bottega.data import Table
from bottega.data.prepare import prepare


class Known(RegressorMixin, BaseEstimator):
    """A model given beforehand: any function of the matrix of inputs."""

    def __init__(self, function=None):
        self.function = function

    def predict(self, X):
        return np.asarray(self.function(np.asarray(X, dtype=float)), dtype=float)


class KnownShare(ClassifierMixin, BaseEstimator):
    """A classifier given beforehand: a function of the inputs is the probability of the second."""

    def __init__(self, function=None, classes=("no", "yes")):
        self.function = function
        self.classes = classes

    @property
    def classes_(self):
        return np.array(self.classes)

    def predict_proba(self, X):
        share = np.asarray(self.function(np.asarray(X, dtype=float)), dtype=float)
        return np.column_stack([1 - share, share])

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


@pytest.fixture
def known():
    return SimpleNamespace(number=Known, share=KnownShare)


@pytest.fixture
def fits_of():
    """Fit an estimator of the catalogue, behind its encoder, without each of K folds."""

    def make(estimator, table, k=5):
        def fitted(train):
            model = prepare(type(estimator)(**estimator.get_params()), table)
            if model.steps[0][0] == "encode":
                model.steps[0][1].set_params(handle_unknown="ignore")
            with warnings.catch_warnings():  # levels are collinear with the intercept
                warnings.simplefilter("ignore", DataWarning)
                return model.fit(take_rows(table.X, train), table.y[train])

        return [
            (fitted(train), take_rows(table.X, test), table.y[test], None)
            for train, test in make_folds(k, table.n_rows)
        ]

    return make


@pytest.fixture(scope="session")
def mixed():
    """Numbers, a category, a truth value, missing values; price follows size, area and colour."""
    rng = np.random.default_rng(0)
    n = 200
    size = rng.normal(10, 2, n)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.uniform(size=n) < 0.05, np.nan, size),
            "area": rng.integers(0, 5, n),
            "colour": rng.choice(["red", "green", "blue"], n, p=[0.5, 0.3, 0.2]),
            "new": rng.uniform(size=n) < 0.4,
            "noise": rng.normal(size=n),
        }
    )
    frame["price"] = (
        3 * size + 2 * frame["area"] + 8 * (frame["colour"] == "red") + rng.normal(size=n)
    )
    return Table(frame, target="price")
