"""Kernel methods at the ends: large costs, vanishing kernels, two rows; and their results."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from bottega.core.errors import InputError, ParameterError
from bottega.kernel import (
    KernelPerceptron,
    KernelRidge,
    LinearSVM,
    SupportVectorClassifier,
    SupportVectorRegressor,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + 0.1 * RNG.normal(size=60)
TWO = np.where(X[:, 0] + 0.7 * RNG.normal(size=60) > 0, "yes", "no")
THREE = np.digitize(X[:, 0], [-0.4, 0.4])


@pytest.mark.parametrize("C", [1e5, 1e6, 1e8])
def test_linear_machines_of_large_cost_reach_their_minimum(C):
    """The classes overlap, so that the objective grows with C: the hinge of the others is least."""
    model = SupportVectorClassifier(C, kernel="linear", probability=False).fit(X, TWO)
    assert model.converged_
    assert model.primal_objective_ == pytest.approx(model.dual_objective_, rel=1e-6)
    least = SupportVectorClassifier(1e4, kernel="linear", probability=False).fit(X, TWO)
    assert_allclose(model.coef_, least.coef_, rtol=0.05)
    if C <= 1e6:
        assert SupportVectorRegressor(C, kernel="linear", epsilon=0.01).fit(X, Y).converged_


@pytest.mark.parametrize("unit", [1e-150, 1e-200, 1e-300])
@pytest.mark.parametrize("alpha", ["auto", 1.0])
def test_a_linear_kernel_lost_in_the_smallest_numbers_is_refused(unit, alpha):
    with pytest.raises(InputError, match="scale near one"):
        KernelRidge(alpha, kernel="linear").fit(X * unit, Y)


def test_small_units_and_inputs_that_are_zero_are_taken():
    small, usual = (KernelRidge(kernel="linear").fit(X * u, Y).predict(X * u) for u in (1e-100, 1))
    assert_allclose(small, usual)
    assert_allclose(KernelRidge(kernel="linear").fit(0 * X, Y).predict(X), Y.mean())


def test_of_two_rows_the_penalty_is_the_strongest():
    """Each row is predicted by the other one: all penalties are equally good."""
    model = KernelRidge(select="min").fit(X[:2], Y[:2])
    assert model.alpha_ == model.path_.values[0]
    assert np.all(model.path_.error == model.path_.error[0])
    assert model.path_.error[0] == pytest.approx((Y[0] - Y[1]) ** 2)


# ---- one word, one meaning -----------------------------------------------------------------------


def test_gamma_auto_is_one_over_the_columns_and_path_chooses():
    for each in (KernelRidge(1.0), SupportVectorRegressor(1.0), KernelPerceptron()):
        y = TWO if isinstance(each, KernelPerceptron) else Y
        assert each.set_params(gamma="auto").fit(X, y).kernel_.gamma == pytest.approx(1 / 3)
    for each, y in ((SupportVectorClassifier(1.0, cv=3), TWO), (KernelRidge(1.0, gammas=5), Y)):
        model = each.set_params(gamma="path").fit(X, y)
        tried = sorted({setting["gamma"] for setting in model.path_.settings})
        assert_allclose(np.array(tried) / tried[0], 4.0 ** np.arange(5))
        assert model.gamma_ in tried
    both = SupportVectorClassifier("auto", gamma="path", Cs=3, cv=3, probability=False).fit(X, TWO)
    assert len(both.path_) == 15
    with pytest.raises(ParameterError, match="nothing to choose"):
        SupportVectorClassifier(kernel="linear", gamma="path").fit(X, TWO)


# ---- results -------------------------------------------------------------------------------------


def test_kernel_ridge_shows_what_it_uses():
    model = KernelRidge(0.5, gamma=0.25).fit(X, Y)
    row = model.glance()
    assert (row["alpha"][0], row["gamma"][0]) == (0.5, 0.25)
    assert "gamma" in str(model.summary())
    assert "gamma" not in KernelRidge(0.5, kernel="linear").fit(X, Y).glance().columns


@pytest.mark.parametrize(("y", "scores"), [(TWO, 1), (THREE, 3)])
def test_terms_of_a_linear_machine(y, scores):
    model = LinearSVM().fit(X, y)
    terms = model.tidy()
    assert len(terms) == 4 * scores
    estimate = terms["estimate"].to_numpy().reshape(scores, 4)
    assert_allclose(estimate[:, 0], model.intercept_)
    assert_allclose(estimate[:, 1:], model.coef_)
    assert terms["std_error"].isna().all()
    row = model.glance()
    assert (row["nobs"][0], row["C"][0]) == (60, 1.0)
    assert row["n_support"][0] == model.n_support_.sum()
    assert "no standard errors" in str(model.summary())


@pytest.mark.parametrize(("y", "scores"), [(TWO, 1), (THREE, 3)])
def test_terms_of_a_kernel_perceptron_are_rows(y, scores):
    model = KernelPerceptron().fit(X, y)
    terms = model.tidy()
    assert len(terms) == len(model.support_) * scores
    assert terms["term"][0] == f"row {model.support_[0]}"
    assert_allclose(terms["estimate"], model.dual_coef_.T.ravel())
    assert model.glance()["n_updates"][0] == model.n_updates_
    assert "Kernel perceptron" in str(model.summary())


def test_probabilities_asked_of_a_machine_that_was_fitted_without():
    model = SupportVectorClassifier(probability=False).fit(X, TWO)
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(X)
    with pytest.raises(NotFittedError, match="fitted with probability=False"):
        model.set_params(probability=True).predict_proba(X)
