"""Few features in place of a kernel: how near they come, and what kernel ridge makes of them."""

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel

from bottega.core.errors import InputError
from bottega.kernel import (
    GaussianKernel,
    KernelRidge,
    LaplacianKernel,
    LinearKernel,
    SigmoidKernel,
    SpectrumKernel,
    kernel_error,
    nystroem,
    random_fourier,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=400)


def test_nystroem_is_exact_at_its_landmarks():
    features = nystroem(GaussianKernel(0.2), X, 50)
    at = features(features.landmarks)
    # Directions of less than 1e-12 of the kernel are left out.
    assert at @ at.T == pytest.approx(rbf_kernel(features.landmarks, gamma=0.2), abs=1e-9)
    whole = nystroem(GaussianKernel(0.2), X, 400)
    assert kernel_error(GaussianKernel(0.2), whole, X) < 1e-9


def test_nystroem_errs_as_much_as_scikit_learns():
    errors = [kernel_error(GaussianKernel(0.2), nystroem(GaussianKernel(0.2), X, 40, s), X)
              for s in range(5)]  # fmt: skip
    K, theirs = rbf_kernel(X, gamma=0.2), []
    for seed in range(5):
        Z = Nystroem(gamma=0.2, n_components=40, random_state=seed).fit_transform(X)
        theirs.append(np.linalg.norm(K - Z @ Z.T) / np.linalg.norm(K))
    assert np.mean(errors) == pytest.approx(np.mean(theirs), rel=0.25)


def test_landmarks_do_not_depend_on_the_order_of_rows():
    order = RNG.permutation(400)
    here, there = nystroem(GaussianKernel(0.2), X, 9), nystroem(GaussianKernel(0.2), X[order], 9)
    assert {tuple(row) for row in here.landmarks} == {tuple(row) for row in there.landmarks}


@pytest.mark.parametrize("kernel", [GaussianKernel(0.2), LaplacianKernel(0.3)], ids=repr)
def test_random_waves_have_the_kernel_as_their_mean(kernel):
    K = kernel(X[:30])
    maps = [random_fourier(kernel, 3, 400, seed)(X[:30]) for seed in range(20)]
    mean = np.mean([Z @ Z.T for Z in maps], axis=0)
    # A mean of 4,000 cosines, whose variance is at most 1/2: a pair errs by five standard errors
    # with probability 6e-7, one of 435 with 3e-4.
    assert np.max(np.abs(mean - K)) < 5 * np.sqrt(0.5 / 4000)
    assert np.diag(mean) == pytest.approx(np.ones(30))


@pytest.mark.parametrize("how", ["nystroem", "fourier"])
def test_kernel_ridge_of_features(how):
    exact = KernelRidge(0.5, gamma=0.2).fit(X, Y)
    given = {"gamma": 0.2, "approximation": how}
    errors = []
    for count in (20, 100, 400):
        model = KernelRidge(0.5, n_components=count, **given).fit(X, Y)
        errors.append(model.approximation_error_)
        gap = np.abs(model.predict(X) - exact.predict(X)).max()
    assert errors[0] > errors[1] > errors[2]
    assert model.approximation_ == how
    if how == "nystroem":
        assert gap < 1e-6  # all rows are landmarks
    S = model.matrix(X[:20])
    assert pytest.approx(model.predict(X[:20])) == S @ Y
    i = 7
    rows = np.delete(np.arange(400), i)
    weight = np.ones(400)
    weight[i] = 0
    assert model.loo_residuals_.shape == (400,)
    if how == "fourier":  # the waves do not depend on the rows, so leaving one out is exact
        without = KernelRidge(0.5, n_components=400, **given).fit(X[rows], Y[rows])
        assert model.loo_residuals_[i] == pytest.approx(Y[i] - without.predict(X[[i]])[0])
        weighted = KernelRidge(0.5, n_components=400, **given).fit(X, Y, sample_weight=weight)
        assert weighted.predict(X[:9]) == pytest.approx(without.predict(X[:9]))
    with pytest.raises(AttributeError, match="few features"):
        _ = model.dual_coef_


def test_the_path_of_features_chooses():
    model = KernelRidge(approximation="nystroem", n_components=200, select="min").fit(X, Y)
    exact = KernelRidge(select="min").fit(X, Y)
    assert model.loo_ < 1.3 * exact.loo_
    assert 0 < model.approximation_error_ < 0.2
    assert exact.approximation_error_ == 0
    texts = ["".join(RNG.choice(list("ab"), 6)) for _ in range(30)]
    lengths = [text.count("a") for text in texts]
    few = KernelRidge(0.1, kernel=SpectrumKernel(1), approximation="nystroem", n_components=20)
    assert few.fit(texts, lengths).predict(["aaaaaa"])[0] == pytest.approx(6, abs=0.5)


def test_what_is_refused():
    with pytest.raises(InputError, match="not for LinearKernel"):
        random_fourier(LinearKernel(), 3)
    with pytest.raises(InputError, match="least eigenvalue is -"):
        nystroem(SigmoidKernel(1.0, -1.0), X, 20)
    with pytest.raises(InputError, match="n_components=0"):
        nystroem(LinearKernel(), X, 0)
