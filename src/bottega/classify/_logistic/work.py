"""Rows prepared for logistic regression: fits at any penalties, on all rows and without folds."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from bottega.core.rows import Rows
from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize.coordinate_columns import InputColumns, columns_of
from bottega.optimize.logistic_path import NEWTON, FreedomKind, LogisticSolution, Stop, walk
from bottega.optimize.multinomial import MemoryRows
from bottega.optimize.proximal_newton import LogisticProblem

# Between the strongest penalty and a given one, a step at most this large keeps Newton near.
_STEP = 4.0
# A fit to many rows starts from one to every eighth of them, if these are so many times the
# coefficients.
_EVERY, _ENOUGH, _MANY = 8, 20, 16_384
# Rows up to which the products of all pairs of sparse ones are made.
_MOST_SPARSE = 2000
# Coefficients beyond which one fit to sparse rows is by slopes alone: rotating the rows, or making
# second derivatives, takes ten times as long.
_FEW_SPARSE = 500


@dataclass(frozen=True)
class LogisticDescent:
    """What all fits of an estimator have in common."""

    l1_ratio: float
    standardize: bool
    fit_intercept: bool
    tol: float
    max_iter: int
    relax: bool = False


@dataclass(frozen=True)
class PreparedLikelihood:
    """A problem, the classes among its rows, and the way back to the user's columns."""

    problem: LogisticProblem
    present: IntArray
    shift: FloatArray
    factor: FloatArray
    rotation: FloatArray | None = None

    def original(self, found: LogisticSolution) -> LogisticSolution:
        """Return the fits on the user's columns, the intercepts of several classes summing to 0."""
        coef = found.coef if self.rotation is None else found.coef @ self.rotation
        coef = coef * self.factor
        intercept = np.zeros_like(found.intercept)
        if self.problem.fit_intercept:
            intercept = found.intercept - coef @ self.shift
            if intercept.shape[1] > 1:
                intercept -= intercept.mean(axis=1, keepdims=True)
        return replace(found, coef=coef, intercept=intercept)

    def shared(self, coef: FloatArray, intercept: FloatArray) -> Any:
        """Return coefficients of the user's columns as a walk starts from them."""
        level = intercept + coef @ self.shift if self.problem.fit_intercept else 0 * intercept
        return coef / self.factor, level, None


