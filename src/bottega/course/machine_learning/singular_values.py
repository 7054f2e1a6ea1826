"""Chapter 11: singular values, and the nearest matrices of lower rank."""

from functools import partial

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._parts import Proof, all_hold, columns_of, gap
from bottega.course.experiment import Experiment, experiment
from bottega.latent import PCA, SingularDecomposition, low_rank, svd
from bottega.plot import dots_chart

__all__ = ["low_rank_approximation"]

# Ratings of five films by seven users, and the matrix of rank 2 that is printed for them (N147,
# N152); three rows that are nearly of rank 2, and the matrix printed for those (N149).
RATINGS = np.array(
    [
        [1.0, 1, 1, 0, 0],
        [3, 3, 3, 0, 0],
        [4, 4, 4, 0, 0],
        [5, 5, 5, 0, 0],
        [0, 2, 0, 4, 4],
        [0, 0, 0, 5, 5],
        [0, 1, 0, 2, 2],
    ]
)
PRINTED_RATINGS = np.array(
    [
        [0.92, 0.95, 0.92, 0.01, 0.01],
        [2.91, 3.01, 2.91, -0.01, -0.01],
        [3.90, 4.04, 3.90, 0.01, 0.01],
        [4.82, 5.00, 4.82, 0.03, 0.03],
        [0.70, 0.53, 0.70, 4.11, 4.11],
        [-0.69, 1.34, -0.69, 4.78, 4.78],
        [0.32, 0.23, 0.32, 2.01, 2.01],
    ]
)
NEARLY_FLAT = np.array([[1.01, 2.05, 0.9], [-2.1, -3.05, 1.1], [2.99, 5.01, 0.3]])
PRINTED_FLAT = np.array([[1.0, 2, 1], [-2, -3, 1], [3, 5, 0]])


@experiment(
    "N-X16",
    claim="Cutting off the smallest singular values gives the nearest matrix of lower rank, as "
    "the printed examples show.",
    items="N143-N156",
    verdict="holds only if the signs of the singular vectors agree: the printed matrix has rank 3 "
    "and is 2.632 away, the nearest one of rank 2 only 1.3456",
)
def low_rank_approximation(
    *, shape: tuple[int, int] = (12, 8), others: int = 2000, random_state: int = 0
) -> Experiment:
    """Cut off singular values of random and printed matrices, and try other matrices.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of the random matrix.
    others : int
        Matrices of rank 2 near the best one that are tried in its place.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    A = rng.normal(size=shape)
    parts = [*_dropped_squares(A), *_printed(), *_eigen(A)]
    best, rank = low_rank(RATINGS, 2), int(np.linalg.matrix_rank(PRINTED_RATINGS))
    tried = _nearby(RATINGS, best.parts, others, rng)
    parts.append(
        Proof("least error of other matrices of rank 2", tried, best.error, tried > best.error)
    )
    parts.append(Proof("rank of the printed matrix", rank, 2, rank == 3))
    by_name = {each.name: each for each in parts}
    ratings, flat = by_name["error of the printed ratings"], by_name["error of the printed rows"]
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"squared errors are the sums of the squares left out up to {parts[0].found:.0e}; "
        f"the printed matrix of ratings is {ratings.found:.3f} away, the nearest of rank 2 "
        f"{ratings.against:.4f}; the printed rows are {flat.found**2:.4f} away (squared), the "
        f"nearest {flat.against**2:.6f}",
        draw=partial(
            dots_chart,
            ["ratings of films", "three nearly flat rows"],
            {
                "printed": [ratings.found, flat.found],
                "nearest of rank 2": [ratings.against, flat.against],
            },
            x_title="distance from the matrix (Frobenius norm)",
            title="The printed matrices are not the nearest ones",
            subtitle="Signs of one pair of singular vectors disagree in the ratings; "
            "the other has whole numbers only",
            log_x=True,
        ),
    )


def _dropped_squares(A: FloatArray) -> list[Proof]:
    """Compare errors of all ranks with the squares of the singular values left out."""
    squares = svd(A).singular_values ** 2
    errors = np.array([np.sum((A - low_rank(A, k).matrix) ** 2) for k in range(1, len(squares))])
    rest = np.array([squares[k:].sum() for k in range(1, len(squares))])
    off = gap(errors, rest)
    kept = svd(RATINGS).rank_for(0.9)
    return [
        Proof("squared error against the squares left out", off, 0, off < 1e-10),
        Proof("concepts with 90 % of the squares of the ratings", kept, 2, kept == 2),
    ]


def _printed() -> list[Proof]:
    found = []
    for name, A, B in (
        ("error of the printed ratings", RATINGS, PRINTED_RATINGS),
        ("error of the printed rows", NEARLY_FLAT, PRINTED_FLAT),
    ):
        error, least = float(np.linalg.norm(A - B)), low_rank(A, 2).error
        found.append(Proof(name, error, least, error > 1.5 * least))
    return found


def _eigen(A: FloatArray) -> list[Proof]:
    """Compare singular values of centred rows and of a covariance with eigenvalues."""
    centred = A - A.mean(axis=0)
    S = centred.T @ centred / len(A)
    values = np.linalg.eigvalsh(S)[::-1]
    rows = gap(svd(centred).singular_values ** 2 / len(A), values)
    square = gap(svd(S).singular_values, values)
    axes = gap(svd(centred).Vt, PCA().fit(A).components_)
    return [
        Proof("squared singular values / N against eigenvalues", rows, 0, rows < 1e-10),
        Proof("singular values of a covariance against eigenvalues", square, 0, square < 1e-10),
        Proof("right singular vectors against principal components", axes, 0, axes < 1e-7),
    ]


def _nearby(
    A: FloatArray, parts: SingularDecomposition, others: int, rng: np.random.Generator
) -> float:
    """Return the least error among matrices whose two factors are moved at random."""
    errors = []
    for scale in np.geomspace(1e-3, 1, others):
        left = parts.scores + scale * rng.normal(size=parts.scores.shape)
        right = parts.Vt + scale * rng.normal(size=parts.Vt.shape)
        errors.append(float(np.linalg.norm(A - left @ right)))
    return min(errors)
