"""Prepared rows of the lasso family: paths and single fits, on all rows and without each fold.

With more rows than columns everything happens on the p by p Gram matrix: one pass over the rows
gives those of all folds. With many columns the rows are kept, and working sets are screened.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.chunks import CheckedChunks
from bottega.core.deal import deal_rows
from bottega.core.errors import InputError
from bottega.core.lazy import cached_property
from bottega.core.moments import Moments
from bottega.core.rows import Rows
from bottega.core.sparse import is_sparse, small_as_dense
from bottega.core.typing import FloatArray, IntArray
from bottega.linear._decomposition.fold_moments import FoldMoments
from bottega.linear._penalized.gram import GramProblem
from bottega.linear._selected.coefficients import totals_of
from bottega.linear.ridge import Ridge
from bottega.optimize.coordinate import Descent, PenalizedFits, Penalty, not_unique
from bottega.optimize.coordinate_columns import columns_of
from bottega.optimize.coordinate_working_sets import WorkingSetProblem, begin, walk_together

# Up to this many columns the Gram matrices of all folds are small (80 MB for ten folds), and
# cheaper than going through the rows for every alpha.
GRAM_COLUMNS = 1000
# Numbers in a table whose folds take no time worth mentioning.
_SMALL = 2**18
# Numbers that the working sets of folds side by side may hold.
_TOGETHER = 2**27

WalkWithFolds = tuple[PenalizedFits, list[PenalizedFits | None]]


def uses_gram(n: int, p: int) -> bool:
    """Return True if a fit to rows of this shape is from the Gram matrix."""
    return n >= p and p <= GRAM_COLUMNS


@dataclass(frozen=True)
class PenaltySettings:
    """What all problems of a path have in common."""

    weights: FloatArray  # penalty weight of each column, before adaptive ones
    adaptive: bool  # whether to divide the weights by a pilot's coefficients
    frame: dict[str, Any]  # standardize and fit_intercept
    descent: Descent
    folds: int  # that judge a path; 1: none
    positive: bool = False  # whether coefficients may not be negative

    def penalty(self, l1_ratio: float, pilot: FloatArray | None) -> Penalty:
        """Return the penalty; a pilot of zero excludes its column."""
        found = Penalty(l1_ratio, self.weights, self.positive)
        if pilot is None:
            return found
        with np.errstate(divide="ignore"):
            return found.times(1 / np.abs(pilot))


class GramWork:
    """Rows reduced to their moments: those of the folds where these are wanted first, else of all.

    It offers what `RowsWork` does: `strongest` (the smallest alpha at which every penalised
    coefficient is zero), `walk` (the fits to all rows at alphas, descending), `walk_folds` (those
    and the fits without each fold, None for one without rows), `reduce` (what a function gives for
    the rows with their folds).
    """

    solver = "gram"
    gap_path: FloatArray  # relative duality gaps of the path that was walked last

    def __init__(
        self,
        source: Rows | CheckedChunks,
        settings: PenaltySettings,
        moments: FoldMoments | None = None,
    ) -> None:
        self.source, self.settings, self._by_fold = source, settings, moments

    @cached_property
    def _fold(self) -> Any:
        """The fold of each row in memory; None for one fold."""
        rows: Any = self.source
        return None if self.settings.folds < 2 else _dealt(rows, self.settings.folds)

    @property
    def by_fold(self) -> FoldMoments:
        """Moments of the folds."""
        if self._by_fold is None:
            rows, count = self.source, self.settings.folds
            assert isinstance(rows, Rows)
            self._by_fold = FoldMoments(rows.X, rows.y, rows.weight, count, self._fold)
        return self._by_fold

    def prepare_folds(self, needed: bool = True) -> None:
        """Prepare all rows by way of the folds, where nothing is prepared yet.

        The folds' moments add up to those of all rows. Fits to a small table at a given alpha take
        this way too, though it is not `needed`, so that they have the very digits of those picked
        from a path; with a large one the folds would take longer than the fit.
        """
        if "total" not in vars(self) and (needed or self._by_fold is not None or self._is_small()):
            self.total = self.by_fold.total()

    def _is_small(self) -> bool:
        rows: Any = self.source
        return rows.X.shape[0] * rows.X.shape[1] <= _SMALL

    @cached_property
    def total(self) -> Moments:
        """Moments of all rows."""
        if self._by_fold is not None:
            return self._by_fold.total()
        rows: Any = self.source
        return FoldMoments(rows.X, rows.y, rows.weight).total()

    @cached_property
    def problem(self) -> GramProblem:
        """The problem of all rows."""
        return GramProblem.from_moments(self.total, **self.settings.frame)

    @property
    def totals(self) -> dict[str, Any]:
        """What the numbers of a fit need to know about the rows."""
        return {
            "n": self.total.count,
            "weight": self.total.weight,
            "tss": float(self.total.scatter[-1, -1]),
            "log_weights": self.total.log_weights,
        }

    @property
    def inverse_scale(self) -> FloatArray:
        """What the user's columns are multiplied by before they are penalised."""
        return self.problem.centering.inverse_scale

    def penalty(self, l1_ratio: float, problem: GramProblem | None = None) -> Penalty:
        """Return the penalty, with the weights of a pilot fit to the rows (or another problem)."""
        of = self.problem if problem is None else problem
        return self.settings.penalty(l1_ratio, of.pilot if self.settings.adaptive else None)

    def strongest(self, l1_ratio: float) -> float:
        return self.problem.alpha_max(self.penalty(l1_ratio))

    def walk(self, alphas: FloatArray, l1_ratio: float, start: Any = None) -> PenalizedFits:
        return self.problem.path(alphas, self.penalty(l1_ratio), self.settings.descent, start)

    def walk_folds(self, alphas: FloatArray, l1_ratio: float) -> WalkWithFolds:
        def path(train: Moments) -> PenalizedFits:
            problem = GramProblem.from_moments(train, **self.settings.frame)
            return problem.path(alphas, self.penalty(l1_ratio, problem), self.settings.descent)

        without = [None if train is None else path(train) for train in self.by_fold.training()]
        return self.walk(alphas, l1_ratio), without

    def reduce(self, function: Callable[..., Any]) -> Any:
        if isinstance(self.source, Rows):
            return function(self.source.X, self.source.y, self.source.weight, self._fold)
        return self.source.reduce(
            lambda X, y, w, fold: function(X, y[:, 0], w, fold), self.settings.folds
        )


