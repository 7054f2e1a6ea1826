"""The best fixed comparator against other solvers, and its certificate against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse
from sklearn.linear_model import LogisticRegression

from bottega.core.errors import InputError, ParameterError
from bottega.core.losses import LOSSES, Huber, get_loss
from bottega.online import best_comparator
from bottega.online._regret.hindsight import SquareSums
from bottega.optimize import onto_ball, onto_box, onto_l1_ball, onto_simplex
from bottega.optimize.constrained import least_squares_in
from bottega.optimize.regions import REGIONS, Ball, get_region

CONVEX = ("absolute_error", "squared_error", "huber", "hinge", "logistic")
BOUNDED = {"ball": onto_ball, "box": onto_box, "simplex": onto_simplex, "l1_ball": onto_l1_ball}


def problem(loss, n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + rng.normal(size=n)
    if get_loss(loss).labels == "sign":
        y = np.where(y > 0, 1.0, -1.0)
    return X, y


def total(loss, X, y, u, alpha=0.0):
    return float(np.sum(get_loss(loss)(y, X @ u))) + len(y) * alpha / 2 * float(u @ u)


# ---- squared loss: exact -------------------------------------------------------------------------


@pytest.mark.parametrize("radius", [0.1, 1.0, 100.0])
def test_least_squares_in_the_ball_fulfils_the_equations_of_lagrange(radius):
    X, y = problem("squared_error")
    found = best_comparator(X, y, radius=radius)
    # 2 X'(y - Xu) = 2 m u with a multiplier m >= 0 that is zero inside the ball: necessary and,
    # the problem being convex, sufficient. Rounding only: X'X is well conditioned.
    pull = X.T @ (y - X @ found.u)
    multiplier = float(pull @ found.u) / float(found.u @ found.u)
    assert np.allclose(pull, multiplier * found.u, atol=1e-9)
    if radius < np.linalg.norm(np.linalg.lstsq(X, y)[0]):
        assert multiplier > 0
        assert np.linalg.norm(found.u) == pytest.approx(radius, rel=1e-12)
    else:
        assert np.allclose(found.u, np.linalg.lstsq(X, y)[0], rtol=1e-10)
    assert found.loss == pytest.approx(np.sum((y - X @ found.u) ** 2), rel=1e-12)
    assert found.gap <= 1e-9 * found.loss


def test_least_squares_over_all_vectors_is_that_of_lapack():
    X, y = problem("squared_error")
    found = best_comparator(X, y, region="all", fit_intercept=True)
    rows = np.column_stack([X, np.ones(len(y))])
    assert np.allclose(found.u, np.linalg.lstsq(rows, y)[0], rtol=1e-10)


@pytest.mark.parametrize("region", ["all", "ball"])
def test_the_penalty_is_charged_at_every_row(region):
    X, y = problem("squared_error")
    found = best_comparator(X, y, region=region, radius=50.0, alpha=0.3)
    ridge = np.linalg.solve(X.T @ X + len(y) * 0.15 * np.eye(4), X.T @ y)
    assert np.allclose(found.u, ridge, rtol=1e-9)
    assert found.loss == pytest.approx(total("squared_error", X, y, ridge, 0.3), rel=1e-12)


def test_least_squares_in_the_box_is_that_of_scipy():
    X, y = problem("squared_error", d=8)
    peer = optimize.lsq_linear(X, y, bounds=(-0.4, 0.4), method="bvls", tol=1e-14)
    found = best_comparator(X, y, region="box", radius=0.4)
    assert np.sum(peer.active_mask != 0) >= 3  # the walls matter
    assert found.loss == pytest.approx(2 * peer.cost, rel=1e-8)  # the gap it was stopped at
    assert np.allclose(found.u, peer.x, atol=1e-5)  # the root of it: the minimum is flat


def test_more_columns_than_rows():
    X, y = problem("squared_error", n=3, d=6)
    assert best_comparator(X, y, region="all").loss < 1e-20
    assert best_comparator(X, y, region="all").u == pytest.approx(np.linalg.lstsq(X, y)[0])


def test_the_triangle_says_all_about_the_rows_and_keeps_the_digits():
    """X'X would lose the residuals of a response around a million: 16 digits are (1e6)^2 : 1e-4."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(5000, 3)), np.ones(5000)])
    y = X @ [1.0, -2.0, 0.5, 1e6] + 0.01 * rng.normal(size=5000)
    sums = SquareSums(4)
    for part in np.split(np.arange(5000), [1, 3, 700, 701, 3000]):
        sums.update(X[part], y[part])
    u, loss, _ = least_squares_in(sums.triangle, get_region("all"))
    exact = np.sum((y - 1e6 - X[:, :3] @ np.linalg.lstsq(X, y - 1e6)[0][:3]) ** 2)
    assert loss == pytest.approx(exact, rel=1e-3)
    assert u[3] == pytest.approx(1e6, rel=1e-9)
    assert sums.triangle.shape == (5, 5)


