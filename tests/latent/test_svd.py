"""Singular values, low-rank approximations and concepts: the movie examples, corrected."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bottega.core.errors import InputError
from bottega.latent import PCA, low_rank, svd

MOVIES = ["Matrix", "Alien", "Serenity", "Casablanca", "Amelie"]
FIRST = np.zeros((7, 5))
FIRST[:4, :3] = np.array([[1, 3, 4, 5]]).T
FIRST[4:, 3:] = np.array([[4, 5, 2]]).T
SECOND = FIRST.copy()
SECOND[4, 1], SECOND[6, 1] = 2, 1
# The numbers of the notes are exact to the four (three) digits given.
FOUR, THREE = {"atol": 5.1e-5}, {"atol": 5.1e-4}


def test_disjoint_genres():
    found = svd(FIRST)
    assert found.rank == 2
    assert_allclose(found.singular_values, [12.3693, 9.4868], **FOUR)
    assert_allclose(found.singular_values**2, [153, 90])
    assert found.norm**2 == pytest.approx(243)
    assert_allclose(found.U[:, 0], [0.1400, 0.4201, 0.5601, 0.7001, 0, 0, 0], **FOUR)
    assert_allclose(found.U[:, 1], [0, 0, 0, 0, 0.5963, 0.7454, 0.2981], **FOUR)
    assert_allclose(found.Vt[0], [0.5774, 0.5774, 0.5774, 0, 0], **FOUR)
    assert_allclose(found.Vt[1], [0, 0, 0, 0.7071, 0.7071], **FOUR)
    assert_allclose(found.matrix(), FIRST, atol=1e-12)
    assert found.rank_for(0.9) == 2
    assert found.share[0] == pytest.approx(0.6296, abs=5e-5)


def test_overlapping_genres_with_signs_that_fit_together():
    found = svd(SECOND)
    assert found.rank == 3
    assert_allclose(found.singular_values, [12.4810, 9.5086, 1.3456], **FOUR)
    assert_allclose(np.cumsum(found.share), [0.6281, 0.9927, 1], **FOUR)
    assert found.norm**2 == pytest.approx(248)
    assert found.rank_for(0.9) == 2
    # The notes print u3 and v3 with signs whose product is minus the concept. These fit together:
    # the entry of largest size of v3, that of Alien, is positive.
    v3 = [-0.4097, 0.8048, -0.4097, -0.0913, -0.0913]
    u3 = [-0.0108, -0.0324, -0.0432, -0.0540, 0.6537, -0.6782, 0.3268]
    assert_allclose(found.Vt[2], v3, **FOUR)
    assert_allclose(found.U[:, 2], u3, **FOUR)
    wrong = found.U * [1, 1, -1] * found.singular_values @ found.Vt
    assert np.linalg.norm(SECOND - wrong) == pytest.approx(2 * found.singular_values[2])
    # Users on the axes of the concepts, A V = U Sigma.
    assert_allclose(found.scores, SECOND @ found.Vt.T, atol=1e-12)
    assert_allclose(found.project(SECOND), found.scores, atol=1e-12)
    assert_allclose(
        found.scores[:, 0], [1.7174, 5.1521, 6.8695, 8.5869, 1.9068, 0.9013, 0.9534], **FOUR
    )
    assert_allclose(
        np.abs(found.scores[:, 1]), [0.2245, 0.6735, 0.8980, 1.1226, 5.6206, 6.9538, 2.8103], **FOUR
    )


def test_best_rank_two_of_the_movies():
    best = low_rank(SECOND, 2)
    assert best.error == pytest.approx(1.3456, abs=5e-5)
    expected = [
        [0.994, 1.012, 0.994, -0.001, -0.001],
        [2.982, 3.035, 2.982, -0.004, -0.004],
        [3.976, 4.047, 3.976, -0.005, -0.005],
        [4.970, 5.059, 4.970, -0.007, -0.007],
        [0.360, 1.292, 0.360, 4.080, 4.080],
        [-0.374, 0.734, -0.374, 4.917, 4.917],
        [0.180, 0.646, 0.180, 2.040, 2.040],
    ]
    assert_allclose(best.matrix, expected, **THREE)
    assert np.linalg.matrix_rank(best.matrix) == 2
    # The matrix that the notes print as "rank 2" is about A less twice the third concept.
    printed = SECOND - 2 * np.outer(svd(SECOND).scores[:, 2], svd(SECOND).Vt[2])
    assert np.linalg.norm(SECOND - printed) > 1.9 * best.error


def test_a_rank_two_approximation_need_not_be_the_best():
    A = np.array([[1.01, 2.05, 0.9], [-2.1, -3.05, 1.1], [2.99, 5.01, 0.3]])
    B = np.array([[1.0, 2, 1], [-2, -3, 1], [3, 5, 0]])
    assert np.linalg.matrix_rank(B) == 2
    assert np.sum((A - B) ** 2) == pytest.approx(0.1253, abs=5e-5)
    assert_allclose(svd(A).singular_values, [7.2725, 1.4816, 0.0262], **FOUR)
    assert low_rank(A, 2).error ** 2 == pytest.approx(0.000687, abs=5e-7)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 8), st.integers(0, 1000))
def test_no_matrix_of_the_rank_is_nearer(n, p, k, seed):
    rng = np.random.default_rng(seed)
    A, k = rng.normal(size=(n, p)), min(k, n, p)
    best = low_rank(A, k)
    s = np.linalg.svd(A, compute_uv=False)
    assert best.error == pytest.approx(np.sqrt(np.sum(s[k:] ** 2)), abs=1e-12)
    assert np.linalg.norm(A - best.matrix) == pytest.approx(best.error, abs=1e-10)
    for _ in range(5):
        near = best.parts.U + 0.1 * rng.normal(size=(n, k))
        other = near @ np.linalg.lstsq(near, A, rcond=None)[0] if k else np.zeros((n, p))
        assert np.linalg.norm(A - other) >= best.error - 1e-10


def test_concepts_in_words():
    found = svd(pd.DataFrame(SECOND, columns=MOVIES)).concepts()
    assert found["columns"].tolist() == [
        "Alien, Matrix, Serenity",
        "Casablanca, Amelie",
        "Alien against Matrix, Serenity",
    ]
    assert found["strength"].tolist() == pytest.approx([12.4810, 9.5086, 1.3456], abs=5e-5)
    assert isinstance(svd(pl.DataFrame(SECOND, schema=MOVIES)).concepts(), pl.DataFrame)
    assert "Casablanca, Amelie" in str(svd(SECOND, names=MOVIES))
    assert "rank" in str(low_rank(SECOND, 1))


def test_centred_it_is_principal_components():
    A = SECOND - SECOND.mean(axis=0)
    found, model = svd(A), PCA(3).fit(SECOND)
    assert_allclose(found.singular_values[:3], model.singular_values_, rtol=1e-9)
    assert_allclose(found.Vt[:3], model.components_, atol=1e-9)


def test_few_concepts_of_large_matrices():
    table = scipy.sparse.random(3000, 2000, density=0.002, random_state=0, format="csr")
    found = svd(table, 3)
    # Singular pairs: A v = s u and A'u = s v; that they are the largest, powers of A'A tell.
    residual = table @ found.Vt.T - found.U * found.singular_values
    assert np.abs(residual).max() < 1e-8
    assert np.abs(table.T @ found.U - found.Vt.T * found.singular_values).max() < 1e-8
    v = np.ones(2000)
    for _ in range(300):
        v = table.T @ (table @ v)
        v /= np.linalg.norm(v)
    assert np.linalg.norm(table @ v) <= found.singular_values[0] * (1 + 1e-9)
    assert np.linalg.norm(table @ v) == pytest.approx(found.singular_values[0], rel=1e-3)
    assert found.norm == pytest.approx(np.linalg.norm(table.data))
    with pytest.raises(InputError, match="dense"):
        svd(table)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_units_do_not_matter(factor):
    assert_allclose(svd(SECOND * factor).singular_values / factor, svd(SECOND).singular_values)
    assert low_rank(SECOND * factor, 2).error / factor == pytest.approx(1.3456, abs=5e-5)


def test_bad_matrices_are_refused():
    with pytest.raises(InputError, match="k=6"):
        svd(FIRST, 6)
    with pytest.raises(InputError, match="k=-1"):
        low_rank(FIRST, -1)
    with pytest.raises(InputError, match="NaN"):
        svd([[1.0, np.nan]])
    with pytest.raises(InputError, match="3 names"):
        svd(FIRST, names=["a", "b", "c"])
    with pytest.raises(InputError, match="share=0"):
        svd(FIRST).rank_for(0)
    with pytest.raises(InputError, match="without k"):
        svd(SECOND, 1).rank_for(0.9)
    empty = svd(np.zeros((3, 2)))
    assert empty.rank == 0
    assert_allclose(low_rank(np.zeros((3, 2)), 1).matrix, 0)
