"""Kernels as objects: matrices against R and scikit-learn, algebra, maps, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import pairwise

from bottega.core.errors import InputError, ParameterError
from bottega.kernel import (
    ConstantKernel,
    FunctionKernel,
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    PrecomputedKernel,
    QuadraticFormKernel,
    SigmoidKernel,
    SpectrumKernel,
    get_kernel,
    resolve_gamma,
)

R = json.loads((Path(__file__).parents[1] / "reference/kernel/kernels.json").read_text())
RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(20, 3)), RNG.normal(size=(7, 3))
PLAIN = {
    "gaussian": GaussianKernel(0.3),
    "polynomial": PolynomialKernel(3, 0.5, 2.0),
    "linear": LinearKernel(),
    "sigmoid": SigmoidKernel(0.4, -0.2),
}


@pytest.mark.parametrize("name", PLAIN)
def test_matrices_are_those_of_kernlab(name):
    # The same products in another order.
    found = PLAIN[name](R["X"], R["Z"])
    assert found == pytest.approx(np.array(R["matrices"][name]), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("length", [2, 3])
def test_spectrum_is_that_of_kernlab(length):
    # kernlab ends each text by a mark that counts as a character.
    texts = [text + "\n" for text in R["texts"]]
    assert np.array_equal(SpectrumKernel(length)(texts), R["spectrum"][length - 2])
    if length == 2:
        cosine = SpectrumKernel(2).normalized()(texts)
        assert cosine == pytest.approx(np.array(R["normalized"]), abs=1e-14)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (get_kernel("rbf", gamma=0.3), pairwise.rbf_kernel(X, Z, gamma=0.3)),
        (get_kernel("laplacian", gamma=0.3), pairwise.laplacian_kernel(X, Z, gamma=0.3)),
        (get_kernel("cosine"), pairwise.cosine_similarity(X, Z)),
        (
            get_kernel("poly", gamma=0.3, degree=4, coef0=0.5),
            pairwise.polynomial_kernel(X, Z, degree=4, gamma=0.3, coef0=0.5),
        ),
    ],
    ids=lambda each: type(each).__name__,
)
def test_words_mean_what_they_mean_in_scikit_learn(kernel, expected):
    assert kernel(X, Z) == pytest.approx(expected, abs=1e-13)
    assert kernel(sparse.csr_array(X), sparse.csr_array(Z)) == pytest.approx(expected, abs=1e-13)
    assert kernel.diagonal(X) == pytest.approx(np.diag(kernel(X)), abs=1e-13)


def test_gamma_is_scikit_learns():
    assert resolve_gamma("scale", X) == pytest.approx(1 / (3 * X.var()), rel=1e-12)
    assert resolve_gamma("scale", sparse.csr_array(X)) == pytest.approx(1 / (3 * X.var()))
    assert resolve_gamma("auto", X) == resolve_gamma(None, X) == 1 / 3
    assert resolve_gamma("scale", np.ones((4, 2))) == 1.0
    # Whole numbers as weights are repeated rows.
    weight = np.arange(20) % 3 + 1
    assert resolve_gamma("scale", X, weight) == pytest.approx(
        resolve_gamma("scale", np.repeat(X, weight, axis=0)), rel=1e-12
    )


FINITE = {
    "sum": PolynomialKernel(2) + LinearKernel(),
    "product": PolynomialKernel(2) * LinearKernel(),
    "multiple": 2.5 * PolynomialKernel(2, 0.5, 0.3),
    "plus one": LinearKernel() + 1,
    "power": LinearKernel() ** 3,
    "homogeneous": PolynomialKernel(3, 0.7, 0.0),
    "after tanh": PolynomialKernel(2).after(np.tanh),
    "cosine": PolynomialKernel(2).after(np.tanh).normalized(),
    "form": QuadraticFormKernel(np.cov(X.T)),
    "constant": ConstantKernel(2.0),
}


@pytest.mark.parametrize("name", FINITE)
def test_finite_maps_have_the_kernel_as_inner_product(name):
    kernel = FINITE[name]
    found = kernel.feature_map(X) @ kernel.feature_map(Z).T
    assert found == pytest.approx(kernel(X, Z), rel=1e-11, abs=1e-11)
    assert kernel.diagonal(X) == pytest.approx(np.diag(kernel(X)), rel=1e-11)
    assert kernel.is_psd(X)


def test_six_monomials_of_two_inputs_or_seven_with_their_order():
    """A75, A76: x1 x2 and x2 x1 are one monomial with the factor sqrt(2), or two."""
    kernel, points = PolynomialKernel(2), np.array([[1.0, 2.0], [3.0, -1.0]])
    six, seven = kernel.feature_map(points), kernel.feature_map(points, distinct=False)
    assert (six.shape[1], seven.shape[1]) == (6, 7)
    a, b, root = 1.0, 2.0, np.sqrt(2)
    assert six[0] == pytest.approx([1, root * a, root * b, a**2, root * a * b, b**2])
    assert seven[0] == pytest.approx([1, root * a, root * b, a**2, a * b, a * b, b**2])
    # The printed expansion of the notes would give 3; the identity gives 4.
    assert six[0] @ six[1] == pytest.approx(4)
    assert seven[0] @ seven[1] == pytest.approx(4)


def test_the_gaussian_kernel_of_the_notes_has_gamma_below():
    """A79 divides by 2 gamma, M827 by 2 sigma^2: both are gamma = 1 / (2 width) here."""
    width = 0.8
    distance2 = np.sum((X[:, None] - Z) ** 2, axis=2)
    assert GaussianKernel(1 / (2 * width))(X, Z) == pytest.approx(np.exp(-distance2 / (2 * width)))
    assert np.array_equal(GaussianKernel(3.0).diagonal(X), np.ones(20))


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_the_algebra_keeps_kernels(seed):
    """M825: sums, products, multiples, compositions and x'Az have no negative eigenvalues."""
    rng = np.random.default_rng(seed)
    points, root = rng.normal(size=(12, 3)), rng.normal(size=(3, 3))
    simple = [
        GaussianKernel(float(rng.uniform(0.1, 2))),
        LaplacianKernel(float(rng.uniform(0.1, 2))),
        PolynomialKernel(int(rng.integers(1, 4))),
        QuadraticFormKernel(root @ root.T),
    ]
    a, b = (simple[i] for i in rng.integers(4, size=2))
    for kernel in (a + b, a * b, 0.3 * a, a.after(np.sin), (a + 2.0 * b).normalized()):
        check = kernel.is_psd(points)
        assert check, check.summary()
        assert kernel(points) == pytest.approx(kernel(points).T)