class LikelihoodWork(ABC):
    """Rows of which `n` count, of classes whose weights are `counts`."""

    def __init__(self, n: int, counts: FloatArray) -> None:
        self.n, self.counts = n, counts
        self.weight = float(counts.sum())
        self._prepared: dict[LogisticDescent, PreparedLikelihood] = {}
        self._walked: dict[LogisticDescent, tuple[LogisticSolution, Sequence[Stop]]] = {}
        self.gap_path = np.zeros(0)
        self.solver = ""  # of the last fit at one alpha

    @abstractmethod
    def prepare(self, descent: LogisticDescent, part: Any = None) -> PreparedLikelihood | None:
        """Return the problem of all rows, or of a part; None where there is one class only."""

    @abstractmethod
    def reduce(self, function: Callable[..., Any]) -> Any:
        """Return what a function makes of inputs, codes and weights, merged over all rows."""

    @property
    def null_deviance(self) -> float:
        """Twice the negative log-likelihood of the shares of the classes, without inputs."""
        counts = self.counts[self.counts > 0]
        return float(-2 * counts @ np.log(counts / self.weight))

    def whole(self, descent: LogisticDescent) -> PreparedLikelihood:
        """Return the problem of all rows."""
        if descent not in self._prepared:
            found = self.prepare(descent)
            assert found is not None
            self._prepared[descent] = found
        return self._prepared[descent]

    def alone(self, descent: LogisticDescent, alpha: float) -> tuple[PreparedLikelihood, int]:
        """Return the problem of all rows for one fit, and the most coefficients for Newton."""
        return self.whole(descent), NEWTON

    def strongest(self, descent: LogisticDescent) -> float:
        """Return the smallest alpha at which every coefficient is zero (l2: nearly zero)."""
        return self.whole(descent).problem.alpha_max()

    def path(
        self,
        descent: LogisticDescent,
        alphas: FloatArray,
        ends: bool = False,
        df: FreedomKind = "near",
    ) -> LogisticSolution:
        """Return the fits at `alphas`, descending; with `ends` those that change something.

        Exact degrees of freedom at each of them (``df="exact"``) take up to twice as long as the
        fits to a large table do.
        """
        walked = self._walked.get(descent)
        if walked is None or not np.array_equal(walked[0].alphas, alphas):
            prepared = self.whole(descent)
            options: Any = {"keep": True, "df": df, "relax": descent.relax, "ends": ends}
            with prepared.problem.rows.working():
                found = walk(prepared.problem, alphas, descent.tol, descent.max_iter, **options)
            walked = prepared.original(found), found.stops
            self._walked[descent] = walked
        return walked[0]

    def fit(self, descent: LogisticDescent, alpha: float, start: Any = None) -> LogisticSolution:
        """Return the fit at one alpha; `start` are coefficients and intercepts to begin at."""
        walked = self._walked.get(descent)
        if walked is not None and alpha in walked[0].alphas:
            self.solver = self.whole(descent).problem.solver
            k = int(np.flatnonzero(walked[0].alphas == alpha)[0])
            return replace(_one(walked[0], k), df=self._freedom(descent, walked, k))
        prepared, most = self.alone(descent, alpha)
        problem = prepared.problem
        alphas, near = np.array([alpha]), None
        with problem.rows.working():
            if start is not None and prepared.rotation is None:
                near = prepared.shared(*start)
            elif alpha * descent.l1_ratio > 0:
                alphas = _ladder(problem.alpha_max(), alpha)
            else:
                near = _near(problem, alpha)
            options: Any = {"start": near, "df": "last", "relax": descent.relax, "newton": most}
            found = walk(problem, alphas, descent.tol, descent.max_iter, **options)
        self.solver = problem.solver
        return _one(prepared.original(found), -1)

    def _freedom(
        self, descent: LogisticDescent, walked: tuple[LogisticSolution, Sequence[Stop]], k: int
    ) -> FloatArray:
        """Return the exact degrees of freedom of a fit of a path."""
        (found, stops), problem = walked, self.whole(descent).problem
        if descent.relax or not problem.is_large or np.isnan(found.df[k]):
            return found.df[[k]]
        with problem.rows.working():
            problem.move(problem.own(stops[k].B), stops[k].b0.copy())
            return np.array([problem.freedom(float(found.alphas[k]))])

    def without(
        self, descent: LogisticDescent, alphas: FloatArray, part: Any, tol: float
    ) -> tuple[IntArray, LogisticSolution] | None:
        """Return the classes among a part of the rows, and the fits to them.

        None where there is one class only. The `path` of all rows comes first.
        """
        prepared = self.prepare(descent, part)
        if prepared is None:
            return None
        lead: Sequence[Stop] = ()
        whole = self.whole(descent)
        if len(prepared.present) == len(whole.present) and whole.rotation is None:
            lead = self._walked[descent][1]
        options: Any = {"lead": lead, "relax": descent.relax, "fine": False}
        found = walk(prepared.problem, alphas, tol, descent.max_iter, **options)
        return prepared.present, prepared.original(found)


