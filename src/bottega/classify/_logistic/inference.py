"""What a likelihood without a penalty says: standard errors, tests, profiles, separation."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, optimize, sparse, stats

from bottega.classify._logistic.work import PreparedLikelihood
from bottega.core.errors import InputError
from bottega.core.rows import Rows
from bottega.core.sparse import is_sparse
from bottega.core.typing import BoolArray, FloatArray
from bottega.optimize.coordinate_columns import columns_of
from bottega.optimize.multinomial import MemoryRows
from bottega.optimize.proximal_newton import LogisticProblem

# Eigenvalues of a scaled information matrix that are zero, and parts of a direction that are.
_SINGULAR, _PART = 1e-10, 1e-6
# Curvature, against that without inputs, below which classes may be separated.
_FLAT = 1e-4
# Numbers in the linear program that decides it, beyond which it takes too long.
_MOST = 20_000_000
# Steps towards one end of a profile interval, and standard errors beyond which it has none.
_STEPS, _FAR = 60, 1e4


@dataclass(frozen=True)
class LikelihoodTest:
    """A test of a restriction against the chi-squared distribution.

    Attributes
    ----------
    statistic : float
        Twice the gain in log-likelihood, or the squared distance from zero in standard errors.
    df : float
        Parameters that the restriction takes away.
    p_value : float
        Probability of a statistic at least as large where the restriction holds.
    """

    statistic: float
    df: float
    p_value: float


def chi_squared(statistic: float, df: float) -> LikelihoodTest:
    """Return the test of a statistic with so many degrees of freedom."""
    return LikelihoodTest(statistic, df, float(stats.chi2.sf(statistic, df)))


def covariance_of(prepared: PreparedLikelihood) -> FloatArray:
    """Return the covariance of intercepts and coefficients, those of one score after the other.

    It is the inverse of the information, on contrasts of the classes. What the rows cannot tell
    (of columns that depend on others) is NaN.
    """
    problem = prepared.problem
    T, p = problem.B.shape
    B = problem.B * problem.inverse
    found = problem.rows.curvature(np.arange(p), B, problem.b0)
    info = np.zeros((T, p + 1, T, p + 1))
    info[:, 1:, :, 1:], info[:, 0, :, 0] = found.G, found.total
    info[:, 1:, :, 0] = found.cross
    info[:, 0, :, 1:] = found.cross.transpose(2, 0, 1)
    first = 0 if problem.fit_intercept else 1
    info = info[:, first:, :, first:]
    m = p + 1 - first
    flat = info.reshape(T * m, T * m) * problem.weight
    scale = np.sqrt(np.maximum(np.diagonal(flat), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    size, V = linalg.eigh(flat / np.outer(scale, scale))
    real = size > _SINGULAR * size[-1]
    V = V / scale[:, None]
    covariance = (V[:, real] / size[real]) @ V[:, real].T
    if T > 1:  # only contrasts of the classes have a meaning
        contrast = np.kron(np.eye(T) - 1 / T, np.eye(m))
        covariance = contrast @ covariance @ contrast
        V = contrast @ V
    lost = np.linalg.norm(V[:, ~real] * scale[:, None], axis=1) > _PART
    back = np.diag(np.append(1.0, prepared.factor))
    back[0, 1:] = -prepared.shift * prepared.factor
    back = np.kron(np.eye(T), back[first:, first:])
    covariance = back @ covariance @ back.T
    covariance[lost], covariance[:, lost] = np.nan, np.nan
    return np.asarray(covariance)


def is_flat(prepared: PreparedLikelihood) -> bool:
    """Return whether some direction has next to no curvature left: classes may be separated."""
    problem = prepared.problem
    B = problem.B * problem.inverse
    found = problem.rows.curvature(problem.W, B[:, problem.W], problem.b0)
    shares = np.sort(problem.shares)
    least = float(np.min(np.diagonal(found.total)))
    H, _, _ = found.reduced(problem.fit_intercept)
    scale = np.tile(problem.inverse[problem.W], problem.scores)
    curved = np.diagonal(H) * scale**2
    usual = float(shares[0] * shares[1])
    return bool(min(least, np.min(curved, initial=np.inf)) < _FLAT * usual)


def separation(prepared: PreparedLikelihood) -> tuple[str, BoolArray] | None:
    """Return how the classes can be separated, and by which columns; None if they cannot.

    A direction of the coefficients along which no row's own class loses to another, and some win,
    is sought by linear programming: along it the likelihood grows without end [1]_.

    References
    ----------
    .. [1] Konis, K. (2007). Linear programming algorithms for detecting separated data in binary
       logistic regression models. DPhil thesis, University of Oxford.
    """
    problem = prepared.problem
    rows = problem.rows
    assert isinstance(rows, MemoryRows)
    K, T = rows.K, max(problem.scores - 1, 1)
    Z = rows.columns.A
    Z = np.asarray(Z.toarray() if is_sparse(Z) else Z) * problem.inverse
    used, codes = rows.v > 0, rows.codes
    Z, codes = Z[used], codes[used]
    if problem.fit_intercept:
        Z = np.column_stack([np.ones(len(Z)), Z])
    n, d = Z.shape
    if n * (K - 1) * d * T > _MOST:
        return None
    # Scores of all classes but the last, which is zero; a block of rows for each other class.
    parts = []
    for other in range(K):
        here = codes != other
        block = np.zeros((np.count_nonzero(here), K, d))
        block[np.arange(len(block)), codes[here]] += Z[here]
        block[:, other] -= Z[here]
        parts.append(block[:, :-1].reshape(len(block), -1))
    A = np.vstack(parts)
    A = A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), np.finfo(float).tiny)
    answer: Any = optimize.linprog(
        -A.sum(axis=0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1, 1), method="highs"
    )
    if answer.x is None or not -answer.fun > 1e-7 * len(A):
        return None
    direction = answer.x.reshape(K - 1, d)
    apart = np.all(problem.point.own[used] > np.log(0.5))
    kind = "completely" if apart else "in part"
    size = np.max(np.abs(direction), axis=0)[int(problem.fit_intercept) :]
    return kind, size > 1e-6


class LikelihoodProfile:
    """A likelihood without a penalty whose coefficients can be held at given values.

    The intercept is the coefficient of a column of ones, the first, as any other.
    """

    def __init__(self, rows: Rows, estimates: FloatArray, fit_intercept: bool) -> None:
        X = rows.X
        if fit_intercept:
            ones = np.ones((X.shape[0], 1))
            stack: Any = sparse.hstack if is_sparse(X) else np.hstack
            X = stack([ones, X])
        w, K = rows.weights, int(rows.y.max()) + 1
        columns = columns_of(X, w, standardize=True, fit_intercept=False)
        scaling = columns.scaling(w, standardize=True, fit_intercept=False)
        shares = np.bincount(rows.y, w) / w.sum()
        self.problem = LogisticProblem(
            MemoryRows(columns, rows.y, w, K), shares, scaling, l1_ratio=0.0, fit_intercept=False
        )
        self._factor = columns.factor
        self.estimates = estimates  # (T, m)
        self._base: int | None = None  # the score that is zero, where one is
        self.best = self.deviance(estimates, np.zeros(estimates.shape, dtype=bool))

    def deviance(self, start: FloatArray, held: BoolArray) -> float:
        """Return the least deviance with some coefficients held at their values in `start`."""
        problem = self.problem
        problem.move(problem.own(start / self._factor), np.zeros(problem.scores))
        problem.look_at(np.arange(len(problem.mean)))
        problem.descend(0.0, 1e-14 * problem.null, 100, ~held)
        return 2 * problem.weight * problem.point.nll

    def current(self) -> FloatArray:
        """Return the coefficients where the last deviance was."""
        problem = self.problem
        return np.asarray(problem.B * problem.inverse * self._factor)

    def compare_with(self, base: int) -> None:
        """Take the coefficients of one class for zero, so that the others are against it."""
        self.estimates, self._base = self.estimates - self.estimates[base], base

    def limit(self, t: int, j: int, std_error: float, quantile: float) -> float:
        """Return where the deviance is `quantile` squared above its least, on one side.

        `quantile` has the sign of the side. Newton on the signed root of the deviance, which is
        nearly linear in the coefficient.
        """
        start = self.estimates.copy()
        held = np.zeros(start.shape, dtype=bool)
        held[t, j] = True
        if self._base is not None:
            held[self._base] = True
        centre, goal = float(start[t, j]), quantile**2
        c = centre + quantile * std_error
        for _ in range(_STEPS):
            start[t, j] = c
            rise = self.deviance(start, held) - self.best
            slope = -2 * self.problem.weight * self.problem.point.slope[t, j] / self._factor[j]
            if abs(rise - goal) <= 1e-9 * goal:
                return c
            root = np.sqrt(max(rise, 1e-12 * goal))
            rate = slope / (2 * root)  # of the root
            if not rate * quantile > 0:
                return float(np.sign(quantile)) * np.inf
            step = (abs(quantile) - root) / rate
            c += float(np.clip(step, -2 * abs(c - centre), 2 * abs(c - centre)))
            if abs(c - centre) > _FAR * std_error:
                return float(np.sign(quantile)) * np.inf
            start = self.current()
        return c


def check_nested(small: Any, big: Any) -> None:
    """Refuse fits whose likelihoods cannot be compared."""
    for model in (small, big):
        if getattr(model, "alpha_", None) != 0:
            raise InputError(
                "A likelihood-ratio test compares fits without a penalty: fit both with C=inf."
            )
    if small._totals["n"] != big._totals["n"] or not np.isclose(
        small._totals["null"], big._totals["null"], rtol=1e-9
    ):
        raise InputError("A likelihood-ratio test needs two fits of the same rows; these differ.")
    if not big.df_ > small.df_:
        raise InputError(
            f"The first fit must be the smaller: df {small.df_:g} is not below {big.df_:g}."
        )
