"""Factors of known entries: against normal equations, singular values, and the peer's numbers."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.latent import MatrixFactorization
from bottega.latent._ratings.observed import ratings_of_matrix
from bottega.latent._ratings.problem import FactorPair, FactorProblem, RatingsPenalty
from bottega.latent._ratings.search import FactorSearch
from bottega.metrics import rmse

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference/latent/matrix_factorization.json").read_text()
)


# Users by films: Matrix, Alien, Star Wars, Casablanca, Titanic.
FILMS = np.array(
    [
        [1, 1, 1, 0, 0],
        [3, 3, 3, 0, 0],
        [4, 4, 4, 0, 0],
        [5, 5, 5, 0, 0],
        [0, 2, 0, 4, 4],
        [0, 0, 0, 5, 5],
        [0, 1, 0, 2, 2.0],
    ]
)
_ = np.nan
# Items by users; the entry of item 1 and user 3 is the one to predict.
TABLE = np.array(
    [
        [1, 3, _, 5, _, 5, _, 4, _],
        [_, 5, 4, _, 4, _, 2, 1, 3],
        [2, 4, _, 1, 2, 3, 4, 3, 5],
        [_, 2, 4, _, 5, _, 4, _, 2],
        [_, 4, 3, 4, 2, _, _, 2, 5],
        [1, 3, _, 3, _, 2, _, 4, _],
    ]
).T


def tastes(n=60, m=25, rank=2, share=0.4, noise=0.3, seed=0):
    """Return ratings with few known, and what all would be without noise."""
    rng = np.random.default_rng(seed)
    truth = 3.5 + 0.5 * rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=m)
    truth = truth + rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m))
    known = rng.random((n, m)) < share
    return np.where(known, truth + noise * rng.normal(size=(n, m)), np.nan), truth


def counted(n=40, m=20, seed=0):
    """Return counts of what users did."""
    rng = np.random.default_rng(seed)
    taste, kind = rng.integers(0, 3, n), rng.integers(0, 3, m)
    return rng.poisson(np.where(taste[:, None] == kind, 1.5, 0.1)).astype(float)


def alternating(X, P, alpha_users, alpha_items, sweeps, *, offset=0.0, beta=None):
    """Alternate between least squares of items and of users, one normal equation at a time.

    With `beta` each factor has a bias as its last entry.
    """
    known, target = ~np.isnan(X), X - offset
    Q = np.zeros((X.shape[1], P.shape[1]))

    def solve(own, other, mask, values, alpha):
        for row in range(len(own)):
            F, t = other[mask[row]].copy(), values[row][mask[row]]
            penalty = np.full(F.shape[1], alpha)
            if beta is not None:
                t = t - F[:, -1]
                F[:, -1], penalty[-1] = 1.0, beta
            own[row] = np.linalg.solve(F.T @ F + np.diag(penalty), F.T @ t)

    P = P.copy()
    for _ in range(sweeps):
        solve(Q, P, known.T, target.T, alpha_items)
        solve(P, Q, known, target, alpha_users)
    return P, Q


def objective_by_hand(model, X):
    """Return the penalised sum of squares from the learned attributes alone."""
    fitted = model.mean_ + model.user_biases_[:, None] + model.item_biases_
    fitted = fitted + model.user_factors_ @ model.item_factors_.T
    squares = [np.sum(f**2) for f in (model.user_factors_, model.item_factors_)]
    biases = np.sum(model.user_biases_**2) + np.sum(model.item_biases_**2)
    penalty = model.alpha_users_ * squares[0] + model.alpha_items_ * squares[1]
    return np.nansum((X - fitted) ** 2) + penalty + model.alpha_biases * biases


@pytest.mark.parametrize("sweeps", [1, 2, 7])
def test_sweeps_are_the_normal_equations(sweeps):
    """N160-N162, N165: the sum form, one least squares problem per film and per user."""
    left, values, _ = np.linalg.svd(np.nan_to_num(TABLE))
    start = left[:, :2] * np.sqrt(values[:2])
    P, Q = alternating(TABLE, start, 0.7, 0.2, sweeps)
    model = MatrixFactorization(
        2, alpha=0.0, alpha_users=0.7, alpha_items=0.2, biases=False, max_iter=sweeps, tol=0
    ).fit(TABLE)
    assert model.complete(TABLE) == pytest.approx(P @ Q.T, rel=1e-8)
    assert model.n_iter_ == sweeps


def test_biases_are_solved_for_together_with_factors():
    X, _ = tastes()
    model = MatrixFactorization(2, alpha=1.0, alpha_biases=3.0, max_iter=2000, tol=1e-13).fit(X)
    start = np.column_stack([model.user_factors_, model.user_biases_])
    # One more sweep of the normal equations, from the minimum, stays there.
    P, Q = alternating(X, start, 1.0, 1.0, 1, offset=model.mean_, beta=3.0)
    # A gain of 1e-13 of the objective leaves about its root in the factors.
    assert Q[:, :2] == pytest.approx(model.item_factors_, abs=1e-5)
    assert Q[:, 2] == pytest.approx(model.item_biases_, abs=1e-5)
    assert P[:, 2] == pytest.approx(model.user_biases_, abs=1e-5)
    assert model.mean_ == pytest.approx(np.nanmean(X))


@pytest.mark.parametrize("solver", ["als", "cg", "sgd"])
@pytest.mark.parametrize("biases", [True, False])
def test_the_objective_is_what_it_says(solver, biases):
    X, _ = tastes()
    options = {"alpha_users": 0.5, "alpha_items": 2.0, "biases": biases, "max_iter": 500}
    model = MatrixFactorization(2, alpha=1.0, solver=solver, **options).fit(X)
    assert model.objective_[-1] == pytest.approx(objective_by_hand(model, X), rel=1e-9)
    assert model.rmse_ == pytest.approx(
        rmse(X[~np.isnan(X)], model.complete(X)[~np.isnan(X)]), rel=1e-9
    )


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 4),
    st.sampled_from(["als", "cg", "sgd"]),
    st.booleans(),
    st.sampled_from([0.01, 1.0, 30.0]),
)
def test_the_objective_never_rises(seed, rank, solver, biases, alpha):
    X, _ = tastes(12, 7, share=0.6, seed=seed)
    X[:, 0], X[0] = 3.0, 2.0  # every user and item has ratings
    model = MatrixFactorization(
        rank, alpha=alpha, solver=solver, biases=biases, max_iter=15, tol=0
    ).fit(X)
    # Sums in another order: rounding, relative to where the search began.
    assert np.all(np.diff(model.objective_) <= 1e-10 * model.objective_[0])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["als", "cg"]))
def test_the_objective_of_implicit_feedback_never_rises(seed, solver):
    X = counted(seed=seed)
    X[:, 0] = X[0] = 1.0
    model = MatrixFactorization(3, alpha=1.0, implicit=True, solver=solver, max_iter=15, tol=0)
    found = model.fit(X)
    assert np.all(np.diff(found.objective_) <= 1e-10 * found.objective_[0])
    fitted = found.user_factors_ @ found.item_factors_.T
    penalty = np.sum(found.user_factors_**2) + np.sum(found.item_factors_**2)
    by_hand = np.sum((1 + 40 * X) * ((X > 0) - fitted) ** 2) + penalty
    assert found.objective_[-1] == pytest.approx(by_hand, rel=1e-9)


def test_a_complete_table_gives_the_best_matrix_of_its_rank():
    """The films of the notes (N147, N152), with the corrected values (E22)."""
    options = {"biases": False, "alpha": 0.0, "tol": 1e-14, "max_iter": 1000}
    model = MatrixFactorization(2, **options).fit(FILMS)
    best = model.complete(FILMS)
    assert np.linalg.norm(FILMS - best) == pytest.approx(1.3456, abs=5e-5)
    expected = [
        [0.994, 1.012, 0.994, -0.001, -0.001],
        [2.982, 3.035, 2.982, -0.004, -0.004],
        [3.976, 4.047, 3.976, -0.005, -0.005],
        [4.970, 5.059, 4.970, -0.007, -0.007],
        [0.360, 1.292, 0.360, 4.080, 4.080],
        [-0.374, 0.734, -0.374, 4.917, 4.917],
        [0.180, 0.646, 0.180, 2.040, 2.040],
    ]
    assert best == pytest.approx(np.array(expected), abs=6e-4)  # three decimals are given
    assert model.objective_[-1] == pytest.approx(1.3456**2, abs=2e-4)


@pytest.mark.parametrize(("users", "items"), [(2.0, 2.0), (1.0, 4.0), (8.0, 0.5)])
def test_a_penalty_cuts_the_same_off_every_singular_value(users, items):
    """For a complete table the minimum is known: its threshold is the geometric mean."""
    left, values, right = np.linalg.svd(FILMS, full_matrices=False)
    expected = (left * np.maximum(values - 2.0, 0)) @ right
    model = MatrixFactorization(
        3, alpha=1.0, alpha_users=users, alpha_items=items, biases=False, tol=1e-14, max_iter=2000
    ).fit(FILMS)
    assert model.complete(FILMS) == pytest.approx(expected, abs=1e-5)
    gram = [f.T @ f for f in (model.user_factors_, model.item_factors_)]
    assert users * gram[0] == pytest.approx(items * gram[1], abs=1e-4)  # both cost the same


def test_components_are_ordered_orthogonal_and_signed():
    X, _ = tastes()
    model = MatrixFactorization(4, alpha=1.0).fit(X)
    gram = model.item_factors_.T @ model.item_factors_
    assert gram == pytest.approx(np.diag(np.diag(gram)), abs=1e-9 * gram[0, 0])
    assert np.all(np.diff(np.diag(gram)) <= 0)
    assert np.all(np.max(model.components_, axis=1) >= -np.min(model.components_, axis=1))


def test_above_the_largest_singular_value_only_biases_are_left():
    X, _ = tastes()
    biases = MatrixFactorization(1, alpha=1e9, max_iter=500, tol=1e-13).fit(X)
    fitted = biases.complete(X)
    assert np.abs(biases.user_factors_).max() < 1e-6
    largest = np.linalg.svd(np.nan_to_num(X - fitted), compute_uv=False)[0]
    for factor, vanishes in ((1.05, True), (0.95, False)):
        model = MatrixFactorization(2, alpha=factor * largest, tol=1e-12, max_iter=3000).fit(X)
        assert (np.abs(model.user_factors_ @ model.components_).max() < 0.01) == vanishes
    curve = MatrixFactorization(2).path(X)
    assert curve.settings[0]["alpha"] == pytest.approx(largest / 2, rel=1e-3)


def test_conjugate_gradients_and_descent_find_the_same_minimum():
    X, _ = tastes(share=0.6)
    exact = MatrixFactorization(2, alpha=1.0, tol=1e-10, max_iter=500).fit(X)
    steps = MatrixFactorization(2, alpha=1.0, tol=1e-10, max_iter=500, solver="cg").fit(X)
    assert steps.objective_[-1] == pytest.approx(exact.objective_[-1], rel=1e-7)
    descent = MatrixFactorization(2, alpha=1.0, tol=1e-6, max_iter=3000, solver="sgd").fit(X)
    # E27: gradient descent can be used; its steps fall, so it ends near the minimum.
    assert descent.objective_[-1] == pytest.approx(exact.objective_[-1], rel=5e-3)
    again = MatrixFactorization(2, alpha=1.0, tol=1e-6, max_iter=3000, solver="sgd").fit(X)
    assert np.array_equal(descent.item_factors_, again.item_factors_)


def test_a_step_that_is_too_long_is_taken_back():
    X, _ = tastes(share=0.6)
    model = MatrixFactorization(2, alpha=1.0, solver="sgd", learning_rate=5.0, max_iter=400)
    assert np.all(np.diff(model.fit(X).objective_) <= 0)
    assert model.objective_[-1] < 0.8 * model.objective_[0]


@pytest.mark.parametrize("sweeps", [1, 2, 5])
def test_implicit_feedback_sweeps_as_the_package_implicit(sweeps):
    """Its sweeps start with the users, so here users and items are exchanged."""
    counts = np.array(REFERENCE["counts"], dtype=float)
    n, m = counts.shape
    entries = ratings_of_matrix(
        np.where(counts.T > 0, counts.T, np.nan), np.arange(m), np.arange(n)
    )
    problem = FactorProblem.of(entries, biased=False, confidence=REFERENCE["confidence"])
    start = FactorPair(np.array(REFERENCE["items"]), np.array(REFERENCE["users"]))
    penalty = RatingsPenalty(REFERENCE["penalty"], REFERENCE["penalty"], 0.0)
    found = FactorSearch("als", sweeps, 0.0, 0.1, 0).run(problem, start, penalty)
    theirs = REFERENCE["sweeps"][str(sweeps)]
    # Both solve the same equations in double precision.
    assert found.objective[-1] == pytest.approx(theirs["loss"], rel=1e-9)
    fitted = found.factors.users @ found.factors.items[0]
    assert fitted == pytest.approx(theirs["first_user"], rel=1e-6, abs=1e-9)


def test_implicit_feedback_reaches_the_loss_of_the_package_implicit():
    counts = np.array(REFERENCE["counts"], dtype=float)
    model = MatrixFactorization(
        3, alpha=REFERENCE["penalty"], implicit=True, confidence=REFERENCE["confidence"],
        tol=1e-12, max_iter=2000,
    ).fit(counts)  # fmt: skip
    # From another start: no worse than theirs after 400 sweeps.
    assert model.objective_[-1] <= REFERENCE["sweeps"]["400"]["loss"] * (1 + 1e-6)


def test_unknown_is_not_zero():
    """N159: the decomposition of a table filled with zeros predicts zeros for what is unknown."""
    X, truth = tastes(share=0.3)
    unknown = np.isnan(X)
    left, values, right = np.linalg.svd(np.nan_to_num(X), full_matrices=False)
    filled = (left[:, :2] * values[:2]) @ right[:2]
    model = MatrixFactorization(2, alpha=0.7).fit(X)
    ours, theirs = (rmse(truth[unknown], p[unknown]) for p in (model.complete(X), filled))
    assert ours < theirs / 3
    assert ours < np.std(truth[unknown]) / 2


def test_the_penalty_counts_most_for_users_with_few_ratings():
    """N165: the data decide for those with many."""
    X, _ = tastes(share=0.9)
    X[0, 3:] = np.nan
    weak, strong = (MatrixFactorization(2, alpha=a).fit(X) for a in (0.01, 3.0))
    shrunk = [
        np.linalg.norm(strong.user_factors_[x] @ strong.components_)
        / np.linalg.norm(weak.user_factors_[x] @ weak.components_)
        for x in range(len(X))
    ]
    assert shrunk[0] < np.min(shrunk[1:])


def test_a_larger_rank_fits_the_known_entries_better_not_the_others():
    """E25: the training error falls with the rank, the error of held-out entries need not."""
    X, _ = tastes(noise=1.0)
    curve = MatrixFactorization(alpha=0.5, tol=1e-6, max_iter=1000).path(X, values=[1, 2, 4, 8])
    assert np.all(np.diff(curve.train_error) < 0)
    assert np.argmin(curve.error) in (1, 2)
    assert curve.error[-1] > 1.1 * curve.error.min()
