"""Worked numbers and helpers of the chapters on dimension reduction and clustering."""

import numpy as np
import pytest

from bottega import course
from bottega.course._parts import Proof, all_hold, columns_of, gap
from bottega.course.machine_learning import (
    clustering,
    dimension_reduction,
    matrix_factorization,
    singular_values,
)


def parts(name, **options):
    frame = getattr(course, name)(**options).to_frame()
    return {row["part"]: row for row in frame.to_dict("records")}


def test_columns_of_parts():
    good, bad = Proof("a", 1, 2, True), Proof("b", 3, 4, False)
    assert all_hold([good])
    assert not all_hold([good, bad])
    assert columns_of([good, bad])["supported"] == [True, False]
    assert gap([0.0, 3.0], [1.0, 4.0]) == 0.25


def test_n_x14_a_threshold_that_no_rotation_reaches():
    """With a threshold below both variances the filter never drops, and the verdict fails."""
    found = course.rotated_variance(threshold=1e-4)
    assert not found.holds
    rotation = dimension_reduction._rotation(30)
    assert rotation @ rotation.T == pytest.approx(np.eye(2))
    assert rotation[0] == pytest.approx([np.sqrt(3) / 2, 0.5])


def test_n_x15_no_outliers_turn_nothing():
    assert not course.probabilistic_components(distances=(0.0, 1.0)).holds
    found = parts("probabilistic_components")
    assert found["degrees that the axis turns, farthest outliers"]["compared with"] < 3


@pytest.mark.parametrize("seed", [3, 4])  # whose ratios, 0.62 and 0.60, are among the largest tenth
def test_n_x15_imputation_is_better_than_means_for_other_draws(seed):
    found = parts("probabilistic_components", random_state=seed)
    row = found["error of imputed values, of column means"]
    assert 0.59 < row["found"] / row["compared with"] < 0.65
    assert row["supported"]


def test_n_x17_shows_both_tables_that_singular_vectors_take():
    found = course.factors_of_ratings()
    told = {row["part"] for row in found.to_frame().to_dict("records")}
    assert any("SVD with zeros" in part for part in told)
    assert any("SVD with the mean" in part for part in told)
    assert "fair comparison" in found.finding
    chart = found.plot().to_dict()
    names = {row["line"] for row in chart["data"]["values"]}
    assert len(names) == 4
    # The legend is one line above a chart of 640 points; a letter has about 7, a symbol 40.
    assert sum(7 * len(name) + 40 for name in names) < 640


def test_n_x16_the_numbers_of_the_notes():
    found = parts("low_rank_approximation", others=50)
    ratings, rows = found["error of the printed ratings"], found["error of the printed rows"]
    assert ratings["found"] == pytest.approx(2.632, abs=5e-4)
    assert ratings["compared with"] == pytest.approx(1.3456, abs=5e-5)
    assert rows["found"] ** 2 == pytest.approx(0.1253, abs=5e-5)
    assert rows["compared with"] ** 2 == pytest.approx(0.000687, abs=5e-7)
    # The printed matrix is about A less twice its third concept: the sign of one vector is wrong.
    A, B = singular_values.RATINGS, singular_values.PRINTED_RATINGS
    U, s, Vt = np.linalg.svd(A)
    twice = A - 2 * s[2] * np.outer(U[:, 2], Vt[2])
    assert np.linalg.norm(B - twice) < 0.4 < 1 < np.linalg.norm(B - A)


def test_n_x17_a_penalty_by_hand():
    """One factor, ratings 2 and 4 of items 1 and 1: 3 without a penalty, 6 / (2 + 1) with 1."""
    from types import SimpleNamespace

    model = SimpleNamespace(
        item_factors_=np.ones((2, 1)), mean_=0.0, user_biases_=np.zeros(1), item_biases_=np.zeros(2)
    )
    data = matrix_factorization._Sampled(np.array([[2.0, 4.0]]), np.ones((1, 2), dtype=bool))
    assert matrix_factorization._kept_length(model, data, 0, 1.0) == pytest.approx(2 / 3)


def test_n_x17_known_and_held_out_are_apart():
    data = matrix_factorization._ratings(20, 10, 0.3, 0)
    assert np.all(np.isnan(data.table) == data.hidden)
    assert np.all(data.filled[data.hidden] == 0)
    assert data.seen.any(axis=0).all()
    assert data.seen.any(axis=1).all()


def test_n_x18_errors_of_the_boolean_example():
    """N168: 3 errors with (1, 0) in the last row, 2 with (1, 1), 1 with (0, 1)."""
    codes = matrix_factorization.PRINTED_CODES.copy()
    errors = []
    for last in ([1, 0], [1, 1], [0, 1]):
        codes[-1] = last
        wrong = (codes @ matrix_factorization.PATTERNS > 0) != matrix_factorization.BITS
        errors.append(int(wrong.sum()))
    assert errors == [3, 2, 1]
    assert (
        matrix_factorization._bars(4).reshape(4, 4, 4)[0].tolist() == [[1] * 4] * 2 + [[0] * 4] * 2
    )


def test_n_x19_an_objective_by_hand():
    X, centers = np.array([[0.0], [2.0], [10.0]]), np.array([[1.0], [10.0]])
    assert clustering._objective(X, centers) == 2.0


def test_n_x20_fourth_moment_of_half_of_two_densities():
    """(3 + 24 + 16) / 25 - 3 by quadrature."""
    x = np.linspace(-12, 12, 20_001)
    density = np.mean([np.exp(-((x - m) ** 2) / 2) / np.sqrt(2 * np.pi) for m in (-2, 2)], axis=0)
    second, fourth = (np.sum(density * x**power) * (x[1] - x[0]) for power in (2, 4))
    found = parts("mixtures_and_bounds", rows=150, starts=2)
    exact = found["excess kurtosis of half of two densities, exact"]["compared with"]
    assert exact == pytest.approx(fourth / second**2 - 3, abs=1e-6)
