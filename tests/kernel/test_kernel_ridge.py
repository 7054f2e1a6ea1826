"""Kernel ridge regression: against R and scikit-learn, its leave-one-out, and other inputs."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge as ScikitLearns

from bottega.core.errors import InputError, NotKept, ParameterError
from bottega.kernel import FunctionKernel, KernelRidge, SigmoidKernel, SpectrumKernel
from bottega.linear import LeastSquares, Ridge

R = json.loads((Path(__file__).parents[1] / "reference/kernel/kernels.json").read_text())
RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(60, 3)), RNG.normal(size=(8, 3))
Y = np.sin(X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.1 * RNG.normal(size=60) + 5
WEIGHT = RNG.uniform(0.3, 2, 60)


def test_answers_are_those_of_a_gaussian_process_in_r():
    for alpha, expected in zip(R["alphas"], np.array(R["ridge"]).T, strict=True):
        model = KernelRidge(alpha, gamma=0.3, fit_intercept=False).fit(R["X"], R["y"])
        # Two ways to solve the same equations.
        assert model.predict(R["Z"]) == pytest.approx(expected, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian", "cosine"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
def test_answers_are_those_of_scikit_learn(kernel, weight):
    theirs = ScikitLearns(alpha=0.3, kernel=kernel, gamma=0.2).fit(X, Y, sample_weight=weight)
    given = {"kernel": kernel, "gamma": 0.2, "fit_intercept": False}
    ours = KernelRidge(0.3, **given).fit(X, Y, sample_weight=weight)
    assert ours.dual_coef_ == pytest.approx(theirs.dual_coef_, rel=1e-8, abs=1e-9)
    assert ours.predict(NEW) == pytest.approx(theirs.predict(NEW), rel=1e-9)
    rows = sparse.csr_array(X)
    assert KernelRidge(0.3, **given).fit(rows, Y, sample_weight=weight).predict(
        sparse.csr_array(NEW)
    ) == pytest.approx(ours.predict(NEW), rel=1e-9)


def test_functions_are_taken_as_scikit_learn_takes_them():
    def kernel(a, b, power=1):
        return float(1 + a @ b) ** power

    given = {"kernel": kernel, "kernel_params": {"power": 2}}
    theirs = ScikitLearns(alpha=0.5, **given).fit(X, Y).predict(NEW)
    ours = KernelRidge(0.5, fit_intercept=False, **given).fit(X, Y).predict(NEW)
    assert ours == pytest.approx(theirs)


def test_the_linear_kernel_gives_ridge_regression():
    """A83: y'(alpha I + K)^-1 k(x) with K = SS', not S'S as the notes print."""
    for intercept in (False, True):
        ridge = Ridge(0.7, standardize=False, fit_intercept=intercept).fit(X, Y, WEIGHT)
        model = KernelRidge(0.7, kernel="linear", fit_intercept=intercept).fit(X, Y, WEIGHT)
        assert model.predict(NEW) == pytest.approx(ridge.predict(NEW), rel=1e-10)
        assert model.df_ == pytest.approx(ridge.df_, rel=1e-9)
        assert model.leverage_ == pytest.approx(ridge.leverage_, rel=1e-8)
        assert model.predict(NEW, return_std=True)[1] == pytest.approx(
            ridge.predict(NEW, return_std=True)[1], rel=1e-8
        )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
def test_leave_one_out_is_exact(intercept, weight):
    model = KernelRidge(0.3, gamma=0.2, fit_intercept=intercept)
    fitted = model.fit(X, Y, sample_weight=weight)
    left = fitted.loo_residuals_
    for i in (0, 17, 59):
        rows = np.delete(np.arange(60), i)
        part = None if weight is None else weight[rows]
        other = KernelRidge(0.3, gamma=0.2, fit_intercept=intercept)
        expected = Y[i] - other.fit(X[rows], Y[rows], sample_weight=part).predict(X[[i]])[0]
        # The identity of ten digits that all linear smoothers are held to.
        assert left[i] == pytest.approx(expected, rel=1e-9, abs=1e-10)
    S = fitted.matrix(X)
    assert pytest.approx(fitted.predict(X)) == S @ Y
    assert np.diag(S) == pytest.approx(fitted.leverage_)
    assert np.trace(S) == pytest.approx(fitted.df_)
    assert fitted.smoother_.trace_sst == pytest.approx(np.sum(S * S.T))


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.floats(1e-3, 1e2))
def test_the_fit_is_the_least_point(seed, alpha):
    """No other coefficients have a lower penalised sum of squares."""
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(15, 2)), rng.normal(size=15)
    model = KernelRidge(alpha, gamma=0.5).fit(rows, y)
    K = model.kernel_(rows)

    def objective(c, b):
        return np.sum((y - b - K @ c) ** 2) + alpha * c @ K @ c

    least = objective(model.dual_coef_, model.intercept_)
    for _ in range(5):
        c = model.dual_coef_ + 0.01 * rng.normal(size=15)
        assert least <= objective(c, model.intercept_ + 0.01 * rng.normal()) + 1e-9


