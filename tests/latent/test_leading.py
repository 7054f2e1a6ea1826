"""The one place where leading eigenvectors and singular vectors are found."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import ArpackNoConvergence

import bottega.latent
from bottega.core.errors import InputError
from bottega.latent._decomposition import leading
from bottega.latent._decomposition.leading import (
    MatrixProducts,
    by_lanczos,
    by_randomized_range,
    from_dual,
    leading_eigenvectors,
    rough_singular_vectors,
    singular_vectors,
)


def matrix(n, p, seed=0):
    """Singular values 1, 1/2, 1/4, ...: far enough apart for every algorithm."""
    rng = np.random.default_rng(seed)
    small = min(n, p)
    U = np.linalg.qr(rng.normal(size=(n, small)))[0]
    V = np.linalg.qr(rng.normal(size=(p, small)))[0]
    return (U * 0.5 ** np.arange(small)) @ V.T


def close(found, A, k, rtol):
    U, d, Vt = found
    assert U.shape == (A.shape[0], k)
    assert Vt.shape == (k, A.shape[1])
    np.testing.assert_allclose(d, 0.5 ** np.arange(k), rtol=rtol)
    np.testing.assert_allclose(U.T @ U, np.eye(k), atol=1e-10)
    np.testing.assert_allclose(Vt @ Vt.T, np.eye(k), atol=1e-10)
    # Each pair belongs together: A v = d u.
    np.testing.assert_allclose(A @ Vt.T, U * d, atol=max(rtol, 1e-12))


@pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_way_finds_the_same_singular_vectors(shape, sparse, monkeypatch):
    A = matrix(*shape)
    table = csr_matrix(A) if sparse else A
    if not sparse:
        close(singular_vectors(A, 4), A, 4, 1e-12)
    close(singular_vectors(table, 4, iterated=True), A, 4, 1e-10)
    close(rough_singular_vectors(table, 4), A, 4, 1e-12)
    monkeypatch.setattr(leading, "SMALL", 0)
    close(rough_singular_vectors(table, 4), A, 4, 1e-10)  # through A'A
    monkeypatch.setattr(leading, "_GRAM", 0)
    close(rough_singular_vectors(table, 4), A, 4, 1e-10)  # 14 random products, 4 or more steps


def test_eigenvectors_of_a_part_and_of_all_agree():
    A = matrix(50, 24)
    S = A.T @ A
    values, V = leading_eigenvectors(S)
    few, W = leading_eigenvectors(S, 3)  # computed alone
    np.testing.assert_allclose(few, values[:3], rtol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(V[:, :3] * W, axis=0)), 1, rtol=1e-12)
    for found in (
        by_randomized_range(MatrixProducts(A), 3),
        by_lanczos(MatrixProducts(A), 3, cure=""),
    ):
        np.testing.assert_allclose(found[0], values[:3], rtol=1e-10)
        np.testing.assert_allclose(np.abs(np.sum(V[:, :3] * found[1], axis=0)), 1, rtol=1e-8)


def test_the_dual_product_leaves_out_what_is_rounding():
    A = matrix(5, 40)
    A = np.vstack([A, A[:2]])  # rank 5 of 7 rows
    values, V = from_dual(A @ A.T, A)
    assert len(values) == V.shape[1] == 5
    np.testing.assert_allclose(V.T @ V, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(A @ V, axis=0) ** 2, values, rtol=1e-8)
    assert from_dual(np.zeros((3, 3)), np.zeros((3, 4)))[1].shape == (4, 0)


def test_more_than_there_are_and_too_little_time(monkeypatch):
    assert len(rough_singular_vectors(np.eye(3), 9)[1]) == 3

    def slow(*args, **options):
        raise ArpackNoConvergence("no", np.ones(2), np.ones((5, 2)))

    monkeypatch.setattr(leading, "eigsh", slow)
    with pytest.raises(InputError, match=r"found 2 of 3 components: try that\."):
        by_lanczos(MatrixProducts(np.eye(5)), 3, cure="try that")


def test_no_other_file_of_the_topic_finds_them_its_own_way():
    folder = Path(bottega.latent.__file__).parent
    for path in folder.rglob("*.py"):
        text = path.read_text()
        if path.name != "leading.py":
            assert not any(word in text for word in ("svds", "randomized_svd", "eigsh(")), path
