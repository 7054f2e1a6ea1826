"""Mixtures against R mclust and scikit-learn, from the same starts."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture as Peer

from bottega.cluster import GaussianMixture

REFERENCE = json.loads((Path(__file__).parents[1] / "reference/cluster/mixture.json").read_text())
CASES = [(data, family) for data in ("iris", "faithful") for family in REFERENCE[data]["fits"]]


def start(data, family, **options):
    case = REFERENCE[data]
    model = GaussianMixture(
        case["k"], covariance_type=family, init_params=np.array(case["labels"]), **options
    )
    return model, np.array(case["X"]), case["fits"][family]


@pytest.mark.parametrize(("data", "family"), CASES)
def test_maximum_of_every_family_is_that_of_mclust(data, family):
    model, X, expected = start(data, family, tol=1e-13, max_iter=20_000)
    model.fit(X)
    assert model.n_parameters_ == expected["df"]
    assert model.bic(X) == pytest.approx(model.bic_, rel=1e-10)
    assert model.icl(X) == pytest.approx(model.icl_, rel=1e-10)
    if family == "VVE":
        # mclust stops its search for common axes before the maximum; ours is higher, by up to 1.2.
        assert 0 <= model.log_likelihood_ - expected["loglik"] < 1.5
        return
    # Both stop where an iteration raises the log-likelihood by less than 1e-13 of it; the
    # parameters, in which it is flat at the top, agree to the root of that.
    assert model.log_likelihood_ == pytest.approx(expected["loglik"], rel=1e-9)
    assert -model.bic_ == pytest.approx(expected["bic"], rel=1e-9)
    assert -model.icl_ == pytest.approx(expected["icl"], rel=1e-6)
    assert model.weights_ == pytest.approx(np.array(expected["pro"]), abs=1e-5)
    assert model.means_ == pytest.approx(np.array(expected["mean"]), rel=1e-5)
    sigma = np.array(expected["sigma"])
    assert model.covariances_ == pytest.approx(sigma, abs=1e-5 * np.abs(sigma).max())


@pytest.mark.parametrize(("data", "family"), CASES)
def test_supervised_estimate_is_the_m_step_of_mclust(data, family):
    """With known components the maximum is in one step: class means, covariances, frequencies."""
    model, X, expected = start(data, family, max_iter=1, tol=1e9)
    model.fit(X)
    weights, means, covariances = model._start
    labels = np.array(REFERENCE[data]["labels"])
    assert weights == pytest.approx(np.unique(labels, return_counts=True)[1] / len(X))
    assert means == pytest.approx(np.array(expected["mstep_mean"]), rel=1e-9)
    sigma = np.array(expected["mstep_sigma"])
    # Alternations inside M steps stop at 1e-5 of the criterion in mclust's mstep by default.
    slack = {"VEI": 1e-6, "VEV": 1e-6, "VEE": 1e-3, "EVE": 1e-3, "VVE": 0.1}.get(family, 1e-9)
    assert covariances == pytest.approx(sigma, rel=slack, abs=slack * np.abs(sigma).max())


def test_supervised_estimate_by_hand():
    X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 3.0], [10.0, 10.0], [12.0, 14.0], [11.0, 9.0]])
    model = GaussianMixture(2, init_params=[0, 0, 0, 1, 1, 1], max_iter=1, tol=1e9).fit(X)
    weights, means, covariances = model._start
    assert weights == pytest.approx([0.5, 0.5])
    assert means == pytest.approx(np.array([[1, 1], [11, 11]]))
    # Sums of squares about the means, over 3: (1 + 1 + 0)/3, (1 + 1 + 4)/3, (1 - 1 + 0)/3 ...
    assert covariances[0] == pytest.approx(np.array([[2 / 3, 0], [0, 2]]), abs=1e-12)
    assert covariances[1] == pytest.approx(np.array([[2 / 3, 4 / 3], [4 / 3, 14 / 3]]))


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_same_start_and_iterations_as_scikit_learn(kind):
    X = load_iris().data
    rng = np.random.default_rng(3)
    means = X[rng.choice(150, 3, replace=False)]
    precision = np.linalg.inv(np.cov(X.T))
    given = {
        "full": np.repeat(precision[None], 3, axis=0),
        "tied": precision,
        "diag": np.repeat(np.diag(precision)[None], 3, axis=0),
        "spherical": np.full(3, precision[0, 0]),
    }[kind]
    options = {
        "covariance_type": kind,
        "weights_init": np.array([0.2, 0.5, 0.3]),
        "means_init": means,
        "precisions_init": given,
        "max_iter": 7,
        "tol": 0.0,
    }
    with pytest.warns(Warning, match="did not converge"):
        ours = GaussianMixture(3, **options).fit(X)
    with pytest.warns(Warning, match="did not converge"):
        theirs = Peer(3, reg_covar=0.0, **options).fit(X)
    assert ours.n_iter_ == theirs.n_iter_ == 7
    # After seven iterations only the order of the sums differs.
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-9)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        assert getattr(ours, name).shape == getattr(theirs, name).shape
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-6, abs=1e-8)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-8)
    assert ours.score_samples(X) == pytest.approx(theirs.score_samples(X), rel=1e-8)
    assert ours.bic(X) == pytest.approx(theirs.bic(X))
    assert ours.aic(X) == pytest.approx(theirs.aic(X))
    assert np.array_equal(ours.predict(X), theirs.predict(X))
