"""Worked numbers of the chapters on support vectors and kernels, with misprints corrected."""

from math import comb

import numpy as np
import pytest
from scipy import optimize

from bottega import course
from bottega.classify import hyperplane
from bottega.course.data_mining.support_vectors import PRINTED, PRINTED_OTHERS
from bottega.course.statistical_methods.kernels import monomials
from bottega.kernel import KernelRidge, SupportVectorClassifier
from bottega.kernel.kernels import get_kernel
from bottega.linear import Ridge
from bottega.optimize.nonnegative import nonnegative_least_squares
from bottega.risk import hard_margin


def alphas(model, n):
    """Return the dual variables of all rows."""
    alpha = np.zeros(n)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return alpha


def test_m804_parallel_planes():
    """E49: with b = -2 and s = 1 the offsets are -3 and -1; the positive side is w'x + b - s > 0.

    Multiplying w and s by 7 changes neither plane.
    """
    w, b, s = np.array([1.0]), -2.0, 1.0
    assert (b - s, b + s) == (-3.0, -1.0)
    x = np.array([[3.5], [0.5], [2.0]])  # positive, negative, between the planes
    assert np.sign(x @ w + b - s).tolist() == [1, -1, -1]
    assert np.sign(x @ w + b + s).tolist() == [1, -1, 1]
    width = 2 * s / np.linalg.norm(w)
    assert 2 * (7 * s) / np.linalg.norm(7 * w) == width == 2


def test_m807_two_points():
    """E50: alpha is 1/2 each, not 1; w = 1, b = 0, margin 2."""
    model = SupportVectorClassifier(C=np.inf, kernel="linear").fit([[1.0], [-1.0]], [1, -1])
    assert alphas(model, 2) == pytest.approx([0.5, 0.5])
    assert model.coef_[0] == pytest.approx([1.0])
    assert model.intercept_[0] == pytest.approx(0.0, abs=1e-9)
    assert 2 / np.linalg.norm(model.coef_) == pytest.approx(2.0)
    assert model.decision_function([[1.0], [-1.0]]) == pytest.approx([1.0, -1.0])  # y f(x) is 1


def test_m808_and_m809_against_a_quadratic_program():
    """The dual by SLSQP; b is the same from every vector on the margin, and their weighted mean."""
    rng = np.random.default_rng(0)
    y = np.repeat([-1.0, 1.0], 8)
    X = rng.normal(size=(16, 2)) + 2.2 * y[:, None]
    Q = np.outer(y, y) * (X @ X.T)
    answer = optimize.minimize(
        lambda a: a @ Q @ a / 2 - a.sum(),
        np.full(16, 0.1),
        jac=lambda a: Q @ a - 1,
        bounds=[(0, None)] * 16,
        constraints=optimize.LinearConstraint(y, 0, 0),
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    model = SupportVectorClassifier(C=np.inf, kernel="linear", tol=1e-9).fit(X, y)
    w = (answer.x * y) @ X
    assert model.coef_[0] == pytest.approx(w, abs=1e-4)  # SLSQP's own accuracy
    alpha = alphas(model, 16)
    each = y[model.support_] - X[model.support_] @ model.coef_[0]
    assert each == pytest.approx(np.full(len(each), model.intercept_[0]), abs=1e-6)
    weight = alpha[model.support_]
    assert weight @ each / weight.sum() == pytest.approx(model.intercept_[0], abs=1e-6)


def test_m812_to_m817_slacks_and_multipliers():
    """E52, E53, E56, E57: y f = 1 - slack; alpha = C where slack > 0; errors have slack above 1."""
    rng = np.random.default_rng(1)
    y = np.repeat([-1, 1], 40)
    X = rng.normal(size=(80, 2)) + 0.8 * y[:, None]
    C = 2.0
    model = SupportVectorClassifier(C=C, kernel="linear", tol=1e-9).fit(X, y)
    alpha, value = alphas(model, 80), y * model.decision_function(X)
    slack = np.maximum(0, 1 - value)
    sure = 1e-5
    assert np.all(alpha >= 0)
    assert np.all(alpha <= C * (1 + 1e-12))
    assert alpha @ y == pytest.approx(0, abs=1e-9)
    assert np.all(value[alpha == 0] >= 1 - sure)  # no part in w
    free = (alpha > 0) & (alpha < C)
    assert free.sum() >= 2
    assert value[free] == pytest.approx(np.ones(free.sum()), abs=sure)  # on the margin
    assert np.all(slack[alpha == C] >= 0)
    assert np.all(value[alpha == C] <= 1 + sure)
    assert (alpha[slack > sure] == C).all()  # (C - alpha) slack = 0
    wrong = model.predict(X) != y
    assert np.all(slack[wrong] > 1)
    assert slack.sum() >= wrong.sum() > 0


def test_m821_and_a76_the_six_features():
    """(1 + x.x')^2 is the inner product of (1, r x1, r x2, x1^2, x2^2, r x1 x2), r = sqrt 2."""
    a, b = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])
    r = np.sqrt(2)

    def phi(x):
        (x1, x2) = x[0]
        return np.array([1, r * x1, r * x2, x1**2, x2**2, r * x1 * x2])

    kernel = get_kernel("poly", degree=2, gamma=1.0, coef0=1.0)
    assert phi(a) @ phi(b) == pytest.approx(4)
    assert kernel(a, b)[0, 0] == pytest.approx(4)
    assert monomials(a, 2).shape[1] == comb(2 + 2, 2) == 6
    # A75: counted with the order of factors there are 1 + 2 + 4, x1 x2 twice.
    assert sum(2**k for k in range(3)) == 7