class RowsWork:
    """Rows with centred columns, for working sets that are screened by products with residuals."""

    solver = "rows"
    gap_path: FloatArray

    def __init__(self, rows: Rows, settings: PenaltySettings) -> None:
        self.settings, self.rows = settings, rows
        self.columns = columns_of(rows.X, rows.weights, **settings.frame)

    def prepare_folds(self, needed: bool = True) -> None:
        """Do nothing: what is prepared serves the folds too."""

    @cached_property
    def _fold(self) -> IntArray:
        return _dealt(self.rows, self.settings.folds)

    @cached_property
    def totals(self) -> dict[str, Any]:
        return totals_of(self.rows)

    def _problem(self, v: FloatArray) -> WorkingSetProblem:
        return WorkingSetProblem(self.columns, self.rows.y, v, **self.settings.frame)

    @cached_property
    def pilot(self) -> FloatArray | None:
        return self._pilot(self._problem(self.rows.weights))

    @property
    def inverse_scale(self) -> FloatArray:
        return self._problem(self.rows.weights).original_inverse

    def penalty(self, l1_ratio: float) -> Penalty:
        return self.settings.penalty(l1_ratio, self.pilot)

    def _begun(self, l1_ratio: float) -> tuple[WorkingSetProblem, float]:
        """Return the problem of all rows at its start, and the strongest useful alpha."""
        whole = self._problem(self.rows.weights)
        return whole, begin([whole], [self.penalty(l1_ratio)])[0]

    def strongest(self, l1_ratio: float) -> float:
        return self._begun(l1_ratio)[1]

    def walk(self, alphas: FloatArray, l1_ratio: float, start: Any = None) -> PenalizedFits:
        self._check_unique(alphas)
        whole = self._begun(l1_ratio)[0]
        if start is not None:
            whole.restart(start)
        return self._together([whole], alphas)[0]

    def walk_folds(self, alphas: FloatArray, l1_ratio: float) -> WalkWithFolds:
        self._check_unique(alphas)
        weight, n, p = self.rows.weights, len(self.rows), len(self.settings.weights)
        folds = self._fold
        used = np.unique(folds)
        size = max(1, _TOGETHER // min(n, p) ** 2)
        fits: list[PenalizedFits] = []
        todo: list[Any] = [None, *used]
        while todo:
            now, todo = todo[:size], todo[size:]
            fresh = [self._problem(np.where(folds == k, 0.0, weight)) for k in now if k is not None]
            if fresh:
                begin(fresh, [self.settings.penalty(l1_ratio, self._pilot(it)) for it in fresh])
            whole = [self._begun(l1_ratio)[0]] if now[0] is None else []
            fits += self._together([*whole, *fresh], alphas)
        without = dict(zip(used, fits[1:], strict=True))
        return fits[0], [without.get(k) for k in range(self.settings.folds)]

    def _check_unique(self, alphas: FloatArray) -> None:
        n, p = len(self.rows), len(self.settings.weights)
        if alphas[-1] == 0 and p >= n:
            raise not_unique(f"With {p} columns and {n} rows the columns")

    def _together(
        self, problems: list[WorkingSetProblem], alphas: FloatArray
    ) -> list[PenalizedFits]:
        if alphas[-1] == 0:
            for problem in problems:
                problem.check_unique()
        return walk_together(problems, alphas, self.settings.descent)

    def _pilot(self, problem: WorkingSetProblem) -> FloatArray | None:
        if not self.settings.adaptive:
            return None
        X = small_as_dense(self.rows.X)
        if is_sparse(X):
            raise InputError(
                "adaptive=True with a sparse X needs at least as many rows as columns, and at most "
                f"{GRAM_COLUMNS} columns, or a small table; got shape {X.shape}. Give weights= of "
                "your own instead."
            )
        rows = problem.v > 0
        given = X[rows], self.rows.y[rows], problem.v[rows]
        pilot = Ridge(0.0 if len(given[1]) > X.shape[1] else "auto", select="min")
        pilot.set_params(**self.settings.frame).fit(*given)
        if pilot.rank_ < X.shape[1] and not isinstance(pilot.alpha, str):  # dependent columns
            pilot.set_params(alpha="auto").fit(*given)
        # The penalty acts on scaled columns, so their coefficients are what it is weighed by.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(problem.constant, 0.0, pilot.coef_ / problem.original_inverse)

    def reduce(self, function: Callable[..., Any]) -> Any:
        return function(self.rows.X, self.rows.y, self.rows.weight, self._fold)


def _dealt(rows: Rows, folds: int) -> IntArray:
    return deal_rows(folds, len(rows), rows.X, rows.y, rows.weight)