class MemoryLikelihood(LikelihoodWork):
    """Rows in memory, whose columns all problems share; a part of them is by its weights."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(len(rows), np.bincount(rows.y, rows.weights).astype(np.float64))
        self.rows = rows
        self._columns: dict[tuple[bool, bool], InputColumns] = {}

    def columns(self, descent: LogisticDescent) -> InputColumns:
        """Return the centred columns, those of all problems."""
        frame = bool(descent.standardize), bool(descent.fit_intercept)
        if frame not in self._columns:
            names = dict(zip(("standardize", "fit_intercept"), frame, strict=True))
            self._columns[frame] = columns_of(self.rows.X, self.rows.weights, **names)
        return self._columns[frame]

    def alone(self, descent: LogisticDescent, alpha: float) -> tuple[PreparedLikelihood, int]:
        """Return the problem of all rows for one fit, and the most coefficients for Newton."""
        scores = len(self.counts) if len(self.counts) > 2 else 1
        many = min(self.rows.X.shape) * scores > _FEW_SPARSE and is_sparse(self.rows.X)
        if not (many and alpha > 0 and descent.l1_ratio == 0):
            return self.whole(descent), NEWTON
        if not self.is_wide:
            return self.whole(descent), _FEW_SPARSE
        found = self.prepare(descent, rotate=False)
        assert found is not None
        return found, _FEW_SPARSE

    def prepare(
        self, descent: LogisticDescent, part: Any = None, *, rotate: bool = True
    ) -> PreparedLikelihood | None:
        v = self.rows.weights if part is None else part
        codes = self.rows.y
        present = np.unique(codes[v > 0])
        if len(present) < 2:
            return None
        if len(present) <= codes.max():  # classes of rows that only go along count as any
            codes = np.minimum(np.searchsorted(present, codes), len(present) - 1)
        columns = self.columns(descent)
        frame = {"standardize": descent.standardize, "fit_intercept": descent.fit_intercept}
        scaling = columns.scaling(v, **frame)
        shares = np.bincount(codes, v, len(present)) / v.sum()
        settings: Any = {"l1_ratio": descent.l1_ratio, "fit_intercept": descent.fit_intercept}
        rotation = None
        if rotate and descent.l1_ratio == 0 and self.is_wide:
            columns, rotation = _rotated(columns, scaling, v)
            p = columns.A.shape[1]
            scaling = np.zeros(p), np.ones(p), np.zeros(p, dtype=bool)
        rows = MemoryRows(columns, codes, v, len(present))
        problem = LogisticProblem(rows, shares, scaling, **settings)
        shared = self.columns(descent)
        return PreparedLikelihood(problem, present, shared.shift, shared.factor, rotation)

    @property
    def is_wide(self) -> bool:
        """Whether squares alone as the penalty leave a problem with one column for each row."""
        n, p = self.rows.X.shape
        return p > n and (n <= _MOST_SPARSE or not is_sparse(self.rows.X))

    def reduce(self, function: Callable[..., Any]) -> Any:
        """Return what a function makes of inputs, codes and weights."""
        return function(self.rows.X, self.rows.y, self.rows.weight)


def _near(problem: LogisticProblem, alpha: float) -> Any:
    """Return a fit to some of the rows, from which that to all of them is a few steps."""
    rows, size = problem.rows, problem.size + problem.scores
    if not isinstance(rows, MemoryRows) or is_sparse(rows.columns.A):
        return None
    some = slice(0, None, _EVERY)
    v, codes = rows.v[some].copy(), rows.codes[some].copy()
    shares = np.bincount(codes, v, rows.K) / v.sum()
    if len(rows.v) < max(_MANY, _EVERY * _ENOUGH * size) or not np.all(shares > 0):
        return None
    columns = _PartOfColumns(np.asfortranarray(rows.columns.A[some]))
    scaling = problem.mean, problem.inverse, problem.constant
    settings: Any = {"l1_ratio": 0.0, "fit_intercept": problem.fit_intercept}
    part = LogisticProblem(MemoryRows(columns, codes, v, rows.K), shares, scaling, **settings)
    # To far fewer digits than chance leaves it.
    found = walk(part, np.array([alpha]), 1.0, 25, keep=True)
    return found.coef[0], found.intercept[0], found.stops[0].model


class _PartOfColumns(InputColumns):
    """Some rows of columns that are centred and scaled already."""

    def __init__(self, A: FloatArray) -> None:
        self.A = A
        self.shift, self.factor = np.zeros(A.shape[1]), np.ones(A.shape[1])

    def _squares(self, v: FloatArray) -> FloatArray:
        return np.asarray(v @ self.A**2)

    def _column(self, j: int) -> FloatArray:
        return np.asarray(self.A[:, j])

    def gram(self, left: IntArray, right: IntArray, v: FloatArray) -> FloatArray:
        return np.asarray((self.A[:, left] * v[:, None]).T @ self.A[:, right])

    def add(self, S: IntArray, beta: FloatArray, out: FloatArray) -> None:
        out += self.A[:, S] @ beta


def _rotated(
    columns: InputColumns, scaling: Any, v: FloatArray
) -> tuple[_PartOfColumns, FloatArray]:
    """Return the rows in a basis of their own, fewer columns with the same lengths and angles.

    The way back is included: coefficients of these columns times the rotation are coefficients of
    the shared ones. A penalty on squares is the same for both.
    """
    mean, inverse, _ = scaling
    if is_sparse(columns.A):
        Z = columns.A[v > 0].multiply(inverse).tocsr()
        size, U = linalg.eigh((Z @ Z.T).toarray())
        kept = size > 1e-13 * size[-1]
        Vt = np.asarray((Z.T @ (U[:, kept] / np.sqrt(size[kept]))).T)
    else:
        Z = (columns.A - mean) * inverse
        _, d, Vt = linalg.svd(Z[v > 0], full_matrices=False)
        Vt = Vt[d > 1e-13 * d[0]]
    return _PartOfColumns(np.asfortranarray(columns.A @ (Vt * inverse).T)), Vt * inverse


def _one(found: LogisticSolution, k: int) -> LogisticSolution:
    """Return one of the fits."""
    names = ("alphas", "coef", "intercept", "deviance", "gap", "n_iter", "df")
    return LogisticSolution(**{name: getattr(found, name)[[k]] for name in names})


def _ladder(top: float, alpha: float) -> FloatArray:
    """Return penalties from near the strongest useful one down to a given one."""
    if not top > alpha:
        return np.array([alpha])
    steps = max(1, int(np.ceil(np.log(top / alpha) / np.log(_STEP))))
    ladder = np.geomspace(min(top, alpha * _STEP**steps), alpha, steps + 1)[1:]
    ladder[-1] = alpha
    return ladder