# ---- other losses: against linear programs, scipy and scikit-learn -------------------------------


def least_absolute(X, y, low, high, l1=None):
    """Solve least absolute deviations as a linear program in (u', u'', t)."""
    n, d = X.shape
    cost = np.concatenate([np.zeros(2 * d), np.ones(n)])
    rows = np.block([[X, -X, -np.eye(n)], [-X, X, -np.eye(n)]])
    limits = np.concatenate([y, -y])
    if l1 is not None:
        rows = np.vstack([rows, np.concatenate([np.ones(2 * d), np.zeros(n)])])
        limits = np.append(limits, l1)
    bounds = [(0, high)] * d + [(0, -low if low is not None else None)] * d + [(0, None)] * n
    return optimize.linprog(cost, rows, limits, bounds=bounds).fun


def test_absolute_loss_is_that_of_the_linear_program():
    X, y = problem("absolute_error", n=80)
    free = best_comparator(X, y, loss="absolute_error", region="all")
    box = best_comparator(X, y, loss="absolute_error", region="box", radius=0.3)
    diamond = best_comparator(X, y, loss="absolute_error", region="l1_ball", radius=0.7)
    # The gap is 1e-9 of the loss of the zero vector, linprog is exact.
    assert free.loss == pytest.approx(least_absolute(X, y, None, None), rel=1e-7)
    assert box.loss == pytest.approx(least_absolute(X, y, -0.3, 0.3), rel=1e-7)
    assert diamond.loss == pytest.approx(least_absolute(X, y, None, None, l1=0.7), rel=1e-7)
    assert np.abs(diamond.u).sum() <= 0.7 * (1 + 1e-9)


def test_hinge_loss_in_the_box_is_that_of_the_linear_program():
    X, y = problem("hinge", n=80)
    n, d = X.shape
    peer = optimize.linprog(
        np.concatenate([np.zeros(d), np.ones(n)]),
        np.column_stack([-y[:, None] * X, -np.eye(n)]),
        -np.ones(n),
        bounds=[(-0.4, 0.4)] * d + [(0, None)] * n,
    )
    found = best_comparator(X, y, loss="hinge", region="box", radius=0.4)
    assert found.loss == pytest.approx(peer.fun, rel=1e-7)


def test_penalised_logistic_loss_is_that_of_scikit_learn():
    X, y = problem("logistic", n=200)
    peer = LogisticRegression(C=1 / (200 * 0.05), fit_intercept=False, tol=1e-12, max_iter=1000)
    peer.fit(X, y)
    found = best_comparator(X, y, loss="logistic", region="all", alpha=0.05)
    assert np.allclose(found.u, peer.coef_[0], atol=1e-6)  # lbfgs stops at a gradient of 1e-12


