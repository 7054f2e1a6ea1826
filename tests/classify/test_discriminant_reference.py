"""Discriminants against MASS, against regularised discriminants by hand, and against formulas."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf, oas
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from bottega.classify import LinearDiscriminant, QuadraticDiscriminant
from bottega.core.errors import DataWarning

MASS = json.loads((Path(__file__).parents[1] / "reference/classify/discriminant.json").read_text())
X, Y, NEW = np.array(MASS["X"]), np.array(MASS["y"]), np.array(MASS["new"])
PRIOR = MASS["prior"]


@pytest.mark.parametrize(("key", "priors"), [("lda", None), ("lda_prior", PRIOR)])
def test_linear_discriminant_is_that_of_mass(key, priors):
    expected = MASS[key]
    model = LinearDiscriminant(shrinkage=0, priors=priors).fit(X, Y)
    # Both are direct: what differs is rounding.
    assert model.predict_proba(NEW) == pytest.approx(np.array(expected["posterior"]), abs=1e-10)
    assert model.predict(NEW).tolist() == expected["class"]
    assert model.means_ == pytest.approx(np.array(expected["means"]), rel=1e-12)
    scaling, coordinates = np.array(expected["scaling"]), np.array(expected["coordinates"])
    sign = np.sign(np.sum(scaling * model.scalings_, axis=0))  # free
    assert model.scalings_ * sign == pytest.approx(scaling, rel=1e-9)
    assert model.transform(NEW) * sign == pytest.approx(coordinates, rel=1e-9, abs=1e-9)
    svd = np.array(expected["svd"])
    assert model.explained_variance_ratio_ == pytest.approx(svd**2 / np.sum(svd**2), rel=1e-9)


def test_collinear_inputs_are_left_out_as_mass_does():
    wide, new = (np.column_stack([Z, Z[:, 0] + Z[:, 1]]) for Z in (X, NEW))
    with pytest.warns(DataWarning, match="vary within classes in 4 of 5 directions"):
        model = LinearDiscriminant(shrinkage=0).fit(wide, Y)
    assert model.predict_proba(new) == pytest.approx(np.array(MASS["lda_collinear"]), abs=1e-8)


@pytest.mark.parametrize(("key", "priors"), [("qda", None), ("qda_prior", PRIOR)])
def test_quadratic_discriminant_is_that_of_mass(key, priors):
    expected = MASS[key]
    model = QuadraticDiscriminant(pooling=0, priors=priors).fit(X, Y)
    assert model.predict_proba(NEW) == pytest.approx(np.array(expected["posterior"]), abs=1e-10)
    assert model.predict(NEW).tolist() == expected["class"]
    if "ldet" in expected:
        log_det = np.linalg.slogdet(model.covariance_)[1]
        assert log_det == pytest.approx(expected["ldet"], rel=1e-10)


def test_axes_of_the_classes_are_those_of_scikit_learn():
    ours = QuadraticDiscriminant(pooling=0).fit(X, Y)
    theirs = QuadraticDiscriminantAnalysis().fit(X, Y)
    both = (ours, theirs)
    for k in range(len(ours.classes_)):
        # scikit-learn divides squares by n - 1 up to 1.8, then by n; MASS and ours by n - 1.
        ours_share, their_share = (each.scalings_[k] / sum(each.scalings_[k]) for each in both)
        assert ours_share == pytest.approx(their_share, rel=1e-9)
        axes = ours.rotations_[k]
        sign = np.sign(np.sum(axes * theirs.rotations_[k], axis=0))  # free
        assert axes * sign == pytest.approx(theirs.rotations_[k], abs=1e-8)
    shrunk = QuadraticDiscriminant(pooling=0.3, shrinkage=0.2).fit(X, Y)
    made = [(R * v) @ R.T for R, v in zip(shrunk.rotations_, shrunk.scalings_, strict=True)]
    assert np.array(made) == pytest.approx(shrunk.covariance_, abs=1e-12)


def test_robust_means_and_directions_are_near_those_of_mass():
    """MASS stops its iteration early, when weights change by less than about a hundredth."""
    model = LinearDiscriminant(0, covariance="robust").fit(np.array(MASS["outlying"]), Y)
    assert model.means_ == pytest.approx(np.array(MASS["robust"]["means"]), abs=5e-3)
    theirs = np.array(MASS["robust"]["scaling"])
    cosine = np.sum(theirs * model.scalings_, axis=0)
    cosine /= np.linalg.norm(theirs, axis=0) * np.linalg.norm(model.scalings_, axis=0)
    assert np.abs(cosine) == pytest.approx(np.ones(2), abs=1e-3)


def within(labels=Y, rows=X):
    """Return the scatter of each class, and its size."""
    parts = [rows[labels == label] for label in np.unique(labels)]
    return [(Z - Z.mean(axis=0)).T @ (Z - Z.mean(axis=0)) for Z in parts], list(map(len, parts))


@pytest.mark.parametrize("pooling", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("shrinkage", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("standardize", [False, True])
def test_regularised_discriminant_is_friedmans(pooling, shrinkage, standardize):
    scatters, sizes = within()
    n, K, p = len(X), 3, X.shape[1]
    total = sum(scatters)
    unit = np.sqrt(np.diag(total) / (n - K)) if standardize else np.ones(p)
    scores = []
    for scatter, size, label in zip(scatters, sizes, np.unique(Y), strict=True):
        mixed = (1 - pooling) * scatter + pooling * total
        mixed = mixed / ((1 - pooling) * (size - 1) + pooling * (n - K))
        mixed = mixed / np.outer(unit, unit)
        mixed = (1 - shrinkage) * mixed + shrinkage * np.trace(mixed) / p * np.eye(p)
        gap = (NEW - X[label == Y].mean(axis=0)) / unit
        square = np.sum(gap @ np.linalg.inv(mixed) * gap, axis=1)
        scores.append(np.log(size / n) - 0.5 * (square + np.linalg.slogdet(mixed)[1]))
    expected = np.exp(np.array(scores) - np.max(scores, axis=0))
    model = QuadraticDiscriminant(pooling, shrinkage=shrinkage, standardize=standardize)
    found = model.fit(X, Y).predict_proba(NEW)
    assert found == pytest.approx((expected / expected.sum(axis=0)).T, abs=1e-10)
    by_path = model._predictions(
        model._prepare(model._read(X, Y, None)),
        [{"pooling": pooling, "shrinkage": shrinkage}],
        NEW,
        "predict_proba",
    )
    assert by_path[:, 0] == pytest.approx(found, abs=1e-10)


@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0])
def test_shrunk_covariance_gives_the_scores_of_bayes_rule(shrinkage):
    scatters, sizes = within()
    S = sum(scatters) / (len(X) - 3)
    sigma = (1 - shrinkage) * S + shrinkage * np.diag(np.diag(S))
    inverse = np.linalg.inv(sigma)
    means = np.array([X[label == Y].mean(axis=0) for label in np.unique(Y)])
    # The corrected form: log pi, where the notes print log mu.
    delta = NEW @ inverse @ means.T - 0.5 * np.sum(means @ inverse * means, axis=1)
    delta = delta + np.log(np.array(sizes) / len(X))
    model = LinearDiscriminant(shrinkage).fit(X, Y)
    assert model.covariance_ == pytest.approx(sigma, rel=1e-12)
    gap = model.decision_function(NEW) - delta  # a constant per row
    assert gap - gap[:, :1] == pytest.approx(np.zeros_like(gap), abs=1e-9)
    assert NEW @ model.coef_.T + model.intercept_ == pytest.approx(model.decision_function(NEW))


def test_shrinkage_by_formula_is_that_of_scikit_learn_on_residuals():
    residuals = X - np.array([X[label == Y].mean(axis=0) for label in Y])
    unit = residuals / np.sqrt(np.mean(residuals**2, axis=0))
    expected = ledoit_wolf(unit, assume_centered=True)[1]
    assert LinearDiscriminant("ledoit_wolf").fit(X, Y).shrinkage_ == pytest.approx(expected)
    expected = oas(unit, assume_centered=True)[1]
    assert LinearDiscriminant("oas").fit(X, Y).shrinkage_ == pytest.approx(expected)
