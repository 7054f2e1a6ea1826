"""Perceptron bounds, the hard margin they need, and separability."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn.svm import SVC

from bottega.core.errors import InputError, ParameterError
from bottega.risk import (
    hard_margin,
    kernel_perceptron,
    margin,
    perceptron_compression,
    perceptron_convergence,
    perceptron_mistakes,
    separable,
)

SQUARE = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], dtype=float)
OR, AND, XOR = [-1, 1, 1, 1], [-1, -1, -1, 1], [-1, 1, 1, -1]


def perceptron(gram, y, epochs):
    """Return the row of each update, by the kernel form: y_t sum_s y_s K(x_s, x_t) <= 0."""
    times = np.zeros(len(y))
    updates = []
    for _ in range(epochs):
        before = len(updates)
        for t in range(len(y)):
            if y[t] * (gram[t] @ (times * y)) <= 0:
                times[t] += 1
                updates.append(t)
        if len(updates) == before:
            break
    return updates


@pytest.mark.parametrize(("y", "norm2", "updates", "bound"), [(OR, 9, 9, 27), (AND, 17, 18, 51)])
def test_or_and_and_of_the_notes(y, norm2, updates, bound):
    """B14."""
    u = hard_margin(SQUARE, y)
    assert u @ u == pytest.approx(norm2, rel=1e-9)
    assert margin(u, SQUARE, y) == pytest.approx(1, rel=1e-9)
    # The largest row is (1, 1, 1).
    assert perceptron_convergence(u @ u, 3) == pytest.approx(bound)
    assert len(perceptron(SQUARE @ SQUARE.T, np.array(y), 100)) == updates <= bound


def test_xor_is_not_separable():
    assert not separable(SQUARE, XOR)
    with pytest.raises(InputError, match="No plane through the origin"):
        hard_margin(SQUARE, XOR)
    # Its updates go on, four in each epoch, and the bound for any stream covers them.
    updates = perceptron(SQUARE @ SQUARE.T, np.array(XOR), 50)
    assert len(updates) == 200
    assert perceptron_mistakes(4 * 50, 0.0, math.sqrt(3)) == 200


@pytest.mark.parametrize("seed", range(12))
def test_hard_margin_agrees_with_a_general_solver(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    X = rng.normal(size=(int(rng.integers(1, 40)), d)) * rng.uniform(0.1, 10, size=d)
    truth = rng.normal(size=d)
    y = np.where(X @ truth >= 0, 1, -1)
    u = hard_margin(X, y)
    assert margin(u, X, y) >= 1 - 1e-12
    signed = X * y[:, np.newaxis]
    start = truth / np.min(signed @ truth)
    peer = optimize.minimize(
        lambda w: w @ w / 2,
        start,
        jac=lambda w: w,
        constraints={"type": "ineq", "fun": lambda w: signed @ w - 1, "jac": lambda _: signed},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    # SLSQP obeys the constraints to about 1e-7 of their size; u may not be longer than that.
    assert u @ u <= 2 * peer.fun * (1 + 1e-5)
    # Optimal: u is a combination of the rows on the margin with weights that are not negative.
    touching = signed[signed @ u < 1 + 1e-7]
    weights, gap = optimize.nnls(touching.T, u)
    assert gap <= 1e-7 * np.linalg.norm(u)
    assert weights.sum() == pytest.approx(u @ u, rel=1e-6)


def test_hard_margin_agrees_with_a_support_vector_machine():
    """scikit-learn's SVC with a linear kernel and no slack, on rows that need no intercept."""
    rng = np.random.default_rng(3)
    half = rng.normal(size=(300, 4)) + np.array([3.0, 0, 0, 0])
    half = half[half[:, 0] > 0.5]
    X, y = np.vstack([half, -half]), np.repeat([1, -1], len(half))
    # The rows lie symmetric about the origin, so the machine's own intercept is 0.
    machine = SVC(kernel="linear", C=1e8, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(hard_margin(X, y), machine.coef_[0], rtol=1e-4, atol=1e-5)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-4, 1e4))
def test_hard_margin_shrinks_as_the_rows_grow(seed, scale):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, 3))
    y = np.where(X @ rng.normal(size=3) >= 0, "yes", "no")
    u = hard_margin(X, y)
    np.testing.assert_allclose(hard_margin(X * scale, y) * scale, u, rtol=1e-6)


def test_hard_margin_of_many_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 8))
    truth = rng.normal(size=8)
    keep = np.abs(X @ truth) > 0.3
    X = X[keep]
    y = np.where(X @ truth > 0, 1, -1)
    u = hard_margin(X, y)
    signed = X * y[:, np.newaxis]
    assert (signed @ u).min() >= 1 - 1e-12
    touching = signed[signed @ u < 1 + 1e-7]
    assert optimize.nnls(touching.T, u)[1] <= 1e-7 * np.linalg.norm(u)