@pytest.mark.parametrize("loss", ["logistic", "huber", "squared_error"])
@pytest.mark.parametrize("region", ["ball", "simplex"])
def test_smooth_losses_are_those_of_scipy(loss, region):
    X, y = problem(loss)
    limit = (
        {"type": "ineq", "fun": lambda u: 0.25 - u @ u, "jac": lambda u: -2 * u}
        if region == "ball"
        else {"type": "eq", "fun": lambda u: u.sum() - 0.5, "jac": np.ones_like}
    )
    peer = optimize.minimize(
        lambda u: total(loss, X, y, u),
        np.full(4, 0.125),
        jac=lambda u: X.T @ get_loss(loss).gradient(y, X @ u),
        bounds=[(0, None)] * 4 if region == "simplex" else None,
        constraints=limit,
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    found = best_comparator(X, y, loss=loss, region=region, radius=0.5)
    assert found.loss == pytest.approx(peer.fun, rel=1e-8)  # what both were stopped at


# ---- the certificate -----------------------------------------------------------------------------


@pytest.mark.parametrize("loss", CONVEX)
@pytest.mark.parametrize("region", sorted(REGIONS))
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(1, 1), (3, 6), (40, 3)]),
    radius=st.sampled_from([0.05, 1.0, 20.0]),
    penalised=st.booleans(),
)
@settings(max_examples=6, deadline=None)
def test_no_comparator_beats_the_certified_loss(loss, region, seed, shape, radius, penalised):
    if penalised and region == "l1_ball" and loss != "squared_error":
        penalised = False
    alpha = 0.1 if penalised else 0.0
    X, y = problem(loss, *shape, seed=seed)
    found = best_comparator(X, y, loss=loss, region=region, radius=radius, alpha=alpha)
    assert found.loss == pytest.approx(total(loss, X, y, found.u, alpha), rel=1e-9, abs=1e-12)
    zero = total(loss, X, y, np.zeros(shape[1]))
    assert 0 <= found.gap <= 1e-4 * zero + 1e-12  # it is an answer, not only a bound
    rng = np.random.default_rng(seed)
    project = BOUNDED.get(region, lambda u, _radius: u)
    if region in BOUNDED:
        assert np.allclose(project(found.u, radius), found.u, atol=1e-9 * radius)
    others = [
        found.u + s * rng.normal(size=shape[1]) for s in (1e-6, 1e-3, 0.1, 1.0) for _ in "abc"
    ]
    for u in others:
        other = total(loss, X, y, project(u, radius), alpha)
        assert other >= found.loss - found.gap - 1e-12 * zero


def test_logistic_loss_on_separable_rows_has_no_minimum_and_goes_to_zero():
    X = np.array([[1.0], [2.0], [-1.0]])
    found = best_comparator(X, [1.0, 1.0, -1.0], loss="logistic", region="all")
    assert found.loss < 1e-6
    assert found.u[0] > 10


def test_hinge_loss_of_separable_rows_is_zero():
    X = np.array([[1.0, 0.0], [2.0, 1.0], [-1.0, 1.0]])
    assert best_comparator(X, [1, 1, -1], loss="hinge", region="all").loss < 1e-8


def test_huber_knows_its_delta():
    X, y = problem("huber")
    wide = best_comparator(X, y, loss=Huber(1e3), region="all")
    assert np.allclose(wide.u, np.linalg.lstsq(X, y)[0], rtol=1e-6)
    assert wide.loss == pytest.approx(np.sum((y - X @ wide.u) ** 2) / 2, rel=1e-9)


def test_sparse_rows_are_the_same_rows():
    X, y = problem("hinge")
    X[np.abs(X) < 1] = 0
    dense = best_comparator(X, y, loss="hinge")
    few = best_comparator(sparse.csr_matrix(X), y, loss="hinge")
    assert np.array_equal(dense.u, few.u)


def test_it_says_what_it_is():
    X, y = problem("squared_error")
    found = best_comparator(X, y, radius=1.0)
    assert str(found).startswith("best of the ball of radius 1: average loss ")
    assert str(found).endswith("(exact)")
    assert found.exact
    assert found.average == pytest.approx(found.loss / 60)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"region": "bal"}, "Did you mean 'ball'"),
        ({"radius": 0.0}, "radius=0.0 is not allowed"),
        ({"radius": np.inf}, "is not allowed"),
        ({"alpha": -1.0}, "alpha=-1.0"),
        ({"loss": "zero_one"}, "cannot be found"),
        ({"loss": "cosine"}, "not known"),
        (
            {"loss": "absolute_error", "region": "l1_ball", "alpha": 1.0},
            "only the squared error",
        ),
    ],
)
def test_bad_arguments(arguments, message):
    X, y = problem("squared_error")
    with pytest.raises(InputError, match=message):
        best_comparator(X, y, **arguments)


def test_bad_rows():
    X, y = problem("squared_error")
    with pytest.raises(InputError, match="one truth for each"):
        best_comparator(X, y[:-1])
    with pytest.raises(InputError, match="missing or infinite"):
        best_comparator(np.where(X > 2, np.nan, X), y)
    with pytest.raises(InputError, match="at least one row"):
        best_comparator(X[:0], y[:0])
    with pytest.raises(InputError, match="labels -1 and \\+1"):
        best_comparator(X, y, loss="hinge")
    with pytest.raises(ParameterError, match="radius"):
        Ball(-1.0)


def test_every_named_loss_is_convex_or_refused():
    X, y = problem("hinge")
    for name, loss in LOSSES.items():
        if name in CONVEX:
            assert best_comparator(X, y, loss=loss).loss <= len(y) * 2
        else:
            with pytest.raises(InputError):
                best_comparator(X, (y + 1) / 2, loss=loss)