def test_m824_to_m828_valid_kernels():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(25, 3))
    gaussian = get_kernel("rbf", gamma=0.5)
    cubic = get_kernel("poly", degree=3, gamma=1.0, coef0=1.0)
    for kernel in (gaussian, cubic, gaussian + cubic, 3.0 * gaussian, gaussian * cubic):
        assert kernel.is_psd(X)
        K = kernel(X)
        assert pytest.approx(K.T, rel=1e-12) == K
    assert np.diag(gaussian(X)) == pytest.approx(np.ones(25))
    sigmoid = get_kernel("sigmoid", gamma=1.0, coef0=-1.0)
    assert not sigmoid.is_psd(X)
    assert np.linalg.eigvalsh(sigmoid(X))[0] < -0.01
    # A79 and M827 write the width in the denominator: gamma = 1 / (2 sigma^2).
    sigma = 1.7
    one = np.exp(-np.sum((X[0] - X[1]) ** 2) / (2 * sigma**2))
    assert get_kernel("rbf", gamma=1 / (2 * sigma**2))(X[:1], X[1:2])[0, 0] == pytest.approx(one)


def test_a83_kernel_ridge_with_a_linear_kernel():
    """The Gram matrix is S S', m by m: predictions are those of ridge regression."""
    rng = np.random.default_rng(3)
    S, y, new = rng.normal(size=(30, 4)), rng.normal(size=30), rng.normal(size=(5, 4))
    alpha = 0.7
    by_hand = y @ np.linalg.solve(alpha * np.eye(30) + S @ S.T, S @ new.T)
    ridge = Ridge(alpha, standardize=False, fit_intercept=False).fit(S, y)
    assert ridge.predict(new) == pytest.approx(by_hand, rel=1e-9)
    model = KernelRidge(alpha, kernel="linear", fit_intercept=False).fit(S, y)
    assert model.predict(new) == pytest.approx(by_hand, rel=1e-8)


def test_m829_b_from_the_vectors_on_the_margin():
    rng = np.random.default_rng(4)
    y = np.repeat([-1, 1], 30)
    X = rng.normal(size=(60, 2)) + 0.7 * y[:, None]
    model = SupportVectorClassifier(C=1.0, kernel="rbf", gamma=0.5, tol=1e-9).fit(X, y)
    alpha = alphas(model, 60)
    K = get_kernel("rbf", gamma=0.5)(X)
    free = (alpha > 1e-9) & (alpha < 1.0 - 1e-9)
    b = y[free] - K[free] @ (alpha * y)
    assert b == pytest.approx(np.full(free.sum(), model.intercept_[0]), abs=1e-6)
    # M830: the sign of the sum over the support vectors.
    assert (np.sign(K @ (alpha * y) + b.mean()) == model.predict(X)).all()


