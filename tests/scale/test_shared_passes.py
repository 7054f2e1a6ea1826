"""Every pass over the rows is made by the workers: this process looks at the first part only."""

import numpy as np
import pytest
from sklearn.base import clone

from bottega import scale
from bottega.additive import AdditiveClassifier, AdditiveModel
from bottega.classify import (
    IndicatorRegression,
    LinearDiscriminant,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminant,
)
from bottega.cluster import GaussianMixture, KMeans
from bottega.core import chunks
from bottega.core.deal import MOST_ORDERED
from bottega.core.parts import RowSource
from bottega.latent import PCA, FactorAnalysis, ProbabilisticPCA
from bottega.linear import (
    ElasticNet,
    Lasso,
    LeastSquares,
    PrincipalComponentsRegression,
    Ridge,
)

pytestmark = pytest.mark.slow  # processes start and import the package

PARTS, ROWS = 6, 60
READ = []  # the parts that this process has read


class PartRows(RowSource):
    """Rows of several parts, as in files: numbers or labels to predict, or values missing."""

    in_files = True

    def __init__(self, kind, numbers=range(PARTS)):
        self.kind, self.numbers = kind, numbers

    def __iter__(self):
        for number in self.numbers:
            READ.append(number)
            yield from self.chunks_of(number)

    def chunks_of(self, number):
        rng = np.random.default_rng(number)
        X = rng.normal(size=(ROWS, 4)) + 3.0 * rng.integers(2, size=(ROWS, 1))
        y = X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=ROWS)
        if self.kind == "labels":
            y = np.digitize(y, [-2.0, 0.0])
        if self.kind == "counts":
            y = rng.poisson(np.exp(0.1 * X[:, 0] + 0.5)).astype(float)
        if self.kind == "gaps":
            X[:, 1:][rng.random((ROWS, 3)) < 0.1] = np.nan
        given = [(X[rows], y[rows]) for rows in (slice(25), slice(25, ROWS))]
        return [X for X, _ in given] if self.kind in ("gaps", "inputs") else given

    def responses(self):
        for number in self.numbers:
            READ.append(number)
            for chunk in self.chunks_of(number):
                yield (chunk[1] if isinstance(chunk, tuple) else None), None

    def parts(self):
        return [PartRows(self.kind, [number]) for number in self.numbers]


MODELS = [
    (LeastSquares(), "numbers"),
    (Ridge(), "numbers"),
    (Ridge(alpha=1.0, positive=True), "numbers"),
    (PrincipalComponentsRegression(), "numbers"),
    (Lasso(), "numbers"),
    (ElasticNet(cv=3), "numbers"),
    (AdditiveModel(), "numbers"),
    (AdditiveModel(family="poisson"), "counts"),
    (AdditiveClassifier(), "labels"),
    (LinearDiscriminant(), "labels"),
    (LinearDiscriminant(covariance="robust", shrinkage=0), "labels"),
    (LinearDiscriminant(shrinkage="ledoit_wolf"), "labels"),
    (QuadraticDiscriminant(), "labels"),
    (NaiveBayes(), "labels"),
    (IndicatorRegression(), "labels"),
    (LogisticRegression(alpha="auto", alphas=3, cv=2), "labels"),
    (LogisticRegression(alpha=1.0, class_weight="balanced"), "labels"),
    (PCA(2), "inputs"),
    (ProbabilisticPCA(2), "gaps"),
    (FactorAnalysis(1), "inputs"),
    (KMeans(2, random_state=0), "inputs"),
    (GaussianMixture(2, random_state=0), "gaps"),
]
LEARNED = (
    *("coef_", "intercept_", "means_", "components_", "loadings_", "cluster_centers_", "theta_"),
    *("confusion_", "covariances_", "inertia_", "converged_"),
)


@pytest.mark.parametrize(
    ("model", "kind"), MODELS, ids=[str(model).replace("\n", "") for model, _ in MODELS]
)
@pytest.mark.parametrize("most", [ROWS, MOST_ORDERED], ids=["by number", "by content"])
def test_workers_make_every_pass(model, kind, most, cluster, by_value, monkeypatch):
    monkeypatch.setattr(chunks, "MOST_ORDERED", most)  # up to which folds are dealt by the content
    here = clone(model).fit(PartRows(kind))
    READ.clear()
    with scale.on(cluster):
        there = clone(model).fit(PartRows(kind))
    assert set(READ) <= {0}  # whose first chunk tells the columns, and the classes
    compared = 0
    for name in LEARNED:
        if hasattr(here, name):
            compared += 1
            one, other = getattr(here, name), getattr(there, name)
            np.testing.assert_allclose(other, one, rtol=1e-7, atol=1e-9, err_msg=name)
    assert compared
