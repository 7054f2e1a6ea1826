"""Subset selection: least squares on a few of the columns, as many as the data ask for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.folds import Folds
from bottega.core.likelihood import gaussian_path
from bottega.core.losses import Loss
from bottega.core.matrix_columns import beyond_encoding
from bottega.core.params import Anything, Auto, Boolean, Choice, Integer, OrNone, Parameter
from bottega.core.path import Path, Rule, along
from bottega.core.rows import Rows
from bottega.core.threads import one_thread
from bottega.core.tuned import Tuned
from bottega.core.typing import Array
from bottega.linear._decomposition.centering import Centering
from bottega.linear._decomposition.rank import independent_columns, names_of
from bottega.linear._kernels.subset_walks import COLLINEAR
from bottega.linear._selected.coefficients import (
    SelectedCoefficients,
    check_whole_numbers,
    totals_of,
)
from bottega.linear._subset.search import METHODS, SubsetCurve, forced_columns, search_subsets
from bottega.linear.lasso import Lasso

__all__ = ["SubsetSelection"]

_FEASIBLE = 35  # columns up to which the exact search is quick on most data


@dataclass(frozen=True)
class _Searched:
    """The subsets found, and the rows they were found on."""

    found: SubsetCurve
    centering: Centering
    rows: Rows
    unusable: list[int]  # columns of `force` that are constant or collinear
    most: int  # columns that a model can have at most


@documented_like(
    Lasso, without=("alpha_", "gap_path_", "dual_gap_", "n_iter_", "converged_", "solver_")
)
class SubsetSelection(SelectedCoefficients, RegressorMixin, Tuned):
    r"""Least squares on the subset of columns that a search finds for a size.

    For each size s the search looks for

    .. math:: \min_{|S| = s} \; \min_{\beta_0, \beta} \sum_i w_i (y_i - \beta_0 - x_{iS}^\top
              \beta)^2

    and the size is picked by an honest estimate of error or by a criterion.

    Parameters
    ----------
    n_features_to_select : int or "auto", default="auto"
        Number of columns in the model (the intercept is not counted); a larger model fits closer
        and varies more. ``"auto"`` picks from the path by the rule `select`. More than there are
        (independent) columns gives all of them.
    method : {"auto", "best", "forward", "backward", "hybrid"}, default="auto"
        ``"auto"`` is ``"best"`` up to 35 columns (and fewer than rows), else ``"forward"``.
        ``"best"`` finds the exact minimum of every size by branch and bound (fewer columns than
        rows, at most 60). ``"forward"`` adds the column that lowers the residual sum of squares
        most, one at a time; it works with more columns than rows. ``"backward"`` starts from all
        columns and drops the one that matters least. ``"hybrid"`` goes forward, and after each
        addition lets the least useful column go for as long as AIC falls (see Notes).
    fit_intercept : bool, default=True
        Whether there is an intercept, in every model.
    cv : int, float, "loo", splitter or list of (train, test), default=10
        Number of folds (at most one per row), the share of rows to hold out, or the folds. The
        whole search is done anew in each.
    max_features : int or None, default=None
        Largest size on the path; None: all columns, or what leaves one degree of freedom.
    force : sequence of int or str, default=()
        Columns (positions, or names of a data frame) that are in every model; they count in
        `n_features_to_select`.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        Coefficients, zero for the columns left out.
    support_ : ndarray of int
        Columns in the model.
    n_features_to_select_ : int
        Their number.
    df_ : float
        Number of terms, the intercept among them.
    method_ : str
        The method in use.
    subsets_ : list of ndarray
        The subset found for each size, from the forced columns alone on.
    rss_ : ndarray
        Residual sums of squares of `subsets_`.
    collinear_ : ndarray of int
        Columns that lie in the span of earlier ones. ``"best"`` and ``"backward"`` start from
        all columns and have to leave them out (with a `DataWarning`); the other two may use them
        in place of the earlier ones.
    path_ : Path
        The whole curve, when `n_features_to_select` is ``"auto"``.

    Notes
    -----
    *Best.* A branch holds the subsets left when a column goes; it is not walked when a lower bound
    of its residual sum of squares says that it cannot beat what is known for any of its sizes. The
    bound adds up what the columns that must go cost one by one, divided by a bound of the largest
    eigenvalue of their scaled inverse Gram matrix. With signal or with weakly related columns a
    few thousand of the :math:`2^{30}` subsets of 30 columns are looked at; the worst case stays
    exponential. *Forward* costs :math:`O(p^2 m)` for m sizes after one QR factor of the data,
    *backward* :math:`O(p^3)`.

    *Hybrid.* After each addition the least useful column leaves while
    :math:`n \log RSS + 2 |S|` falls and the smaller subset beats the best of its size so far; the
    second half of the rule ends the walk. For each size the best subset met is kept.

    The degrees of freedom are the size plus the intercept: they count the terms and not the
    search, so the criteria favour ``"best"`` more than they should. The cross-validated error
    pays for the search, as each fold searches again. Within one size all criteria agree with RSS,
    and R squared grows with size, so neither can choose the size. A fold where columns are constant
    or collinear has fewer of them; a size it does not reach is its largest.

    Do not read the terms as tested: standard errors and p-values computed as if the subset had
    been given beforehand are too small, so `tidy` shows none. With many weak effects ridge
    predicts better; subset selection is unstable when columns are strongly related.

    References
    ----------
    .. [1] Furnival, G. M. and Wilson, R. W. (1974). Regressions by leaps and bounds.
       Technometrics 16, 499-511.
    .. [2] Miller, A. J. (2002). Subset Selection in Regression. Chapman & Hall.
    .. [3] Pudil, P., Novovicova, J. and Kittler, J. (1994). Floating search methods in feature
       selection. Pattern Recognition Letters 15, 1119-1125.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 8))
    >>> y = 2 * X[:, 1] - X[:, 4] + rng.normal(size=80)
    >>> model = SubsetSelection().fit(X, y)
    >>> model.support_, model.n_features_to_select_
    (array([1, 4]), 2)
    >>> [each.tolist() for each in model.subsets_[:3]]
    [[], [1], [1, 4]]
    """

    knob: ClassVar[str] = "n_features_to_select"
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_features_to_select": Auto(Integer(0), help="number of columns in the model"),
        "method": Choice("auto", *METHODS, help="how subsets are searched"),
        "fit_intercept": Boolean(help="have an intercept in every model"),
        "select": Rule(),
        "cv": Folds(help="folds of the cross-validation"),
        "max_features": OrNone(Integer(1), help="largest size on the path"),
        "force": Anything(help="columns that are in every model"),
    }
    card: ClassVar[Card] = Card(
        method="subset",
        title="Subset selection",
        task="regression",
        strengths=(
            "A short list of columns with unshrunk coefficients: parsimonious, and as readable as "
            "a model can be.",
            "The best subset of every size is exact, and fast up to some 35 columns.",
            "The cross-validated error accounts for the search: each fold searches anew.",
            "Forward and hybrid walks work with more columns than rows.",
        ),
        weaknesses=(
            "A column is in or out: high variance where columns are correlated or effects are "
            "weak.",
            "Forward never removes a column, and overfits sooner than shrinkage does.",
            "Tests and standard errors after the choice do not hold.",
            "The best subset is exponential in the worst case; walks may miss it.",
        ),
        assumptions=(
            "The mean is linear in a few of the inputs.",
            "Independent errors of constant variance (up to the row weights).",
        ),
        cost="n p^2 and a search, 2^p at worst, in each fold",
        source="D59-D67, D94",
    )

    def __init__(
        self,
        n_features_to_select: int | str = "auto",
        *,
        method: str = "auto",
        fit_intercept: bool = True,
        select: str = "one_se",
        cv: Any = 10,
        max_features: int | None = None,
        force: Sequence[int | str] = (),
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.method = method
        self.fit_intercept = fit_intercept
        self.select = select
        self.cv = cv
        self.max_features = max_features
        self.force = force

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        rows = super()._read(X, y, sample_weight)
        self._choose_method(*rows.X.shape)
        return rows

    def _prepare(self, rows: Rows) -> _Searched:
        # The training part of a fold does what it may with the columns it can use; `_check` is for
        # all rows.
        n = len(rows)
        # The scale changes nothing but rounding.
        centering, A, Y = Centering.from_rows(
            rows.X, rows.y[:, None], rows.weight, standardize=True, fit_intercept=self.fit_intercept
        )
        # With all n degrees of freedom used up nothing is left to judge a model by.
        most = max(n - 1 - self.fit_intercept, 0)
        if self.max_features is not None:
            most = min(most, self.max_features)
        names = getattr(self, "feature_names_in_", ())
        forced = forced_columns(self.force, names, self.n_features_in_)
        usable = independent_columns(A[:, forced], COLLINEAR)
        unusable, forced = forced[~usable].tolist(), forced[usable][:most]
        with one_thread():
            found = search_subsets(A, Y[:, 0], method=self.method_, forced=forced, most=most, n=n)
        return _Searched(found, centering, rows, unusable, most)

    def _check(self, work: _Searched) -> None:
        """Refuse columns of `force` that cannot be in every model."""
        if work.unusable:
            raise InputError(
                f"force names columns that are constant or collinear ({work.unusable}): leave "
                "those out of force."
            )
        if len(self.force) > work.most:
            raise InputError(
                f"force names {len(self.force)} columns and at most {work.most} can be in a model: "
                "shorten force, raise max_features or give more rows."
            )

    def _choose_method(self, n: int, p: int) -> None:
        self.method_ = self.method
        if self.method == "auto":
            # The rows that a fold leaves must be more than the columns, too; folds that are given
            # are taken to leave half.
            k = min(int(self.cv), n) if isinstance(self.cv, Integral) else 2
            feasible = p <= _FEASIBLE and p + self.fit_intercept < n - n // k
            self.method_ = "best" if feasible else "forward"
        if self.method_ in ("best", "backward") and p + self.fit_intercept > n:
            raise InputError(
                f"method={self.method_!r} starts from the model of all {p} columns, and {n} rows "
                "cannot determine it (n_samples must exceed n_features): use method='forward' or "
                "'hybrid', or give more rows."
            )

    def _settle(self, work: _Searched, setting: Mapping[str, Any]) -> None:
        self._check(work)
        found, size = work.found, int(setting["n_features_to_select"])
        if size < found.sizes[0]:
            raise InputError(
                f"n_features_to_select={size} is less than the {found.sizes[0]} columns that "
                "force= puts into every model: raise it or shorten force."
            )
        place = found.place(size)
        coef, intercept = work.centering.original(found.coef[place])
        self.coef_, self.intercept_ = coef, float(intercept[0])
        self.support_, self.n_features_to_select_ = found.subsets[place], int(found.sizes[place])
        self.subsets_, self.rss_ = found.subsets, found.rss
        self.collinear_ = found.left_out
        df = self.n_features_to_select_ + self.fit_intercept
        self._keep_totals(totals_of(work.rows), rss=found.rss[place], df=df)
        left_out = np.zeros(self.n_features_in_, dtype=np.bool_)
        left_out[found.left_out] = True
        left_out = beyond_encoding(left_out)
        if left_out.any() and self.method_ in ("best", "backward"):
            warn_caller(
                f"Collinear inputs: {names_of(self, left_out)} can be written by the columns "
                f"before and are left out by method={self.method_!r}, which starts from all "
                "columns; leave out the columns you care less about, or use method='forward'.",
                DataWarning,
            )

    def _path(self, work: _Searched, values: Any, loss: Loss | None) -> Path:
        self._check(work)
        found = work.found
        places = np.arange(len(found.sizes))
        if values is not None:
            low, high = found.sizes[[0, -1]]
            places = check_whole_numbers(values, low, high) - low
        return gaussian_path(
            along(self.knob, found.sizes[places]),
            rss=found.rss[places],
            df=found.sizes[places] + self.fit_intercept,
            n=len(work.rows),
            weight=work.centering.weight,
            log_weights=work.rows.log_weights,
            coef=work.centering.original(found.coef[places])[0],
            richest=(found.full_rss, found.rank + self.fit_intercept),
        )

    def _predictions(
        self, work: _Searched, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        places = [work.found.place(int(setting["n_features_to_select"])) for setting in settings]
        coef, intercept = work.centering.original(work.found.coef[places])
        return np.asarray(X_new @ coef.T + intercept)