def test_separability_by_linear_programming():
    """A60d: a yes where there is a separator, a no where opposite rows or the origin forbid it."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        X = rng.normal(size=(30, 4)) * 10.0 ** rng.integers(-6, 7, size=(30, 1))
        y = np.where(X @ rng.normal(size=4) >= 0, 1, -1)
        assert separable(X, y)
        assert not separable(np.vstack([X, -X[:1]]), np.append(y, y[0]))
        assert not separable(np.vstack([X, np.zeros(4)]), np.append(y, 1))
    assert separable([[2.0]], [1])


@pytest.mark.parametrize("seed", range(20))
def test_mistakes_and_updates_stay_below_the_bounds(seed):
    """A66 for any stream and any u; A61 and A82 on separable rows. Certain, so no false alarm."""
    rng = np.random.default_rng(seed)
    X, u = rng.normal(size=(60, 3)), rng.normal(size=3)
    noisy = np.where(X @ u + rng.normal(size=60) >= 0, 1, -1)
    mistakes = len(perceptron(X @ X.T, noisy, 1))
    longest = np.linalg.norm(X, axis=1).max()
    for v in (0 * u, 0.1 * u, u, 3 * u, -u):
        hinge = np.maximum(0, 1 - noisy * (X @ v)).sum()
        assert mistakes <= perceptron_mistakes(hinge, np.linalg.norm(v), longest)
    clean = np.where(X @ u >= 0, 1, -1)
    updates = len(perceptron(X @ X.T, clean, 10_000))
    best = hard_margin(X, clean)
    assert updates <= perceptron_convergence(best @ best, longest**2)
    # The Gaussian kernel parts any different rows: f with y_t f(x_t) = 1 exactly.
    gram = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(axis=2) / 0.2)
    alpha = np.linalg.solve(gram, noisy)
    assert len(perceptron(gram, noisy, 10_000)) <= kernel_perceptron(alpha @ gram @ alpha, 1.0)


def test_mistakes_solve_the_inequality_of_the_proof():
    """M <= H + ||u|| X sqrt(M) has no solution above the bound."""
    for hinge in (0.0, 1.0, 7.3, 400.0):
        for size in (0.0, 0.5, 3.0, 20.0):
            bound = perceptron_mistakes(hinge, size, 1.0)
            more = bound * np.array([1 + 1e-9, 1.01, 2, 100]) + 1e-9
            assert np.all(more > hinge + size * np.sqrt(more))


def test_compression_number_of_the_notes():
    """B12: ln(e/delta), not ln(1/delta)."""
    assert perceptron_compression(0.0, 10, 1000) == pytest.approx(0.282809, abs=5e-7)
    assert perceptron_compression(0.2, 10, 1000) == pytest.approx(0.482809, abs=5e-7)


@pytest.mark.parametrize(("m", "noise"), [(200, 0.02), (400, 0.1)])
def test_compression_bound_covers(m, noise):
    """Rows uniform on the circle, labels flipped with a known probability, one epoch.

    The risk of w is noise + (1 - 2 noise) angle / pi in closed form. Misses among the runs with
    M <= m/2 number at most Binomial(R, delta): false alarm below 1e-6.
    """
    rng = np.random.default_rng(6)
    repetitions, delta = 1500, 0.2
    angle = rng.uniform(0, 2 * np.pi, size=(repetitions, m))
    X = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    y = np.where((X[..., 0] >= 0) ^ (rng.uniform(size=(repetitions, m)) < noise), 1, -1)
    w = np.zeros((repetitions, 2))
    updated = np.zeros((repetitions, m), bool)
    for t in range(m):
        updated[:, t] = y[:, t] * np.einsum("rj,rj->r", w, X[:, t]) <= 0
        w += np.where(updated[:, t], y[:, t], 0)[:, np.newaxis] * X[:, t]
    wrong = y * np.einsum("rtj,rj->rt", X, w) <= 0
    outside = np.where(updated, 0, wrong).sum(axis=1) / (m - updated.sum(axis=1))
    away = np.abs(np.arctan2(w[:, 1], w[:, 0])) / np.pi
    risk = noise + (1 - 2 * noise) * away
    usable = 2 * updated.sum(axis=1) <= m
    assert usable.mean() > 0.9
    bound = perceptron_compression(outside[usable], updated.sum(axis=1)[usable], m, delta)
    assert np.sum(risk[usable] > bound) <= stats.binom.isf(1e-6, repetitions, delta)


def test_union_behind_the_compression_bound():
    """Sum over M of C(m, M) exp(-2 (m - M) eps_M^2) is at most delta, exactly what is claimed."""
    for m in (2, 3, 10, 101, 1000):
        for delta in (0.5, 0.05):
            sizes = np.arange(m // 2 + 1)
            eps = perceptron_compression(0.0, sizes, m, delta)
            sets = np.array([math.log(math.comb(m, int(M))) for M in sizes])
            assert np.exp(sets - 2 * (m - sizes) * eps**2).sum() <= delta


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: perceptron_convergence(-1, 3), "norm2_u"),
        (lambda: perceptron_convergence(9, 0), "max_norm2_x"),
        (lambda: perceptron_mistakes(-1, 1, 1), "hinge_sum"),
        (lambda: perceptron_mistakes(1, -1, 1), "norm_u"),
        (lambda: perceptron_mistakes(1, 1, math.nan), "max_norm_x"),
        (lambda: kernel_perceptron(1, -1), "max_k"),
        (lambda: kernel_perceptron(math.inf, 1), "norm2_f"),
        (lambda: perceptron_compression(0.1, 6, 10), "at most half"),
        (lambda: perceptron_compression(1.1, 2, 10), "error_outside"),
        (lambda: perceptron_compression(0.1, -2, 10), "n_updated"),
        (lambda: perceptron_compression(0.1, 0, 0), "m=0"),
        (lambda: perceptron_compression(0.1, 2, 10, 0), "delta"),
    ],
)
def test_bad_numbers_are_refused(call, words):
    with pytest.raises(ParameterError, match=words):
        call()


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.zeros((0, 2)), [], "at least one row"),
        ([[1.0], [2.0]], [1], "one label per row"),
        ([[1.0], [math.nan]], [1, -1], "NaN"),
        ([[1.0], [2.0], [3.0]], [0, 1, 2], "3 classes"),
        ([[1.0], [2.0]], ["a", "a"], "1 classes"),
    ],
)
def test_bad_rows_are_refused(X, y, words):
    for function in (separable, hard_margin):
        with pytest.raises(InputError, match=words):
            function(X, y)
