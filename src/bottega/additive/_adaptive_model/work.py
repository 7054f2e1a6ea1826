"""Rows prepared for adaptive splines: terms grown once, subsets of them, coefficients of each."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import softmax

from bottega.additive._adaptive.backward import Pruning, prune
from bottega.additive._adaptive.charges import Charges
from bottega.additive._adaptive.forward import Growth, grow
from bottega.additive._adaptive.rounds import grow_and_prune
from bottega.additive._adaptive.settings import GrowthSettings
from bottega.additive._adaptive_model.least_squares import TermColumns
from bottega.core.lazy import cached_property
from bottega.core.likelihood import Family, gaussian_path, information_criteria
from bottega.core.path import Path
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize.ridge_likelihood import LikelihoodFit, fit_classes, fit_family

# Least curvature of a row in the quadratic approximation that terms are removed by: rows that are
# fitted nearly for certain would otherwise have working responses without limit.
_FLATTEST = 1e-3


@dataclass(frozen=True, eq=False)
class AdaptiveWork(ABC):
    """The rows, and what follows from them: terms, subsets, coefficients, made when asked for."""

    rows: Rows
    settings: GrowthSettings
    n_levels: IntArray

    @property
    @abstractmethod
    def responses(self) -> FloatArray:
        """What least squares is applied to, (n, q)."""

    @cached_property
    def weight(self) -> FloatArray:
        """Weights of the rows, in units of their mean."""
        w = self.rows.weights
        return np.asarray(w / w.mean())

    @cached_property
    def _searched(self) -> tuple[Growth, Pruning]:
        """Terms and subsets, found by least squares."""
        rows = self.rows
        how: Any = {"n_levels": self.n_levels}
        return grow_and_prune(rows.X, self.responses, rows.weight, self.settings, **how)

    @property
    def growth(self) -> Growth:
        """The terms as they are grown."""
        return self._searched[0]

    @cached_property
    def columns(self) -> TermColumns:
        """The terms at the rows."""
        return TermColumns(self.growth.matrix, self.weight, self.responses)

    @cached_property
    def charges(self) -> Charges:
        """What the terms count for in GCV."""
        return Charges.of(self.growth.basis.terms, self.growth.searched, self.settings)

    @property
    def pruning(self) -> Pruning:
        """The best subset of each size."""
        return self._searched[1]

    @property
    def most(self) -> int:
        """Number of terms of the largest subset."""
        return len(self.pruning.subsets)

    def subset(self, n_terms: int) -> IntArray:
        """Return the terms of the model of so many of them, or of the largest there is."""
        return self.pruning.subsets[min(int(n_terms), self.most) - 1]

    def squares(self, kept: IntArray) -> float:
        """Return the weighted sum of squared residuals of least squares on some terms."""
        return float(self.columns.rss(kept).sum()) * float(self.rows.weights.mean())

    def coefficients(self, n_terms: int) -> FloatArray:
        """Return the coefficients of the model of so many terms, (m, scores)."""
        return self.columns.fit(self.subset(n_terms))

    def table(self, sizes: Sequence[int]) -> FloatArray:
        """Return the coefficients of all terms in models of several sizes, (M, sizes, scores)."""
        found = [self.coefficients(m) for m in sizes]
        out = np.zeros((self.columns.B.shape[1], len(found), found[0].shape[1]))
        for s, (m, coef) in enumerate(zip(sizes, found, strict=True)):
            out[self.subset(m), s] = coef
        return out

    def curve(self, settings: Any, sizes: IntArray, *, train_error: Any, loss: str) -> Path:
        """Return the path over models of several sizes; with `train_error` None, of squares."""
        at, pruning, rows = np.minimum(sizes, self.most) - 1, self.pruning, self.rows
        return gaussian_path(
            settings,
            rss=pruning.rss[at] if pruning.rss.shape[1] > 1 else pruning.rss[at, 0],
            df=pruning.df[at],
            n=len(rows),
            weight=rows.total_weight,
            log_weights=rows.log_weights,
            train_error=train_error,
            loss=loss,
            more={"gcv": pruning.gcv[at]},
        )

    def judged_by_gcv(self, curve: Path, sizes: Sequence[int]) -> Path:
        """Return the path in squared errors of what least squares is applied to, by GCV."""
        at = np.minimum(sizes, self.most) - 1
        rss, gcv = self.pruning.rss[at], self.pruning.gcv[at]
        several, weight = rss.shape[1], self.rows.total_weight
        return replace(
            curve,
            train_error=rss.sum(axis=1) / (several * weight),
            error=gcv * len(self.rows) / (several * weight),
            error_se=np.full(len(at), np.nan),
            estimate="gcv",
            loss="squared error",
        )


@dataclass(frozen=True, eq=False)
class SquaresWork(AdaptiveWork):
    """Least squares throughout: numbers, or indicators of classes."""

    Y: FloatArray
    classes: Any = None  # codes of the classes that occur

    @property
    def responses(self) -> FloatArray:
        """The responses."""
        return self.Y


@dataclass(frozen=True, eq=False)
class TermLikelihood(AdaptiveWork):
    """Terms whose coefficients are those of a likelihood.

    By default the terms are found by least squares.
    """

    alpha: float
    tol: float
    max_iter: int

    @abstractmethod
    def _fitted(self, D: FloatArray, near: FloatArray | None = None) -> LikelihoodFit:
        """Return the fit to orthonormal columns; `near` are scores of the rows to start from."""

    @cached_property
    def _fits(self) -> dict[int, tuple[FloatArray, LikelihoodFit]]:
        return {}

    def fit(self, n_terms: int) -> tuple[FloatArray, LikelihoodFit]:
        """Return the coefficients of the model of so many terms, and how they were found."""
        m = min(int(n_terms), self.most)
        if m not in self._fits:
            kept = self.subset(m)
            D, T = self.columns.orthonormal(kept)
            found = self._fitted(D, self._nearest(m))
            self._fits[m] = T @ found.coef, found
        return self._fits[m]

    def _nearest(self, m: int) -> FloatArray | None:
        """Return the scores of the rows in the model of one term less, if it was fitted."""
        if m - 1 not in self._fits:
            return None
        return np.asarray(self.columns.B[:, self.subset(m - 1)] @ self._fits[m - 1][0])

    def coefficients(self, n_terms: int) -> FloatArray:
        """Return the coefficients of the model of so many terms, (m, scores)."""
        return self.fit(n_terms)[0]

    def deviance(self, n_terms: int) -> float:
        """Return the deviance of the model of so many terms, under the weights as given."""
        return self.fit(n_terms)[1].deviance * float(self.rows.weights.mean())

    def curve(self, settings: Any, sizes: IntArray, *, train_error: Any, loss: str) -> Path:
        """Return the path over models of several sizes."""
        at = np.minimum(sizes, self.most) - 1
        df = self.pruning.df[at]
        deviance = np.array([self.deviance(m) for m in sizes])
        criteria = information_criteria(deviance, df, len(self.rows))
        criteria["gcv"] = self.pruning.gcv[at]
        return Path(settings, df=df, train_error=train_error, loss=loss, criteria=criteria)


@dataclass(frozen=True, eq=False)
class FamilyWork(TermLikelihood):
    """A response of an exponential family: terms by least squares, coefficients by likelihood."""

    family: Family

    @property
    def responses(self) -> FloatArray:
        """The response, as least squares takes it."""
        return np.asarray(self.rows.y[:, None])

    def _fitted(self, D: FloatArray, near: FloatArray | None = None) -> LikelihoodFit:
        how: Any = {"alpha": self.alpha, "tol": self.tol, "max_iter": self.max_iter}
        return fit_family(D, self.rows.y, self.weight, self.family, **how)


@dataclass(frozen=True, eq=False)
class ClassesWork(TermLikelihood):
    """Classes 0, ..., K - 1, all of which occur: coefficients of their scores by likelihood.

    The terms are found by least squares on indicators or, with `by_likelihood`, by a quadratic
    approximation of the log-likelihood: growth looks at observed minus fitted probabilities, whose
    squares a term lowers by as much as the approximation with one curvature for all rows promises;
    removal at the approximation about the fit of all terms.
    """

    K: int
    by_likelihood: bool
    classes: Any = None  # codes of the classes that occur

    @property
    def responses(self) -> FloatArray:
        """Indicators of the classes; of two, that of the second."""
        return indicators(self.rows.y, self.K)

    def _fitted(self, D: FloatArray, near: FloatArray | None = None) -> LikelihoodFit:
        if self.K == 1:
            return LikelihoodFit(np.zeros((D.shape[1], 1)), 0.0, 0, True)
        start = None
        if near is not None:
            start = D.T @ (near * self.weight[:, None]) / self.weight.sum()
        how: Any = {"alpha": self.alpha, "tol": self.tol, "max_iter": self.max_iter}
        return fit_classes(D, self.rows.y, self.weight, self.K, start=start, **how)

    @cached_property
    def _searched(self) -> tuple[Growth, Pruning]:
        """Terms and subsets, by least squares on indicators or by likelihood."""
        if not self.by_likelihood or self.K == 1:
            return super()._searched
        rows = self.rows
        how: Any = {"n_levels": self.n_levels, "residual": self._left_of_scores}
        grown = grow(rows.X, self.responses, rows.weight, self.settings, **how)
        return grown, self._removal(grown)

    def _left_of_scores(self, matrix: FloatArray) -> FloatArray:
        """Return observed minus fitted probabilities of the likelihood fit to some terms."""
        D, _ = TermColumns(matrix, self.weight).orthonormal(np.arange(matrix.shape[1]))
        left = self.responses - self._shown(self._probabilities(D, self._fitted(D)))
        # The ridge leaves a trace of the terms in it.
        return np.asarray(left - D @ (D.T @ (left * self.weight[:, None])) / self.weight.sum())

    def _probabilities(self, D: FloatArray, found: LikelihoodFit) -> FloatArray:
        return np.asarray(softmax(D @ found.coef, axis=1))

    def _shown(self, each: FloatArray) -> FloatArray:
        """Return a column of each class; of two classes that of the second."""
        return each[:, 1:] if self.K == 2 else each

    def _removal(self, grown: Growth) -> Pruning:
        """Return the subsets by the quadratic approximation about the fit of all terms."""
        rows, K, matrix = self.rows, self.K, grown.matrix
        D, _ = TermColumns(matrix, self.weight).orthonormal(np.arange(matrix.shape[1]))
        found = self._fitted(D)
        P = self._probabilities(D, found)
        # The mean curvature over the directions in which the scores differ.
        bend = np.maximum((1 - np.sum(P**2, axis=1)) / (K - 1), _FLATTEST)
        left = (rows.y[:, None] == np.arange(K)) - P
        working = self._shown(D @ found.coef + left / bend[:, None])
        charges = Charges.of(grown.basis.terms, grown.searched, self.settings)
        return prune(matrix, working, rows.weights * bend, self.settings, charges=charges)


def indicators(codes: IntArray, K: int) -> FloatArray:
    """Return a column of zeros and ones for each class; of two classes that of the second.

    Examples
    --------
    >>> indicators(np.array([0, 1, 1]), 2).tolist()
    [[0.0], [1.0], [1.0]]
    """
    found = (codes[:, None] == np.arange(K)).astype(np.float64)
    return found[:, 1:] if K == 2 else found