def test_one_penalty_of_many_rows_is_that_of_the_path():
    """A Cholesky factor and the eigenvectors give one answer."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(520, 2))
    y, w = rows[:, 0] ** 2 + rng.normal(size=520), rng.uniform(0.5, 2, 520)
    direct = KernelRidge(0.3, gamma=0.2).fit(rows, y, sample_weight=w)
    curve = KernelRidge(gamma=0.2, alphas=[0.3, 30.0]).path(rows, y, sample_weight=w)
    spectral = curve.at(1)
    assert spectral.alpha_ == 0.3
    assert direct.predict(rows[:9]) == pytest.approx(spectral.predict(rows[:9]), rel=1e-9)
    assert direct.leverage_ == pytest.approx(spectral.leverage_, abs=1e-10)
    for name in ("df", "trace_sst", "rss", "loo"):
        assert getattr(direct.smoother_, name) == pytest.approx(getattr(spectral.smoother_, name))
    assert curve.error[1] == pytest.approx(direct.loo_)


def test_gamma_is_chosen_with_alpha():
    model = KernelRidge(gamma="path", gammas=[0.01, 0.1, 10.0], alphas=10, select="min").fit(X, Y)
    assert len(model.path_) == 30
    each = {gamma: KernelRidge(gamma=gamma, alphas=10).path(X, Y) for gamma in (0.01, 0.1, 10.0)}
    least = {gamma: float(curve.error.min()) for gamma, curve in each.items()}
    best = min(least, key=least.get)
    assert model.gamma_ == best
    assert model.path_.error.min() == pytest.approx(least[best])
    listed = KernelRidge(gamma=[10.0, 0.01, 0.1], alphas=10, select="min").fit(X, Y)
    assert listed.path_.settings == model.path_.settings
    assert (listed.alpha_, listed.gamma_) == (model.alpha_, model.gamma_)
    only = KernelRidge(0.1, gamma="path", gammas=3, select="min").fit(X, Y)
    assert only.alpha_ == 0.1
    assert len(only.path_) == 3
    # The kernel of each fold has the gamma of the setting.
    judged = KernelRidge(gamma="path", gammas=[0.1, 1.0], alphas=4).path(X, Y, cv=3)
    again = KernelRidge(gamma=0.1, alphas=4).path(X, Y, cv=3, values=None)
    of_small = [i for i, setting in enumerate(judged.settings) if setting["gamma"] == 0.1]
    assert judged.error[of_small] == pytest.approx(again.error)


def test_several_responses_are_fitted_together():
    both = np.column_stack([Y, X[:, 2]])
    model = KernelRidge(0.3, gamma=0.2).fit(X, both)
    for k in range(2):
        alone = KernelRidge(0.3, gamma=0.2).fit(X, both[:, k])
        assert model.predict(NEW)[:, k] == pytest.approx(alone.predict(NEW))
        assert model.loo_residuals_[:, k] == pytest.approx(alone.loo_residuals_)
    curve = KernelRidge(gamma=0.2).path(X, both)
    each = [KernelRidge(gamma=0.2).path(X, both[:, k]).error for k in range(2)]
    assert curve.error == pytest.approx(np.mean(each, axis=0))
    with pytest.raises(NotKept, match="one response"):
        _ = model.expansion_


def test_a_matrix_computed_before_is_the_same_fit():
    rows = np.vstack([X, NEW])
    G = np.exp(-0.2 * np.sum((rows[:, None] - rows) ** 2, axis=2))
    weight = np.r_[np.zeros(4), WEIGHT[4:]]
    before = KernelRidge(kernel="precomputed").fit(G[:60, :60], Y, sample_weight=weight)
    same = KernelRidge(gamma=0.2).fit(X, Y, sample_weight=weight)
    assert before.predict(G[60:, :60]) == pytest.approx(same.predict(NEW))
    assert before.smoother_.fitted == pytest.approx(same.smoother_.fitted)
    folds = [KernelRidge(**given).path(rows, Y, cv=4).error for rows, given in (
        (G[:60, :60], {"kernel": "precomputed"}), (X, {"gamma": 0.2}))]  # fmt: skip
    assert folds[0] == pytest.approx(folds[1])
    with pytest.raises(InputError, match="square"):
        KernelRidge(kernel="precomputed").fit(G[:60, :50], Y)


def test_texts_have_a_kernel_too():
    texts = R["texts"]
    model = KernelRidge(0.5, kernel=SpectrumKernel(2)).fit(texts, np.arange(7.0))
    K = SpectrumKernel(2)(texts)
    before = KernelRidge(0.5, kernel="precomputed").fit(K, np.arange(7.0))
    assert model.predict(texts) == pytest.approx(before.predict(K))
    assert KernelRidge(0.5, kernel=SpectrumKernel(2)).fit(
        np.array(texts)[:, None], np.arange(7.0)
    ).predict(texts) == pytest.approx(model.predict(texts))
    with pytest.raises(InputError, match="7 objects and 6 responses"):
        model.fit(texts, np.arange(6.0))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha": -1.0}, "alpha=-1.0"),
        ({"gamma": 0.0}, "gamma=0.0"),
        ({"kernel": "rfb"}, "kernel='rfb'"),
        ({"kernel": "linear", "gamma": "path"}, "nothing to choose"),
        ({"kernel": "precomputed", "approximation": "nystroem"}, "the matrix alone"),
        ({"kernel": "linear", "approximation": "fourier"}, "not for LinearKernel"),
        ({"kernel": SigmoidKernel(1.0, -1.0)}, "least eigenvalue is -"),
        ({"kernel": "sigmoid", "coef0": -1.0, "alpha": 100.0}, "least eigenvalue is -"),
        ({"kernel": "poly", "degree": 3, "gamma": 1e200}, "beyond the range"),
        ({"kernel": FunctionKernel(lambda a, b: np.full((len(a), len(b)), np.nan))}, "beyond"),
    ],
    ids=lambda each: None if isinstance(each, dict) else each,
)
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        KernelRidge(**given).fit(X, Y)


def test_missing_numbers_and_other_widths_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        KernelRidge().fit(np.where(X > 2, np.nan, X), Y)
    model = KernelRidge(1.0).fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        model.predict(NEW[:, :2])
    with pytest.raises(ParameterError, match="values"):
        KernelRidge().path(X, Y, values=[])


@pytest.mark.parametrize("intercept", [True, False])
def test_the_tridiagonal_form_says_what_eigenvectors_say(intercept, monkeypatch):
    both = np.column_stack([Y, X[:, 2]])
    given = {"gamma": 0.2, "fit_intercept": intercept}
    eigen = KernelRidge(**given).path(X, both, sample_weight=WEIGHT)
    monkeypatch.setattr("bottega.kernel._ridge.decompose._FEW", 5)
    tri = KernelRidge(**given).path(X, both, sample_weight=WEIGHT)
    assert tri.values == pytest.approx(eigen.values, rel=1e-12)
    # The least penalty is 1e-9 of the kernel matrix, and costs so many digits.
    assert tri.error == pytest.approx(eigen.error, rel=1e-6)
    assert tri.train_error == pytest.approx(eigen.train_error, rel=1e-6)
    assert tri.df == pytest.approx(eigen.df, rel=1e-8)
    one, other = tri.at(25), eigen.at(25)
    assert one.dual_coef_ == pytest.approx(other.dual_coef_, rel=1e-7, abs=1e-9)
    assert one.leverage_ == pytest.approx(other.leverage_, rel=1e-9)


def test_without_a_penalty_it_is_least_squares():
    """A kernel matrix of rank 3: what is left of its other eigenvalues is rounding."""
    rng = np.random.default_rng(5)
    for n in (40, 320):
        rows = rng.normal(size=(n, 3))
        y = rows[:, 0] + rng.normal(size=n)
        model = KernelRidge(0.0, kernel="linear").fit(rows, y)
        plain = LeastSquares().fit(rows, y)
        assert model.df_ == pytest.approx(4)
        assert model.predict(NEW) == pytest.approx(plain.predict(NEW))
        assert model.loo_residuals_ == pytest.approx(plain.loo_residuals_)