def test_what_is_no_kernel_is_told_by_its_least_eigenvalue():
    """M828: the sigmoid is in general none. A sample can refute only (A80)."""
    check = SigmoidKernel(1.0, -1.0).is_psd(X)
    assert not check
    assert check.least == pytest.approx(np.linalg.eigvalsh(SigmoidKernel(1.0, -1.0)(X))[0])
    assert "no feature map" in str(check)
    assert SigmoidKernel(1.0, -1.0).is_psd(2 * np.eye(2))
    with pytest.raises(InputError, match="not symmetric"):
        FunctionKernel(lambda a, b: a[:, :1] - b[:, :1].T).is_psd(X)
    with pytest.raises(ParameterError, match="negative eigenvalue -1"):
        QuadraticFormKernel([[0.0, 1.0], [1.0, 0.0]])


def test_points_far_from_the_origin_lose_no_digits():
    near, far = GaussianKernel(0.5)(X, Z), GaussianKernel(0.5)(X + 1e7, Z + 1e7)
    assert far == pytest.approx(near, abs=1e-7)
    assert np.array_equal(GaussianKernel(0.5)(np.full((1, 3), 1e200), Z), np.zeros((1, 7)))


def test_functions_of_pairs_tables_and_objects():
    by_table = FunctionKernel(lambda a, b: a @ b.T)
    by_pair = FunctionKernel(lambda a, b: float(a @ b), by_pair=True)
    for kernel in (by_table, by_pair):
        assert kernel(X, Z) == pytest.approx(X @ Z.T)
        assert kernel.diagonal(X) == pytest.approx(np.sum(X**2, axis=1))
    assert np.array_equal(PrecomputedKernel()(X @ X.T), X @ X.T)
    with pytest.raises(InputError, match="by_pair=True"):
        FunctionKernel(lambda a, b: float(a[0, 0] * b[0, 0]))(X)
    mixed = SpectrumKernel(2) + 1
    assert mixed(["ab", "b"]).tolist() == [[2.0, 1.0], [1.0, 1.0]]
    assert SpectrumKernel(2).normalized()(["ab", "b"]).tolist() == [[1.0, 0.0], [0.0, 0.0]]
    counts = SpectrumKernel(1).feature_map(["aab", "b"])
    assert counts.tolist() == [[2.0, 1.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaussianKernel(0.0), "gamma=0.0 is not allowed; gamma must be a number above 0"),
        (lambda: LaplacianKernel(-1.0), "gamma=-1.0"),
        (lambda: PolynomialKernel(0), "degree=0"),
        (lambda: PolynomialKernel(2, coef0=np.nan), "coef0=nan"),
        (lambda: -1.0 * LinearKernel(), "factor=-1.0"),
        (lambda: LinearKernel() ** -1, "the power must be 1, 2"),
        (lambda: LinearKernel() + SpectrumKernel(), "different kinds of points"),
        (lambda: get_kernel("rfb"), "Did you mean 'rbf'"),
        (lambda: get_kernel("rbf"), "depends on the rows"),
        (lambda: get_kernel("rbf", gamma="big", X=X), "gamma='big'"),
        (lambda: resolve_gamma("scale", X * 1e200), "overflow"),
        (lambda: LinearKernel()(X, Z[:, :2]), "X has 3 columns and Z has 2"),
        (lambda: LinearKernel()(X[:, 0]), "reshape"),
        (lambda: QuadraticFormKernel(np.eye(2))(X), "A is for 2 columns"),
        (lambda: GaussianKernel().feature_map(X), "no finite feature map"),
        (lambda: PolynomialKernel(9).feature_map(np.ones((2, 40))), "at most 100,000"),
        (lambda: PolynomialKernel(2, coef0=-1.0).feature_map(X), "is negative"),
        (lambda: SpectrumKernel(0), "length=0"),
        (lambda: SpectrumKernel()([1, 2]), "is for texts"),
        (lambda: SpectrumKernel()("text"), "a list of texts"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
