"""The directions in which rows vary, and how much: what every number of components shares."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.moments import Moments
from bottega.core.row_factor import RowFactor
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.signs import signed
from bottega.core.sparse import is_sparse, small_as_dense
from bottega.core.typing import FloatArray
from bottega.core.validate import check_columns
from bottega.latent._decomposition.graded import axes_of_factor, axes_of_scatter
from bottega.latent._decomposition.leading import by_lanczos, by_randomized_range
from bottega.latent._pca.centred import (
    CentredRows,
    column_squares,
    constant_columns,
    moments_of,
    scale_of,
)
from bottega.latent._pca.solvers import (
    by_dual,
    by_full_svd,
    by_power_iteration,
    choose_solver,
    completed,
    warn_slow_power,
)

__all__ = [
    "ComponentSolver",
    "Directions",
    "check_count",
    "divisor_of",
    "from_moments",
    "from_rows",
]


_LARGE = 1000  # columns from which on only the eigenvectors that are needed are computed


@dataclass(frozen=True)
class ComponentSolver:
    """How the directions are found: parameters of the estimator."""

    name: str
    k: int | None  # how many are needed; None for all
    tol: float = 0.0
    iterations: Any = "auto"
    oversamples: int = 10
    normalizer: str = "auto"
    random_state: Any = None
    device: str | None = None


@dataclass(frozen=True)
class Directions:
    """Eigenvectors of the covariance matrix of (scaled) columns, with their variances."""

    variances: FloatArray  # (m,): divisor n - 1, largest first
    V: FloatArray  # (p, m)
    total: float  # sum of the variances of all directions
    mean: FloatArray  # (p,)
    scale: FloatArray  # (p,): what the centred columns are divided by
    column_variances: FloatArray  # (p,): of the scaled columns
    n: int  # rows with a positive weight
    weight: float
    solver: str
    n_iter: list[int] | None = None
    growing: bool = False  # whether more rows may come: then there may be few directions so far

    @property
    def p(self) -> int:
        """Number of columns."""
        return len(self.mean)

    @property
    def size(self) -> int:
        """Number of directions that there are."""
        return min(self.n, self.p)

    @property
    def complete(self) -> bool:
        """Whether all directions are known."""
        return len(self.variances) >= self.size

    @property
    def divisor(self) -> float:
        """What sums of squares are divided by: the sum of the weights, less one row."""
        return divisor_of(self.n, self.weight)

    def first(self, k: int) -> FloatArray:
        """Return the first k directions, as columns."""
        return completed(self.V, k)

    def check_count(self, k: int) -> int:
        """Return k, or refuse it where there are not so many directions."""
        check_count(k, self.n, self.p)
        if k > len(self.variances):
            raise InputError(
                f"n_components={k} is more than the {len(self.variances)} components that the "
                f"estimator was asked for (svd_solver={self.solver!r}); give it n_components=None."
            )
        return k

    def discarded(self, counts: Any) -> FloatArray:
        """Return the variance that is lost beyond each number of components."""
        kept = np.concatenate([[0.0], np.cumsum(self.variances)])
        if self.complete:  # summed from the least, so that small numbers stay
            beyond = np.concatenate([np.cumsum(self.variances[::-1])[::-1], [0.0]])
            return np.asarray(beyond[counts])
        return np.asarray(np.maximum(self.total - kept[counts], 0.0))


def check_count(k: int, n: int, p: int) -> None:
    """Refuse more components than an n by p table has directions."""
    if k > min(n, p):
        raise InputError(
            f"n_components={k} is not allowed: {n} rows of {p} columns have at most {min(n, p)} "
            f"directions; give at most min(n_samples, n_features)={min(n, p)}."
        )


def divisor_of(n: int, weight: float) -> float:
    """Return n - 1, in weights: they count as repeated rows, unless they sum to less than n."""
    return weight - min(1.0, weight / n)


def from_moments(
    moments: Moments,
    standardize: bool,
    k: int | None = None,
    growing: bool = False,
    needed: int | None = None,
    again: Callable[[FloatArray, FloatArray], RowFactor] | None = None,
) -> Directions:
    """Return the directions from moments: of rows in memory, in chunks or in a stream.

    `again` passes over the rows once more and returns their factor (`CentredRows.factor`), given
    what is taken off the columns and what they are divided by: where the variances of the first
    directions, as many as are `needed` (None: all), have lost digits as squares.
    """
    weight, mean = moments.weight, moments.mean
    variance = np.maximum(np.diag(moments.scatter), 0.0) / weight
    scale = scale_of(mean, variance, standardize)
    inverse = np.where(constant_columns(mean, variance), 0.0, 1 / scale)
    scatter = moments.scatter * np.outer(inverse, inverse)
    found, solver = axes_of_scatter(scatter, k), "covariance_eigh"
    size = min(moments.count, moments.p)
    # What is left out is the noise: its largest variance counts, too.
    if again is not None and not found.sure[: size if needed is None else needed + 1].all():
        with np.errstate(divide="ignore"):
            R = again(mean, 1 / inverse).R[1:, 1:]
        found, solver = axes_of_factor(R, moments.count), "qr"
    unit = divisor_of(moments.count, weight)
    spread = np.diag(scatter) / unit
    return Directions(
        found.values[:size] / unit,
        signed(found.V[:, :size]),
        float(spread.sum()),
        mean,
        scale,
        spread,
        moments.count,
        weight,
        solver,
        growing=growing,
    )


def from_rows(rows: Rows, standardize: bool, how: ComponentSolver) -> Directions:
    """Return the directions of rows in memory."""
    X, w = small_as_dense(rows.X), rows.weight
    n, p = X.shape
    small = min(n, p)
    if how.k is not None:
        check_count(how.k, n, p)
    name = _named(how, X)
    if how.name == "auto" and name == "randomized" and is_sparse(rows.X):
        name = "arpack"  # a small sparse table gets the exact answer that a large one gets
    if how.device is None and name == "covariance_eigh" and p <= n:
        again = None
        if how.name == "auto" and not is_sparse(X):

            def again(mean: FloatArray, scale: FloatArray) -> RowFactor:
                return CentredRows(X, w, mean, scale).factor()

        most = how.k if p > _LARGE else None
        return from_moments(moments_of(X, w), standardize, most, needed=how.k, again=again)
    if how.device is not None and how.name != "auto":
        raise ParameterError(
            f"svd_solver={how.name!r} runs on the processor; with device={how.device!r} use "
            "svd_solver='auto', or use device=None."
        )
    if how.device is not None and is_sparse(X):
        raise ParameterError(
            f"device={how.device!r} would make this large sparse table dense; use device=None."
        )
    weight = rows.total_weight
    with np.errstate(over="ignore", invalid="ignore"):
        centred = CentredRows.about_mean(X, w, standardize)
        squares = column_squares(centred)
        check_columns(squares * centred.scale**2 / weight, mean=centred.mean)
    taken = None
    if how.device is not None:
        from bottega.latent._pca.torch import decompose_on

        lam, V = decompose_on(how.device, centred)
        name = f"torch ({how.device})"
    elif name == "full":
        lam, V = by_full_svd(centred)
    elif name == "covariance_eigh":
        lam, V = by_dual(centred)
    else:
        lam, V, taken = _iterated(name, centred, how)
    unit = divisor_of(n, weight)
    return Directions(
        lam[:small] / unit,
        signed(V[:, :small]),
        float(squares.sum()) / unit,
        centred.mean,
        centred.scale,
        squares / unit,
        n,
        weight,
        name,
        taken,
    )


def _named(how: ComponentSolver, X: Any) -> str:
    n, p = X.shape
    name = how.name
    if name == "auto":
        return choose_solver(n, p, how.k, X.nnz if is_sparse(X) else None)
    if name == "arpack" and (how.k is None or how.k >= min(n, p)):
        raise ParameterError(
            f"svd_solver='arpack' finds fewer components than min(n_samples, n_features)="
            f"{min(n, p)}: give n_components a smaller number, or use svd_solver='full'."
        )
    if name == "full" and is_sparse(X):
        raise ParameterError(
            "svd_solver='full' would make this large sparse table dense; use 'auto', 'arpack', "
            "'randomized' or 'covariance_eigh'."
        )
    return name


def _iterated(
    name: str, centred: CentredRows, how: ComponentSolver
) -> tuple[Any, Any, list[int] | None]:
    n, p = centred.shape
    k = min(n, p) if how.k is None else how.k
    seed = seed_of(how.random_state)
    if k == 0:
        return np.zeros(0), np.zeros((p, 0)), None
    if name == "arpack":
        cure = "give a larger tol, or another svd_solver"
        return *by_lanczos(centred, k, tol=how.tol, seed=seed, cure=cure), None
    if name == "randomized":
        found = by_randomized_range(
            centred,
            k,
            iterations=how.iterations,
            oversamples=how.oversamples,
            normalizer=how.normalizer,
            seed=seed,
        )
        return *found, None
    if p <= max(n, 500):
        moments = moments_of(centred.X, centred.w)
        scatter = moments.scatter / np.outer(centred.scale, centred.scale)

        def multiply(v: FloatArray) -> FloatArray:
            return scatter @ v
    else:

        def multiply(v: FloatArray) -> FloatArray:
            return centred.scatter_times(v[:, None])[:, 0]

    options = {"steps": how.iterations, "tol": how.tol, "seed": seed}
    lam, V, taken, converged = by_power_iteration(multiply, p, k, **options)
    if not converged:
        warn_slow_power(taken)
    return lam, V, taken
