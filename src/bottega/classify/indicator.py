"""Classification by least squares on indicators of the classes, and what masks a class in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bottega.core.added_sums import AddedSums
from bottega.core.cards import Card
from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.classes import NoProbabilities, check_classes, decided
from bottega.core.errors import InputError
from bottega.core.moments import Moments
from bottega.core.params import Boolean, ClassWeight, Parameter
from bottega.core.results import CoefficientResults, glance_row, term_names, tidy_columns
from bottega.core.rows import Rows
from bottega.core.scores import linear_scores
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import check_columns

__all__ = ["IndicatorRegression"]

# Eigenvalues of the correlations, against the largest, that are rounding.
_SINGULAR = 1e-11
# A class that is predicted for fewer rows than this share of its own is masked.
_MASKED = 0.1


@dataclass(frozen=True)
class _IndicatorWork:
    """The moments of inputs and indicators, and what gives sums over the rows they are of."""

    moments: Moments
    reduce: Callable[[Callable[..., Any]], Any]


class IndicatorRegression(NoProbabilities, CoefficientResults, ClassifierMixin, Chunked):
    r"""Linear classification by least squares: a regression for the indicator of each class.

    With :math:`z_{ik} = 1` if row i is of class k, and 0 else, minimises

    .. math:: \sum_i w_i \sum_k (z_{ik} - \beta_{0k} - x_i^\top \beta_k)^2

    and gives a row to the class with the largest fitted value. For two classes that is the
    threshold 1/2 on the regression of the second indicator.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether the regressions have intercepts. With them the fitted values of a row sum to one.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; it multiplies the weights of the rows.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    coef_ : ndarray of shape (K, p)
        Coefficients; with intercepts those of an input sum to zero.
    intercept_ : ndarray of shape (K,)
        Intercepts.
    rank_ : int
        Number of directions in which the inputs vary.
    outside_ : float
        Share of the fitted values, of the rows of the fit, below 0 or above 1.
    confusion_ : ndarray of shape (K, K)
        Weights of the rows of the fit by predicted (rows) and observed class (columns).

    Notes
    -----
    One pass over the rows, :math:`O(n p^2)`, in memory or in chunks; of collinear inputs the
    shortest solution (on the scale of their standard deviations).

    Fitted values estimate probabilities without lying between 0 and 1. Do not use it with three or
    more classes before looking at `masking`: where their means lie nearly on a line, the
    indicator of a class in the middle is fitted by a nearly flat plane, which others exceed
    everywhere, so that the class is never predicted. Logistic regression, discriminant analysis,
    or squares and products of the inputs do not suffer from it. With two balanced classes the
    boundary is that of linear discriminant analysis.

    References
    ----------
    .. [1] Hastie, T., Tibshirani, R. and Friedman, J. (2009). The Elements of Statistical
       Learning, 2nd edition, section 4.2. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.repeat([0.0, 1.0, 2.0], 30) + 0.2 * np.random.default_rng(0).normal(size=90)
    >>> y = np.repeat(["low", "middle", "top"], 30)
    >>> model = IndicatorRegression().fit(x[:, None], y)
    >>> model.masking()[["class", "masked", "by"]].values.tolist()[1][:2]
    ['middle', True]
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "fit_intercept": Boolean(help="have an intercept in each regression"),
        "class_weight": ClassWeight(help="weight of each class: a dict, or 'balanced'"),
    }
    card: ClassVar[Card] = Card(
        method="indicator_regression",
        title="Indicator regression",
        task="classification",
        strengths=(
            "One linear solve for any number of classes and rows, also in chunks.",
            "With two balanced classes the same boundary as linear discriminant analysis.",
        ),
        weaknesses=(
            "Masks a class that lies between others: it may never be predicted.",
            "Fitted values are no probabilities: they leave the interval from 0 to 1.",
            "Rows far on the right side of the boundary move it, as those on the wrong side do.",
            "Captures flat boundaries only, unless squares and products of inputs are added.",
        ),
        assumptions=(
            "The probability of each class is nearly linear in the inputs.",
            "Independent rows, none of them far from the others.",
        ),
        cost="n p^2",
        source="D161-D164",
        twin_of="linear_discriminant",
    )

    def __init__(self, *, fit_intercept: bool = True, class_weight: Any = None) -> None:
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight

    def _prepare(self, rows: Rows) -> _IndicatorWork:
        check_classes(self.classes_)
        moments = self._moments(rows.X, rows.y, rows.weight)
        return _IndicatorWork(moments, lambda sums: sums(rows.X, rows.y, rows.weight))

    def _moments(self, X: Any, codes: Any, w: Any) -> Moments:
        Z = (codes[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        return Moments().update(X, Z, w)

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> Moments:
        if self.class_weight is not None:
            raise InputError(
                "A fit in chunks takes no class_weight: give each chunk the weights of its rows."
            )
        return self._moments(X, y, w)

    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> _IndicatorWork:
        check_classes(self.classes_)
        return _IndicatorWork(
            statistics,
            lambda sums: chunks.reduce(lambda X, codes, w, _: sums(X, codes, w)),
        )

    def _settle(self, work: _IndicatorWork, setting: Mapping[str, Any]) -> None:
        moments, p = work.moments, self.n_features_in_
        mean, scatter = moments.mean, moments.scatter
        if not self.fit_intercept:
            scatter = scatter + moments.weight * np.outer(mean, mean)
        spread = np.diagonal(scatter)[:p]
        check_columns(spread / moments.weight, mean=mean[:p])
        size = spread + moments.weight * mean[:p] ** 2
        scale = np.sqrt(np.where(spread > 1e-28 * size, spread, np.inf))
        d, V = linalg.eigh(scatter[:p, :p] / np.outer(scale, scale))
        real = d > _SINGULAR * max(d[-1], 1e-300)
        self.rank_ = int(real.sum())
        V = V[:, real] / scale[:, None]
        self.coef_ = ((V / d[real]) @ (V.T @ scatter[:p, p:])).T
        K = len(self.classes_)
        self.intercept_ = np.zeros(K)
        if self.fit_intercept:
            self.intercept_ = mean[p:] - self.coef_ @ mean[:p]
        self._count = moments.count
        self._look_back(work, K)

    def _look_back(self, work: _IndicatorWork, K: int) -> None:
        """Count how the rows of the fit are classified, and sum their squared residuals."""
        share, coef, intercept = work.moments.mean[-K:], self.coef_, self.intercept_

        def sums(X: Any, codes: Any, w: Any) -> AddedSums:
            w = np.ones(len(codes)) if w is None else w
            fitted, confusion = linear_scores(X, coef, intercept), np.zeros((K, K))
            np.add.at(confusion, (decided(fitted), codes), w)
            outside = w @ np.mean((fitted < -1e-12) | (fitted > 1 + 1e-12), axis=1)
            Z = codes[:, None] == np.arange(K)
            rss, tss = w @ (Z - fitted) ** 2, w @ (Z - share) ** 2
            return AddedSums((confusion, rss, tss, float(outside), float(w.sum())))

        self.confusion_, self._rss, self._tss, outside, total = work.reduce(sums).values
        self.outside_ = outside / total

    def _fitted(self, X: Any) -> FloatArray:
        return linear_scores(X, self.coef_, self.intercept_)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the fitted values of each class; of two, that of the second less one half."""
        X = self._check_new(X)
        fitted = self._fitted(X)
        return fitted if len(self.classes_) > 2 else fitted[:, 1] / 2 - fitted[:, 0] / 2

    def predict(self, X: Any) -> Array:
        """Return the class with the largest fitted value; of equal ones the first."""
        found = decided(self._fitted(self._check_new(X)))
        return np.asarray(self.classes_[found])

    def masking(self) -> Any:
        """Return how far each class is masked by others, on the rows of the fit.

        Returns
        -------
        data frame
            Columns class, share (of the rows), predicted (share of the rows it is predicted for),
            recall (share of its own rows), masked (predicted for less than a tenth as many rows as
            it has), by (the class predicted most for its rows that are not predicted right, missing
            where all are).
        """
        check_is_fitted(self)
        table = self.confusion_
        own, given = table.sum(axis=0), table.sum(axis=1)
        wrong = table - np.diag(np.diagonal(table))
        by = [self.classes_[int(np.argmax(column))] if column.any() else None for column in wrong.T]
        columns = {
            "class": self.classes_,
            "share": own / own.sum(),
            "predicted": given / own.sum(),
            "recall": np.diagonal(table) / own,
            "masked": given < _MASKED * own,
            "by": np.array(by, dtype=object),
        }
        return self._make_frame(columns)

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        estimate = self.coef_.T
        if self.fit_intercept:
            estimate = np.vstack([self.intercept_, estimate])
        names = term_names(self, intercept=self.fit_intercept)
        return tidy_columns(names, estimate, response=self.classes_, level=level)

    def _glance_row(self) -> dict[str, Any]:
        n, df = self._count, self.rank_ + int(self.fit_intercept)
        right = np.diagonal(self.confusion_).sum() / self.confusion_.sum()
        numbers = {
            "nobs": n,
            "df": float(df),
            "r_squared": float(np.mean(1 - self._rss / self._tss)),
            "deviance": float(self._rss.sum()),
        }
        return glance_row(numbers, train_error=float(1 - right), outside=self.outside_)

    def _notes(self) -> tuple[str, ...]:
        table = self.confusion_
        masked = table.sum(axis=1) < _MASKED * table.sum(axis=0)
        notes = "The residuals of indicators have no common variance: no tests are shown."
        if not masked.any():
            return (notes,)
        names = ", ".join(str(name) for name in self.classes_[masked])
        return notes, f"Masked by other classes: {names}. See masking()."