def test_m833_pairs_of_classes():
    """Four classes have six pairs, three have three."""
    rng = np.random.default_rng(5)
    for classes, pairs in ((4, 6), (3, 3)):
        y = np.arange(60) % classes
        X = rng.normal(size=(60, 2)) + 2 * np.column_stack([y % 2, y // 2])
        model = SupportVectorClassifier(kernel="linear", decision_function_shape="ovo").fit(X, y)
        assert comb(classes, 2) == pairs
        assert model.decision_function(X).shape == (60, pairs)


def test_e44_least_squares_without_negative_weights_is_a_quadratic_program():
    """Q = X'X and c = -X'y: the gradient Q w + c is zero where w > 0, and not negative elsewhere.

    With the printed sign, c = X'y, the answer would be another.
    """
    rng = np.random.default_rng(6)
    X = rng.normal(size=(20, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + 0.1 * rng.normal(size=20)
    w = np.asarray(nonnegative_least_squares(X, y))
    Q, c = X.T @ X, -X.T @ y
    gradient = Q @ w + c
    assert np.all(w >= 0)
    assert gradient[w > 0] == pytest.approx(np.zeros((w > 0).sum()), abs=1e-8)
    assert np.all(gradient[w == 0] > -1e-8)
    assert np.max(np.abs(Q @ w - c)[w > 0]) > 1


def test_b01_to_b03_planes_and_homogenisation():
    """S(v, c) is c / ||v|| from the origin; v' = (v, -c), x' = (x, 1), the constant last."""
    v, c = np.array([3.0, 4.0]), 10.0
    X = np.array([[2.0, 1.0], [3.0, 4.0], [0.0, 0.0]])
    assert c / np.linalg.norm(v) == 2
    plane = hyperplane.Hyperplane(v, -c)
    assert plane.offset == pytest.approx(2)
    Z = hyperplane.homogenise(X)
    assert Z[:, -1].tolist() == [1.0, 1.0, 1.0]
    assert Z @ np.append(v, -c) == pytest.approx(X @ v - c)
    # B02: a point of the plane, (2, 1), is on the positive side; A60 has it on the other.
    assert plane.predict(X).tolist() == [1, 1, -1]


@pytest.mark.parametrize(("y", "b"), [([-1, 1, 1, 1], -1), ([-1, -1, -1, 1], -3)])
def test_b14_the_widest_margins_of_or_and_and(y, b):
    """The separators (2, 2, -1) and (2, 2, -3), of squared lengths 9 and 17."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    model = SupportVectorClassifier(C=np.inf, kernel="linear", tol=1e-9).fit(X, y)
    assert model.coef_[0] == pytest.approx([2.0, 2.0])
    assert model.intercept_[0] == pytest.approx(b)
    assert hard_margin(np.column_stack([X, np.ones(4)]), y) == pytest.approx([2.0, 2.0, b])
    assert model.margin_ == pytest.approx(1 / np.sqrt(2))


@pytest.mark.slow
def test_d213_the_table_of_nested_spheres():
    """Both columns within three standard errors, of the printed means and of ours together."""
    frame = course.noise_columns().to_frame().set_index("method")
    for name, printed in PRINTED.items():
        for (error, its), column in zip(
            printed, ("four columns", "with six of noise"), strict=True
        ):
            ours = frame.loc[name, f"standard error, {column}"]
            assert frame.loc[name, column] == pytest.approx(error, abs=3 * np.hypot(ours, its))
    # These choose in ways of their own: they are at least as good as in the table, but for chance.
    for name, printed in PRINTED_OTHERS.items():
        for (error, its), found in zip(printed, frame.loc[name].iloc[:2], strict=True):
            assert found <= error + 0.01 + 3 * its
